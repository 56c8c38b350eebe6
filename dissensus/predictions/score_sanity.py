"""Are a model's scores sane? Their range, how many differ, and whether they rise and fall with those of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.predictions.doubts import FEWEST, Doubt

CONSTANT = 0.9
"""A model is nearly constant if this share of the items has the same score."""
FEW = 10
"""A model with fewer different scores than this cannot tell most items apart."""
REVERSED = -0.2
"""A mean correlation with the others below this, and none above zero, says that lower is better, not higher; so does
none above chance, if items are few."""
LONE = 0.05
"""A model whose correlation with every other one is smaller than this, up or down, measures something else."""


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of all models on the same items, in numbers. The axis Q is lowest, median, highest."""

    items: Int[Array, " M"]
    spans: Float[Array, "M Q"]
    """Zero for a model without scores."""
    different: Int[Array, " M"]
    most_common: Float[Array, " M"]
    """The share of the items that have a model's most frequent score."""
    correlation: Float[Array, "M M"]
    """Spearman's, on the items that both models score; zero where it is not known."""
    is_comparable: Bool[Array, "M M"]


def score_summary(scores: Float[Array, "M n"], is_lower: Sequence[bool]) -> ScoreSummary:
    """The summary of some scores; NaN stands for none. Where lower is better, the sign is turned for correlations."""
    models = len(scores)
    spans, different, common = np.zeros((models, 3)), np.zeros(models, np.int64), np.zeros(models)
    for model, row in enumerate(scores):
        values, counts = np.unique(row[~np.isnan(row)], return_counts=True)
        if len(values):
            spans[model] = values[0], np.median(row[~np.isnan(row)]), values[-1]
            different[model], common[model] = len(values), counts.max() / counts.sum()
    signs = np.where(np.asarray(is_lower, bool), -1.0, 1.0)[:, None]
    correlation, is_comparable = _spearman(scores * signs)
    return ScoreSummary((~np.isnan(scores)).sum(axis=1), spans, different, common, correlation, is_comparable)


def _spearman(scores: Float[Array, "M n"]) -> tuple[Float[Array, "M M"], Bool[Array, "M M"]]:
    from scipy.stats import rankdata

    models = len(scores)
    found, known = np.zeros((models, models)), np.zeros((models, models), bool)
    for one in range(models):
        for other in range(one + 1, models):
            both = ~(np.isnan(scores[one]) | np.isnan(scores[other]))
            first, second = (rankdata(row[both]) for row in (scores[one], scores[other]))
            spread = first.std() * second.std() if both.sum() >= FEWEST else 0.0
            if spread > 0:
                value = float(((first - first.mean()) * (second - second.mean())).mean() / spread)
                found[one, other] = found[other, one] = value
                known[one, other] = known[other, one] = True
    return found, known


def score_doubts(summary: ScoreSummary) -> list[list[Doubt]]:
    """What looks wrong about each model's scores; most models have none."""
    return [[*_narrow(summary, model), *_unlike(summary, model)] for model in range(len(summary.items))]


def _narrow(summary: ScoreSummary, model: int) -> list[Doubt]:
    items, different, share = int(summary.items[model]), int(summary.different[model]), summary.most_common[model]
    if items < FEWEST:
        return []
    if share >= CONSTANT:
        return [Doubt("constant", f"{share:.0%} of the items have the same score")]
    if different < min(FEW, items // 2):
        return [Doubt("few", f"it gives only {different} different scores to {items:,} items: is its output a class?")]
    return []


def _unlike(summary: ScoreSummary, model: int) -> list[Doubt]:
    known = summary.is_comparable[model]
    values = summary.correlation[model][known]
    if len(values) == 0:
        return []
    fewest = min(summary.items[model], *summary.items[known])
    bar = min(REVERSED, -2 / np.sqrt(fewest - 1))  # two standard errors of a correlation that is none
    if values.max() < 0 and values.mean() < bar and _others_agree(summary, model):
        against = "the other model" if len(values) == 1 else "every other model"
        words = f"its scores fall where those of {against} rise (Spearman {values.mean():.2f})".replace("-", "−")
        return [Doubt("reversed", words)]
    if np.abs(values).max() < LONE and len(values) > 1:
        words = f"its scores have nothing to do with those of any other model (Spearman at most {values.max():.2f})"
        return [Doubt("alone", words.replace("-", "−"))]
    return []


def _others_agree(summary: ScoreSummary, model: int) -> bool:
    """Whether the other models mostly rise together; a single other model has nobody to disagree with."""
    others = np.delete(np.delete(summary.correlation, model, 0), model, 1)
    known = np.delete(np.delete(summary.is_comparable, model, 0), model, 1)
    return not known.any() or bool(np.median(others[known]) > 0)
