"""Pairs of frames in a real browser: every answer by key and by touch, the flicker, and the joint review."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, start, stored
from data_kit import KIT, WHY_SKIPPED
from framed import ServedFrames, frame_study, judge_frames, pair_bodies
from pictured import ask, asking
from playwright.sync_api import Page, expect
from served import Served, eventually

from dissensus.records import FRAME_ANSWERS, NO, YES
from dissensus.screening import FrameRule
from dissensus.study import Study

CLIP = KIT / "video" / "vid_robust_examples"
KEYS = {"yes": "y", "motion": "1", "background": "2", "blur": "3", "other": "4", "unsure": "u"}
HIDDEN = """() => [...document.querySelectorAll(".frame")].map((frame) => getComputedStyle(frame).visibility)"""
WATCH = """() => {
  const stage = document.querySelector("[data-role=stage]");
  window.shown = [[stage.dataset.now, performance.now()]];
  window.blank = 0;
  new MutationObserver(() => {
    const images = [...stage.querySelectorAll("img")];
    if (!images.every((image) => image.complete && image.naturalWidth > 0)) window.blank += 1;
    if (window.shown.at(-1)[0] !== stage.dataset.now) window.shown.push([stage.dataset.now, performance.now()]);
  }).observe(stage, { attributes: true, attributeFilter: ["data-now"] });
}"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return frame_study(tmp_path_factory.mktemp("frames"), anchors=4)


@pytest.fixture(scope="module")
def service(study: Study) -> Iterator[Served]:
    bodies = pair_bodies(4)
    bodies[0]["labels"] = [2, 3]
    with asking(study, [{"kind": "frames"} | body for body in bodies]) as served:
        yield served


def taps(page: Page, label: str, similar: str | None) -> None:
    """Answer with at most two taps."""
    if label == "unsure":
        role(page, "label-unsure").tap()
    page.locator(f"[data-answer={similar or 'wrong'}]").tap()


def presses(page: Page, label: str, similar: str | None) -> None:
    """Answer with at most two keys."""
    if label == "unsure":
        page.keyboard.press("l")
    page.keyboard.press("w" if similar is None else KEYS[similar])


@pytest.mark.parametrize("means", ["keyboard", "touch"])
def test_every_answer_takes_at_most_two_keys_or_taps(service: Served, visit: Callable[..., Page], means: str) -> None:
    page = visit(link(service, means), "phone" if means == "touch" else "desktop")
    start(page)
    act = presses if means == "keyboard" else taps
    for label, similar in FRAME_ANSWERS:
        answer(page, lambda label=label, similar=similar: act(page, label, similar))
    all_sent(page)
    rows = stored(service, means)
    assert [(row["answer"]["label"], row["answer"]["similar"]) for row in rows] == list(FRAME_ANSWERS)
    assert {row["shown"]["first"] for row in rows} == {"anchor", "frame"}


