"""What is decided: bands against integrals and against looking after every draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from small_pools import simulated

from dissensus.errors import PlanningError
from dissensus.planning.cases import Cases
from dissensus.planning.decisions import NARROWEST, Bands, Until, bands, decisions, largest_error
from dissensus.planning.estimate import Ledger, estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay

pytestmark = pytest.mark.filterwarnings("error")


def of_draws(values: np.ndarray) -> Ledger:
    rows, models = values.shape
    nothing = np.zeros((1, models, models))
    return Ledger(values, np.zeros_like(values), np.ones(rows), np.zeros(rows, int), nothing, 1)


def mixture(draws: int, t: float, mixed: float) -> float:
    """The ratio of likelihoods, in the closed form of the docstring."""
    share = mixed / (draws + mixed)
    square = t**2 / (draws - 1)
    return float(np.sqrt(share) * ((1 + square) / (1 + share * square)) ** (draws / 2))


def test_the_closed_form_is_the_ratio_of_integrals() -> None:
    values = np.array([0.4, 1.7, -0.3, 0.9, 1.1])
    mixed = 3.0
    t = values.mean() / (values.std(ddof=1) / np.sqrt(5))

    sigma, theta = np.meshgrid(np.geomspace(0.1, 100, 1500), np.linspace(-4, 4, 801))
    log = norm.logpdf(values[:, None, None], theta * sigma, sigma).sum(axis=0)  # over log σ, the density 1/σ is even
    above = (np.exp(log) * norm.pdf(theta, 0, mixed**-0.5)).sum() * (theta[1, 0] - theta[0, 0])
    assert above / np.exp(log[400]).sum() == pytest.approx(mixture(5, t, mixed), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_largest_error_is_where_the_ratio_reaches_one_over_alpha(alpha: float) -> None:
    """With the r for which Robbins' band, that of a known variance, is narrowest at NARROWEST."""
    mixed = minimize_scalar(
        lambda mixed: (1 + mixed / NARROWEST) * np.log((NARROWEST + mixed) / (mixed * alpha**2)), (1, 10, 100)
    ).x
    for draws in (60, 200, 1000):
        assert mixture(draws, largest_error(draws, alpha), mixed) == pytest.approx(1 / alpha, rel=1e-4)
    robbins = np.sqrt((1 + mixed / 10**6) * np.log((10**6 + mixed) / (mixed * alpha**2)))
    assert largest_error(10**6, alpha) == pytest.approx(robbins, rel=1e-4)


def test_few_draws_decide_nothing() -> None:
    assert largest_error(2, 0.05) == np.inf
    values = np.array([[0.9, 0.1], [0.9, 0.1], [0.90001, 0.1]])
    for rows in range(4):
        found = bands(of_draws(values[:rows]))
        assert found.states()[0][1] == "undecided"
        assert found.best() is None
        assert not np.isnan(found.pair).any()


def test_normal_errors_ever_leave_the_band_as_rarely_as_promised() -> None:
    """2,000 runs of 400 draws from equal models, with a look after every draw."""
    rng = np.random.default_rng(40)
    values = rng.normal(size=(2000, 400))
    count = np.arange(1, 401)
    total, squares = np.cumsum(values, axis=1), np.cumsum(values**2, axis=1)
    spread = np.sqrt(np.maximum(squares - total**2 / count, 1e-12) / np.maximum(count - 1, 1))
    t = np.abs(total / count) / (spread / np.sqrt(count))
    for alpha in (0.05, 0.2):
        most = np.array([np.inf, *(largest_error(int(n), alpha) for n in count[1:])])
        assert (t > most).any(axis=1).mean() < alpha


def test_bands_are_the_estimate_and_its_standard_error() -> None:
    ledger = of_draws(np.random.default_rng(41).normal(size=(60, 3)))
    found, single = bands(ledger), estimate(ledger)
    np.testing.assert_allclose(found.difference, single.mean[:, None] - single.mean)
    np.testing.assert_allclose(found.pair, largest_error(60, 0.05) * np.sqrt(single.variances(1.0)), rtol=1e-6)
    np.testing.assert_allclose(found.rivals, found.pair)  # two rivals, one side each
    np.testing.assert_allclose(found.all_pairs, bands(ledger, 1 - 0.05 / 3).pair)
    assert (found.pair >= single.halfwidths()).all()


def test_what_is_decided_by_hand() -> None:
    difference = np.array([[0.0, 0.10, 0.02], [-0.10, 0.0, -0.08], [-0.02, 0.08, 0.0]])
    half = np.full((3, 3), 0.05) * ~np.eye(3, dtype=bool)
    found = Bands(difference, half, half, 2 * half)
    assert found.states()[0] == ["tied", "decided", "undecided"]
    assert found.states(0.07)[0][2] == "tied"
    assert found.states(0.069)[0][2] == "undecided"
    assert found.states(at_once=True)[0][1] == "undecided"
    assert found.best() is None
    assert found.best(0.03) is None
    assert found.best(0.031) == 0
    assert Bands(difference * 4, half, half, half).best() == 0


