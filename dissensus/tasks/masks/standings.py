"""Lines 19 and 20 of Algorithm 1: from judged images to ratios, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.attacks import MEASURES, Credits, both_ways, duels_in_words, rows_among
from dissensus.competition.standings import Method
from dissensus.inquiry import NumericAnswers
from dissensus.pairwise import ratio_matrices
from dissensus.records import AttackMatrices, Contests

USUAL = Method("thurstone", 0.01)


@dataclass(frozen=True)
class Choices:
    """Choices between two predictions, from which a resample can recompute the scores.

    `told` numbers questions as `Contests.question` does; its value, 0 to 1, is how much an answer favours the first of
    the two models. `is_first` is a column of the contests: True where the attacker is that first model.
    """

    told: NumericAnswers
    is_first: Bool[Array, " Q"]

    def scored(self, contests: Contests, of_person: Float[Array, " R"]) -> Contests:
        """The contests with scores recomputed from the answers, with a weight for every person.

        A model's score is the weighted share of the answers for it. Questions without answers keep their scores.
        """
        question, of_answer = self.told.question, of_person[self.told.person]
        size = int(max(question.max(initial=-1), contests.question.max(initial=-1))) + 1
        weight = np.bincount(question, of_answer, size)
        first = np.bincount(question, of_answer * self.told.value, size) / np.where(weight > 0, weight, 1)
        ours = np.where(self.is_first, first[contests.question], 1 - first[contests.question])
        is_known = weight[contests.question] > 0
        return replace(
            contests,
            attacker_score=np.where(is_known, ours, contests.attacker_score),
            defender_score=np.where(is_known, 1 - ours, contests.defender_score),
        )


@dataclass(frozen=True)
class MaskEvidence:
    """Judged images, and the choices behind their scores, if any; ground truth that was drawn is not resampled.

    The credits in Eq. 6 are the ratios themselves, for pairs of models that attacked each other. `smoothing` applies to
    the ratios (ε in Eq. 3) and to nothing else.
    """

    contests: Contests
    choices: Choices | None = None

    def among(self, members: Int[Array, " n"]) -> MaskEvidence:
        rows, attacker, defender = rows_among(self.contests.attacker, self.contests.defender, members)
        own = replace(self.contests.take(rows), attacker=attacker, defender=defender)
        choices = None if self.choices is None else replace(self.choices, is_first=self.choices.is_first[rows])
        return MaskEvidence(own, choices)

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

    def resample(self, models: int, method: Method, rng: np.random.Generator) -> AttackMatrices:
        """The ratios with random weights for every image and, for choices, for every person."""
        contests, choices = self.contests, self.choices
        rows = contests if choices is None else choices.scored(contests, rng.exponential(size=len(choices.told.people)))
        questions = int(contests.question.max()) + 1
        rows = replace(rows, weight=rows.weight * rng.exponential(size=questions)[rows.question])
        return ratio_matrices(rows, models, method.smoothing)

    @property
    def limits(self) -> tuple[str, ...]:
        """What the intervals do not cover: the random weight of a single image or person cancels in a mean."""
        contests, choices, words = self.contests, self.choices, []
        if len(contests) and (contests.attacker_score == contests.defender_score).all():
            words.append("In every duel, both models do equally well on all judged images: nothing tells them apart.")
        duels = np.stack([contests.attacker, contests.defender], axis=1)
        if len(contests) and len(np.unique(duels, axis=0)) == len(duels):
            words.append("No duel has more than one judged image: the intervals do not cover variation between images.")
        if choices is not None and len(np.unique(choices.told.person)) == 1:
            words.append("Only one person answered: the intervals cover variation between images, not annotators.")
        return tuple(words)


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
