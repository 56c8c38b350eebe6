"""The opening, the same for every task: the answer in a sentence, a small figure, an example, and what else to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dissensus.plots import Plot, Ranks, rank_sets
from dissensus.records import Ranking, Standing
from dissensus.report.data import AttackReport
from dissensus.report.page import Section
from dissensus.report.standings import placed
from dissensus.report.wording import counted, upper_first

PRELIMINARY = "Preliminary: "
"""Sentences about open questions begin with it; the page makes it a badge."""
UNSURE = ", but the lead is not certain"
ATTACKS = {"aggressiveness": "as an attacker", "resistance": "as a defender"}
POSSIBLE = "Marks are ranks; bars are the ranks that the judgements leave possible."


def opening(
    title: str,
    template: str,
    findings: Iterable[str],
    notes: Sequence[str] = (),
    plots: tuple[Plot, ...] = (),
    example: Any = None,
    **view: object,
) -> Section:
    """The part of the page above the navigation.

    The first finding is the answer and empty ones are dropped, as are repetitions; what is preliminary becomes a badge.
    """
    said = [sentence for sentence in dict.fromkeys((*findings, *notes)) if sentence.startswith(PRELIMINARY)]
    answer, *more = [one for one in dict.fromkeys(findings) if one and one not in said] or [""]
    common: dict[str, object] = {
        "answer": answer,
        "findings": more,
        "preliminary": upper_first(said[0].removeprefix(PRELIMINARY)) if said else "",
        "notes": [note for note in notes if note not in said],
        "example": example,
    }
    return Section("top", "Findings", title, template, common | view, plots=plots)


def ranks_plot(names: Sequence[str], orders: Mapping[str, Mapping[str, Ranks]], caption: str = "") -> Plot:
    """The models' ranks in one order or two; models that are not in an order cannot be compared by it."""
    rows = {label: [found.get(name) for name in names] for label, found in orders.items()}
    return rank_sets("ranks", "Ranks of the models", names, rows, f"{caption} {POSSIBLE}".strip())


def ranks_of(standings: Sequence[Standing]) -> dict[str, Ranks]:
    """Each model's place and rank set, without models that cannot be compared."""
    places = placed(standings)
    return {one.model: (places[one.model], one.rank_low, one.rank_high) for one in standings if one.model in places}


def attack_plot(report: AttackReport, caption: str) -> Plot:
    """The ranks as attacker and as defender; `caption` says what the two mean."""
    orders = {ATTACKS[name]: ranks_of(found.standings) for name, found in report.rankings.items()}
    return ranks_plot(report.order, orders, caption)


def opening_notes(report: AttackReport) -> tuple[str, ...]:
    """What readers must know first; a note about missing answers comes before all others."""
    if not report.waiting:
        return report.notes
    verb = "is" if report.waiting == 1 else "are"
    asked = counted(report.questions, "question")
    early = f"{PRELIMINARY}{report.waiting:,} of {asked} {verb} still open, so ranks may change."
    return (early, *report.notes)


def leader_words(report: AttackReport, both: str) -> tuple[str, ...]:
    """Who is first as attacker and as defender and how certain that is, in one sentence; then who may be first.

    `both` says what it means to lead by both measures.
    """
    rankings = dict(zip(("attacker", "defender"), report.rankings.values(), strict=True))
    best = {ranking.standings[0].model for ranking in rankings.values()}
    ties = [_tie_words(role, ranking) for role, ranking in rankings.items()]
    if all(ranking.standings[0].strength is None for ranking in rankings.values()):
        return ()
    if len(best) == 1 and all(len(_unbeaten(ranking)) == 1 for ranking in rankings.values()):
        return (f"{best.pop()} leads by both measures: {both}.",)
    if all(len(_unbeaten(ranking)) == len(ranking.standings) for ranking in rankings.values()):
        return ("No model is clearly ahead, neither as an attacker nor as a defender.",)
    leads = [_lead(role, ranking) for role, ranking in rankings.items()]
    if all(lead.endswith(UNSURE) for lead in leads):
        if len(best) == 1:
            return (f"{best.pop()} comes first by both measures{UNSURE}.", *ties)
        attacker, defender = (ranking.standings[0].model for ranking in rankings.values())
        return (
            f"{attacker} comes first as an attacker and {defender} as a defender, but neither lead is certain.",
            *ties,
        )
    return (f"{'; '.join(filter(None, leads))}.", *ties)


def _lead(role: str, ranking: Ranking) -> str:
    article = "an" if role == "attacker" else "a"
    best, unbeaten = ranking.standings[0].model, _unbeaten(ranking)
    if ranking.standings[0].strength is None:
        return ""
    if len(unbeaten) == 1:
        return f"{best} is the strongest {role}"
    if len(unbeaten) == len(ranking.standings):
        return f"no model is clearly ahead as {article} {role}"
    return f"{best} comes first as {article} {role}{UNSURE}"


def _tie_words(role: str, ranking: Ranking) -> str:
    unbeaten = _unbeaten(ranking)
    if len(unbeaten) < 2 or len(unbeaten) == len(ranking.standings):
        return ""
    named = ", ".join(unbeaten) if len(unbeaten) <= 4 else f"{', '.join(unbeaten[:3])} and {len(unbeaten) - 3} others"
    return f"The judgements cannot tell which {role} is first: {named}."


def _unbeaten(ranking: Ranking) -> list[str]:
    """Models that may be first, as far as they can be compared."""
    return [s.model for s in ranking.standings if s.may_be_first]
