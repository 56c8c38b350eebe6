"""The opening in words: who leads by which measure, what came of the pairs, what is still missing."""

from __future__ import annotations

from dissensus.records import Ranking
from dissensus.report.scores.data import ScoresReportData
from dissensus.report.scores.outcomes import outcomes, tally_words
from dissensus.report.wording import counted

ROLES = {
    "attacker": "it finds most of the pairs on which others fail",
    "defender": "others find least to hold against it",
}

UNSURE = ", though not for sure."


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
    """Who is first by which measure, and how sure that is."""
    rankings = dict(zip(ROLES, (data.aggressiveness, data.resistance), strict=True))
    leaders = {_best(ranking) for ranking in rankings.values() if len(_unbeaten(ranking)) == 1}
    if len(leaders) == 1 and all(len(_unbeaten(ranking)) == 1 for ranking in rankings.values()):
        return (f"{leaders.pop()} leads by both measures: it falsifies others best, and is the hardest to falsify.",)
    leads = [_lead(role, ranking) for role, ranking in rankings.items()]
    if all(lead.endswith(UNSURE) for lead in leads) and len({_best(ranking) for ranking in rankings.values()}) == 1:
        leads = [f"{_best(data.aggressiveness)} comes first by both measures{UNSURE}"]
    return (" ".join(filter(None, leads)), *(_tie_words(role, ranking) for role, ranking in rankings.items()))


def _lead(role: str, ranking: Ranking) -> str:
    unbeaten, ranked = _unbeaten(ranking), [s for s in ranking.standings if s.strength is not None]
    if not ranked:
        return ""
    if len(unbeaten) == 1:
        return f"{_best(ranking)} is the strongest {role}: {ROLES[role]}."
    if len(unbeaten) == len(ranked):
        return f"No {role} is ahead for sure."
    return f"{_best(ranking)} comes first as {'an' if role == 'attacker' else 'a'} {role}{UNSURE}"


def _best(ranking: Ranking) -> str:
    return ranking.standings[0].model


def _unbeaten(ranking: Ranking) -> tuple[str, ...]:
    """Models whose rank set holds the first place."""
    return tuple(s.model for s in ranking.standings if s.rank_low == 1 and s.strength is not None)


def _tie_words(role: str, ranking: Ranking) -> str:
    unbeaten = _unbeaten(ranking)
    if not 1 < len(unbeaten) < sum(s.strength is not None for s in ranking.standings):
        return ""
    named = ", ".join(unbeaten) if len(unbeaten) <= 4 else f"{', '.join(unbeaten[:3])} and {len(unbeaten) - 3} others"
    return f"Among {role}s the judgements cannot tell who is first: {named}."
