"""The report of maps in a real browser: both themes, phone and desk, calm under odd data."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from browsers import READABILITY, addresses, names_drawn, saved_or_explained, sideways, violations
from masks_studies import mask_study, unjudged
from PIL import Image

from dissensus.records import AttackMatrices, MapSanity, Ranking, Sanity
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.page import MOST_PICTURES, masks_page
from dissensus.report.page import render
from dissensus.report.predictions import Sample, WordedPrediction, with_predictions

FACES = [(theme, width) for theme in ("light", "dark") for width in (400, 1600)]
SECTIONS = ("top", "ranking", "matrices", "scores", "boxes", "transfer", "attacks", "settings")
UNKNOWN = {"strength": None, "low": None, "high": None, "may_be_first": True}
DRAW_ALL = ".card { content-visibility: visible !important }"
"""Whole pages are photographed without scrolling, where cards out of sight would stay empty."""


@cache
def whole_page() -> str:
    """The page that most tests look at; drawing its figures takes seconds."""
    return render(masks_page(mask_study()))


def open_some(page, selector: str = "details", number: int = 2) -> None:
    page.evaluate(
        "([s, n]) => [...document.querySelectorAll(s)].slice(0, n).forEach((d) => (d.open = true))", [selector, number]
    )


def without_strength(ranking: Ranking) -> Ranking:
    alone = tuple(s.model_copy(update=UNKNOWN) for s in ranking.standings)
    return ranking.model_copy(update={"standings": alone, "words": (), "cyclic_share": None})


def embedded(data: MasksReport) -> set[str]:
    every = {p for image in data.images for p in (image.photo, image.truth, *image.maps.values())}
    return {picture for picture in every if picture}


def colours(locator) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(locator.screenshot())).convert("RGB")).astype(int)


@pytest.mark.parametrize(("theme", "width"), FACES)
def test_page_fits_and_reads_in_both_themes(open_page, shots, theme, width):
    page = open_page(render(masks_page(mask_study(6, 6, 120))), width, theme)
    open_some(page, ".gallery", 1)
    page.add_style_tag(content=DRAW_ALL)
    page.screenshot(path=shots / f"masks-{width}-{theme}.png", full_page=True)
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


def test_cells_lead_to_their_duel(open_page):
    data = mask_study()
    page = open_page(whole_page())
    names = [standing.model for standing in data.aggressiveness.standings]
    heat = page.locator("#matrices .drawn svg")
    heat.nth(0).locator("a[href='#duel-2-0']").first.click()
    assert page.locator(".gallery[open] summary").inner_text().startswith(f"{names[2]} attacks {names[0]}")
    page.locator("details[open]").evaluate_all("all => all.forEach((d) => (d.open = false))")
    heat.nth(1).locator("a[href='#duel-1-2']").first.click()
    assert page.locator("#duel-1-2").evaluate("d => d.open"), "a cell of resistance opens the attack on its row"


def test_filters_by_model_role_category_and_case(open_page):
    data = mask_study()
    page = open_page(whole_page())
    order = [standing.model for standing in data.aggressiveness.standings]
    model, attacker, defender, category, case = page.locator(".finder select").all()
    model.select_option("0")
    assert page.locator(".gallery:visible").count() == 6
    attacker.select_option("0")
    assert page.locator(".gallery:visible").count() == 3
    defender.select_option("2")
    assert page.locator(".gallery:visible").get_attribute("id") == "duel-0-2"
    for select in (model, attacker, defender):
        select.select_option("")
    case.select_option("first")
    category.select_option("1")
    hits = [
        (order.index(duel.attacker), order.index(duel.defender))
        for duel in data.duels for a in duel.shown
        if a.category == 1 and a.attacker_score >= 0.6 > a.defender_score
    ]  # fmt: skip
    assert hits
    assert page.locator(".finder output").inner_text() == f"{len(hits)} of 12 duels"
    page.locator(".open-all").click()
    cards = page.locator(".gallery:visible .card:visible").all()
    assert len(cards) == len(hits)
    assert {(c.get_attribute("data-case"), c.get_attribute("data-category")) for c in cards} == {("first", "1")}
    assert "the defender is falsified" in cards[0].inner_text()
    case.select_option("")
    category.select_option("")
    assert page.locator(".gallery:visible").count() == 12
    assert page.locator(".card[hidden]").count() == 0


def test_slider_and_toggle_change_all_maps(open_page):
    page = open_page(whole_page())
    open_some(page, ".gallery", 1)
    truth = page.locator(".gallery[open] .panel.truth .view").first
    truth.scroll_into_view_if_needed()
    photo = colours(page.locator(".gallery[open] .panel.photo .view").first)
    before = colours(truth)
    slider = page.locator(".opacity input").last
    slider.fill("100")
    strong = colours(truth)
    assert np.abs(strong - before).max() > 20
    assert page.locator(".opacity input").first.input_value() == "100", "both sliders are one"
    assert page.locator(".over").first.evaluate("e => getComputedStyle(e).opacity") == "1"
    page.locator(".photo-only").last.check()
    alone = colours(truth)
    assert page.locator(".photo-only").first.is_checked()
    rows, columns = (min(sizes) for sizes in zip(alone.shape[:2], photo.shape[:2], strict=True))
    assert np.abs(alone[:rows, :columns] - photo[:rows, :columns]).mean() < 3


def test_maps_have_the_colours_of_the_legend(open_page):
    data = mask_study()
    page = open_page(whole_page())
    page.locator(".opacity input").last.fill("100")
    open_some(page, ".gallery", 1)
    card = page.locator(".gallery[open] .card").first
    card.scroll_into_view_if_needed()
    swatches = card.locator(".chips i").evaluate_all(
        "all => all.map((i) => getComputedStyle(i).backgroundColor.match(/\\d+/g).map(Number))"
    )
    seen = colours(card.locator(".panel.truth .view")).reshape(-1, 3)
    near = [(np.abs(seen - np.array(colour)).max(1) <= 3).mean() for colour in swatches]
    assert max(near) > 0.02
    legend = page.locator(".classes .chips span").all_inner_texts()
    assert legend == list(data.classes[1:])


def test_pictures_need_no_script_and_are_embedded_once(open_page):
    data = mask_study()
    html = render(masks_page(data))
    shown = {
        picture
        for duel in data.duels for attack in duel.shown for image in [data.images[attack.image]]
        for picture in (image.photo, image.truth, image.maps[duel.attacker], image.maps[duel.defender])
    }  # fmt: skip
    assert all(html.count(picture) == 1 for picture in shown)
    page = open_page(html, java_script_enabled=False)
    page.locator(".gallery summary").first.click()
    page.locator(".gallery[open] .card").first.scroll_into_view_if_needed()
    for seen in (".gallery[open] .panel.photo .view", ".gallery[open] .panel.attacker .view"):
        assert colours(page.locator(seen).first).std() > 8
    assert not page.locator(".finder").is_visible()
    assert not page.locator(".opacity").first.is_visible()
    assert page.locator(".gallery").count() == 12
    assert page.locator(".gallery[open] .card:visible").count() == 6
    page.locator(".photo-only").last.check()
    assert page.locator(".over").first.evaluate("e => getComputedStyle(e).visibility") == "hidden"


def picture(colour: str) -> str:
    held = io.BytesIO()
    Image.new("RGBA", (40, 30), colour).save(held, "PNG")
    return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"


def test_maps_that_models_predict_are_seen_on_their_pictures_and_enlarged_side_by_side(open_page):
    names = tuple(f"model {n}" for n in range(6))
    said = (
        WordedPrediction("sky 100%", names[:1], picture("blue")),
        *(WordedPrediction("nothing marked", (n,), picture("#0000")) for n in names[1:]),
    )
    sanity = Sanity(pool=1, looked_at=1, models=tuple(MapSanity(model=name, items=1) for name in names))
    page = open_page(
        render(with_predictions(masks_page(mask_study()), sanity, [Sample("a", picture("white"), False, said)]))
    )
    marked, empty = (colours(page.locator(".laid .pic").nth(n))[40:60, 40:60].mean((0, 1)) for n in (0, 1))
    assert marked[2] - marked[0] > 90  # blue
    assert np.ptp(empty) < 3
    page.locator("#predictions .card .pic").first.click()
    boxes = [frame.bounding_box() for frame in page.locator(".viewer .frame").all()]
    assert len(boxes) == 7
    assert min(box["width"] for box in boxes) > 200
    assert min(box["height"] for box in boxes) > 200
    assert page.locator(".viewer figcaption").nth(1).inner_text() == "model 0: sky 100%"
    assert violations(page) == []


@cache
def ten_models() -> str:
    data = mask_study(10, 20, 600)
    assert data.selected == 1800
    return render(masks_page(data))


@pytest.mark.parametrize("width", [400, 1600])
def test_ten_models_and_twenty_categories_stay_usable(open_page, shots, width):
    html = ten_models()
    assert len(html) < 12_000_000
    page = open_page(html, width)
    page.screenshot(path=shots / f"masks-10-models-{width}.png", full_page=True)
    assert sideways(page) <= 0
    assert page.locator(".gallery").count() == 90
    assert page.locator("#matrices .drawn svg").first.locator("a").count() == 90
    page.locator(".gallery summary").nth(70).click()
    assert page.locator(".gallery[open] .card").count() == 20
    page.locator(".open-all").click()
    assert page.locator(".gallery[open]").count() == 90


def test_pictures_without_room_are_said_and_listed(open_page):
    data = mask_study()
    whole = whole_page()
    size = sum(map(len, embedded(data)))
    html = render(masks_page(data, most_pictures=size // 3))
    assert len(html) < len(whole) - size // 2
    page = open_page(html, 400)
    open_some(page, ".gallery", 99)
    words = page.locator("#attacks .words").inner_text()
    cards, rows = page.locator(".gallery .card").count(), page.locator(".listed tbody tr").count()
    assert f"{cards} of 72 attacks are shown with pictures" in words
    assert "study folder" in words
    assert cards + rows == 72
    assert rows > 0
    assert sideways(page) <= 0
    page.locator(".finder select").last.select_option("neither")
    assert {row.get_attribute("data-case") for row in page.locator(".listed tbody tr:visible").all()} == {"neither"}
    assert MOST_PICTURES > 10_000_000


@pytest.mark.parametrize("width", [400, 1600])
def test_choice_shows_who_was_chosen(open_page, shots, width):
    data = mask_study(4, 6, 80, "choice")
    page = open_page(render(masks_page(data)), width)
    open_some(page, ".gallery", 1)
    page.add_style_tag(content=DRAW_ALL)
    page.screenshot(path=shots / f"masks-choice-{width}.png", full_page=True)
    assert "drew no ground truth" in page.locator("#scores").inner_text()
    assert page.locator("#boxes, #transfer, .panel.truth").count() == 0
    chosen = page.locator(".gallery .card[data-case='first']").first
    assert "✓ chosen" in chosen.locator(".panel.attacker").text_content()
    assert "✓ chosen" not in chosen.locator(".panel.defender").text_content()
    assert "of 6 chose the attacker" in chosen.text_content()
    assert "Annotators chose the better of two predictions" in page.locator(".lead").inner_text()
    assert sideways(page) <= 0
    assert page.evaluate(READABILITY) == []


@pytest.mark.parametrize("width", [400, 1600])
def test_two_models_say_that_there_are_no_others(open_page, shots, width):
    page = open_page(render(masks_page(mask_study(2))), width)
    page.screenshot(path=shots / f"masks-2-models-{width}.png", full_page=True)
    assert "nothing to compare" in page.locator("#boxes").text_content()
    assert "three models or more" in page.locator("#transfer").inner_text()
    assert page.locator(".gallery").count() == 2
    assert sideways(page) <= 0


@pytest.mark.parametrize("width", [400, 1600])
def test_unjudged_attacks_are_said_in_words(open_page, shots, width):
    data = unjudged(mask_study(), mask_study().models[:2])
    page = open_page(render(masks_page(data)), width)
    page.screenshot(path=shots / f"masks-preliminary-{width}.png", full_page=True)
    assert page.locator(".badge").inner_text() == "preliminary"
    assert f"{data.waiting} of {data.questions} questions are still open" in page.locator(".status").inner_text()
    cells = page.locator("#matrices .drawn svg").first.locator("title").all_text_contents()
    assert sum("not judged" in words for words in cells) == 6
    assert page.locator("#matrices figcaption", has_text="Hatched: not judged").count() == 2
    assert page.locator(".gallery .score", has_text="not judged").count() == 6
    page.locator(".gallery summary", has_text=re.compile(f"{data.models[0]} attacks")).first.click()
    assert "Nobody has judged this image yet" in page.locator(".gallery[open]").text_content()
    assert sideways(page) <= 0


def test_none_judged(open_page):
    data = mask_study()
    bare = unjudged(data, data.models)
    bare = replace(
        bare, benchmarks=None, notes=(), annotators=0,
        aggressiveness=without_strength(data.aggressiveness), resistance=without_strength(data.resistance),
    )  # fmt: skip
    page = open_page(render(masks_page(bare)), 400)
    open_some(page, ".gallery", 2)
    assert sideways(page) <= 0
    for section, words in (("top", "no findings"), ("scores", "No ground truth has been drawn yet"),
                           ("matrices", "No duel has been judged"), ("ranking", "not comparable")):  # fmt: skip
        assert words in page.locator(f"#{section}").text_content()
    assert page.locator(".gallery[open] .missing", has_text="not drawn yet").count() == 12
    nowhere = np.zeros((4, 4))
    empty = replace(
        bare, duels=(), images=(), selected=0, questions=0, waiting=0,
        matrices=AttackMatrices(nowhere, nowhere, nowhere > 0, nowhere > 0),
    )  # fmt: skip
    page = open_page(render(masks_page(empty)), 400)
    assert "no attacks to show" in page.locator("#attacks").inner_text()
    assert sideways(page) <= 0


def test_missing_pictures_leave_their_places(open_page):
    data = mask_study()
    images = [replace(image, photo=None, maps={}) if n % 2 else image for n, image in enumerate(data.images)]
    page = open_page(render(masks_page(replace(data, images=tuple(images)))), 400)
    open_some(page, ".gallery", 3)
    assert page.locator(".gallery[open] .missing", has_text="no prediction").count() > 0
    assert page.locator(".gallery[open] .blank").count() > 0
    assert sideways(page) <= 0


def test_names_cannot_become_markup(open_page):
    evil = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</style></title><b>", "{{ 7*7 }} & 'q'")
    data = mask_study()
    renamed = dict(zip(data.models, evil, strict=True))

    def ranking(old: Ranking) -> Ranking:
        standings = tuple(s.model_copy(update={"model": renamed[s.model]}) for s in old.standings)
        return old.model_copy(update={"standings": standings})

    data = replace(
        data, title="<h1>title</h1>", models=evil, classes=tuple(f"<hr>{c}" for c in data.classes),
        notes=("<marquee>",), settings={"<i>": "</table>"}, benchmarks=None, measure="<hr>",
        aggressiveness=ranking(data.aggressiveness), resistance=ranking(data.resistance),
        images=tuple(
            replace(i, item=f'"><svg onload=alert({n})>', maps={renamed[m]: v for m, v in i.maps.items()})
            for n, i in enumerate(data.images)
        ),
        duels=tuple(replace(d, attacker=renamed[d.attacker], defender=renamed[d.defender]) for d in data.duels),
    )  # fmt: skip
    page = open_page(render(masks_page(data)))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    open_some(page, "details", 99)
    assert names_drawn(page) == [s.model for s in data.aggressiveness.standings]
    assert page.locator("img, svg[onload], marquee, hr").count() == 0
    assert page.locator("script").count() == 4  # the layout’s own
    assert page.title() == "<h1>title</h1>"


def test_page_asks_for_nothing():
    html = whole_page()
    assert "default-src 'none'" in html
    assert addresses(html) == []
    assert "nan" not in re.sub(r"data:image/[^)]+", "", html).lower().split()


def test_picture_must_be_a_data_uri():
    data = mask_study()
    images = (replace(data.images[0], photo="https://example.org/x.png)}"), *data.images[1:])
    with pytest.raises(ValueError, match="data URI"):
        render(masks_page(replace(data, images=images)))
