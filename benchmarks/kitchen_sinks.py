"""Kitchen sinks: speed and memory, the kernel they approximate, and AUCs on three transcription factors.

    python benchmarks/kitchen_sinks.py speed     # 8,192 features of 10,000 sequences of 101 letters; under a minute
    python benchmarks/kitchen_sinks.py kernel    # how far products of features are from the exact kernel
    python benchmarks/kitchen_sinks.py printed   # from which γ on the printed kernel is positive semidefinite
    python benchmarks/kitchen_sinks.py auc       # kitchen sinks and 6-mers on MYC, REST and ELK1; a few minutes
    python benchmarks/kitchen_sinks.py seeds     # ELK1 again with other random features; a few minutes
    python benchmarks/kitchen_sinks.py tuning    # what γ and λ are chosen by; a few minutes
    python benchmarks/kitchen_sinks.py choices   # both strands, more shuffles: decided on training data; a few minutes
    python benchmarks/kitchen_sinks.py all

`--runs` is the number of sequences in `speed`, of seeds in `auc` and `seeds`, of repetitions in `kernel`, of lengths n
in `printed` and of factors in `tuning` and `choices`. Every row of `speed` is a process of its own that compiles first,
on a few sequences; memory is the largest resident set of the whole process, imports included. Nothing is tuned on the
test files of `auc`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row, main
from dissensus.arrays import Array, Float, Int
from dissensus.kernels.roc import Auc, auc_difference
from dissensus.kernels.roc import auc as area
from dissensus.kernels.strings import Strings, both_strands, draw_sinks, encode, ngram_kernel
from dissensus.kernels.strings.learning import (
    PENALTIES,
    TUNING_FEATURES,
    Examples,
    counts_machine,
    sinks_machine,
    split,
    with_shuffles,
)
from dissensus.kernels.strings.linear import moments, ridge
from dissensus.kernels.strings.ngrams import window_eigenvalues, window_values
from dissensus.store.sequences import read_sequences
from dissensus.study.sequences import learn_sequences

N, FEATURES, LENGTH, GAMMA = 8, 8192, 101, 0.65
STRANDS, SHUFFLES = 2, 3
"""What the command does with DNA by default."""
FACTORS = ("ELK1", "MYC", "REST")
ELK1_SINKS, ELK1_COUNTS = ((0.65,), (1e-4,)), 10**-3.5
"""γ and λ of the kitchen sinks and λ of the 6-mers, as `auc` tunes them for ELK1."""
PLAIN_SHARE = 10
"""Plain NumPy does a tenth of the sequences; its seconds are multiplied."""


def random_strings(count: int, length: int = LENGTH) -> Strings:
    letters = np.random.default_rng(0).integers(0, 4, count * length).astype(np.uint8)
    return Strings(encode([]).alphabet, letters, np.arange(count + 1) * length)


def all_features(count: int) -> None:
    draw_sinks(N, FEATURES, GAMMA).features(random_strings(count))


def normal_equations(count: int) -> None:
    """Features a chunk at a time, their products, and a ridge regression from these."""
    is_bound = np.random.default_rng(1).random(count) < 0.5
    sinks_machine(Examples(random_strings(count), is_bound, np.arange(count)), N, FEATURES, [GAMMA], [1e-3])


def plain_features(count: int) -> None:
    """Every window's letters times the filters, and the cosine of each, by NumPy."""
    sinks, strings = draw_sinks(N, FEATURES, GAMMA), random_strings(count // PLAIN_SHARE)
    filters = (np.sqrt(GAMMA) * sinks.weights).reshape(FEATURES, -1).T.astype(np.float32)
    phases, ones = sinks.phases.astype(np.float32), np.eye(4, dtype=np.float32)
    out = np.empty((len(strings), FEATURES), np.float32)
    for row, letters in enumerate(strings):
        windows = np.lib.stride_tricks.sliding_window_view(letters, N)
        out[row] = np.cos(ones[windows].reshape(len(windows), -1) @ filters + phases).sum(axis=0)


WORKS: dict[str, tuple[Callable[[int], None], int]] = {
    "features": (all_features, 1),
    "features, products and ridge, in chunks": (normal_equations, 1),
    "features by plain NumPy": (plain_features, PLAIN_SHARE),
}


def speed(_: Path, runs: int = 10_000) -> Iterator[Row]:
    """Seconds and memory; how many times as fast as plain NumPy follows from the rows."""
    for name in WORKS:
        done = subprocess.run([sys.executable, __file__, "--work", name, str(runs)], capture_output=True, check=True)
        yield {"work": name, "sequences": runs, "features": FEATURES} | json.loads(done.stdout)


def _work(name: str, count: int) -> None:
    work, share = WORKS[name]
    draw_sinks(N, 8).features(random_strings(2))
    moments([(np.ones((2, 2), np.float32), np.ones(2))])
    start = time.perf_counter()
    work(count)
    seconds = share * (time.perf_counter() - start)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({"seconds": round(seconds, 1), "peak memory, MB": round(peak)}))


