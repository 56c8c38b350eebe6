"""Kinds of questions. A further one (grid, reveal, frame pairs) is a file here and a line below."""

from dissensus.labeling.kinds.check import Check
from dissensus.labeling.kinds.choice import Choice, is_prediction_key, prediction_key
from dissensus.labeling.kinds.contains import Contains
from dissensus.labeling.kinds.mask import Mask
from dissensus.labeling.kinds.pick import Pick
from dissensus.labeling.kinds.protocol import NO_CODE, Body, Kind, class_number
from dissensus.labeling.kinds.slider import Slider

QUESTIONS: dict[str, Kind] = {
    "contains": Contains(),
    "choice": Choice(),
    "pick": Pick(),
    "slider": Slider(),
    "check": Check(),
    "mask": Mask(),
}

__all__ = ["NO_CODE", "QUESTIONS", "Body", "Kind", "class_number", "is_prediction_key", "prediction_key"]
