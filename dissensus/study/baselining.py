"""People as a baseline for models, from labels in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.errors import ParticipantError, quoted

if TYPE_CHECKING:
    from dissensus.participants.sample import Subset
    from dissensus.records import HumanResult


def human_baseline(
    predictions: Mapping[str, Any],
    truth: Sequence[Any],
    people: Sequence[str] = (),
    right: Sequence[Collection[Any]] | None = None,
    *,
    reviewed: Sequence[Collection[Any]] | None = None,
    alternatives: Mapping[str, Any] | None = None,
    asked: Mapping[str, Sequence[bool]] | None = None,
    seconds: Mapping[str, Sequence[float]] | None = None,
    test_set: Sequence[str] | None = None,
    problematic: Sequence[bool] | None = None,
    keeps_problematic: bool = False,
    subsets: Mapping[str, Collection[Any]] | None = None,
    classes: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> HumanResult:
    """How accurate people and models are on the same images, who is really above whom, and where people are better.

    Args:
        predictions: Labels of every participant, person or model, in the order of the true labels: one per image, or
            up to five in columns, the best first. None or −1 is no label, which counts as wrong.
        truth: The original label of every image.
        people: Names of the participants who are people.
        right: All labels that are right for each image, for multi-label accuracy. Images without any are left out.
        reviewed: All labels that somebody judged for each image; other first labels count as wrong, and are reported.
        alternatives: By person: the class of the main subject where a label names something beside it, or the nearest
            class where none fits.
        asked: By person: which images they were asked about; all by default.
        seconds: By person: active time for every image; None or NaN if unknown.
        test_set: Name of the test set of every image, if there are several.
        problematic: Images unsuitable for a test. They are left out, with those whose original label was reviewed and
            is not right, unless `keeps_problematic`.
        subsets: Classes of each subset by its name, such as dogs.
        classes: Names of all classes, if labels are names or numbers of them.
        items: Names of the images.
        level: Confidence level of all intervals and tests.
        resamples: Random draws of classes for the tests of subsets.
        seed: Of the draws.

    Raises:
        ParticipantError: labels cannot be read, or do not fit together.

    Example:
        >>> said = {"ann": ["cat", "dog", "dog"], "net": ["cat", "cat", "dog"]}
        >>> human_baseline(said, ["cat", "dog", "dog"], people=["ann"]).accuracy("ann").right
        3
    """
    from dissensus.participants.findings import result_of
    from dissensus.participants.sample import MOST_LABELS, NO_LABEL, Images, LabelSets, Participants

    right, reviewed = (None if sets is None else [_listed(one) for one in sets] for sets in (right, reviewed))
    subsets = {name: _listed(one) for name, one in (subsets or {}).items()}
    everything = [truth, *predictions.values(), *(alternatives or {}).values(), *(right or ()), *(reviewed or ())]
    everything += list(subsets.values())
    numbers = _Classes(classes, everything)
    names, count = tuple(predictions), len(truth)
    _require_names(names, {"people": people, "alternatives": alternatives, "asked": asked, "seconds": seconds})
    top5 = np.full((len(names), count, MOST_LABELS), NO_LABEL, np.int64)
    has_more = False
    for row, name in enumerate(names):
        labels = numbers.of(predictions[name], f"labels of {name}")
        if labels.ndim not in (1, 2) or len(labels) != count or (labels.ndim == 2 and labels.shape[1] > MOST_LABELS):
            raise ParticipantError(
                f"{name} has labels of shape {labels.shape} for {count:,} images: give one to five each"
            )
        has_more |= labels.ndim == 2
        top5[row, :, : 1 if labels.ndim == 1 else labels.shape[1]] = labels.reshape(count, -1)
    first = top5[..., 0].copy()
    for row, name in enumerate(names):
        if np.asarray(predictions[name]).ndim == 1 and name not in people:
            top5[row] = NO_LABEL  # further labels are unknown, so that top-5 accuracy is not defined
    sets = tuple(dict.fromkeys(map(str, test_set))) if test_set is not None else ("all images",)
    where = None if test_set is None else np.array([sets.index(str(one)) for one in test_set], np.int64)
    original = numbers.of(truth, "true labels")
    images = Images(
        tuple(map(str, items)) if items is not None else tuple(map(str, range(count))),
        original,
        np.zeros(count, np.int64) if where is None else where,
        sets,
        None if right is None else LabelSets.of(numbers.of(one, "right labels").tolist() for one in right),
        None if reviewed is None else LabelSets.of(numbers.of(one, "reviewed labels").tolist() for one in reviewed),
        None if problematic is None else np.asarray(problematic, bool),
    )
    participants = Participants(
        names,
        np.array([name in people for name in names], bool),
        first,
        top5 if has_more else None,
        None if alternatives is None else _rows(names, alternatives, count, NO_LABEL, numbers),
        None if asked is None else _filled(names, asked, count, True),
        None if seconds is None else _filled(names, seconds, count, np.nan),
    )
    parts = [_subset(name, numbers.of(one, f"subset {name}"), original, len(numbers)) for name, one in subsets.items()]
    return result_of(participants, images, parts, numbers.names, level, resamples, seed, keeps_problematic)


class _Classes:
    """Numbers of labels that are given as names or numbers."""

    def __init__(self, names: Sequence[str] | None, labels: Sequence[Any]) -> None:
        if names is None:
            given = {
                label for column in labels if not _is_whole(column) for label in np.ravel(np.asarray(column, object))
            }
            given = {label for label in given if label is not None and label == label}  # noqa: PLR0124 (NaN)
            if any(isinstance(label, str) for label in given):
                names = sorted(map(str, given - {-1}))
            else:
                highest = max((int(np.max(column, initial=0)) for column in labels if _is_whole(column)), default=0)
                names = [str(number) for number in range(max([highest, *map(int, given)]) + 1)]
        self.names = tuple(map(str, names))
        self._number = {name: number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def of(self, labels: Any, what: str) -> np.ndarray:
        """Class numbers of some labels, −1 for None, NaN and −1.

        Raises:
            ParticipantError: a label is not a class.
        """
        if _is_whole(labels):
            found = np.asarray(labels, np.int64)
        else:
            array = np.asarray(labels, object)
            found = np.array([self._one(label, what) for label in array.ravel()], np.int64).reshape(array.shape)
        if found.size and (found.min() < -1 or found.max() >= len(self)):
            raise ParticipantError(f"{what}: class {found.max()} is not one of the {len(self):,} classes")
        return found

    def _one(self, label: Any, what: str) -> int:
        if label is None or label != label:  # noqa: PLR0124 (NaN)
            return -1
        if isinstance(label, str):
            if label not in self._number:
                raise ParticipantError(f"{what}: {quoted(label)} is not a class: check the spelling")
            return self._number[label]
        try:
            return int(label)
        except (TypeError, ValueError):
            raise ParticipantError(f"{what}: {quoted(label)} is neither a name nor the number of a class") from None


def _listed(labels: Collection[Any]) -> Any:
    """Labels that NumPy can read: a set becomes a list."""
    return list(labels) if isinstance(labels, Set) else labels


def _is_whole(labels: Any) -> bool:
    """Whether labels are an array, or a list, of whole numbers only."""
    return bool(np.issubdtype(getattr(labels, "dtype", np.dtype(object)), np.integer))


def _require_names(names: Sequence[str], given: Mapping[str, Any]) -> None:
    for what, some in given.items():
        unknown = [name for name in some or () if name not in names]
        if unknown:
            raise ParticipantError(
                f"{what} names {quoted(unknown[0])}, who has no labels: give predictions of that name"
            )


def _rows(names: Sequence[str], given: Mapping[str, Any], count: int, missing: int, numbers: _Classes) -> np.ndarray:
    found = np.full((len(names), count), missing, np.int64)
    for row, name in enumerate(names):
        if name in given:
            found[row] = _of_length(
                numbers.of(given[name], f"alternatives of {name}"), count, f"alternatives of {name}"
            )
    return found


def _filled(names: Sequence[str], given: Mapping[str, Sequence[Any]], count: int, missing: Any) -> np.ndarray:
    """One row for everybody, with a value for those who have none."""
    found = np.full((len(names), count), missing)
    for row, name in enumerate(names):
        if name in given:
            values = [missing if one is None else one for one in given[name]]
            found[row] = _of_length(np.asarray(values, found.dtype), count, name)
    return found


def _of_length(values: np.ndarray, count: int, what: str) -> np.ndarray:
    if values.shape != (count,):
        raise ParticipantError(f"{what} has {values.size:,} values for {count:,} images: give one per image")
    return values


def _subset(name: str, members: np.ndarray, truth: np.ndarray, classes: int) -> Subset:
    from dissensus.participants.subsets import class_subset

    if (members < 0).any():
        raise ParticipantError(f"subset {name} has no label in place of a class: give classes only")
    inside = np.zeros(classes, bool)
    inside[members] = True
    return class_subset(name, inside, truth)


def write_human_page(
    result: HumanResult,
    path: str | Path | None = None,
    figures: str | Path | None = None,
    pictures: Mapping[str, str] | None = None,
) -> Path | None:
    """Write the page about people and models, and every figure (SVG, PDF, CSV) and table (CSV) to a folder.

    `pictures` are data URIs of missed images, by item.
    """
    from dissensus.report.human.page import human_page
    from dissensus.steps.writing import write_page

    return write_page(human_page(result, pictures=pictures or {}), path, figures)
