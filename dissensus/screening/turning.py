"""The fewest answers whose removal turns a majority verdict into another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES
from dissensus.screening.majority import majority_verdicts
from dissensus.screening.verdicts import Rule


@dataclass(frozen=True)
class Turns:
    """Ways to turn verdicts: without `fewer` answers of each kind, the question has this verdict instead."""

    question: Int[Array, " n"]
    fewer: Int[Array, "n 4"]
    verdict: Int[Array, " n"]

    @property
    def cost(self) -> Int[Array, " n"]:
        """How many answers are removed."""
        return self.fewer.sum(axis=1)

    def without(self, questions: Int[Array, " n"]) -> Turns:
        """The turns of all other questions."""
        stays = ~np.isin(self.question, questions)
        return Turns(self.question[stays], self.fewer[stays], self.verdict[stays])


def cheapest_turns(counts: Int[Array, "Q 4"], rule: Rule) -> Turns:
    """For each question and every other verdict that it can get by losing answers: the fewest to remove.

    `counts` are the numbers of yes, no, unsure and unfit answers. Turns are sorted by question, then by cost. If the
    same number of answers can be chosen in several ways, as many 'yes' as possible are removed, then as many 'no'.
    """
    counts = np.asarray(counts, np.int64).reshape(-1, 4)
    before = _verdicts(counts, rule)
    question, left = [], []
    for verdict, candidates in _candidates(counts, rule).items():
        for found in candidates:
            is_right = (found >= 0).all(axis=1) & (before != verdict) & (before != OPEN)
            is_right[is_right] &= _verdicts(found[is_right], rule) == verdict
            question.append(np.flatnonzero(is_right))
            left.append(found[is_right])
    of, rest = np.concatenate(question), np.concatenate(left)
    verdicts, cost = _verdicts(rest, rule), (counts[of] - rest).sum(axis=1)
    order = np.lexsort((*rest.T[::-1], cost, verdicts, of))
    is_first = np.append(True, (np.diff(of[order]) != 0) | (np.diff(verdicts[order]) != 0))[: len(order)]
    order = order[is_first]
    order = order[np.lexsort((*rest[order].T[::-1], cost[order], of[order]))]
    return Turns(of[order], (counts[of] - rest)[order], verdicts[order])


def _verdicts(counts: Int[Array, "Q 4"], rule: Rule) -> Int[Array, " Q"]:
    return majority_verdicts(counts, rule.min_answers, rule.unsure_share, rule.unfit_share)


def _candidates(counts: Int[Array, "Q 4"], rule: Rule) -> dict[int, list[Int[Array, "Q 4"]]]:
    """What is left after the cheapest removal for every verdict, by each way to get it; negative where there is none.

    Every way removes only what stands against its verdict, as removing anything else also makes it less certain:

    * YES (NO): so many 'no' that 'yes' has a majority, then 'unsure' and 'unfit' until neither has its share.
    * UNSURE: as many 'yes' as 'no', then 'unfit' until that does not have its share; or everything but 'unsure', until
      'unsure' has its share and 'unfit' does not.
    * UNFIT: everything but 'unfit', until it has its share. OPEN: all but the last few.
    """
    yes, no = counts[:, 0], counts[:, 1]
    keeps = max(rule.min_answers, 1) - 1
    zero = np.zeros_like(yes)
    for_yes = np.stack([zero, np.maximum(no - yes + 1, 0), zero, zero], axis=1)
    for_no = np.stack([np.maximum(yes - no + 1, 0), zero, zero, zero], axis=1)
    even = np.stack([np.maximum(yes - no, 0), np.maximum(no - yes, 0), zero, zero], axis=1)
    return {
        YES: [_without_doubt(counts - for_yes, rule, (2, 3))],
        NO: [_without_doubt(counts - for_no, rule, (2, 3))],
        UNSURE: [_without_doubt(counts - even, rule, (3,)), _share_of_unsure(counts, rule)],
        UNFIT: [_share_of_unfit(counts, rule)],
        OPEN: [_taken(counts, np.maximum(counts.sum(axis=1) - keeps, 0), (0, 1, 2, 3))],
    }


def _without_doubt(counts: Int[Array, "Q 4"], rule: Rule, kinds: tuple[int, ...]) -> Int[Array, "Q 4"]:
    """The counts without the fewest 'unsure' and 'unfit' answers (of these kinds) that leave neither with its share."""
    shares = {2: rule.unsure_share, 3: rule.unfit_share}
    total = counts.sum(axis=1)
    best, going = np.full_like(counts, -1), (counts >= 0).all(axis=1)
    for fewer in range(1 + int(counts[:, kinds].sum(axis=1).max(initial=0))):
        must = {kind: np.maximum(counts[:, kind] - _most(shares[kind], total - fewer), 0) for kind in kinds}
        fits = going & (sum(must.values()) <= fewer) & (fewer <= counts[:, kinds].sum(axis=1))
        rows = np.flatnonzero(fits)
        left = counts[rows].copy()
        rest = np.full(len(rows), fewer)
        for kind in kinds[:0:-1]:  # of the last kind as few as possible, unless there is nothing else
            gone = np.maximum(must[kind][rows], rest - left[:, kinds[0]])
            left[:, kind] -= gone
            rest -= gone
        left[:, kinds[0]] -= rest
        best[rows] = left
        going &= ~fits
        if not going.any():
            break
    return best


def _share_of_unsure(counts: Int[Array, "Q 4"], rule: Rule) -> Int[Array, "Q 4"]:
    """The counts without the fewest other answers that leave 'unsure' with its share, and 'unfit' without."""
    total, unfit, unsure = counts.sum(axis=1), counts[:, 3], counts[:, 2]
    best, going = np.full_like(counts, -1), unsure > 0
    for fewer in range(1 + int((total - unsure).max(initial=0))):
        must = np.maximum(unfit - _most(rule.unfit_share, total - fewer), 0)
        fits = going & (unsure > _most(rule.unsure_share, total - fewer)) & (must <= fewer) & (fewer <= total - unsure)
        rows = np.flatnonzero(fits)
        gone = np.maximum(must[rows], fewer - counts[rows, 0] - counts[rows, 1])
        left = _taken(counts[rows], fewer - gone, (0, 1))
        left[:, 3] -= gone
        best[rows] = left
        going &= ~fits
        if not going.any():
            break
    return best


def _share_of_unfit(counts: Int[Array, "Q 4"], rule: Rule) -> Int[Array, "Q 4"]:
    """The counts without the fewest other answers that leave 'unfit' with its share."""
    total, unfit = counts.sum(axis=1), counts[:, 3]
    fewer = np.zeros_like(total)
    short: Bool[Array, " Q"] = unfit > 0
    while short.any():
        short = short & (unfit <= _most(rule.unfit_share, total - fewer)) & (fewer < total - unfit)
        fewer += short
    return np.where((unfit > 0)[:, None], _taken(counts, fewer, (0, 1, 2)), -1)


def _most(share: float, answers: Int[Array, " Q"]) -> Int[Array, " Q"]:
    """The largest number of answers that is no more than a share of all, as `majority_verdicts` compares them."""
    return np.floor(share * np.maximum(answers, 0) * (1 + 1e-12)).astype(np.int64)


def _taken(counts: Int[Array, "Q 4"], fewer: Int[Array, " Q"], kinds: tuple[int, ...]) -> Int[Array, "Q 4"]:
    """The counts without so many answers, taken from the first kind as long as there are any, then from the next."""
    left, rest = counts.copy(), fewer.copy()
    for kind in kinds:
        gone = np.minimum(left[:, kind], rest)
        left[:, kind] -= gone
        rest -= gone
    return left
