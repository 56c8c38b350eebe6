"""From judged attacks to two rankings that say what they can (step 11 of gMAD, section 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.standings import Standings, standing_rows
from dissensus.errors import RankingError
from dissensus.pairwise import attack_matrices
from dissensus.ranking import (
    ATTACK_RANKERS,
    connected_groups,
    credits_of,
    cyclic_share,
    has_maximum,
    named,
    percentile_intervals,
    sentences,
    separated,
)
from dissensus.records import AttackMatrices, Attacks, Standing
from dissensus.screening import Weighed, preferences

MEASURES = ("aggressiveness", "resistance")
LISTED = 5
"""Duels in a sentence before it says how many others there are."""
FIRMEST = 0.999
"""Largest share of a duel's credit that counts as a finite difference, in the share that goes round in circles."""


@dataclass(frozen=True)
class AttackMethod:
    """How to rank: the ranker's name and everything it depends on."""

    name: str = "thurstone"
    smoothing: float = 0.01
    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    @property
    def strengths(self) -> Callable[[Float[Array, "*B M M"]], Float[Array, "*B M"]]:
        """The ranker of that name, from credits to strengths.

        Raises:
            RankingError: there is none.
        """
        if self.name not in ATTACK_RANKERS:
            raise RankingError(f"there is no method '{self.name}': choose one of {', '.join(ATTACK_RANKERS)}")
        return ATTACK_RANKERS[self.name]

    def credits(self, matrices: AttackMatrices, measure: str) -> Float[Array, "M M"]:
        """What speaks for each model against each other one, not negative."""
        return credits_of(getattr(matrices, measure), both_ways(matrices), self.smoothing)


def both_ways(matrices: AttackMatrices) -> Bool[Array, "M M"]:
    """True where two models have attacked each other, and people judged both.

    Eq. 4 weighs what speaks for i against j with what speaks for j against i: where only one of them was asked for,
    the other is unknown and not zero.
    """
    return matrices.attacked & matrices.attacked.T


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
        number = np.full(int(max(self.attacks.attacker.max(), self.attacks.defender.max(), members.max())) + 1, -1)
        number[members] = np.arange(len(members))
        attacker, defender = number[self.attacks.attacker], number[self.attacks.defender]
        rows = np.flatnonzero((attacker >= 0) & (defender >= 0))
        own = replace(self.attacks.take(rows), attacker=attacker[rows], defender=defender[rows])
        return Evidence(own, self.sign[rows], self.question, self.person, self.weighed)


def rank_attacks(evidence: Evidence, names: Sequence[str], method: AttackMethod) -> dict[str, Standings]:
    """Standings by aggressiveness and by resistance; models that no attack connects are ranked apart, and said to be.

    Raises:
        RankingError: nothing is judged, or the method has no estimate for these judgements.
    """
    matrices = attack_matrices(evidence.attacks, len(names))
    groups = connected_groups(both_ways(matrices))
    if len(groups[0]) == 1:
        raise RankingError(
            "not enough judgements: no two models have attacked each other in enough judged pairs "
            "(a duel counts once the share judge.share of its pairs is judged)"
        )
    resampled = {
        group: _resampled(evidence.among(np.array(group)), len(group), method) for group in groups if group[1:]
    }
    return {measure: _rank(measure, matrices, groups, resampled, names, method) for measure in MEASURES}


def level_stability(attacks: Attacks, models: int, method: AttackMethod) -> tuple[tuple[int, float, float], ...]:
    """(k, Spearman correlation with all levels of aggressiveness and of resistance) by k levels: Table 1.

    The fullest levels come first: those at the ends of the scale may hold no two items of most models. A k at which
    the models are not all connected yet, or all are alike, has no correlation and is left out.
    """
    from scipy.stats import spearmanr  # takes half a second to import, which only reports need

    def strengths(rows: Attacks) -> list[Float[Array, " M"]]:
        matrices = attack_matrices(rows, models)
        return [method.strengths(method.credits(matrices, measure)) for measure in MEASURES]

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
    worst = sorted(against.tolist(), key=lambda cell: matrices.aggressiveness[cell[0], cell[1]])[:LISTED]
    duels = ", ".join(f"{names[attacker]} against {names[defender]}" for attacker, defender in worst)
    more = f" and {len(against) - LISTED:,} others" if len(against) > LISTED else ""
    return (
        f"Negative aggressiveness, where people saw the opposite of what the attacker said of its own pairs: "
        f"{duels}{more}.",
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


def _rank(
    measure: str,
    matrices: AttackMatrices,
    groups: Sequence[tuple[int, ...]],
    resampled: Mapping[tuple[int, ...], Mapping[str, Float[Array, "B n n"]]],
    names: Sequence[str],
    method: AttackMethod,
) -> Standings:
    credits = method.credits(matrices, measure)
    surely_better = np.zeros((len(names), len(names)), bool)
    estimates: dict[int, tuple[float, float, float]] = {}
    degenerate = 0
    for group, samples in resampled.items():
        members = np.array(group)
        strengths, low, high, better, failed = _rank_group(
            credits[np.ix_(members, members)], samples[measure], method, [names[model] for model in group]
        )
        estimates |= {model: (strengths[i], low[i], high[i]) for i, model in enumerate(group)}
        surely_better[np.ix_(members, members)] = better
        degenerate += failed
    largest = np.array(groups[0])
    share = _circular(credits[np.ix_(largest, largest)])
    words = sentences(
        names,
        groups,
        np.array([estimates[model][0] for model in groups[0]]),
        surely_better[np.ix_(largest, largest)],
        cyclic_share=share,
        degenerate=degenerate,
        resamples=method.resamples,
    )
    return Standings(standing_rows(names, groups, estimates, surely_better), words, share, degenerate)


def _rank_group(
    credits: Float[Array, "n n"], samples: Float[Array, "B n n"], method: AttackMethod, names: Sequence[str]
) -> tuple[Array, Array, Array, Bool[Array, "n n"], int]:
    try:
        strengths = method.strengths(credits)
        has_ranking = has_maximum(samples)
        resampled = method.strengths(samples[has_ranking])
        low, high = percentile_intervals(resampled, method.level)
        better = separated(strengths, resampled, method.level)
    except RankingError as error:
        raise RankingError(named(str(error), names)) from None
    return strengths, low, high, better, int((~has_ranking).sum())


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
        matrices = attack_matrices(rows, models)
        for measure in MEASURES:
            drawn[measure].append(method.credits(matrices, measure))
    return {measure: np.stack(found) for measure, found in drawn.items()}


def _circular(credits: Float[Array, "n n"]) -> float:
    """Share of the pairwise results that no order explains; results are differences on the normal scale."""
    from scipy.special import ndtri

    total = credits + credits.T
    share = np.divide(credits, total, out=np.full(credits.shape, 0.5), where=total > 0)
    return cyclic_share(ndtri(share.clip(1 - FIRMEST, FIRMEST)), (total > 0).astype(float))
