"""From verdicts to matrices: who was right how often, against whom."""

from dissensus.pairwise.accuracy import accuracy, compare, dominance, tally

__all__ = ["accuracy", "compare", "dominance", "tally"]
