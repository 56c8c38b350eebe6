"""From judgements to verdicts: combining people's answers to a question, and measuring how reliable people are."""

from dissensus.screening.agreement import METRICS, Agreement, agreement, krippendorff_alpha
from dissensus.screening.bt500 import Bt500, bt500
from dissensus.screening.consistency import agreement_with_others, repeat_consistency
from dissensus.screening.controls import (
    Suggestion,
    Threshold,
    control_results,
    control_threshold,
    suggested_exclusions,
)
from dissensus.screening.counts import cross_counts
from dissensus.screening.dawid_skene import NO_MAYBE_YES, DawidSkene, dawid_skene
from dissensus.screening.frame_votes import (
    FrameRule,
    FrameVotes,
    JudgedFrames,
    first_votes,
    frame_agreement,
    frame_votes,
    joint_pairs,
    judged_anchors,
    judged_frames,
)
from dissensus.screening.majority import majority_verdicts
from dissensus.screening.means import Means, PairMeans, item_means, pair_means
from dissensus.screening.p910 import P910, p910
from dissensus.screening.panel import Panel, PanelAnswers, panel_agreement, panel_of, panel_skill
from dissensus.screening.preferences import Weighing, WeightedAnswers, by_bt500, by_mean, by_p910, preferences
from dissensus.screening.shares import Shares
from dissensus.screening.states import states_of
from dissensus.screening.turning import Turns, cheapest_turns
from dissensus.screening.verdicts import Rule, Verdicts, by_dawid_skene, by_majority

__all__ = [
    "METRICS",
    "NO_MAYBE_YES",
    "P910",
    "PREFERENCES",
    "VERDICTS",
    "Agreement",
    "Bt500",
    "DawidSkene",
    "FrameRule",
    "FrameVotes",
    "JudgedFrames",
    "Means",
    "PairMeans",
    "Panel",
    "PanelAnswers",
    "Rule",
    "Shares",
    "Suggestion",
    "Threshold",
    "Turns",
    "Weighing",
    "WeightedAnswers",
    "agreement",
    "agreement_with_others",
    "bt500",
    "by_bt500",
    "by_mean",
    "by_p910",
    "cheapest_turns",
    "control_results",
    "control_threshold",
    "cross_counts",
    "dawid_skene",
    "first_votes",
    "frame_agreement",
    "frame_votes",
    "item_means",
    "joint_pairs",
    "judged_anchors",
    "judged_frames",
    "krippendorff_alpha",
    "majority_verdicts",
    "p910",
    "pair_means",
    "panel_agreement",
    "panel_of",
    "panel_skill",
    "preferences",
    "repeat_consistency",
    "states_of",
    "suggested_exclusions",
]

VERDICTS: dict[str, Verdicts] = {"majority": by_majority, "dawid-skene": by_dawid_skene}
"""Every method from answers to verdicts, under the name that settings use."""

PREFERENCES: dict[str, Weighing] = {"bt500": by_bt500, "p910": by_p910, "mean": by_mean}
"""Every method from slider answers or ratings to preferences, under the name that settings use."""
