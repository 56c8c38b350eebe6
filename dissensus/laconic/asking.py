"""The laconic game: what people are asked, in which order, and what they learn after every round.

There are two kinds of rounds. In a `reveal`, a person uncovers an image until they can name it; in a `pick`, they name
a MEPI of a machine. Nobody gets the same image twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.evaluation import read_answers
from dissensus.errors import JudgementError, StudyError
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.base import MOST_NAMES, listed_names
from dissensus.laconic.found import FoundMepi
from dissensus.laconic.gallery import Gallery, Paths, mepi_key, quick_png
from dissensus.laconic.originals import kept_truth
from dissensus.records import Question
from dissensus.reductions.pictures import Levels, reduction_named
from dissensus.steps.presence import recorded_missing
from dissensus.steps.workspace import Workspace

ASK = "This much was enough for a machine. What is it?"
FIRST = 1_000
"""How many of the questions with the fewest answers go first."""
READ = "read"
"""The mode of rounds that show a MEPI of a machine."""


@dataclass(frozen=True)
class Round:
    """What a question of the game is about: an image by its number, a reduction and a mode; for MEPIs of machines, the
    levels, and the models that they belong to."""

    image: int
    reduction: str
    mode: str
    levels: Levels | None = None
    models: tuple[str, ...] = ()


class Play(Inquiry):
    """All rounds that can be played in a study."""

    is_told = True

    def __init__(self, work: Workspace[Any], found: Sequence[FoundMepi] = ()) -> None:
        """`found` are the MEPIs of machines, if there are any yet.

        Raises:
            StudyError: the classes of the images are not known.
        """
        self.work, self.settings = work, work.settings.laconic
        super().__init__()
        self.truth = kept_truth(work).first(self.settings.images)
        self.names = list(self.truth.groups.names)
        self.obstacle = _obstacle(self.names)
        """Why people cannot play, although the machines can be tested; empty if they can."""
        self.gallery = Gallery(work, self.settings)
        self._number = {item: number for number, item in enumerate(self.truth.ids)}
        self._found = [one for one in found if one.item in self._number]
        self._reveals, self._picks = self._listed_reveals(), self._listed_picks()
        self._paths = Paths(self.gallery, self.truth.ids, self._keys)

    def current_version(self) -> tuple[int, ...]:
        """Changes when the images of a test or the MEPIs of machines do."""
        folder = self.work.folder
        files = (folder.laconic_truth, *sorted((folder.laconic / "mepis").glob("*.parquet")))
        return tuple(file.stat().st_mtime_ns for file in files if file.exists())

    def questions(self) -> list[Questions]:
        """Every image with every reduction, in every mode, and the MEPIs of the machines."""
        return [Questions("reveal", list(self._reveals)), Questions("pick", list(self._picks))]

    @cached_property
    def rounds(self) -> list[Round]:
        """What every question is about."""
        return [*self._reveals.values(), *self._picks.values()]

    def answers(self) -> Answers:
        """Everybody's answers, from the database, without excluded people."""
        return read_answers(self.work.answers, self.questions(), self.work.people.excluded())

    def needed(self, answers: Answers) -> Needed:
        """All that have a picture. Images with the fewest answers go first; reductions and modes take
        turns, or players would mostly name MEPIs of machines, which outnumber the images to uncover.
        """
        missing = recorded_missing(self.work.database)
        image = np.array([one.image for one in self.rounds], np.int64)
        gone = np.array([item in missing for item in self.truth.ids], bool)
        count = answers.counts(len(self.rounds))
        is_needed = ~gone[image]
        answered = _totals(image, count)
        turn = _totals(self._manner, count) + _ranks((self._chance, count), (self._manner, answered))
        first = np.lexsort((self._chance, turn, answered))
        is_open = is_needed & (count < self.work.settings.judge.min_answers)
        return Needed(is_needed, urgent=tuple(first[is_open[first]][:FIRST].tolist()), is_in_order=True)

    def uris(self) -> Mapping[str, str | None]:
        return self._paths

    def picture_at(self, question: Question, steps: Sequence[int] | None) -> bytes:
        """What is left of an image after so many steps; all of it if None."""
        item = QUESTIONS[question.kind].source(question.body)
        if item is None:
            raise StudyError(f"a {question.kind} question has no picture to uncover")
        if steps is None:
            return quick_png(self.gallery.original(item))
        reduction = question.body["reduction"]
        return quick_png(self.gallery.reduced(item, reduction, self.gallery.levels(item, reduction, steps)))

    def feedback(self, question: Question, answer: Any) -> dict[str, Any] | None:
        """Whether it was right, what it is, and how much of it was to be seen; compared with the best machine."""
        about = (self._reveals if question.kind == "reveal" else self._picks).get(question.text)
        if about is None:  # one of the user's own questions
            return None
        item, label = self.truth.ids[about.image], int(self.truth.group[about.image])
        name = answer if about.mode == READ else answer["name"]
        levels, best = about.levels, None
        if levels is None:
            levels = self.gallery.levels(item, about.reduction, answer["steps"][-1][1])
            best = self._best(item, about.reduction)
        share = self.gallery.share(item, about.reduction, levels)
        return {
            "right": name == label,
            "expected": self.names[label],
            "answer": label,
            "note": _note(about.mode, name == label, name is None, share, best),
            "share": share,
            "best": best,
            "uncovered": about.mode != READ,
            "has_whole": True,
        }

    def _best(self, item: str, reduction: str) -> float | None:
        """The smallest share of an image that a machine recognised."""
        known = self._least.get((item, reduction))
        return None if known is None else min(self.gallery.share(item, reduction, levels) for levels in known)

    @cached_property
    def _least(self) -> dict[tuple[str, str], list[Levels]]:
        known: dict[tuple[str, str], list[Levels]] = {}
        for _, reduction, item, levels in self._found:
            known.setdefault((item, reduction), []).append(levels)
        return known

    def _listed_reveals(self) -> dict[str, Round]:
        found, settings = {}, self.settings
        scale = f"{settings.spacing} steps, {settings.side} pixels, {settings.crop:g} of the image"
        for number, item in enumerate(() if self.obstacle else self.truth.ids):
            for reduction in self.settings.reductions:
                axes = list(reduction_named(reduction).axes)
                for mode in self.settings.modes:
                    body = {"item": item, "reduction": reduction, "axes": axes, "mode": mode, "names": self.names}
                    body["scale"] = scale
                    found[Question(kind="reveal", body=body).text] = Round(number, reduction, mode)
        return found

    def _listed_picks(self) -> dict[str, Round]:
        """A question for every different MEPI, whichever machines have it."""
        models: dict[tuple[str, str, Levels], list[str]] = {}
        for model, reduction, item, levels in self._found:
            models.setdefault((item, reduction, tuple(levels)), []).append(model)
        self._keys = {} if self.obstacle else {mepi_key(*about): about for about in models}
        found = {}
        for key, about in self._keys.items():
            item, reduction, levels = about
            body = {"item": key, "ask": ASK, "names": self.names, "source": item}
            whose = tuple(models[about])
            found[Question(kind="pick", body=body).text] = Round(self._number[item], reduction, READ, levels, whose)
        return found

    @cached_property
    def _chance(self) -> Int[Array, " q"]:
        """An order that nobody chose."""
        return np.array([crc32(text.encode()) for text in (*self._reveals, *self._picks)], np.int64)

    @cached_property
    def _manner(self) -> Int[Array, " q"]:
        """Every question's reduction and mode, as one number."""
        numbers: dict[tuple[str, str], int] = {}
        return np.array([numbers.setdefault((one.reduction, one.mode), len(numbers)) for one in self.rounds], np.int64)


