"""The page's parts without a browser: pictures, axes, words, curve, galleries."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from report_studies import study

from dissensus.report.galleries import DATA_URI, Album
from dissensus.report.labels.page import cases_section, galleries, labels_page, matrices_section, orders, stability
from dissensus.report.page import Page, render, settings_section
from dissensus.report.pictures import data_uri
from dissensus.report.scales import axis
from dissensus.report.standings import chart
from dissensus.report.wording import counted, cyclic, decimals, fragility_words, ratio, signed, span


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


@pytest.mark.parametrize(
    ("mode", "size", "kind", "pixelated", "shown"),
    [
        ("L", (8, 8), "png", True, (8, 8)),
        ("RGB", (64, 40), "png", True, (64, 40)),
        ("RGBA", (32, 32), "png", True, (32, 32)),
        ("RGB", (65, 65), "jpeg", False, (65, 65)),
        ("RGB", (1024, 512), "jpeg", False, (256, 128)),
        ("RGBA", (300, 600), "jpeg", False, (128, 256)),
        ("P", (400, 400), "jpeg", False, (256, 256)),
        ("CMYK", (100, 100), "jpeg", False, (100, 100)),
        ("1", (16, 16), "png", True, (16, 16)),
        ("I;16", (100, 100), "jpeg", False, (100, 100)),
        ("F", (8, 8), "png", True, (8, 8)),
    ],
)
def test_data_uri(mode, size, kind, pixelated, shown):
    image = Image.new(mode, size)
    uri, hard = data_uri(image)
    assert DATA_URI.fullmatch(uri)
    assert uri.startswith(f"data:image/{kind};base64,")
    assert hard is pixelated
    assert decoded(uri).size == shown
    assert image.size == size


def test_data_uri_keeps_what_is_seen():
    ramp = np.linspace(0, 255, 64).reshape(8, 8).astype(np.uint8)
    assert np.array_equal(np.asarray(decoded(data_uri(Image.fromarray(ramp))[0])), ramp)
    deep = Image.fromarray((np.arange(100 * 100).reshape(100, 100) * 6).astype(np.uint16))
    grey = np.asarray(decoded(data_uri(deep)[0]))
    assert grey.min() < 10
    assert grey.max() > 245
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    assert np.asarray(decoded(data_uri(clear)[0])).min() > 250


@pytest.mark.parametrize(
    ("values", "low", "high", "is_log"),
    [
        ([0.02, 0.29], 0, 0.3, False),
        ([-1.2, 2.1], -2, 3, False),
        ([0.0005, 0.2], 0.0001, 1, True),
        ([0.0], 0, 1, False),
        ([], 0, 1, False),
        ([0.25], 0, 0.25, False),
    ],
)
def test_axis_covers_its_values(values, low, high, is_log):
    made = axis(values)
    assert (made.low, made.high, made.is_log) == (pytest.approx(low), pytest.approx(high), is_log)
    assert [tick.at for tick in made.ticks] == sorted({tick.at for tick in made.ticks})
    assert all(0 <= made.at(value) <= 100 for value in values)
    assert (made.ticks[0].at, made.ticks[-1].at) == (0, 100)
    assert len({tick.label for tick in made.ticks}) == len(made.ticks)


def test_words():
    assert (counted(1, "duel"), counted(1035, "duel")) == ("1 duel", "1,035 duels")
    assert [signed(d) for d in (2, 0, -1)] == ["+2", "0", "−1"]
    assert (span(1, 1), span(2, 4)) == ("1", "2–4")
    assert [ratio(r) for r in (0.5, 1.8, 12.34, 140)] == ["0.50", "1.80", "12.3", "140"]
    assert [decimals(v) for v in ([0.25], [0.04], [30], [])] == [3, 4, 1, 3]
    assert "no consistent order" in cyclic(0.8)
    assert len({cyclic(share) for share in (None, 0.01, 0.1, 0.3, 0.7)}) == 5


def test_curve_says_where_it_settles():
    settled = stability([(1, 0.5), (2, 0.95), (3, 0.8), (4, 0.97), (5, 1.0)])
    assert settled is not None
    assert settled.caption.startswith("From k = 4 on")
    assert "still changes" in (stability([(1, 0.2), (2, 0.3), (3, 1.0)]) or settled).caption
    assert "smallest k" in (stability([(1, 0.99), (2, 1.0)]) or settled).caption
    assert stability([]) is None
    assert settled.table == {"k, judged items per duel": [1, 2, 3, 4, 5], "SRCC": [0.5, 0.95, 0.8, 0.97, 1.0]}
    falling = (stability([(1, -0.4), (2, 1.0)]) or settled).figure().axes[0]
    assert falling.get_ylim()[0] <= -0.4


def test_shares_and_matrices_agree_with_the_tally():
    data = study()
    made = cases_section(data, frozenset({(0, 1)})).view
    assert sum(made["shares"]) == pytest.approx(1)
    assert made["judged"] == sum(duel.judged for duel in data.duels)
    assert [duel for _, _, duel in made["bars"]] == ["duel-0-1", *[""] * 20]
    maps = matrices_section(data, frozenset({(0, 1)})).view
    i, j = (data.models.index(name) for name in data.order[:2])
    (_, cells), (_, below) = maps["accuracy"].rows[:2]
    assert cells[0] is None
    assert cells[1].text == f"{100 * data.accuracy[i, j]:.0f}"
    assert (cells[1].duel, below[0].duel, cells[2].duel) == ("duel-0-1", "duel-0-1", "")
    assert tuple(model for model, _ in maps["dominance"].rows) == data.order


def test_galleries_put_the_higher_model_first_and_spend_their_cards():
    data = study(k=10)
    made = galleries(data, Album())
    for gallery in made:
        assert tuple(data.order[place] for place in gallery.places) == gallery.models
        assert gallery.places[0] < gallery.places[1]
        assert (gallery.number_of("first"), gallery.number_of("second")) == gallery.only
        assert gallery.left_out == 0
    few = galleries(data, Album(), most_cards=45)
    assert {len(gallery.cards) for gallery in few} == {2}


def test_standings_and_orders():
    data = study()
    columns = orders(data)
    assert all(tuple(column.cells) == data.order for column in columns)
    assert [column.head for column in columns[1:3]] == ["hodgerank", "bradley-terry"], "its own method is not repeated"
    consensus, known, moved = columns[3:]
    assert sorted(int(cell.text) for cell in consensus.cells.values()) == list(range(1, 8))
    assert {name: int(cell.text) for name, cell in known.cells.items()} == data.benchmark.rank
    assert {cell.way for cell in moved.cells.values()} <= {"up", "down", "quiet"}
    assert len(orders(replace(data, benchmark=None))) == 4
    assert all(p.low_at <= p.at <= p.high_at for p in chart(data.ranking).places if p.at is not None)
    fragility = data.ranking.fragility
    assert fragility is not None
    assert "3 judgements" in fragility_words(fragility)
    assert "fewer may suffice" in fragility_words(fragility.model_copy(update={"is_smallest": False}))


def test_a_page_is_the_list_of_its_sections():
    data = study(k=3)
    whole = labels_page(data)
    settings = settings_section({"k": "<3>"}, {"Ranking": data.ranking.provenance}, " --method perron")
    html = render(Page(whole.opening, (settings,), rules=(".p0{color:red}",), styles=("attacks.css",)))
    assert re.findall(r'<a href="#(\w+)">', html.partition("<nav")[2].partition("</nav>")[0]) == ["top", "settings"]
    assert re.findall(r'<section class="section" id="(\w+)"', html) == ["settings"]
    assert "&lt;3&gt;" in html
    assert "dissensus report STUDY --method perron" in html
    assert ".p0{color:red}" in html
    links = re.findall(r'<a href="#(\w+)">', render(whole).partition("<nav")[2].partition("</nav>")[0])
    assert links == ["top", *(section.id for section in whole.sections)]
