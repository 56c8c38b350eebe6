"""How soon an order settles: the axis of its curve, and from which point on it is stable."""

from __future__ import annotations

from collections.abc import Callable, Sequence

STABLE = 0.9
"""The papers call an order stable from this correlation on."""

LEVEL = (STABLE, f"stable above {STABLE}")


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis of correlations: up to a little above 1, from a round number below the lowest."""
    lowest = min(values)
    return (0.5 if lowest >= 0.5 else 0.0 if lowest >= 0 else -1.0), 1.03


def settled_from(rows: Sequence[tuple[int, *tuple[float, ...]]], is_close: Callable[[float], bool]) -> int:
    """The smallest count from which all correlations are close; the last count if the order never settles."""
    settled = rows[-1][0]
    for count, *values in reversed(rows):
        if not is_close(min(values)):
            break
        settled = count
    return settled
