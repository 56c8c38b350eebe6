"""The opening in words: who leads by which measure, and what came of the pairs."""

from __future__ import annotations

from dissensus.report.attacks.leaders import leader_words
from dissensus.report.scores.data import ScoresReportData
from dissensus.report.scores.outcomes import outcomes, tally_words

ROLES = {
    "attacker": "it finds most of the pairs on which others fail",
    "defender": "others find least to hold against it",
}
BOTH = "it falsifies others best, and is the hardest to falsify"


def opening_words(data: ScoresReportData) -> tuple[str, ...]:
    """Findings, the leaders first; empty where nothing can be said."""
    pairs = (pair for duel in data.duels for pair in duel.pairs)
    said = (*leader_words(data, ROLES, BOTH), tally_words(outcomes(pairs)), *data.words[:1])
    return tuple(sentence for sentence in said if sentence)
