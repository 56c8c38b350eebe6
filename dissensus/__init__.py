"""Dissensus: which of these models is better, and where does each fail?"""

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


def __getattr__(name: str) -> Any:
    """Import these on first use, so that importing one subpackage does not load all of it."""
    if name == "Study":
        from dissensus.study import Study

        return Study
    if name == "compare_classifiers":
        from dissensus.study.suites import compare_classifiers

        return compare_classifiers
    if name == "compare_test_sets":
        from dissensus.study.comparing import compare_test_sets

        return compare_test_sets
    if name == "human_baseline":
        from dissensus.study.baselining import human_baseline

        return human_baseline
    if name in ("detection_robustness", "video_robustness"):
        from dissensus.study import robustness

        return getattr(robustness, name)
    if name in ("fit_kernel", "kernel_matrix"):
        from dissensus.study import kernels

        return getattr(kernels, name)
    if name == "learn_sequences":
        from dissensus.study.sequences import learn_sequences

        return learn_sequences
    raise AttributeError(f"module 'dissensus' has no attribute '{name}'")
