"""Display names of measures, cases and classes, and which case two scores make."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dissensus.records import VOID
from dissensus.report.wording import number

FAILS_BELOW = 0.6
"""A prediction with a lower score is a failure: all models in the paper exceed it on their benchmark."""

MEASURES = {
    "miou": ("mIoU", "mean intersection over union of the classes present"),
    "miou-all": ("mIoU of all classes", "mean intersection over union, with absent classes counted as zero"),
    "fwiou": ("FWIoU", "intersection over union, weighted by class frequency"),
    "mpa": ("MPA", "mean share of correct pixels over the classes of the ground truth"),
}
"""Short name and meaning of every concordance measure."""

CASES = {
    "both": ("I: both good", f"Case I: both predictions are good ({FAILS_BELOW} or more)."),
    "first": (
        "II: only the attacker good",
        "Case II: only the attacker’s prediction is good, so the defender is falsified.",
    ),
    "second": (
        "II: only the defender good",
        "Case II: only the defender’s prediction is good, so the attack backfired.",
    ),
    "neither": ("III: both fail", f"Case III: both fail (below {FAILS_BELOW})."),
    "waiting": ("not judged", "Nobody has judged this image yet."),
}
CHOICES = {
    "first": ("attacker chosen", "Annotators chose the attacker’s prediction."),
    "second": ("defender chosen", "Annotators chose the defender’s prediction."),
    "even": ("tie", "A tie: annotators chose both equally often."),
    "waiting": ("not judged", "Nobody has chosen yet."),
}
"""Outcomes of an attack, as a short label and as a sentence."""


def measure_words(measure: str) -> tuple[str, str]:
    """The measure's display name and meaning; the meaning is empty if unknown."""
    return MEASURES.get(measure, (measure, ""))


def case(attacker: float | None, defender: float | None) -> str:
    """Which of the three cases two scores make, by the threshold `FAILS_BELOW` alone (Fig. 2).

    'both' is Case I: both predictions are good. 'first' (only the attacker's is) and 'second' (only the defender's is)
    are Case II. 'neither' is Case III. 'waiting' means that there is no score yet.
    """
    if attacker is None or defender is None:
        return "waiting"
    fine = attacker >= FAILS_BELOW, defender >= FAILS_BELOW
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}[fine]


def choice(attacker: float | None, defender: float | None) -> str:
    """Who was chosen: 'first' is the attacker, 'second' the defender, 'even' a tie."""
    if attacker is None or defender is None:
        return "waiting"
    return "even" if attacker == defender else "first" if attacker > defender else "second"


def score_text(score: float | None) -> str:
    """A score with two decimals; with three, rounded down, if two would lift a failure to the threshold."""
    if score is None:
        return ""
    rounds_up = score < FAILS_BELOW <= round(score, 2)
    return number(math.floor(1000 * score) / 1000, 3) if rounds_up else number(score, 2)


def class_name(label: int, classes: Sequence[str]) -> str:
    """The name of a class; pixels that are not scored have one too."""
    if label == VOID:
        return "not scored"
    return classes[label] if 0 <= label < len(classes) else f"class {label}"
