"""Hands that draw on the page, and an independent reckoning of which pixels that must give.

Gestures are given in whole pixels of the page. Where that is in the picture follows from the view that the board tells;
the rules are those of docs/annotating.md, in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from playwright.sync_api import Page

from dissensus.arrays import Array
from dissensus.records import VOID, class_colours

Point = tuple[float, float]
PLACE = """() => {
  const board = document.querySelector(".board");
  const { left, top, width, height } = board.getBoundingClientRect();
  const { scale, x, y } = board.dataset;
  return { left, top, width, height, scale: Number(scale), x: Number(x), y: Number(y) };
}"""
SETTLED = """() => new Promise((done) => {
  const look = (before) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const board = document.querySelector(".board");
    const { left, top, width, height } = board.getBoundingClientRect();
    const now = JSON.stringify([left, top, width, height, board.dataset.scale, board.dataset.x, board.dataset.y]);
    if (now === before) done(); else look(now);
  }));
  look("");
})"""
"""Wait until the board keeps its size and place: on a slow machine it is laid out again after it is first shown."""
SHOWN = """(size) => {
  const board = document.querySelector(".board");
  const canvas = board.querySelector("canvas");
  const density = canvas.width / parseFloat(canvas.style.width);
  const { scale, x, y } = board.dataset;
  const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const at = (place, shift) => Math.floor((Number(shift) + (place + 0.5) * Number(scale)) * density);
  const seen = [];
  for (let row = 0; row < size[0]; row += 1) {
    for (let column = 0; column < size[1]; column += 1) {
      const first = 4 * (at(row, y) * canvas.width + at(column, x));
      seen.push(...data.slice(first, first + 4));
    }
  }
  return seen;
}"""


class Hand:
    """Somebody at a page, with a map that must come of what they do."""

    def __init__(self, page: Page, height: int, width: int) -> None:
        self.page = page
        self.map = np.zeros((height, width), np.uint8)
        self.touch = page.context.new_cdp_session(page)
        page.evaluate(SETTLED)

    def place(self) -> dict[str, float]:
        return dict(self.page.evaluate(PLACE))

    def on_page(self, x: float, y: float) -> Point:
        """A whole pixel of the page near a place of the picture, which must be in sight."""
        at = self.place()
        point = round(at["left"] + at["x"] + x * at["scale"]), round(at["top"] + at["y"] + y * at["scale"])
        assert 0 < point[0] - at["left"] < at["width"], (x, at)
        assert 0 < point[1] - at["top"] < at["height"], (y, at)
        return point

    def in_picture(self, point: Point) -> Point:
        at = self.place()
        return ((point[0] - at["left"]) - at["x"]) / at["scale"], ((point[1] - at["top"]) - at["y"]) / at["scale"]

    def polygon(self, points: Sequence[Point], label: int, close: str = "Enter") -> None:
        """Click from point to point (of the page) and close it: by Enter, or on the first one."""
        for point in points:
            self.page.mouse.click(*point)
        if close == "first":
            self.page.mouse.click(*points[0])
        else:
            self.page.keyboard.press(close)
        self.fill([self.corner(point) for point in points], label)

    def stroke(self, points: Sequence[Point], size: int, label: int) -> None:
        """Move the mouse from point to point (of the page) with its button held down."""
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*point)
        self.page.mouse.up()
        self.paint([self.pixel(point) for point in points], size, label)

    def finger(self, points: Sequence[Point], size: int, label: int) -> None:
        """The same with a finger."""
        self.drag(points)
        self.paint([self.pixel(point) for point in points], size, label)

    def drag(self, points: Sequence[Point]) -> None:
        """A finger goes from point to point; slowly, since browsers ignore a touch that stops what was thrown."""
        self.touches("touchStart", points[0])
        for point in [*points[1:], points[-1]]:
            self.page.wait_for_timeout(60)
            self.touches("touchMove", point)
        self.page.wait_for_timeout(120)
        self.touches("touchEnd")

    def touches(self, kind: str, *points: Point) -> None:
        fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    def corner(self, point: Point) -> tuple[int, int]:
        """The corner of pixels nearest to a point of the page."""
        x, y = np.floor(np.array(self.in_picture(point)) + 0.5)
        return int(np.clip(x, 0, self.map.shape[1])), int(np.clip(y, 0, self.map.shape[0]))

    def pixel(self, point: Point) -> tuple[int, int]:
        """The pixel under a point of the page."""
        x, y = np.floor(self.in_picture(point))
        return int(x), int(y)

    def fill(self, corners: Sequence[tuple[int, int]], label: int) -> None:
        self.map[inside(corners, self.map.shape)] = label

    def paint(self, pixels: Sequence[tuple[int, int]], size: int, label: int) -> None:
        self.map[brushed(pixels, size, self.map.shape)] = label

    def answer(self) -> dict[str, Any]:
        """The map as it must be stored."""
        flat = self.map.reshape(-1)
        starts = np.flatnonzero(np.append(True, flat[1:] != flat[:-1]))
        runs = np.stack([flat[starts], np.diff(np.append(starts, flat.size))], 1).reshape(-1).tolist()
        return {"height": self.map.shape[0], "width": self.map.shape[1], "runs": runs}

    def agrees(self, expected: Array | None = None) -> None:
        """The canvas must show this map; the one that must come of all gestures where none is given."""
        wanted, found = self.map if expected is None else expected, self.shown()
        y, x = np.nonzero(found != wanted)
        told = [(*at, int(wanted[at]), int(found[at])) for at in list(zip(y.tolist(), x.tolist(), strict=True))[:20]]
        assert not told, f"{len(y)} pixels differ (y, x, wanted, shown): {told}"

    def shown(self, classes: int = 10) -> Array:
        """The labels that the page's canvas shows, by their colours; all of the picture must be in sight."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen = np.reshape(self.page.evaluate(SHOWN, list(self.map.shape)), (*self.map.shape, 4))
        colours = np.array(class_colours())[[*range(classes), VOID]]
        distance = np.abs(seen[..., None, :3].astype(int) - colours).sum(-1)
        distance[..., 0] = 1000
        labels = np.array([*range(classes), VOID])[distance.argmin(-1)]
        is_hatched = (seen[..., :3] < 50).all(-1) & (seen[..., 3] > 0)
        return np.where(seen[..., 3] == 0, 0, np.where(is_hatched, VOID, labels)).astype(np.uint8)


