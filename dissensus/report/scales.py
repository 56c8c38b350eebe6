"""Axes and curves: where values lie, in percent of the axis, and which ticks are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dissensus.plots.charts import LOG_FROM
from dissensus.report.wording import number

STABLE = 0.9
"""The papers call an order stable from this correlation on."""


@dataclass(frozen=True)
class Tick:
    """A grid line at a position in percent, and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Axis:
    """An interval of values mapped to 0 to 100 percent."""

    low: float
    high: float
    is_log: bool
    ticks: tuple[Tick, ...]

    def at(self, value: float) -> float:
        """Position of a value in percent, clipped to the axis."""
        return _position(value, self.low, self.high, self.is_log)


def axis(values: Sequence[float], ticks: int = 5) -> Axis:
    """An axis that covers the values: from zero if none is negative, logarithmic if they span decades."""
    smallest, largest = (min(values), max(values)) if values else (0.0, 1.0)
    if smallest > 0 and largest / smallest > LOG_FROM:
        return _logarithmic(smallest, largest, ticks)
    if smallest >= 0:
        smallest = 0.0
    if largest - smallest <= 1e-9 * max(1.0, abs(largest)):  # treat rounding differences as equal
        smallest, largest = (0.0, 1.0) if smallest == 0 else (smallest - 0.5, largest + 0.5)
    step = _round_step((largest - smallest) / ticks)
    first, last = math.floor(smallest / step + 1e-9), math.ceil(largest / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return _axis([step * i for i in range(first, last + 1)], digits, is_log=False)


def fixed_axis(low: float, high: float, step: float, digits: int) -> Axis:
    """A linear axis with ticks at every step from low to high."""
    return _axis([low + step * i for i in range(round((high - low) / step) + 1)], digits, is_log=False)


LEVEL = (STABLE, f"stable above {STABLE}")


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis of correlations: up to a little above 1, from a round number below the lowest."""
    lowest = min(values)
    return (0.5 if lowest >= 0.5 else 0.0 if lowest >= 0 else -1.0), 1.03


def settled_from(rows: Sequence[tuple[int, *tuple[float, ...]]], is_close: Callable[[float], bool]) -> int:
    """The smallest count from which on all correlations are close; the last count if the order never settles."""
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
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
