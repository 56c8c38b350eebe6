"""How many questions are left, as a person is told."""

from __future__ import annotations

EVERY = 10


class Countdown:
    """One less with every answer, and put right after every ten.

    Control questions and repeats come on top of what is left, so that the exact number would give each of them away.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self.told: dict[str, tuple[int, int]] = {}

    def left(self, name: str, answered: int, exact: int) -> int:
        """What to tell a person who has answered so many, where so many are left."""
        before, then = self.told.get(name, (-EVERY, 0))
        told = then - (answered - before)
        if answered // EVERY != before // EVERY or abs(told - exact) > EVERY or (told < 1) != (exact < 1):
            self.told[name] = answered, exact
            return exact
        return told
