"""Step 11 of gMAD (section 2.3): from judged pairs to aggressiveness and resistance, and sentences about both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.attacks import MEASURES, Credits, both_ways, duels_in_words, rows_among
from dissensus.competition.judged import Judged
from dissensus.competition.standings import Method
from dissensus.competition.standings import stability as stability_by
from dissensus.errors import RankingError
from dissensus.pairwise import attack_matrices
from dissensus.ranking import ATTACK_RANKERS, Rows, credits_of
from dissensus.records import AttackMatrices, Attacks, PairSelection, Standing
from dissensus.tasks.scores.comparing import PairEvaluation, pairs_of, signs_of

USUAL = Method("thurstone", 0.01)
UNLINKED = (
    "the people who rated one item and those who rated the other have no item in common, so they may just differ in "
    "leniency; let somebody rate both"
)
"""Why a pair of rated items has no preference, and what to do about it."""


@dataclass(frozen=True)
class PairEvidence:
    """Judged attacks and the answers behind them; `sign` turns a pair's preference towards the attacker's high item.

    `attacks.pair` numbers pairs: `items` holds the two items of each, and `moved` says how much a person's answers
    move the preference for its second item.
    """

    attacks: Attacks
    sign: Int[Array, " Q"]
    moved: Float[Array, "R p"]
    items: Int[Array, "p 2"]

    def among(self, members: Int[Array, " n"]) -> PairEvidence:
        rows, attacker, defender = rows_among(self.attacks.attacker, self.attacks.defender, members)
        own = replace(self.attacks.take(rows), attacker=attacker, defender=defender)
        return replace(self, attacks=own, sign=self.sign[rows])

    def matrices(self, models: int, method: Method) -> AttackMatrices:
        """Aggressiveness and resistance (Eq. 2 and 3)."""
        return attack_matrices(self.attacks, models)

    def credits(self, matrices: AttackMatrices, method: Method) -> Credits:
        """The matrices as non-negative credits, smoothed."""
        compared = both_ways(matrices)
        return {measure: credits_of(getattr(matrices, measure), compared, method.smoothing) for measure in MEASURES}

    def rows(self, measure: str, models: int, method: Method) -> Rows:
        """Preferences for aggressiveness, and one minus their size for resistance; both are means over levels."""
        attacks, preference = self.attacks, self.attacks.preference
        duel = attacks.attacker.astype(np.int64) * models + attacks.defender
        share = attacks.weight / np.bincount(duel, attacks.weight)[duel]
        own = self.sign * self.moved[:, attacks.pair]
        attacking = measure == "aggressiveness"
        return Rows(
            row=attacks.attacker if attacking else attacks.defender,
            column=attacks.defender if attacking else attacks.attacker,
            share=share,
            value=preference if attacking else 1 - np.abs(preference),
            stratum=attacks.level,
            items=self.items[attacks.pair],
            by_person=own if attacking else -np.sign(preference) * own,
        )

    @property
    def limits(self) -> tuple[str, ...]:
        """What the rank sets do not cover."""
        attacks, words = self.attacks, []
        if len(attacks) and not attacks.preference.any():
            words.append("Annotators saw no difference in any pair, so no model is falsified.")
        return tuple(words)


def decided_pairs(evaluation: PairEvaluation) -> Bool[Array, " p"]:
    """Pairs with all their answers, in duels that have reached their share."""
    decided = np.zeros(len(evaluation.states.pairs.value), bool)
    for one in evaluation.judged:
        decided[one.round_questions.subject[one.decided]] = True
    return decided


def evidence_of(evaluation: PairEvaluation) -> PairEvidence:
    """The judged attacks of all rounds, with the answers behind them.

    Raises:
        RankingError: no pair has a preference, because nobody links the ratings of its items.
    """
    found, selections = evaluation.states.pairs, [one.selection for one in evaluation.judged]
    decided = decided_pairs(evaluation)
    if decided.any() and not (decided & found.is_known).any():
        raise RankingError(f"no judged pair counts: {UNLINKED}")
    attacks = Attacks.together([attacks_in(one, found.value, found.is_known) for one in evaluation.judged])
    rows = [decided_rows(one, found.is_known) for one in evaluation.judged]
    signs = np.concatenate([signs_of(one)[some] for one, some in zip(selections, rows, strict=True)])
    return PairEvidence(attacks, signs, found.moved, pairs_of(selections)[0])


def attacks_in(judged: Judged[PairSelection], preference: Float[Array, " p"], is_known: Bool[Array, " p"]) -> Attacks:
    """The preference for the attacker's higher item on each decided row whose preference is known."""
    rows = decided_rows(judged, is_known)
    chosen, pair = judged.selection.take(rows), judged.round_questions.subject[rows]
    return Attacks(
        attacker=chosen.attacker,
        defender=chosen.defender,
        level=chosen.level,
        pair=pair,
        weight=chosen.weight.astype(np.float64),
        preference=signs_of(chosen) * preference[pair],
    )


