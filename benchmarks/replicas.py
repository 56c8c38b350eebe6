"""A test set collected again, in simulations: who is screened out, what MatchedFrequency matches, what it costs not to.

    python benchmarks/replicas.py screening     # honest workers that are excluded, careless ones that are found
    python benchmarks/replicas.py matching      # histograms of classes, and mean frequencies, of the three strategies
    python benchmarks/replicas.py all

Everything is planted: workers who look select each image with a probability of its own, shifted by how strict they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row, main
from dissensus.arrays import Array
from dissensus.replicas.frequencies import Votes
from dissensus.replicas.regression import expected_frequencies
from dissensus.replicas.revisions import Pool, Revision, next_revision
from dissensus.replicas.rounding import largest_remainders
from dissensus.replicas.strategies import NAMES, STRATEGIES, Candidate, Wanted, bin_of, histogram
from dissensus.replicas.workers import CANDIDATE, NEARBY, SAME, counted, screen

GRID = np.repeat([SAME, NEARBY, CANDIDATE], [3, 3, 42])
HONEST, RUNS = 10, 200
CROWDS = {
    "all look, equally strict": (0.0, 0.0, None),
    "all look, odds up to 2 times higher or lower": (0.7, 0.0, None),
    "all look, odds up to 4.5 times higher or lower": (1.5, 0.0, None),
    "all look, but slip on 1 image of 10": (0.7, 0.1, None),
    "one ticks everything": (0.7, 0.0, 1.0),
    "one ticks nothing": (0.7, 0.0, 0.0),
    "one ticks half of everything at random": (0.7, 0.0, 0.5),
    "one ticks a tenth of everything at random": (0.7, 0.0, 0.1),
}


def crowd(grids: int, shift: float, slips: float, careless: float | None, seed: int) -> tuple[Votes, Array, int]:
    """Ten people who look and maybe one who does not; everybody answers all grids."""
    rng = np.random.default_rng(seed)
    role = np.tile(GRID, grids)
    logit = np.select([role == SAME, role == NEARBY], [1.5, -2.0], -0.3) + rng.normal(0, 1.0, len(role))
    people = HONEST + (careless is not None)
    chance = 1 / (1 + np.exp(-(logit + rng.uniform(-shift, shift, people)[:, None])))
    if careless is not None:
        chance[-1] = careless
    tick = rng.random(chance.shape) < chance
    tick[:HONEST] ^= rng.random((HONEST, len(role))) < slips
    image, worker = np.tile(np.arange(len(role)), people), np.repeat(np.arange(people), len(role))
    return Votes(image, worker, tick.ravel()), role, people


def screening(_kit: Path, runs: int = RUNS) -> Iterator[Row]:
    """Shares of 200 simulated studies of ten people who look, by the number of grids that everybody answers."""
    for words, (shift, slips, careless) in CROWDS.items():
        for grids in (1, 2, 4, 8, 16):
            out, found = 0, 0
            for seed in range(runs):
                kept = counted(screen(*crowd(grids, shift, slips, careless, seed)))
                out += int((~kept[:HONEST]).sum())
                found += int((~kept[HONEST:]).sum())
            yield {
                "crowd": words,
                "grids each": str(grids),
                "looked, but excluded": f"{100 * out / (HONEST * runs):.2f} %",
                "did not look, and found": "–" if careless is None else f"{100 * found / runs:.0f} %",
            }


def matching(_kit: Path, runs: int = 0) -> Iterator[Row]:
    """100 classes with frequencies of their own, 20 annotated originals, 200 candidates and ten images each; `runs` is
    the seed."""
    rng = np.random.default_rng(runs)
    pools, true = {}, dict[str, float]()
    truth = []
    for label in range(100):
        above, below = rng.uniform(0.5, 4, 2).tolist()
        likely = rng.beta(above, below, 20)
        truth.append(likely.mean())
        own = [(int(one), 10) for one in rng.binomial(10, likely)]
        likely = rng.beta(above, 2 * below, 200)  # candidates are worse than originals
        true |= {f"{label}-{n}": one for n, one in enumerate(likely.tolist())}
        seen = rng.binomial(10, likely)
        pools[label] = Pool([Candidate(f"{label}-{n}", int(one), 10) for n, one in enumerate(seen)], Wanted(10, own))
    original = np.mean([one / of for pool in pools.values() for one, of in pool.wanted.originals])
    columns = ("images", "in another bin than the histogram says", "from a higher bin", "empty places")
    first = {
        "strategy": "annotated originals",
        "mean frequency": f"{original:.3f}",
        "true mean": f"{np.mean(truth):.3f}",
        "expected": "–",
    }
    yield first | dict.fromkeys(columns, "–")
    for strategy in STRATEGIES:
        made = next_revision(strategy, pools, None, (), 0)
        places = [place for one in made.filled.values() for place in one.places]
        apart = 0
        for label, filled in made.filled.items():
            has = np.bincount([bin_of(one.selected, one.votes) for one in filled.places], minlength=5)
            apart += int(abs(has - largest_remainders(histogram(pools[label].wanted.originals), 10)).sum()) // 2
        moved = np.mean([one.is_from_higher_bin for one in places])
        yield {
            "strategy": NAMES[strategy],
            "mean frequency": f"{np.mean([one.selected / one.votes for one in places]):.3f}",
            "true mean": f"{np.mean([true[one.item] for one in places]):.3f}",
            "expected": f"{np.mean(_expected(pools, made)):.3f}",
            "images": f"{len(places):,}",
            "in another bin than the histogram says": f"{apart:,}",
            "from a higher bin": f"{100 * moved:.1f} %" if strategy == "matched" else "–",
            "empty places": f"{made.missing:,}",
        }


def _expected(pools: dict[int, Pool], made: Revision) -> list[float]:
    """What new workers would say about the images, as far as the votes of the candidates tell."""
    found: list[float] = []
    for label, filled in made.filled.items():
        pool, chosen = (
            np.array([(one.selected, one.votes) for one in some], int).reshape(-1, 2)
            for some in (pools[label].candidates, filled.places)
        )
        found += expected_frequencies(*chosen.T, *pool.T).tolist()
    return found


if __name__ == "__main__":
    main(__doc__, {"screening": screening, "matching": matching})
