"""From judgements to verdicts: what the answers of several people to one question come to, and how good people are."""

from dissensus.screening.agreement import METRICS, Agreement, agreement, krippendorff_alpha
from dissensus.screening.consistency import agreement_with_others, repeat_consistency
from dissensus.screening.controls import (
    Suggestion,
    Threshold,
    control_results,
    control_threshold,
    suggested_exclusions,
)
from dissensus.screening.dawid_skene import NO_MAYBE_YES, DawidSkene, dawid_skene
from dissensus.screening.majority import (
    NO,
    UNFIT,
    UNJUDGED,
    UNSURE,
    YES,
    latest_answers,
    majority_verdicts,
)
from dissensus.screening.panel import Panel, Told, panel_agreement, panel_of, panel_skill
from dissensus.screening.shares import Shares
from dissensus.screening.verdicts import Rule, Verdicts, by_dawid_skene, by_majority

__all__ = [
    "METRICS",
    "NO",
    "NO_MAYBE_YES",
    "UNFIT",
    "UNJUDGED",
    "UNSURE",
    "VERDICTS",
    "YES",
    "Agreement",
    "DawidSkene",
    "Panel",
    "Rule",
    "Shares",
    "Suggestion",
    "Threshold",
    "Told",
    "agreement",
    "agreement_with_others",
    "control_results",
    "control_threshold",
    "dawid_skene",
    "krippendorff_alpha",
    "latest_answers",
    "majority_verdicts",
    "panel_agreement",
    "panel_of",
    "panel_skill",
    "repeat_consistency",
    "suggested_exclusions",
]

VERDICTS: dict[str, Verdicts] = {"majority": by_majority, "dawid-skene": by_dawid_skene}
"""Every way from answers to verdicts under the name that settings use."""
