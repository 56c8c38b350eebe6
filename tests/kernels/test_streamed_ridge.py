"""Ridge regression from sums of products: the same as scikit-learn's, however the rows are cut into chunks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from dissensus.errors import KernelError
from dissensus.kernels.strings.linear import moments, ridge, ridge_of_few


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    features = (random.normal(size=(rows, columns)) + 100 * random.normal(size=columns)).astype(np.float32)
    return features, np.sign(features[:, 0] - features[:, 0].mean() + random.normal(size=rows))


@pytest.mark.parametrize(("rows", "columns"), [(200, 12), (20, 50)])
def test_it_is_ordinary_ridge_regression_with_an_offset(rows: int, columns: int) -> None:
    features, targets = made(rows, columns)
    known = moments([(features, targets)])
    spread = ((features.astype(float) - features.mean(axis=0, dtype=float)) ** 2).sum() / rows
    assert known.spread == pytest.approx(spread, rel=1e-4)
    for found, penalty in zip(ridge(known, [1e-3, 0.1, 10]), [1e-3, 0.1, 10], strict=True):
        expected = Ridge(alpha=penalty * spread * rows).fit(features.astype(float), targets)
        assert found.values(features) == pytest.approx(expected.predict(features.astype(float)), abs=2e-3)
        assert found.penalty == penalty
        (other,) = ridge_of_few(features, targets, [penalty])
        assert other.values(features) == pytest.approx(expected.predict(features.astype(float)), abs=2e-3)


def test_chunks_orders_and_scales_do_not_matter() -> None:
    features, targets = made(90, 20)
    known = ridge(moments([(features, targets)]), [0.01])[0].values(features)
    pieces = [(features[i : i + 7], targets[i : i + 7]) for i in range(0, 90, 7)][::-1]
    assert ridge(moments(pieces), [0.01])[0].values(features) == pytest.approx(known, abs=1e-3)
    larger = 1000 * features
    assert ridge(moments([(larger, targets)]), [0.01])[0].values(larger) == pytest.approx(known, abs=1e-3)


def test_what_cannot_be_learned_is_said_in_words() -> None:
    features, targets = made(5, 3)
    with pytest.raises(KernelError, match="there are no sequences"):
        moments([])
    with pytest.raises(KernelError, match="all sequences have the same features"):
        ridge_of_few(np.ones((5, 3), np.float32), targets, [1.0])
    with pytest.raises(KernelError, match="all sequences have the same features"):
        ridge(moments([(np.ones((5, 3), np.float32), targets)]), [1.0])
    with pytest.raises(KernelError, match=r"penalty 0\.0: give a positive number"):
        ridge(moments([(features, targets)]), [0.0])
