"""What people are asked: training with feedback, the labels themselves, and the review of everybody's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import ClassesError, StudyError
from dissensus.inquiry import Inquiry
from dissensus.records import Question
from dissensus.shift.human.answers import label_question
from dissensus.shift.human.kept import Photo, kept_sample, picture_paths
from dissensus.shift.human.reviews import kept_reviews
from dissensus.shift.pages import Page, page_named
from dissensus.steps.workspace import Workspace

PRACTICE = "Practice: what is it?"


class HumanPage(Page):
    """Questions about images of the sample, beside the guide and examples of every class."""

    def __init__(self, work: Workspace[Any]) -> None:
        """Read the sample.

        Raises:
            StudyError: there is nothing to ask yet; says what to do first.
        """
        self.sample = kept_sample(work)
        super().__init__(work)
        self._uris = picture_paths(work, self._photos())
        if not any(self._uris.values()):
            raise StudyError(f"the images of {work.folder.root} have no pictures to look at: make a pool of files")

    def _photos(self) -> Sequence[Photo]:
        """The images that are asked about."""
        return self.sample.evaluation

    def _folder(self) -> Path:
        return self.work.folder.human

    def uris(self) -> Mapping[str, str | None]:
        return self._uris

    def guide(self, label: int) -> str:
        return (self.sample.guide or {}).get(label, "")

    def examples(self, label: int) -> Sequence[str]:
        return self.sample.shown.get(label, ())


class TrainPage(HumanPage):
    """Images for training, of all classes or of one family: people learn at once what is right."""

    kind = "label"
    is_told = True
    is_for_everybody = True

    def __init__(self, work: Workspace[Any], family: str | None = None) -> None:
        """`family` is a node of the taxonomy: only its classes are asked about, and offered.

        Raises:
            StudyError: there is no such node, it has no two classes, or there are no images of it.
        """
        self.family = None if family is None else _family(work, family)
        self.name = family
        super().__init__(work)

    def _photos(self) -> Sequence[Photo]:
        return [one for one in self.sample.training if self.family is None or one.label in self.family]

    def _listed(self) -> list[Question]:
        return [training_question(one, self.family) for one in self._photos()]

    @cached_property
    def _of_text(self) -> dict[str, Photo]:
        """The images by the texts of their questions."""
        return {training_question(one, self.family).text: one for one in self._photos()}

    def _nothing(self) -> str:
        of = "" if self.name is None else f" of '{self.name}'"
        root = self.work.folder.root
        return f"there are no images{of} to train on: dissensus shift human sample {root} --training N"

    def feedback(self, question: Question, answer: Any) -> dict[str, Any] | None:
        """Whether the first label is right, what is right, and what the guide says about it."""
        photo = self._of_text.get(question.text)
        if photo is None:  # one of the user's own questions
            return None
        first = None if answer is None or not answer["labels"] else answer["labels"][0]
        return {
            "right": first == photo.label,
            "expected": self.work.classes.names[photo.label],
            "answer": {"labels": [photo.label], "alternative": None},
            "note": self.guide(photo.label) or self.work.classes.gloss(photo.label),
        }


class LabelPage(HumanPage):
    """The images that people label: no feedback, and everybody labels each image once."""

    kind = "label"

    def _listed(self) -> list[Question]:
        return [label_question(one) for one in self.sample.evaluation]

    def _nothing(self) -> str:
        return f"there are no images to label: dissensus shift human sample {self.work.folder.root} --truth FILE"


class ReviewPage(HumanPage):
    """Which of these labels are right? Labels of people and of models, and the original one."""

    kind = "pick"

    def _listed(self) -> list[Question]:
        return [one.question for one in kept_reviews(self.work)]

    def _nothing(self) -> str:
        return f"there are no labels to review: dissensus shift human serve {self.work.folder.root} --page label first"


PAGES: dict[str, type[HumanPage]] = {"train": TrainPage, "label": LabelPage, "review": ReviewPage}


def page_of(page: str, family: str | None = None) -> Callable[[Workspace[Any]], Inquiry]:
    """What reads a page.

    Raises:
        StudyError: there is no such page, or it has no families.
    """
    found = page_named(PAGES, page)
    if family is None:
        return found
    if page != "train":
        raise StudyError(f"only training is about a family of classes: leave out --family {family}, or --page {page}")
    return partial(TrainPage, family=family)


def training_question(photo: Photo, family: Sequence[int] | None = None) -> Question:
    """What is it, among all classes or those of a family? With its own words, to be told from the real work."""
    options = {} if family is None else {"options": list(family)}
    return Question(kind="label", body={"item": photo.item, "ask": PRACTICE} | options)


def _family(work: Workspace[Any], name: str) -> list[int]:
    try:
        found = np.flatnonzero(np.isfinite(work.classes.steps_below(name))).tolist()
    except ClassesError as error:
        raise StudyError(f"--family: {error}") from None
    if len(found) < 2:
        raise StudyError(f"'{name}' has {len(found)} classes: choose a family of at least two to train on")
    return [int(label) for label in found]
