"""What happens to the duels of all rounds if some verdicts change: only the duels concerned are judged again.

Verdicts flip, items are discarded or restored, reserves move up, and duels reach their share or fall below it: the same
as judging all rounds again, for many sets of verdicts at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.judged import Judged
from dissensus.competition.one_order import ChangedDuels
from dissensus.records import DISCARDED, OPEN, UNFIT, YES, Selection, Tally

CASES = 4
"""The first model alone was right; the second alone; both; neither."""


class TurnedRounds:
    """The rows of all rounds, sorted by duel and rank, and how often each case occurs in each duel."""

    def __init__(self, rounds: Sequence[Judged[Selection]], keys: Int[Array, "q 2"], models: int) -> None:
        self.models = models
        joined = [_columns(number, one) for number, one in enumerate(rounds)]
        rows = {name: np.concatenate([one[name] for one in joined]) for name in joined[0]}
        order = np.lexsort((rows["rank"], rows["duel"], rows["round"]))
        rows = {name: np.ascontiguousarray(column[order]) for name, column in rows.items()}
        is_new = (np.diff(rows["duel"], prepend=-1) != 0) | (np.diff(rows["round"], prepend=-1) != 0)
        begins = np.flatnonzero(is_new)
        self.low, self.high = rows["low"][begins], rows["high"][begins]
        self.state = rounds[0].state.astype(np.int64)
        item = np.unique(keys[:, 0], return_inverse=True)[1].reshape(-1)
        items = 1 + int(item.max(initial=-1))
        group = np.cumsum(is_new) - 1
        of_round = rows["round"][begins]
        k, share = np.array([(one.round_questions.k, one.share) for one in rounds]).T
        self.data = (
            item,
            np.bincount(item[self.state == UNFIT], minlength=items),
            *_places(np.append(rows["questions"][:, 0], rows["questions"][:, 1]), np.append(group, group), len(keys)),
            *_places(item[rows["questions"][:, 0]], group, items),
            np.append(begins, len(group)),
            rows["questions"],
            rows["labels"],
            rows["cap"],
            k.astype(np.int64)[of_round],
            share[of_round],
        )
        every = np.arange(len(begins))
        self.counts = _counts_of(every, self.state, self.data[1], self.data)

    @property
    def tally(self) -> Tally:
        """The tally of the verdicts as they are."""
        cases = np.zeros((CASES, self.models, self.models))
        np.add.at(cases, (np.arange(CASES)[:, None], self.low, self.high), self.counts.T)
        return Tally(cases[0] + cases[1].T, cases[2] + cases[2].T, cases[3] + cases[3].T)

    def changes(self, variant: Int[Array, " n"], question: Int[Array, " n"], verdict: Int[Array, " n"]) -> ChangedDuels:
        """How the tallies change if some questions have other verdicts; `variant` says which go together, ascending."""
        count = int(variant[-1]) + 1 if len(variant) else 0
        starts = np.searchsorted(variant, np.arange(count + 1))
        which, duel, more = _changes(starts, question, verdict, self.state, self.counts, self.data)
        return ChangedDuels.of(count, which, self.low[duel], self.high[duel], more)


def _columns(number: int, judged: Judged[Selection]) -> dict[str, Array]:
    """The rows of one round, with the two models in ascending order."""
    chosen, asked = judged.selection, judged.round_questions
    swap = chosen.first > chosen.second
    labels = asked.labels if asked.labels is not None else np.zeros((len(chosen), 0))
    return {
        "round": np.full(len(chosen), number),
        "duel": chosen.duel,
        "rank": chosen.rank,
        "low": np.where(swap, chosen.second, chosen.first).astype(np.int64),
        "high": np.where(swap, chosen.first, chosen.second).astype(np.int64),
        "questions": np.where(swap[:, None], asked.questions[:, ::-1], asked.questions).astype(np.int64),
        "labels": labels.astype(np.int64),
        "cap": np.broadcast_to(asked.cap, len(chosen)).astype(np.int64),
    }


def _places(values: Int[Array, " n"], groups: Int[Array, " n"], count: int) -> tuple[Array, Array]:
    """For every value, where the list of its groups begins; and these lists."""
    size = 1 + int(groups.max(initial=0))
    pairs = np.unique(values.astype(np.int64) * size + groups)
    return np.append(0, np.cumsum(np.bincount(pairs // size, minlength=count))), pairs % size


@numba.njit(cache=True, nogil=True)
def _changes(starts, question, verdict, state, counts, data):  # type: ignore[no-untyped-def]
    """(variant, duel, change of its counts) wherever they change; every variant is applied, counted and taken back."""
    item, unfit, of_question, question_duels, of_item, item_duels = data[:6]
    state, unfit = state.copy(), unfit.copy()
    marked = np.full(len(counts), -1)
    which, duels, more = [0 for _ in range(0)], [0 for _ in range(0)], [counts[0] for _ in range(0)]
    for variant in range(len(starts) - 1):
        concerned = [0 for _ in range(0)]
        before = [(0, 0) for _ in range(0)]
        for row in range(starts[variant], starts[variant + 1]):
            asked = question[row]
            thing = item[asked]
            had, is_out = unfit[thing] > 0, int(verdict[row] == UNFIT) - int(state[asked] == UNFIT)
            before.append((asked, state[asked]))
            state[asked] = verdict[row]
            unfit[thing] += is_out
            for place in range(of_question[asked], of_question[asked + 1]):
                if marked[question_duels[place]] != variant:
                    marked[question_duels[place]] = variant
                    concerned.append(question_duels[place])
            if had != (unfit[thing] > 0):
                for place in range(of_item[thing], of_item[thing + 1]):
                    if marked[item_duels[place]] != variant:
                        marked[item_duels[place]] = variant
                        concerned.append(item_duels[place])
        if concerned:
            again = _counts_of(np.array(concerned), state, unfit, data)
            for place, duel in enumerate(concerned):
                if (again[place] != counts[duel]).any():
                    which.append(variant)
                    duels.append(duel)
                    more.append(again[place] - counts[duel])
        for asked, old in before[::-1]:
            unfit[item[asked]] += int(old == UNFIT) - int(state[asked] == UNFIT)
            state[asked] = old
    found = np.zeros((len(more), CASES), np.int64)
    for place, change in enumerate(more):
        found[place] = change
    return np.array(which, np.int64), np.array(duels, np.int64), found


@numba.njit(cache=True, nogil=True)
def _counts_of(duels, state, unfit, data):  # type: ignore[no-untyped-def]
    """How often each case occurs in some duels: `active_rows` and `Judged.decided`, one row after the other."""
    begins, questions, labels, caps, limits, shares = data[6:]
    item = data[0]
    counts = np.zeros((len(duels), CASES), np.int64)
    for place in range(len(duels)):
        duel = duels[place]
        active = ended = 0
        taken = np.empty(min(limits[duel], begins[duel + 1] - begins[duel]), np.int64)
        for row in range(begins[duel], begins[duel + 1]):
            if active == limits[duel]:
                break
            one, other = state[questions[row, 0]], state[questions[row, 1]]
            if one in DISCARDED or other in DISCARDED or unfit[item[questions[row, 0]]] > 0:
                continue
            if caps[row] < limits[duel] and _is_crowded(row, taken[:active], labels, caps[row]):
                continue
            taken[active] = row
            active += 1
            if one > OPEN and other > OPEN:
                ended += 1
                counts[place, (0 if other != YES else 2) if one == YES else (1 if other == YES else 3)] += 1
        if ended / max(active, 1) < shares[duel]:
            counts[place] = 0
    return counts


@numba.njit(cache=True, nogil=True)
def _is_crowded(row, taken, labels, cap):  # type: ignore[no-untyped-def]
    """True if as many of the rows taken as allowed have the same label in some column."""
    for column in range(labels.shape[1]):
        same = 0
        for other in taken:
            same += labels[other, column] == labels[row, column]
        if same >= cap:
            return True
    return False
