"""How fast the extremes of every level are found, beside well-written NumPy, which must find the same.

Example: python benchmarks/levels.py

10,000,000 items × 16 models, float32 scores in memory in chunks of 500,000, six levels, all 240 ordered pairs. Two
pools: models that share 64 % of their variance, each with a scale of its own; and independent uniform scores. Every
measurement runs in a fresh process, after a warm-up on a few items. Contenders take turns, and the best of some rounds
counts.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import Measured, in_fresh_process, measured, show
from dissensus.arrays import Array, Bool, Float, Int
from dissensus.selection import Cells, Extremes, extremal_pairs, merge_extremes, scan_extremes

SEED = 20_160_627
MODELS, LEVELS, CHUNK = 16, 6, 500_000
MASKS_TILE, PRUNING_TILE = 50_000, 8192  # rows that NumPy is given at once, the fastest that we found
TIMES_FASTER, GROWTH = 20, 300
SHAPES: tuple[Callable[[Array], Array], ...] = (
    lambda quality: quality,
    lambda quality: 100 / (1 + np.exp(-quality)),
    lambda quality: np.exp(quality / 2),
    lambda quality: quality + quality**3 / 9,
)

Row = tuple[int, ...]
"""Defender, level, attacker, lowest item, highest item, items in the level."""


@dataclass(frozen=True)
class Case:
    """Scores in chunks, and the edges of every model's levels, which follow each other."""

    chunks: tuple[Float[Array, "M n"], ...]
    edges: Float[Array, "M E+1"]

    @classmethod
    def of(cls, pool: str, items: int) -> Case:
        """The case of a pool, from one seed."""
        rng = np.random.default_rng(SEED)
        sizes = [min(CHUNK, items - start) for start in range(0, items, CHUNK)]
        if pool == "independent":
            edges = np.linspace(0, np.nextafter(np.float32(1), np.float32(2)), LEVELS + 1, dtype=np.float32)
            return cls(tuple(rng.random((MODELS, n), np.float32) for n in sizes), np.tile(edges, (MODELS, 1)))
        edges = np.linspace(-3, 3, LEVELS + 1, dtype=np.float32)
        shapes = [SHAPES[model % len(SHAPES)] for model in range(MODELS)]
        return cls(tuple(_alike(rng, n, shapes) for n in sizes), np.stack([shape(edges) for shape in shapes]))

    def tiles(self, size: int) -> Iterator[tuple[int, Float[Array, "M n"]]]:
        """So many items at a time, each with the number of the first."""
        start = 0
        for chunk in self.chunks:
            for first in range(0, chunk.shape[1], size):
                yield start + first, np.ascontiguousarray(chunk[:, first : first + size])  # or NumPy's take copies it
            start += chunk.shape[1]

    def first(self, items: int) -> Case:
        """The same with a few items only."""
        return Case((self.chunks[0][:, :items].copy(),), self.edges)


def _alike(rng: np.random.Generator, items: int, shapes: list[Callable[[Array], Array]]) -> Float[Array, "M n"]:
    quality = rng.standard_normal(items, np.float32)
    noise = rng.standard_normal((len(shapes), items), np.float32)
    return np.stack(
        [shape(np.float32(0.8) * quality + np.float32(0.6) * own) for shape, own in zip(shapes, noise, strict=True)]
    )


def ours(case: Case, depth: int) -> list[Row]:
    """Chunk after chunk with what is known, as a study does it, and the pairs at the end."""
    cells = Cells(case.edges, np.stack([np.arange(LEVELS), np.arange(LEVELS) + 1], axis=1))
    known = Extremes.empty(MODELS, LEVELS, depth, np.float32)
    for start, chunk in case.tiles(CHUNK):
        known = merge_extremes(known, scan_extremes(chunk, start, cells, depth, known))
    found = extremal_pairs(known, cells, ~np.eye(MODELS, dtype=bool), 1)
    columns = (found.defender, found.level, found.attacker, found.low, found.high, found.weight)
    return list(zip(*(column.tolist() for column in columns), strict=True))