def _obstacle(names: list[str]) -> str:
    """Why nobody can choose from these names; empty if they can."""
    try:
        listed_names({"names": names})
    except JudgementError as error:
        few = f"give at most {MOST_NAMES}, all different, with `dissensus laconic find --classes FILE`"
        return f"nobody can choose from these {len(names):,} classes ({error}): {few}"
    return ""


def _totals(group: Int[Array, " q"], count: Int[Array, " q"]) -> Array:
    """For each question, how many answers its group has."""
    return np.bincount(group, count)[group] if len(group) else count


def _ranks(by: tuple[Array, ...], groups: tuple[Array, ...]) -> Int[Array, " q"]:
    """For each question, how many of its group come before it; the last of `by` counts most."""
    order = np.lexsort((*by, *groups))
    starts = np.r_[True, np.any([group[order][1:] != group[order][:-1] for group in groups], axis=0)][: len(order)]
    place = np.arange(len(order))
    ranks = np.empty_like(place)
    ranks[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return ranks


def _note(mode: str, is_right: bool, is_given_up: bool, share: float, best: float | None) -> str:
    """How much was to be seen, in a sentence or two; machines have no names here."""
    seen = f"{_percent(share)} of the picture"
    if mode == READ:
        return f"A machine recognised it from {_percent(share)} of the picture."
    verb = "needed" if is_right else "had uncovered" if not is_given_up else "gave up at"
    machine = "" if best is None else f" The best machine needed {_percent(best)}."
    praise = " You beat it!" if is_right and best is not None and share < best else ""
    return f"You {verb} {seen}.{machine}{praise}"


def _percent(share: float) -> str:
    return f"{100 * share:.{1 if share < 0.1 else 0}f}\N{NO-BREAK SPACE}%"
