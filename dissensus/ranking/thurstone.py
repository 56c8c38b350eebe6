"""A ranking from a matrix of credits, by maximum likelihood (Eq. 4) with Thurstone's normal link or the logistic one.

All functions accept leading axes, so that a thousand resamples are ranked in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import RankingError
from dissensus.ranking.groups import numbered, require_connected

STEPS = 100
HALVINGS = 50
ADVICE = "judge more pairs, or smooth the credits"

Link = Callable[[Array], tuple[Array, Array, Array]]
"""log F(d), its derivative, and minus its second derivative, all finite for every d."""


def thurstone(credits: Float[Array, "*B M M"]) -> Float[Array, "*B M"]:
    """μ that maximises Σ_ij x_ij log Φ(μ_i − μ_j) with Σ μ = 0 (Eq. 4); larger is better.

    `credits[i, j]`: evidence for i over j, not negative, in any unit (see `credits_of`); the diagonal is ignored.
    For two models μ_1 = −μ_2 = ½ Φ⁻¹(x_12 / (x_12 + x_21)): the difference is Φ⁻¹ of the share. The paper's Eq. 5 is
    printed without the ½, which does not maximise its own Eq. 4 under Σ μ = 0.

    Raises:
        RankingError: a credit is negative or not finite; no credit connects some models with the rest; a group of
            models has all the credit (or none) against the rest, so that its strength is unbounded; or the ascent
            does not converge. Models are referred to by number, 'model 3'; `words.named` fills in names.
    """
    return _maximum(credits, _normal)


def logistic(credits: Float[Array, "*B M M"]) -> Float[Array, "*B M"]:
    """Like `thurstone`, with 1 / (1 + exp(−d)) instead of Φ(d): Bradley–Terry with credits as wins.

    For two models μ_1 = −μ_2 = ½ log(x_12 / x_21).

    Raises:
        RankingError: as `thurstone`.
    """
    return _maximum(credits, _logistic)


def credits_of(
    matrix: Float[Array, "*B M M"], compared: Bool[Array, "*B M M"], smoothing: float = 0.0
) -> Float[Array, "*B M M"]:
    """Non-negative credits, from aggressiveness or resistance.

    A negative x_ij (people saw the opposite of what i predicted for its own pairs) is evidence of that size for j over
    i: it is added to x_ji, and x_ij becomes zero. With it in place, the likelihood of Eq. 4 would be neither concave
    nor bounded. Then `smoothing` is added to both directions of every pair compared in either direction; pairs that
    were not compared stay zero.
    """
    met = compared | compared.swapaxes(-1, -2)
    met = met & ~np.eye(matrix.shape[-1], dtype=bool)
    forth = np.where(compared & met, matrix, 0.0)
    return np.maximum(forth, 0.0) + np.maximum(-forth, 0.0).swapaxes(-1, -2) + np.where(met, smoothing, 0.0)


def has_maximum(credits: Float[Array, "*B M M"]) -> Bool[Array, "*B"]:
    """True if `thurstone` and `logistic` have a solution: positive credits lead from every model to every other."""
    return np.asarray(_reaches(credits).all(axis=(-1, -2)))


def checked_credits(credits: Float[Array, "*B M M"]) -> Float[Array, "*B M M"]:
    """The credits with a diagonal of zeros.

    Raises:
        RankingError: a credit is negative or not finite, or the strengths have no estimate: see `thurstone`.
    """
    models = credits.shape[-1]
    if not (np.isfinite(credits).all() and (credits >= 0).all()):
        raise RankingError("a credit is negative or not finite: convert the matrix with credits_of first")
    credits = np.where(np.eye(models, dtype=bool), 0.0, credits)
    stack = credits.reshape(-1, models, models)
    without = np.flatnonzero(~has_maximum(stack))
    if len(without):
        _blame(stack[without[0]])
    return credits


def _maximum(credits: Float[Array, "*B M M"], link: Link) -> Float[Array, "*B M"]:
    models = credits.shape[-1]
    return _ascent(checked_credits(credits).reshape(-1, models, models), link).reshape(credits.shape[:-1])


def _reaches(credits: Float[Array, "*B M M"]) -> Bool[Array, "*B M M"]:
    """True at [i, j] if positive credits lead from i to j, by squaring the relation."""
    reach = (credits > 0) | np.eye(credits.shape[-1], dtype=bool)
    for _ in range(credits.shape[-1].bit_length()):
        if reach.all():
            break
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return reach


def _blame(credits: Float[Array, "M M"]) -> NoReturn:
    """Raise the error that names the smallest group of models to blame for an estimate that does not exist."""
    require_connected((credits + credits.T) > 0)
    reach = _reaches(credits)
    above = (reach | ~reach.T).all(axis=1)
    below = (reach.T | ~reach).all(axis=1)
    size = (reach & reach.T).sum(axis=1)
    model = min(np.flatnonzero(above | below), key=lambda number: size[number])
    group = numbered(np.flatnonzero(reach[model] & reach[:, model]))
    said = f"there is no evidence against {group}" if above[model] else f"there is no evidence for {group}"
    raise RankingError(f"{said} in any comparison with the others, so the strengths are unbounded: {ADVICE}")


def _ascent(credits: Float[Array, "B M M"], link: Link) -> Float[Array, "B M"]:
    """Damped Newton steps from zero, each row separately; the likelihood is concave, so the start does not matter."""
    found = np.zeros(credits.shape[:-1])
    # rescaled: the unit does not affect the solution, but it would affect the tests for rounding
    active, credits = np.arange(len(found)), credits / credits.max(axis=(-1, -2), keepdims=True, initial=1e-300)
    for _ in range(STEPS):
        value, slope, curvature = _likelihood(found[active], credits, link)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        going = np.abs(step).max(axis=1, initial=0.0) >= 1e-10
        found[active[~going]] += step[~going]
        active, credits, value, slope, step = active[going], credits[going], value[going], slope[going], step[going]
        if len(active) == 0:
            return found - found.mean(axis=1, keepdims=True)
        found[active] += _damped(found[active], step, value, slope, credits, link)
    raise RankingError(f"the maximum-likelihood fit of the credits did not converge in {STEPS} steps: {ADVICE}")


def _damped(
    point: Float[Array, "B M"],
    step: Float[Array, "B M"],
    value: Float[Array, " B"],
    slope: Float[Array, "B M"],
    credits: Float[Array, "B M M"],
    link: Link,
) -> Float[Array, "B M"]:
    """The step, halved until the likelihood increases sufficiently (Armijo)."""
    gain = 1e-4 * (slope * step).sum(axis=1)
    share = np.ones(len(point))
    for _ in range(HALVINGS):
        ahead = (credits * link(_differences(point + share[:, None] * step))[0]).sum(axis=(1, 2))
        # the slack allows for rounding: near the maximum, a good step no longer shows in the value
        short = ahead < value + share * gain - 1e-13 * np.abs(value)
        if not short.any():
            break
        share[short] /= 2
    return share[:, None] * step


def _likelihood(
    point: Float[Array, "B M"], credits: Float[Array, "B M M"], link: Link
) -> tuple[Float[Array, " B"], Float[Array, "B M"], Float[Array, "B M M"]]:
    """Log-likelihood, its gradient, and its negative Hessian with the free mean pinned."""
    height, rise, bend = (credits * part for part in link(_differences(point)))
    edges = bend + bend.swapaxes(1, 2)
    pin = edges.max(axis=(1, 2), keepdims=True, initial=1e-300)
    curvature = np.eye(point.shape[1]) * edges.sum(axis=2)[:, :, None] - edges + pin
    return height.sum(axis=(1, 2)), rise.sum(axis=2) - rise.sum(axis=1), curvature


def _differences(point: Float[Array, "B M"]) -> Float[Array, "B M M"]:
    return point[:, :, None] - point[:, None, :]


def _normal(d: Array) -> tuple[Array, Array, Array]:
    from scipy.special import erfcx, log_ndtr  # takes a quarter of a second to import, and few commands need it

    # φ/Φ by the scaled error function, which neither under- nor overflows, however far apart two models are
    ratio = np.sqrt(2 / np.pi) / erfcx(-d / np.sqrt(2))
    return log_ndtr(d), ratio, ratio * (d + ratio)


def _logistic(d: Array) -> tuple[Array, Array, Array]:
    from scipy.special import expit, log_expit

    against = expit(-d)
    return log_expit(d), against, against * expit(d)
