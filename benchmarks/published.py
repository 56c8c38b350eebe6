"""Published ways to find the best model with few labels, from their descriptions.

A label is the true class of one item. All take a collection, the budgets and a random generator, and return the score
of every model at each budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from scipy.special import betainc, betaln, entr

from benchmarks.pools import Collection
from dissensus.arrays import Array, Float, Int
from dissensus.planning.cases import cases_of, patterns_of, votes_of

Scores = Float[Array, "b M"]
Selector = Callable[[Collection, Sequence[int], np.random.Generator], Scores]
GRID = 64


def accuracy_so_far(data: Collection, order: Int[Array, " n"], budgets: Sequence[int]) -> Scores:
    """How often each model was right on the first items of an order."""
    right = (data.labels[:, order] == data.truth[order]).cumsum(axis=1)
    return np.asarray(right[:, np.minimum(budgets, len(order)) - 1].T / np.array(budgets)[:, None])


def random(data: Collection, budgets: Sequence[int], rng: np.random.Generator) -> Scores:
    """Items at random; the models' accuracies on them."""
    return accuracy_so_far(data, rng.permutation(len(data.truth)), budgets)


def margin(data: Collection, budgets: Sequence[int], rng: np.random.Generator) -> Scores:
    """The items first whose two most frequent labels have the most similar numbers of votes."""
    votes = np.sort(_counts(data), axis=0)
    return accuracy_so_far(data, np.lexsort((rng.random(len(data.truth)), votes[-1] - votes[-2])), budgets)


def variance_minimising(data: Collection, budgets: Sequence[int], rng: np.random.Generator) -> Scores:
    """VMA (Matsuura & Hara, 2023): draws that minimise the variance of all pairs' differences, weighted by LURE.

    The chance of an item is the root of the expected sum of squared differences of two models' losses, if labels are as
    likely as they are frequent among the models; a hundredth of the draws is uniform.
    """
    votes = _counts(data)
    models, items = data.labels.shape
    chance = np.sqrt((votes / models * votes * (models - votes)).sum(axis=0))
    chance = 0.99 * chance / max(chance.sum(), 1e-12) + 0.01 / items
    order = np.argsort(rng.exponential(size=items) / chance)  # successive draws without replacement
    left = np.cumsum(chance[order][::-1])[::-1]
    right = data.labels[:, order] == data.truth[order]
    found = []
    for budget in np.minimum(budgets, items):
        draw = np.arange(1, budget + 1)
        inverse = left[:budget] / chance[order[:budget]]
        weights = 1 + (items - budget) / np.maximum(items - draw, 1) * (inverse / (items - draw + 1) - 1)
        found.append(right[:, :budget] @ weights / budget)
    return np.array(found)


def model_selector(data: Collection, budgets: Sequence[int], rng: np.random.Generator, error: float = 0.45) -> Scores:
    """Model Selector (2025): the item of the least expected entropy of 'which model is best', labels being even."""
    asking = _Asking(data, rng)
    step = np.log((1 - error) / error)
    voters = asking.voters.astype(np.float64)
    found = []
    for _ in asking.until(budgets[-1]):
        weights = np.exp(step * (asking.right - asking.right.max()))
        weights /= weights.sum()
        spread = entr(weights)
        mass, own = voters @ weights, voters @ spread
        total = 1 + (np.exp(step) - 1) * mass
        after = np.log(total) + (spread.sum() - own + np.exp(step) * (own - step * mass)) / total
        reduced = np.add.reduceat(spread.sum() - after, asking.start)  # labels without votes change nothing
        asking.ask(reduced)
        found.append(asking.right.copy())
    return _at(found, budgets)


def consensus(data: Collection, budgets: Sequence[int], rng: np.random.Generator) -> Scores:
    """CODA (2025): confusion matrices that start from the consensus; asks where the entropy of P(best) drops most.

    With the authors' constants: a diagonal prior of 1, a tenth of the consensus, steps of 0.01 per label, and
    hypothetical labels that count one.
    """
    asking, classes = _Asking(data, rng), 1 + max(int(data.labels.max()), int(data.truth.max()))
    belief = _Confusions(data, asking, classes)
    found = []
    for _ in asking.until(budgets[-1]):
        belief.learn(asking.ask(belief.drops()))
        found.append(belief.best())
    return _at(found, budgets)


class _Asking:
    """Items by the pattern of their votes: which are left, and how often every model was right so far."""

    def __init__(self, data: Collection, rng: np.random.Generator) -> None:
        votes = votes_of(data.labels, True)
        patterns = patterns_of(votes, True)
        cases, places = cases_of(patterns), patterns.places(votes)
        order = np.lexsort((rng.random(len(places)), places))
        self.rng, self.votes = rng, patterns.votes
        self.voters, self.label, self.pattern, self.start = cases.voters, cases.vote, cases.pattern, cases.start
        self.left, self.truth, self.ends = patterns.items.copy(), data.truth[order], np.cumsum(patterns.items)
        self.right = np.zeros(len(data.labels))
        self.last = 0

    def until(self, budget: int) -> Iterator[int]:
        yield from range(min(budget, int(self.left.sum())))

    def ask(self, value: Float[Array, " P"]) -> int:
        """The true class of an item with the pattern of the highest value; equal ones at random."""
        value = np.where(self.left > 0, value, -np.inf)
        self.last = int(self.rng.choice(np.flatnonzero(value >= value.max() - 1e-9 * abs(value.max()))))
        self.left[self.last] -= 1
        label = int(self.truth[self.ends[self.last] - 1 - self.left[self.last]])
        self.right += self.votes[self.last] == label
        return label


