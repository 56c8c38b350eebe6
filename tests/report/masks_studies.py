"""Competitions of maps made up for the page: drawn scenes, models that err in their own ways, people who never do."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from dissensus.records import VOID, AttackMatrices, Provenance, Ranking, Standing, class_colours
from dissensus.report.data import AttackDuel, Benchmark
from dissensus.report.masks.data import MasksReport, ShownAttack, ShownImage
from dissensus.report.pictures import data_uri

SHAPES = ("disc", "crate", "sail", "star", "bar", "ring")
SMALL = (60, 40)
"""Width and height of a map; photos are four times as large."""


def scene(seed: int, classes: int, size: tuple[int, int]) -> tuple[Image.Image, np.ndarray, list[np.ndarray]]:
    """A photo of some objects, its truth, and the place of every object; all from the seed."""
    rng = np.random.default_rng(seed)
    width, height = size
    sky, ground = rng.integers(90, 220, 3), rng.integers(40, 160, 3)
    fade = np.linspace(0, 1, 4 * height)[:, None, None]
    noise = rng.normal(0, 26, (4 * height, 4 * width, 1))
    photo = Image.fromarray(np.clip(sky * (1 - fade) + ground * fade + noise, 0, 255).astype(np.uint8))
    photo = photo.filter(ImageFilter.GaussianBlur(1.2))
    truth, places = np.zeros((height, width), np.uint8), []
    for _ in range(int(rng.integers(1, 4))):
        label = int(rng.integers(1, classes))
        half = rng.uniform(0.12, 0.32) * height
        x, y = rng.uniform(half, width - half), rng.uniform(half, height - half)
        stencil = Image.new("L", (4 * width, 4 * height), 0)
        corners = _corners(SHAPES[(label - 1) % len(SHAPES)], 4 * x, 4 * y, 4 * half)
        pen = ImageDraw.Draw(stencil)
        pen.polygon(corners, fill=255)
        fill = Image.new("RGB", stencil.size, tuple(int(v) for v in rng.integers(30, 235, 3)))
        photo.paste(fill, mask=stencil.filter(ImageFilter.GaussianBlur(1)))
        place = np.asarray(stencil.resize(size, Image.Resampling.NEAREST)) > 0
        truth[place] = label
        places.append(place)
    return photo, truth, places


def _corners(shape: str, x: float, y: float, half: float) -> list[tuple[float, float]]:
    sides = {"disc": 40, "crate": 4, "sail": 3, "star": 10, "bar": 4, "ring": 24}[shape]
    turns = np.linspace(0, 2 * np.pi, sides, endpoint=False) + (np.pi / 4 if sides == 4 else -np.pi / 2)
    reach = [half * (0.45 if shape == "star" and i % 2 else 1.0) for i in range(sides)]
    flat = 0.35 if shape == "bar" else 1.0
    return [(x + r * np.cos(t), y + flat * r * np.sin(t)) for r, t in zip(reach, turns, strict=True)]


def erring(truth: np.ndarray, places: Sequence[np.ndarray], classes: int, errors: float, seed: int) -> np.ndarray:
    """The truth as a model sees it: objects confused, overlooked, cut, too fat, or seen where there are none."""
    rng = np.random.default_rng(seed)
    seen = truth.copy()
    for place in places:
        label = seen[place].max(initial=0)
        if rng.random() > errors:
            moved = np.roll(place, rng.integers(-1, 2, 2), (0, 1))
            seen[place & ~moved], seen[moved] = 0, label
            continue
        kind = rng.integers(4)
        if kind == 0:
            seen[place] = rng.integers(1, classes)
        elif kind == 1:
            seen[place] = 0
        elif kind == 2:
            seen[place & (np.arange(truth.shape[1]) > np.nonzero(place)[1].mean())] = rng.integers(0, classes)
        else:
            for shift in ((3, 0), (-3, 0), (0, 4), (0, -4)):
                seen[np.roll(place, shift, (0, 1))] = label
    if rng.random() < errors / 2:
        top, left = rng.integers(0, truth.shape[0] - 10), rng.integers(0, truth.shape[1] - 12)
        seen[top : top + 10, left : left + 12] = rng.integers(1, classes)
    return seen


def miou(reference: np.ndarray, other: np.ndarray, classes: int) -> float:
    """Mean intersection over union of the classes in either map."""
    counts = np.bincount(reference.ravel().astype(int) * classes + other.ravel(), minlength=classes * classes)
    table = counts.reshape(classes, classes)
    union = table.sum(0) + table.sum(1) - np.diag(table)
    return float((np.diag(table)[union > 0] / union[union > 0]).mean())


def overlay(labels: np.ndarray, times: int = 2) -> str:
    """A map as an indexed PNG in the colours of the classes, transparent where there is background."""
    image = Image.fromarray(np.kron(labels, np.ones((times, times), np.uint8)).astype(np.uint8), "P")
    image.putpalette([part for colour in class_colours() for part in colour])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True, transparency=bytes([0] + [255] * 255))
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


@cache
def mask_study(
    models: int = 4, categories: int = 6, pool: int = 80, question: str = "mask", size: tuple[int, int] = SMALL
) -> MasksReport:
    """The whole of the competition: least agreement per category of the defender, scores, matrices, two rankings."""
    classes, names = categories + 1, tuple(f"net-{i + 1:02d}" for i in range(models))
    scenes = [scene(1000 + i, classes, size) for i in range(pool)]
    errors = np.linspace(0.25, 0.7, models)
    maps = [
        [erring(truth, places, classes, errors[m], 97 * i + m) for m in range(models)]
        for i, (_, truth, places) in enumerate(scenes)
    ]
    picked = selected(maps, models, classes)
    used = sorted({item for rows in picked.values() for _, item, _ in rows})
    scores = np.array([[miou(scenes[i][1], seen, classes) for seen in maps[i]] for i in used]).reshape(-1, models)
    associated = np.zeros(scores.shape, bool)
    for pair, rows in picked.items():
        for _, item, _ in rows:
            associated[used.index(item), list(pair)] = True
    duels = [duel(names, pair, rows, maps, scores, used, question) for pair, rows in picked.items()]
    matrix = np.eye(models)
    for one in duels:
        matrix[names.index(one.attacker), names.index(one.defender)] = one.aggressiveness
    met = matrix > 0
    images = tuple(
        shown(f"scene-{i:04d}", scenes[i][0], None if question == "choice" else scenes[i][1], maps[i], names)
        for i in used
    )
    rankings = [
        ranked(names, table, name) for name, table in (("aggressiveness", matrix), ("resistance", 1 / matrix.T))
    ]
    return MasksReport(
        title=f"{models} makers of maps", models=names,
        classes=("background", *(f"{SHAPES[i % 6]}{i // 6 + 1 if i >= 6 else ''}" for i in range(categories))),
        aggressiveness=rankings[0], resistance=rankings[1], words=(),
        matrices=AttackMatrices(matrix, 1 / matrix.T, met, met),
        question=question, measure="miou", images=images, duels=tuple(duels),
        scores=None if question == "choice" else scores, scored=() if question == "choice" else tuple(range(len(used))),
        associated=None if question == "choice" else associated, pool_size=pool,
        selected=sum(map(len, picked.values())), questions=len(used), waiting=0, judgements=2 * len(used), annotators=7,
        settings={"task": "masks", "measure": "miou", "per category": "1"},
        notes=("These scenes were drawn by a program, and so were the answers.",),
        benchmarks={
            name: known(names, maps, scenes, classes, ranking)
            for name, ranking in zip(("aggressiveness", "resistance"), rankings, strict=True)
        },
    )  # fmt: skip


Picked = dict[tuple[int, int], list[tuple[int, int, float]]]


def selected(maps: Sequence[Sequence[np.ndarray]], models: int, classes: int) -> Picked:
    """By attacker and defender: (category, item, agreement), no item twice in a duel."""
    agreement = np.ones((models, models, len(maps)))
    for i in range(models):
        for j in range(i):
            agreement[i, j] = agreement[j, i] = [miou(seen[i], seen[j], classes) for seen in maps]
    has = np.array([[[label in seen[m] for label in range(classes)] for seen in maps] for m in range(models)])
    picked: Picked = {}
    for i in range(models):
        for j in range(models):
            rows: list[tuple[int, int, float]] = []
            for label in range(1, classes if i != j else 1):
                taken = {item for _, item, _ in rows}
                able = [n for n in np.flatnonzero(has[j, :, label]) if n not in taken]
                if able:
                    item = int(min(able, key=lambda n: agreement[i, j, n]))
                    rows.append((label, item, float(agreement[i, j, item])))
            if i != j:
                picked[i, j] = rows
    return picked


def duel(
    names: Sequence[str], pair: tuple[int, int], rows: Sequence[tuple[int, int, float]],
    maps: Sequence[Sequence[np.ndarray]], scores: np.ndarray, used: Sequence[int], question: str,
) -> AttackDuel[ShownAttack]:  # fmt: skip
    attacks = []
    for label, item, agreement in rows:
        one, other = (float(scores[used.index(item), m]) for m in pair)
        answers = "drawn, checked"
        if question == "choice":
            votes = int(np.clip(round(3 + 6 * (one - other)), 0, 6))
            one, other, answers = votes / 6, 1 - votes / 6, f"{votes} of 6 chose the attacker"
        share = float((maps[item][pair[1]] == label).mean())
        attacks.append(ShownAttack(label, used.index(item), agreement, share, one, other, answers))
    means = [np.mean([getattr(a, f"{role}_score") for a in attacks] or [1.0]) for role in ("attacker", "defender")]
    ratio = float((means[0] + 0.01) / (means[1] + 0.01))
    return AttackDuel(names[pair[0]], names[pair[1]], tuple(attacks), ratio, 1 / ratio)


def shown(
    item: str, photo: Image.Image, truth: np.ndarray | None, seen: Sequence[np.ndarray], names: Sequence[str]
) -> ShownImage:
    every = [*seen, *([] if truth is None else [truth])]
    labels = tuple(int(v) for v in np.unique(np.concatenate([one.ravel() for one in every])) if v not in (0, VOID))
    drawn = None if truth is None else overlay(truth)
    return ShownImage(item, data_uri(photo)[0], drawn, dict(zip(names, map(overlay, seen), strict=True)), labels)


def ranked(names: Sequence[str], matrix: np.ndarray, measure: str) -> Ranking:
    strength = np.log(matrix).mean(1)
    spread = 0.12 + 0.02 * np.arange(len(names)) % 3
    low, high = strength - spread, strength + spread
    standings = tuple(
        Standing(
            model=names[m], strength=strength[m], low=low[m], high=high[m],
            rank_low=1 + int((low > high[m]).sum()), rank_high=len(names) - int((high < low[m]).sum()),
            may_be_first=not (low > high[m]).any(),
        )
        for m in np.argsort(-strength)
    )  # fmt: skip
    return Ranking(
        standings=standings, words=(f"{standings[0].model} is first in most resamples.",), cyclic_share=0.04,
        degenerate_resamples=0, fragility=None,
        provenance=Provenance(
            method="thurstone", parameters={"resamples": 200, "level": 0.95, "measure": measure},
            inputs={"pool": "sha256:" + "3c" * 32, "answers": "sha256:" + "d1" * 32}, seed=5, package="dissensus 0.1.0",
        ),
    )  # fmt: skip


def known(
    names: Sequence[str], maps: Sequence[Sequence[np.ndarray]], scenes: Sequence[tuple], classes: int, ranking: Ranking
) -> Benchmark:
    """mIoU over the whole pool, which a competition does without."""
    values = {
        name: float(np.mean([miou(one[1], seen[m], classes) for one, seen in zip(scenes, maps, strict=True)]))
        for m, name in enumerate(names)
    }
    best, order = sorted(names, key=lambda name: -values[name]), [s.model for s in ranking.standings]
    places = [[row.index(name) for name in names] for row in (best, order)]
    srcc = float(np.corrcoef(*places)[0, 1]) if len(names) > 2 else None
    difference = {name: best.index(name) - order.index(name) for name in names}
    return Benchmark(
        "mIoU on 80 drawn scenes", values, {n: best.index(n) + 1 for n in names}, difference, srcc, len(maps)
    )


def unjudged(data: MasksReport, attackers: Sequence[str]) -> MasksReport:
    """The same study before anybody judged the attacks of some models; all of them, and there is no score at all."""
    silent = np.isin(data.models, attackers)[:, None]
    duels = tuple(
        replace(
            one, shown=tuple(replace(a, attacker_score=None, defender_score=None, answers="") for a in one.shown),
            aggressiveness=None, resistance=None,
        ) if one.attacker in attackers else one
        for one in data.duels
    )  # fmt: skip
    left = sorted({a.image for one in duels for a in one.shown if a.attacker_score is not None})
    images = tuple(one if n in left else replace(one, truth=None) for n, one in enumerate(data.images))
    m = data.matrices
    matrices = AttackMatrices(
        np.where(silent, 0, m.aggressiveness), np.where(silent.T, 0, m.resistance), m.attacked & ~silent,
        m.defended & ~silent.T,
    )  # fmt: skip
    scores, associated = (None if table is None else table[left] for table in (data.scores, data.associated))
    return replace(
        data, duels=duels, images=images, matrices=matrices, scores=scores, associated=associated, scored=tuple(left),
        waiting=data.questions - len(left), judgements=2 * len(left),
    )  # fmt: skip
