"""Learning which strings are bound: ridge regression on kitchen sinks or n-gram counts, tuned on held-out strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import KernelError
from dissensus.kernels.roc import auc
from dissensus.kernels.strings.alphabets import Strings, both_strands, joined, reverse_complements
from dissensus.kernels.strings.linear import Ridge, moments, ridge, ridge_of_few
from dissensus.kernels.strings.ngrams import ngram_counts
from dissensus.kernels.strings.shuffles import dinucleotide_shuffles, unchanged
from dissensus.kernels.strings.sinks import draw_sinks
from dissensus.progress import Progress

GAMMAS = (0.2, 0.3, 0.45, 0.65, 0.9, 1.3)
PENALTIES = tuple(10.0**power for power in (-5, -4.5, -4, -3.5, -3, -2.5, -2, -1, 0))
TUNING_FEATURES = 2048
"""Features for a first look at all γ and λ."""
HELD_OUT = 0.25
CHUNK = 1024
"""Strings whose features are held at a time."""
Features = Callable[[Strings], Float[Array, "n M"]]


@dataclass(frozen=True, eq=False)
class Examples:
    """Strings, which of them are bound, and groups that stay together when some are held out."""

    strings: Strings
    is_bound: Bool[Array, " N"]
    groups: Int[Array, " N"]
    """A string, strings that are the same, and their shuffles are one group."""

    def __len__(self) -> int:
        return len(self.strings)

    def part(self, rows: Bool[Array, " N"]) -> Examples:
        return Examples(self.strings.part(rows), self.is_bound[rows], self.groups[rows])

    def targets(self) -> Float[Array, " N"]:
        return np.where(self.is_bound, 1.0, -1.0)


def with_shuffles(bound: Strings, copies: int = 1, seed: int = 0, strands: int = 1) -> tuple[Examples, int]:
    """Bound strings with dinucleotide shuffles as unbound ones; shuffles that changed nothing are left out.

    On two strands, a shuffle that is the reverse complement of its string changed nothing, either.

    Returns:
        The examples, and how many shuffles were left out.

    Raises:
        KernelError: no shuffle changed anything.
    """
    shuffles = dinucleotide_shuffles(bound, copies, seed)
    same = unchanged(bound, shuffles)
    if strands == 2:
        same |= unchanged(reverse_complements(bound), shuffles)
    if same.all():
        raise KernelError("no sequence has a dinucleotide shuffle other than itself: give unbound sequences, too")
    kept = shuffles.part(~same)
    own = equal_groups(bound)
    groups = np.concatenate([own, np.repeat(own, copies)[~same]])
    is_bound = np.arange(len(groups)) < len(bound)
    return Examples(joined([bound, kept], bound.alphabet), is_bound, groups), int(same.sum())


def equal_groups(strings: Strings) -> Int[Array, " N"]:
    """For each string, the number of the first one that is the same."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(one.tobytes(), number) for number, one in enumerate(strings)], np.int64)