def decided_rows(judged: Judged[PairSelection], is_known: Bool[Array, " p"]) -> Int[Array, " r"]:
    """Decided rows whose preference is known: two items rated by people who have nothing in common have none."""
    return np.flatnonzero(judged.decided & is_known[judged.round_questions.subject])


def level_stability(attacks: Attacks, models: int, method: Method) -> tuple[tuple[int, float, float], ...]:
    """(k, Spearman correlations of aggressiveness and of resistance by k levels with those by all levels): Table 1.

    Levels with the most items come first: at the ends of the scale, few models may have two items in a level.
    """
    nothing = np.zeros((0, 2), np.int64)
    evidence = PairEvidence(attacks, np.zeros(0, np.int64), nothing.astype(float), nothing)

    def strengths(levels: Int[Array, " k"]) -> list[Float[Array, " M"]]:
        rows = attacks.take(np.isin(attacks.level, levels))
        credits = evidence.credits(attack_matrices(rows, models), method)
        return [method.among(ATTACK_RANKERS).strengths(credits[measure]) for measure in MEASURES]

    items = np.bincount(attacks.level, attacks.weight)
    fullest = np.argsort(-items, kind="stable")[: np.count_nonzero(items)]
    curve = stability_by(strengths, [fullest[:k] for k in range(1, len(fullest) + 1)])
    return tuple((k, attack, defence) for k, (attack, defence) in curve)


def contradictions(matrices: AttackMatrices, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence about attackers with negative aggressiveness: annotators contradicted them on their own pairs."""
    against = np.argwhere(matrices.attacked & (matrices.aggressiveness < 0))
    if len(against) == 0:
        return ()
    duels = duels_in_words(against, matrices.aggressiveness, names)
    return (f"Negative aggressiveness, where annotators preferred the item that the attacker rated lower: {duels}.",)


def disagreements(
    standings: Mapping[str, Sequence[Standing]], matrices: AttackMatrices | None = None, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Sentences about models that attack much better than they defend, or vice versa (section 2.3).

    `standings` by measure, best first. A model gets a sentence if its two places differ by at least a third of the
    field; the sentence mentions it if the ranks may still be the same. With `matrices`, models whose total
    aggressiveness is not positive are not called good attackers.
    """
    attack, defence = ({one.model: (at, one) for at, one in enumerate(standings[m], start=1)} for m in MEASURES)
    apart = max(2, round(len(attack) / 3))
    failed = set() if matrices is None else _failed(matrices, names)
    words = []
    for model, (first, attacking) in attack.items():
        second, defending = defence[model]
        if attacking.strength is None or (model in failed and first < second):
            continue
        is_open = attacking.rank_low <= defending.rank_high and defending.rank_low <= attacking.rank_high
        perhaps = " Its rank sets overlap, so this may be chance." if is_open else ""
        if second - first >= apart:
            words.append(
                f"{model} attacks better (place {first}) than it defends (place {second}): it mostly orders items "
                "correctly, but other models find items on which it fails. Look at the pairs that falsify it." + perhaps
            )
        elif first - second >= apart:
            words.append(
                f"{model} defends better (place {second}) than it attacks (place {first}): compared with others, it is "
                f"seldom wrong about items that it scores alike, and often about differences that it sees.{perhaps}"
            )
    return tuple(words)


def _failed(matrices: AttackMatrices, names: Sequence[str]) -> set[str]:
    """Models whose attacks annotators contradicted at least as much as they confirmed them."""
    attacks = np.where(matrices.attacked, matrices.aggressiveness, 0.0).sum(axis=1)
    return {name for name, total in zip(names, attacks, strict=True) if total <= 0}
