"""What is where in this picture? People draw it, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import JudgementError
from dissensus.labeling.kinds.base import Body, Kind, named, only, told
from dissensus.records import MOST_CLASSES, VOID, Classes, shown_colours

DRAW, CORRECT = "Draw what is in the picture", "Correct what was drawn"
UNFIT, DRAWN = "unfit", "drawn"
FIELDS = {"height", "width", "runs"}
LARGEST_SIDE = 20_000
LARGEST_AREA = 64_000_000
MOST_RUNS = 300_000
"""Of a mask of four million bytes, which is what a request holds; hand-drawn ones have some thousand."""
MOST_NAMED = 4


class Mask(Kind):
    """The body is {item}; with `again` it is the second round, in which a mask that was checked is corrected.

    Drawing begins with nothing. With `prefill`, the name of a model, it begins with that model's map, which is quicker
    and leads people to agree with it.

    Kept is {height, width, runs}: the label and the length of each run, one after the other, row by row. Labels are
    numbers of classes, or 255 where nobody can tell; no two neighbouring runs have the same. `unfit` is said where the
    picture cannot be judged; a mask of nothing but 255 says the same.
    """

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The item, and whether it is the second round."""
        only(body, "item", "again", "prefill")
        (item,) = named(body, "item")
        if not isinstance(body.get("again", False), bool) or not isinstance(body.get("prefill", ""), str):
            raise JudgementError("'again' is true or false, and 'prefill' the name of a model")
        if len(classes) > MOST_CLASSES:
            raise JudgementError(f"a mask has at most {MOST_CLASSES} classes, and the study has {len(classes):,}")
        return {"item": item} | {name: body[name] for name in ("again", "prefill") if body.get(name)}

    def is_about_answers(self, body: Body, /) -> bool:
        """In the second round: about the mask that somebody drew, and what somebody else marked in it."""
        return bool(body.get("again"))

    def has_material(self, body: Body, /) -> bool:
        """What drawing begins with, in the second round or where a model's map is given."""
        return bool(body.get("again") or body.get("prefill"))

    def payload(self, body: Body, classes: Classes, /) -> Body:
        """What is asked, and the colours; what the classes are called is fetched once."""
        colours = shown_colours(VOID + 1)
        asked = CORRECT if body.get("again") else DRAW
        return {"ask": asked, "colours": colours[: len(classes)], "unknown": colours[VOID], "most_runs": MOST_RUNS}

    def kept(self, _body: Body, answer: Any, classes: Classes, /) -> Any:
        """A mask without neighbouring runs of one label, or unfit."""
        if answer == UNFIT and isinstance(answer, str):
            return answer
        if not isinstance(answer, dict) or set(answer) != FIELDS:
            raise JudgementError(
                f"the answer {_told(answer)} is no mask with height, width and runs, and not '{UNFIT}'"
            )
        height, width = (_side(name, answer[name]) for name in ("height", "width"))
        if height * width > LARGEST_AREA:
            raise JudgementError(f"a mask of {height:,}×{width:,} has more than {LARGEST_AREA:,} pixels")
        labels, lengths = _runs(answer["runs"])
        is_unknown = (labels < 0) | ((labels >= len(classes)) & (labels != VOID))
        if is_unknown.any():
            raise JudgementError(f"label {labels[is_unknown][0]} of the mask is no class, and not {VOID}")
        # compared one by one first: the sum of numbers this large might come round to the right one
        if (lengths < 1).any() or (lengths > height * width).any() or lengths.sum() != height * width:
            raise JudgementError(f"the runs of the mask do not make up its {height:,}×{width:,} pixels")
        return {"height": height, "width": width, "runs": _merged(labels, lengths)}

    def expected(self, _body: Body, given: Any, _classes: Classes, /) -> Any:
        """drawn or unfit: no two people draw the same."""
        if not isinstance(given, str) or given.strip().lower() not in (DRAWN, UNFIT):
            raise JudgementError(f"the known answer {_told(given)} of a mask is neither '{DRAWN}' nor '{UNFIT}'")
        return given.strip().lower()

    def code(self, answer: Any, /) -> int:
        """0 where something was drawn, 1 unfit: drawings are not compared by it."""
        return int(is_unfit(answer))

    def words(self, answer: Any, classes: Classes, /) -> str:
        """The classes by their share of the picture."""
        if isinstance(answer, str):
            return answer
        runs = np.array(answer["runs"], np.int64).reshape(-1, 2)
        pixels = np.bincount(runs[:, 0], runs[:, 1], VOID + 1)
        pixels[0] = 0
        largest = [int(label) for label in np.argsort(-pixels, kind="stable") if pixels[label]]
        if not largest:
            return f"only {classes.names[0]}"
        names = {label: "cannot tell" if label == VOID else classes.names[label] for label in largest}
        total = answer["height"] * answer["width"]
        shares = [f"{names[label]} {_percent(pixels[label] / total)}" for label in largest[:MOST_NAMED]]
        return ", ".join(shares + ([f"{len(largest) - MOST_NAMED} more"] if len(largest) > MOST_NAMED else []))


def is_unfit(answer: Any) -> bool:
    """True where somebody said that a picture cannot be judged, or left out every pixel of it: one run of 255."""
    if isinstance(answer, str):
        return answer == UNFIT
    return len(answer["runs"]) == 2 and answer["runs"][0] == VOID


def _side(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_SIDE:
        raise JudgementError(f"the {name} of a mask is {told(value)}: it is a whole number from 1 to {LARGEST_SIDE:,}")
    return value


def _runs(given: Any) -> tuple[Int[Array, " R"], Int[Array, " R"]]:
    """Labels and lengths of runs."""
    if not isinstance(given, list) or not given or len(given) % 2 or set(map(type, given)) != {int}:
        raise JudgementError("the runs of a mask are no list of whole numbers: label, length, label, length, …")
    if len(given) > 2 * MOST_RUNS:
        raise JudgementError(f"the mask has more than {MOST_RUNS:,} runs: draw larger regions")
    try:
        runs = np.array(given, np.int64).reshape(-1, 2)
    except OverflowError:
        raise JudgementError("the runs of a mask hold a number that no mask has") from None
    return runs[:, 0], runs[:, 1]


def _merged(labels: Int[Array, " R"], lengths: Int[Array, " R"]) -> list[int]:
    """The runs, neighbours of one label as one."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    merged: list[int] = np.stack([labels[starts], np.add.reduceat(lengths, starts)], 1).reshape(-1).tolist()
    return merged


def _told(answer: Any) -> str:
    """An answer in a complaint; a large one is not written out for that."""
    return told(answer) if isinstance(answer, (str, int, float, bool, type(None))) else f"({type(answer).__name__})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "below 1 %"
