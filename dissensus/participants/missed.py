"""Images that all models, all people or everybody get wrong, and what they said instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.participants.grading import Grades
from dissensus.participants.sample import NO_LABEL, Images, Participants
from dissensus.records import MissedImage
from dissensus.records.human import Misser

MOST_SAID = 3


def missed(
    participants: Participants,
    images: Images,
    grades: Grades,
    is_person: Bool[Array, " P"],
    is_model: Bool[Array, " P"],
    classes: Sequence[str],
) -> tuple[MissedImage, ...]:
    """The images that everybody misses, then those that all people miss, then those that all models miss.

    All people miss an image if everybody asked does; where several people answer, at least two must have been asked.
    Those who were asked about no image at all do not count.
    """
    first, asked, takes_part = participants.first, participants.asked, grades.totals > 0
    by_people = _all_miss(grades, is_person, min(2, int((is_person & takes_part).sum())))
    by_models = _all_miss(grades, is_model, int((is_model & takes_part).sum()))
    cases: tuple[tuple[Misser, Bool[Array, " n"]], ...] = (
        ("everybody", by_people & by_models),
        ("all people", by_people & ~by_models),
        ("all models", by_models & ~by_people),
    )
    return tuple(
        MissedImage(
            item=images.items[image],
            test_set=images.sets[int(images.test_set[image])],
            missed_by=who,
            truth=classes[int(images.truth[image])],
            right=_right(images, image, classes),
            people_said=_said(first[is_person & asked[:, image], image], classes),
            models_said=_said(first[is_model & asked[:, image], image], classes),
        )
        for who, is_so in cases
        for image in np.flatnonzero(is_so).tolist()
    )


def _all_miss(grades: Grades, of: Bool[Array, " P"], least: int) -> Bool[Array, " n"]:
    asked = grades.counts[of].sum(axis=0)
    return (asked >= max(least, 1)) & ~grades.right[of].any(axis=0)


def _right(images: Images, image: int, classes: Sequence[str]) -> tuple[str, ...]:
    if images.right is None:
        return (classes[int(images.truth[image])],)
    start, end = images.right.start[image : image + 2].tolist()
    return tuple(classes[label] for label in images.right.label[start:end].tolist())


def _said(labels: Int[Array, " k"], classes: Sequence[str]) -> tuple[str, ...]:
    counted = Counter(label for label in labels.tolist() if label != NO_LABEL)
    each = sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:MOST_SAID]
    return tuple(f"{classes[label]} ({count})" if count > 1 else classes[label] for label, count in each)
