"""The command line's output: tables for people, JSON for programs."""

from dissensus.printing.asking import (
    show_asked,
    show_export,
    show_import,
    show_questions,
    show_serving,
)
from dissensus.printing.browsing import show_browsing
from dissensus.printing.console import document, kept_for_document, progress, say, say_beside, say_next
from dissensus.printing.demos import show_demo, show_masks_demo, show_sliders, show_sliders_open
from dissensus.printing.duplicates import show_duplicates
from dissensus.printing.failing import show_causes, show_failures
from dissensus.printing.finding import (
    place,
    show_backup,
    show_check,
    show_distance,
    show_drawn,
    show_estimates,
    show_models_short,
    show_plan,
    show_ranking,
    show_rankings,
    show_replay,
    show_report,
    show_status,
)
from dissensus.printing.human import (
    show_human,
    show_human_demo,
    show_human_export,
    show_human_sample,
    show_human_status,
    show_joined_people,
)
from dissensus.printing.kernel import show_estimate, show_gram, show_kernel_fit, show_kernels
from dissensus.printing.laconic import show_laconic, show_laconic_demo, show_laconic_report, show_reduced_pool
from dissensus.printing.making import (
    show_distort,
    show_init,
    show_models,
    show_pool,
    show_removal,
    show_round,
    show_sanity,
    show_scale,
)
from dissensus.printing.people import show_links, show_overview, show_screening, show_screenings
from dissensus.printing.replica import (
    show_collected,
    show_exported,
    show_found_pairs,
    show_replica,
    show_sampled,
)
from dissensus.printing.sequences import show_sequences
from dissensus.printing.shift import show_shift, show_shift_demo
from dissensus.printing.suite import show_suite
from dissensus.printing.video import (
    show_detection,
    show_video,
    show_video_collected,
    show_video_demo,
    show_video_status,
)

__all__ = [
    "document",
    "kept_for_document",
    "place",
    "progress",
    "say",
    "say_beside",
    "say_next",
    "show_asked",
    "show_backup",
    "show_browsing",
    "show_causes",
    "show_check",
    "show_collected",
    "show_demo",
    "show_detection",
    "show_distance",
    "show_distort",
    "show_drawn",
    "show_duplicates",
    "show_estimate",
    "show_estimates",
    "show_export",
    "show_exported",
    "show_failures",
    "show_found_pairs",
    "show_gram",
    "show_human",
    "show_human_demo",
    "show_human_export",
    "show_human_sample",
    "show_human_status",
    "show_import",
    "show_init",
    "show_joined_people",
    "show_kernel_fit",
    "show_kernels",
    "show_laconic",
    "show_laconic_demo",
    "show_laconic_report",
    "show_links",
    "show_masks_demo",
    "show_models",
    "show_models_short",
    "show_overview",
    "show_plan",
    "show_pool",
    "show_questions",
    "show_ranking",
    "show_rankings",
    "show_reduced_pool",
    "show_removal",
    "show_replay",
    "show_replica",
    "show_report",
    "show_round",
    "show_sampled",
    "show_sanity",
    "show_scale",
    "show_screening",
    "show_screenings",
    "show_sequences",
    "show_serving",
    "show_shift",
    "show_shift_demo",
    "show_sliders",
    "show_sliders_open",
    "show_status",
    "show_suite",
    "show_video",
    "show_video_collected",
    "show_video_demo",
    "show_video_status",
]
