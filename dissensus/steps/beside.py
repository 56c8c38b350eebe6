"""One class: ordinary pictures of it, to stand beside those that were selected.

Figures 3 and 6 of the paper on classifiers, 4 and 5 of the one on segmentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.backends import Unreadable, read_image
from dissensus.errors import StudyError
from dissensus.report.data import ClassBeside
from dissensus.report.pictures import data_uri
from dissensus.report.wording import counted
from dissensus.steps.examples import read_examples, shown_examples
from dissensus.steps.pictures import Pictures
from dissensus.steps.workspace import Workspace

CLASSES = 3
"""How many classes are shown, those with the most selected items first."""
LEAST = 3
"""Selected items that a class needs to be shown."""
SIDE = 192
"""Longer side of these pictures, in pixels: they are shown small."""
ORDINARY = 12
"""How many ordinary pictures are shown for each class."""

Picture = TypeVar("Picture")
Shown = Callable[[str, str, bool, int | None], Picture]
"""A picture for the page, from its name, its data URI, whether it is pixelated, and its place in the pool, if any."""


def classes_beside(
    work: Workspace[Any],
    pairs: Iterable[tuple[int, int]],
    selected: Collection[int],
    items_of: Callable[[Sequence[int]], Mapping[int, Int[Array, " n"]]],
    source: Callable[[int], str],
    shown: Shown[Picture],
) -> tuple[ClassBeside[Picture], ...]:
    """For the classes of most selected items, the study's example pictures, or else items that were not selected.

    These are drawn at random among the items of the class; the draw depends on nothing else. Classes without pictures
    are left out.

    Args:
        pairs: Class and item of everything that was selected.
        selected: All items that people are asked about.
        items_of: The items of the pool in each of some classes.
        source: Where these come from, in words, given how many there are.
    """
    counts = Counter(label for label, _ in sorted(set(pairs)))
    often = [label for label, items in counts.most_common(CLASSES) if items >= LEAST]
    examples = _examples(work, selected) if often else {}
    pool = items_of(rest) if (rest := [label for label in often if label not in examples]) else {}
    made = []
    for label in often:
        if label in examples:
            words = f"{counted(len(examples[label]), 'picture')} of this class in the folder of examples"
            pictures = _from_files(examples[label][:ORDINARY], shown)
        else:
            others = np.setdiff1d(pool[label], np.fromiter(selected, np.int64))
            words, pictures = source(len(others)), _from_pool(work, label, others, shown)
        made.append(ClassBeside(work.classes.names[label], words, pictures))
    return tuple(one for one in made if one.ordinary)


def _examples(work: Workspace[Any], selected: Collection[int]) -> Mapping[int, Sequence[str]]:
    """The files of the study's example pictures by class; none if it has no such folder any more."""
    if folder := work.settings.serve.examples:
        with suppress(StudyError):
            found, _ = read_examples(work.folder.root / folder, work.classes)
            return shown_examples(found, [uri for uri in work.pool.uris(sorted(selected)) if uri])
    return {}


def _from_files(paths: Sequence[str], shown: Shown[Picture]) -> tuple[Picture, ...]:
    images = [(Path(path).name, read_image(path)) for path in paths]
    return tuple(
        shown(name, *data_uri(image, SIDE), None) for name, image in images if not isinstance(image, Unreadable)
    )


def _from_pool(work: Workspace[Any], label: int, items: Int[Array, " n"], shown: Shown[Picture]) -> tuple[Picture, ...]:
    if work.folder.enumeration.exists():  # only items that people are asked about have been drawn
        return ()
    drawn = np.sort(np.random.default_rng(label).permutation(items)[:ORDINARY]).tolist()
    pictures, made = Pictures(work.pool, drawn, SIDE, work.progress), []
    for name, place in zip(work.pool.ids(drawn), drawn, strict=True):
        uri, is_pixelated = pictures.of(place)
        if uri is not None:
            made.append(shown(name, uri, is_pixelated, place))
    return tuple(made)
