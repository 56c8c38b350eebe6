"""Where each model fails: its worst errors, which classes it confuses, and where it fails more than the others do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table

if TYPE_CHECKING:
    from dissensus.plots import Plot

FailureFrame = Literal["failures", "models", "confusions", "contrasts"]


class Failure(Record):
    """One error of one model.

    `severity`, 0 to 1, sorts the errors: a classifier's confidence (without one, the share of other judged models that
    are right), one minus the score of a map, or how far people contradict a score. `predicted` and `true` are classes,
    empty where they are not known. For scores, `item` and `other` are the pair, `role` is what the model was in the
    duel, and `opponent` the other model.
    """

    model: str
    item: str
    severity: float
    predicted: str = ""
    true: str = ""
    confidence: float | None = None
    right: tuple[str, ...] = ()
    """Other models that are right about it."""
    wrong: tuple[str, ...] = ()
    """Other models that fail too."""
    other: str = ""
    role: str = ""
    opponent: str = ""


class Confusion(Record):
    """How often a model takes one class for another: a number of items, or of pixels."""

    model: str
    predicted: str
    true: str
    count: int
    share: float
    """Of all that the model gets wrong and whose true class is known."""


class ModelFailures(Record):
    """How many of the judged items a model fails on, with the interval of the share; and how many nobody else does."""

    model: str
    judged: int
    failed: int
    share: float
    low: float
    high: float
    alone: int
    """Failures on items that every other judged model got right; at least one was judged."""
    words: tuple[str, ...] = ()


class Contrast(Record):
    """How a model does in one group of items and elsewhere, beside all other models.

    The four numbers are shares of failures; `low` and `high` are the interval of the first. `difference` is how much
    more often the model fails in the group than elsewhere, minus the median of the same over all models. `p` is
    adjusted for all comparisons.
    """

    model: str
    group: str
    items: int
    failed: int
    inside: float
    low: float
    high: float
    outside: float
    others_inside: float
    others_outside: float
    difference: float
    p: float
    is_clear: bool


class Failures(Record):
    """Where each model fails, on the items that people have judged."""

    task: str
    models: tuple[ModelFailures, ...]
    failures: tuple[Failure, ...]
    """Model by model, worst first."""
    confusions: tuple[Confusion, ...]
    contrasts: tuple[Contrast, ...]
    """All comparisons that were made, the clearest first."""
    words: tuple[str, ...]
    level: float
    permutations: int
    seed: int

    def of(self, model: str) -> ModelFailures:
        """The summary of one model."""
        return next(one for one in self.models if one.model == model)

    def only(self, model: str) -> Failures:
        """The same for one model alone; its comparisons stay adjusted for all."""
        parts = {
            name: tuple(one for one in getattr(self, name) if one.model == model)
            for name in ("models", "failures", "confusions", "contrasts")
        }
        return self.model_copy(update=parts)

    def to_frame(self, what: FailureFrame = "failures") -> Any:
        """A tidy frame: failures, models, confusions or contrasts.

        Raises:
            ValueError: the frame is unknown.
        """
        from dissensus.frames import frame_named

        return frame_named(
            what,
            {
                "failures": (Failure, self.failures),
                "models": (ModelFailures, self.models),
                "confusions": (Confusion, self.confusions),
                "contrasts": (Contrast, self.contrasts),
            },
        )

    def plot(self) -> Plot:
        """The share of failures of every model with its interval."""
        from dissensus.plots import dots

        return dots(
            "failures",
            "Failures on the judged items",
            [one.model for one in self.models],
            [100 * one.share if one.judged else None for one in self.models],
            [100 * one.low if one.judged else None for one in self.models],
            [100 * one.high if one.judged else None for one in self.models],
            "Failures, % of what was judged",
            f"Bars are {100 * self.level:g} % intervals (Clopper–Pearson). {self.words[-1]}",
            missing="not judged",
        )

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, _rows(self))])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        said = (sentence for one in self.models for sentence in one.words)
        return f"{paragraphs(self.words)}{table(HEADS, _rows(self))}{paragraphs(said)}"


HEADS = ("model", "failures", "judged", "share", "nobody else")


def _rows(found: Failures) -> list[tuple[str, ...]]:
    return [(one.model, f"{one.failed:,}", f"{one.judged:,}", _share(one), f"{one.alone:,}") for one in found.models]


def _share(one: ModelFailures) -> str:
    return f"{100 * one.share:.0f} % ({100 * one.low:.0f}–{100 * one.high:.0f})" if one.judged else "–"
