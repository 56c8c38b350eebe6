from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.inquiry import latest_rows
from dissensus.records import ANSWERS, moments_of

Said = tuple[int, str, str, str]
"""question, person, answer, time"""

said = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 1.0, 1.5, 2.0]))


def last_of(rows: list[tuple[int, int, float]]) -> tuple[list[int], list[int]]:
    question, person = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2).T
    last, first = latest_rows(question, person, np.array([row[2] for row in rows], float))
    return last.tolist(), first.tolist()


def latest(*answers: Said) -> dict[tuple[int, str], str]:
    """The answer that counts, by question and person."""
    people = sorted({person for _, person, *_ in answers})
    moments = moments_of([time for *_, time in answers])
    rows = [(row[0], people.index(row[1]), moment) for row, moment in zip(answers, moments, strict=True)]
    return {answers[row][:2]: answers[row][2] for row in last_of(rows)[0]}


def test_the_last_answer_of_a_person_counts_and_equal_times_go_by_order() -> None:
    assert latest(
        (0, "ann", "yes", "2026-01-02T00:00:00+00:00"),
        (0, "ann", "no", "2026-01-01T00:00:00+00:00"),
        (0, "bob", "yes", "2026-01-01T00:00:00+00:00"),
        (0, "bob", "unsure", "2026-01-01T00:00:00+00:00"),
    ) == {(0, "ann"): "yes", (0, "bob"): "unsure"}


def test_later_means_later_in_time_whatever_the_zone_and_the_form() -> None:
    earlier_then_later = [
        ("2026-01-01T23:30:00+09:00", "2026-01-01T15:00:00Z"),
        ("2026-01-01T12:00:00-05:00", "2026-01-01T17:00:00.5+00:00"),
        ("20260101T110000", "2026-01-01T12:00:00+00:00"),
        ("20260101T110000+00:00", "2026-01-01T12:00:00+00:00"),
        ("2026-01-01T110000,5+00:00", "2026-W01-4T12:00:00+00:00"),
        ("2026-01-01", "2026-01-01T00:00:01"),
    ]
    for earlier, later in earlier_then_later:
        for said in ([("yes", earlier), ("no", later)], [("no", later), ("yes", earlier)]):
            answers = [(0, "ann", answer, time) for answer, time in said]
            assert latest(*answers) == {(0, "ann"): "no"}, (earlier, later)


def test_questions_and_people_are_kept_apart() -> None:
    assert len(latest(*[(item, who, "yes", "2026-01-01") for who in ("ann", "bob") for item in (0, 1)])) == 4


@given(st.permutations([(0, who, answer, f"2026-01-0{day}") for who in "ab" for day, answer in enumerate(ANSWERS, 1)]))
def test_the_order_of_storing_does_not_matter_where_times_differ(answers: list[Said]) -> None:
    assert set(latest(*answers).values()) == {ANSWERS[-1]}


@given(st.lists(said, max_size=30))
def test_as_a_dictionary_would_tell(rows: list[tuple[int, int, float]]) -> None:
    last: dict[tuple[int, int], int] = {}
    first: dict[tuple[int, int], int] = {}
    for number, (question, person, moment) in enumerate(rows):
        key = question, person
        first.setdefault(key, number)
        if key not in last or moment >= rows[last[key]][2]:
            last[key] = number
    assert last_of(rows) == ([last[key] for key in first], list(first.values()))


@given(st.lists(said, max_size=30, unique_by=lambda row: row[:2]))
def test_where_nobody_changed_their_mind_all_answers_count_in_their_order(rows: list[tuple[int, int, float]]) -> None:
    assert last_of(rows) == (list(range(len(rows))),) * 2


@given(st.lists(said, max_size=30))
def test_what_counts_counts_again(rows: list[tuple[int, int, float]]) -> None:
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
