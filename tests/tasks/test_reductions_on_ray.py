"""The selections of all tasks on a real Ray cluster of two nodes: the same bytes as on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import small_reductions
from small_reductions import ITEMS, TASKS

from dissensus.engines import engine_named
from dissensus.engines.local import reduce
from tests.engines.clusters import cluster

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    ray.shutdown()
    with cluster(2) as made:
        ray.cloudpickle.register_pickle_by_value(small_reductions)  # workers cannot import what tests import
        ray.cloudpickle.register_pickle_by_value(sys.modules["plans"])
        yield engine_named(f"ray:{made.address}")


@pytest.mark.parametrize("task", TASKS)
def test_every_selection_is_the_same(engine: Any, task: Any) -> None:
    for seed in range(3):
        passed = task(np.random.default_rng(seed))
        passed.chunk = 7
        expected = passed.dump(reduce(task(np.random.default_rng(seed)), ITEMS, "x"))
        told: list[int] = []
        found = passed.dump(engine.reduce(passed, ITEMS, "x", lambda _, done, __, told=told: told.append(done)))
        assert len(told) > 1
        assert found.equals(expected)
        assert np.array_equal(found.schema.names, expected.schema.names)
