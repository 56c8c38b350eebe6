"""The owner looks through predictions in a real browser: filters in the address, keys, zoom, phones and both themes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browsers import ARTIFACTS, sideways, violations, wants_screenshots
from browsing import role
from playwright.sync_api import Locator, Page, expect
from served import MODELS, Served
from test_masks_study import made  # noqa: F401  (a fixture)
from test_predictions_served import Browsed

from dissensus.study import Study


def opened(served: Served, visit: Callable[..., Page], query: str = "", size: str = "desktop") -> Page:
    page = visit(f"{served.address}/browse{query}#{served.owner_token}", size=size)
    shown(page)
    return page


def shown(page: Page) -> None:
    expect(page.locator("body")).to_have_attribute("data-state", "shown")


def field(page: Page, name: str) -> Locator:
    return page.locator(f"form [name={name}]")


def total(page: Page) -> int:
    return int(str(role(page, "headline").text_content()).split()[0].replace(",", ""))


def looks_well(page: Page, name: str) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        assert violations(page) == []
        assert sideways(page) <= 0
        if wants_screenshots():
            ARTIFACTS.mkdir(exist_ok=True)
            page.screenshot(path=ARTIFACTS / f"browse-{name}-{theme}.png")


def test_from_the_dashboard_to_the_predictions_and_back(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/owner#{service.owner_token}")
    page.get_by_role("link", name="What the models predict").click()
    shown(page)
    assert total(page) == 60
    page.get_by_role("link", name="Dashboard").click()
    expect(role(page, "dashboard")).to_be_visible()


def test_annotators_are_sent_away(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/browse", may_fail=True)
    expect(role(page, "gate-title")).to_have_text("This page needs the owner’s link")
    page = visit(f"{service.address}/browse#{service.add('ada').token}")
    expect(page.locator("body")).to_have_attribute("data-page", "annotate")


def test_filters_are_in_the_address_and_survive_a_reload(service: Served, visit: Callable[..., Page]) -> None:
    page = opened(service, visit)
    field(page, "model").select_option("aurora")
    expect(page).to_have_url(f"{service.address}/browse?model=aurora")
    shown(page)
    option = field(page, "class").locator("option").nth(1)
    name, count = str(option.get_attribute("value")), int(str(option.text_content()).split("(")[1].rstrip(")"))
    field(page, "class").select_option(name)
    expect(role(page, "headline")).to_have_text(f"{count} of 60 items")
    page.reload()
    shown(page)
    assert total(page) == count
    assert field(page, "class").input_value() == name
    for card in page.locator(".cards > li").all():
        assert name in str(card.locator(".votes").text_content())
    field(page, "low").fill("95")
    expect(role(page, "summary")).to_have_text("No item matches these filters.")
    page.go_back()
    expect(role(page, "headline")).to_have_text(f"{count} of 60 items")
    role(page, "reset").click()
    expect(role(page, "headline")).to_have_text("60 items")
    expect(page).to_have_url(f"{service.address}/browse")


def test_a_model_that_does_not_exist_is_named(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/browse?model=zephyr#{service.owner_token}", may_fail=True)
    expect(role(page, "error")).to_contain_text("there is no model 'zephyr'")
    role(page, "reset").click()
    shown(page)


def test_keys_go_from_item_to_item_and_zoom(service: Served, visit: Callable[..., Page]) -> None:
    page = opened(service, visit)
    names = [str(text) for text in page.locator(".cards .id").all_text_contents()]
    assert len(names) == 24
    page.locator(".shot").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(role(page, "large-title")).to_have_text(names[1])
    page.keyboard.press("ArrowRight")
    expect(role(page, "large-title")).to_have_text(names[2])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    expect(page.locator(".frame")).to_have_class("frame zoomed")
    page.keyboard.press("0")
    expect(page.locator(".frame")).to_have_class("frame")
    expect(role(page, "facts").locator("tbody tr")).to_have_count(len(MODELS))
    page.reload()
    expect(role(page, "large-title")).to_have_text(names[1])
    page.keyboard.press("Escape")
    expect(role(page, "large")).not_to_be_visible()
    expect(page.locator(".shot").nth(1)).to_be_focused()


def test_the_last_item_of_a_page_leads_to_the_next_page(service: Served, visit: Callable[..., Page]) -> None:
    page = opened(service, visit, "?open=23")
    expect(role(page, "large-place")).to_contain_text("24 of 60")
    page.keyboard.press("ArrowRight")
    expect(role(page, "large-place")).to_contain_text("25 of 60")
    page.keyboard.press("Escape")
    expect(role(page, "place")).to_have_text("25–48 of 60")
    role(page, "after").click()
    expect(role(page, "place")).to_have_text("49–60 of 60")
    expect(role(page, "after")).to_be_disabled()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_page_is_readable_and_accessible(service: Served, visit: Callable[..., Page], size: str) -> None:
    page = opened(service, visit, size=size)
    looks_well(page, f"labels-{size}")
    if size == "phone":
        role(page, "filters-title").click()
        looks_well(page, "labels-phone-filters")
    page.locator(".shot").first.click()
    expect(role(page, "large")).to_be_visible()
    looks_well(page, f"labels-{size}-large")


def test_scores_show_ranks_and_ids_where_there_is_no_picture(visit: Callable[..., Page], tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", task="scores")
    study.pool(items=[f"clip{number:02}" for number in range(40)])
    random = np.random.default_rng(0)
    study.predict(sharp=random.random(40), noise=random.random(40), lower=["noise"])
    with Browsed(study.folder.root) as served:
        page = opened(served, visit)
        assert total(page) == 40
        expect(page.locator(".cards .line")).to_have_count(48)
        expect(page.locator(".shot .gone").first).to_contain_text("clip")
        expect(page.locator(".apart").first).to_contain_text("points apart")
        looks_well(page, "scores-desktop")
        page.locator(".shot").first.click()
        expect(role(page, "facts")).to_contain_text("lower is better")
        looks_well(page, "scores-desktop-large")


def test_maps_are_overlaid_model_by_model_and_toggled(visit: Callable[..., Page], made: Path) -> None:  # noqa: F811
    models = list(Study(made).settings.models)
    with Browsed(made) as served:
        page = opened(served, visit)
        expect(page.locator(".cards .map")).to_have_count(0)
        page.get_by_label(models[0], exact=True).check(force=True)
        expect(page.locator(".cards .map")).not_to_have_count(0)
        looks_well(page, "masks-desktop")
        page.locator(".shot").first.click()
        expect(page.locator(".stage .frame")).to_have_count(len(models))
        expect(page.locator(".stage .map:visible")).not_to_have_count(0)
        page.keyboard.press("+")
        expect(page.locator(".stage .frame.zoomed")).to_have_count(len(models))
        page.keyboard.press("O")
        expect(page.locator(".stage .map:visible")).to_have_count(0)
        looks_well(page, "masks-desktop-large")
