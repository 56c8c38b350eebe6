"""Frozen records that the rooms hand to each other; columns are arrays, single things are fields."""

from dissensus.records.answers import (
    ANSWERS,
    ROLES,
    Annotator,
    Answer,
    Assignment,
    Exclusion,
    Judgement,
    Question,
    Response,
    Role,
    SetQuestion,
    as_text,
    moment_of,
)
from dissensus.records.base import FORMAT_VERSION, Provenance, Record
from dissensus.records.colours import class_colours, shown_colours
from dissensus.records.labels import Classes, Comparisons, Outcomes, Selection, Tally, Taxonomy, empty_tally
from dissensus.records.masks import BACKGROUND, MOST_CLASSES, VOID, Contests, Maps, MaskSelection
from dissensus.records.rankings import Fragility, Ranking, Rankings, Standing
from dissensus.records.scores import AttackMatrices, Attacks, PairSelection

__all__ = [
    "ANSWERS",
    "BACKGROUND",
    "FORMAT_VERSION",
    "MOST_CLASSES",
    "ROLES",
    "VOID",
    "Annotator",
    "Answer",
    "Assignment",
    "AttackMatrices",
    "Attacks",
    "Classes",
    "Comparisons",
    "Contests",
    "Exclusion",
    "Fragility",
    "Judgement",
    "Maps",
    "MaskSelection",
    "Outcomes",
    "PairSelection",
    "Provenance",
    "Question",
    "Ranking",
    "Rankings",
    "Record",
    "Response",
    "Role",
    "Selection",
    "SetQuestion",
    "Standing",
    "Tally",
    "Taxonomy",
    "as_text",
    "class_colours",
    "empty_tally",
    "moment_of",
    "shown_colours",
]
