"""Kinds of questions. A further one (slider, mask, grid, reveal, frame pairs) is a file here and a line below."""

from dissensus.labeling.kinds.choice import Choice
from dissensus.labeling.kinds.contains import Contains
from dissensus.labeling.kinds.pick import Pick
from dissensus.labeling.kinds.protocol import Body, Kind, class_number

QUESTIONS: dict[str, Kind] = {"contains": Contains(), "choice": Choice(), "pick": Pick()}

__all__ = ["QUESTIONS", "Body", "Kind", "class_number"]
