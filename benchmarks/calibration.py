"""How often verdicts say too much, and how much they find: simulated studies, each with a fresh pool and fresh people.

    python benchmarks/calibration.py                         # all rows, 400 studies each, two processes
    python benchmarks/calibration.py --studies 50 --only masks
    python benchmarks/calibration.py --level 0.9
    python benchmarks/calibration.py --only scores --method hodgerank
    python benchmarks/calibration.py --bootstrap             # a Bayesian bootstrap for scores and masks, for comparison

Equal models: the share of studies in which any two are separated, by any of the study's rankings; at level 0.95 it
should be at most 5 % for one ranking. Different models: the share of studies with a wrong separation or with the best
model ruled out as first, and the power: the share of pairs that is separated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from multiprocessing import Pool

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.competition import attacks, one_order
from dissensus.competition.attacks import two_orders
from dissensus.competition.standings import Method, Standings
from dissensus.inquiry import NumericAnswers
from dissensus.ranking import Margins, Rows, resampled_margins
from dissensus.records import NO, YES, Attacks, Contests, Outcomes
from dissensus.screening import PairMeans, WeightedAnswers, item_means, pair_means
from dissensus.selection import Cells, extremal_pairs, scan_extremes
from dissensus.tasks.labels.all_answers import decided_outcomes
from dissensus.tasks.masks import standings as masks_standings
from dissensus.tasks.masks.standings import Choices, MaskEvidence
from dissensus.tasks.scores import standings as scores_standings
from dissensus.tasks.scores.levels import even_levels
from dissensus.tasks.scores.standings import PairEvidence

Skill = Float[Array, " M"]
"""The models' true qualities, −1 to 1; the first model is the best."""
Orders = list[Standings]
RESAMPLES = 1000


@dataclass(frozen=True)
class Size:
    """One row of the table: `strata` are items per duel, levels or categories; `people` answer every question."""

    task: str
    models: int
    strata: int
    people: int
    items: int

    @property
    def key(self) -> str:
        return f"{self.task} {self.models}×{self.strata}, {self.people} {'person' if self.people == 1 else 'people'}"


SIZES = (
    Size("labels", 3, 30, 1, 3000),
    Size("labels", 5, 30, 1, 3000),
    Size("labels", 11, 30, 1, 3000),
    Size("all answers", 3, 30, 1, 3000),
    Size("all answers", 5, 30, 1, 3000),
    Size("all answers", 11, 30, 1, 3000),
    Size("half alike, labels", 11, 30, 1, 3000),
    Size("half alike, all answers", 11, 30, 1, 3000),
    Size("scores", 4, 3, 15, 1000),
    Size("scores", 4, 6, 15, 1000),
    Size("scores", 8, 6, 15, 1000),
    Size("scores", 16, 6, 15, 1000),
    Size("scores", 16, 6, 31, 3000),
    Size("ratings", 4, 3, 15, 1000),
    Size("ratings", 4, 6, 15, 1000),
    Size("ratings", 8, 6, 15, 1000),
    Size("ratings", 16, 6, 15, 1000),
    Size("masks", 3, 5, 1, 600),
    Size("masks", 6, 10, 1, 1000),
    Size("masks", 10, 20, 1, 3000),
    Size("choices", 3, 5, 3, 600),
    Size("choices", 6, 10, 3, 1000),
)


def labels(
    rng: np.random.Generator, size: Size, skill: Skill, method: Method, is_all: bool = False, are_alike: bool = False
) -> Orders:
    """Classifiers, judged on the items of their own duels or, if `is_all`, by all answers."""
    outcomes = label_outcomes(rng, size, skill, are_alike)[is_all]
    return [one_order.rank(outcomes, _names(size), method)]


