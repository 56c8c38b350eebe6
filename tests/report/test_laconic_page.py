"""The page about a laconic test: in a browser, and with almost nothing to show."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from browsers import violations
from laconic_studies import path, picture, report
from made_laconic import PAPER, made, unrecognised, without

from dissensus.reductions.findings import result_of
from dissensus.report.galleries import Album
from dissensus.report.laconic.data import LaconicReport
from dissensus.report.laconic.figures import accuracy_plots, precision_plots
from dissensus.report.laconic.gallery import cards, film_places
from dissensus.report.laconic.page import classes_section, laconic_page, unused_section
from dissensus.report.page import render, unbroken

MODELS = {name: shares for name, shares in PAPER.items() if name != "people"}


@pytest.fixture(scope="module")
def whole() -> LaconicReport:
    return report()


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")])
def test_page_in_a_browser(open_page, shots, whole, width, theme):
    page = open_page(render(laconic_page(whole)), width, theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=shots / f"laconic-{width}-{theme}.png")
    first = page.locator(".headline")
    assert first.text_content().startswith("SE-ResNet50 needs least with all reductions combined")
    assert first.bounding_box()["y"] < 900  # the answer is what people see first
    assert page.locator(".claims li").count() == 9
    assert page.locator(".verdict.is-holds").count() == 8
    assert page.locator(".mepis").count() == 2
    page.locator(".mepis summary").first.click()
    film = page.locator(".film").first
    assert film.locator(".shot").count() == 7
    assert film.bounding_box()["width"] <= width
    for anchor in page.locator(".nav-links a").all():
        assert page.locator(anchor.get_attribute("href")).count() == 1
    assert page.locator(".skip").get_attribute("href") == "#ratios"
    assert violations(page) == []


@pytest.mark.parametrize(
    "laconic",
    [
        without(made(per_class=2), "GoogLeNet"),
        without(made(per_class=2), *PAPER),
        made(classes=("cat",), per_class=1),
        made({"only": (0.2, 0.5, 0.1, 0.05)}, {"only": 0.9}, per_class=3),
        made(MODELS, per_class=3),
        made({"people": PAPER["people"]}, {}, per_class=3),
        unrecognised(made(per_class=2), range(40)),
    ],
    ids=["one without", "all without", "one image", "one model", "no people", "only people", "none recognised"],
)
def test_page_with_little_to_show(laconic):
    html = render(laconic_page(report(laconic, shown=(), picture=None)))
    assert "There are no pictures to show." in html
    assert not re.search(r"\bnan\b|\bNone\b", html)


def test_names_are_escaped():
    laconic = made({"<b>net</b>": (0.2, 0.5, 0.1, 0.05)}, {"<b>net</b>": 0.9}, classes=("<i>cat</i>",), per_class=3)
    html = render(laconic_page(report(laconic, shown=(), picture=None, title="<script>")))
    assert not [tag for tag in ("<b>net", "<i>cat", "<h1><script>") if tag in html]


def test_gallery_shows_every_mepi_and_says_what_is_missing(whole):
    found, left_out = cards(whole, album := Album())
    vehicle, flower = found
    assert left_out == 0
    assert [name for name, _ in vehicle.rows] == list(whole.result.classifiers)
    assert "SqueezeNet" not in dict(flower.rows)  # which does not recognise it
    strip = vehicle.rows[0][1][2]
    assert (strip.reduction, strip.steps) == ("crop", 60)
    assert strip.bytes == len(picture("vehicle-270", path("crop", 0.55)[-1], "crop"))
    assert strip.frames[0] == vehicle.original
    assert vehicle.rows[3][1][1].last.is_coarse
    assert not vehicle.original.is_coarse
    assert len(album.rules) < 300
    one = replace(whole, shown=tuple(shown for shown in whole.shown if shown.reduction != "crop"))
    assert cards(one, Album())[0][0].rows[0][1][2] is None


def test_films_have_both_ends():
    assert film_places(1) == [0]
    assert film_places(2) == [0, 1]
    for length in (3, 8, 60, 500):
        places = film_places(length)
        assert (places[0], places[-1]) == (0, length - 1)
        assert len(places) <= 7
        assert places == sorted(set(places))


def test_figures_have_the_numbers_of_the_result(whole):
    result = whole.result
    colour = precision_plots(result)[0]
    assert colour.rows[0][:2] == ("SqueezeNet", "SqueezeNet")
    assert len(colour.rows) == 24  # people have not read people's
    assert "SqueezeNet on the MEPIs of GoogLeNet: " in colour.svg()
    assert "people on the MEPIs of people: not asked" in colour.svg()
    plots = accuracy_plots(result)
    assert [plot.title for plot in plots] == ["Colour", "Resolution", "Crop", "Combined"]
    row = plots[3].rows[-1]
    one = result.mean("SE-ResNet50", "combined")
    assert row == ("SE-ResNet50", 93, *(pytest.approx(100 * v) for v in (one.value, one.low, one.high)))
    assert len({plot.name for plot in laconic_page(whole).plots}) == len(laconic_page(whole).plots) == 9


def test_tables(whole):
    tables = classes_section(whole.result).view["tables"]
    assert [table.reduction for table in tables] == list(whole.result.reductions)
    label, row = tables[0].rows[2]
    assert label == "cat"
    assert sum(tables[0].is_least(row, place) for place in range(5)) == 1
    rows = unused_section(whole.result).view["rows"]
    assert [one.count for one in rows] == list(whole.result.unused.values())
    assert all(len(one.images) == min(one.count, 60) for one in rows)
    read = result_of(made(per_class=2), resamples=200).model_copy(update={"found": None})
    assert all(one.images == () for one in unused_section(read).view["rows"])


def test_lines_do_not_break_within_a_percentage_or_an_interval() -> None:
    said = unbroken("a & b need 16.4 % (16.1–16.8), (not this) of it")
    assert said == 'a &amp; b need 16.4\N{NO-BREAK SPACE}% <span class="unbroken">(16.1–16.8)</span>, (not this) of it'
