"""failures: pairs on which people contradict a model: as defender, which rates them alike, or as attacker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.failures import Terms, Trials, failures_of
from dissensus.records import JUDGED, Failure, Failures
from dissensus.report.scores.pairs import UNCERTAIN
from dissensus.tasks.scores.comparing import PairEvaluation, signs_of

TERMS = Terms(
    "pair",
    f"rates alike, as a defender, what people tell apart (by {UNCERTAIN:g} or more) on",
    "pairs at {} of its scale",
    "The judged pairs were chosen to falsify the models, so these shares say nothing about other pairs.",
)


@dataclass(frozen=True)
class Attack:
    """A judged row: who attacked whom with which pair, and how much better people find the item it scores higher."""

    attacker: int
    defender: int
    low: str
    high: str
    level: str
    preference: float


def score_failures(evaluation: PairEvaluation) -> Failures:
    """The pairs that people judged, with the model that they contradict.

    A defender fails if people see a difference, whichever way; an attacker fails if they see the opposite of what it
    says. Shares and comparisons are about defenders: every pair is chosen against one. A pair that several attackers
    chose against the same defender, in whichever order, counts once.
    """
    rows = attacks_of(evaluation)
    units = list({(one.defender, *sorted((one.low, one.high))): one for one in rows}.values())
    failed, known = (np.zeros((len(units), len(evaluation.models)), bool) for _ in range(2))
    for row, one in enumerate(units):
        known[row, one.defender] = True
        failed[row, one.defender] = abs(one.preference) >= UNCERTAIN
    levels = sorted({one.level for one in units}, key=lambda words: int(words.split()[1]))
    groups = {level: np.array([one.level == level for one in units], bool) for level in levels}
    return failures_of(
        "scores", Trials(evaluation.models, failed, known, groups), cases_of(rows, evaluation), [], TERMS
    )


def attacks_of(evaluation: PairEvaluation) -> list[Attack]:
    """All judged attacks."""
    found, pairs, ids = [], evaluation.states.pairs, evaluation.item_ids
    for one, judged in zip(evaluation.rounds, evaluation.judged, strict=True):
        chosen, signs, ends = judged.selection, signs_of(judged.selection), one.about["levels"]
        for row in np.flatnonzero(judged.active & chosen.is_attack).tolist():
            numbers, pair = judged.round_questions.questions[row], int(judged.round_questions.subject[row])
            if not np.all(judged.state[numbers] == JUDGED) or not pairs.is_known[pair]:
                continue
            level = int(chosen.level[row])
            low, high = ends[level]
            found.append(
                Attack(
                    int(chosen.attacker[row]),
                    int(chosen.defender[row]),
                    ids[int(chosen.low[row])],
                    ids[int(chosen.high[row])],
                    f"level {level + 1} ({low:.0f} to {high:.0f})",
                    float(signs[row] * pairs.value[pair]),
                )
            )
    return found


def cases_of(rows: list[Attack], evaluation: PairEvaluation) -> list[Failure]:
    """Every failure of a defender and of an attacker; the pair as (low, high) in the attacker's order."""
    made, names = [], evaluation.models
    for one in rows:
        if abs(one.preference) < UNCERTAIN:
            continue
        sides = [("defender", one.defender, one.attacker, abs(one.preference))]
        if one.preference < 0:
            sides.append(("attacker", one.attacker, one.defender, -one.preference))
        for role, model, opponent, severity in sides:
            made.append(
                Failure(
                    model=names[model],
                    item=one.low,
                    other=one.high,
                    severity=min(severity, 1.0),
                    predicted="alike" if role == "defender" else "high is better",
                    true="high is better" if one.preference > 0 else "low is better",
                    role=role,
                    opponent=names[opponent],
                )
            )
    return made
