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
from dissensus.records.labels import Classes, Comparisons, Outcomes, Selection, Tally, Taxonomy, empty_tally
from dissensus.records.rankings import Fragility, Ranking, Rankings, Standing
from dissensus.records.scores import AttackMatrices, Attacks, PairSelection

__all__ = [
    "ANSWERS",
    "FORMAT_VERSION",
    "ROLES",
    "Annotator",
    "Answer",
    "Assignment",
    "AttackMatrices",
    "Attacks",
    "Classes",
    "Comparisons",
    "Exclusion",
    "Fragility",
    "Judgement",
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
    "empty_tally",
    "moment_of",
]
