from __future__ import annotations

from hypothesis import given
from selections import selection_of, selections

from dissensus.labeling import questions_of
from dissensus.records import Selection


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
