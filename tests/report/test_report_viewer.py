"""Pictures that open large, figures and tables that are saved, and what is printed: in a real browser."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from functools import cache
from xml.etree import ElementTree

import pytest
from browsers import READABILITY, sideways, violations
from masks_studies import mask_study
from report_studies import study
from scores_studies import photo_study

from dissensus.report.labels.page import labels_page
from dissensus.report.masks.page import masks_page
from dissensus.report.page import Rendered, rendered
from dissensus.report.scores.page import scores_page

PAGES = {
    "labels": lambda: labels_page(study(("bayes", "forest", "knn"), 6)),
    "masks": lambda: masks_page(mask_study(3, 10, 40)),
    "scores": lambda: scores_page(photo_study()),
}
SCALES = "all => all.map((one) => one.style.transform)"


@cache
def made(task: str) -> Rendered:
    return rendered(PAGES[task]())


def opened_gallery(page):
    page.evaluate("document.querySelector('.gallery').open = true")
    return page.locator(".gallery[open] .card").first


@pytest.mark.parametrize(("task", "pictures"), [("labels", 1), ("masks", 4), ("scores", 2)])
def test_a_card_opens_large_and_arrow_keys_lead_on(open_page, task, pictures):
    page = open_page(made(task).html, 1440)
    card = opened_gallery(page)
    card.locator(".enlarge").focus()
    page.keyboard.press("Enter")
    viewer = page.locator("dialog.viewer")
    assert viewer.locator(".frame").count() == pictures
    page.wait_for_function("document.querySelector('.viewer .photo').naturalWidth > 0")
    small, large = card.locator(".pic, .view").first.bounding_box(), viewer.locator(".layer").first.bounding_box()
    assert large["height"] > 1.5 * small["height"]
    title = viewer.locator("h2")
    assert title.inner_text().split(" · ")[-1].startswith("1 of ")
    page.keyboard.press("ArrowRight")
    assert title.inner_text().split(" · ")[-1].startswith("2 of ")
    page.keyboard.press("+")
    moved = viewer.locator(".layer").evaluate_all(SCALES)
    assert len(moved) == pictures
    assert all("scale(1.5)" in one for one in moved)
    page.keyboard.press("0")
    page.keyboard.press("ArrowLeft")
    assert viewer.locator(".viewer-words").inner_text().strip()
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert not viewer.is_visible()
    assert page.evaluate("document.activeElement.className") == "enlarge"


@pytest.mark.parametrize(("theme", "width"), [("light", 400), ("dark", 1440)])
def test_overlays_can_be_switched_off_and_classes_are_named(open_page, shots, theme, width):
    page = open_page(made("masks").html, width, theme)
    card = opened_gallery(page)
    view = card.locator(".view:has(.over)").first
    names = view.locator(".region").all_inner_texts()
    assert names
    assert all(name in view.get_attribute("aria-label") for name in names)
    assert {*names} <= {*card.locator(".chips span").all_inner_texts()}
    view.click()
    viewer = page.locator("dialog.viewer")
    page.wait_for_function("document.querySelector('.viewer .photo').naturalWidth > 0")
    page.screenshot(path=shots / f"viewer-{width}-{theme}.png")
    assert sideways(page) <= 0
    assert page.evaluate(READABILITY) == []
    over = viewer.locator(".over").first
    assert over.is_visible()
    page.keyboard.press("o")
    assert not over.is_visible()
    assert viewer.get_by_role("button", name="Overlay").get_attribute("aria-pressed") == "false"


def test_the_pointer_tells_the_class_below_it(open_page):
    page = open_page(made("masks").html, 1440)
    name = opened_gallery(page).locator(".region").first
    name.scroll_into_view_if_needed()
    box = name.bounding_box()
    wanted, tip = name.text_content(), page.locator(".map-tip")  # inner_text is empty until it has been rendered
    for step in range(50):
        page.mouse.move(box["x"] + box["width"] / 2 + step % 2, box["y"] + box["height"] / 2)
        if tip.is_visible():
            break
        page.wait_for_timeout(20)
    assert tip.inner_text() == wanted
    view = page.locator(".gallery[open] .view:has(.over)").first.bounding_box()
    page.mouse.move(view["x"] - 30, view["y"])
    assert not tip.is_visible()


def test_a_touch_opens_a_picture_and_a_sweep_leads_on(open_page):
    page = open_page(made("labels").html, 400, has_touch=True)
    opened_gallery(page).locator(".pic").tap()
    title = page.locator(".viewer-title")
    assert "1 of" in title.inner_text()
    page.evaluate("""() => {
      const stage = document.querySelector(".viewer .stage");
      const finger = { clientY: 300, pointerType: "touch", isPrimary: true, pointerId: 1 };
      const at = (kind, clientX) => stage.dispatchEvent(new PointerEvent(kind, { clientX, ...finger }));
      stage.setPointerCapture = () => {};
      at("pointerdown", 300); at("pointerup", 150);
    }""")
    assert "2 of" in title.inner_text()


def test_figures_and_tables_are_saved_from_the_file_itself(open_page, tmp_path):
    page = open_page(made("labels").html, 1440, "dark")
    figure = page.locator("#matrices .drawn").first
    for words, ending in (("SVG", "svg"), ("CSV", "csv")):
        with page.expect_download() as waiting:
            figure.locator(".files").get_by_text(words).click()
        assert waiting.value.suggested_filename == f"accuracy.{ending}"
        waiting.value.save_as(tmp_path / f"accuracy.{ending}")
    plot = next(one for one in PAGES["labels"]().plots if one.name == "accuracy")
    assert (tmp_path / "accuracy.csv").read_bytes().decode() == plot.csv()
    saved = (tmp_path / "accuracy.svg").read_text(encoding="utf-8")
    assert "var(--" not in saved
    assert 'href="#duel' not in saved
    words = [["".join(one.itertext()) for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
             for text in (saved, plot.svg())]  # fmt: skip
    assert words[0] == words[1]
    alone = page.context.new_page()
    alone.goto((tmp_path / "accuracy.svg").as_uri())
    box = alone.locator("svg").first.bounding_box()
    assert box["width"] == pytest.approx(plot.width * 96 / 25.4, abs=2)
    table = page.locator("#ranking .orders")
    with page.expect_download() as waiting:
        page.locator("#ranking .scroll:has(.orders) + .files a").click()
    waiting.value.save_as(tmp_path / "orders.csv")
    rows = [*csv.reader(io.StringIO((tmp_path / "orders.csv").read_text(encoding="utf-8")))]
    shown = table.locator("tbody th").all_inner_texts()
    assert [row[0] for row in rows[1 : 1 + len(shown)]] == shown
    assert rows[0][1] == "Perron rank (this ranking)"


@pytest.mark.parametrize("task", ["labels", "masks"])
def test_print_keeps_galleries_and_splits_neither_cards_nor_matrices(open_page, tmp_path, task):
    page = open_page(made(task).html, 1440)
    closed, cards = page.locator(".gallery[open]").count(), page.locator(".gallery .card").count()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert page.locator(".gallery[open]").count() == closed  # as it was
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".gallery .card:visible").count() == cards
    rules = page.eval_on_selector_all(".card, .drawn", "all => all.map((one) => getComputedStyle(one).breakInside)")
    assert {*rules} == {"avoid"}
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True)
        items = {
            card.split()[0] for card in page.locator(".gallery .card :is(footer, .item)").all_inner_texts() if card
        }
        assert {item for item in items if item not in text.stdout} == set()
