"""What models predict at a glance, and what looks wrong about it: long before anybody is asked anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table


class ModelSanity(Record):
    """What one model predicts; each task adds what its predictions consist of."""

    heads: ClassVar[tuple[str, ...]] = ()
    """The columns of `cells`, after the model's name."""
    meaning: ClassVar[str] = ""
    """What they mean, in a sentence."""
    has_names: ClassVar[bool] = False
    """Whether the first of them lists names of classes; all others are numbers."""

    model: str
    items: int
    """Items that were looked at and have a prediction."""
    agreement: float | None = None
    """With the other models, on average; None if there is no other model, or nothing to compare."""
    closest: str | None = None
    """The model it agrees with most."""
    doubts: tuple[str, ...] = ()
    """What looks wrong: constant, uniform, alone, low, few, reversed or empty."""
    warnings: tuple[str, ...] = ()
    """The same in sentences."""
    recipe: str = ""
    """A way to normalise images that was tried and helped."""
    gain: tuple[float, float] | None = None
    """The agreement with another model on the items that were tried: with the present settings, and with the recipe."""
    remedy: str = ""
    """A sentence that says what to try, and with which command."""
    command: str = ""
    """That command alone."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The values of `heads` as text."""
        return ()


class LabelSanity(ModelSanity):
    """The labels of one model. `agreement` is the share of items with the same label."""

    heads = ("most frequent classes", "classes", "median confidence", "agreement")
    meaning = (
        "Classes: how many a model predicts at all. Agreement: the share of items that get the same label from another "
        "model, on average over the others."
    )
    has_names = True

    top: tuple[tuple[str, float], ...] = ()
    """The most frequent classes, each with its share of the items."""
    different: int = 0
    """How many classes it predicts at all."""
    confidence: float | None = None
    """Its median; None if the model gives none."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The most frequent classes, how many there are, confidence and agreement."""
        return (
            ", ".join(f"{name} ({share:.0%})" for name, share in self.top),
            f"{self.different:,}",
            "–" if self.confidence is None else confidence_text(self.confidence),
            "–" if self.agreement is None else f"{self.agreement:.0%}",
        )


class ScoreSanity(ModelSanity):
    """The scores of one model. `agreement` is Spearman’s correlation, after the sign for --lower."""

    heads = ("lowest", "median", "highest", "different", "correlation")
    meaning = (
        "Different: how many different scores there are. Correlation: of the ranks of the items (Spearman) with "
        "another model’s, on average over the others."
    )

    low: float = 0.0
    median: float = 0.0
    high: float = 0.0
    different: int = 0
    """How many different scores there are."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The range of the scores, how many differ, and the correlation with other models."""
        shown = [f"{value:.4g}".replace("-", "−") for value in (self.low, self.median, self.high)]
        return (*shown, f"{self.different:,}", "–" if self.agreement is None else f"{self.agreement:z.2f}")


class MapSanity(ModelSanity):
    """The maps of one model. `agreement` is the share of the classes that either of two models marks that both mark."""

    heads = ("marked most often", "classes", "nothing marked", "agreement")
    meaning = (
        "Marked most often: the share of images that show a class, according to a model. Agreement: of the classes "
        "that it or another model marks in an image, the share that both mark, on average over the others."
    )
    has_names = True

    top: tuple[tuple[str, float], ...] = ()
    """The classes, other than the background, in most images, each with the share of the images it is in."""
    different: int = 0
    """How many classes, other than the background, it predicts at all."""
    empty: float = 0.0
    """The share of the images in which nothing is marked."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The classes in most images, how many there are, empty maps and agreement."""
        return (
            ", ".join(f"{name} ({share:.0%})" for name, share in self.top),
            f"{self.different:,}",
            f"{self.empty:.0%}",
            "–" if self.agreement is None else f"{self.agreement:.0%}",
        )


class Sanity(Record):
    """What all models of a study predict. `pool` items are in the pool, of which `looked_at` were looked at."""

    pool: int
    looked_at: int
    models: tuple[LabelSanity | ScoreSanity | MapSanity, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All warnings, each model’s followed by its remedy; empty if nothing looks wrong."""
        return tuple(sentence for one in self.models for sentence in warning_sentences(one))

    def to_frame(self) -> Any:
        """The models as a pandas frame if pandas is installed, else as a Polars frame, else as an Arrow table."""
        from dissensus.frames import columns_of, frame_of

        columns = columns_of(type(self.models[0]), self.models) if self.models else {}
        if "top" in columns:  # pairs of a name and a number are no column
            columns["top"] = [[name for name, _ in top] for top in columns["top"]]
        return frame_of(columns)

    def __str__(self) -> str:
        return "\n".join([*self.words, *aligned(*self.rows)])

    def _repr_html_(self) -> str:
        return paragraphs(self.words or ("Nothing looks wrong with these predictions.",)) + table(*self.rows)

    @property
    def rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """The heads of the table and its rows."""
        heads = self.models[0].heads if self.models else ()
        return ("model", *heads), [(one.model, *one.cells) for one in self.models]


def warning_sentences(one: ModelSanity) -> tuple[str, ...]:
    """A model’s warnings as sentences that name it, and the remedy."""
    words = tuple(f"{one.model}: {warning}" for warning in one.warnings)
    return (*words, one.remedy) if words and one.remedy else words


def confidence_text(share: float) -> str:
    """A confidence with as many digits as tell it from 0 and 1: 0.74, 0.0012, 0.9996."""
    for digits in (2, 3, 4):
        text = f"{share:.{digits}f}"
        if 0 < float(text) < 1:
            return text
    return f"{share:.2g}"
