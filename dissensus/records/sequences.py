"""Which sequences are bound: how well machines tell, as words, a table and JSON."""

from __future__ import annotations

from pydantic import Field

from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table

HEADS = ("machine", "features", "γ", "λ", "AUC, held out", "AUC, test")


class SequenceTrial(Record):
    """The AUC on sequences held out from training, for one setting."""

    machine: str
    gamma: float | None
    penalty: float
    features: int
    auc: float


class SequenceMachine(Record):
    """A machine, its tuned settings, and its AUC on the test sequences with the ends of DeLong's interval."""

    name: str
    features: int
    gamma: float | None
    penalty: float
    held_out: float | None
    """The AUC that the settings were chosen by; None if they were given."""
    auc: float
    low: float
    high: float
    seconds: float
    """For tuning, training and scoring."""


class SequenceResult(Record):
    """How well machines tell bound sequences from unbound ones, the kitchen sinks first."""

    train: str
    test: str
    train_bound: int
    train_unbound: int
    test_bound: int
    test_unbound: int
    shuffled: tuple[str, ...]
    """Of 'train' and 'test', those whose unbound sequences are dinucleotide shuffles of the bound ones."""
    n: int
    alphabet: str
    strands: int
    seed: int
    level: float
    machines: tuple[SequenceMachine, ...]
    difference: tuple[float, float, float] | None
    """AUC of the kitchen sinks less the baseline's, and the ends of its interval; None without a baseline."""
    trials: tuple[SequenceTrial, ...]
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = Field(default=(), exclude=True, repr=False)
    scores: tuple[float, ...] = Field(default=(), exclude=True, repr=False)
    """Of the kitchen sinks, for the test sequences of the file (without shuffles), by `names`."""

    @property
    def words(self) -> tuple[str, ...]:
        """The main answer first."""
        sinks = self.machines[0]
        first = (
            f"Kitchen sinks rank a bound sequence above an unbound one with a probability (AUC) of {sinks.auc:.3f}"
            f" ({100 * self.level:g} % interval {sinks.low:.3f} to {sinks.high:.3f})."
        )
        return (first, *self._baseline_words(), self._data_words())

    def _baseline_words(self) -> tuple[str, ...]:
        if self.difference is None:
            return ()
        value, low, high = self.difference
        name = self.machines[1].name
        if low > 0 or high < 0:
            verdict = f"better than {name}" if low > 0 else f"worse than {name}"
        else:
            verdict = f"not known to be better or worse than {name}"
        by, least, most = (f"{number:+z.3f}".replace("-", "−") for number in (value, low, high))
        return (f"They are {verdict}: the AUC differs by {by} ({least} to {most}).",)

    def _data_words(self) -> str:
        train, test = (
            f"{bound:,} bound sequences and {unbound:,} {'shuffles' if part in self.shuffled else 'unbound ones'}"
            for part, bound, unbound in (
                ("train", self.train_bound, self.train_unbound),
                ("test", self.test_bound, self.test_unbound),
            )
        )
        strands = ", both strands of each" if self.strands == 2 else ""
        return f"Learned from {train} ({self.train}{strands}); tested on {test} ({self.test})."

    def rows(self) -> list[tuple[str, ...]]:
        """For every machine: its settings and its AUC."""
        return [
            (
                one.name, f"{one.features:,}", "–" if one.gamma is None else f"{one.gamma:g}", f"{one.penalty:.2g}",
                "–" if one.held_out is None else f"{one.held_out:.3f}",
                f"{one.auc:.3f} [{one.low:.3f}, {one.high:.3f}]",
            )
            for one in self.machines
        ]  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join([*self.words, *self.notes, *aligned(HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs((*self.words, *self.notes)) + table(HEADS, self.rows())
