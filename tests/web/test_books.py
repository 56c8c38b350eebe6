from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dissensus.inquiry import Questions as Group
from dissensus.inquiry import Wording
from dissensus.labeling.kinds import _known_code, code_of_text
from dissensus.records import ROLES
from dissensus.web.books import Books, Questions

TIMES = ("2026-11-15T06:00:00.123+00:00", "2026-11-15T07:00:00+01:00", "2026-11-15T06:00:00")
NUMBERED = st.tuples(
    st.integers(0, 3),
    st.sampled_from(["ada", "ben", "cem"]),
    st.sampled_from(ROLES),
    st.integers(-1, 3),
    st.none() | st.floats(0, 100),
    st.sampled_from(TIMES),
    st.integers(1, 10_000),
)
ROWS = st.lists(NUMBERED, max_size=40, unique_by=lambda row: row[6])
"""Answers in the order in which they are read, which is not that in which they arrived."""
NEW_ROWS = ROWS.map(lambda rows: [(*row[:6], None) for row in rows])


def everything(books: Books) -> tuple[object, ...]:
    columns = {name: column.tolist() for name, column in books.columns().items()}
    return columns, books.people, books.known, books.answered, [books.answered_by(name) for name in ["ada", "ben"]]


@given(ROWS, ROWS | NEW_ROWS)
def test_many_at_once_are_the_same_as_one_by_one(before: list[tuple], rows: list[tuple]) -> None:
    one_by_one, at_once = Books(), Books()
    for books in (one_by_one, at_once):
        books.enter(before)
    for row in rows:
        one_by_one.enter([row])
    at_once.enter(rows)
    assert everything(one_by_one) == everything(at_once)


@given(ROWS)
def test_the_last_word_counts_and_the_first_time_makes_the_order(rows: list[tuple]) -> None:
    books = Books()
    is_first = [one for row in rows for one in books.enter([row])]
    keys = [row[:3] for row in rows]
    assert is_first == [key not in keys[:place] for place, key in enumerate(keys)]
    last: dict[tuple, int] = {}
    for place, key in enumerate(keys):  # by arrival, whatever the time
        if key not in last or rows[place][6] > rows[last[key]][6]:
            last[key] = place
    assert books.columns()["is_last"].tolist() == [last[key] == place for place, key in enumerate(keys)]
    for name in ("ada", "ben", "nobody"):
        mine = list(dict.fromkeys((question, role) for question, who, role in keys if who == name))
        assert books.answered_by(name) == mine
        assert books.answered[name] == sum(role != "training" for _, role in mine)
        assert all(books.has_answered(question, name, role) for question, role in mine)
    assert not books.has_answered(0, "nobody", "asked")


@given(ROWS, NEW_ROWS)
def test_what_has_no_number_yet_came_last_in_the_order_of_the_rows(read: list[tuple], new: list[tuple]) -> None:
    books, ordered = Books(), Books()
    books.enter(read)
    books.enter(new)
    ordered.enter(read)
    ordered.enter([(*row[:6], 10_001 + place) for place, row in enumerate(new)])
    assert books.columns()["is_last"].tolist() == ordered.columns()["is_last"].tolist()


def test_answers_have_codes() -> None:
    said = [("contains", '"yes"'), ("contains", '"unfit"'), ("pick", "7"), ("pick", "null"), ("choice", '"second"')]
    assert [code_of_text(*one) for one in said] == [0, 3, 7, -1, 1]
    assert [code_of_text("slider", text) for text in ("7", "-63", "63", '"unfit"')] == [2, 0, 1, 3]


def test_long_answers_are_read_and_not_remembered() -> None:
    marks = [{"x": place, "y": 0, "kind": "border"} for place in range(20)]
    before = _known_code.cache_info().currsize
    assert [code_of_text("check", json.dumps(marks[:many])) for many in (1, 5, 20)] == [1, 1, 1]
    assert _known_code.cache_info().currsize <= before + 1
    assert code_of_text("check", "[]") == 0


def test_questions_are_numbered_once() -> None:
    questions = Questions()
    texts = ['{"item":"a","label":1}', '{"item":"a","label":2}', '{"item":"b","label":1}']
    groups, words, is_repeatable, sources = questions.add("contains", texts)
    assert groups[0] == groups[1] != groups[2]
    assert len(set(words.tolist())) == 3
    assert is_repeatable.tolist() == [True] * 3
    assert len({*sources}) == 1, "questions without a source may all be asked"
    assert questions.add("check", ['{"item":"a"}'])[2].tolist() == [False]
    assert questions.new("contains", [*texts, '{"item":"c","label":1}']) == ['{"item":"c","label":1}']
    assert [questions.numbers["contains"][text] for text in texts] == [0, 1, 2]
    assert texts[0] not in questions.numbers["pick"]
    assert questions.of(2).body == {"item": "b", "label": 1}
    assert questions.of(1).text == texts[1]


def test_wordings_follow_the_questions_that_are_asked_now() -> None:
    questions = Questions()
    old, new = '{"item":"i"}', '{"item":"i","prefill":"m"}'
    questions.add("mask", [old, new])
    assert questions.set_wordings([Group("mask", [old], (Wording([new]),))])
    assert questions.answered("mask", new, "asked", '"unfit"') == (0, 1)
    assert questions.answered("mask", new, "control", '"unfit"') == (1, 1), "a control is only itself"
    assert questions.set_wordings([Group("mask", [new], (Wording([old]),))]), "answers have to be read again"
    assert questions.answered("mask", new, "asked", '"unfit"') == (1, 1)
    assert questions.answered("mask", old, "asked", '"unfit"') == (1, 1)
    assert not questions.set_wordings([Group("mask", [new], (Wording([old]),))])


def test_a_turned_wording_turns_the_answer() -> None:
    questions = Questions()
    text, turned = '{"first":"a","second":"b"}', '{"first":"b","second":"a"}'
    questions.add("slider", [text, turned])
    questions.set_wordings([Group("slider", [text], (Wording([turned], is_swapped=True),))])
    assert questions.answered("slider", text, "asked", "60") == (0, 1)
    assert questions.answered("slider", turned, "asked", "60") == (0, 0)
