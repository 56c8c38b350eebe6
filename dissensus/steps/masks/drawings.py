"""What people drew: everybody's last mask of each image, what others found wrong with it, and what it comes to."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int, UInt8
from dissensus.competitions import duels
from dissensus.competitions.duels import states_of
from dissensus.labeling import QUESTIONS
from dissensus.predictions.maps import resized
from dissensus.records import Question, moment_of
from dissensus.screening.map_votes import voted_map
from dissensus.store.answers import Answers
from dissensus.store.exchange.map_answers import labels_of
from dissensus.store.settings import TruthSettings


@dataclass(frozen=True)
class Said:
    """One answer of one person: a mask or 'unfit', or the marks of a check.

    What is open follows from its `code` (1: unfit, or errors were marked) and from when it was given, in seconds.
    """

    annotator: str
    code: int
    time: float
    id: str = ""
    answer: Any = None
    begun_from: str = ""
    """The model whose map they began with; mostly nobody's."""


@dataclass
class Drawings:
    """What was said about one image."""

    drawn: dict[str, Said] = field(default_factory=dict)
    """Everybody's last mask, or 'unfit'."""
    checks: dict[str, Said] = field(default_factory=dict)
    corrected: Said | None = None

    def hear_drawn(self, said: Said) -> None:
        """A mask, or that there can be none; of each person the last word counts."""
        _keep_last(self.drawn, said)

    def hear_check(self, said: Said) -> None:
        """What somebody found wrong with it."""
        _keep_last(self.checks, said)

    def hear_corrected(self, said: Said) -> None:
        """A correction; the last one counts, whoever it is from."""
        if self.corrected is None or said.time >= self.corrected.time:
            self.corrected = said

    @property
    def masks(self) -> list[Said]:
        """Those who drew something."""
        return [one for one in self.drawn.values() if one.code != UNFIT]

    @property
    def unfit(self) -> int:
        """How many people said that the image cannot be judged."""
        return len(self.drawn) - len(self.masks)

    @property
    def newest(self) -> Said | None:
        """The mask that a check looks at: the correction, or the last one drawn."""
        masks = [*self.masks, *([] if self.corrected is None or not self._has_correction else [self.corrected])]
        return max(masks, key=lambda one: one.time) if masks else None

    @property
    def fresh_checks(self) -> list[Said]:
        """Checks of the masks as they are: one that is older than a mask was about another."""
        since = max((one.time for one in self.masks), default=None)
        return [] if since is None else [one for one in self.checks.values() if one.time >= since]

    @property
    def fault(self) -> Said | None:
        """The last check that found errors; None where there is none."""
        found = [one for one in self.fresh_checks if one.code == FAULTY]
        return max(found, key=lambda one: one.time) if found else None

    @property
    def is_checked(self) -> bool:
        """True where somebody looked at the mask, and it was corrected if that was necessary."""
        return self._has_correction or (bool(self.fresh_checks) and self.fault is None)

    @property
    def awaits_correction(self) -> bool:
        """True where errors were marked that nobody has corrected yet."""
        return self.fault is not None and self.corrected is None

    @property
    def is_given_up(self) -> bool:
        """True where whoever was to correct the mask found that the image cannot be judged."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code == UNFIT

    def truth(self, height: int, width: int) -> UInt8[Array, "H W"] | None:
        """What the masks come to in the size of the image; None where there is none."""
        if self._has_correction:
            assert self.corrected is not None, "it has one"
            return resized(labels_of(self.corrected.answer), height, width)
        masks = [resized(labels_of(one.answer), height, width) for one in self.masks]
        return voted_map(masks) if masks else None

    def is_stretched(self, height: int, width: int) -> bool:
        """True where a mask has other proportions than the image, by more than a pixel."""
        shapes = [(one.answer["height"], one.answer["width"]) for one in self.masks]
        return any(abs(h * width - w * height) > max(height, width, h, w) for h, w in shapes)

    @property
    def _has_correction(self) -> bool:
        """True unless somebody drew the image anew after it was corrected."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code != UNFIT

    def _is_last(self, said: Said) -> bool:
        """True where nobody drew the image afterwards."""
        return all(one.time <= said.time for one in self.masks)


UNFIT = QUESTIONS["mask"].code("unfit")
FAULTY = QUESTIONS["check"].code([{"x": 0, "y": 0, "kind": "border"}])


def drawing_states(drawings: Sequence[Drawings], rule: TruthSettings) -> Int[Array, " q"]:
    """What became of each image: whether its truth counts, waits, or cannot be told."""
    answered = np.array([len(one.drawn) for one in drawings], np.int64)
    unfit = np.array([one.unfit for one in drawings], np.int64)
    state = states_of(answered, unfit, rule.min_answers, rule.unfit)
    state[(state == duels.JUDGED) & np.array([one.is_given_up for one in drawings], bool)] = duels.UNFIT
    state[(state == duels.JUDGED) & np.array([one.awaits_correction for one in drawings], bool)] = duels.UNJUDGED
    return state


def mask_question(item: str, again: bool = False, prefill: str = "") -> Question:
    """'Draw what is in this image'; `again`: correct what was drawn; `prefill`: begin with a model's map."""
    more = {"again": again, "prefill": prefill}
    return Question(kind="mask", body={"item": item} | {name: value for name, value in more.items() if value})


def check_question(item: str) -> Question:
    """'Is this mask right?'."""
    return Question(kind="check", body={"item": item})


def read_drawings(
    answers: Answers, items: Sequence[str], excluded: Collection[str] = (), models: Sequence[str] = ()
) -> list[Drawings]:
    """What was said about each image; those who are excluded say nothing.

    Also masks that were begun from the map of one of the models count as drawn.
    """
    found = [Drawings() for _ in items]
    begun = {
        mask_question(item, prefill=model).text: (place, model)
        for model in ("", *models)
        for place, item in enumerate(items)
    }
    of_draw = {text: place for text, (place, _) in begun.items()}
    of_again = {mask_question(item, again=True).text: place for place, item in enumerate(items)}
    of_check = {check_question(item).text: place for place, item in enumerate(items)}
    for text, said in _said(answers, "mask", {**of_draw, **of_again}, excluded):
        one = found[of_draw[text] if text in of_draw else of_again[text]]
        if text in of_draw:
            one.hear_drawn(replace(said, begun_from=begun[text][1]))
        else:
            one.hear_corrected(said)
    for text, said in _said(answers, "check", of_check, excluded):
        found[of_check[text]].hear_check(said)
    return found


def _said(answers: Answers, kind: str, texts: Iterable[str], excluded: Collection[str]) -> Iterable[tuple[str, Said]]:
    for identity, text, annotator, answer, time in answers.essentials(kind, "asked", texts):
        if annotator not in excluded:
            given = json.loads(answer)
            code = QUESTIONS[kind].code(given)
            yield text, Said(annotator, code, moment_of(time).timestamp(), identity, given)


def _keep_last(known: dict[str, Said], said: Said) -> None:
    if said.annotator not in known or said.time >= known[said.annotator].time:
        known[said.annotator] = said
