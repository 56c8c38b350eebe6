"""The whole loop on a small pool."""

from __future__ import annotations

import numpy as np

from dissensus.planning.cases import cases_of, patterns_of, votes_of
from dissensus.planning.estimate import estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import recorded, replay


def test_everything_asked_is_everything_known() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=300)
    labels = np.where(rng.random((4, 300)) < 0.6, truth, rng.integers(5, size=(4, 300))).astype(np.uint16)
    votes = votes_of(labels, False)
    patterns = patterns_of(votes, False)
    cases = cases_of(patterns)
    answers = recorded(cases, patterns.places(votes), labels == truth)
    *_, last = replay(Planner(cases), answers, [100, 10_000])
    np.testing.assert_allclose(last.known.mean, (labels == truth).mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(estimate(last.ledger).mean, last.known.mean, atol=0.05)
