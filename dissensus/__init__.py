"""Dissensus: which of these models is better, and where does each fail?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dissensus.version import __version__

if TYPE_CHECKING:
    from dissensus.study import Study
    from dissensus.study.baselining import human_baseline
    from dissensus.study.comparing import compare_test_sets
    from dissensus.study.kernels import fit_kernel, kernel_matrix
    from dissensus.study.robustness import detection_robustness, video_robustness
    from dissensus.study.sequences import learn_sequences
    from dissensus.study.suites import compare_classifiers

__all__ = [
    "Study",
    "__version__",
    "compare_classifiers",
    "compare_test_sets",
    "detection_robustness",
    "fit_kernel",
    "human_baseline",
    "kernel_matrix",
    "learn_sequences",
    "video_robustness",
]


_MODULES = {
    "Study": "dissensus.study",
    "compare_classifiers": "dissensus.study.suites",
    "compare_test_sets": "dissensus.study.comparing",
    "detection_robustness": "dissensus.study.robustness",
    "fit_kernel": "dissensus.study.kernels",
    "human_baseline": "dissensus.study.baselining",
    "kernel_matrix": "dissensus.study.kernels",
    "learn_sequences": "dissensus.study.sequences",
    "video_robustness": "dissensus.study.robustness",
}


def __dir__() -> list[str]:
    return [*__all__]  # what notebooks complete


def __getattr__(name: str) -> Any:
    """Import these on first use, so that importing one subpackage does not load all of it."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'dissensus' has no attribute '{name}'")
