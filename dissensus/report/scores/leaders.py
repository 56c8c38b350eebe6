"""The opening in words: who leads by which measure, what came of the pairs, what is still missing."""

from __future__ import annotations

from dissensus.records import Ranking
from dissensus.report.scores.data import ScoresReportData
from dissensus.report.scores.outcomes import outcomes, tally_words
from dissensus.report.wording import counted

ROLES = ("attacker: it finds most of the pairs on which others fail", "defender: others find least to hold against it")


def opening_words(data: ScoresReportData) -> tuple[str, ...]:
    """Findings, the leaders first; empty where nothing can be said."""
    pairs = (pair for duel in data.duels for pair in duel.pairs)
    said = (*_leaders(data), tally_words(outcomes(pairs)), *data.words[:1])
    return tuple(sentence for sentence in said if sentence)


def opening_notes(data: ScoresReportData) -> tuple[str, ...]:
    """What a reader must know first; that answers are missing comes before everything else."""
    if not data.waiting:
        return data.notes
    verb = "waits" if data.waiting == 1 else "wait"
    asked = counted(data.questions, "question")
    early = f"Preliminary: {data.waiting:,} of {asked} still {verb} for an answer, so places may change."
    return (early, *data.notes)


def _leaders(data: ScoresReportData) -> tuple[str, ...]:
    first, second = _leader(data.aggressiveness), _leader(data.resistance)
    if first is None or second is None:
        sure = [(name, role) for name, role in zip((first, second), ROLES, strict=True) if name is not None]
        return tuple(f"{name} is the strongest {role}." for name, role in sure)
    ties = _tied(data.aggressiveness), _tied(data.resistance)
    if first == second:
        lead = f"{first} leads by both measures: it falsifies others best, and is the hardest to falsify."
        return (lead, _tie_words("attackers", ties[0]), _tie_words("defenders", ties[1]))
    return (
        f"{first} is the strongest {ROLES[0]}. {second} is the strongest {ROLES[1]}.",
        _tie_words("attackers", ties[0]),
        _tie_words("defenders", ties[1]),
    )


def _leader(ranking: Ranking) -> str | None:
    best = ranking.standings[0]
    return None if best.strength is None else best.model


def _tied(ranking: Ranking) -> tuple[str, ...]:
    """Other models whose rank set holds the first place."""
    return tuple(s.model for s in ranking.standings[1:] if s.rank_low == 1 and s.strength is not None)


def _tie_words(role: str, tied: tuple[str, ...]) -> str:
    if not tied:
        return ""
    named = ", ".join(tied) if len(tied) <= 3 else f"{', '.join(tied[:2])} and {len(tied) - 2} others"
    return f"Among {role} the judgements cannot exclude that another is first: {named}."
