"""Ratings: every item once, two of them decide a row, and its preference is the difference between them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pair_rows import full_round

from dissensus.competition.judged import judge
from dissensus.competition.task import States
from dissensus.inquiry import NumericAnswers
from dissensus.records import JUDGED, UNFIT, PairSelection, Question
from dissensus.screening import WeightedAnswers
from dissensus.store.rounds import Round
from dissensus.tasks.scores.comparing import item_questions, preferred
from dissensus.tasks.scores.standings import attacks_in


def round_of(selection: PairSelection) -> Round[PairSelection]:
    names = {side: [f'it"em {item}' for item in getattr(selection, side).tolist()] for side in ("low", "high")}
    return Round(1, selection, pa.table(names), {})


@given(st.integers(0, 10_000))
def test_rows_are_read_from_the_ratings_of_their_items(seed: int) -> None:
    rng = np.random.default_rng(seed)
    selection = full_round(3, 2, seed, reserves=1, items=9)
    found = item_questions([round_of(selection)])
    items = np.unique([selection.low, selection.high])
    assert found.keys[:, 0].tolist() == items.tolist()
    (group,) = found.groups
    assert group.texts == [Question(kind="rating", body={"item": f'it"em {item}'}).text for item in items.tolist()]
    table = rng.uniform(0, 100, (len(items), 4))
    question, person = np.indices(table.shape).reshape(2, -1)
    told = NumericAnswers(question, person, table.ravel(), ("a", "b", "c", "d"))
    states = States(np.full(len(items), JUDGED))
    weighed = WeightedAnswers(told.value, np.ones(len(told.value)))
    pairs = preferred(found.by_round, states, told, weighed).pairs
    judged = judge(found.by_round[0], states.state)
    attacks = attacks_in(judged, pairs.value, pairs.is_known)
    rating = dict(zip(items.tolist(), table.mean(axis=1).tolist(), strict=True))
    rows = np.flatnonzero(judged.decided)
    expected = [(rating[h] - rating[lo]) / 100 for lo, h in zip(selection.low[rows], selection.high[rows], strict=True)]
    np.testing.assert_allclose(attacks.preference, expected, atol=1e-9)


def test_an_unfit_item_discards_all_rows_that_need_it() -> None:
    selection = full_round(3, 2, 1, reserves=0, items=9)
    found = item_questions([round_of(selection)])
    state = np.full(len(found), JUDGED)
    state[0] = UNFIT
    needs = (selection.low == found.keys[0, 0]) | (selection.high == found.keys[0, 0])
    assert judge(found.by_round[0], state).discarded.tolist() == needs.tolist()
    assert needs.any()


def test_nothing_selected_is_nothing_to_rate() -> None:
    assert len(item_questions([])) == 0
