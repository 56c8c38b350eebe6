"""Bradley–Terry strengths by maximum likelihood, without ties and with ties (Davidson, 1970).

The log-likelihood is concave in the log-strengths θ and in η = log ν, so a damped Newton ascent finds its maximum if
there is one; whether there is one is decided first, from who beat whom.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import RankingError
from dissensus.ranking.groups import numbered, require_connected

STEPS = 100
HALVINGS = 50
ADVICE = "judge more items, or use perron or hodgerank"


def bradley_terry(wins: Float[Array, "M M"]) -> Float[Array, " M"]:
    """Log-strengths with mean zero that maximise the likelihood of the wins; larger is better.

    P(i beats j) = p_i / (p_i + p_j) with θ = log p. `wins[i, j]`: how often i beat j, fractions allowed; a tie can
    be given as half a win for both.

    Raises:
        RankingError: the comparisons are not connected; some group of models never lost (or never won) against the
            rest, so that its strength is unbounded; or the ascent does not converge.
    """
    return maximum(wins, np.zeros_like(wins, dtype=float))[0][:-1]


def davidson(wins: Float[Array, "M M"], ties: Float[Array, "M M"]) -> tuple[Float[Array, " M"], float]:
    """Log-strengths with mean zero, larger is better, and the tie parameter ν ≥ 0 that maximise the likelihood.

    P(i beats j) = p_i / (p_i + p_j + ν √(p_i p_j)), P(tie) = ν √(p_i p_j) / (the same). `ties` is symmetric. Without
    ties, ν is 0 and the strengths are those of `bradley_terry`.

    Raises:
        RankingError: as for `bradley_terry`; or nobody won anything (as ν grows, any strengths explain ties alone); or
            the wins never contradict an order (i beats j, ties with j, never loses: ν grows with the strengths).
    """
    *strengths, log_nu = maximum(wins, ties)[0]
    return np.array(strengths), float(np.exp(log_nu))


def maximum(
    wins: Float[Array, "M M"], ties: Float[Array, "M M"]
) -> tuple[Float[Array, " M+1"], Float[Array, "M+1 M+1"]]:
    """The (θ, η) that maximises the likelihood, and its negative Hessian there with the free mean of θ pinned.

    Without ties, η is −∞, and its row and column are zero.

    Raises:
        RankingError: as for `davidson`.
    """
    if len(wins) < 2:
        raise RankingError(f"a ranking needs two models, and there {'is one' if len(wins) else 'are none'}")
    if not ties.any():
        if not is_strong(wins):
            _require_strong(_path_lengths(wins, ties))
        return _ascent(wins, ties, np.append(np.zeros(len(wins)), -np.inf))
    if not wins.any():
        raise RankingError(f"every comparison is a tie, so the models cannot be told apart: {ADVICE}")
    if not is_strong(wins):  # a cycle of wins alone is enough; only without one do ties have to be looked at
        lengths = _path_lengths(wins, ties)
        _require_strong(lengths)
        if np.diag(lengths).min() >= 0:
            raise RankingError(f"no win contradicts a single order, so the strengths are unbounded: {ADVICE}")
    # Exact at equal strengths: ν / (2 + ν) = share of ties.
    return _ascent(wins, ties, np.append(np.zeros(len(wins)), np.log(ties.sum() / wins.sum())))


def is_strong(wins: Float[Array, "M M"]) -> bool:
    """True if wins lead from every model to every other."""
    beat = wins > 0
    return all(_reaches_all(way) for way in (beat, beat.T))


def _reaches_all(edges: Bool[Array, "M M"]) -> bool:
    """True if edges lead from the first model to all."""
    reached = np.arange(len(edges)) == 0
    while not reached.all():
        further = reached | edges[reached].any(axis=0)
        if (further == reached).all():
            return False
        reached = further
    return True


def _path_lengths(wins: Float[Array, "M M"], ties: Float[Array, "M M"]) -> Float[Array, "M M"]:
    """Shortest paths, where a win is an edge winner → loser of length −1 and a tie is one of length 1 each way.

    They decide whether a maximum exists. The likelihood never falls along a direction (u, h) of (θ, η) if and only if
    u_i − u_j ≥ 2h for every win and |u_i − u_j| ≤ 2h for every tie. With h = 0 that leaves only equal u if every
    path is finite; with h > 0 it leaves none if some cycle has more wins than ties: a negative diagonal.

    Raises:
        RankingError: the comparisons are not connected.
    """
    require_connected((wins + wins.T + ties) > 0)
    length = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    np.fill_diagonal(length, 0.0)
    for via in range(len(length)):
        length = np.minimum(length, length[:, [via]] + length[via])
    return length


def _require_strong(lengths: Float[Array, "M M"]) -> None:
    """Raise an error that names the smallest group to blame, unless a path leads from every model to every other."""
    reaches = np.isfinite(lengths)
    if reaches.all():
        return
    unbeaten = (reaches | ~reaches.T).all(axis=1)
    winless = (reaches.T | ~reaches).all(axis=1)
    group_size = (reaches & reaches.T).sum(axis=1)
    model = min(np.flatnonzero(unbeaten | winless), key=lambda number: group_size[number])
    group = np.flatnonzero(reaches[model] & reaches[:, model])
    never = "lost to or tied with" if unbeaten[model] else "won or tied against"
    raise RankingError(f"{numbered(group)} never {never} any of the others, so the strengths are unbounded: {ADVICE}")


def _ascent(
    wins: Float[Array, "M M"], ties: Float[Array, "M M"], start: Float[Array, " M+1"]
) -> tuple[Float[Array, " M+1"], Float[Array, "M+1 M+1"]]:
    """The maximum and the negative Hessian there, by damped Newton steps from `start`; η = −∞ (no ties) is kept."""
    free = len(wins) + bool(np.isfinite(start[-1]))
    point, (value, slope, curvature) = start, _likelihood(start, wins, ties)
    for _ in range(STEPS):
        step = np.zeros_like(point)
        step[:free] = np.linalg.solve(curvature[:free, :free], slope[:free])
        if np.abs(step).max() < 1e-10:
            return point + step, curvature
        for _ in range(HALVINGS):
            ahead = _likelihood(point + step, wins, ties)
            # The slack allows for rounding: near the maximum, a good step no longer shows in the value.
            if ahead[0] >= value + 1e-4 * slope[:free] @ step[:free] - 1e-13 * abs(value):
                break
            step /= 2
        point, (value, slope, curvature) = point + step, ahead
    raise RankingError(f"Bradley–Terry did not converge in {STEPS} steps: {ADVICE}")


def _likelihood(
    point: Float[Array, " M+1"], wins: Float[Array, "M M"], ties: Float[Array, "M M"]
) -> tuple[float, Float[Array, " M+1"], Float[Array, "M+1 M+1"]]:
    """Log-likelihood, its gradient, and its negative Hessian with the free mean of θ pinned."""
    strengths, log_nu = point[:-1], point[-1]
    half = (strengths[:, None] - strengths) / 2
    top = np.maximum(np.abs(half), log_nu)
    win, tie = np.exp(half - top), np.exp(log_nu - top)
    total = win + win.T + tie
    win, tie = win / total, tie / total
    trials = wins + wins.T + ties
    balance = win - win.T

    value = (wins * half).sum() - (trials * (top + np.log(total))).sum() / 2
    value += ties.sum() / 2 * log_nu if ties.any() else 0.0
    slope = np.append((wins - wins.T - trials * balance).sum(axis=1) / 2, (ties - trials * tie).sum() / 2)
    edges = trials * (win + win.T - balance**2) / 4
    curvature = np.zeros((len(point), len(point)))
    curvature[:-1, :-1] = np.diag(edges.sum(axis=1)) - edges + edges.max()
    curvature[-1, :-1] = curvature[:-1, -1] = -(trials * balance * tie).sum(axis=1) / 2
    curvature[-1, -1] = (trials * tie * (1 - tie)).sum() / 2
    return float(value), slope, curvature
