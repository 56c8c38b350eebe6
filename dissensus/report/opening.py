"""The opening: what readers must know first, who leads and how certain that is, and the most telling examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dissensus.records import Ranking
from dissensus.report.data import AttackReport, Report
from dissensus.report.page import Section
from dissensus.report.wording import counted

UNSURE = ", but the lead is not certain."


def opening(
    report: Report,
    template: str,
    notes: Sequence[str],
    findings: Iterable[str],
    examples: Sequence[Any],
    **view: object,
) -> Section:
    """The part of the page above the navigation; empty findings are dropped."""
    found = tuple(sentence for sentence in findings if sentence)
    common = {"report": report, "notes": notes, "findings": found, "examples": examples}
    return Section("top", "Findings", report.title, template, common | view)


def opening_notes(report: AttackReport) -> tuple[str, ...]:
    """What readers must know first; a note about missing answers comes before all others."""
    if not report.waiting:
        return report.notes
    verb = "is" if report.waiting == 1 else "are"
    asked = counted(report.questions, "question")
    early = f"Preliminary: {report.waiting:,} of {asked} {verb} still open, so ranks may change."
    return (early, *report.notes)


def leader_words(report: AttackReport, roles: Mapping[str, str], both: str) -> tuple[str, ...]:
    """Who is first by each measure, and how certain that is.

    `roles` explains what it means to be the strongest attacker or defender, `both` what it means to lead by both
    measures.
    """
    rankings = dict(zip(roles, report.rankings.values(), strict=True))
    best = {ranking.standings[0].model for ranking in rankings.values()}
    if len(best) == 1 and all(len(_unbeaten(ranking)) == 1 for ranking in rankings.values()):
        return (f"{best.pop()} leads by both measures: {both}.",)
    leads = [_lead(role, ranking, roles[role]) for role, ranking in rankings.items()]
    if len(best) == 1 and all(lead.endswith(UNSURE) for lead in leads):
        leads = [f"{best.pop()} comes first by both measures{UNSURE}"]
    return (" ".join(filter(None, leads)), *(_tie_words(role, ranking) for role, ranking in rankings.items()))


def _lead(role: str, ranking: Ranking, meaning: str) -> str:
    best, unbeaten = ranking.standings[0].model, _unbeaten(ranking)
    if ranking.standings[0].strength is None:
        return ""
    if len(unbeaten) == 1:
        return f"{best} is the strongest {role}: {meaning}."
    if len(unbeaten) == len(ranking.standings):
        return f"No {role} is clearly ahead."
    return f"{best} comes first as {'an' if role == 'attacker' else 'a'} {role}{UNSURE}"


def _tie_words(role: str, ranking: Ranking) -> str:
    unbeaten = _unbeaten(ranking)
    if len(unbeaten) < 2 or len(unbeaten) == len(ranking.standings):
        return ""
    named = ", ".join(unbeaten) if len(unbeaten) <= 4 else f"{', '.join(unbeaten[:3])} and {len(unbeaten) - 3} others"
    return f"The judgements cannot tell which {role} is first: {named}."


def _unbeaten(ranking: Ranking) -> list[str]:
    """Models that may be first, as far as they can be compared."""
    return [s.model for s in ranking.standings if s.may_be_first]
