"""Two clips in a real browser: played one after the other, and seen to the end before anything can be said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, start, stored
from filmed import CODECS, film
from pictured import ask
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

ENDINGS = tuple(CODECS)
CENTRE = """(clip) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  pen.drawImage(clip, clip.videoWidth / 2, 4, 1, 1, 0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""
PLAYED = """() => {
  globalThis.played = [];
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = function () {
    const all = [...document.querySelectorAll("video")];
    globalThis.played.push([all.indexOf(this), all.filter((clip) => !clip.paused).length]);
    return play.call(this);
  };
}"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Reddish and bluish clips, a pair in each container."""
    root = tmp_path_factory.mktemp("clips")
    (root / "pool").mkdir()
    for ending in ENDINGS:
        film(root / "pool" / f"red{ending}", (200, 40, 40))
        film(root / "pool" / f"blue{ending}", (40, 40, 200), size=(256, 192))
    made = Study.init(root / "study", classes="imagenet", title="Streams")
    made.pool([root / "pool"])
    pairs = [(f"red{ending}", f"blue{ending}") for ending in ENDINGS]
    ask(made, [{"kind": "slider", "first": a, "second": b, "ask": "Which clip is better?"} for a, b in pairs])
    return made


@pytest.fixture(scope="module")
def service(study: Study) -> Iterator[Served]:
    with Served(study.folder.root, "--answers", "99") as served:
        yield served


def seen(page: Page) -> None:
    """Wait until both clips were played to the end."""
    expect(role(page, "scale")).to_have_attribute("data-open", "true")


def left_item(page: Page) -> str:
    """Whether the first clip is the red or the blue one."""
    red, _, blue = page.locator("video").first.evaluate(CENTRE)
    return "red" if red > blue else "blue"


def test_clips_are_played_one_after_the_other_before_anything_is_said(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "viewer"), script=f"({PLAYED})()")
    start(page)
    expect(page.locator("input[type=range]")).to_be_disabled()
    expect(role(page, "reading")).to_have_text("Watch both clips first")
    looks_right(page, "slider clips")
    for key in ("ArrowRight", "s", "1"):
        page.keyboard.press(key)
    expect(role(page, "confirm")).to_be_disabled()
    page.keyboard.press(" ")
    expect(role(page, "play")).to_be_hidden()
    assert page.evaluate("() => played") == [[0, 0]]
    page.wait_for_function("() => played.length === 2")
    expect(page.locator("input[type=range]")).to_be_disabled()
    seen(page)
    assert page.evaluate("() => played") == [[0, 0], [1, 0]], "the second began when the first was over"
    page.keyboard.press("2")
    page.wait_for_function("() => played.length === 3")
    assert page.evaluate("() => played.at(-1)") == [1, 0]
    page.keyboard.press("ArrowRight")
    looks_right(page, "slider clips seen")
    expect(role(page, "confirm")).to_have_accessible_name("Confirm: uncertain (+5)")


def test_every_container_plays_at_its_own_pixels_and_the_sign_is_right(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "watcher"))
    start(page)
    firsts = []
    for _ in ENDINGS:
        ready(page)
        sizes = "(all) => all.map((clip) => [clip.videoWidth, parseFloat(clip.style.width) * devicePixelRatio])"
        role(page, "play").click()
        seen(page)
        firsts.append(left_item(page))
        (shown,) = page.locator("video:visible").evaluate_all(sizes)
        assert shown[0] == shown[1]
        page.keyboard.press("End")
        answer(page, lambda: page.keyboard.press("Enter"))
    screen(page, "idle")
    all_sent(page)
    rows = stored(service, "watcher")
    # the right one was called better: the blue one (the second) where red was shown first
    assert [int(row["answer"]) for row in rows] == [100 if first == "red" else -100 for first in firsts]
    assert {row["question"]["first"].rpartition(".")[2] for row in rows} == {ending[1:] for ending in ENDINGS}


def test_going_back_needs_no_second_look_and_a_hidden_page_is_no_look(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "returns"), "phone")
    start(page)
    role(page, "play").tap()
    page.evaluate("""() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
      delete document.hidden;
    }""")
    expect(role(page, "play")).to_be_visible()
    expect(page.locator("input[type=range]")).to_be_disabled()
    role(page, "play").tap()
    seen(page)
    role(page, "same").tap()
    answer(page, lambda: role(page, "confirm").tap())
    ready(page)
    page.locator("[data-role=undo]:visible").tap()
    ready(page)
    expect(role(page, "reading")).to_contain_text("No difference")
    expect(page.locator("input[type=range]")).to_be_enabled()
    page.locator("[data-role=play-1]").tap()
    page.wait_for_function("() => !document.querySelector('video').paused")


def test_a_clip_that_cannot_be_played_is_said_and_skipped(tmp_path: Path, visit: Callable[..., Page]) -> None:
    (tmp_path / "pool").mkdir()
    film(tmp_path / "pool" / "good.webm", (10, 200, 10))
    (tmp_path / "pool" / "bad.mp4").write_bytes(b"\0\0\0\x18ftypisom" + bytes(100))
    (tmp_path / "pool" / "page.webm").write_bytes(b"<html>")
    made = Study.init(tmp_path / "study", classes="imagenet")
    made.pool([tmp_path / "pool"])
    ask(made, [{"kind": "slider", "first": "good.webm", "second": other} for other in ("bad.mp4", "page.webm")])
    with Served(made.folder.root) as served:
        page = visit(link(served, "unlucky"), may_fail=True)
        role(page, "start").click()
        told = []
        for _ in range(2):
            expect(role(page, "skip")).to_be_visible()
            told.append(role(page, "loading-words").inner_text())
            role(page, "skip").click()
        screen(page, "idle")
    assert sorted(told) == ["This clip cannot be played in this browser.", "This clip is no longer available."]