def split(examples: Examples, share: float = HELD_OUT, seed: int = 0) -> tuple[Examples, Examples]:
    """The rest, and the share that is held out: whole groups, of bound and of unbound strings in proportion.

    Raises:
        KernelError: there are too few strings of a class for both parts.
    """
    random = np.random.default_rng(seed)
    groups, first = np.unique(examples.groups, return_index=True)
    is_out = np.zeros(len(examples), bool)
    for kind in (True, False):
        members = random.permutation(groups[examples.is_bound[first] == kind])
        taken = members[: -(-int(len(members) * share * 1000) // 1000)]
        is_out |= np.isin(examples.groups, taken)
    parts = examples.part(~is_out), examples.part(is_out)
    if any(part.is_bound.all() or not part.is_bound.any() for part in parts):
        raise KernelError(
            f"{int(examples.is_bound.sum())} bound and {int((~examples.is_bound).sum())} unbound sequences are too few "
            "to hold some of them out: give more"
        )
    return parts


@dataclass(frozen=True)
class Trial:
    """The AUC on held-out strings for one setting; γ is None for counts of n-grams, which have none."""

    gamma: float | None
    penalty: float
    features: int
    auc: float


@dataclass(frozen=True, eq=False)
class Machine:
    """A linear function of features of strings; a larger value means more likely bound."""

    features: Features
    linear: Ridge

    def scores(self, strings: Strings) -> Float[Array, " n"]:
        return _scores(self.features, [self.linear], strings)[0]


def sinks_machine(
    examples: Examples,
    n: int = 8,
    features: int = 8192,
    gammas: Sequence[float] = GAMMAS,
    penalties: Sequence[float] = PENALTIES,
    seed: int = 0,
    progress: Progress | None = None,
    tuning_features: int = TUNING_FEATURES,
    strands: int = 1,
) -> tuple[Machine, Trial, tuple[Trial, ...]]:
    """Kitchen sinks with the γ and λ that are best on held-out strings: the machine, that trial, and all trials.

    All γ and λ are looked at with a few features first. A large γ needs many features, so γ is then raised with all of
    them, each time with its own best λ, for as long as the AUC grows. With `strands=2`, features are sums over both
    strands, so that a string and its reverse complement have the same score.

    Raises:
        KernelError: there are too few strings, or one is too short, or a setting is not positive, or the alphabet has
            no second strand.
    """

    def drawn(gamma: float | None, count: int) -> Features:
        return _on(strands, draw_sinks(n, count, gamma or 1.0, seed, examples.strings.alphabet).features)

    best, trials = Trial(gammas[0], penalties[0], features, 0.0), tuple[Trial, ...]()
    if max(len(gammas), len(penalties)) > 1:
        parts = split(examples, seed=seed)
        best, trials = _looked(parts, drawn, gammas, penalties, min(features, tuning_features), progress)
        if features > tuning_features:
            best, trials = _climbed(parts, drawn, features, best, trials, progress)
    return _learned(examples, drawn(best.gamma, features), best, "kitchen sinks", progress), best, trials


def counts_machine(
    examples: Examples,
    n: int = 6,
    penalties: Sequence[float] = PENALTIES,
    seed: int = 0,
    progress: Progress | None = None,
    strands: int = 1,
) -> tuple[Machine, Trial, tuple[Trial, ...]]:
    """The baseline: counts of all n-grams with the λ that is best on held-out strings, as above."""

    counts = _on(strands, lambda strings: ngram_counts(strings, n))
    parts = split(examples, seed=seed)
    best, trials = _looked(parts, lambda *_: counts, [None], penalties, len(examples.strings.alphabet) ** n, progress)
    return _learned(examples, counts, best, f"{n}-mers", progress), best, trials


def _on(strands: int, features: Features) -> Features:
    """The features of one strand, or of both."""
    if strands not in (1, 2):
        raise KernelError(f"{strands} strands: choose 1 or 2")
    return features if strands == 1 else lambda strings: features(both_strands(strings))


def _looked(
    parts: tuple[Examples, Examples],
    drawn: Callable[[float | None, int], Features],
    gammas: Sequence[float | None],
    penalties: Sequence[float],
    count: int,
    progress: Progress | None,
) -> tuple[Trial, tuple[Trial, ...]]:
    """The best of all settings, and all of them."""
    trials: list[Trial] = []
    for number, gamma in enumerate(gammas):
        trials += _trials(parts, drawn(gamma, count), gamma, penalties, count)
        if progress is not None:
            progress("tuning", number + 1, len(gammas))
    return _best(trials), tuple(trials)


def _climbed(
    parts: tuple[Examples, Examples],
    drawn: Callable[[float | None, int], Features],
    count: int,
    best: Trial,
    looked: tuple[Trial, ...],
    progress: Progress | None,
) -> tuple[Trial, tuple[Trial, ...]]:
    """The best setting with `count` features, from the γ that was best with fewer upwards; and all trials."""
    gammas = sorted({trial.gamma for trial in looked if (trial.gamma or 0) >= (best.gamma or 0)}, key=lambda g: g or 0)
    found: list[Trial] = []
    for number, gamma in enumerate(gammas):
        penalty = _best([trial for trial in looked if trial.gamma == gamma]).penalty
        found += _trials(parts, drawn(gamma, count), gamma, [penalty], count)
        if progress is not None:
            progress("tuning with all features", number + 1, len(gammas))
        if _best(found) is not found[-1]:
            break
    return _best(found), looked + tuple(found)


def _trials(
    parts: tuple[Examples, Examples], features: Features, gamma: float | None, penalties: Sequence[float], count: int
) -> list[Trial]:
    """The AUC of each penalty on the second part, learned from the first."""
    rest, out = parts
    linears = _fitted(rest, features, penalties, lambda _: None)
    scores = _scores(features, linears, out.strings)
    return [
        Trial(gamma, linear.penalty, count, auc(values, out.is_bound).value)
        for linear, values in zip(linears, scores, strict=True)
    ]


def _best(trials: Sequence[Trial]) -> Trial:
    """Of several equally good ones, the first of those with the largest penalty."""
    return max(trials, key=lambda trial: (trial.auc, trial.penalty))


def _learned(examples: Examples, features: Features, best: Trial, what: str, progress: Progress | None) -> Machine:
    def told(done: int) -> None:
        if progress is not None:
            progress(what, done, len(examples))

    return Machine(features, _fitted(examples, features, [best.penalty], told)[0])


def _fitted(
    examples: Examples, features: Features, penalties: Sequence[float], told: Callable[[int], None]
) -> list[Ridge]:
    """A linear function for each penalty; features of many strings are never held all at once."""
    targets = examples.targets()
    order = np.random.default_rng(0).permutation(len(examples))  # so that the first chunk is like the others

    def chunks() -> Iterator[tuple[Float[Array, "n M"], Float[Array, " n"]]]:
        for part in _chunks(len(examples)):
            yield features(examples.strings.part(order[part])), targets[order[part]]
            told(part.stop)

    first = features(examples.strings.part(slice(0, 1)))
    if 2 * len(examples) > first.shape[1]:
        return ridge(moments(chunks()), penalties)
    rows, values = zip(*chunks(), strict=True)
    return ridge_of_few(np.concatenate(rows), np.concatenate(values), penalties)


def _scores(features: Features, linears: Sequence[Ridge], strings: Strings) -> Float[Array, "k n"]:
    """The values of several linear functions of the same features."""
    out = np.empty((len(linears), len(strings)))
    for rows in _chunks(len(strings)):
        found = features(strings.part(rows))
        out[:, rows] = [linear.values(found) for linear in linears]
    return out


def _chunks(count: int) -> list[slice]:
    return [slice(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
