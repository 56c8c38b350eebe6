"""The page's parts without a browser: pictures, words, curve, galleries."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from report_studies import study
from scipy.stats import spearmanr
from svg_marks import marks, matrix

from dissensus.records import AllAnswers, Otherwise, Step
from dissensus.report.galleries import DATA_URI, Album
from dissensus.report.labels.orders import orders
from dissensus.report.labels.page import cases_section, findings, galleries, labels_page, matrices_section, stability
from dissensus.report.page import Page, render, settings_section
from dissensus.report.pictures import data_uri
from dissensus.report.wording import counted, cyclic, decimals, duration, fragility_words, number, ratio, signed, span


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


def test_open_questions_come_before_all_other_findings():
    ranking = SimpleNamespace(
        words=("Preliminary: 4 of 9 questions are still open.", "Tied for first: a and b."),
        standings=(SimpleNamespace(model="a", may_be_first=True),),
    )
    found = SimpleNamespace(
        words=("a is right most often.",), models=(SimpleNamespace(model="a"),), decided=(), best="a"
    )
    first, _, *rest = findings(ranking, found)
    assert first == "Preliminary: 4 of 9 questions are still open."
    assert rest == ["a is right most often.", "By falsification, tied for first: a and b."]


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
    section = cases_section(data, frozenset({(0, 1)}))
    overall, each = section.plots
    assert sum(overall.rows[0][1:]) == pytest.approx(100, abs=0.2)
    assert section.view["judged"] == sum(sum(row[2:]) for row in each.rows) == sum(duel.judged for duel in data.duels)
    first, second = data.order[:2]
    linked = {words.partition(",")[0] for words, (link, _) in marks(each).items() if link == "duel-0-1"}
    assert linked == {f"{first} against {second}"}
    assert {link for link, _ in marks(each).values()} == {"duel-0-1", ""}
    accuracy, dominance = matrices_section(data, frozenset({(0, 1)})).plots
    i, j = (data.models.index(name) for name in data.order[:2])
    assert matrix(accuracy)[first, second] == data.accuracy[i, j]
    links = {tuple(words.split(":")[0].split(" against ")): link for words, (link, _) in marks(accuracy).items()}
    assert [links[pair] for pair in ((first, second), (second, first), (first, data.order[2]))] == [
        "duel-0-1",
        "duel-0-1",
        "",
    ]
    assert tuple(dict.fromkeys(row for row, _ in matrix(dominance))) == data.order


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
    assert [column.head for column in columns[1:3]] == ["HodgeRank", "Bradley–Terry"], "its own method is not repeated"
    consensus, known, moved = columns[3:]
    assert sorted(int(cell.text) for cell in consensus.cells.values()) == list(range(1, 8))
    assert {name: int(cell.text) for name, cell in known.cells.items()} == data.benchmark.rank
    assert {cell.way for cell in moved.cells.values()} <= {"up", "down", "quiet"}
    assert [bool(column.foot) for column in columns] == [False, True, True, True, True, False]
    agreement = [data.consensus[name] for name in data.order]
    assert consensus.foot == number(spearmanr(agreement, range(7, 0, -1)).statistic, 2)
    assert known.foot == number(data.benchmark.srcc, 2)
    assert len(orders(replace(data, benchmark=None))) == 4
    strengths = dict(zip(data.order[:1:-1], (0.6, 0.2, 0.1, 0.1, 0.0), strict=True))  # the last five, in reverse
    beside = AllAnswers(strengths=strengths, items_per_duel=44.0, words="From all answers: another order.")
    ranking = data.ranking.model_copy(update={"from_all_answers": beside})
    by_all = orders(replace(data, ranking=ranking))[1]
    assert "all answers" in by_all.head
    assert [by_all.cells[name].text for name in data.order] == ["–", "–", "5", "4", "3", "2", "1"]
    assert by_all.cells[data.order[-1]].title == "strength 0.600"
    assert {cell.sub for cell in by_all.cells.values()} == {""}, "places are in line with those of other columns"
    assert by_all.foot == "−0.97", "of five, two of which are tied: −9.5 / √(10 · 9.5)"
    for found, is_said in ((ranking, True), (data.ranking, False)):
        page = labels_page(replace(data, ranking=found))
        assert (beside.words in render(replace(page, sections=page.sections[:1]))) is is_said
    fragility = data.ranking.fragility
    assert fragility is not None
    assert "3 judgements" in fragility_words(fragility)
    assert "fewer may suffice" in fragility_words(fragility.model_copy(update={"is_smallest": False}))


def test_settings_show_what_each_rule_left_and_nothing_twice():
    data = study(k=3)
    steps = (
        Step(rule="in the pool", left=1234),
        Step(rule="selected (k 3)", left=5, unit="pairs", otherwise=(Otherwise(setting="k 6", left=7),)),
    )
    parameters = {"judge": {"share": 0.5}, "level": 0.95}
    provenance = data.ranking.provenance.model_copy(update={"parameters": parameters})
    section = settings_section(replace(data, funnels={2: steps}), {"Ranking": provenance})
    html = render(Page(labels_page(data).opening, (section,))).partition('id="settings"')[2]
    assert "What each rule of round 2 left" in html
    assert re.findall(r'<td class="number">([^<]*)</td><td>([^<]*)</td>', html) == [
        ("1,234 items", ""),
        ("5 pairs", "k 6: 7"),
    ]
    assert '<th scope="row">level</th>' in html
    assert '<th scope="row">judge</th>' not in html


def test_a_page_is_the_list_of_its_sections():
    data = study(k=3)
    whole = labels_page(data)
    settings = settings_section(
        replace(data, settings={"k": "<3>"}), {"Ranking": data.ranking.provenance}, " --method perron"
    )
    html = render(Page(whole.opening, (settings,), rules=(".p0{color:red}",), styles=("attacks.css",)))
    assert re.findall(r'<a href="#(\w+)">', html.partition("<nav")[2].partition("</nav>")[0]) == ["top", "settings"]
    assert re.findall(r'<section class="section" id="(\w+)"', html) == ["settings"]
    assert "&lt;3&gt;" in html
    assert "dissensus report STUDY --method perron" in html
    assert ".p0{color:red}" in html
    links = re.findall(r'<a href="#(\w+)">', render(whole).partition("<nav")[2].partition("</nav>")[0])
    assert links == ["top", *(section.id for section in whole.sections)]


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (0, "1 minute"), (1 / 60, "1 minute"), (0.99, "59 minutes"), (1, "60 minutes"), (1.49, "89 minutes"),
        (1.495, "1.5 hours"), (1.5, "1.5 hours"), (1.51, "1.5 hours"), (2, "2 hours"), (9.94, "9.9 hours"),
        (9.96, "10 hours"), (12.4, "12 hours"), (1234.5, "1,234 hours"),
    ],
)  # fmt: skip
def test_a_length_of_time_has_two_digits(hours: float, said: str) -> None:
    assert duration(hours) == said
