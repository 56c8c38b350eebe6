"""Two frames of a video: is the label right for both, and are they similar? (Thesis, section 4.2.4.)"""

from __future__ import annotations

import json
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, Kind, class_number, named, only
from dissensus.records import FRAME_ANSWERS, FRAME_LABEL, FRAME_SIMILAR, Classes, frame_words

SIDES = ("anchor", "frame")
FIELDS = ("label", "similar")
MOST_LABELS = 20
REVIEW = 2
"""The stage in which people who have seen how everybody voted answer again."""


class Frames(Kind):
    """The body is {anchor, frame, labels} with optional `names` and `stage`.

    `labels` are classes, of which any may be present, as long as both frames show it. With `names`, one for each label,
    the labels are numbers of classes that are not the study's. Which of the two frames comes first is random; nothing
    tells the anchor from its neighbour, or how far apart they are.

    The answer is {label, similar}: whether the label is right for both (`right`, `wrong` or `unsure`), and whether they
    are similar (`yes`, or why not: `motion`, `background`, `blur` or `other`; or `unsure`). `similar` is null if, and
    only if, the label is wrong. `stage` 2 is the joint review: the page shows how the first stage voted.
    """

    noun = "pairs of frames"
    seconds = 5
    is_pictorial = True
    """Names of frames would tell how far apart they are, so that ids are no substitute."""

    def checked(self, body: Body, classes: Classes, /) -> Body:
        only(body, "anchor", "frame", "labels", "names", "stage")
        anchor, frame = named(body, *SIDES)
        if anchor == frame:
            raise JudgementError(f"anchor and frame are both {quoted(anchor)}: give two different items")
        given = body.get("labels")
        if not isinstance(given, list) or not 1 <= len(given) <= MOST_LABELS:
            raise JudgementError(f"'labels' is {quoted(given)}: it must be a list of 1 to {MOST_LABELS} classes")
        names = _names(body, len(given)) if "names" in body else None
        labels = [class_number(one, classes) if names is None else _number(one) for one in given]
        if len(set(labels)) < len(labels):
            raise JudgementError(f"'labels' is {quoted(given)}: give every class once")
        kept: Body = {"anchor": anchor, "frame": frame, "labels": labels} | ({"names": names} if names else {})
        return kept | _stage(body)

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The frame that was drawn to come first, and the other one."""
        return (body["frame"], body["anchor"]) if shown.get("first") == "frame" else (body["anchor"], body["frame"])

    def group(self, body: Body, /) -> str:
        """Every pair is its own group: in a row, the frame that keeps coming back would be the anchor."""
        return json.dumps([body["anchor"], body["frame"]])

    def chance(self, number: int, _body: Body, /) -> Body:
        return {"first": SIDES[number & 1]}

    def is_about_answers(self, body: Body, /) -> bool:
        """True for the joint review."""
        return "stage" in body

    def has_material(self, body: Body, /) -> bool:
        """True for the joint review: how many people gave each answer in the first stage."""
        return "stage" in body

    def payload(self, body: Body, classes: Classes, /) -> Body:
        """The labels' names and glosses, and whether this is the joint review."""
        if names := body.get("names"):
            labels = [{"name": name, "gloss": ""} for name in names]
        else:
            labels = [{"name": classes.names[one], "gloss": classes.gloss(one)} for one in body["labels"]]
        return {"labels": labels, "review": "stage" in body}

    def kept(self, _body: Body, answer: Any, _classes: Classes, /) -> Any:
        """The label first, then how similar the frames are."""
        if not isinstance(answer, dict) or set(answer) != set(FIELDS):
            raise JudgementError(f"the answer {quoted(answer)} must have exactly {' and '.join(FIELDS)}")
        label, similar = answer["label"], answer["similar"]
        if label not in FRAME_LABEL:
            raise JudgementError(f"'label' is {quoted(label)}: it must be one of {', '.join(FRAME_LABEL)}")
        if label == "wrong" and similar is not None:
            raise JudgementError(f"'similar' is {quoted(similar)}: it must be null if the label is wrong")
        if label != "wrong" and similar not in FRAME_SIMILAR:
            raise JudgementError(f"'similar' is {quoted(similar)}: it must be one of {', '.join(FRAME_SIMILAR)}")
        return {"label": label, "similar": similar}

    def code(self, answer: Any, /) -> int:
        """The answer's place in `FRAME_ANSWERS`."""
        return FRAME_ANSWERS.index((answer["label"], answer["similar"]))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        return frame_words(answer["label"], answer["similar"])


def _names(body: Body, labels: int) -> list[str]:
    names = body["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise JudgementError("'names' must be a list of names")
    if len(names) != labels:
        raise JudgementError(f"'names' has {len(names)} names for {labels} labels: give one for each label")
    return list(names)


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise JudgementError(f"the label {quoted(value)} is not a class number, which labels with 'names' must be")
    return value


def _stage(body: Body) -> Body:
    if "stage" not in body:
        return {}
    if body["stage"] != REVIEW or isinstance(body["stage"], bool) or not isinstance(body["stage"], int):
        raise JudgementError(
            f"'stage' is {quoted(body['stage'])}: it must be {REVIEW}, or left out for the first stage"
        )
    return {"stage": REVIEW}
