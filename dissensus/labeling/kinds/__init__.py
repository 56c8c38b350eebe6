"""Kinds of questions. To add one, add a file here and a line below."""

import json
from functools import lru_cache

from dissensus.labeling.kinds.base import NO_CODE, Body, Kind, class_number
from dissensus.labeling.kinds.check import Check
from dissensus.labeling.kinds.choice import Choice, is_prediction_key, prediction_key
from dissensus.labeling.kinds.contains import Contains
from dissensus.labeling.kinds.frames import Frames
from dissensus.labeling.kinds.grid import Grid
from dissensus.labeling.kinds.label import Label
from dissensus.labeling.kinds.mask import Mask
from dissensus.labeling.kinds.pairs import Pairs
from dissensus.labeling.kinds.pick import PICK
from dissensus.labeling.kinds.rating import Rating
from dissensus.labeling.kinds.reveal import Reveal
from dissensus.labeling.kinds.review import Review
from dissensus.labeling.kinds.slider import Slider

QUESTIONS: dict[str, Kind] = {
    "contains": Contains(),
    "choice": Choice(),
    "pick": PICK,
    "label": Label(),
    "slider": Slider(),
    "rating": Rating(),
    "check": Check(),
    "mask": Mask(),
    "reveal": Reveal(),
    "grid": Grid(),
    "pairs": Pairs(),
    "review": Review(),
    "frames": Frames(),
}

SHORT = 64
"""Answers up to this many characters are cached: masks are long, and never come twice."""


def code_of_text(kind: str, answer: str) -> int:
    """The code of an answer stored as JSON; cached for short answers, of which few differ."""
    return _known_code(kind, answer) if len(answer) <= SHORT else QUESTIONS[kind].code(json.loads(answer))


@lru_cache(1 << 14)
def _known_code(kind: str, answer: str) -> int:
    return QUESTIONS[kind].code(json.loads(answer))


__all__ = [
    "NO_CODE",
    "QUESTIONS",
    "Body",
    "Kind",
    "class_number",
    "code_of_text",
    "is_prediction_key",
    "prediction_key",
]
