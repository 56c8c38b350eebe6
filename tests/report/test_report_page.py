"""The report in a real browser: both themes, phone and desk, calm under odd data."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from browsers import READABILITY, addresses, names_drawn, saved_or_explained, sideways, violations
from PIL import Image
from report_studies import apart, many_models, study

from dissensus.records import empty_tally
from dissensus.report.labels.page import labels_page
from dissensus.report.page import render

FACES = [(theme, width) for theme in ("light", "dark") for width in (400, 1600)]


@cache
def whole_page() -> str:
    """The page that most tests look at; drawing its figures takes seconds."""
    return render(labels_page(study()))


def open_all(page, number: int = 2) -> None:
    page.evaluate("n => [...document.querySelectorAll('details')].slice(0, n).forEach((d) => (d.open = true))", number)


@pytest.mark.parametrize(("theme", "width"), FACES)
def test_page_fits_and_reads_in_both_themes(open_page, shots, theme, width):
    page = open_page(whole_page(), width, theme)
    open_all(page)
    page.screenshot(path=shots / f"report-{width}-{theme}.png", full_page=True)
    assert sideways(page) <= 0
    assert page.evaluate(READABILITY) == []
    assert violations(page) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (theme == "dark")


@cache
def many_models_page() -> str:
    return render(labels_page(many_models()))


@pytest.mark.parametrize("width", [400, 1600])
def test_many_models_stay_usable(open_page, shots, width):
    html = many_models_page()
    assert len(html) < 10_000_000
    page = open_page(html, width)
    page.screenshot(path=shots / f"report-46-models-{width}.png")
    assert sideways(page) <= 0
    page.locator(".gallery summary").nth(500).click()
    assert page.locator(".gallery[open] .card").count() >= 3
    assert "Showing the first" in page.locator(".gallery[open]").inner_text()


def test_links_lead_somewhere_and_headings_descend(open_page):
    page = open_page(whole_page())
    links = page.eval_on_selector_all("a[href]", "all => all.map((a) => a.getAttribute('href'))")
    assert len(links) > 30
    assert [
        link
        for link in set(links) - saved_or_explained(links)
        if not link.startswith("#") or not page.locator(f"[id='{link[1:]}']").count()
    ] == []
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map((h) => Number(h.tagName[1]))")
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.eval_on_selector_all("[id]", "all => all.map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_pictures_show_once_opened_and_are_embedded_once(open_page):
    data = study()
    html = whole_page()
    distinct = {shown.image for duel in data.duels for shown in duel.shown}
    assert all(html.count(image) == 1 for image in distinct if image)
    page = open_page(html)
    page.locator(".gallery summary").first.click()
    picture = Image.open(io.BytesIO(page.locator(".gallery[open] .pic").first.screenshot())).convert("L")
    assert np.asarray(picture).std() > 30


def test_pictures_and_text_need_no_script(open_page):
    page = open_page(whole_page(), java_script_enabled=False)
    page.locator(".gallery summary").first.click()
    picture = Image.open(io.BytesIO(page.locator(".gallery[open] .pic").first.screenshot())).convert("L")
    assert np.asarray(picture).std() > 30
    assert not page.locator(".finder").is_visible()
    assert not page.locator(".theme").is_visible()


def test_filters_show_one_case(open_page):
    page = open_page(whole_page())
    gallery = page.locator(".gallery").first
    gallery.locator("summary").click()
    cards = gallery.locator(".card:visible")
    everything = cards.count()
    counts = []
    for case in ("first", "second", "both", "neither"):
        button = gallery.locator(f".filter[value={case}]")
        if button.is_enabled():
            button.click()
            assert button.get_attribute("aria-pressed") == "true"
            assert {card.get_attribute("data-case") for card in cards.all()} == {case}
            counts.append(cards.count())
    gallery.locator(".filter[value=all]").click()
    assert cards.count() == everything == sum(counts)


def test_finder_and_matrix_cells_lead_to_a_duel(open_page):
    page = open_page(whole_page())
    selects = page.locator(".finder select")
    selects.nth(0).select_option("0")
    assert page.locator(".gallery:visible").count() == 6
    selects.nth(1).select_option("3")
    assert page.locator(".gallery:visible").count() == 1
    assert page.locator(".finder output").inner_text() == "1 of 21 duels"
    page.locator("#matrices a[href='#duel-1-2']").first.click()
    assert page.locator("#duel-1-2").evaluate("d => d.open && !d.hidden")


def test_theme_button_turns_the_page_over(open_page):
    page = open_page(whole_page())
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator(".theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_names_cannot_become_markup(open_page):
    evil = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</style></title><b>", "{{ 7*7 }} & 'q'"]
    data = study(evil, k=6)
    first = data.duels[0].shown[0]
    said = replace(first.said[0], label="</script><script>alert(3)</script>")
    shown = replace(first, said=(said, first.said[1]), item='"><svg onload=alert(4)>')
    data = replace(
        data,
        title="<h1>title</h1>",
        duels=(replace(data.duels[0], shown=(shown, *data.duels[0].shown[1:])), *data.duels[1:]),
        settings={"<i>": "</table>"},
        notes=("<marquee>",),
    )
    page = open_page(render(labels_page(data)))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    open_all(page, 9)
    assert names_drawn(page) == [s.model for s in data.ranking.standings]
    assert page.locator("img, svg[onload], marquee").count() == 0
    assert page.locator("script").count() == 4  # the layout’s own
    assert page.title() == "<h1>title</h1>"


def test_image_must_be_a_data_uri():
    data = study(k=3)
    shown = replace(data.duels[0].shown[0], image="https://example.org/x.png)}")
    bad = replace(data, duels=(replace(data.duels[0], shown=(shown,)),))
    with pytest.raises(ValueError, match="data URI"):
        render(labels_page(bad))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_model_without_comparisons_is_said_in_words(open_page, shots, theme):
    page = open_page(render(labels_page(apart(study()))), 400, theme)
    page.screenshot(path=shots / f"report-apart-{theme}.png", full_page=True)
    assert sideways(page) <= 0
    assert "not comparable" in page.locator("#ranking .drawn").first.text_content()
    cells = page.locator("#matrices .drawn title").all_text_contents()
    assert sum("no judged items" in words for words in cells) == 24


def test_two_models_and_long_names(open_page):
    page = open_page(render(labels_page(study(["a" * 180, "second model with many words " * 8], k=5))), 400)
    open_all(page)
    assert sideways(page) <= 0


def test_nothing_judged_yet(open_page):
    data = study(k=4)
    unknown = {"strength": None, "low": None, "high": None}
    ranking = data.ranking.model_copy(
        update={
            "standings": tuple(s.model_copy(update=unknown) for s in data.ranking.standings),
            "words": (), "cyclic_share": None, "fragility": None, "degenerate_resamples": 0,
        }
    )  # fmt: skip
    bare = replace(
        data, ranking=ranking, other_rankings={}, tally=empty_tally(7),
        accuracy=np.full((7, 7), 0.5), dominance=np.ones((7, 7)),
        stability=(), duels=(), judgements=0, annotators=0, notes=(), benchmark=None,
    )  # fmt: skip
    page = open_page(render(labels_page(bare)), 400)
    assert sideways(page) <= 0
    assert "No duel has been judged" in page.locator("#cases").inner_text()
    assert "too few judged items" in page.locator("#stability").inner_text()


def test_missing_picture_gets_a_tile(open_page):
    data = study(k=3)
    bare = tuple(
        replace(s, image=None, said=tuple(replace(one, confidence=None) for one in s.said)) for s in data.duels[0].shown
    )
    first = replace(data.duels[0], shown=bare)
    page = open_page(render(labels_page(replace(data, duels=(first, *data.duels[1:])))))
    page.locator(".gallery summary").first.click()
    assert page.locator(".gallery[open] .blank").count() == 3


def test_page_asks_for_nothing():
    html = whole_page()
    assert len(html) < 5_000_000
    assert "default-src 'none'" in html
    assert addresses(html) == []