def test_labels_that_people_could_not_settle_may_be_right_or_wrong() -> None:
    """Two patterns: models 0 and 1 disagree with model 2 on ten items, and model 0 with the others on thirty."""
    voters = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]], bool)
    cases = Cases(voters, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([10, 30]), is_named=False)
    draws = np.random.default_rng(0).normal([0.9, 0.5, 0.4], 0.01, (400, 3))
    ledger = replace(of_draws(draws * 40), pool=40)
    left, unsettled = np.array([2, 2, 5, 5]), np.array([2, 0, 0, 1])
    plain = decisions(cases, ledger, draws.mean(axis=0), left)
    wider = decisions(cases, ledger, draws.mean(axis=0), left, unsettled=unsettled)
    more = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]) / 40
    for name in ("pair", "rivals", "all_pairs"):
        np.testing.assert_allclose(getattr(wider, name) - getattr(plain, name), more, atol=1e-12)
    assert plain.states()[1][2] == "decided"
    assert wider.states()[0] == ["tied", "decided", "decided"]
    np.testing.assert_array_equal(plain.difference, wider.difference)


def test_copies_of_a_model_are_tied_with_it() -> None:
    values = np.random.default_rng(42).normal(size=(100, 1)) * [[1, 1, 0]] + [[5, 5, 0]]
    found = bands(of_draws(values))
    assert found.states()[0] == ["tied", "tied", "decided"]
    assert found.best() is None
    assert found.best(0.001) in {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("kind", ["equal", "trap"])
def test_looking_after_every_batch_seldom_decides_wrongly(kind, is_whole: bool) -> None:
    """40 pools: how often a pair is ever outside its band, and how often it is ever decided wrongly."""
    outside, wrong, wrong_best = [], [], []
    for seed in range(40):
        pool = simulated(kind, 4, 1000, seed)
        gap = pool.accuracies[:, None] - pool.accuracies
        *_, last = replay(Planner(pool.cases, is_whole, is_whole), pool.recorded, [250], seed)
        whole = last.ledger
        ever, badly, best = np.zeros((4, 4), bool), np.zeros((4, 4), bool), False
        for end in np.flatnonzero(np.diff(whole.batch, append=-1)) + 1:
            columns = (whole.expected, whole.change, whole.probability, whole.batch)
            found = bands(Ledger(*(column[:end] for column in columns), whole.forecasts, whole.pool))
            ever |= np.abs(found.difference - gap) > found.pair + 1e-9
            badly |= (np.array(found.states()) == "decided") & (found.difference * gap <= 0)
            first = found.best()
            best |= first is not None and pool.accuracies[first] < pool.accuracies.max()
        outside.append(ever[np.triu_indices(4, 1)].mean())
        wrong.append(badly[np.triu_indices(4, 1)].mean())
        wrong_best.append(best)
    assert np.mean(outside) < 0.05
    assert np.mean(wrong) < 0.03
    assert np.mean(wrong_best) <= 0.05


@pytest.mark.parametrize(
    ("text", "what", "margin", "goal"),
    [
        ("best", "best", 0, "best"),
        (" Order ", "order", 0, "order"),
        ("ε=0.01", "differences", 0.01, "order"),
        ("eps=1%", "differences", 0.01, "order"),
        ("epsilon = 2.5 %", "differences", 0.025, "order"),
        ("order,ε=0.01", "order", 0.01, "order"),
        ("eps=.02, best", "best", 0.02, "best"),
    ],
)
def test_when_to_stop_can_be_written_in_several_ways(text: str, what: str, margin: float, goal: str) -> None:
    found = Until.parsed(text)
    assert (found.what, found.goal) == (what, goal)
    assert found.margin == pytest.approx(margin)
    assert Until.parsed(str(found)) == found


@pytest.mark.parametrize(
    "text", ["", "worst", "best,order", "ε", "ε=", "ε=x", "ε=0", "ε=1", "ε=-1%", "ε=nan", "ε=inf", "ε=1%,ε=2%", "best,"]
)
def test_nonsense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(PlanningError, match=r"does not say when to stop|give a difference") as refused:
        Until.parsed(text)
    assert "\n" not in str(refused.value)


def test_what_settles_what() -> None:
    difference = np.array([[0.0, 0.10, 0.08], [-0.10, 0.0, -0.02], [-0.08, 0.02, 0.0]])
    half = np.full((3, 3), 0.05) * ~np.eye(3, dtype=bool)
    found = Bands(difference, half, half, 1.2 * half)
    reached = [
        text
        for text in ("best", "order", "order,ε=7%", "order,ε=8%", "ε=5%", "ε=6%")
        if found.settle(Until.parsed(text))
    ]
    assert reached == ["best", "order,ε=8%", "ε=6%"]  # for the order and differences, all pairs at once count
    assert not bands(of_draws(np.zeros((0, 3)))).settle(Until("order", 0.5))


def test_equal_models_are_the_best_together() -> None:
    values = np.random.default_rng(42).normal(size=(100, 1)) * [[1, 1, 0]] + [[5, 5, 0]]
    found = bands(of_draws(values))
    assert found.leaders() == [0, 1]
    assert found.settle(Until("best"))
    assert found.settle(Until("order"))
    assert bands(of_draws(values[:, 1:])).leaders() == [0]
    assert bands(of_draws(values[:0])).leaders() == []
