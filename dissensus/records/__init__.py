"""Frozen records that the packages pass to each other; columns are arrays, single values are fields."""

from dissensus.records.answers import (
    ANSWERS,
    LONGEST_SECONDS,
    ROLES,
    Annotator,
    Answer,
    Assignment,
    CustomQuestion,
    Exclusion,
    Judgement,
    Question,
    Response,
    Role,
    as_text,
    token_hash,
)
from dissensus.records.base import FORMAT_VERSION, Provenance, Record, first_problem
from dissensus.records.colours import class_colours, shown_colours
from dissensus.records.columns import Columns, Selected
from dissensus.records.estimates import Estimates, ModelAccuracy, Pair, State
from dissensus.records.funnels import Otherwise, Step
from dissensus.records.labels import Classes, Comparisons, Outcomes, Selection, Tally, Taxonomy, empty_tally
from dissensus.records.laconic import Laconic, Mepis, Readings
from dissensus.records.masks import BACKGROUND, MOST_CLASSES, VOID, Contests, Maps, MaskSelection
from dissensus.records.plans import Milestone, Plan
from dissensus.records.rankings import AllAnswers, Fragility, Ranking, Rankings, Standing
from dissensus.records.replays import HEADS, LEGEND, Replay, ReplayedBudget, ReplayedModel
from dissensus.records.scores import AttackMatrices, Attacks, PairSelection
from dissensus.records.states import DISCARDED, GONE, JUDGED, NO, OPEN, SCREENED_OUT, UNFIT, UNSURE, YES
from dissensus.records.times import UNKNOWN_MOMENT, moments_of, stored_time

__all__ = [
    "ANSWERS",
    "BACKGROUND",
    "DISCARDED",
    "FORMAT_VERSION",
    "GONE",
    "HEADS",
    "JUDGED",
    "LEGEND",
    "LONGEST_SECONDS",
    "MOST_CLASSES",
    "NO",
    "OPEN",
    "ROLES",
    "SCREENED_OUT",
    "UNFIT",
    "UNKNOWN_MOMENT",
    "UNSURE",
    "VOID",
    "YES",
    "AllAnswers",
    "Annotator",
    "Answer",
    "Assignment",
    "AttackMatrices",
    "Attacks",
    "Classes",
    "Columns",
    "Comparisons",
    "Contests",
    "CustomQuestion",
    "Estimates",
    "Exclusion",
    "Fragility",
    "Judgement",
    "Laconic",
    "Maps",
    "MaskSelection",
    "Mepis",
    "Milestone",
    "ModelAccuracy",
    "Otherwise",
    "Outcomes",
    "Pair",
    "PairSelection",
    "Plan",
    "Provenance",
    "Question",
    "Ranking",
    "Rankings",
    "Readings",
    "Record",
    "Replay",
    "ReplayedBudget",
    "ReplayedModel",
    "Response",
    "Role",
    "Selected",
    "Selection",
    "Standing",
    "State",
    "Step",
    "Tally",
    "Taxonomy",
    "as_text",
    "class_colours",
    "empty_tally",
    "first_problem",
    "moments_of",
    "shown_colours",
    "stored_time",
    "token_hash",
]
