"""The section about failures in a browser: right after the ranking, opened, with pictures, filters and an order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from browsers import READABILITY, sideways, violations
from report_studies import NAMES, picture, study

from dissensus.failures import Terms, Trials, confusions_of, counted_pairs, failures_of
from dissensus.records import Failure, Failures
from dissensus.report.failures import named, shown_failures
from dissensus.report.labels.page import labels_page
from dissensus.report.page import Page, render

MODELS = ("support vectors (RBF)", "decision tree", "</script><b>")
TERMS = Terms("item", "is wrong on", "items that show the class {}", "These are not error rates.")


def failing() -> Failures:
    """Twelve failures of each model, with confidences from 0.4 to 0.95 and every third true class unknown."""
    cases = [
        Failure(
            model=model, item=f"digit-{900 + n}", severity=0.4 + 0.05 * n, confidence=0.4 + 0.05 * n,
            predicted=NAMES[n % 3], true="" if n % 3 == 2 else NAMES[5 + n % 4], right=MODELS[:1],
        )
        for model in MODELS
        for n in range(12)
    ]  # fmt: skip
    trials = Trials(MODELS, np.ones((12, 3), bool), np.ones((12, 3), bool), {})
    pairs = counted_pairs(cases)
    return failures_of(
        "labels", trials, cases, [one for name in MODELS for one in confusions_of(name, pairs[name])], TERMS
    )


@pytest.fixture(scope="module")
def html() -> str:
    data = replace(
        study(MODELS, k=4),
        failures=failing(),
        failed_pictures={f"digit-{900 + n}": picture(900 + n) for n in range(11)},
    )
    page = labels_page(data)
    sections = [section.id for section in page.sections]
    assert sections.index("failures") == sections.index("ranking") + 1 < sections.index("galleries")
    return render(Page(page.opening, page.sections[:2], page.rules, page.styles, page.scripts))


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (400, "dark")])
def test_failures_are_open_and_read_well(open_page, shots, html, width, theme):
    page = open_page(html, width, theme)
    page.locator("#failures").scroll_into_view_if_needed()
    page.screenshot(path=shots / f"failures-{width}-{theme}.png", full_page=True)
    assert sideways(page) <= 0
    assert page.evaluate(READABILITY) == []
    assert page.locator(".failing[open]").count() == 3
    assert page.locator(".failure .pic:not(.blank)").count() == 33
    assert page.locator(".failure .blank").count() == 3
    assert violations(page) == []


def test_failures_are_filtered_and_sorted(open_page, html):
    page = open_page(html, 1440)
    shown = page.locator(".failure:visible")
    assert shown.count() == 36
    first = page.locator(".failing").first
    assert first.locator(".failure .sure").first.inner_text() == "95\u202f%"
    page.locator("[name=model]").select_option(MODELS[1])
    assert shown.count() == 12
    page.locator("[name=least]").select_option("0.8")
    assert shown.count() == 4
    assert page.locator(".sieve output").inner_text() == "4 of 36 failures"
    page.locator("[name=model]").select_option("")
    page.locator("[name=least]").select_option("0")
    page.locator("[name=class]").select_option("five")
    assert {one.get_attribute("data-true") for one in shown.all()} == {"five"}
    page.locator("[name=class]").select_option("")
    page.locator("[name=order]").select_option("predicted")
    order = [one.get_attribute("data-predicted") for one in first.locator(".failure").all()]
    assert order == sorted(order)


def test_the_worst_of_every_model_are_shown_if_there_are_too_many():
    found = failing()
    few = shown_failures(found, MODELS, cards=9)
    worst = [pytest.approx(0.95), pytest.approx(0.9), pytest.approx(0.85)]
    assert all([one.severity for one in cases] == worst for cases in few.values())
    assert list(few) == list(MODELS)
    assert named(Failure(model="a", item="x", severity=0, predicted="cat", true="dog or fox")) == ("cat", "dog", "fox")


def test_nothing_judged_leaves_the_section_out():
    ids = [section.id for section in labels_page(study(MODELS, k=4)).sections]
    assert "failures" not in ids