def bound(kit: Path, factor: str, part: str) -> Path:
    return next((kit / "dna").glob(f"{factor}_*_{part}.seq.gz"))


def learned_from(kit: Path, factor: str) -> Examples:
    """The sequences that `auc` learns from with the first seed."""
    return with_shuffles(encode(read_sequences(bound(kit, factor, "AC")).sequences), SHUFFLES, seed=1)[0]


def kernel(kit: Path, runs: int = 20) -> Iterator[Row]:
    """Products of features of 40 binding sites against the exact kernel: the error relative to its largest entry."""
    strings = encode(read_sequences(bound(kit, "MYC", "AC")).sequences[:40])
    exact, printed = (ngram_kernel(strings, n=N, gamma=GAMMA, power=power) for power in (1, 2))
    for features in (128, 512, 2048, 8192):
        errors, others = [], []
        for seed in range(runs):
            found = draw_sinks(N, features, GAMMA, seed).features(strings).astype(float)
            errors.append(np.mean((found @ found.T - exact) ** 2))
            others.append(np.mean((found @ found.T - printed) ** 2))
        error, other = (np.sqrt(np.mean(one)) / exact.max() for one in (errors, others))
        yield {
            "features": features, "error, exp(−γH)": f"{error:.4f}",
            "error · √features": f"{error * features**0.5:.3f}",
            "error, exp(−γH²) as printed": f"{other:.4f}",
        }  # fmt: skip


def printed(_: Path, runs: int = 5) -> Iterator[Row]:
    """The smallest γ for which the printed kernel of n-grams has no negative eigenvalue."""
    for n in (8, 2, 4, 6, 12)[:runs]:
        low, high = 1e-3, 5.0
        while high - low > 1e-5:
            middle = (low + high) / 2
            if _least(n, middle) < 0:
                low = middle
            else:
                high = middle
        share = _least(n, GAMMA / 2) / window_eigenvalues(n, 4, window_values(n, GAMMA / 2, 2)).max()
        yield {
            "n": n, "letters": 4, "positive semidefinite from γ =": f"{high:.3f}",
            f"least / largest eigenvalue at γ = {GAMMA / 2:g}": f"{share:.4f}",
        }  # fmt: skip


def _least(n: int, gamma: float) -> float:
    return float(window_eigenvalues(n, 4, window_values(n, gamma, 2)).min())


def auc(kit: Path, runs: int = 1) -> Iterator[Row]:
    """Learned from binding sites and their shuffles, tested on 500 + 500 others."""
    for factor in FACTORS:
        for seed in range(runs):
            found = learn_sequences(bound(kit, factor, "AC"), bound(kit, factor, "B"), baseline=True, seed=seed)
            sinks, counts = found.machines
            assert found.difference is not None
            value, low, high = found.difference
            row: Row = {"factor": factor, "seed": seed, "train": f"{found.train_bound:,} + {found.train_unbound:,}"}
            for one in (sinks, counts):
                row |= {f"{one.name} AUC": f"{one.auc:.3f} [{one.low:.3f}, {one.high:.3f}]"}
            yield row | {
                "difference": f"{value:+z.3f} [{low:+z.3f}, {high:+z.3f}]".replace("-", "−"),
                "γ, λ": f"{sinks.gamma:g}, {sinks.penalty:.2g}", "λ of 6-mers": f"{counts.penalty:.2g}",
                "seconds": f"{sinks.seconds:.0f} + {counts.seconds:.0f}",
                "within 0.01": "yes" if value >= -0.01 else "NO",
            }  # fmt: skip


def signed(value: float) -> str:
    return f"{value:+z.4f}".replace("-", "−")


def seeds(kit: Path, runs: int = 5) -> Iterator[Row]:
    """The difference of `auc` for ELK1 with other random features, the same shuffles, and γ and λ as tuned there."""
    examples = learned_from(kit, "ELK1")
    tested = read_sequences(bound(kit, "ELK1", "B"))
    strings, truth = encode(tested.sequences), np.asarray(tested.is_bound, bool)
    counts = counts_machine(examples, penalties=(ELK1_COUNTS,), strands=STRANDS)[0].scores(strings)
    differences = []
    for seed in range(runs):
        machine, _, _ = sinks_machine(examples, N, FEATURES, *ELK1_SINKS, seed, strands=STRANDS)
        found = auc_difference(machine.scores(strings), counts, truth)
        differences.append(found.value)
        yield {
            "seeds": seed, "difference": signed(found.value), "within 0.01": "yes" if found.value >= -0.01 else "NO"
        }  # fmt: skip
    mean, spread = np.mean(differences), np.std(differences, ddof=1) if runs > 1 else 0.0
    within = sum(value >= -0.01 for value in differences)
    yield {
        "seeds": f"0–{runs - 1}",
        "difference": f"{signed(float(mean))} ± {spread:.4f}",
        "within 0.01": f"{within} of {runs}",
    }


