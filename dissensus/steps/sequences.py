"""Learn which sequences are bound from files, and test it on others."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted
from dissensus.kernels.roc import LEVEL, auc, auc_difference
from dissensus.kernels.strings.alphabets import Alphabet, Strings, alphabet_named, encode, joined, reverse_complements
from dissensus.kernels.strings.learning import (
    GAMMAS,
    PENALTIES,
    Examples,
    Machine,
    Trial,
    counts_machine,
    equal_groups,
    sinks_machine,
    split,
    with_shuffles,
)
from dissensus.kernels.strings.windows import window_counts
from dissensus.progress import Progress, silent
from dissensus.records.sequences import SequenceMachine, SequenceResult, SequenceTrial
from dissensus.report.wording import counted
from dissensus.store.sequences import SequenceFile, read_sequences

TEST_SHARE = 0.2
MOST_FEATURES = 32_768
"""Their products take 12 bytes per pair while they are solved: 13 GB."""
MOST_SHUFFLES = 1_000
LONGEST_BASELINE = 6
MOST_COUNTS = 8192


@dataclass(frozen=True)
class SequenceSettings:
    """What to learn with; γ and λ are tuned if they are None, and the alphabet says how many strands there are."""

    n: int = 8
    features: int = 8192
    gamma: float | None = None
    penalty: float | None = None
    shuffles: int = 3
    has_baseline: bool = False
    alphabet: str = "dna"
    seed: int = 0
    strands: int | None = None

    @property
    def strands_read(self) -> int:
        return alphabet_named(self.alphabet).strands if self.strands is None else self.strands


@dataclass(frozen=True, eq=False)
class _Loaded:
    examples: Examples
    names: tuple[str, ...]
    """Of the sequences in the files; shuffles come after them."""
    is_shuffled: bool
    notes: tuple[str, ...]


def learn_sequences(
    train: Path, test: Path | None, negatives: Path | None, settings: SequenceSettings, progress: Progress = silent
) -> SequenceResult:
    """Tune and learn on TRAIN, test on TEST, or on a fifth of TRAIN that is set aside first.

    Raises:
        KernelError: a file cannot be read, or there is nothing to learn from it.
    """
    _check(settings)
    learned = _loaded(train, negatives, settings, settings.seed + 1)
    if test is None:
        rest, out = split(learned.examples, TEST_SHARE, settings.seed + 3)
        tested = _Loaded(out, (), learned.is_shuffled, ())
        learned = _Loaded(rest, (), learned.is_shuffled, learned.notes)
    else:
        tested = _loaded(test, None, settings, settings.seed + 2)
    machines, trials, scores = _measured(learned.examples, tested.examples, settings, progress)
    truth = tested.examples.is_bound
    between = None
    if settings.has_baseline:
        found = auc_difference(scores[0], scores[1], truth)
        between = (found.value, found.low, found.high)
    return SequenceResult(
        train=" and ".join(path.name for path in (train, negatives) if path is not None),
        test="a fifth, set aside" if test is None else test.name,
        train_bound=int(learned.examples.is_bound.sum()), train_unbound=int((~learned.examples.is_bound).sum()),
        test_bound=int(truth.sum()), test_unbound=int((~truth).sum()),
        shuffled=tuple(part for part, one in (("train", learned), ("test", tested)) if one.is_shuffled),
        n=settings.n, alphabet=settings.alphabet, strands=settings.strands_read, seed=settings.seed, level=LEVEL,
        machines=tuple(machines), difference=between, trials=tuple(trials),
        notes=(*learned.notes, *tested.notes, *_known_already(learned, tested, settings.strands_read)),
        names=tested.names, scores=tuple(map(float, scores[0][: len(tested.names)])),
    )  # fmt: skip


def _check(settings: SequenceSettings) -> None:
    for name, value in (("features", settings.features), ("shuffles", settings.shuffles), ("n", settings.n)):
        if value < 1:
            raise KernelError(f"--{name} {value}: give at least 1")
    if settings.seed < 0:
        raise KernelError(f"--seed {settings.seed}: give a whole number of at least 0")
    if settings.shuffles > MOST_SHUFFLES:
        raise KernelError(f"--shuffles {settings.shuffles}: give at most {MOST_SHUFFLES:,}")
    if settings.features > MOST_FEATURES:
        raise KernelError(
            f"--features {settings.features}: give at most {MOST_FEATURES:,}, or memory would not suffice"
        )
    for name, number in (("gamma", settings.gamma), ("penalty", settings.penalty)):
        if number is not None and not (np.isfinite(number) and number > 0):
            raise KernelError(f"--{name} {number}: give a positive number")
    if settings.strands not in (None, 1, 2):
        raise KernelError(f"{settings.strands} strands: choose 1 or 2")
    if settings.strands == 2 and not alphabet_named(settings.alphabet).complements:
        raise KernelError(
            f"--both-strands: the letters of {quoted(settings.alphabet)} have no complements: use --one-strand"
        )


def _loaded(path: Path, negatives: Path | None, settings: SequenceSettings, seed: int) -> _Loaded:
    """The sequences of a file; without unbound ones, dinucleotide shuffles of the bound ones are added."""
    files = [read_sequences(one) for one in (path, negatives) if one is not None]
    alphabet = alphabet_named(settings.alphabet)
    strings = joined([_encoded(file, alphabet, settings) for file in files], alphabet)
    bound = [np.ones(len(files[0]), bool) if files[0].is_bound is None else files[0].is_bound]
    is_bound = np.concatenate([*bound, *(np.zeros(len(file), bool) for file in files[1:])])
    names = tuple(name for file in files for name in file.names)
    if not is_bound.any():
        raise KernelError(f"{path} has no bound sequences: there is nothing to recognise")
    if not is_bound.all():
        return _Loaded(Examples(strings, is_bound, equal_groups(strings)), names, False, ())
    examples, left_out = with_shuffles(strings, settings.shuffles, seed, settings.strands_read)
    notes = (f"{path.name}: left out {counted(left_out, 'shuffle')} that changed nothing.",) if left_out else ()
    return _Loaded(examples, names, True, notes)


def _encoded(file: SequenceFile, alphabet: Alphabet, settings: SequenceSettings) -> Strings:
    """The sequences of a file as numbers; each has an n-gram for every machine."""
    places = [f"{file.path}, line {line}: {name}" for line, name in zip(file.lines, file.names, strict=True)]
    strings = encode(file.sequences, alphabet, places)
    window_counts(strings, max(settings.n, _baseline_length(alphabet) if settings.has_baseline else 1), places)
    return strings


def _baseline_length(alphabet: Alphabet) -> int:
    """Letters of the n-grams that the baseline counts: 6 for DNA, fewer for larger alphabets."""
    length = 1
    while length < LONGEST_BASELINE and len(alphabet) ** (length + 1) <= MOST_COUNTS:
        length += 1
    return length


def _measured(
    learned: Examples, tested: Examples, settings: SequenceSettings, progress: Progress
) -> tuple[list[SequenceMachine], list[SequenceTrial], list[Float[Array, " n"]]]:
    """Every machine with its AUC, what was tried for it, and its scores of the test sequences."""
    gammas = GAMMAS if settings.gamma is None else (settings.gamma,)
    penalties = PENALTIES if settings.penalty is None else (settings.penalty,)
    machines, trials, scores = [], [], []
    counted_length = _baseline_length(learned.strings.alphabet)
    for name in ("kitchen sinks", f"{counted_length}-mers")[: 1 + settings.has_baseline]:
        start = time.perf_counter()
        if name == "kitchen sinks":
            found = sinks_machine(
                learned, settings.n, settings.features, gammas, penalties, settings.seed, progress,
                strands=settings.strands_read,
            )  # fmt: skip
        else:
            found = counts_machine(learned, counted_length, PENALTIES, settings.seed, progress, settings.strands_read)
        machine, best, tried = found
        scores.append(machine.scores(tested.strings))
        machines.append(_described(name, machine, best, bool(tried), scores[-1], tested, time.perf_counter() - start))
        trials += [SequenceTrial(machine=name, **asdict(trial)) for trial in tried]
    return machines, trials, scores


def _described(
    name: str,
    machine: Machine,
    best: Trial,
    is_tuned: bool,
    scores: Float[Array, " n"],
    tested: Examples,
    seconds: float,
) -> SequenceMachine:
    area = auc(scores, tested.is_bound)
    return SequenceMachine(
        name=name, features=len(machine.linear.weights), gamma=best.gamma, penalty=best.penalty,
        held_out=best.auc if is_tuned else None, auc=area.value, low=area.low, high=area.high, seconds=seconds,
    )  # fmt: skip


def _known_already(learned: _Loaded, tested: _Loaded, strands: int) -> tuple[str, ...]:
    """A warning if the test is too easy because some of its sequences were learned from."""
    known = {one.tobytes() for one in learned.examples.strings}
    if strands == 2:
        known |= {one.tobytes() for one in reverse_complements(learned.examples.strings)}
    again = sum(one.tobytes() in known for one in tested.examples.strings)
    if not again:
        return ()
    return (f"{counted(again, 'test sequence')} also {'is' if again == 1 else 'are'} among those learned from.",)