def inside(corners: Sequence[tuple[int, int]], shape: tuple[int, ...]) -> Array:
    """Pixels whose centres lie in a polygon: an odd number of its edges is on them or left of them."""
    y, x = (2 * part + 1 for part in np.mgrid[: shape[0], : shape[1]])  # in halves of a pixel
    is_inside = np.zeros(shape, bool)
    for ends in zip(corners, [*corners[1:], corners[0]], strict=True):
        (x1, y1), (x2, y2) = sorted([(2 * x, 2 * y) for x, y in ends], key=lambda corner: corner[1])
        is_beside = (y1 <= y) & (y < y2)
        is_inside ^= is_beside & ((x - x1) * (y2 - y1) >= (y - y1) * (x2 - x1))
    return is_inside


def brushed(pixels: Sequence[tuple[int, int]], size: int, shape: tuple[int, ...]) -> Array:
    """Pixels that a disc covers on its way along the lines between pixels."""
    y, x = (part.astype(float) for part in np.mgrid[: shape[0], : shape[1]])
    covered = np.zeros(shape, bool)
    for (ax, ay), (bx, by) in zip(pixels, [*pixels[1:], pixels[-1]], strict=True):
        way = np.array([bx - ax, by - ay], float)
        share = np.clip(((x - ax) * way[0] + (y - ay) * way[1]) / max(way @ way, 1), 0, 1)
        covered |= np.hypot(x - ax - share * way[0], y - ay - share * way[1]) <= size / 2 + 1e-9
    return covered


def kept(row: dict[str, Any]) -> Any:
    """The answer of a downloaded row."""
    return row["answer"]
