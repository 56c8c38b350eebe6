"""Studies made up for the page: digits of scikit-learn, classifiers that err in a digit-like way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from dissensus.records import Fragility, Judgement, Provenance, Ranking, Standing, Tally
from dissensus.report.data import Benchmark
from dissensus.report.labels.data import JudgedLabel, LabelDuel, LabelsReport, Shown
from dissensus.report.pictures import data_uri

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
DIGITS_MODELS = (
    "support vectors (RBF)",
    "k nearest neighbours",
    "extra trees",
    "logistic regression",
    "nearest centroid",
    "Gaussian naive Bayes",
    "decision tree",
)


digits = cache(load_digits)


@cache
def picture(item: int) -> tuple[str, bool]:
    pixels = 255 - digits().images[item] * 255 / 16
    return data_uri(Image.fromarray(pixels.astype(np.uint8)))


def predictions(models: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels of M models on 899 digits; the first is right most often."""
    truth = digits().target[898:]
    skill = np.linspace(0.985, 0.8, models)
    hard = rng.uniform(0, 1, len(truth)) ** 0.5
    wrong = (truth + rng.integers(1, 10, (models, len(truth)))) % 10
    right = hard * 0.75 + rng.uniform(0, 0.25, (models, len(truth))) < np.quantile(hard, skill)[:, None] * 0.75 + 0.12
    return truth, np.where(right, truth, wrong)


def study(models: Sequence[str] = DIGITS_MODELS, k: int = 20, seed: int = 7, shown: int | None = None) -> LabelsReport:
    """A whole report: selection, tally, ranking and galleries of made-up classifiers."""
    rng = np.random.default_rng(seed)
    many = len(models)
    truth, labels = predictions(many, rng)
    tally = Tally(*(np.zeros((many, many)) for _ in range(3)))
    duels, asked = [], set()
    for i in range(many):
        for j in range(i + 1, many):
            apart = np.flatnonzero(labels[i] != labels[j])
            chosen = apart[np.argsort(-rng.uniform(0, 1, len(apart)))][:k]
            right = labels[i, chosen] == truth[chosen], labels[j, chosen] == truth[chosen]
            counts = [int(c.sum()) for c in (right[0] & right[1], right[0] & ~right[1], ~right[0] & right[1])]
            tally.both[i, j] = tally.both[j, i] = counts[0]
            tally.only[i, j], tally.only[j, i] = counts[1:]
            tally.neither[i, j] = tally.neither[j, i] = len(chosen) - sum(counts)
            asked |= {(int(x), int(labels[m, x])) for x in chosen for m in (i, j)}
            cards = tuple(card(x, labels[i, x], labels[j, x], truth[x], rng) for x in chosen[:shown])
            duels.append(LabelDuel((models[i], models[j]), cards, len(chosen), (counts[1], counts[2])))
    accuracy = (tally.right + 1) / (tally.items + 2)
    dominance = accuracy / accuracy.T
    ranking = ranked(models, dominance, "perron", rng)
    order = [standing.model for standing in ranking.standings]
    scores = {name: float((labels[m] == truth).mean()) for m, name in enumerate(models)}
    best = sorted(models, key=lambda name: -scores[name])
    return LabelsReport(
        title="Handwritten digits: seven classifiers" if many == 7 else f"{many} classifiers of handwritten digits",
        models=tuple(models),
        ranking=ranking,
        other_rankings={name: ranked(models, dominance ** rng.uniform(0.7, 1.2, dominance.shape), name, rng)
                        for name in ("perron", "hodgerank", "bradley-terry")},
        tally=tally,
        accuracy=accuracy,
        dominance=dominance,
        consensus={name: float(np.clip(scores[name] + rng.normal(0, 0.01), 0, 1)) for name in models},
        stability=(*((n, float(1 - 0.5 * np.exp(-n / 5) * rng.uniform(0.3, 1))) for n in range(1, k)), (k, 1.0)),
        duels=tuple(duels),
        pool_size=len(truth),
        questions=len(asked),
        judgements=len(asked),
        annotators=1,
        discarded=0,
        unreadable=0,
        settings={"task": "labels", "discrepancy": "zero-one", "k": str(k), "confidence threshold": "0.8",
                  "cap per predicted label": "3", "reserves": "10", "majority": "more than 60%"},
        notes=("The answers were not given by people: they come from the data set’s own labels.",),
        benchmark=Benchmark(
            "accuracy on all labels",
            scores,
            {name: best.index(name) + 1 for name in models},
            {name: best.index(name) - order.index(name) for name in models},
            srcc=0.93,
            labels_used=len(truth),
        ),
    )  # fmt: skip


