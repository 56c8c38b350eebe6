"""From numbers to items: which few items of a huge pool are worth a person's time."""

from dissensus.selection.eligibility import usable_labels
from dissensus.selection.extremes import Cells, Extremes, Pairs, extremal_pairs, merge_extremes, scan_extremes
from dissensus.selection.rule import Rule
from dissensus.selection.topk import Levels, Partial, finish, is_settled, merge, scan

__all__ = [
    "Cells",
    "Extremes",
    "Levels",
    "Pairs",
    "Partial",
    "Rule",
    "extremal_pairs",
    "finish",
    "is_settled",
    "merge",
    "merge_extremes",
    "scan",
    "scan_extremes",
    "usable_labels",
]
