"""Axes and curves: where a value stands, in percent of the axis, and which ticks are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dissensus.report.wording import number

LOG_FROM = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic axis."""

STABLE = 0.9
"""Correlation from which the papers call the order stable."""


@dataclass(frozen=True)
class Tick:
    """A gridline at a position in percent, and what is written there."""

    at: float
    label: str


@dataclass(frozen=True)
class Axis:
    """An interval of values laid over 0 to 100 percent."""

    low: float
    high: float
    is_log: bool
    ticks: tuple[Tick, ...]

    def at(self, value: float) -> float:
        """Position of a value in percent, held inside the axis."""
        return _position(value, self.low, self.high, self.is_log)


def axis(values: Sequence[float], ticks: int = 5) -> Axis:
    """An axis around the values, from zero where none is negative; logarithmic where they span decades."""
    smallest, largest = (min(values), max(values)) if values else (0.0, 1.0)
    if smallest > 0 and largest / smallest > LOG_FROM:
        return _logarithmic(smallest, largest, ticks)
    if smallest >= 0:
        smallest = 0.0
    if largest - smallest <= 1e-9 * max(1.0, abs(largest)):  # what differs by rounding is the same
        smallest, largest = (0.0, 1.0) if smallest == 0 else (smallest - 0.5, largest + 0.5)
    step = _round_step((largest - smallest) / ticks)
    first, last = math.floor(smallest / step + 1e-9), math.ceil(largest / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return _axis([step * i for i in range(first, last + 1)], digits, is_log=False)


def fixed_axis(low: float, high: float, step: float, digits: int) -> Axis:
    """A linear axis with ticks at every step from low to high."""
    return _axis([low + step * i for i in range(round((high - low) / step) + 1)], digits, is_log=False)


def whole_axis(low: int, high: int, ticks: int = 6) -> Axis:
    """A linear axis over whole numbers with ticks at whole numbers; both ends are drawn."""
    step = max(1, math.ceil(_round_step((high - low) / ticks))) if high > low else 1
    between = [v for v in range(step * (low // step + 1), high, step) if v - low >= step / 2 and high - v >= step / 2]
    places = [low, *between, high] if high > low else [low]
    high = max(high, low + 1)
    return Axis(low, high, False, tuple(Tick(_position(v, low, high, False), str(v)) for v in places))


@dataclass(frozen=True)
class Line:
    """The points of one measure in a colour of the page: x, y (which counts from the top) and words."""

    colour: str
    points: tuple[tuple[float, float, str], ...]

    @property
    def path(self) -> str:
        """The `points` attribute of an SVG polyline."""
        return " ".join(f"{x},{y}" for x, y, _ in self.points)


@dataclass(frozen=True)
class Curves:
    """Lines over common axes, with the finding in one sentence."""

    across: Axis
    upward: Axis
    lines: tuple[Line, ...]
    words: str
    stable_at: float


def curves(
    rows: Sequence[tuple[int, *tuple[float, ...]]],
    colours: Sequence[str],
    write: Callable[[int, int, float], str],
    words: str,
) -> Curves:
    """One line for each column of correlations over the counts in the first column; `write` labels a point."""
    lowest = min(value for _, *values in rows for value in values)
    low, step = (0.5, 0.1) if lowest >= 0.5 else (0.0, 0.2) if lowest >= 0 else (-1.0, 0.5)
    upward, across = fixed_axis(low, 1, step, 1), whole_axis(rows[0][0], rows[-1][0])

    def point(count: int, column: int, value: float) -> tuple[float, float, str]:
        return across.at(count), round(100 - upward.at(value), 2), write(count, column, value)

    lines = tuple(
        Line(colour, tuple(point(row[0], column, row[1 + column]) for row in rows))
        for column, colour in enumerate(colours)
    )
    return Curves(across, upward, lines, words, round(100 - upward.at(STABLE), 2))


def settled_from(rows: Sequence[tuple[int, *tuple[float, ...]]], is_close: Callable[[float], bool]) -> int:
    """The smallest count from which all later correlations are close; the last count where the order never settles."""
    settled = rows[-1][0]
    for count, *values in reversed(rows):
        if not is_close(min(values)):
            break
        settled = count
    return settled


def _logarithmic(smallest: float, largest: float, ticks: int) -> Axis:
    exponents = range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)
    steps = (1, 2, 5) if len(exponents) * 3 <= ticks + 3 else (1,)
    places = [m * 10.0**e for e in exponents for m in steps]
    low, high = max(p for p in places if p <= smallest), min((p for p in places if p >= largest), default=places[-1])
    shown = [p for p in places if low <= p <= high]
    return Axis(low, high, True, tuple(Tick(_position(p, low, high, True), f"{p:g}") for p in shown))


def _axis(places: list[float], digits: int, is_log: bool) -> Axis:
    low, high = places[0], places[-1]
    return Axis(low, high, is_log, tuple(Tick(_position(p, low, high, is_log), number(p, digits)) for p in places))


def _position(value: float, low: float, high: float, is_log: bool) -> float:
    if is_log:
        value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)


def _round_step(rough: float) -> float:
    """The next larger of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
