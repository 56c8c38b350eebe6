"""The opening of every page: the answer, a small figure and one example on the first screen, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from laconic_studies import report as laconic_report
from masks_studies import mask_study
from report_studies import many_models, study
from scores_studies import photo_study, sessions
from shift_studies import everything, result

from dissensus.plots import rank_sets
from dissensus.report.labels.page import labels_page
from dissensus.report.laconic.page import laconic_page
from dissensus.report.masks.page import masks_page
from dissensus.report.opening import opening
from dissensus.report.page import Page, render
from dissensus.report.scores.page import scores_page
from dissensus.report.shift.page import shift_page

PAGES: dict[str, Callable[[], Page]] = {
    "labels": lambda: labels_page(study()),
    "labels, 46 models": lambda: labels_page(many_models()),
    "scores": lambda: scores_page(photo_study()),
    "scores, wide pictures": lambda: scores_page(sessions(60)),
    "masks": lambda: masks_page(mask_study()),
    "laconic": lambda: laconic_page(laconic_report()),
    "shift": lambda: shift_page(result(**everything())),
}
PARTS = ".headline", ".answer", ".example"
WITHOUT_EXAMPLE = ("shift",)


def ends(page) -> dict[str, tuple[float, float]]:
    """Where the parts of the opening begin and end on the page."""
    found = {}
    for part in PARTS:
        if page.locator(f".opening {part}").count():
            box = page.locator(f".opening {part}").bounding_box()
            found[part] = box["y"], box["y"] + box["height"]
    return found


@cache
def opened(name: str) -> str:
    """The opening alone, as HTML."""
    return render(replace(PAGES[name](), sections=()))


@pytest.mark.parametrize("name", PAGES)
def test_answer_figure_and_example_are_on_the_first_screen(open_page, shots, name):
    page = open_page(opened(name), 1440)
    page.screenshot(path=shots / f"opening-{name.replace(', ', '-')}.png")
    found = ends(page)
    assert set(found) == set(PARTS) - ({".example"} if name in WITHOUT_EXAMPLE else set())
    assert {part: end for part, (_, end) in found.items() if end >= 900} == {}
    text = page.locator(".headline").inner_text()
    assert text.endswith(".")
    assert text.count(". ") == 0  # one sentence
    assert page.locator(".answer svg, .answer table").count() > 0


SIZE = "(one) => parseFloat(getComputedStyle(one).fontSize)"


@pytest.mark.parametrize("width", [400, 1440])
def test_the_answer_stands_out_and_no_hole_is_left_above_the_example(open_page, width):
    page = open_page(opened("labels"), width)
    answer, title = (page.locator(f".opening {part}").evaluate(SIZE) for part in (".headline", "h1"))
    assert answer > 1.3 * title
    claim, example = (page.locator(f".opening > .{part}").bounding_box() for part in ("claim", "example"))
    if width > 1000:
        assert example["y"] - claim["y"] - claim["height"] < 40


@pytest.mark.parametrize("name", ["labels", "scores", "masks", "laconic", "shift"])
def test_phones_show_the_answer_then_the_figure_then_the_example(open_page, shots, name):
    page = open_page(opened(name), 400)
    page.screenshot(path=shots / f"opening-{name}-phone.png", full_page=True)
    found = list(ends(page).values())
    assert found[0][1] < 300
    assert found == sorted(found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_preliminary_is_a_badge_and_never_the_answer(open_page):
    said = ("Preliminary: 3 of 9 questions are still open.", "", "a is first.", "b is last.", "a is first.")
    view = opening("Title", "plain/opening.html", said, ("Read this.",)).view
    assert (view["answer"], view["findings"], view["notes"]) == ("a is first.", ["b is last."], ["Read this."])
    assert view["preliminary"] == "3 of 9 questions are still open."
    data = study(k=4)
    early = data.ranking.model_copy(update={"words": (said[0], *data.ranking.words)})
    page = open_page(render(labels_page(replace(data, ranking=early))), 1440)
    assert page.locator(".badge").inner_text() == "preliminary"
    assert page.locator(".status").inner_text().endswith("3 of 9 questions are still open.")
    assert page.locator(".headline").inner_text() == data.ranking.words[0]
    assert "Preliminary" not in page.locator(".opening").inner_text()


def test_small_figure_has_the_ranks_of_all_models():
    names = [f"model {n}" for n in range(20)]
    found = [(n + 1, max(n, 1), min(n + 3, 20)) for n in range(19)]
    drawn = rank_sets("r", "Ranks", names, {"one": [*found, None]}, most=5)
    assert drawn.table["name"] == names
    assert drawn.table["rank"] == [*range(1, 20), None]
    text = drawn.svg()
    assert "model 4, one: rank 5, possible 4–7" in text
    assert "model 5" not in text
    assert "5 of 20 models" in text
    assert drawn.height < 50