def label_outcomes(
    rng: np.random.Generator, size: Size, skill: Skill, are_alike: bool = False
) -> tuple[Outcomes, Outcomes]:
    """Classifiers of ten classes; a duel's items are drawn from those on which its two models differ.

    The second outcomes are those from all answers. `are_alike`: the first half of the models have four fifths of the
    noise in common, and of the wrong classes.
    """
    truth, difficulty = rng.integers(10, size=size.items), rng.standard_normal(size.items)
    noise = rng.standard_normal((size.models, size.items))
    shift = rng.integers(1, 10, size=noise.shape)
    if are_alike:
        half = slice(-(-size.models // 2))
        noise[half] = np.sqrt(0.8) * rng.standard_normal(size.items) + np.sqrt(0.2) * noise[half]
        same = rng.random(shift[half].shape) < 0.8
        shift[half] = np.where(same, rng.integers(1, 10, size=size.items), shift[half])
    margin = 0.7 + 0.4 * skill[:, None] - 0.8 * difficulty + 0.6 * noise
    said = np.where(margin > 0, truth, (truth + shift) % 10)
    order = rng.permutation(size.items)
    rows = []
    for one, other in combinations(range(size.models), 2):
        items = order[said[one, order] != said[other, order]][: size.strata]
        rows += [(one, other, item, place) for place, item in enumerate(items, start=1)]
    first, second, item, place = np.array(rows).T
    right = said == truth
    own = Outcomes(first, second, item, place, right[first, item], right[second, item])
    asked = np.concatenate([item * 10 + said[first, item], item * 10 + said[second, item]])
    keys, items = np.stack(np.divmod(np.unique(asked), 10), axis=1), np.unique(item)
    verdicts = np.where(keys[:, 1] == truth[keys[:, 0]], YES, NO)
    return own, decided_outcomes(said[:, items].astype(np.uint16), items, keys, verdicts)


def scores(rng: np.random.Generator, size: Size, skill: Skill, method: Method, is_rating: bool = False) -> Orders:
    """Quality plus noise, on scales of ranks; people differ in how far and in which direction they move the slider.

    With ratings, they rate single items instead, with an offset, a range and noise of their own.
    """
    quality = rng.uniform(0, 100, size.items)
    noise = 12 * 1.6 ** -skill[:, None]
    score = quality + noise * rng.standard_normal((size.models, size.items))
    scaled = score.argsort(axis=1).argsort(axis=1) * (100 / (size.items - 1))
    ends = even_levels(size.strata, 28.9, 1, 99)
    cuts = np.unique(ends)
    cells = Cells(np.tile(cuts, (size.models, 1)), np.searchsorted(cuts, ends).astype(np.int64))
    everyone = ~np.eye(size.models, dtype=bool)
    found = extremal_pairs(scan_extremes(scaled, 0, cells, cells.depth(1)), cells, everyone, 1)
    items, pair = np.unique(np.sort(np.stack([found.low, found.high], axis=1), axis=1), axis=0, return_inverse=True)
    pair = pair.ravel()
    preferred = (_rated if is_rating else _compared)(rng, quality, items, size.people)
    sign = np.where(found.high > found.low, 1, -1)
    preference = sign * preferred.value[pair] / 100
    attacks = Attacks(found.attacker, found.defender, found.level, pair, found.weight.astype(float), preference)
    evidence = PairEvidence(attacks, sign, preferred.moved / 100, items)
    return list(two_orders(evidence, _names(size), method).values())


def _compared(rng: np.random.Generator, quality: Float[Array, " N"], pairs: Array, people: int) -> PairMeans:
    """What people say about pairs on a slider."""
    true = 100 * np.tanh((quality[pairs[:, 1]] - quality[pairs[:, 0]]) / 40)
    gain, bias = np.exp(0.2 * rng.standard_normal(people)), 5 * rng.standard_normal(people)
    answers = true[:, None] * gain + bias + 15 * rng.standard_normal((len(pairs), people))
    question, person = np.indices(answers.shape).reshape(2, -1)
    weighed = WeightedAnswers(answers.clip(-100, 100).ravel(), np.ones(answers.size))
    return pair_means(question, person, weighed, len(pairs), people)


def _rated(rng: np.random.Generator, quality: Float[Array, " N"], pairs: Array, people: int) -> PairMeans:
    """What people's ratings of the items say about pairs; everybody rates two thirds of the items."""
    items, sides = np.unique(pairs, return_inverse=True)
    gain, bias = np.exp(0.2 * rng.standard_normal(people)), 10 * rng.standard_normal(people)
    answers = 50 + (quality[items, None] - 50) * gain + bias + 15 * rng.standard_normal((len(items), people))
    question, person = np.nonzero(rng.random(answers.shape) < 2 / 3)
    weighed = WeightedAnswers(answers.clip(0, 100)[question, person], np.ones(len(question)))
    means = item_means(question, person, weighed, len(items), people)
    return means.between(*sides.reshape(pairs.shape).T)


def masks(rng: np.random.Generator, size: Size, skill: Skill, method: Method, is_choice: bool = False) -> Orders:
    """Agreement with the truth, by image and model; the image on which two models agree least, in every category.

    Drawings differ by annotator and image. With choices, people see which of two maps is better if it is much better.
    """
    count = size.items
    category = rng.integers(size.strata, size=count)
    seen = np.where(
        rng.random((size.models, count)) < 0.9, category, rng.integers(size.strata, size=(size.models, count))
    )
    logit = rng.normal(1.3, 0.8, count) + 0.6 * skill[:, None] + 0.7 * rng.standard_normal((size.models, count))
    true = 1 / (1 + np.exp(-logit))
    drawn = true + 0.03 * rng.standard_normal(count) + 0.015 * rng.standard_normal(true.shape)
    pairs = list(combinations(range(size.models), 2))
    alike = {(i, j): true[i] * true[j] + 0.05 * rng.standard_normal(count) for i, j in pairs}
    rows = []
    for attacker, defender in permutations(range(size.models), 2):
        agreement = alike[min(attacker, defender), max(attacker, defender)]
        for number in range(size.strata):
            candidates = np.flatnonzero(seen[defender] == number)
            if len(candidates):
                rows.append((attacker, defender, number, candidates[agreement[candidates].argmin()]))
    attacker, defender, number, image = np.array(rows).T
    weight = np.ones(len(rows))
    if not is_choice:
        ours, theirs = drawn.clip(0, 1)[attacker, image], drawn.clip(0, 1)[defender, image]
        contests = Contests(attacker, defender, number, image, ours, theirs, weight)
        return list(two_orders(MaskEvidence(contests, np.arange(count)), _names(size), method).values())
    both = np.stack([image, np.minimum(attacker, defender), np.maximum(attacker, defender)], axis=1)
    keys, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()
    better = 1 / (1 + np.exp(-8 * (true[keys[:, 1], keys[:, 0]] - true[keys[:, 2], keys[:, 0]])))
    value = (rng.random((len(keys), size.people)) < better[:, None]).astype(float)
    question, person = np.indices(value.shape).reshape(2, -1)
    told = NumericAnswers(question, person, value.ravel(), tuple(map(str, range(size.people))))
    is_first = attacker < defender
    ours = np.where(is_first, value.mean(axis=1)[place], 1 - value.mean(axis=1)[place])
    contests = Contests(attacker, defender, number, place, ours, 1 - ours, weight)
    evidence = MaskEvidence(contests, keys[:, 0], Choices(told, is_first))
    return list(two_orders(evidence, _names(size), method).values())


STUDIES: dict[str, Callable[[np.random.Generator, Size, Skill, Method], Orders]] = {
    "labels": labels,
    "all answers": partial(labels, is_all=True),
    "half alike, labels": partial(labels, are_alike=True),
    "half alike, all answers": partial(labels, is_all=True, are_alike=True),
    "scores": scores,
    "ratings": partial(scores, is_rating=True),
    "masks": masks,
    "choices": partial(masks, is_choice=True),
}
USUAL = {
    "labels": one_order.USUAL,
    "all answers": one_order.USUAL,
    "half alike, labels": one_order.USUAL,
    "half alike, all answers": one_order.USUAL,
    "scores": scores_standings.USUAL,
    "ratings": scores_standings.USUAL,
    "masks": masks_standings.USUAL,
    "choices": masks_standings.USUAL,
}


def verdicts(size: Size, level: float, seed: int, method: str = "") -> dict[str, float]:
    """What one study of equal models and one of different models say, by a ranking method or the task's default."""
    usual = USUAL[size.task]
    chosen = replace(usual, level=level, name=method or usual.name)
    rng = np.random.default_rng([seed, size.models, size.strata])
    equal = STUDIES[size.task](rng, size, np.zeros(size.models), chosen)
    mixed = STUDIES[size.task](rng, size, np.linspace(1, -1, size.models), chosen)
    pairs = size.models * (size.models - 1) / 2
    return {
        "false": float(any(_apart(one) for one in equal)),
        "false, one ranking": float(np.mean([_apart(one) > 0 for one in equal])),
        "wrong": float(np.mean([_wrong(one) for one in mixed])),
        "power": float(np.mean([_apart(one) / pairs for one in mixed])),
        "possible winners": float(np.mean([sum(row.may_be_first for row in one.standings) for one in mixed])),
        "best ruled out": float(np.mean([not _keeps_best(one) for one in mixed])),
    }


@dataclass(frozen=True)
class Bootstrapped:
    """Errors by a Bayesian bootstrap, as earlier versions had them: what was judged and people get random weights.

    A pair or an image has one weight in all its rows, but pairs that share an item have weights of their own.
    """

    estimate: Float[Array, " M"]
    samples: Float[Array, "B M"]

    def margins(self, level: float) -> Margins:
        return resampled_margins(self.estimate, self.samples, level)


def bootstrapped(
    rows: Rows, strengths: Callable[[Float[Array, "B M M"]], Float[Array, "B M"]], entries: Float[Array, "M M"]
) -> Bootstrapped:
    """The strengths of the matrix in 1,000 resamples, in the place of `errors_of`."""
    rng, models = np.random.default_rng(0), len(entries)
    judged = np.unique(np.sort(rows.items, axis=1), axis=0, return_inverse=True)[1].ravel()
    cell = rows.row.astype(np.int64) * models + rows.column
    amount = np.bincount(cell, rows.share, models**2)[cell]
    moved = np.repeat(entries[None], RESAMPLES, axis=0)
    for place in range(RESAMPLES):
        share = rows.share * rng.exponential(size=judged.max() + 1)[judged]
        share *= amount / np.bincount(cell, share, models**2)[cell]
        weight = rng.exponential(size=(len(rows.by_person), 1))
        value = rows.value + (rows.by_person * weight).sum(axis=0)
        change = np.bincount(cell, share * value - rows.share * rows.value, models**2)
        moved[place] += np.maximum(change.reshape(models, models), -0.99 * np.abs(entries))  # ratios stay positive
    return Bootstrapped(strengths(entries[None])[0], strengths(moved))


def _names(size: Size) -> list[str]:
    return [f"m{number:02}" for number in range(size.models)]


def _apart(found: Standings) -> float:
    """Number of pairs of models that are separated."""
    return sum(row.rank_low - 1 for row in found.standings)


def _wrong(found: Standings) -> bool:
    """True if a rank set excludes the true rank, which a model's number tells."""
    return any(not row.rank_low <= int(row.model[1:]) + 1 <= row.rank_high for row in found.standings)


def _keeps_best(found: Standings) -> bool:
    return any(row.may_be_first and row.model == "m00" for row in found.standings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--only", default="", help="rows whose name starts with this, such as 'masks' or 'scores 16'")
    parser.add_argument("--method", default="", help="a ranking method of the task; its default if omitted")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--bootstrap", action="store_true", help="replace the formula for scores and masks")
    given = parser.parse_args()
    if given.bootstrap:
        attacks.errors_of = bootstrapped  # type: ignore[assignment]
    with Pool(given.processes) as pool:
        for size in SIZES:
            if size.key.startswith(given.only):
                found = pool.map(partial(verdicts, size, given.level, method=given.method), range(given.studies))
                means = {name: round(float(np.mean([one[name] for one in found])), 3) for name in found[0]}
                print(json.dumps({"study": size.key} | means), flush=True)


if __name__ == "__main__":
    main()
