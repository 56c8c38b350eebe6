"""Lines 19 and 20 of Algorithm 1: from judged images to ratios, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.attacks import MEASURES, Credits, both_ways, duels_in_words, rows_among
from dissensus.competition.standings import Method, people_in_words
from dissensus.inquiry import NumericAnswers
from dissensus.pairwise import ratio_matrices, shares
from dissensus.ranking import ATTACK_RANKERS, Rows
from dissensus.records import AttackMatrices, Contests
from dissensus.tasks.masks.judging import MaskEvaluation, contests_in

USUAL = Method("thurstone", 0.01)


@dataclass(frozen=True)
class Choices:
    """Choices between two predictions, from which the scores are computed.

    `told` numbers questions as `Contests.question` does; its value, 0 to 1, is how much an answer favours the first of
    the two models. `is_first` is a column of the contests: True where the attacker is that first model.
    """

    told: NumericAnswers
    is_first: Bool[Array, " Q"]

    def by_person(self, question: Int[Array, " Q"]) -> Float[Array, "R Q"]:
        """By how much each person's choices move the attacker's share of a row's question from that of all choices."""
        told, count = self.told, int(max(self.told.question.max(initial=-1), question.max(initial=-1))) + 1
        answers = np.bincount(told.question, minlength=count)
        share = np.bincount(told.question, told.value, count) / np.maximum(answers, 1)
        moved = (told.value - share[told.question]) / answers[told.question]
        cell = told.person * count + told.question
        people = len(told.people)
        first = np.bincount(cell, moved, people * count).reshape(people, count)[:, question]
        return np.where(self.is_first, first, -first)


@dataclass(frozen=True)
class MaskEvidence:
    """Judged images, and the choices behind their scores, if any; `items` holds the image of every question.

    The credits in Eq. 6 are the ratios themselves, for pairs of models that attacked each other. `smoothing` applies to
    the ratios (ε in Eq. 3) and to nothing else.
    """

    contests: Contests
    items: Int[Array, " q"]
    choices: Choices | None = None

    def among(self, members: Int[Array, " n"]) -> MaskEvidence:
        rows, attacker, defender = rows_among(self.contests.attacker, self.contests.defender, members)
        own = replace(self.contests.take(rows), attacker=attacker, defender=defender)
        choices = None if self.choices is None else replace(self.choices, is_first=self.choices.is_first[rows])
        return replace(self, contests=own, choices=choices)

    def matrices(self, models: int, method: Method) -> AttackMatrices:
        """The ratios in Eq. 3 and 5.

        Raises:
            RankingError: without smoothing, a ratio is unbounded.
        """
        return ratio_matrices(self.contests, models, method.smoothing)

    def credits(self, matrices: AttackMatrices, method: Method) -> Credits:
        """The ratios of models whose attacks on each other were both judged."""
        compared = both_ways(matrices)
        return {measure: np.where(compared, getattr(matrices, measure), 0.0) for measure in MEASURES}

    def rows(self, measure: str, models: int, method: Method) -> Rows:
        """The logarithm of a ratio of two means, x / y, changes like the mean of x_q / x − y_q / y over its rows."""
        contests, attacking = self.contests, measure == "aggressiveness"
        share = shares(contests, models)
        ours, theirs = contests.attacker_score + method.smoothing, contests.defender_score + method.smoothing
        sides = (contests.attacker, contests.defender)
        by_person = np.zeros((0, len(contests))) if self.choices is None else self.choices.by_person(contests.question)
        if not attacking:
            ours, theirs, sides, by_person = theirs, ours, sides[::-1], -by_person
        duel = sides[0].astype(np.int64) * models + sides[1]
        over, under = (np.bincount(duel, share * side)[duel] for side in (ours, theirs))
        ratio = over / under
        return Rows(
            row=sides[0],
            column=sides[1],
            share=share * ratio,
            value=np.log(ratio) + ours / over - theirs / under,
            stratum=contests.category,
            items=self.items[contests.question][:, None],
            by_person=by_person * (1 / over + 1 / under),
        )

    def limits(self, source: str) -> tuple[str, ...]:
        """What the rank sets do not cover; `source` is what answered if no person was asked."""
        contests, choices, words = self.contests, self.choices, []
        if len(contests) and (contests.attacker_score == contests.defender_score).all():
            words.append("In every duel, both models do equally well on all judged images: nothing tells them apart.")
        if choices is not None:
            words += people_in_words(choices.told.question, choices.told.person, "image", source=source)
        return tuple(words)


def evidence_of(evaluation: MaskEvaluation) -> MaskEvidence:
    """The judged rows of all rounds, with the choices behind them, if any."""
    contests = Contests.together([contests_in(judged, evaluation.states.scores) for judged in evaluation.judged])
    chosen = evaluation.states.choices
    if chosen is None:
        return MaskEvidence(contests, evaluation.keys[:, 0])
    is_first = contests.attacker == evaluation.keys[contests.question, 1]
    return MaskEvidence(contests, evaluation.keys[:, 0], Choices(chosen, is_first))


def likeness(method: Method) -> tuple[str, ...]:
    """A sentence if both rankings must be the same: r_ij / r_ji = a_ij / a_ji, so only the weights of pairs differ."""
    if not method.among(ATTACK_RANKERS).is_even:
        return ()
    return (
        "Both rankings are the same: resistance is one over the attacker's aggressiveness, and "
        f"{method.name} gives every pair of models the same weight.",
    )


def contradictions(matrices: AttackMatrices, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence about attackers that do worse than the defender on the images of their own attack: a_ij < 1."""
    against = np.argwhere(matrices.attacked & (matrices.aggressiveness < 1))
    if len(against) == 0:
        return ()
    duels = duels_in_words(against, matrices.aggressiveness, names)
    return (
        f"In {len(against):,} of {int(matrices.attacked.sum()):,} duels, the attacker's maps agree less with "
        f"annotators than the defender's, on the images of its own attack: {duels}.",
    )
