"""The owner's dashboard in a real browser: how far it is, who answers how, and what the owner can do about it."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import all_sent, answer, looks_right, ready, role, screen, start, stored
from pictured import add_settings, ask
from playwright.sync_api import Page, expect
from served import Served, eventually, make_study

from dissensus.study import Study


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study at which people have worked for two days, well and badly."""
    study = make_study(tmp_path_factory.mktemp("dashboard"))
    add_settings(study, control_rate=0.3)
    asked = set(study.asked())
    free = [item for item in study.items() if (item, study.classes.index_of("fox")) not in asked]
    ask(study, [{"item": item, "label": "fox", "expected": "no"} for item in free[:12]], "control")
    remember(study, study.folder.root.parent / "before.csv")
    with Served(study.folder.root, "--answers", "4") as served:
        for number, name in enumerate(("Ada", "Ben", "Cora")):
            work(served.add(name, is_trusted=number < 2), np.random.default_rng(number), is_careful=name != "Cora")
        settle(served)
        yield served


def settle(served: Served) -> None:
    """Wait until the service knows what the answers mean, which closes questions and opens others."""
    seen: list[Any] = [None]

    def is_settled() -> bool:
        served.owner.post("/api/owner/pause", {"paused": False})  # it looks at once
        seen.append(served.owner.get("/api/owner/summary").json["kinds"])
        time.sleep(1.2)
        return seen[-1] == seen[-2]

    eventually(is_settled)


