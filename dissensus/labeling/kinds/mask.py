"""What is where in this image? People draw it, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, Kind, named, only
from dissensus.records import MOST_CLASSES, VOID, Classes, shown_colours

DRAW, CORRECT = "Draw what is in the picture", "Correct the mask"
UNFIT, DRAWN = "unfit", "drawn"
FIELDS = {"height", "width", "runs"}
LARGEST_SIDE = 20_000
LARGEST_AREA = 64_000_000
MOST_RUNS = 300_000
"""What fits into a request of four million bytes; hand-drawn masks have a few thousand."""
MOST_NAMED = 4


class Mask(Kind):
    """The body is {item}; with `again` it is the second round, in which a checked mask is corrected.

    Drawing starts from an empty mask. With `prefill`, the name of a model, it starts from that model's map, which is
    faster but biases people towards it.

    The answer is {height, width, runs}: the label and the length of each run in turn, row by row. Labels are class
    numbers, or 255 where nobody can tell; neighbouring runs have different labels. `unfit` says that the image cannot
    be judged; so does a mask of nothing but 255.
    """

    noun = "masks to draw"
    seconds = 300

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The item, whether it is the second round, and the model to start from."""
        only(body, "item", "again", "prefill")
        (item,) = named(body, "item")
        if not isinstance(body.get("again", False), bool) or not isinstance(body.get("prefill", ""), str):
            raise JudgementError("'again' must be true or false, and 'prefill' the name of a model")
        if len(classes) > MOST_CLASSES:
            raise JudgementError(f"a mask can have at most {MOST_CLASSES} classes, but the study has {len(classes):,}")
        return {"item": item} | {name: body[name] for name in ("again", "prefill") if body.get(name)}

    def is_about_answers(self, body: Body, /) -> bool:
        """True in the second round: it is about somebody's mask and the errors somebody else marked in it."""
        return bool(body.get("again"))

    def has_material(self, body: Body, /) -> bool:
        """True if drawing does not start from an empty mask."""
        return bool(body.get("again") or body.get("prefill"))

    def payload(self, body: Body, classes: Classes, /) -> Body:
        """The question and the colours; the page fetches class names once."""
        colours = shown_colours(VOID + 1)
        asked = CORRECT if body.get("again") else DRAW
        return {"ask": asked, "colours": colours[: len(classes)], "unknown": colours[VOID], "most_runs": MOST_RUNS}

    def kept(self, _body: Body, answer: Any, classes: Classes, /) -> Any:
        """A mask with neighbouring runs of the same label merged, or unfit."""
        if answer == UNFIT and isinstance(answer, str):
            return answer
        if not isinstance(answer, dict) or set(answer) != FIELDS:
            raise JudgementError(
                f"the answer {_short(answer)} must be a mask with height, width and runs, or '{UNFIT}'"
            )
        height, width = (_side(name, answer[name]) for name in ("height", "width"))
        if height * width > LARGEST_AREA:
            raise JudgementError(f"a mask of {height:,}×{width:,} is too large: at most {LARGEST_AREA:,} pixels")
        labels, lengths = _runs(answer["runs"])
        is_unknown = (labels < 0) | ((labels >= len(classes)) & (labels != VOID))
        if is_unknown.any():
            raise JudgementError(f"label {labels[is_unknown][0]} of the mask is neither a class nor {VOID}")
        # checked one by one first: the sum of very large numbers could overflow to the right one
        if (lengths < 1).any() or (lengths > height * width).any() or lengths.sum() != height * width:
            raise JudgementError(f"the runs of the mask do not add up to its {height:,}×{width:,} pixels")
        return {"height": height, "width": width, "runs": _merged(labels, lengths)}

    def expected(self, _body: Body, given: Any, _classes: Classes, /) -> Any:
        """Only drawn or unfit, as no two people draw the same mask."""
        if not isinstance(given, str) or given.strip().lower() not in (DRAWN, UNFIT):
            raise JudgementError(f"the known answer {_short(given)} to a mask question must be '{DRAWN}' or '{UNFIT}'")
        return given.strip().lower()

    def code(self, answer: Any, /) -> int:
        """0 if drawn, 1 if unfit: the masks themselves are not compared."""
        return int(is_unfit(answer))

    def words(self, answer: Any, classes: Classes, /) -> str:
        """The classes with their share of the image, largest first."""
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
    """True if somebody said that an image cannot be judged, or left every pixel undecided: a single run of 255."""
    if isinstance(answer, str):
        return answer == UNFIT
    return len(answer["runs"]) == 2 and answer["runs"][0] == VOID


def _side(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_SIDE:
        raise JudgementError(
            f"the {name} of a mask is {quoted(value)}: it must be a whole number from 1 to {LARGEST_SIDE:,}"
        )
    return value


def _runs(given: Any) -> tuple[Int[Array, " R"], Int[Array, " R"]]:
    """Labels and lengths of runs."""
    if not isinstance(given, list) or not given or len(given) % 2 or set(map(type, given)) != {int}:
        raise JudgementError("the runs of a mask must be a list of whole numbers: label, length, label, length, …")
    if len(given) > 2 * MOST_RUNS:
        raise JudgementError(f"the mask has more than {MOST_RUNS:,} runs: draw larger regions")
    try:
        runs = np.array(given, np.int64).reshape(-1, 2)
    except OverflowError:
        raise JudgementError("the runs of a mask contain a number that is out of range") from None
    return runs[:, 0], runs[:, 1]


def _merged(labels: Int[Array, " R"], lengths: Int[Array, " R"]) -> list[int]:
    """The runs, with neighbours of the same label merged."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    merged: list[int] = np.stack([labels[starts], np.add.reduceat(lengths, starts)], 1).reshape(-1).tolist()
    return merged


def _short(answer: Any) -> str:
    """An answer as error messages show it; a large one is not written out."""
    return quoted(answer) if isinstance(answer, (str, int, float, bool, type(None))) else f"({type(answer).__name__})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
