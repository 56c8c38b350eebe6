"""What the page calls measures, cases and classes, and which case two scores are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dissensus.records import VOID
from dissensus.report.wording import number

FAILS_BELOW = 0.6
"""A map with a lower score is a failure: the score that all models of the paper exceed on their benchmark."""

MEASURES = {
    "miou": ("mIoU", "mean intersection over union of the classes that are there"),
    "miou-all": ("mIoU of all classes", "mean intersection over union, where a class that is not there adds zero"),
    "fwiou": ("FWIoU", "intersection over union, weighted by how frequent each class is"),
    "mpa": ("MPA", "mean share of right pixels over the classes of the truth"),
}
"""Short name and meaning of every concordance measure."""

CASES = {
    "both": ("I: both fine", f"Case I: both maps are fine ({FAILS_BELOW} or more)."),
    "first": (
        "II: only the attacker fine",
        "Case II: only the attacker’s map is fine, so the defender is falsified.",
    ),
    "second": (
        "II: only the defender fine",
        "Case II: only the defender’s map is fine, so the attack fell back on the attacker.",
    ),
    "neither": ("III: both fail", f"Case III: both fail (below {FAILS_BELOW})."),
    "waiting": ("not judged", "Nobody has judged this image yet."),
}
CHOICES = {
    "first": ("attacker chosen", "People chose the attacker’s map."),
    "second": ("defender chosen", "People chose the defender’s map."),
    "even": ("equally often", "People chose both equally often."),
    "waiting": ("not judged", "Nobody has chosen yet."),
}
"""What comes of an attack, in few words and in a sentence."""


def measure_words(measure: str) -> tuple[str, str]:
    """The measure as tables call it, and what it means; empty where that is not known."""
    return MEASURES.get(measure, (measure, ""))


def case(attacker: float | None, defender: float | None) -> str:
    """Which of the three outcomes two scores are, by `FAILS_BELOW` alone (Fig. 2).

    'both' is Case I, both maps are fine. 'first' (only the attacker's is) and 'second' (only the defender's is) are
    Case II. 'neither' is Case III. 'waiting' where there is no score.
    """
    if attacker is None or defender is None:
        return "waiting"
    fine = attacker >= FAILS_BELOW, defender >= FAILS_BELOW
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}[fine]


def choice(attacker: float | None, defender: float | None) -> str:
    """Who was chosen: 'first' is the attacker, 'second' the defender, 'even' neither more than the other."""
    if attacker is None or defender is None:
        return "waiting"
    return "even" if attacker == defender else "first" if attacker > defender else "second"


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