def tuning(kit: Path, runs: int = 3) -> Iterator[Row]:
    """AUC on held-out training data for each γ, with the features of the first look and with all of them."""
    for factor in FACTORS[:runs]:
        examples = learned_from(kit, factor)
        _, best, trials = sinks_machine(examples, N, FEATURES, strands=STRANDS)
        _, baseline, _ = counts_machine(examples, strands=STRANDS)
        for gamma in sorted({trial.gamma for trial in trials if trial.gamma}):
            row: Row = {"factor": factor, "γ": gamma}
            for count in (TUNING_FEATURES, FEATURES):
                values = [trial.auc for trial in trials if (trial.gamma, trial.features) == (gamma, count)]
                row |= {f"{count:,} features": f"{max(values):.4f}" if values else "–"}
            yield row | {"chosen": "yes" if gamma == best.gamma else "", "6-mers": f"{baseline.auc:.4f}"}


ONE_ERROR = 0.682689
"""The level of an interval whose half is a standard error."""
CHOICES = {"one strand, 1 shuffle": (1, 1), "both strands": (2, 1), "3 shuffles": (1, 3), "both and 3 shuffles": (2, 3)}
"""What is compared with the first one, as strands and shuffles per bound sequence."""


def choices(kit: Path, runs: int = 3) -> Iterator[Row]:
    """Whether to learn from both strands or from more shuffles, decided on training data before any test.

    A quarter of the bound sequences, with three shuffles each, is held out, the same for all choices. Each is learned
    with 2,048 features from the rest, with the γ and λ that are best for it.

    A choice is good if the mean gain in AUC over all factors is more than its standard error (DeLong's, for pairs), and
    if no factor loses more than 0.002. The good one with the largest mean gain is adopted, but both together only if
    they gain more than the better of the two alone, by more than the standard error of that difference.
    """
    gains: dict[tuple[str, str], list[Auc]] = {}
    for factor in FACTORS[:runs]:
        examples = learned_from(kit, factor)
        rest, out = split(examples)
        found = {name: _held_out(rest, out, *choice) for name, choice in CHOICES.items()}
        for pair in permutations(found, 2):
            gain = auc_difference(found[pair[0]][0], found[pair[1]][0], out.is_bound, level=ONE_ERROR)
            gains.setdefault(pair, []).append(gain)
        for name, (scores, gamma, penalty) in found.items():
            row: Row = {"factor": factor, "choice": name, "held-out AUC": f"{area(scores, out.is_bound).value:.4f}"}
            yield row | {"γ, λ": f"{gamma:g}, {penalty:.2g}"}
    for (name, other), each in gains.items():
        values, errors = [one.value for one in each], [(one.high - one.low) / 2 for one in each]
        if np.mean(values) > 0:
            yield {
                "choice": name, "compared with": other, "mean gain": signed(float(np.mean(values))),
                "standard error": f"{np.linalg.norm(errors) / len(errors):.4f}", "least gain": signed(min(values)),
            }  # fmt: skip


def _held_out(rest: Examples, out: Examples, strands: int, shuffles: int) -> tuple[Float[Array, " n"], float, float]:
    """Scores of what is held out, by the best γ and λ for it, and these."""
    is_first = ~rest.is_bound
    is_first[~rest.is_bound] = _place_in_group(rest.groups[~rest.is_bound]) < shuffles
    rest = rest.part(rest.is_bound | is_first)
    read = both_strands if strands == 2 else lambda strings: strings
    found = []
    for gamma in (0.45, 0.65, 0.9):
        sinks = draw_sinks(N, TUNING_FEATURES, gamma)
        known = moments([(sinks.features(read(rest.strings)), rest.targets())])
        tested = sinks.features(read(out.strings))
        found += [(one.values(tested), gamma, one.penalty) for one in ridge(known, PENALTIES)]
    return max(found, key=lambda one: area(one[0], out.is_bound).value)


def _place_in_group(groups: Int[Array, " n"]) -> Int[Array, " n"]:
    """How many earlier ones are of the same group, for groups in order."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


TABLES = {
    "speed": speed,
    "kernel": kernel,
    "printed": printed,
    "auc": auc,
    "seeds": seeds,
    "tuning": tuning,
    "choices": choices,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        _work(sys.argv[2], int(sys.argv[3]))
    else:
        main(__doc__, TABLES)