class Best:
    """The best scores so far [side, defender, place, attacker], highest with their sign changed, and their items.

    Place 0 lies below the first edge, place e + 1 is cell e. Nothing is better where there is nothing to find.
    """

    def __init__(self) -> None:
        self.score = np.full((2, MODELS, LEVELS + 2, MODELS), -np.inf, np.float32)
        self.score[:, :, 1:-1] = np.inf
        self.score[:, np.arange(MODELS), :, np.arange(MODELS)] = -np.inf
        self.item = np.full(self.score.shape, -1)
        self.reached = np.zeros((MODELS, LEVELS + 1), np.int64)

    def rows(self) -> list[Row]:
        """What there is to find, where the attacker sees a difference."""
        counts = -np.diff(self.reached)
        is_pair = (self.item >= 0).all(axis=0) & (self.score[0] < -self.score[1])
        return [
            (i, place - 1, j, int(self.item[0, i, place, j]), int(self.item[1, i, place, j]), int(counts[i, place - 1]))
            for i, place, j in np.argwhere(is_pair).tolist()
        ]

    def places(self, defender: int, scores: Float[Array, " n"], edges: Float[Array, " E+1"], out: Array) -> None:
        """How many edges each score reaches; faster than searchsorted for a few edges."""
        out[:] = 0
        for e, edge in enumerate(edges):
            is_reached = scores >= edge
            out += is_reached.view(np.uint8)
            self.reached[defender, e] += np.count_nonzero(is_reached)


def by_masks(case: Case) -> list[Row]:
    """Tile by tile, per defender and level: the members' scores of all attackers, and their argmin and argmax."""
    best = Best()
    for start, tile in case.tiles(MASKS_TILE):
        place = np.empty(tile.shape[1], np.uint8)
        for defender in range(MODELS):
            best.places(defender, tile[defender], case.edges[defender], place)
            for level in range(1, LEVELS + 1):
                members = np.flatnonzero(place == level)
                if len(members):
                    scores = tile.take(members, axis=1)
                    for side, found in enumerate((scores.argmin(axis=1), scores.argmax(axis=1))):
                        score = scores[np.arange(MODELS), found] * np.float32(1 - 2 * side)
                        better = score < best.score[side, defender, level]
                        best.score[side, defender, level, better] = score[better]
                        best.item[side, defender, level, better] = start + members[found[better]]
    return best.rows()


def by_pruning(case: Case) -> list[Row]:
    """Our own way in NumPy: first drop, tile by tile, the items that cannot be among the extremes."""
    best = Best()
    for start, tile in case.tiles(PRUNING_TILE):
        places = np.empty(tile.shape, np.uint8)
        loosest = _loosest(best)
        is_beyond = np.zeros(tile.shape[1], bool)
        for model, column in enumerate(tile):
            best.places(model, column, case.edges[model], places[model])
            is_beyond |= column < loosest[0, 0, -1, model]
            is_beyond |= column > -loosest[1, 0, -1, model]
        lowest, highest = places.min(axis=0), places.max(axis=0)
        rows = np.flatnonzero(is_beyond & _is_open(loosest, case.edges)[lowest, highest])
        scores = tile.take(rows, axis=1).T
        low, high = loosest[:, lowest[rows], highest[rows]]
        is_left = ((scores < low) | (-scores < high)).any(axis=1)
        _improve(best, scores[is_left], places.take(rows[is_left], axis=1), start + rows[is_left])
    return best.rows()


def _loosest(best: Best) -> Float[Array, "2 P P M"]:
    """The loosest score to beat in the places from one (second axis) to another (third)."""
    of_places = best.score.max(axis=1)
    loosest = np.full((2, LEVELS + 2, LEVELS + 2, MODELS), -np.inf, np.float32)
    for lowest in range(LEVELS + 2):
        np.maximum.accumulate(of_places[:, lowest:], axis=1, out=loosest[:, lowest, lowest:])
    return loosest


