"""Competitions of scores made up for the page: real scores and real pictures, people who do not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from scores_photographs import QUALITY_MODELS, photographs, raw_scores

from dissensus.records import AttackMatrices, Provenance, Ranking, Standing
from dissensus.report.data import AttackDuel, Benchmark
from dissensus.report.pictures import data_uri
from dissensus.report.scores.data import DuelFigure, ScoresReport, Screenings, ShownPair, Side, Subject

Picture = Callable[[int], tuple[str | None, bool]]


def on_scale(raw: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """The same order on the scale of people: the n-th smallest score becomes the n-th smallest quality."""
    scores = np.empty_like(raw)
    scores[np.argsort(raw, kind="stable")] = np.sort(quality)
    return scores


@cache
def photo_study() -> ScoresReport:
    """Eight measures of image quality over three hundred distorted photographs."""
    ids, pictures, originals, quality = photographs()
    raw = np.array([raw_scores(*both) for both in zip(pictures, originals, strict=True)]).T
    scores = np.array([on_scale(row, quality) for row in raw])
    made = cache(lambda item: data_uri(pictures[item]))
    return competition("Eight measures of image quality", QUALITY_MODELS, scores, quality, ids, made)


def sessions(number: int = 120) -> ScoresReport:
    """Streaming sessions, drawn as strips of coloured bars: wide pictures, three models, three levels."""
    rng = np.random.default_rng(3)
    rates, stalls = rng.integers(0, 5, (number, 5)), rng.choice([0, 2, 4], (number, 5), p=[0.6, 0.25, 0.15])
    switches = np.abs(np.diff(rates, axis=1)).sum(1)
    quality = np.clip(15 + 16 * rates.mean(1) - 3.2 * stalls.sum(1) - 1.5 * switches + 20, 1, 99)
    raw = np.array(
        [rates.mean(1) - 0.05 * stalls.sum(1), 2.0 ** rates.mean(1) - switches, -stalls.sum(1) + rates[:, 4]]
    )
    colours = ("#9e2a2b", "#e09f3e", "#d9c86a", "#5b8e7d", "#1f6f78")

    @cache
    def strip(item: int) -> tuple[str, bool]:
        image = Image.new("RGB", (480, 40), "#dddddd")
        pen, at = ImageDraw.Draw(image), 0
        for rate, stall in zip(rates[item], stalls[item], strict=True):
            pen.rectangle((at, 0, at + 15 * stall, 40), fill="#222222")
            pen.rectangle((at + 15 * stall, 0, at + 15 * stall + 30, 40), fill=colours[rate])
            at += 15 * int(stall) + 32
        return data_uri(image, side=480)

    ids = [f"clip-{i:03d}" for i in range(number)]
    scores = np.array([on_scale(row + rng.normal(0, 1e-6, number), quality) for row in raw])
    return competition("Streaming sessions", ("Liu12", "Yin15", "SQI"), scores, quality, ids, strip, levels=3)


def crowd(models: int = 16, pool: int = 3000, levels: int = 6, seed: int = 1, side: int = 0) -> ScoresReport:
    """Any number of models over a pool of numbers; pictures of noise where they have a side."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(2, 98, pool)
    noise = np.linspace(8, 32, models)
    scores = np.clip(quality + rng.normal(0, 1, (models, pool)) * noise[:, None], 0, 100)
    names = [f"model-{i + 1:02d}" for i in range(models)]

    @cache
    def picture(item: int) -> tuple[str | None, bool]:
        if not side:
            return None, False
        drawn = np.random.default_rng(item).integers(0, 255, (side, side, 3)).astype(np.uint8)
        return data_uri(Image.fromarray(drawn).filter(ImageFilter.GaussianBlur(2)))

    ids = [f"item-{i:05d}" for i in range(pool)]
    return competition(f"{models} models of numbers", names, scores, quality, ids, picture, levels)


def competition(
    title: str, models: Sequence[str], scores: np.ndarray, quality: np.ndarray, ids: Sequence[str],
    picture: Picture, levels: int = 6,
) -> ScoresReport:  # fmt: skip
    """The whole of gMAD: pairs of extremes in every level, answers of people, matrices, two rankings, figures."""
    many, rng = len(models), np.random.default_rng(11)
    edges = np.linspace(0, 100, levels + 1)
    binned = np.clip(np.digitize(scores, edges) - 1, 0, levels - 1)
    attack, defence = np.zeros((levels, many, many)), np.zeros((levels, many, many))
    weight, duels = np.zeros((levels, many, many)), []
    for i in range(many):
        for j in range(many):
            pairs = []
            for k in range(levels if i != j else 0):
                inside = np.flatnonzero(binned[j] == k)
                if len(inside) < 2:
                    continue
                low, high = inside[scores[i, inside].argmin()], inside[scores[i, inside].argmax()]
                said = float(np.clip((quality[high] - quality[low]) / 55 + rng.normal(0, 0.05), -0.97, 0.97))
                weight[k, i, j], attack[k, i, j], defence[k, j, i] = len(inside), said, 1 - abs(said)
                sides = [Side(ids[x], *picture(int(x)), float(scores[i, x]), float(scores[j, x])) for x in (low, high)]
                band = (float(edges[k]), float(edges[k + 1]))
                pairs.append(ShownPair(k, *sides, len(inside), said, answers(said), band=band))
            if i != j:
                a, r = mean(attack, weight)[i, j], mean(defence, weight.transpose(0, 2, 1))[j, i]
                duels.append(AttackDuel(models[i], models[j], tuple(pairs), float(a), float(r)))
    back = weight.transpose(0, 2, 1)
    met = weight.sum(0) > 0
    rankings = [ranked(models, attack, weight, "aggressiveness"), ranked(models, defence, back, "resistance")]
    fewer = [[ranks(mean(m[:n], w[:n])) for n in range(1, levels + 1)] for m, w in ((attack, weight), (defence, back))]
    return ScoresReport(
        title=title, models=tuple(models), aggressiveness=rankings[0], resistance=rankings[1],
        words=disagreements(*rankings), duels=tuple(duels),
        matrices=AttackMatrices(mean(attack, weight), mean(defence, back), met, met.T),
        figures=tuple(drawn(models, scores, i, j) for i in range(many) for j in range(i + 1, many)),
        screenings=screened(rng), levels=tuple(f"{a:.0f} to {b:.0f}" for a, b in pairwise(edges)),
        stability=tuple((n + 1, *(correlation(f[n], f[-1]) for f in fewer)) for n in range(levels)),
        scale="Scores came on the common scale by a logistic curve fitted to 40 calibrated items.",
        pool_size=len(ids), questions=int((weight > 0).sum()), waiting=0, judgements=24 * int((weight > 0).sum()),
        annotators=24, settings={"task": "scores", "levels": str(levels), "width of a level": "100 / levels"},
        notes=("The answers were not given by people: they are made up from the strength of each distortion.",),
        benchmarks={
            name: known(models, scores, quality, ranking)
            for name, ranking in zip(("aggressiveness", "resistance"), rankings, strict=True)
        },
    )  # fmt: skip


