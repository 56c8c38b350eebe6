"""The answer sheet in a real browser: keys, reload, undo, and the CSV that comes out."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime

import numpy as np
import pytest
from browsers import violations
from PIL import Image
from report_studies import NAMES, picture

from dissensus.report.sheet import SheetQuestion, render_sheet

AWKWARD = 'photos/"odd", name.png'


def questions(number: int = 6) -> list[SheetQuestion]:
    made = [
        SheetQuestion(
            f"digit-{n // 2}", (3 * n) % 10, NAMES[(3 * n) % 10], f"the digit {(3 * n) % 10}", *picture(n // 2)
        )
        for n in range(number - 1)
    ]
    return [*made, SheetQuestion(AWKWARD, 4, "</script><b>four", "", None, False)]


def begin(page, name: str = "Ada") -> None:
    page.fill("input[name=annotator]", name)
    page.keyboard.press("Enter")


def downloaded(page) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.locator(".save:visible").first.click()
    text = waiting.value.path().read_bytes().decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_sheet_fits_in_both_themes(open_page, shots, theme, width):
    page = open_page(render_sheet("Handwritten digits", questions()), width, theme)
    page.screenshot(path=shots / f"sheet-start-{width}-{theme}.png")
    assert violations(page) == []
    begin(page)
    assert violations(page) == []
    page.screenshot(path=shots / f"sheet-{width}-{theme}.png")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert page.locator(".answers button").last.evaluate("b => b.getBoundingClientRect().bottom <= innerHeight")
    shown = Image.open(io.BytesIO(page.locator(".stage").screenshot())).convert("L")
    assert np.asarray(shown).std() > 20
    for _ in range(6):
        page.keyboard.press("u")
    page.screenshot(path=shots / f"sheet-done-{width}-{theme}.png")
    assert page.locator(".done").is_visible()
    assert violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_answers_survive_a_reload_and_come_out_as_csv(open_page):
    page = open_page(render_sheet("Digits", questions()))
    begin(page, 'Ada "L", Jr')
    page.keyboard.press("y")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("z")
    assert page.locator(".count").inner_text() == "2 of 6"
    page.reload()
    assert page.locator(".count").inner_text() == "2 of 6"
    assert page.locator(".who").inner_text() == 'Ada "L", Jr'
    page.keyboard.press("u")
    page.locator(".answers button[value=unfit]").click()
    page.keyboard.press("Y")
    assert page.locator(".lack code").inner_text() == AWKWARD
    assert page.locator(".name").inner_text() == "</script><b>four?"
    page.keyboard.press("n")
    assert page.locator(".done").is_visible()
    rows = downloaded(page)
    assert [row["answer"] for row in rows] == ["yes", "no", "unsure", "unfit", "yes", "no"]
    assert [row["item"] for row in rows] == [q.item for q in questions()]
    assert [row["label"] for row in rows] == [q.label_name for q in questions()]
    assert {row["annotator"] for row in rows} == {'Ada "L", Jr'}
    assert list(rows[0]) == ["item", "label", "annotator", "answer", "time"]
    assert all(datetime.fromisoformat(row["time"]).utcoffset().total_seconds() == 0 for row in rows)


def test_two_annotators_do_not_mix(open_page):
    page = open_page(render_sheet("Digits", questions()))
    begin(page, "Ada")
    page.keyboard.press("y")
    page.locator(".who").click()
    begin(page, "Ben")
    assert page.locator(".count").inner_text() == "0 of 6"
    page.keyboard.press("n")
    assert [(row["annotator"], row["answer"]) for row in downloaded(page)] == [("Ben", "no")]
    page.locator(".who").click()
    begin(page, "Ada")
    assert [(row["annotator"], row["answer"]) for row in downloaded(page)] == [("Ada", "yes")]


def test_undo_goes_back_to_the_question_and_past_the_end(open_page):
    page = open_page(render_sheet("Digits", questions(2)))
    begin(page)
    first = page.locator(".name").inner_text()
    page.keyboard.press("y")
    page.keyboard.press("y")
    assert page.locator(".done").is_visible()
    page.locator(".done .undo").click()
    page.keyboard.press("Backspace")
    assert page.locator(".name").inner_text() == first
    assert page.locator(".undo:visible").is_disabled()


def test_keys_in_the_name_field_are_no_answers(open_page):
    page = open_page(render_sheet("Digits", questions()))
    page.locator("input").press_sequentially("yn xu")
    page.keyboard.press("Enter")
    assert page.locator(".count").inner_text() == "0 of 6"
    page.keyboard.press("Control+y")
    assert page.locator(".count").inner_text() == "0 of 6"


def test_thousands_of_questions_stay_quick(open_page):
    made = [SheetQuestion(f"item-{n // 2}", n % 10, NAMES[n % 10], "", *picture(n // 2 % 500)) for n in range(6_000)]
    page = open_page(render_sheet("Many", made))
    begin(page)
    for _ in range(20):
        page.keyboard.press("y")
    assert page.locator(".count").inner_text() == "20 of 6,000"


def test_picture_is_stored_once_per_item_and_question_once():
    html = render_sheet("Digits", [*questions(), *questions()])
    assert html.count(picture(0)[0]) == 1
    assert html.count("data:image/png") == 3
    assert re.search(r'"questions":\[\[0,0\],\[0,1\],\[1,2\],\[1,3\],\[2,4\],\[3,5\]\]', html)


def test_empty_sheet_says_so(open_page):
    page = open_page(render_sheet("Digits", []))
    begin(page)
    assert "no open questions" in page.locator(".done").inner_text()
