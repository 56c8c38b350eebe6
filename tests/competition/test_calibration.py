from __future__ import annotations

import numpy as np
import pytest

from benchmarks.calibration import Size, verdicts

STUDIES = 60
STUDIED = [
    (Size("labels", 3, 20, 1, 500), "perron"),
    (Size("scores", 4, 3, 5, 500), "thurstone"),
    (Size("scores", 4, 3, 5, 500), "hodgerank"),
    (Size("ratings", 4, 3, 5, 500), "thurstone"),
    (Size("masks", 3, 5, 1, 300), "thurstone"),
    (Size("masks", 3, 5, 1, 300), "perron"),
    (Size("choices", 3, 5, 3, 300), "thurstone"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "method"), STUDIED, ids=[f"{size.task}, {method}" for size, method in STUDIED])
def test_verdicts_about_simulated_studies_hold(size: Size, method: str) -> None:
    """A small version of benchmarks/calibration.py: 5 % are allowed, 15 to 40 % were separated before."""
    found = [verdicts(size, 0.95, seed, method) for seed in range(STUDIES)]
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    assert means["false"] <= 0.1
    assert means["wrong"] <= 0.1
    assert means["best ruled out"] <= 0.1
    assert means["possible winners"] < size.models
