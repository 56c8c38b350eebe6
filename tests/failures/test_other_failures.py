"""Failures of maps and scores: pixels counted one by one, and who is contradicted by whom."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np

from dissensus.records import VOID
from dissensus.tasks.masks.failing import _pairs
from dissensus.tasks.scores.failing import Attack, cases_of

NAMES = ("background", "cat", "dog")


def test_confused_pixels_are_those_counted_one_by_one():
    rng = np.random.default_rng(0)
    labels, truth = (rng.choice([0, 1, 2, VOID], (13, 17)).astype(np.uint8) for _ in range(2))
    both = [(int(a), int(b)) for a, b in zip(labels.ravel(), truth.ravel(), strict=True)]
    wanted = Counter((NAMES[a], NAMES[b]) for a, b in both if a != b and VOID not in (a, b))
    assert _pairs(labels, truth, NAMES) == wanted
    assert _pairs(truth, truth, NAMES) == Counter()


def test_people_contradict_the_defender_and_only_the_opposite_contradicts_the_attacker():
    said = [("x", 0.9), ("y", -0.5), ("z", 0.1), ("w", -0.1)]
    rows = [Attack(0, 1, f"{name}-low", f"{name}-high", "level 1 (0 to 50)", value) for name, value in said]
    found = {(one.item, one.role): one for one in cases_of(rows, SimpleNamespace(models=["a", "b"]))}
    assert set(found) == {("x-low", "defender"), ("y-low", "defender"), ("y-low", "attacker")}
    assert (found["x-low", "defender"].model, found["x-low", "defender"].opponent) == ("b", "a")
    attacker = found["y-low", "attacker"]
    assert (attacker.model, attacker.severity, attacker.predicted) == ("a", 0.5, "high is better")
    assert attacker.true == "low is better"
