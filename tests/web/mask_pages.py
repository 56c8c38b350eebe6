"""Pages on which masks of small photographs are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browsing import role, start
from hands import Hand
from photos import eight_photos
from pictured import ask
from PIL import Image
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

CLASSES = ("background", "cat", "dog", "cow", "sheep", "horse")
HEIGHT, WIDTH = 90, 120


def picture(number: int, width: int = WIDTH, height: int = HEIGHT) -> Image.Image:
    """A photograph in a small size."""
    return eight_photos()[number].resize((width, height))


def mask_study(root: Path, pictures: list[Image.Image], classes: tuple[str, ...] = CLASSES, apart: int = 0) -> Study:
    """A study that asks for masks of all pictures but the first few."""
    (root / "pool").mkdir(parents=True)
    for number, one in enumerate(pictures):
        one.save(root / "pool" / f"photo-{number}.png")
    (root / "classes.txt").write_text("".join(f"{name}\n" for name in classes))
    made = Study.init(root / "study", classes=str(root / "classes.txt"), title="Animals, drawn")
    made.pool([root / "pool"])
    ask(made, [{"kind": "mask", "item": item} for item in made.items()[apart:]])
    return made


@contextmanager
def four_masks(root: Path) -> Iterator[Served]:
    """A study that asks for masks of four pictures, served to as many people as come."""
    made = mask_study(root, [picture(number) for number in range(4)])
    with Served(made.folder.root, "--answers", "99") as served:
        yield served


def begin(page: Page, height: int = HEIGHT, width: int = WIDTH) -> Hand:
    """Read the instructions and take the first picture."""
    start(page)
    expect(page.locator("[data-label='1']")).to_be_visible()
    return Hand(page, height, width)


def set_size(page: Page, size: int) -> None:
    role(page, "size").evaluate(
        "(range, size) => { range.value = size; range.dispatchEvent(new Event('input')); }", str(size)
    )
