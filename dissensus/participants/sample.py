"""People and models on the same images, as arrays: who said what, which labels are right, and subsets of the images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ParticipantError

NO_LABEL = -1
"""No class: a skipped image, 'none of these', or fewer than five labels."""
MOST_LABELS = 5


@dataclass(frozen=True)
class LabelSets:
    """A set of classes for every image; those of image i are `label[start[i]:start[i + 1]]`."""

    start: Int[Array, " n+1"]
    label: Int[Array, " k"]

    @classmethod
    def of(cls, sets: Iterable[Iterable[int]]) -> LabelSets:
        """From one collection of classes per image."""
        each = [sorted(set(one)) for one in sets]
        start = np.concatenate([[0], np.cumsum([len(one) for one in each])]).astype(np.int64)
        return cls(start, np.array([label for one in each for label in one], np.int64))

    @property
    def sizes(self) -> Int[Array, " n"]:
        """Number of classes of every image."""
        return np.diff(self.start)

    def has(self, label: Int[Array, "*rows n"]) -> Bool[Array, "*rows n"]:
        """Whether each label, with images along the last axis, is in the set of its image; NO_LABEL never is."""
        if not len(self.label):
            return np.zeros(np.shape(label), bool)
        keys, images = self._keys, np.arange(len(self.start) - 1)
        wanted = images * self._span + label
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_class = (np.asarray(label) >= 0) & (np.asarray(label) < self._span)
        return is_class & (keys[place] == wanted)

    @property
    def _span(self) -> int:
        return int(self.label.max(initial=0)) + 1

    @cached_property
    def _keys(self) -> Int[Array, " k"]:
        return np.unique(np.repeat(np.arange(len(self.start) - 1), self.sizes) * self._span + self.label)


@dataclass(frozen=True)
class Participants:
    """What people and models say about n images.

    `label` is the first label, NO_LABEL where there is none; `top5` has up to five labels, the first among them, and
    only NO_LABEL for participants whose further labels are unknown. `alternative` is the class a person names for the
    main subject besides the label, or instead of one ('none of these'). `is_asked` says which images count for whom:
    a person is asked about some images, a model about all. `seconds` is active time, NaN where it is unknown.
    """

    names: tuple[str, ...]
    is_person: Bool[Array, " P"]
    label: Int[Array, "P n"]
    top5: Int[Array, "P n 5"] | None = None
    alternative: Int[Array, "P n"] | None = None
    is_asked: Bool[Array, "P n"] | None = None
    seconds: Float[Array, "P n"] | None = None

    @property
    def asked(self) -> Bool[Array, "P n"]:
        """Which images count for whom; all if nothing else is said."""
        return np.ones(self.label.shape, bool) if self.is_asked is None else self.is_asked

    @property
    def first(self) -> Int[Array, "P n"]:
        """The label that is graded: the first, or the alternative of a person who found that none fits."""
        if self.alternative is None:
            return self.label
        return np.where(self.label == NO_LABEL, self.alternative, self.label)

    @property
    def imputed(self) -> Int[Array, "P n"]:
        """The label without escape hatches: the alternative wherever a person names one."""
        return self.label if self.alternative is None else np.where(self.alternative >= 0, self.alternative, self.label)


@dataclass(frozen=True)
class Images:
    """The images: one original label each, the test set each is from, and the labels that reviewers judged.

    `right` are the labels judged right and `reviewed` all labels judged; without a review both are None, and only
    top-1 and top-5 accuracy are defined. `is_problematic` marks images unsuitable for a test (drawings, edited, …);
    images whose original label was judged wrong are found from the review.
    """

    items: tuple[str, ...]
    truth: Int[Array, " n"]
    test_set: Int[Array, " n"]
    sets: tuple[str, ...] = ("all images",)
    right: LabelSets | None = None
    reviewed: LabelSets | None = None
    is_problematic: Bool[Array, " n"] | None = None

    @property
    def is_mislabelled(self) -> Bool[Array, " n"]:
        """Whether the original label was reviewed and found wrong."""
        if self.right is None or self.reviewed is None:
            return np.zeros(len(self.items), bool)
        return self.reviewed.has(self.truth) & ~self.right.has(self.truth)

    @property
    def problematic(self) -> Bool[Array, " n"]:
        """Images that a test should not contain: unsuitable, or with a wrong original label."""
        return self.is_mislabelled if self.is_problematic is None else self.is_mislabelled | self.is_problematic


@dataclass(frozen=True)
class Subset:
    """Some of the images; `classes_in` says which classes they are of, if classes define the subset."""

    name: str
    is_in: Bool[Array, " n"]
    classes_in: Bool[Array, " C"] | None = None


def require_sound(participants: Participants, images: Images, subsets: Sequence[Subset], classes: int) -> None:
    """Check that all arrays fit together.

    Raises:
        ParticipantError: there is nobody or nothing to grade, shapes differ, or a label is not a class.
    """
    names, count = participants.names, len(images.items)
    if not names:
        raise ParticipantError("there are no participants: give the labels of at least one person or model")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParticipantError(f"several participants are called {twice}: give each its own name")
    if not count:
        raise ParticipantError("there are no images to grade: give at least one")
    expected: dict[str, tuple[Array | None, tuple[int, ...]]] = {
        "is_person": (participants.is_person, (len(names),)),
        "label": (participants.label, (len(names), count)),
        "top5": (participants.top5, (len(names), count, MOST_LABELS)),
        "alternative": (participants.alternative, (len(names), count)),
        "is_asked": (participants.is_asked, (len(names), count)),
        "seconds": (participants.seconds, (len(names), count)),
        "truth": (images.truth, (count,)),
        "test_set": (images.test_set, (count,)),
        "is_problematic": (images.is_problematic, (count,)),
        **{f"subset {one.name}": (one.is_in, (count,)) for one in subsets},
    }
    for what, (array, shape) in expected.items():
        if array is not None and array.shape != shape:
            raise ParticipantError(f"{what} has the shape {array.shape}, not {shape}: give one value per image")
    for what, sets in (("right", images.right), ("reviewed", images.reviewed)):
        if sets is not None and len(sets.start) != count + 1:
            raise ParticipantError(f"{what} has label sets for {len(sets.start) - 1:,} images of {count:,}: give all")
    if images.test_set.min() < 0 or images.test_set.max() >= len(images.sets):
        raise ParticipantError(f"an image is from a test set that is not one of {', '.join(images.sets)}")
    labels: dict[str, Array | None] = {
        "label": participants.label,
        "top5": participants.top5,
        "alternative": participants.alternative,
        "truth": images.truth,
        "right": None if images.right is None else images.right.label,
        "reviewed": None if images.reviewed is None else images.reviewed.label,
    }
    for what, array in labels.items():
        if array is not None and array.size and (array.min() < NO_LABEL or array.max() >= classes):
            raise ParticipantError(f"{what} has a class that is not among the {classes:,} classes: check the numbers")
        if array is not None and what in ("truth", "right", "reviewed") and (array == NO_LABEL).any():
            raise ParticipantError(f"{what} has an image with no label in place of a class: give classes only")
