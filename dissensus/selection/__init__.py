"""From scores to items: which few items of a huge pool are worth a person's time."""

from dissensus.selection.categories import (
    CategoryTops,
    Quota,
    finish_categories,
    merge_categories,
    most_taken,
    scan_categories,
)
from dissensus.selection.disagreements import disagreements, enough_from
from dissensus.selection.eligibility import Predicted, usable_labels
from dissensus.selection.extremes import Cells, Extremes, Pairs, extremal_pairs, merge_extremes, scan_extremes
from dissensus.selection.rule import NO_CAP, Rule
from dissensus.selection.topk import Levels, Partial, finish, is_settled, merge, scan

__all__ = [
    "NO_CAP",
    "CategoryTops",
    "Cells",
    "Extremes",
    "Levels",
    "Pairs",
    "Partial",
    "Predicted",
    "Quota",
    "Rule",
    "disagreements",
    "enough_from",
    "extremal_pairs",
    "finish",
    "finish_categories",
    "is_settled",
    "merge",
    "merge_categories",
    "merge_extremes",
    "most_taken",
    "scan",
    "scan_categories",
    "scan_extremes",
    "usable_labels",
]
