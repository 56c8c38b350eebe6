"""From verdicts to matrices: how often each model was right against each other."""

from dissensus.pairwise.accuracy import accuracy, compare, dominance, tally
from dissensus.pairwise.attacks import attack_matrices
from dissensus.pairwise.ratios import performances, ratio_matrices, shares

__all__ = ["accuracy", "attack_matrices", "compare", "dominance", "performances", "ratio_matrices", "shares", "tally"]
