"""From numbers to items: which few items of a huge pool are worth a person's time."""

from dissensus.selection.eligibility import usable_labels
from dissensus.selection.rule import Rule
from dissensus.selection.topk import Levels, Partial, finish, is_settled, merge, scan

__all__ = ["Levels", "Partial", "Rule", "finish", "is_settled", "merge", "scan", "usable_labels"]
