"""From judged images to two rankings that say what they can (Algorithm 1, lines 19 and 20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.standings import Standings
from dissensus.competitions.two_orders import MEASURES, AttackMethod, among, both_ways, duels_in_words, two_orders
from dissensus.errors import RankingError
from dissensus.pairwise import ratio_matrices
from dissensus.ranking import named
from dissensus.records import AttackMatrices, Contests


@dataclass(frozen=True)
class Choices:
    """Answers of people who chose between two predictions, of which a resample can make scores anew.

    `question` numbers the same as `Contests.question`; `value`, 0 to 1, is how much an answer says for the first of
    the two models. `is_first` is a column of the contests: True where the attacker is that first model.
    """

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    value: Float[Array, " A"]
    is_first: Bool[Array, " Q"]

    @property
    def people(self) -> int:
        """How many people answered, or one more than the largest of their numbers."""
        return int(self.person.max(initial=-1)) + 1

    def scored(self, contests: Contests, of_person: Float[Array, " R"]) -> Contests:
        """The contests with the scores that the answers give when every person has a weight.

        A model's score is the weighted share of the answers for it. A question without answers keeps its scores.
        """
        size = int(max(self.question.max(initial=-1), contests.question.max(initial=-1))) + 1
        weight = np.bincount(self.question, of_person[self.person], size)
        first = np.bincount(self.question, of_person[self.person] * self.value, size) / np.where(weight > 0, weight, 1)
        ours = np.where(self.is_first, first[contests.question], 1 - first[contests.question])
        is_known = weight[contests.question] > 0
        return replace(
            contests,
            attacker_score=np.where(is_known, ours, contests.attacker_score),
            defender_score=np.where(is_known, 1 - ours, contests.defender_score),
        )


@dataclass(frozen=True)
class MaskEvidence:
    """Judged images, and the answers behind their scores where people chose; a truth that was drawn stays as it is."""

    contests: Contests
    choices: Choices | None = None

    def among(self, members: Int[Array, " n"]) -> MaskEvidence:
        """The contests of some of the models with each other, numbered anew."""
        rows, attacker, defender = among(self.contests.attacker, self.contests.defender, members)
        own = replace(self.contests.take(rows), attacker=attacker, defender=defender)
        choices = None if self.choices is None else replace(self.choices, is_first=self.choices.is_first[rows])
        return MaskEvidence(own, choices)


def rank_contests(evidence: MaskEvidence, names: Sequence[str], method: AttackMethod) -> dict[str, Standings]:
    """Standings by aggressiveness and by resistance; models that no attack connects are ranked apart, and said to be.

    The credits of Eq. 6 are the ratios themselves, of pairs of models that attacked each other both ways. `method`
    smooths the ratios (ε of Eq. 3), and nothing else.

    Raises:
        RankingError: nothing is judged, or the method has no estimate for these judgements.
    """

    def resampled(members: Int[Array, " n"]) -> dict[str, Float[Array, "B n n"]]:
        return _resampled(evidence.among(members), len(members), method)

    matrices = matrices_of(evidence, names, method)
    return two_orders(_credits(matrices), both_ways(matrices), resampled, names, method, judged="images")


def matrices_of(evidence: MaskEvidence, names: Sequence[str], method: AttackMethod) -> AttackMatrices:
    """The ratios of Eq. 3 and 5.

    Raises:
        RankingError: without smoothing, a ratio has no bound; models are named.
    """
    try:
        return ratio_matrices(evidence.contests, len(names), method.smoothing)
    except RankingError as error:
        raise RankingError(named(str(error), names)) from None


def contradictions(matrices: AttackMatrices, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence about attackers that do worse than the defender on the images they selected: a_ij < 1."""
    against = np.argwhere(matrices.attacked & (matrices.aggressiveness < 1))
    if len(against) == 0:
        return ()
    duels = duels_in_words(against, matrices.aggressiveness, names)
    return (
        f"In {len(against):,} of {int(matrices.attacked.sum()):,} duels the attacker's maps agree less with people "
        f"than the defender's, on the images of its own attack: {duels}.",
    )


def limits(evidence: MaskEvidence) -> tuple[str, ...]:
    """What the intervals cannot speak of: random weights of a single image, or person, cancel in a mean."""
    contests, choices, words = evidence.contests, evidence.choices, []
    if len(contests) and (contests.attacker_score == contests.defender_score).all():
        words.append("On every judged image both models do equally well: nothing tells them apart.")
    duels = np.stack([contests.attacker, contests.defender], axis=1)
    if len(contests) and len(np.unique(duels, axis=0)) == len(duels):
        words.append("No duel has more than one judged image: intervals do not say how other images would end.")
    if choices is not None and len(np.unique(choices.person)) == 1:
        words.append("One person chose: intervals say how other images would end, not how other people see them.")
    return tuple(words)


def _credits(matrices: AttackMatrices) -> dict[str, Float[Array, "M M"]]:
    compared = both_ways(matrices)
    return {measure: np.where(compared, getattr(matrices, measure), 0.0) for measure in MEASURES}


def _resampled(evidence: MaskEvidence, models: int, method: AttackMethod) -> dict[str, Float[Array, "B M M"]]:
    """Credits by both measures in every resample of images and, where people chose, of people.

    The Bayesian bootstrap: everything that was judged, and every person, gets a random weight (exponential), so that
    none ever drops out. What was judged once has one weight in all duels that rest on it.
    """
    rng = np.random.default_rng(method.seed)
    contests, choices = evidence.contests, evidence.choices
    questions = int(contests.question.max()) + 1
    drawn: dict[str, list[Array]] = {measure: [] for measure in MEASURES}
    for _ in range(method.resamples):
        rows = contests if choices is None else choices.scored(contests, rng.exponential(size=choices.people))
        rows = replace(rows, weight=rows.weight * rng.exponential(size=questions)[rows.question])
        credits = _credits(ratio_matrices(rows, models, method.smoothing))
        for measure in MEASURES:
            drawn[measure].append(credits[measure])
    return {measure: np.stack(found) for measure, found in drawn.items()}
