"""Where each model fails, from what people judged: shares with intervals, confusions, and what sets a model apart."""

from dissensus.failures.contrasts import Comparisons, contrasts
from dissensus.failures.findings import Terms, Trials, confusions_of, counted_pairs, failures_of, other_models

__all__ = [
    "Comparisons",
    "Terms",
    "Trials",
    "confusions_of",
    "contrasts",
    "counted_pairs",
    "failures_of",
    "other_models",
]
