"""Class maps as answers, and what goes through files with them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.records import VOID, Classes, Question, Response

NAMES = ("background", "cat", "dog", "Königs-Pinguin, groß", "5", *(f"class {n}" for n in range(5, 254)))
MANY = Classes(NAMES)
SMALL = np.array([[0, 1, 1], [255, 2, 1]], np.uint8)
TIME = "2026-11-15T09:30:00+00:00"

sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))
some_labels = st.sampled_from([0, 1, 2, 3, 4, 5, 253, VOID])
whole = st.builds(lambda size, label: np.full(size, label, np.uint8), sizes, some_labels)
"""Maps of one label, one pixel among them."""
label_maps = arrays.arrays(np.uint8, sizes, elements=some_labels) | whole
every_label = st.just(np.array([*range(254), VOID, VOID], np.uint8).reshape(16, 16))


def answer(labels: Any) -> dict[str, Any]:
    """Run by run, without anything of numpy."""
    rows = [[int(label) for label in row] for row in labels]
    runs = [(label, len(list(run))) for label, run in itertools.groupby(itertools.chain(*rows))]
    return {"height": len(rows), "width": len(rows[0]), "runs": [*itertools.chain(*runs)]}


def labels(given: dict[str, Any]) -> list[list[int]]:
    """Pixel by pixel, without anything of numpy."""
    runs = given["runs"]
    flat = [label for label, length in zip(runs[::2], runs[1::2], strict=True) for _ in range(length)]
    width = given["width"]
    return [flat[row * width : (row + 1) * width] for row in range(given["height"])]


def drew(number: int, item: str, given: Any, annotator: str = "ann", **changes: Any) -> Response:
    """Somebody drew a mask, or found the image unfit."""
    again = {"again": True} if changes.pop("again", False) else {}
    kind = changes.pop("kind", "mask")
    question = Question(kind=kind, body={"item": item, **again})
    given = answer(given) if isinstance(given, np.ndarray) else given
    fields = {"id": str(number), "annotator": annotator, "answer": given, "time": TIME}
    return Response(question=question, **(fields | changes))


def checked(number: int, item: str, annotator: str = "eva") -> Response:
    return drew(number, item, [{"x": 1, "y": 0, "kind": "border"}], annotator, kind="check")
