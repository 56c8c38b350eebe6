"""What people are asked to judge: images, or two predictions of an image; each once, however many duels need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competitions.masks import JudgedMasks, judge
from dissensus.records import MaskSelection, Question
from dissensus.steps.masks.drawings import mask_question
from dissensus.store.mask_rounds import MaskRound
from dissensus.store.settings import TruthSettings


@dataclass(frozen=True)
class Subjects:
    """The distinct things to judge in all rounds, in the order of the pool.

    `first` and `second` are the two models whose predictions are compared, the one that came first being first; both
    are −1 where the truth is asked for. `rows[r]` has the subject of every row of round r.
    """

    items: Int[Array, " q"]
    first: Int[Array, " q"]
    second: Int[Array, " q"]
    rows: tuple[Int[Array, " Q"], ...]
    ids: dict[int, str]
    prefill: str = ""
    """The model whose map drawing begins with; nobody's unless somebody asks for it."""

    def __len__(self) -> int:
        return len(self.items)

    def questions(self, models: Sequence[str]) -> list[Question]:
        """How each of them is asked."""
        return [self.question(number, models) for number in range(len(self))]

    def question(self, number: int, models: Sequence[str]) -> Question:
        """How one of them is asked."""
        item = self.ids[int(self.items[number])]
        if self.first[number] < 0:
            return mask_question(item, prefill=self.prefill)
        body = {"item": item, "first": models[self.first[number]], "second": models[self.second[number]]}
        return Question(kind="choice", body=body)

    def other_ways(self, models: Sequence[str]) -> list[list[str]]:
        """Texts that ask the same of all subjects, a list for each way: what is said to them counts as well.

        A mask may be begun from another model's map, or from none; who writes files may name two models the other way
        round.
        """
        asked = [question.body for question in self.questions(models)]
        if (self.first >= 0).any():
            return [[_turned(body).text for body in asked]]
        others = [name for name in ("", *models) if name != self.prefill]
        return [[mask_question(body["item"], prefill=name).text for body in asked] for name in others]


def subjects_of(settings: TruthSettings, rounds: Sequence[MaskRound]) -> Subjects:
    """What the rounds ask: the truth of every image, or the better of two predictions of it."""
    keys = [_keys(found.selection, settings.question == "choice") for found in rounds]
    every = np.concatenate([*keys, np.zeros((0, 3), np.int64)])
    distinct, place = np.unique(every, axis=0, return_inverse=True)
    cuts = np.cumsum([len(one) for one in keys])[:-1]
    ids = {item: name for found in rounds for item, name in found.item_ids.items()}
    rows = tuple(np.split(place.reshape(-1), cuts)) if rounds else ()
    return Subjects(distinct[:, 0], distinct[:, 1], distinct[:, 2], rows, ids, settings.prefill)


def judged_rounds(
    rounds: Sequence[MaskRound],
    subjects: Subjects,
    state: Int[Array, " q"],
    share: float,
    scores: Float[Array, "q M"] | None = None,
) -> list[JudgedMasks]:
    """What the states come to in every round; `scores` has how well each model did on each subject, 0 to 1."""
    judged = []
    for found, row in zip(rounds, subjects.rows, strict=True):
        chosen = found.selection
        if scores is None:
            ours, theirs = np.zeros(len(chosen)), np.zeros(len(chosen))
        else:
            ours, theirs = scores[row, chosen.attacker], scores[row, chosen.defender]
        judged.append(judge(chosen, row, state, ours, theirs, found.settings["k"], share))
    return judged


def _turned(body: Mapping[str, Any]) -> Question:
    return Question(kind="choice", body={"item": body["item"], "first": body["second"], "second": body["first"]})


def _keys(selection: MaskSelection, is_choice: bool) -> Int[Array, "Q 3"]:
    """(item, first model, second model) of every row."""
    none = np.full(len(selection), -1)
    first = np.minimum(selection.attacker, selection.defender) if is_choice else none
    second = np.maximum(selection.attacker, selection.defender) if is_choice else none
    return np.stack([selection.item, first, second], axis=1)