def test_the_mouse_answers_and_minds_can_be_changed(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who doubts"))
    start(page)
    answer(page, page.get_by_role("button", name="Motion").click)
    expect(role(page, "last")).to_contain_text("not similar: motion")
    ready(page)
    page.keyboard.press("z")
    expect(role(page, "before")).to_contain_text("not similar: motion")
    expect(page.locator("[data-answer=motion]")).to_have_attribute("aria-pressed", "true")
    answer(page, lambda: presses(page, "unsure", "yes"))
    ready(page)
    page.keyboard.press("z")
    expect(role(page, "label-unsure")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-answer=yes]")).to_have_text("SimilarY")
    page.keyboard.press("l")
    expect(page.locator("[data-answer=yes]")).to_have_text("Right and similarY")
    answer(page, lambda: page.keyboard.press("w"))
    all_sent(page)
    rows = stored(service, "who doubts")
    assert [row["answer"] for row in rows] == [
        {"label": "right", "similar": "motion"},
        {"label": "unsure", "similar": "yes"},
        {"label": "wrong", "similar": None},
    ]
    assert len({str(row["question"]) for row in rows}) == 1


def lively(service: Served, visit: Callable[..., Page], name: str, size: str = "desktop") -> Page:
    """A page of somebody who does not mind motion."""
    page = visit(link(service, name), size)
    page.emulate_media(reduced_motion="no-preference")
    start(page)
    return page


def test_frames_alternate_at_a_rate_that_can_be_changed_and_are_never_blank(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = lively(service, visit, "who watches")
    stage = role(page, "stage")
    expect(stage).to_have_attribute("data-running", "true")
    expect(stage).to_have_attribute("data-rate", "2")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.keyboard.press(".")
    expect(stage).to_have_attribute("data-rate", "5")
    page.evaluate(WATCH)
    page.wait_for_function("() => window.shown.length >= 8")
    assert page.evaluate("() => window.blank") == 0
    shown = page.evaluate("() => window.shown")
    assert [now for now, _ in shown[1:]] == [{"0": "1", "1": "0"}[now] for now, _ in shown[:-1]]
    page.keyboard.press(",")
    expect(stage).to_have_attribute("data-rate", "3")
    role(page, "rate").click()
    expect(stage).to_have_attribute("data-rate", "5")
    role(page, "rate").click()
    expect(stage).to_have_attribute("data-rate", "1")
    page.keyboard.press("f")
    expect(stage).to_have_attribute("data-running", "false")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(HIDDEN) == ["visible", "visible"], "the upper frame covers the lower one"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(HIDDEN) == ["visible", "hidden"]
    answer(page, lambda: page.keyboard.press("y"))
    ready(page)
    expect(role(page, "stage")).to_have_attribute("data-running", "false")  # it was stopped, and stays so
    role(page, "run").click()
    expect(role(page, "stage")).to_have_attribute("data-running", "true")
    page.keyboard.press("ArrowRight")
    expect(role(page, "stage")).to_have_attribute("data-running", "false")


def test_nobody_answers_before_both_frames_were_seen(service: Served, visit: Callable[..., Page]) -> None:
    page = lively(service, visit, "who hurries", "phone")
    role(page, "run").tap()
    answer(page, lambda: (role(page, "other").tap(), page.locator("[data-answer=yes]").tap()))
    ready(page)
    expect(role(page, "stage")).to_have_attribute("data-now", "0")
    page.locator("[data-answer=yes]").tap()
    expect(page.locator(".hint")).to_have_text("This is the other frame. Now answer.")
    expect(role(page, "stage")).to_have_attribute("data-now", "1")
    answer(page, lambda: page.locator("[data-answer=yes]").tap())
    all_sent(page)
    assert len(stored(service, "who hurries")) == 2


def test_the_view_is_remembered_and_frames_zoom_together(service: Served, visit: Callable[..., Page]) -> None:
    page = lively(service, visit, "who compares")
    page.keyboard.press("v")
    expect(role(page, "stage")).to_have_attribute("data-view", "side")
    assert page.evaluate(HIDDEN) == ["visible", "visible"]
    left, right = (page.locator(".frame").nth(number).bounding_box() for number in range(2))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"] + 1
    for key in ("+", "v"):
        transforms = page.locator(".frame img").evaluate_all("(all) => all.map((image) => image.style.transform)")
        assert len(set(transforms)) == 1
        page.keyboard.press(key)
    page.keyboard.press("v")
    answer(page, lambda: page.keyboard.press("y"))
    page.reload()
    ready(page)
    expect(role(page, "stage")).to_have_attribute("data-view", "side")
    role(page, "view").click()
    expect(role(page, "stage")).to_have_attribute("data-view", "place")


def test_whoever_wants_less_motion_gets_a_still_page(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who rests"))
    start(page)
    stage = role(page, "stage")
    expect(stage).to_have_attribute("data-view", "side")
    role(page, "view").click()
    expect(stage).to_have_attribute("data-view", "place")
    expect(stage).to_have_attribute("data-running", "false")
    before = page.evaluate("() => document.querySelector('[data-role=stage]').dataset.now")
    page.wait_for_timeout(1200)
    assert page.evaluate("() => document.querySelector('[data-role=stage]').dataset.now") == before
    page.keyboard.press("f")
    expect(stage).to_have_attribute("data-running", "true")


def test_labels_are_named_and_nothing_tells_the_anchor(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks"))
    start(page)
    titles = set()
    for _ in range(16):
        ready(page)
        titles.add(page.locator(".name").text_content())
        content = page.content()
        assert not any(word in content for word in ("secret", "anchor", "offset", "neighbour"))
        assert page.locator(".frame img").evaluate_all("(all) => all.map((image) => image.alt)") == [
            "Frame A",
            "Frame B",
        ]
        answer(page, lambda: page.keyboard.press("y"))
    screen(page, "idle")
    assert titles == {"cat", "cat or dog"}
    firsts = [row["shown"]["first"] for row in stored(service, "who looks")]
    assert len(set(firsts)) == 2


def test_training_says_what_was_right(tmp_path: Path, visit: Callable[..., Page]) -> None:
    study = frame_study(tmp_path, anchors=1)
    first, second = ({"kind": "frames"} | body for body in pair_bodies(1)[:2])
    known = {"expected": {"label": "right", "similar": "motion"}, "note": "The camera moved."}
    ask(study, [first | known], "training")
    with asking(study, [second]) as served:
        page = visit(link(served, "who learns"))
        start(page)
        page.keyboard.press("y")
        expect(role(page, "feedback")).to_have_attribute("data-right", "false")
        expect(role(page, "feedback-expected")).to_have_text("Expected: not similar: motion")
        expect(page.locator("[data-answer=yes]")).to_have_attribute("aria-pressed", "true")
        looks_right(page, "frames training")
        role(page, "feedback-next").click()
        screen(page, "trained")


def test_a_frame_that_is_gone_is_not_named_instead(tmp_path: Path) -> None:
    study = frame_study(tmp_path, anchors=1)
    with asking(study, [{"kind": "frames"} | body for body in pair_bodies(1)]) as served:
        gone = pair_bodies(1)[0]["frame"]
        (tmp_path / "pool" / gone).unlink()
        client = served.add("who waits")
        told = client.next(4)
        assert len(told) == 4
        assert gone not in str(told)
        assert "items" not in {key for one in told for key in one["payload"]}
        statuses = [client.get(image).status for one in told for image in one["images"]]
        assert len(statuses) == 8
        assert sum(status != 200 for status in statuses) == 1  # the page says so, and lets people skip the question


@pytest.fixture
def review(tmp_path: Path) -> Iterator[ServedFrames]:
    """Four people vote, and then answer again about what somebody objected to."""
    study = frame_study(tmp_path, anchors=1)
    with ServedFrames(study.folder.root, pair_bodies(1), FrameRule(answers=4, joint=4), people=4) as served:
        yield served


PLANTED: dict[str, list[tuple[str, str | None]]] = {
    "-10": [("right", "yes"), ("right", "yes"), ("right", "motion"), ("unsure", "unsure")],
    "-03": [("right", "yes")] * 4,
    "+02": [("right", "yes"), ("right", "blur"), ("right", "yes"), ("right", "yes")],
    "+09": [("wrong", None), ("wrong", None), ("right", "yes"), ("wrong", None)],
}


def planted(person: int) -> Callable[[dict[str, Any]], tuple[str, str | None]]:
    return lambda body: next(said[person] for offset, said in PLANTED.items() if offset in body["frame"])


def test_the_joint_review_shows_how_people_voted(review: ServedFrames, visit: Callable[..., Page]) -> None:
    study = Study(review.folder)
    people = [review.add(f"voter-{number}") for number in range(4)]
    for number, client in enumerate(people):
        assert len(judge_frames(study, client, planted(number), most=4)) == 4
    judged = review.review().judged()
    assert judged.is_disputed.tolist() == [True, False, True, True]
    assert int((judged.state == YES).sum()) == 1
    seen = {}
    eventually(lambda: len(people[3].next(5)) == 3)
    page = visit(f"{review.address}/#{people[3].token}")
    start(page)
    for number in range(3):
        ready(page)
        expect(page.locator(".does")).to_contain_text("Joint review")
        votes = page.locator("[data-role=votes] li").all_inner_texts()
        seen[tuple(votes)] = number
        assert not re.search("voter-[012]", page.content())
        if "2 of 4 similar" in votes:
            looks_right(page, "frames joint review")
        answer(page, lambda: page.keyboard.press("1"))
    screen(page, "idle")
    all_sent(page)
    assert seen.keys() == {
        ("2 of 4 similar", "1 not similar: motion", "1 unsure"),
        ("3 of 4 similar", "1 not similar: blur"),
        ("3 of 4 wrong label", "1 similar"),
    }
    for client in people[:3]:
        told = judge_frames(study, client, lambda _: ("right", "yes"))
        assert len(told) == 3
        assert all(sum(vote["count"] for vote in one["payload"]["votes"]) == 4 for one in told)
    after = review.review().judged()
    assert after.state.tolist() == [YES] * 4  # three of four were convinced
    assert after.counts.sum(axis=1).tolist() == [4] * 4
    assert after.is_joint.tolist() == [True, False, True, True]


def test_a_group_may_answer_once_at_one_screen(tmp_path: Path) -> None:
    study = frame_study(tmp_path, anchors=1)
    rule = FrameRule(answers=2, joint=1)
    with ServedFrames(study.folder.root, pair_bodies(1), rule, people=2) as served:
        ada, ben, group = (served.add(name) for name in ("ada", "ben", "the group"))
        for client, similar in ((ada, "yes"), (ben, "blur")):
            for told in client.next(4):
                client.answer(told["ticket"], {"label": "right", "similar": similar})
        eventually(lambda: len(group.next(5)) == 4)
        told = judge_frames(study, group, lambda _: ("wrong", None))
        assert [one["payload"]["votes"] for one in told] == [
            [{"label": "right", "similar": "yes", "count": 1}, {"label": "right", "similar": "blur", "count": 1}]
        ] * 4
        assert served.review().judged().state.tolist() == [NO] * 4
        eventually(lambda: not ada.next())


def test_real_frames_look_right(tmp_path: Path, visit: Callable[..., Page]) -> None:
    if not CLIP.is_dir():
        pytest.skip(f"{WHY_SKIPPED} at {KIT}")
    frames = sorted(CLIP.glob("*.JPEG"))
    (tmp_path / "pool").mkdir()
    for path in (frames[0], frames[10]):
        (tmp_path / "pool" / path.name).write_bytes(path.read_bytes())
    study = Study.init(tmp_path / "study", classes="imagenet", title="Frames of a video")
    study.pool([tmp_path / "pool"])
    body = {"anchor": frames[10].name, "frame": frames[0].name, "labels": [35, 36]}
    with asking(study, [{"kind": "frames"} | body]) as served:
        page = lively(served, visit, "who sees")
        role(page, "run").click()
        looks_right(page, "frames")
        page.keyboard.press("v")
        page.keyboard.press("l")
        looks_right(page, "frames side by side")
