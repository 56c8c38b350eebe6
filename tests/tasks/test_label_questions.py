from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from selections import selection_of, selections

from dissensus.records import Question, Selection
from dissensus.store.rounds import Round
from dissensus.tasks.labels import outcomes


def questions_of(selection: Selection) -> tuple[np.ndarray, np.ndarray]:
    """Distinct (item, label) questions of one round, and the two of each row."""
    keys, (rows,) = outcomes.questions_of([selection])
    return keys, rows


def test_an_answer_that_two_duels_need_is_asked_once() -> None:
    questions, of_rows = questions_of(selection_of([(0, 1, 7, 1, 3, 4), (0, 2, 7, 1, 3, 5)]))
    assert questions.tolist() == [[7, 3], [7, 4], [7, 5]]
    assert of_rows.tolist() == [[0, 1], [0, 2]]


def test_the_same_label_of_another_item_is_another_question() -> None:
    assert questions_of(selection_of([(0, 1, 7, 1, 3, 4), (0, 1, 8, 2, 3, 4)]))[0].tolist() == [
        [7, 3],
        [7, 4],
        [8, 3],
        [8, 4],
    ]


@given(selections())
def test_every_row_gets_its_two_questions_and_no_question_is_idle(selection: Selection) -> None:
    questions, of_rows = questions_of(selection)
    wanted = {(int(i), int(label)) for side in ("first_label", "second_label") for i, label in zip(selection.item, getattr(selection, side), strict=True)}  # fmt: skip # noqa: E501
    assert [tuple(question) for question in questions.tolist()] == sorted(wanted)
    assert of_rows.shape == (len(selection), 2)
    for side, labels in enumerate((selection.first_label, selection.second_label)):
        assert questions[of_rows[:, side], 0].tolist() == selection.item.tolist()
        assert questions[of_rows[:, side], 1].tolist() == labels.tolist()


def test_an_empty_selection_asks_nothing() -> None:
    questions, of_rows = questions_of(selection_of([]))
    assert questions.shape == of_rows.shape == (0, 2)


@given(selections(), st.integers(0, 30))
def test_rounds_share_their_questions(selection: Selection, cut: int) -> None:
    rows = np.arange(len(selection))
    keys, parts = outcomes.questions_of([selection.take(rows < cut), selection.take(rows >= cut)])
    whole, numbers = questions_of(selection)
    assert keys.tolist() == whole.tolist()
    assert np.concatenate(parts).tolist() == numbers.tolist()


def test_without_rounds_nothing_is_asked() -> None:
    keys, parts = outcomes.questions_of([])
    assert (keys.shape, parts) == ((0, 2), [])


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(words, st.integers(0, 65_533))
def test_the_text_of_a_question_is_the_one_that_records_make(item: str, label: int) -> None:
    rows = selection_of([(0, 1, 7, 1, label, (label + 1) % 65_534)])
    found = Round(1, rows, pa.table({"item": [item]}), {"settings": {"k": 1, "cap": 1}})
    asked = outcomes.label_questions([found])
    (group,) = asked.groups
    bodies = [{"label": one, "item": item} for _, one in asked.keys.tolist()]
    assert group.texts == [Question(kind=group.kind, body=body).text for body in bodies]
    assert asked.item_ids == {7: item}
