"""Section 4.3.1: how much the rankings depend on the measure by which maps are compared with the drawn masks."""

from __future__ import annotations

from dataclasses import replace

from dissensus.competition.attacks import Orders, other_orders
from dissensus.competition.standings import Method
from dissensus.discrepancy.masks import agreements
from dissensus.discrepancy.measures import MEASURES
from dissensus.steps.workspace import Workspace
from dissensus.tasks.masks.columns import MapColumn
from dissensus.tasks.masks.judging import MaskEvaluation
from dissensus.tasks.masks.settings import MaskSettings
from dissensus.tasks.masks.standings import MaskEvidence, evidence_of


def by_other_measures(
    work: Workspace[MaskSettings], evaluation: MaskEvaluation, method: Method
) -> tuple[dict[str, Orders], dict[str, str]]:
    """Standings of the same images and masks under every other measure, and why some have none; empty for choices.

    Unlike in the paper's Table 4, nothing is selected or drawn again: only the scores change.
    """
    truths = evaluation.states.truths
    if truths is None:
        return {}, {}
    maps = [MapColumn(work.folder, name).at(evaluation.keys[:, 0]) for name in evaluation.models]

    def evidence(measure: str) -> MaskEvidence:
        scores, known = agreements(maps, truths, len(work.classes), measure)
        return evidence_of(replace(evaluation, states=replace(evaluation.states, scores=scores, known=known)))

    own = evaluation.rounds[-1].settings["measure"]
    ways = {measure: (evidence(measure), method) for measure in MEASURES if measure != own}
    return other_orders(ways, evaluation.models, "images")