class _Confusions:
    """Dirichlet distributions of all rows of all models' confusion matrices, and P(best) row by row."""

    def __init__(self, data: Collection, asking: _Asking, classes: int) -> None:
        said, by_most = np.eye(classes)[data.labels], np.eye(classes)[_counts(data).argmax(axis=0)]
        counts = np.einsum("nc,hnj->hcj", by_most, said)
        usual = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-6)
        self.alphas = np.where(np.eye(classes, dtype=bool), 1.0, 1 / max(classes - 1, 1)) + 0.1 * usual
        self.points = (np.arange(GRID) + 0.5) / GRID
        self.asking, self.items = asking, asking.left.copy()
        self.weights = np.zeros((len(asking.left), classes))
        self.rows = np.zeros((classes, len(data.labels)))
        self.after: dict[int, Float[Array, "c M"]] = {}
        for label in range(classes):
            self._refresh(label)

    def drops(self) -> Float[Array, " P"]:
        """The expected drop of the entropy for an item of every pattern."""
        chance, overall = self._chances()
        mixed = overall @ self.rows
        expected = np.zeros(len(self.items))
        for label, rows in self.after.items():
            entropy = entr(np.maximum(mixed + overall[label] * (rows - self.rows[label]), 0)).sum(axis=1)
            own = np.full(len(self.items), entropy[-1])  # nobody predicts the label
            own[self.asking.pattern[self.asking.label == label]] = entropy[:-1]
            expected += chance[:, label] * own
        return np.asarray(entr(mixed).sum() - expected)

    def learn(self, label: int) -> None:
        said = self.asking.votes[self.asking.last]
        self.alphas[np.arange(len(said)), label, said] += 0.01
        self._refresh(label)

    def best(self) -> Float[Array, " M"]:
        return np.asarray(self._chances()[1] @ self.rows)

    def _chances(self) -> tuple[Float[Array, "P C"], Float[Array, " C"]]:
        """How likely each class is for an item of each pattern, and for any item."""
        chance = self.weights / self.weights.sum(axis=1, keepdims=True)
        return chance, self.items @ chance / self.items.sum()

    def _refresh(self, label: int) -> None:
        """What depends on one row of the matrices: the label's weight in every pattern, and P(best) in that row."""
        models = np.arange(self.alphas.shape[0])
        self.weights[:, label] = self.alphas[models, label, self.asking.votes].sum(axis=1)
        right = self.alphas[:, label, label]
        wrong = self.alphas[:, label].sum(axis=1) - right
        empty = np.zeros((1, len(models)), bool)
        voters = np.vstack([self.asking.voters[self.asking.label == label], empty])
        self.rows[label] = self._best(~empty, (right, wrong), (right, wrong))[0]
        self.after[label] = self._best(voters, (right + 1, wrong), (right, wrong + 1))

    def _best(self, is_one: Array, one: tuple[Array, Array], other: tuple[Array, Array]) -> Float[Array, "c M"]:
        """P(best) with Beta(`one`) for the models that a row of `is_one` marks, and Beta(`other`) for the rest."""
        below, density = [], []
        for right, wrong in (one, other):
            a, b, points = right[:, None], wrong[:, None], self.points
            below.append(np.log(np.maximum(betainc(a, b, points), 1e-30)))
            density.append((a - 1) * np.log(points) + (b - 1) * np.log1p(-points) - betaln(a, b))
        total = is_one @ (below[0] - below[1]) + below[1].sum(axis=0)
        product = np.exp(total - total.max(axis=1, keepdims=True))
        parts = [product @ np.exp(log - under).T for log, under in zip(density, below, strict=True)]
        found = np.where(is_one, *parts)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def _counts(data: Collection) -> Int[Array, "C N"]:
    """The votes for each class on every item."""
    classes = max(int(data.labels.max()) + 1, 2)
    return np.stack([(data.labels == label).sum(axis=0) for label in range(classes)])


def _at(found: list[Float[Array, " M"]], budgets: Sequence[int]) -> Scores:
    return np.array([found[min(budget, len(found)) - 1] for budget in budgets])


SELECTORS: dict[str, Selector] = {
    "random": random,
    "margin": margin,
    "VMA": variance_minimising,
    "Model Selector, ε .35": partial(model_selector, error=0.35),
    "Model Selector, ε .40": partial(model_selector, error=0.40),
    "Model Selector, ε .45": partial(model_selector, error=0.45),
    "CODA": consensus,
}