def card(item: int, first: int, second: int, truth: int, rng: np.random.Generator) -> Shown:
    image, pixelated = picture(898 + int(item))
    said = (
        JudgedLabel(
            NAMES[label], bool(label == truth), float(rng.uniform(0.8, 1)), "1 yes" if label == truth else "1 no"
        )
        for label in (first, second)
    )
    return Shown(f"digit-{898 + int(item):04d}", image, pixelated, tuple(said), 1.0)


def ranked(models: Sequence[str], dominance: np.ndarray, method: str, rng: np.random.Generator) -> Ranking:
    values, vectors = np.linalg.eig(dominance)
    strength = np.abs(vectors[:, np.argmax(values.real)].real)
    strength /= strength.sum()
    order = np.argsort(-strength)
    low, high = strength * 0.8, strength * 1.22
    standings = tuple(
        Standing(
            model=models[m], strength=strength[m], low=low[m], high=high[m],
            rank_low=1 + int((low > high[m]).sum()), rank_high=len(models) - int((high < low[m]).sum()),
            may_be_first=not (low > high[m]).any(),
        )
        for m in order
    )  # fmt: skip
    first, second = standings[0].model, standings[1].model
    judgements = tuple(
        Judgement(
            id=f"j{n}", item=f"digit-{900 + n}", label=n, annotator="labels", answer="yes", time="2026-01-05T09:30:00Z"
        )
        for n in range(3)
    )
    return Ranking(
        standings=standings,
        words=(
            f"{first} is first; the judgements cannot exclude a tie with {second}.",
            f"{standings[-1].model} is last in every resample.",
            "The consensus of the models, which needs no people, gives nearly the same order.",
        ),
        cyclic_share=0.083,
        degenerate_resamples=3,
        fragility=Fragility(leader=first, next_leader=second, judgements=judgements, is_smallest=True),
        provenance=Provenance(
            method=method,
            parameters={"resamples": 1000, "level": 0.95, "laplace": 1.0},
            inputs={"pool": "sha256:" + "5e" * 32, "judgements": "sha256:" + "a7" * 32},
            seed=20260105,
            package="dissensus 0.1.0",
        ),
    )


def many_models(models: int = 46) -> LabelsReport:
    """A crowd, one of them with a very long name."""
    kinds = ("resnet", "vgg", "densenet", "efficientnet", "convnext", "mobilenet", "inception", "squeezenet")
    names = [f"{kinds[i % len(kinds)]}{18 + i}_{'bn' if i % 2 else 'a1'}" for i in range(models)]
    names[3] = "wsl_resnext101_32x48d_pretrained_on_940_million_public_images_with_1500_hashtags_finetuned"
    return study(names, k=30)


def apart(data: LabelsReport) -> LabelsReport:
    """The same study, its last model never judged against another."""
    last = data.ranking.standings[-1]
    lost = data.models.index(last.model)
    keep = np.ones(len(data.models))
    keep[lost] = 0
    mask = np.outer(keep, keep)
    many = len(data.models)
    last = last.model_copy(update={"may_be_first": True})
    alone = last.model_copy(
        update={"strength": None, "low": None, "high": None, "rank_low": 1, "rank_high": many, "may_be_first": True}
    )
    return replace(
        data,
        ranking=data.ranking.model_copy(
            update={"standings": (*data.ranking.standings[:-1], alone), "cyclic_share": None}
        ),
        tally=Tally(data.tally.only * mask, data.tally.both * mask, data.tally.neither * mask),
        duels=tuple(duel for duel in data.duels if last.model not in duel.models),
    )
