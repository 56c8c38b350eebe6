"""Times as ISO 8601 allows them to be written, with the moment that each one means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

EARLIEST, LATEST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)
STORED = [
    "20260304T050607+00:00",
    "2026-W10-3T05:06:07+00:00",
    "2026-W10",
    "2026-03-04T05:06:07,25+00:00",
    "2026-03-04",
    "0001-01-01T00:00:00+05:00",
    "0001-01-01T00:00:00",
    "9999-12-31T23:00:00-05:00",
    "9999-12-31T23:59:59.999999+00:00",
    "2026-063T05:06:07Z",
    "2026-03-04T24:00:00Z",
    "yesterday",
    "",
]
"""What a database may hold: imports once took most of these, and nothing can be removed."""


@st.composite
def iso_times(draw: st.DrawFn) -> tuple[str, datetime | None]:
    """A time in any of these spellings, and what it means in UTC; None outside the years 1 to 9999."""
    local = draw(st.datetimes(EARLIEST, LATEST) | st.sampled_from([EARLIEST, LATEST]))
    year, week, day = local.isocalendar()
    dates = [f"{local:%m-%d}", f"{local:%m%d}"]
    dates = [f"{local.year:04}-{dates[0]}", f"{local.year:04}{dates[1]}"]
    dates += [f"{year:04}-W{week:02}-{day}", f"{year:04}W{week:02}{day}"] if 1 <= year < 9999 else []
    digits = draw(st.integers(0, 6))
    local = local.replace(microsecond=local.microsecond // 10 ** (6 - digits) * 10 ** (6 - digits))
    mark = draw(st.sampled_from(".,")) if digits else ""
    clock = draw(st.sampled_from([f"{local:%H:%M:%S}", f"{local:%H%M%S}"]))
    fraction = f"{local.microsecond:06}"[:digits]
    zone, minutes = draw(st.sampled_from(["", "Z"]).map(lambda text: (text, 0)) | offsets())
    text = draw(st.sampled_from(dates)) + draw(st.sampled_from("T ")) + clock + mark + fraction + zone
    try:
        return text, (local - timedelta(minutes=minutes)).replace(tzinfo=UTC)
    except OverflowError:
        return text, None


@st.composite
def offsets(draw: st.DrawFn) -> tuple[str, int]:
    """An offset as it is written, and in minutes."""
    sign, hours, minutes = draw(st.sampled_from("+-")), draw(st.integers(0, 23)), draw(st.integers(0, 59))
    text = draw(st.sampled_from([f"{hours:02}:{minutes:02}", f"{hours:02}{minutes:02}", f"{hours:02}"]))
    total = 60 * hours + (minutes if len(text) > 2 else 0)
    return sign + text, total if sign == "+" else -total
