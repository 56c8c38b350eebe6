"""Who leads by which measure, how sure that is, and what is still missing."""

from __future__ import annotations

from collections.abc import Mapping

from dissensus.records import Ranking
from dissensus.report.attacks.data import AttackReport
from dissensus.report.wording import counted

UNSURE = ", though not for sure."


def opening_notes(data: AttackReport) -> tuple[str, ...]:
    """What a reader must know first; that answers are missing comes before everything else."""
    if not data.waiting:
        return data.notes
    verb = "waits" if data.waiting == 1 else "wait"
    asked = counted(data.questions, "question")
    early = f"Preliminary: {data.waiting:,} of {asked} still {verb} for an answer, so places may change."
    return (early, *data.notes)


def leader_words(data: AttackReport, roles: Mapping[str, str], both: str) -> tuple[str, ...]:
    """Who is first by which measure, and how sure that is.

    `roles` says what it means to be the strongest attacker and the strongest defender, `both` what it means to lead
    by both measures.
    """
    rankings = dict(zip(roles, (data.aggressiveness, data.resistance), strict=True))
    leaders = {_best(ranking) for ranking in rankings.values() if len(_unbeaten(ranking)) == 1}
    if len(leaders) == 1 and all(len(_unbeaten(ranking)) == 1 for ranking in rankings.values()):
        return (f"{leaders.pop()} leads by both measures: {both}.",)
    leads = [_lead(role, ranking, roles[role]) for role, ranking in rankings.items()]
    if all(lead.endswith(UNSURE) for lead in leads) and len({_best(ranking) for ranking in rankings.values()}) == 1:
        leads = [f"{_best(data.aggressiveness)} comes first by both measures{UNSURE}"]
    return (" ".join(filter(None, leads)), *(_tie_words(role, ranking) for role, ranking in rankings.items()))


def _lead(role: str, ranking: Ranking, meaning: str) -> str:
    unbeaten, ranked = _unbeaten(ranking), [s for s in ranking.standings if s.strength is not None]
    if not ranked:
        return ""
    if len(unbeaten) == 1:
        return f"{_best(ranking)} is the strongest {role}: {meaning}."
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
