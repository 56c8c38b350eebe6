"""The page about models on two test sets: in a browser, with odd names, and with almost nothing to show."""

from __future__ import annotations

import re

import pytest
from browsers import violations
from shift_studies import everything, result, rows

from dissensus.report.page import render
from dissensus.report.shift.figures import (
    accuracy_plots,
    equation,
    family_plot,
    robustness_plot,
    strata_plot,
    stratified_plot,
)
from dissensus.report.shift.page import MOST_MODELS, shift_page, shown

ODD = ["<script>alert(1)</script>", "x" * 90, "a/long/path/to_a_checkpoint_with_a_long_name.safetensors", "$5 & $6"]


def odd_rows() -> list[tuple[str, float, float]]:
    found = rows(30)
    return [(ODD[place] if place < len(ODD) else name, a, b) for place, (name, a, b) in enumerate(found)]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_page_in_a_browser(open_page, shots, width, theme):
    page = open_page(render(shift_page(result(**everything()))), width, theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=shots / f"shift-{width}-{theme}.png")
    headline = page.locator(".headline").bounding_box()
    figure = page.locator(".of-linear svg").bounding_box()
    assert headline["y"] + headline["height"] < 500
    assert figure["y"] + figure["height"] < 844  # the answer and its figure are what people see first
    for anchor in page.locator(".nav-links a").all():
        assert page.locator(anchor.get_attribute("href")).count() == 1
    assert page.locator(".skip").get_attribute("href") == "#models"
    assert page.locator(".models.sortable tbody tr").count() == 34
    assert violations(page) == []


def test_axes_are_switched_by_mouse_and_keyboard(open_page):
    page = open_page(render(shift_page(result())), 1280)
    linear, probit = page.locator(".of-linear"), page.locator(".of-probit")
    assert (linear.is_visible(), probit.is_visible()) == (True, False)
    page.get_by_text("Probit axes", exact=True).click()
    assert (linear.is_visible(), probit.is_visible()) == (False, True)
    page.keyboard.press("ArrowLeft")
    assert (linear.is_visible(), probit.is_visible()) == (True, False)
    page.emulate_media(media="print")
    assert linear.is_visible()
    assert probit.is_visible()


def test_axes_of_the_better_fit_come_first(open_page):
    page = open_page(render(shift_page(result(better="probit"))), 1280)
    assert page.locator(".of-probit").is_visible()
    assert not page.locator(".of-linear").is_visible()


def test_models_can_be_sorted(open_page):
    page = open_page(render(shift_page(result())), 1280)
    names = page.locator(".sortable tbody th")
    head = page.locator(".sortable thead th").last
    head.get_by_role("button").click()
    best = max(result().models, key=lambda one: one.robustness)
    assert names.first.inner_text() == best.model
    assert head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").click()
    assert names.last.inner_text() == best.model
    page.locator(".sortable thead").get_by_role("button", name="Model").click()
    assert names.first.inner_text() == "family0_model0"
    assert head.get_attribute("aria-sort") is None


def test_hovering_over_a_mark_names_the_model(open_page):
    page = open_page(render(shift_page(result())), 1280)
    titles = page.locator(".of-linear svg title").all_text_contents()
    one = result().models[0]
    assert any(title.startswith(f"{one.model}: {100 * one.original:.1f} %") for title in titles)
    assert sum("effective robustness" in title for title in titles) == 34


