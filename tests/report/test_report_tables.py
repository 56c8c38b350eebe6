"""Tables and figures as files: what is saved is what the page shows."""

from __future__ import annotations

import base64
import csv
import io
import re

from report_studies import study

from dissensus.report.labels.page import labels_page
from dissensus.report.page import rendered
from dissensus.report.tables import with_files
from dissensus.steps.writing import write_page

SMALL = """<div class="scroll" tabindex="0">
  <table class="table"><caption class="unseen">Models, best first</caption>
  <thead><tr><td></td><th colspan="2">BT.500</th></tr>
  <tr><th>Model</th><th>Drop<br><span class="tag">points</span></th><th>Items</th></tr></thead>
  <tbody><tr><th><span class="cut">net_<wbr>a, &amp; b</span></th>
  <td class="number"><b>−1.5</b><span class="ends">−2 to −1</span></td>
  <td>1,035 <span aria-hidden="true">▲</span><span class="unseen">items</span></td></tr>
  <tr><th>c</th><td>–</td><td>7</td></tr></tbody></table>
</div>"""


def rows_of(uri: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(base64.b64decode(uri.partition("base64,")[2]).decode())))


def test_a_table_becomes_a_file_with_columns_of_its_own_for_small_print() -> None:
    html, (table,) = with_files(SMALL, "models", set())
    assert table.name == "models-models-best-first"
    assert table.rows == (
        ("Model", "BT.500: Drop (points)", "BT.500: Drop (points), small print", "BT.500: Items"),
        ("net_a, & b", "-1.5", "-2 to -1", "1035"),
        ("c", "–", "", "7"),
    )
    (uri,) = re.findall(r'href="(data:[^"]+)"', html)
    assert [tuple(row) for row in rows_of(uri)] == [*table.rows]
    assert html.index("</div>") < html.index("data:text/csv")  # below what scrolls


def test_tables_without_heads_or_with_equal_captions() -> None:
    plain = "<table><caption>Settings</caption><tbody><tr><th>k</th><td>30</td></tr></tbody></table>"
    _, tables = with_files(plain + plain, "settings", {"settings-settings"})
    assert [table.name for table in tables] == ["settings-settings-2", "settings-settings-3"]
    assert tables[0].rows == (("name", "value"), ("k", "30"))
    figure = '<table class="table narrow" data-figure><tbody><tr><td>1</td></tr></tbody></table>'
    assert with_files(figure, "ranking", set()) == (figure, ())


def test_every_table_and_figure_of_a_page_has_its_links() -> None:
    page = labels_page(study(("a", "b", "c"), 4))
    made = rendered(page)
    assert made.html.count("<table") - made.html.count('<table class="table narrow" data-figure>') == len(made.tables)
    assert {plot.name for plot in page.plots} == {*re.findall(r'data-svg="([^"]+)\.svg"', made.html)}
    saved = re.findall(r'download="([^"]+)\.csv" href="([^"]+)"', made.html)
    assert {name for name, _ in saved} == {plot.name for plot in page.plots} | {one.name for one in made.tables}
    assert len({name for name, _ in saved}) == len(saved)
    for plot in page.plots:
        head, *rows = rows_of(dict(saved)[plot.name])
        assert head == [*plot.table]
        assert rows == [["" if value is None else str(value) for value in row] for row in plot.rows]


def test_figures_and_tables_are_written_together(tmp_path) -> None:
    page = labels_page(study(("a", "b", "c"), 4))
    write_page(page, tmp_path / "page.html", tmp_path / "figures")
    made = rendered(page)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == made.html
    wanted = {f"{plot.name}.{ending}" for plot in page.plots for ending in ("svg", "pdf", "csv")}
    wanted |= {f"{table.name}.csv" for table in made.tables}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == wanted
    table = made.tables[0]
    with (tmp_path / "figures" / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
        assert [tuple(row) for row in csv.reader(file)] == [*table.rows]
