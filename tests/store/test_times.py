from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from exchange_cases import CLASSES, everything
from hypothesis import given
from hypothesis import strategies as st
from iso_times import STORED, iso_times

from dissensus.errors import JudgementError
from dissensus.records import Response, moments_of
from dissensus.store.exchange import read_responses, write_responses

ROW = {"item": "a.jpg", "label": "1", "annotator": "ann", "answer": "yes"}


def imported(folder: Path, time: str) -> Response:
    (folder / "answers.jsonl").write_text(json.dumps(ROW | {"time": time}))
    [found] = read_responses(folder / "answers.jsonl", CLASSES, everything)
    return found


@given(iso_times())
def test_every_time_is_stored_in_one_form_or_refused_in_one_line(tmp_path: Path, time: tuple[str, datetime | None]):
    text, moment = time
    if moment is None:
        with pytest.raises(JudgementError, match="row 1: invalid time"):
            imported(tmp_path, text)
        return
    stored = imported(tmp_path, text).time
    assert datetime.fromisoformat(stored) == moment
    assert stored[10] == "T"
    assert stored.endswith("+00:00")
    assert imported(tmp_path, stored).time == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("20260304T050607+00:00", "2026-03-04T05:06:07+00:00"),
        ("2026-W10-3T05:06:07+00:00", "2026-03-04T05:06:07+00:00"),
        ("2026-W10", "2026-03-02T00:00:00+00:00"),
        ("2026-03-04T05:06:07,25+00:00", "2026-03-04T05:06:07.250000+00:00"),
        ("2026-03-04T05:06:07.123+00:00", "2026-03-04T05:06:07.123+00:00"),
        ("2026-03-04T05:06:07Z", "2026-03-04T05:06:07+00:00"),
        ("2026-03-04T05:06:07-08:00", "2026-03-04T13:06:07+00:00"),
        ("2026-03-04 05:06", "2026-03-04T05:06:00+00:00"),
        ("2026-03-04", "2026-03-04T00:00:00+00:00"),
        ("Sat Nov 14 09:30:00 PST 2026", "2026-11-14T17:30:00+00:00"),
    ],
)
def test_times_are_stored_in_utc(tmp_path: Path, text: str, stored: str) -> None:
    assert imported(tmp_path, text).time == stored


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:00:00-05:00",
        "2026-03-04T05.5Z",  # half past five, which Python reads as 05:00:00.5
        "2026-03-04T05:06,5Z",
        "2026-063T05:06:07Z",
        "2026-03-04T24:00:00Z",
        "2026-03-04T05:06:60Z",
        "2026-03-04\x0005:06:07",
        "Fri, 31 Dec 9999 23:59:59 -0500",
    ],
)
def test_what_is_no_moment_of_ours_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(JudgementError, match=r"row 1: invalid time .* write it like 2026-11-15T09:30:00") as refused:
        imported(tmp_path, text)
    assert "\n" not in str(refused.value)


@given(st.lists(iso_times().map(lambda time: time[0]) | st.sampled_from(STORED) | st.text(max_size=30), max_size=5))
def test_whatever_is_stored_can_be_read_and_shown(times: list[str]) -> None:
    for moment in moments_of(times):
        assert 1 <= datetime.fromtimestamp(moment, UTC).year <= 9999


@given(iso_times())
def test_what_is_stored_means_what_it_says(time: tuple[str, datetime | None]) -> None:
    text, moment = time
    if moment is not None and moment.year < 9999:
        assert moments_of([text]) == [moment.timestamp()]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_an_old_export_can_be_imported(tmp_path: Path, ending: str) -> None:
    asked = imported(tmp_path, "2026-01-01")
    times = STORED[:5]
    old = [asked.model_copy(update={"id": str(number), "time": time}) for number, time in enumerate(times)]
    write_responses(tmp_path / f"old{ending}", old, CLASSES)
    found = list(read_responses(tmp_path / f"old{ending}", CLASSES, everything))
    assert moments_of([one.time for one in found]) == moments_of(times)
    assert [one.id for one in found] == [one.id for one in old]