@pytest.mark.parametrize("width", [1280, 390])
def test_odd_names(open_page, width):
    names = {"original_name": "<b>a rather long name</b> of a set", "new_name": "ünïcödé"}
    html = render(shift_page(result(odd_rows(), **names), title="<script>alert(2)</script>", notes=("<i>note</i>",)))
    assert not [tag for tag in ("<script>alert", "<b>a rather", "<i>note") if tag in html]
    page = open_page(html, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").inner_text() == "<script>alert(2)</script>"


@pytest.mark.parametrize(
    "found",
    [
        result(rows(1)),
        result(rows(2)),
        result(rows(3)),
        result(rows(2), has_ends=False),
        result(has_ends=False),
        result([*rows(5), ("perfect", 1.0, 1.0), ("hopeless", 0.0, 0.0)]),
        result([("same", 0.9, 0.8), ("same too", 0.9, 0.8)]),
        result([("none", 0.0, 0.0), ("all", 1.0, 1.0)]),
        result(better=None, better_share=None),
        result(fits=result().fits[:1], better=None, no_fit="no probit fit: two accuracies are 100 %"),
        result(families=(), is_family_guessed=False),
    ],
    ids=["one", "two", "three", "no intervals", "many without", "0 and 1", "same", "only 0 and 1", "no better",
         "one fit", "no families"],
)  # fmt: skip
def test_page_with_little_to_show(found):
    page = shift_page(found)
    html = render(page)
    assert found.words[0][:20] in html
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", html)
    assert all(plot.csv() for plot in page.plots)


def test_many_models(tmp_path):
    found = result(rows(1500))
    page = shift_page(found)
    html = render(page)
    assert len(html) < 2_750_000  # with the numbers of all 1,500 models as CSV
    table = shown(found)
    assert len(table) == MOST_MODELS
    assert {one.model for one in found.furthest[:50]} <= {one.model for one in table}
    assert table[0] == found.models[0]
    assert "100 models of 1,500" in html
    linear = page.plots[0]
    assert len(linear.rows) == 1500
    assert len(found.named) == 5
    assert ", of the named models only" in linear.caption
    assert {path.suffix for path in linear.write(tmp_path)} == {".svg", ".pdf", ".csv"}
    assert len((tmp_path / "accuracies-linear.csv").read_text().splitlines()) == 1501


def test_few_models_are_all_named():
    assert len(result(rows(7)).named) == 7


def test_figures_have_the_numbers_of_the_result():
    found = result(**everything())
    linear, probit = accuracy_plots(found)
    for plot in (linear, probit):
        first = dict(zip(plot.table, plot.rows[0], strict=True))
        assert first["model"] == found.models[0].model
        assert first["new"] == found.models[0].new
        assert first["robustness_high"] == found.models[0].robustness_high
    assert "new = 1.30 · original − 31.7 (R² 0.987)" in linear.caption.replace("\N{NO-BREAK SPACE}", " ")
    assert equation(found.fits[1]).startswith("Φ⁻¹(new) = ")
    families = family_plot(found)
    assert [row[2] for row in families.rows] == [pytest.approx(100 * one.robustness) for one in found.families]
    models = robustness_plot(found)
    assert sum(row[-1] == "yes" for row in models.rows) == sum(one.is_off for one in found.models)
    assert strata_plot(found).rows[0][1:] == pytest.approx((60, 55))
    assert len(stratified_plot(found).rows) == 10
    names = [plot.name for plot in shift_page(found).plots]
    assert names == ["accuracies-linear", "accuracies-probit", "families", "robustness", "strata", "matched"]


def test_columns_of_the_table_are_exported():
    found = result()
    models = tuple(one.model_copy(update={"extra": {"year": "2020", "model": "lost"}}) for one in found.models)
    table = accuracy_plots(found.model_copy(update={"models": models}))[0].table
    assert table["year"][0] == "2020"
    assert table["model"][0] == models[0].model


def test_sections_depend_on_what_is_known():
    ids = [section.id for section in shift_page(result(rows(2))).sections]
    assert ids == ["models", "causes", "settings"]
    ids = [section.id for section in shift_page(result(**everything())).sections]
    assert ids == ["models", "robustness", "causes", "fits", "frequencies", "duplicates", "pairs", "settings"]


def test_the_model_that_drops_more_comes_first_in_a_pair():
    html = render(shift_page(result(**everything())))
    pair = re.search(r'id="pairs".*?<tbody>\s*<tr class="off">(.*?)</tr>', html, re.S)[1]
    assert re.findall(r'title="([^"]*)"', pair) == ["family1_model1", "family0_model0"]
    assert "+4.0" in pair
