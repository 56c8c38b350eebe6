"""The report of scores in a real browser: both themes, phone and desk, calm under odd data."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from browsers import READABILITY, addresses, names_drawn, saved_or_explained, sideways, violations
from PIL import Image
from scores_studies import competition, crowd, photo_study, sessions

from dissensus.records import AttackMatrices, Ranking
from dissensus.report.page import render
from dissensus.report.scores.data import ScoresReport
from dissensus.report.scores.page import scores_page

FACES = [(theme, width) for theme in ("light", "dark") for width in (390, 1600)]
SECTIONS = ("top", "ranking", "matrices", "figures", "pairs", "screening", "levels", "settings")
UNKNOWN = {"strength": None, "low": None, "high": None, "may_be_first": True}


@cache
def whole_page() -> str:
    """The page that most tests look at; drawing its figures takes seconds."""
    return render(scores_page(photo_study()))


def open_some(page, selector: str = "details", number: int = 2) -> None:
    page.evaluate(
        "([s, n]) => [...document.querySelectorAll(s)].slice(0, n).forEach((d) => (d.open = true))", [selector, number]
    )


def waiting(data: ScoresReport, models: int) -> ScoresReport:
    """The same study, before anybody judged an attack by the first models."""
    silent = data.models[:models]
    duels = tuple(
        replace(
            duel, shown=tuple(replace(pair, preference=None, answers="") for pair in duel.shown),
            aggressiveness=None, resistance=None,
        ) if duel.attacker in silent else duel
        for duel in data.duels
    )  # fmt: skip
    rows = np.isin(data.models, silent)[:, None]
    m = data.matrices
    matrices = AttackMatrices(
        np.where(rows, 0, m.aggressiveness), np.where(rows.T, 0, m.resistance), m.attacked & ~rows, m.defended & ~rows.T
    )
    asked = sum(len(duel.shown) for duel in data.duels if duel.attacker in silent)
    return replace(data, duels=duels, matrices=matrices, waiting=asked)


def without_strength(ranking: Ranking, lost: slice) -> Ranking:
    gone = {standing.model for standing in ranking.standings[lost]}
    kept = tuple(s for s in ranking.standings if s.model not in gone)
    alone = tuple(s.model_copy(update=UNKNOWN) for s in ranking.standings if s.model in gone)
    return ranking.model_copy(update={"standings": (*kept, *alone), "words": (), "cyclic_share": None})


@pytest.mark.parametrize(("theme", "width"), FACES)
def test_page_fits_and_reads_in_both_themes(open_page, shots, theme, width):
    page = open_page(whole_page(), width, theme)
    open_some(page, ".gallery", 1)
    page.screenshot(path=shots / f"scores-{width}-{theme}.png", full_page=True)
    open_some(page, ".more", 3)
    assert sideways(page) <= 0
    assert page.evaluate(READABILITY) == []
    assert violations(page) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (theme == "dark")


def test_links_lead_somewhere_and_headings_descend(open_page):
    page = open_page(whole_page())
    links = page.eval_on_selector_all("a[href]", "all => all.map((a) => a.getAttribute('href'))")
    assert [
        link
        for link in set(links) - saved_or_explained(links)
        if not link.startswith("#") or not page.locator(f"[id='{link[1:]}']").count()
    ] == []
    assert {f"#{section}" for section in SECTIONS} <= set(links)
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map((h) => Number(h.tagName[1]))")
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.eval_on_selector_all("[id]", "all => all.map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_cells_and_figures_lead_to_their_duel(open_page):
    data = photo_study()
    page = open_page(whole_page())
    names = [standing.model for standing in data.aggressiveness.standings]
    heat = page.locator("#matrices .drawn svg")
    heat.nth(0).locator("a[href='#duel-2-0']").first.click()
    opened = page.locator(".gallery[open] summary")
    assert opened.inner_text().startswith(f"{names[2]} attacks {names[0]}")
    page.locator("details[open]").evaluate_all("all => all.forEach((d) => (d.open = false))")
    heat.nth(1).locator("a[href='#duel-1-2']").first.click()
    assert page.locator("#duel-1-2").evaluate("d => d.open"), "a cell of resistance opens the attack on its row"
    page.locator("#duel-1-2 a[href^='#figure-']").click()
    page.evaluate("location.hash = '#figure-6-7'")
    page.wait_for_function("document.querySelector('#figure-6-7').closest('details').open")


def test_finder_knows_roles_and_outcomes(open_page):
    data = photo_study()
    page = open_page(whole_page())
    attacker, defender, outcome = page.locator(".finder select").all()
    attacker.select_option("0")
    assert page.locator(".gallery:visible").count() == 7
    defender.select_option("3")
    assert page.locator(".gallery:visible").get_attribute("id") == "duel-0-3"
    attacker.select_option("")
    defender.select_option("")
    outcome.select_option("opposite")
    wrong = [
        duel for duel in data.duels if any(pair.is_attack and (pair.preference or 0) <= -0.2 for pair in duel.shown)
    ]
    assert page.locator(".finder output").inner_text() == f"{len(wrong)} of 56 duels"
    open_some(page, ".gallery:not([hidden])", 1)
    cards = page.locator(".gallery[open] .card:visible").all()
    assert {card.get_attribute("data-case") for card in cards} == {"opposite"}
    assert "Annotators see the opposite" in cards[0].inner_text()


def test_pictures_and_figures_need_no_script_and_are_embedded_once(open_page):
    data = photo_study()
    html = whole_page()
    images = {side.image for duel in data.duels for pair in duel.shown for side in (pair.low, pair.high)}
    assert all(html.count(image) == 1 for image in images if image)
    assert len(html) < 3_000_000
    page = open_page(html, java_script_enabled=False)
    page.locator(".gallery summary").first.click()
    for seen in (".gallery[open] .pic", ".duel-figure svg"):
        picture = Image.open(io.BytesIO(page.locator(seen).first.screenshot())).convert("L")
        assert np.asarray(picture).std() > 15
    assert not page.locator(".finder").is_visible()
    assert page.locator(".gallery").count() == 56


def test_theme_button_turns_figures_over(open_page):
    page = open_page(whole_page())
    before = np.asarray(Image.open(io.BytesIO(page.locator(".duel-figure svg").first.screenshot())).convert("L")).mean()
    page.locator(".theme").click()
    after = np.asarray(Image.open(io.BytesIO(page.locator(".duel-figure svg").first.screenshot())).convert("L")).mean()
    assert before > 180
    assert after < 80


@pytest.mark.parametrize("width", [390, 1600])
def test_wide_drawings_stand_above_each_other(open_page, shots, width):
    page = open_page(render(scores_page(sessions())), width)
    open_some(page, ".gallery", 1)
    page.locator("#pairs").screenshot(path=shots / f"scores-sessions-{width}.png")
    low, high = (shot.bounding_box() for shot in page.locator(".gallery[open] .pic").all()[:2])
    assert high["y"] > low["y"] + low["height"]
    assert low["width"] > 3 * low["height"]
    assert sideways(page) <= 0


@cache
def sixteen_models() -> str:
    return render(scores_page(crowd(16, side=96)))


@pytest.mark.parametrize("width", [390, 1600])
def test_sixteen_models_stay_usable(open_page, shots, width):
    html = sixteen_models()
    assert len(html) < 10_000_000
    page = open_page(html, width)
    page.screenshot(path=shots / f"scores-16-models-{width}.png", full_page=True)
    assert sideways(page) <= 0
    assert page.locator(".gallery").count() == 240
    assert page.locator(".duel-figure").count() == 120
    assert page.locator(".duel-figure:visible").count() == 6
    page.locator(".gallery summary").nth(200).click()
    assert page.locator(".gallery[open] .card").count() >= 5


def test_items_without_pictures_show_their_ids(open_page):
    page = open_page(render(scores_page(crowd(3, pool=200))), 390)
    page.locator(".gallery summary").first.click()
    assert page.locator(".gallery[open] .blank").count() == page.locator(".gallery[open] .shot").count() > 0
    assert "item-00" in page.locator(".gallery[open] figcaption").first.inner_text()
    assert page.locator(".example").count() == 0
    assert sideways(page) <= 0


def test_names_cannot_become_markup(open_page):
    evil = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</style></title><b>", "{{ 7*7 }} & 'q'"]
    rng = np.random.default_rng(0)
    quality = rng.uniform(0, 100, 300)
    scores = np.clip(quality + rng.normal(0, 20, (4, 300)), 0, 100)
    ids = [f'"><svg onload=alert({i})>' for i in range(300)]
    data = competition("<h1>title</h1>", evil, scores, quality, ids, lambda _: (None, False))
    data = replace(data, notes=("<marquee>",), settings={"<i>": "</table>"}, levels=("<hr>",) * 6, scale="<hr>")
    page = open_page(render(scores_page(data)))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    open_some(page, "details", 99)
    assert names_drawn(page) == [s.model for s in data.aggressiveness.standings]
    assert page.locator("img, svg[onload], marquee, hr").count() == 0
    assert page.locator("script").count() == 4  # the layout’s own
    assert page.title() == "<h1>title</h1>"


@pytest.mark.parametrize("levels", [1, 2])
def test_two_models_long_names_and_one_level(open_page, levels):
    rng = np.random.default_rng(0)
    quality = rng.uniform(0, 100, 90)
    scores = np.clip(quality + rng.normal(0, 20, (2, 90)), 0, 100)
    names = ["a" * 180, "second model with many words " * 8]
    data = competition("T", names, scores, quality, [str(i) for i in range(90)], lambda _: (None, False), levels)
    page = open_page(render(scores_page(data)), 390)
    open_some(page, "details", 9)
    assert sideways(page) <= 0
    assert page.locator(".gallery").count() == 2
    assert ("too few levels" in page.locator("#levels").inner_text()) == (levels == 1)


@pytest.mark.parametrize("width", [390, 1600])
def test_unjudged_attacks_and_lost_models_are_said_in_words(open_page, shots, width):
    data = waiting(photo_study(), 2)
    lost = slice(-1, None)
    data = replace(
        data,
        aggressiveness=without_strength(data.aggressiveness, lost),
        resistance=without_strength(data.resistance, lost),
        benchmarks=None,
    )
    page = open_page(render(scores_page(data)), width)
    page.screenshot(path=shots / f"scores-preliminary-{width}.png", full_page=True)
    assert page.locator(".badge").inner_text() == "preliminary"
    assert "84 of 336 questions are still open" in page.locator(".status").inner_text()
    assert "not comparable" in page.locator("#ranking .drawn").first.text_content()
    cells = page.locator("#matrices .drawn svg").first.locator("title").all_text_contents()
    assert sum("not judged" in words for words in cells) == 26
    assert page.locator(".gallery .score", has_text="not judged").count() == 14
    assert sideways(page) <= 0
    page.locator(".gallery summary", has_text=re.compile("PSNR attacks")).first.click()
    assert "Nobody has judged this pair yet" in page.locator(".gallery[open]").inner_text()


def test_nothing_but_models(open_page):
    data = crowd(3, pool=50)
    everybody = slice(None)
    nowhere = np.zeros((3, 3))
    bare = replace(
        data, words=(), duels=(), figures=(), screenings=None, levels=(), stability=(), judgements=0, annotators=0,
        notes=(), benchmarks=None, matrices=AttackMatrices(nowhere, nowhere, nowhere > 0, nowhere > 0), waiting=9,
        aggressiveness=without_strength(data.aggressiveness, everybody),
        resistance=without_strength(data.resistance, everybody),
    )  # fmt: skip
    page = open_page(render(scores_page(bare)), 390)
    assert sideways(page) <= 0
    for section, words in (("top", "no findings"), ("figures", "no duels"), ("pairs", "no pairs"),
                           ("screening", "Nobody was screened"), ("levels", "too few levels")):  # fmt: skip
        assert words in page.locator(f"#{section}").inner_text()


def test_page_asks_for_nothing():
    html = whole_page()
    assert "default-src 'none'" in html
    assert addresses(html) == []


def test_image_must_be_a_data_uri():
    data = crowd(2, pool=50)
    duel = data.duels[0]
    pair = replace(duel.shown[0], low=replace(duel.shown[0].low, image="https://example.org/x.png)}"))
    with pytest.raises(ValueError, match="data URI"):
        render(scores_page(replace(data, duels=(replace(duel, shown=(pair,)),))))
