from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.inquiry import latest_rows
from dissensus.records import moments_of

Row = tuple[int, int, int]
"""question, person, number of arrival"""

said = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1000))
said_in_any_order = st.lists(said, max_size=30, unique_by=lambda row: row[2])


def last_of(rows: list[Row]) -> tuple[list[int], list[int]]:
    question, person, arrival = np.array(rows, np.int64).reshape(-1, 3).T
    last, first = latest_rows(question, person, arrival)
    return last.tolist(), first.tolist()


def test_the_answer_that_arrived_last_counts_wherever_its_row_is() -> None:
    assert last_of([(0, 0, 1), (0, 1, 9), (0, 0, 7), (0, 1, 2), (0, 0, 4)]) == ([2, 1], [0, 1])


def test_questions_and_people_are_kept_apart() -> None:
    assert last_of([(item, who, 2 * item + who) for item in (0, 1) for who in (0, 1)]) == ([0, 1, 2, 3],) * 2


@given(said_in_any_order)
def test_as_a_dictionary_would_tell(rows: list[Row]) -> None:
    last: dict[tuple[int, int], int] = {}
    first: dict[tuple[int, int], int] = {}
    for number, (question, person, arrival) in enumerate(rows):
        key = question, person
        first.setdefault(key, number)
        if key not in last or arrival > rows[last[key]][2]:
            last[key] = number
    assert last_of(rows) == ([last[key] for key in first], list(first.values()))


@given(st.lists(said, max_size=30, unique_by=lambda row: row[:2]))
def test_where_nobody_changed_their_mind_all_answers_count_in_their_order(rows: list[Row]) -> None:
    assert last_of(rows) == (list(range(len(rows))),) * 2


@given(said_in_any_order)
def test_what_counts_counts_again(rows: list[Row]) -> None:
    kept = [rows[row] for row in last_of(rows)[0]]
    assert last_of(kept)[0] == list(range(len(kept)))


zones = st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-14 * 60, 14 * 60))
times = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.none() | st.just(UTC) | zones)


@given(st.lists(times, max_size=5))
def test_moments_are_those_of_every_time_alone(written: list[datetime]) -> None:
    texts = [time.isoformat() for time in written]
    aware = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in written]
    assert moments_of(texts) == [time.timestamp() for time in aware]


@pytest.mark.parametrize(
    "text", ["20260101T110000+00:00", "2026-01-01T110000+00:00", "2026-W01-4T11:00:00+00:00", "2026-01-01T11Z"]
)
def test_every_form_that_an_import_takes_can_be_read(text: str) -> None:
    assert moments_of([text]) == moments_of(["2026-01-01T11:00:00+00:00"])
