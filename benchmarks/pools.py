"""Pools of real classifiers whose truth is known, and simulated ones, for the benchmarks of `planning/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from dissensus.arrays import Array, Bool, Float, Int, UInt16
from dissensus.planning.cases import Cases, cases_of, patterns_of, votes_of
from dissensus.planning.replay import Recorded, recorded

LABELS = 1 << 16
STRONG = ("senet154", "nasnetalarge", "pnasnet5large")
COLLECTIONS = {"emotion_detection": 1000, "pacs": 1000, "rte": 250, "sst2": 750, "domain_drift": 1000}
"""Items per pool: 1,000, or what leaves about a tenth of a smaller collection out."""


@dataclass(frozen=True)
class Pool:
    """What the models predict for every item, and whether they are right."""

    labels: UInt16[Array, "M N"]
    right: Bool[Array, "M N"]

    @property
    def accuracy(self) -> Float[Array, " M"]:
        return np.asarray(self.right.mean(axis=1))

    @property
    def is_best(self) -> Bool[Array, " M"]:
        total = self.right.sum(axis=1)
        return np.asarray(total == total.max())

    def take(self, models: Sequence[int] | Int[Array, " m"]) -> Pool:
        return Pool(self.labels[list(models)], self.right[list(models)])

    def cases(self, is_named: bool = False) -> tuple[Cases, Recorded]:
        """The pool as the planner sees it, and the answers to all its questions."""
        votes = votes_of(self.labels, is_named)
        patterns = patterns_of(votes, is_named)
        cases = cases_of(patterns)
        return cases, recorded(cases, patterns.places(votes), self.right)

    def agreement(self) -> Float[Array, " M"]:
        """How often each model predicts what most models predict; with several such labels, one of them."""
        same = np.stack([(self.labels == own).sum(axis=0) for own in self.labels])
        return np.asarray((same == same.max(axis=0)).mean(axis=1))

    def questions(self) -> Int[Array, " N"]:
        """The number of different labels of every item."""
        order = np.sort(self.labels, axis=0)
        return np.asarray(1 + (order[1:] != order[:-1]).sum(axis=0))


@dataclass(frozen=True)
class ImageNet:
    """The 46 classifiers; `judged` is 1 where most raters say that the label is right, 0 where wrong, −1 if unknown."""

    names: list[str]
    labels: UInt16[Array, "M N"]
    judged: Int[Array, "M N"]
    original: Int[Array, " N"]

    @staticmethod
    def read(kit: Path) -> ImageNet:
        with np.load(kit / "imagenet" / "validation_top1.npz") as file:
            names, labels, images = file["models"].tolist(), file["top1"].astype(np.int64), file["image_index"]
            original = file["label"].astype(np.int64)
        with np.load(kit / "imagenet" / "raters_sparse.npz") as file:
            keys = file["item_image"].astype(np.int64) * LABELS + file["item_label"]
            answers = file["answer_names"].tolist()
            yes, no = (
                np.bincount(file["item"][file["answer"] == answers.index(answer)], minlength=len(keys))
                for answer in ("yes", "no")
            )
        order = np.argsort(keys)
        wanted = images.astype(np.int64) * LABELS + labels
        place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
        verdict = np.where(yes > no, 1, np.where(no > yes, 0, -1))[order]
        judged = np.where(keys[order][place] == wanted, verdict[place], -1).astype(np.int8)
        return ImageNet(names, labels.astype(np.uint16), judged, original)

    def pool(self, models: Sequence[int] | Int[Array, " m"]) -> Pool:
        """The images on which the raters decided about every label of these models."""
        return self.known(self.labels[list(models)], self.judged[list(models)])

    @staticmethod
    def known(labels: UInt16[Array, "M N"], judged: Int[Array, "M N"]) -> Pool:
        fit = (judged >= 0).all(axis=0)
        return Pool(labels[:, fit], judged[:, fit] == 1)

    def halves(self) -> tuple[Int[Array, " t"], Int[Array, " r"]]:
        """The models that constants may be chosen by, and those that are reported: the traps are among the latter."""
        trapped = np.array([name.startswith("vgg") or name in STRONG for name in self.names])
        rest = np.random.default_rng(46).permutation(np.flatnonzero(~trapped))
        return np.sort(rest[:23]), np.sort(np.append(np.flatnonzero(trapped), rest[23:]))

    def numbers(self, names: Sequence[str]) -> list[int]:
        return [self.names.index(name) for name in names]

    def traps(self) -> dict[str, Pool]:
        """Sets whose best model is alone among models that resemble each other and are worse.

        The eight VGGs with a better network; and a weak network, seven near-copies of it and a better network. A copy
        has the labels of other reported models on a tenth of the images.
        """
        reported = self.halves()[1]
        family = [number for number, name in enumerate(self.names) if name.startswith("vgg")]
        others = ("inceptionresnetv2", "resnext101_32x4d", "densenet201")
        found = {f"8 VGGs + {name}": self.pool([*family, *self.numbers([name])]) for name in (*STRONG, *others)}
        for weak, strong in (
            ("resnet18", "resnet101"),
            ("inception_v2_tf", "inceptionresnetv2"),
            ("dpn68", "senet154"),
        ):
            rng = np.random.default_rng([46, self.names.index(weak)])
            source = np.tile(self.numbers([weak]), (8, self.labels.shape[1]))
            is_changed = rng.random(source[1:].shape) < 0.1
            source[1:] = np.where(is_changed, rng.choice(reported, source[1:].shape), source[1:])
            source = np.vstack([source, np.full(self.labels.shape[1], self.names.index(strong))])
            labels, judged = (np.take_along_axis(table, source, axis=0) for table in (self.labels, self.judged))
            found[f"8 × {weak} + {strong}"] = self.known(labels, judged)
        return found


def cifar(kit: Path) -> Pool:
    """The 30 models on the test images of CIFAR-10."""
    with np.load(kit / "cifar10" / "cifar10_and_10.1_predictions.npz") as file:
        labels = file["original"].astype(np.uint16)
        return Pool(labels, labels == file["original_labels"])


@dataclass(frozen=True)
class Collection:
    """Classifiers with few classes, and the true class of every item."""

    labels: UInt16[Array, "M N"]
    truth: Int[Array, " N"]

    @staticmethod
    def read(kit: Path, name: str) -> Collection:
        with np.load(kit / "collections" / f"{name}.npz") as file:
            return Collection(file["predictions"].astype(np.uint16), file["truth"].astype(np.int64))

    def take(self, items: Int[Array, " n"]) -> Collection:
        return Collection(self.labels[:, items], self.truth[items])

    @property
    def pool(self) -> Pool:
        return Pool(self.labels, self.labels == self.truth)


def simulated(seed: int) -> Collection:
    """A collection that nobody reports on: 8 to 30 models, 2 to 7 classes, models alike in groups, hard or easy."""
    rng = np.random.default_rng([150, seed])
    models, classes, items = int(rng.integers(8, 31)), int(rng.integers(2, 8)), 1000
    truth, difficulty = rng.integers(classes, size=items), rng.standard_normal(items)
    group = rng.integers(max(models // 5, 2), size=models)
    alike = rng.uniform(0.2, 0.9)
    noise = np.sqrt(alike) * rng.standard_normal((group.max() + 1, items))[group]
    noise += np.sqrt(1 - alike) * rng.standard_normal((models, items))
    level = rng.choice([-0.6, 0.3, 1.0, 1.8])
    skill = level + rng.uniform(0.1, 0.5) * rng.standard_normal(models)
    by_class = rng.choice([0.0, 0.5]) * rng.standard_normal((models, classes))
    margin = skill[:, None] + by_class[:, truth] - difficulty + noise
    usual = (truth + rng.integers(1, classes, size=items)) % classes  # the mistake that most of them make
    other = (truth + rng.integers(1, classes, size=(models, items))) % classes
    wrong = np.where(rng.random((models, items)) < rng.uniform(0.2, 0.9), usual, other)
    return Collection(np.where(margin > 0, truth, wrong).astype(np.uint16), truth)


def hashed(data: ImageNet, seed: int) -> Collection:
    """Classifiers of the half that constants may be chosen by, as a collection with few classes.

    Classes of ImageNet are dealt into few groups, and an image counts as answered by its original label. Every other
    pool has only images on which most models are wrong.
    """
    rng = np.random.default_rng([151, seed])
    tuning = data.halves()[0]
    models = rng.choice(tuning, rng.integers(8, len(tuning) + 1), replace=False)
    classes = int(rng.choice([2, 4, 7, 10]))
    groups = rng.integers(classes, size=1000)
    labels, truth = groups[data.labels[models]].astype(np.uint16), groups[data.original]
    right = (labels == truth).mean(axis=0)
    chance = np.where(right < 0.5, 1.0, 0.25) if seed % 2 else np.ones(len(truth))
    items = rng.choice(len(truth), 1000, replace=False, p=chance / chance.sum())
    return Collection(labels[:, items], truth[items])


def copied(data: ImageNet, seed: int) -> Collection:
    """Many near-copies of few classifiers of the same half, as a collection with few classes.

    A copy has the labels of random other classifiers on 3 to 25 % of the images, so that many are nearly tied.
    """
    rng = np.random.default_rng([153, seed])
    tuning = data.halves()[0]
    models, classes = int(rng.integers(30, 91)), int(rng.choice([2, 2, 4, 7]))
    parents = rng.choice(rng.choice(tuning, rng.integers(6, 13), replace=False), models)
    groups = rng.integers(classes, size=1000)
    items = rng.choice(data.labels.shape[1], rng.choice([250, 500, 1000]), replace=False)
    is_changed = rng.random((models, len(items))) < rng.uniform(0.03, 0.25, size=models)[:, None]
    source = np.where(is_changed, rng.choice(tuning, is_changed.shape), parents[:, None])
    return Collection(groups[data.labels[source, items]].astype(np.uint16), groups[data.original[items]])


def spearman(found: Float[Array, " M"], truth: Float[Array, " M"]) -> float:
    """Rank correlation; nothing is known if all are equal."""
    if np.ptp(found) == 0 or np.ptp(truth) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(found), rankdata(truth))[0, 1])


def credit(scores: Float[Array, " M"], is_best: Bool[Array, " M"]) -> float:
    """Whether the model with the highest score is the best one; equal scores share."""
    return float(is_best[scores >= scores.max() - 1e-9 * max(1.0, abs(scores.max()))].mean())
