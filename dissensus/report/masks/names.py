"""What the page calls measures, cases and classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dissensus.records import BACKGROUND, VOID, class_colours
from dissensus.report.masks.figures import FAILS_BELOW
from dissensus.report.wording import number

MEASURES = {
    "miou": ("mIoU", "mean intersection over union of the classes that are there"),
    "miou-all": ("mIoU of all classes", "mean intersection over union, where a class that is not there adds zero"),
    "fwiou": ("FWIoU", "intersection over union, weighted by how frequent each class is"),
    "mpa": ("MPA", "mean share of right pixels over the classes of the truth"),
}
"""Short name and meaning of every concordance measure."""

CASES = {
    "both": f"Case I: both maps are fine ({FAILS_BELOW} or more).",
    "first": "Case II: only the attacker’s map is fine, so the defender is falsified.",
    "second": "Case II: only the defender’s map is fine, so the attack fell back on the attacker.",
    "neither": f"Case III: both fail (below {FAILS_BELOW}).",
    "waiting": "Nobody has judged this image yet.",
}
SHORT_CASES = {
    "both": "I: both fine",
    "first": "II: only the attacker fine",
    "second": "II: only the defender fine",
    "neither": "III: both fail",
    "waiting": "not judged",
}

CHOICES = {
    "first": "People chose the attacker’s map.",
    "second": "People chose the defender’s map.",
    "even": "People chose both equally often.",
    "waiting": "Nobody has chosen yet.",
}
SHORT_CHOICES = {
    "first": "attacker chosen",
    "second": "defender chosen",
    "even": "equally often",
    "waiting": "not judged",
}


@dataclass(frozen=True)
class ClassName:
    """A class in the legend: its label, its name and its colour as CSS writes it."""

    label: int
    name: str
    colour: str


def measure_name(measure: str) -> str:
    """The measure as tables call it."""
    return MEASURES.get(measure, (measure, ""))[0]


def measure_meaning(measure: str) -> str:
    """The measure in words; empty where it is not known."""
    return MEASURES.get(measure, ("", ""))[1]


def score_text(score: float | None) -> str:
    """A score in two decimals; more, rounded down, where two would lift a failure up to the threshold."""
    if score is None:
        return ""
    rounds_up = score < FAILS_BELOW <= round(score, 2)
    return number(math.floor(1000 * score) / 1000, 3) if rounds_up else number(score, 2)


def class_name(label: int, classes: Sequence[str]) -> str:
    """The name of a class; pixels that are left out have one too."""
    if label == VOID:
        return "left out"
    return classes[label] if 0 <= label < len(classes) else f"class {label}"


def legend_classes(labels: Iterable[int], classes: Sequence[str]) -> tuple[ClassName, ...]:
    """All classes that occur, in the order of their labels; the background has no colour to explain."""
    return tuple(
        ClassName(label, class_name(label, classes), "#{:02x}{:02x}{:02x}".format(*class_colours()[label]))
        for label in sorted(set(labels) - {BACKGROUND})
    )
