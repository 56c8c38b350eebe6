"""What people's preference on a pair means for its attacker and its defender."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dissensus.report.scores.data import ShownPair
from dissensus.report.wording import counted

UNCERTAIN = 0.2
"""Closer to zero than this people see no difference: the part of the slider that says so (Section 3.3)."""

OUTCOMES = {
    "falsified": "People agree with the attacker: the defender is falsified.",
    "holds": "People see no difference: the defender holds.",
    "opposite": "People see the opposite: the attacker fails, and the defender saw no difference either.",
    "waiting": "Nobody has judged this pair yet.",
}

SHORT = {
    "falsified": "defender falsified",
    "holds": "defender holds",
    "opposite": "attacker fails",
    "waiting": "not judged",
}


@dataclass(frozen=True)
class Outcomes:
    """Pairs by what came of them, for a stacked bar."""

    falsified: int
    holds: int
    opposite: int
    waiting: int

    @property
    def judged(self) -> int:
        """Pairs about which people said something."""
        return self.falsified + self.holds + self.opposite

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """The outcomes that occur, in the order of a bar."""
        every = {name: int(getattr(self, name)) for name in OUTCOMES}
        return tuple((name, number) for name, number in every.items() if number)

    @property
    def words(self) -> str:
        """All that occurred, in words."""
        return ", ".join(f"{SHORT[name]} {number}" for name, number in self.parts) or "no pair"


def outcome(preference: float | None) -> str:
    """The key of `OUTCOMES` for a preference."""
    if preference is None:
        return "waiting"
    if abs(preference) < UNCERTAIN:
        return "holds"
    return "falsified" if preference > 0 else "opposite"


def outcomes(pairs: Iterable[ShownPair]) -> Outcomes:
    """How many pairs had which outcome."""
    named = [outcome(pair.preference) for pair in pairs]
    return Outcomes(*(named.count(name) for name in OUTCOMES))


def tally_words(total: Outcomes) -> str:
    """What came of all judged pairs, in one sentence; empty where nothing was judged."""
    if not total.judged:
        return ""
    ends = [
        f"{counted(total.falsified, 'falsifies its defender', 'falsify their defender')}",
        f"{counted(total.holds, 'looks alike to people too', 'look alike to people too')}",
    ]
    if total.opposite:
        ends.append(f"{counted(total.opposite, 'contradicts its attacker', 'contradict their attacker')}")
    listed = ", ".join(ends[:-1]) + " and " + ends[-1]
    return f"Of {counted(total.judged, 'judged pair')}, {listed}."
