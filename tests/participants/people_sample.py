"""Simulated people and models with planted skills, for the tests of several parts."""

from __future__ import annotations

import numpy as np

from dissensus.participants.sample import Images, LabelSets, Participants, Subset
from dissensus.participants.subsets import class_subset


def planted(
    n: int = 600, classes: int = 60, models: int = 4, seed: int = 0, careless: bool = True
) -> tuple[Participants, Images, list[Subset], list[str]]:
    """Five people, bad at dogs (the first fifth of the classes) but robust; models lose on the new set.

    Person E is fast and careless. Three images in ten have a second right label, which models like.
    """
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % classes)
    test_set = np.arange(n) % 2
    dogs = np.arange(classes) < classes // 5
    has_two = rng.random(n) < 0.3
    right = [
        {int(one), int((one + 1) % classes)} if two else {int(one)} for one, two in zip(truth, has_two, strict=True)
    ]
    labels, seconds = [], []
    for person in range(5):
        skill = np.where(dogs[truth], 0.75, 0.97) * (0.6 if careless and person == 4 else 1.0)
        labels.append(np.where(rng.random(n) < skill, truth, (truth + 7) % classes))
        seconds.append(np.exp(rng.normal(3.2, 0.6, n)) * (0.05 if careless and person == 4 else 1.0))
    for model in range(models):
        known = rng.random(n) < np.where(test_set == 0, 0.93, 0.83) - 0.03 * model
        label = np.where(known & has_two & (rng.random(n) < 0.5), (truth + 1) % classes, truth)
        labels.append(np.where(known, label, (truth + 5) % classes))
        seconds.append(np.full(n, np.nan))
    said = np.array(labels)
    who = ("A", "B", "C", "D", "E", *(f"net{model}" for model in range(models)))
    participants = Participants(who, np.arange(len(who)) < 5, said, seconds=np.array(seconds))
    reviewed = LabelSets.of(one | set(said[:, image].tolist()) for image, one in enumerate(right))
    images = Images(
        tuple(f"{image}.jpg" for image in range(n)), truth, test_set, ("original", "new"), LabelSets.of(right), reviewed
    )
    return (
        participants,
        images,
        [class_subset("dogs", dogs, truth), class_subset("without dogs", ~dogs, truth)],
        [f"class {one}" for one in range(classes)],
    )
