"""Pages that no other test opens in a browser: axe finds nothing wrong with them, in both themes, on phone and desk."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from browsers import sideways, violations

from dissensus import human_baseline, video_robustness
from dissensus.report.human.page import human_page
from dissensus.report.page import render
from dissensus.report.video.page import video_page

FACES = [(theme, width) for theme in ("light", "dark") for width in (390, 1440)]
CLASSES = ("cat", "dog", "fox")


@cache
def people() -> str:
    """Two people and two classifiers on sixty images."""
    chance = np.random.default_rng(0)
    truth = chance.choice(CLASSES, 60)
    said = {
        name: np.where(chance.random(60) < skill, truth, chance.choice(CLASSES, 60)).tolist()
        for name, skill in {"ann": 0.9, "ben": 0.8, "net": 0.7, "web": 0.6}.items()
    }
    return render(human_page(human_baseline(said, truth.tolist(), people=["ann", "ben"], resamples=99)))


@cache
def video() -> str:
    """Three classifiers on thirty anchors with four neighbours each."""
    chance = np.random.default_rng(0)
    neighbours = {f"{n}-2": [f"{n}-{frame}" for frame in (0, 1, 3, 4)] for n in range(30)}
    labels = {anchor: int(chance.integers(3)) for anchor in neighbours}
    frames = [(frame, labels[anchor]) for anchor, near in neighbours.items() for frame in (anchor, *near)]
    models = {name: {frame: one if chance.random() < skill else 3 for frame, one in frames} for name, skill in SKILLS}
    return render(video_page(video_robustness(models, neighbours, labels)))


SKILLS = (("net", 0.95), ("web", 0.9), ("old", 0.7))


@pytest.mark.parametrize("made", [people, video])
@pytest.mark.parametrize(("theme", "width"), FACES)
def test_axe_finds_nothing(open_page, shots, made, theme, width):
    page = open_page(made(), width, theme)
    page.screenshot(path=shots / f"{made.__wrapped__.__name__}-{width}-{theme}.png", full_page=True)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert sideways(page) <= 0
    assert violations(page) == []
