"""Every way in which the draws of a tiny pool can go, with its probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from dissensus.planning import planner as planning
from dissensus.planning.draws import Drawn
from dissensus.planning.estimate import Ledger
from dissensus.planning.planner import Batch, Planner


@dataclass(frozen=True)
class Path:
    """What was drawn so far: batches, the items of their draws, and how likely all that was."""

    probability: float = 1.0
    batches: list[Batch] = field(default_factory=list)
    items: list[list[tuple[int, int]]] = field(default_factory=list)
    """For every batch and draw: the question, and the number of the item among those with it."""


@dataclass(frozen=True)
class Enumeration:
    """All paths of a planner whose batches have these `sizes`, if a batch is planned while `late` draws are pending.

    `truth` has, for every question, the answers (one per case of the question) for each of its items.
    """

    planner: Planner
    truth: Sequence[np.ndarray]
    sizes: Sequence[int]
    late: int

    def paths(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[float, Ledger]]:
        found = [Path()]
        for size in self.sizes:
            found = [longer for path in found for longer in self._longer(path, size, monkeypatch)]
        for path in found:
            yield path.probability, self.planner.ledger(path.batches, self._answers(path))

    def _longer(self, path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        planner = self.planner
        drawn = [one for batch in path.items for one in batch]
        known, out = drawn[: len(drawn) - self.late], drawn[len(drawn) - self.late :] if self.late else []
        right, answered = np.zeros(len(planner.cases), int), np.zeros(len(planner.start), int)
        for question, item in known:
            answered[question] += 1
            right[planner.cases_of(np.array([question]))[1]] += self.truth[question][item]
        planner.belief = None
        accuracies = planner.look(right, answered)
        left = planner.items - np.bincount([q for q, _ in drawn], minlength=len(planner.start))
        chance = planning.probabilities(
            planner.cases,
            planner.belief,
            accuracies,
            left,
            planner.goal,
            planner.shares or planning.USUAL["order"],
            planner.start,
        )
        _, pending = planner.cases_of(np.array([q for q, _ in out], int))
        for likely, items in self._orders(chance / np.maximum(left, 1), drawn, size):
            questions = np.array([q for q, _ in items])
            script = Drawn(questions, np.array(likely))
            monkeypatch.setattr(planning, "draw", lambda *_, script=script: script)
            batch = planner.batch(accuracies, left, size, np.random.default_rng(), pending)
            assert (batch.draw == -1).any() == bool(out)
            yield Path(path.probability * float(np.prod(likely)), [*path.batches, batch], [*path.items, items])

    def _orders(
        self, each: np.ndarray, gone: list[tuple[int, int]], size: int
    ) -> Iterator[tuple[list[float], list[tuple[int, int]]]]:
        """All sequences of `size` items, one after the other, each with the probabilities of its draws."""
        if size == 0:
            yield [], []
            return
        left = [(q, i) for q, rows in enumerate(self.truth) for i in range(len(rows)) if (q, i) not in gone]
        total = sum(each[q] for q, _ in left)
        for one in left:
            for likely, others in self._orders(each, [*gone, one], size - 1):
                yield [each[one[0]] / total, *likely], [one, *others]

    def _answers(self, path: Path) -> list[np.ndarray]:
        everything = [one for batch in path.items for one in batch]
        found, before = [], 0
        for batch, items in zip(path.batches, path.items, strict=True):
            waiting = everything[max(before - self.late, 0) : before] if self.late else []
            found.append(np.concatenate([self.truth[q][i] for q, i in [*waiting, *items]]).astype(float))
            assert len(found[-1]) == len(batch.case)
            before += len(items)
        return found