def mean(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (values * weight).sum(0) / np.maximum(weight.sum(0), 1e-9)


def ranks(matrix: np.ndarray) -> np.ndarray:
    return margins(matrix).argsort().argsort()


def margins(matrix: np.ndarray) -> np.ndarray:
    return (matrix - matrix.T).mean(1)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def answers(said: float) -> str:
    high = round(12 + 12 * said)
    return f"24 answers: {high} high, {24 - high} low"


def ranked(models: Sequence[str], values: np.ndarray, weight: np.ndarray, name: str) -> Ranking:
    rng, levels = np.random.default_rng(5), len(values)
    draws = [rng.integers(0, levels, levels) for _ in range(200)]
    resampled = [margins(mean(values[rows], weight[rows])) for rows in draws]
    strength = margins(mean(values, weight))
    low, high = (
        np.minimum(strength, np.quantile(resampled, 0.03, 0)),
        np.maximum(strength, np.quantile(resampled, 0.97, 0)),
    )
    standings = tuple(
        Standing(
            model=models[m], strength=strength[m], low=low[m], high=high[m],
            rank_low=1 + int((low > high[m]).sum()), rank_high=len(models) - int((high < low[m]).sum()),
            may_be_first=not (low > high[m]).any(),
        )
        for m in np.argsort(-strength)
    )  # fmt: skip
    return Ranking(
        standings=standings,
        words=(f"{standings[0].model} is first in most resamples.", f"{standings[-1].model} is last in all of them."),
        cyclic_share=0.06,
        degenerate_resamples=0,
        fragility=None,
        provenance=Provenance(
            method="thurstone", parameters={"resamples": 200, "level": 0.94, "measure": name},
            inputs={"pool": "sha256:" + "5e" * 32, "answers": "sha256:" + "a7" * 32}, seed=5, package="dissensus 0.1.0",
        ),
    )  # fmt: skip


def disagreements(aggressiveness: Ranking, resistance: Ranking) -> tuple[str, ...]:
    places = [[s.model for s in ranking.standings] for ranking in (aggressiveness, resistance)]
    apart = sorted(places[0], key=lambda name: -abs(places[0].index(name) - places[1].index(name)))
    return tuple(
        f"{name} is number {places[0].index(name) + 1} as an attacker and number {places[1].index(name) + 1} as a "
        "defender: look at the pairs by which others falsify it."
        for name in apart[:2]
        if places[0].index(name) != places[1].index(name)
    )


def drawn(models: Sequence[str], scores: np.ndarray, i: int, j: int, squares: int = 50) -> DuelFigure:
    counts = np.histogram2d(scores[j], scores[i], bins=squares, range=[[0, 100], [0, 100]])[0].astype(np.int64)
    return DuelFigure(models[i], models[j], counts)


def screened(rng: np.random.Generator) -> Screenings:
    people = [
        Subject(f"viewer {n + 1:02d}", 180, int(rng.poisson(2.5)), None, float(rng.normal(0, 4)),
                float(rng.uniform(9, 19)), "")
        for n in range(22)
    ]  # fmt: skip
    people.append(Subject("viewer 23", 180, 31, "17.2 % of the answers are outliers", -3.1, 58.4, "close to chance"))
    people.append(Subject("viewer 24", 12, 0, None, None, None, "too few answers for an estimate"))
    words = ("BT.500 removed one person and 61 single answers.", "P.910 converged in 14 rounds and kept all answers.")
    return Screenings("BT.500", tuple(people), words, 0.991)


def known(models: Sequence[str], scores: np.ndarray, quality: np.ndarray, ranking: Ranking) -> Benchmark:
    """Correlation with all opinions, which a competition does without."""
    values = {name: correlation(scores[m], quality) for m, name in enumerate(models)}
    best, order = sorted(models, key=lambda name: -values[name]), [s.model for s in ranking.standings]
    difference = {name: best.index(name) - order.index(name) for name in models}
    srcc = correlation(np.array([best.index(m) for m in models]), np.array([order.index(m) for m in models]))
    return Benchmark(
        "correlation with MOS", values, {n: best.index(n) + 1 for n in models}, difference, srcc, len(quality)
    )