def _is_open(loosest: Float[Array, "2 P P M"], edges: Float[Array, "M E+1"]) -> Bool[Array, "P P"]:
    """Whether scores between two places can beat the loosest."""
    least, most = (
        np.pad(edges.T, ((1, 0), (0, 0)), constant_values=-np.inf),
        np.pad(edges.T, ((0, 1), (0, 0)), constant_values=np.inf),
    )
    return ((least[:, None] < loosest[0]) | (-most[None] < loosest[1])).any(axis=2)


def _improve(best: Best, scores: Float[Array, "n M"], places: Int[Array, "M n"], items: Int[Array, " n"]) -> None:
    for side, signed in enumerate((scores, -scores)):
        for defender in range(MODELS):
            row, attacker = np.nonzero(signed < best.score[side, defender, places[defender]])
            score, item = best.score[side, defender].ravel(), best.item[side, defender].ravel()  # views
            where, value = places[defender, row].astype(np.int64) * MODELS + attacker, signed[row, attacker]
            np.minimum.at(score, where, value)
            is_best = np.flatnonzero(value == score[where])[::-1]  # backwards: of equal ones the first is written last
            item[where[is_best]] = items[row[is_best]]


CONTENDERS: dict[str, tuple[str, Callable[[Case], list[Row]]]] = {
    "ours": ("ours", partial(ours, depth=1)),
    "ours-2": ("ours, two of each extreme", partial(ours, depth=2)),
    "pruning": ("NumPy, with our pruning", by_pruning),
    "masks": ("NumPy, level by level", by_masks),
}


def main() -> int:
    """Measure, print, and say with the exit code whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a million items, bars not enforced")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, pool, items = options.child
        case = Case.of(pool, int(items))
        CONTENDERS[name][1](case.first(20_000))
        show(measured(lambda: CONTENDERS[name][1](case)))  # type: ignore[arg-type, return-value]
        return 0
    items = 1_000_000 if options.small else 10_000_000
    holds = [_compare(pool, items, options.repeat) for pool in ("alike", "independent")]
    if options.small:
        print("bars are not enforced here: they are meant for 10,000,000 items")
    return int(not options.small and not all(holds))


def _compare(pool: str, items: int, repeat: int) -> bool:
    runs: dict[str, list[Measured]] = {name: [] for name in CONTENDERS}
    for _ in range(repeat):
        for name, found in runs.items():
            found.append(in_fresh_process(__file__, ["--child", name, pool, str(items)]))
    if any(run.result != runs["ours"][0].result for found in runs.values() for run in found):
        raise SystemExit("the contenders find different extremes")
    print(
        f"{items:,} items × {MODELS} models, {pool}; {LEVELS} levels, {len(runs['ours'][0].result):,} pairs; "
        f"{os.cpu_count()} cores, best of {repeat}; the same pairs from all"
    )
    seconds = {name: min(run.seconds for run in found) for name, found in runs.items()}
    growth = {name: max(run.growth for run in found) for name, found in runs.items()}
    print(f"{'':30}{'ratio':>8}{'seconds':>10}{'of cores':>10}{'peak growth':>14}")
    for name, found in runs.items():
        times = f"{seconds[name] / seconds['ours']:>8.2f}{seconds[name]:>10.2f}{min(run.cpu for run in found):>10.2f}"
        print(f"{CONTENDERS[name][0]:30}{times}{growth[name]:>11.0f} MB")
    faster = seconds["masks"] / seconds["ours"]
    verdicts = (
        (faster >= TIMES_FASTER, f"{faster:>7.2f} times faster than NumPy level by level, at least {TIMES_FASTER}"),
        (growth["ours"] < GROWTH, f"{growth['ours']:>7.2f} MB of memory growth at its peak, under {GROWTH}"),
    )
    for is_met, text in verdicts:
        print(f"{'PASS' if is_met else 'FAIL'}  {text}", flush=True)
    return all(is_met for is_met, _ in verdicts)


if __name__ == "__main__":
    sys.exit(main())
