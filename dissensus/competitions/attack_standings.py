"""From judged attacks to two rankings that say what they can (step 11 of gMAD, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competitions.standings import Standings
from dissensus.competitions.two_orders import MEASURES, AttackMethod, among, both_ways, duels_in_words, two_orders
from dissensus.errors import RankingError
from dissensus.pairwise import attack_matrices
from dissensus.ranking import credits_of
from dissensus.records import AttackMatrices, Attacks, Standing
from dissensus.screening import Weighed, preferences


@dataclass(frozen=True)
class Evidence:
    """Judged attacks, and the answers behind them: `sign` turns a pair's preference towards the attacker's high item.

    `question`, `person` and `weighed` are columns of answers; `attacks.pair` numbers the same pairs as `question`.
    """

    attacks: Attacks
    sign: Int[Array, " Q"]
    question: Int[Array, " A"]
    person: Int[Array, " A"]
    weighed: Weighed

    def among(self, members: Int[Array, " n"]) -> Evidence:
        """The attacks of some of the models on each other, numbered anew."""
        rows, attacker, defender = among(self.attacks.attacker, self.attacks.defender, members)
        own = replace(self.attacks.take(rows), attacker=attacker, defender=defender)
        return Evidence(own, self.sign[rows], self.question, self.person, self.weighed)


def rank_attacks(evidence: Evidence, names: Sequence[str], method: AttackMethod) -> dict[str, Standings]:
    """Standings by aggressiveness and by resistance; models that no attack connects are ranked apart, and said to be.

    Raises:
        RankingError: nothing is judged, or the method has no estimate for these judgements.
    """

    def resampled(members: Int[Array, " n"]) -> dict[str, Float[Array, "B n n"]]:
        return _resampled(evidence.among(members), len(members), method)

    matrices = attack_matrices(evidence.attacks, len(names))
    return two_orders(attack_credits(matrices, method), both_ways(matrices), resampled, names, method)


def attack_credits(matrices: AttackMatrices, method: AttackMethod) -> dict[str, Float[Array, "M M"]]:
    """By measure, what speaks for each model against each other one, not negative."""
    compared = both_ways(matrices)
    return {measure: credits_of(getattr(matrices, measure), compared, method.smoothing) for measure in MEASURES}


def level_stability(attacks: Attacks, models: int, method: AttackMethod) -> tuple[tuple[int, float, float], ...]:
    """(k, Spearman correlation with all levels of aggressiveness and of resistance) by k levels: Table 1.

    The fullest levels come first: those at the ends of the scale may hold no two items of most models. A k at which
    the models are not all connected yet, or all are alike, has no correlation and is left out.
    """
    from scipy.stats import spearmanr  # takes half a second to import, which only reports need

    def strengths(rows: Attacks) -> list[Float[Array, " M"]]:
        credits = attack_credits(attack_matrices(rows, models), method)
        return [method.strengths(credits[measure]) for measure in MEASURES]

    try:
        full = strengths(attacks)
    except RankingError:  # the models are not all connected
        return ()
    curve = []
    items = np.bincount(attacks.level, attacks.weight)
    fullest = np.argsort(-items, kind="stable")[: np.count_nonzero(items)]
    for k in range(1, len(fullest) + 1):
        try:
            some = strengths(attacks.take(np.isin(attacks.level, fullest[:k])))
        except RankingError:
            continue
        pairs = list(zip(some, full, strict=True))
        if min(np.ptp(one) for pair in pairs for one in pair) > 1e-9:  # more than rounding
            attack, defence = (float(spearmanr(one, other).statistic) for one, other in pairs)
            curve.append((k, attack, defence))
    return tuple(curve)


def contradictions(matrices: AttackMatrices, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence about attackers whose own pairs people saw the other way round: negative aggressiveness."""
    against = np.argwhere(matrices.attacked & (matrices.aggressiveness < 0))
    if len(against) == 0:
        return ()
    duels = duels_in_words(against, matrices.aggressiveness, names)
    return (
        f"Negative aggressiveness, where people saw the opposite of what the attacker said of its own pairs: {duels}.",
    )


def disagreements(
    standings: Mapping[str, Sequence[Standing]], matrices: AttackMatrices | None = None, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Sentences about models that attack much better than they defend, or the other way round (section 2.3).

    With the matrices, nothing good is said of an attacker whose aggressiveness is not positive on the whole.

    `standings` by measure, best first. Said of models whose two places are a third of the field apart; where the
    judgements do not exclude that the places are the same, that is said too.
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
        perhaps = " Its rank sets overlap, so it may be chance." if is_open else ""
        if second - first >= apart:
            words.append(
                f"{model} attacks better (place {first}) than it defends (place {second}): its order of items is "
                "mostly right, but others find items on which it fails. Look at the pairs on which it was falsified."
                + perhaps
            )
        elif first - second >= apart:
            words.append(
                f"{model} defends better (place {second}) than it attacks (place {first}): others find few items that "
                f"it wrongly holds alike, but the differences that it claims itself are seldom confirmed.{perhaps}"
            )
    return tuple(words)


def _failed(matrices: AttackMatrices, names: Sequence[str]) -> set[str]:
    """Models whose attacks people contradicted as often as they confirmed them."""
    attacks = np.where(matrices.attacked, matrices.aggressiveness, 0.0).sum(axis=1)
    return {name for name, total in zip(names, attacks, strict=True) if total <= 0}


def _resampled(evidence: Evidence, models: int, method: AttackMethod) -> dict[str, Float[Array, "B M M"]]:
    """Credits by both measures in every resample of people and of pairs.

    The Bayesian bootstrap: every person and every pair gets a random weight (exponential), so that none ever drops out
    and no duel is without a result. A pair has one weight in all duels that selected it.
    """
    rng = np.random.default_rng(method.seed)
    attacks, weighed = evidence.attacks, evidence.weighed
    people, pairs = int(evidence.person.max(initial=-1)) + 1, int(attacks.pair.max()) + 1
    questions = max(pairs, int(evidence.question.max(initial=-1)) + 1)
    drawn: dict[str, list[Array]] = {measure: [] for measure in MEASURES}
    for _ in range(method.resamples):
        of_person, of_pair = rng.exponential(size=people), rng.exponential(size=pairs)
        some = Weighed(weighed.value, weighed.weight * of_person[evidence.person])
        preference = preferences(evidence.question, some, questions)[0][attacks.pair] / 100
        rows = replace(attacks, weight=attacks.weight * of_pair[attacks.pair], preference=evidence.sign * preference)
        credits = attack_credits(attack_matrices(rows, models), method)
        for measure in MEASURES:
            drawn[measure].append(credits[measure])
    return {measure: np.stack(found) for measure, found in drawn.items()}
