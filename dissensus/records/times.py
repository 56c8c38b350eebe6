"""Times of answers: checked strictly on import, read tolerantly from the database.

Times of answers are for information only. No result depends on them, since clocks can be wrong and files contain
whatever somebody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

ISO_8601 = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d(-?\d)?)"
    r"([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)? ?(Z|[+-]\d\d(:?\d\d(:?\d\d)?)?)?)?",
    re.ASCII,
)
"""The forms that `datetime.fromisoformat` reads correctly: it reads 05.5 (hours) as five o'clock and half a second."""
STORED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?\+00:00", re.ASCII)
"""The form in which times are stored."""
UNKNOWN_MOMENT = datetime.min.replace(tzinfo=UTC).timestamp()
LATEST_MOMENT = datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp()


def stored_time(text: str) -> str:
    """A time in ISO 8601 in the form in which it is stored, in UTC; one without a time zone is UTC.

    Raises:
        ValueError: it is not such a time, or lies outside the years 1 to 9999.
    """
    if ISO_8601.fullmatch(text) is None:
        raise ValueError(f"not a time in ISO 8601: {text!r}")
    moment = datetime.fromisoformat(text)
    if STORED.fullmatch(text) is not None:
        return text
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except OverflowError:
        raise ValueError(f"outside the years 1 to 9999: {text!r}") from None


def moments_of(times: Sequence[str]) -> list[float]:
    """Stored times in seconds since 1970; UNKNOWN_MOMENT for one that cannot be read.

    Databases keep times as they were imported before `stored_time` existed, so any text is possible. All results are
    within the years 1 to 9999.
    """
    return [_moment_of(time) for time in times]


def _moment_of(time: str) -> float:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return UNKNOWN_MOMENT
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return min(max(seconds, UNKNOWN_MOMENT), LATEST_MOMENT)