def remember(study: Study, path: Path) -> None:
    """Answers that somebody gave elsewhere, in the last two days."""
    now, random = datetime.now(UTC), np.random.default_rng(7)
    with open(path, "w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(("item", "label", "annotator", "answer", "time"))
        for question in study.questions():
            time = now - timedelta(hours=float(random.choice((2, 3, 5, 20, 21, 22, 23, 26, 44))))
            sheet.writerow((question.item, question.name, "Dora", likely(question.name), time.isoformat()))
    study.judgements_import(path)


def likely(name: str) -> str:
    return "yes" if name < "d" else "no"


def work(client: Any, random: np.random.Generator, is_careful: bool) -> None:
    """Answer almost everything: as most people would, or without looking."""
    for _ in range(30):
        for question in client.next(1):
            careful = likely(question["payload"]["name"])
            is_guess = not is_careful or random.random() < 0.1
            client.answer(question["ticket"], str(random.choice(("yes", "no"))) if is_guess else careful)


@pytest.fixture
def dashboard(service: Served, visit: Callable[..., Page]) -> Page:
    return opened(service, visit)


def opened(service: Served, visit: Callable[..., Page], **options: Any) -> Page:
    page = visit(f"{service.address}/owner#{service.owner_token}", **options)
    expect(page.locator("body")).to_have_attribute("data-state", "shown")
    return page


def confirm(page: Page, act: str, name: str, reason: str | None = None) -> None:
    page.locator(f"[data-act={act}][data-name='{name}']").click()
    if reason is not None:
        role(page, "reason").fill(reason)
    role(page, "confirm-yes").click()
    expect(role(page, "confirm")).to_be_hidden()


def test_before_anybody_came_and_when_the_server_is_away(service_alone: Served, visit: Callable[..., Page]) -> None:
    page = opened(service_alone, visit, may_fail=True, clock=True)
    expect(role(page, "headline")).to_contain_text("No answers yet")
    expect(role(page, "people")).to_contain_text("Nobody has been invited yet")
    looks_right(page, "dashboard-empty", is_long=True)
    service_alone.stop()
    page.clock.fast_forward(6000)
    expect(role(page, "stale")).to_contain_text("These numbers are out of date")
    looks_right(page, "dashboard-stale")


@pytest.fixture
def service_alone(serve: Callable[..., Served], study_folder: Path) -> Served:
    return serve(study_folder)


def test_progress_pace_people_and_controls_are_shown(service: Served, dashboard: Page) -> None:
    assert "#" not in dashboard.url
    summary = service.owner.get("/api/owner/summary").json
    (kind,) = summary["kinds"]
    expect(role(dashboard, "headline")).to_have_text(f"{kind['answers']} of {kind['needed']} answers")
    expect(role(dashboard, "expected")).to_contain_text("at the current pace")
    expect(role(dashboard, "pace")).to_contain_text("expected end")
    expect(role(dashboard, "duels")).to_contain_text("3 duels")
    expect(role(dashboard, "alpha")).to_contain_text("Krippendorff")
    for person in summary["annotators"]:
        row = dashboard.locator(f"tr[data-person='{person['name']}']")
        expect(row).to_contain_text(str(person["answers"]))
        if person["controls"]["of"]:
            expect(row).to_contain_text(f"{person['controls']['right']} of {person['controls']['of']}")
    expect(dashboard.locator("[data-act=revoke][data-name=Dora]")).to_have_count(0)  # her answers came by a file
    for details in dashboard.locator("details").all():
        details.locator("summary").click()
    looks_right(dashboard, "dashboard", is_long=True)
    dashboard.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_for_function(CHART_FITS)


CHART_FITS = """() => {
  const chart = document.querySelector(".chart");
  return Math.abs(chart.clientWidth - chart.firstElementChild.viewBox.baseVal.width) <= 2;
}"""


LABELS_INSIDE = """() => {
  const box = document.querySelector(".chart svg").getBoundingClientRect();
  return [...document.querySelectorAll(".chart text")].map((text) => text.getBoundingClientRect())
    .every((text) => text.left >= box.left - 1 && text.right <= box.right + 1);
}"""


def test_comments_and_unsuitable_pictures_are_shown_with_their_pictures(
    serve: Callable[..., Served], study_folder: Path, visit: Callable[..., Page]
) -> None:
    service = serve(study_folder)
    ada, bob = service.add("Ada"), service.add("Bob")
    question = ada.next(1)[0]
    ada.answer(question["ticket"], "unfit", comment="two of them <b>overlap</b>")
    bob.answer(bob.next(1)[0]["ticket"], "unfit")
    assert ada.get("/api/owner/remarks").status in (401, 403)
    found = service.owner.get("/api/owner/remarks").json
    assert (found["commented"], len(found["comments"])) == (1, 1)
    assert sum(len(one["annotators"]) for one in found["unsuitable"]) == 2
    assert found["comments"][0]["about"].startswith("Does this show a")
    assert service.owner.get(found["comments"][0]["pictures"][0]).body == ada.get(question["images"][0]).body
    assert service.owner.get("/api/owner/remarks/999/0").status == 404
    page = opened(service, visit)
    expect(role(page, "headline")).to_have_text(re.compile(r"^0 of \d+ answers$"))  # those are asked no more
    expect(role(page, "comments")).to_contain_text("“two of them <b>overlap</b>”")
    for image in page.locator(".remark img").all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("(image) => image.naturalWidth") > 0
    expect(role(page, "kinds")).to_contain_text("Yes/no questions")
    assert page.evaluate(LABELS_INSIDE)
    looks_right(page, "dashboard-remarks", is_long=True)
    service.owner.post("/api/owner/annotators/Bob/exclusion", {"is_excluded": True, "reason": "in a hurry"})
    left = service.owner.get("/api/owner/remarks").json["unsuitable"]
    assert {name for one in left for name in one["annotators"]} == {"Ada"}


def test_an_invited_person_gets_a_link_that_works(service: Served, visit: Callable[..., Page]) -> None:
    dashboard = opened(service, visit, may_fail=True)
    dashboard.locator("[name=name]").fill("Eve <b>&'\"")
    role(dashboard, "add").get_by_role("button", name="Create link").click()
    expect(role(dashboard, "made")).to_be_visible()
    looks_right(dashboard, "dashboard-invited", is_long=True)
    expect(dashboard.locator(".who").filter(has_text="Eve")).to_have_text("Eve <b>&'\"")
    page = visit(role(dashboard, "link").input_value(), "phone")
    start(page)
    answer(page, lambda: page.locator("[data-answer=no]").tap())
    all_sent(page)
    assert len(stored(service, "Eve <b>&'\"")) == 1
    role(dashboard, "add").locator("[name=name]").fill("Ada")
    role(dashboard, "add").get_by_role("button", name="Create link").click()
    expect(role(dashboard, "add-error")).to_contain_text("No link was created")


def test_somebody_is_excluded_with_a_reason_and_counts_again(service: Served, dashboard: Page) -> None:
    dashboard.locator("[data-act=exclude][data-name=Cora]").click()
    looks_right(dashboard, "dashboard-exclude")
    role(dashboard, "confirm-no").click()
    before = role(dashboard, "headline").inner_text()
    confirm(dashboard, "exclude", "Cora", "answered without looking")
    note = dashboard.locator("tr[data-person=Cora] + .note-row")
    expect(note).to_contain_text("by owner: answered without looking")
    expect(role(dashboard, "headline")).not_to_have_text(before)
    looks_right(dashboard, "dashboard-excluded", is_long=True)
    confirm(dashboard, "include", "Cora", "it was the light")
    expect(dashboard.locator("[data-act=exclude][data-name=Cora]")).to_be_visible()
    expect(role(dashboard, "headline")).to_have_text(before)


def test_a_link_is_revoked_and_the_study_paused(service: Served, dashboard: Page, visit: Callable[..., Page]) -> None:
    client = service.add("Finn")
    page = visit(f"{service.address}/#{client.token}", may_fail=True)
    start(page)
    role(dashboard, "pause").click()
    expect(role(dashboard, "state")).to_have_text("Paused: no questions are handed out")
    looks_right(dashboard, "dashboard-paused")
    page.reload()
    screen(page, "paused")
    role(dashboard, "pause").click()
    expect(role(dashboard, "state")).to_have_text("Running")
    page.reload()
    ready(page)
    expect(dashboard.locator("[data-act=revoke][data-name=Finn]")).to_be_visible()
    confirm(dashboard, "revoke", "Finn")
    expect(dashboard.locator("tr[data-person=Finn]")).to_contain_text("link revoked")
    page.keyboard.press("y")
    screen(page, "refusal")


def test_downloads_hold_every_answer(service: Served, dashboard: Page) -> None:
    expected = service.owner.get("/api/owner/download/answers.jsonl").body.decode().splitlines()
    ids = [json.loads(line)["id"] for line in expected]
    files = {}
    for name in ("csv", "jsonl", "everything"):
        with dashboard.expect_download() as download:
            role(dashboard, f"download-{name}").click()
        files[download.value.suggested_filename] = Path(download.value.path()).read_bytes()
    assert files["answers.jsonl"].decode().splitlines() == expected
    assert [row["id"] for row in csv.DictReader(io.StringIO(files["answers.csv"].decode()))] == ids
    with zipfile.ZipFile(io.BytesIO(files["everything.zip"])) as archive:
        assert archive.read("answers.jsonl") == files["answers.jsonl"]
        assert "token" not in archive.read("people.json").decode()
    assert len(ids) > 100


def test_other_links_do_not_open_it(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/owner#{'x' * 32}", may_fail=True)
    expect(page.locator("body")).to_have_attribute("data-state", "gate")
    expect(role(page, "gate-title")).to_have_text("This page needs the owner’s link")
    looks_right(page, "dashboard-gate")
    client = service.add("Gil")
    page.goto(f"{service.address}/owner#{client.token}")
    screen(page, "instructions")  # an annotator's link leads to the questions, wherever it is opened
