"""The opening in words: who leads, what came of the attacks, how low the scores are."""

from __future__ import annotations

from collections.abc import Mapping

from dissensus.report.attacks.leaders import leader_words
from dissensus.report.masks.data import MasksReportData
from dissensus.report.masks.scored import ScoredView
from dissensus.report.wording import counted

ROLES = {
    "attacker": "where it contradicts others, people side with it",
    "defender": "where others contradict it, people still side with it",
}
BOTH = "people side with it where it contradicts others, and where others contradict it"


def opening_lead(data: MasksReportData) -> str:
    """How many images were looked at, selected and judged, in two sentences."""
    images = len({attack.image for duel in data.duels for attack in duel.attacks})
    chosen = (
        f"Out of a pool of {counted(data.pool_size, 'image')}, {images:,} "
        f"{'was' if images == 1 else 'were'} selected for {counted(data.selected, 'attack')}."
    )
    judged = max(0, data.questions - data.waiting)
    if data.question == "choice":
        return f"{chosen} People chose the better of two maps in {judged:,} of {counted(data.questions, 'question')}."
    return f"{chosen} The truth of {judged:,} of {counted(data.questions, 'image')} is known."


def opening_words(data: MasksReportData, tally: Mapping[str, int], scored: ScoredView | None) -> tuple[str, ...]:
    """Findings, the leaders first; empty where nothing can be said."""
    said = [*leader_words(data, ROLES, BOTH), tally_words(tally, data.question)]
    if scored is not None:
        said += [scored.pie.words, scored.transfer.words if scored.transfer else ""]
    said += data.words[:1]
    return tuple(sentence for sentence in said if sentence)


def tally_words(tally: Mapping[str, int], question: str) -> str:
    """What came of all judged attacks, in one sentence; empty where nothing was judged."""
    judged = sum(number for name, number in tally.items() if name != "waiting")
    if not judged:
        return ""
    first, second = tally.get("first", 0), tally.get("second", 0)
    many = counted(judged, "judged attack")
    if question == "choice":
        even = tally.get("even", 0)
        rest = f", and both equally often in {even:,}" if even else ""
        return f"In {many} people chose the attacker’s map {first:,} times and the defender’s {second:,} times{rest}."
    both, neither = tally.get("both", 0), tally.get("neither", 0)
    return (
        f"Of {many}, {first:,} {'exposes' if first == 1 else 'expose'} the defender alone and {second:,} the attacker "
        f"alone (Case II); on {neither:,} both fail (Case III), on {both:,} both are fine (Case I)."
    )
