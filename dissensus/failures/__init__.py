"""Where each model fails, from what people judged: shares with intervals, confusions, and what sets a model apart."""

from dissensus.failures.contrasts import Compared, contrasts
from dissensus.failures.findings import Terms, Trials, confusions_of, counted_pairs, failures_of

__all__ = ["Compared", "Terms", "Trials", "confusions_of", "contrasts", "counted_pairs", "failures_of"]
