"""The rounds of classifiers, as the annotation service needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from json.encoder import encode_basestring
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int
from dissensus.competitions.labels import Judged, judge
from dissensus.errors import ScreeningError
from dissensus.labeling import LABELS, question_keys, questions_of
from dissensus.records import Question
from dissensus.screening import NO, UNFIT, YES
from dissensus.steps.labels.judging import verdicts_of
from dissensus.steps.labels.selecting import rule_of
from dissensus.store.folder import Folder
from dissensus.store.rounds import Round, items_at, read_rounds
from dissensus.store.settings import LabelSettings
from dissensus.web.backing import Answered, Duel, Needed


class LabelRounds:
    """What was selected, with the questions of all rounds numbered in one list."""

    kind = "contains"

    def __init__(self, folder: Folder, settings: LabelSettings) -> None:
        """Read the rounds; there may be none yet."""
        self.settings = settings
        self.on_disk = tuple(folder.rounds())
        self.models, self.found = read_rounds(folder)
        self.asked = [questions_of(found.selection) for found in self.found]
        keys = [question_keys(*questions.T) for questions, _ in self.asked]
        every = np.unique(np.concatenate([*keys, np.zeros(0, np.int64)]))
        self.numbers = [np.searchsorted(every, part) for part in keys]
        self.items = every // LABELS
        positions, place = np.unique(self.items, return_inverse=True)
        names = _item_names(self.found)
        texts = _question_texts([names[one] for one in place.tolist()], (every % LABELS).tolist())
        self.questions = [(self.kind, texts)]
        self.uris = dict(zip(names, items_at(folder, positions, "uri").to_pylist() if names else (), strict=True))
        self.judged: list[Judged] = []

    def needed(self, answered: Answered) -> Needed:
        """Questions of the rows that count now, reserves in the place of what people discarded."""
        told = (answered.question, answered.annotator, answered.code, len(self.items), answered.annotators)
        try:
            verdicts = verdicts_of(*told, self.settings.judge)
        except ScreeningError:  # people go on answering; `rank` says what is wrong
            verdicts = verdicts_of(*told, self.settings.judge.model_copy(update={"method": "majority"}))
        unfit = np.unique(self.items[verdicts == UNFIT])
        self.judged = [self._judged(place, verdicts, unfit) for place in range(len(self.found))]
        is_needed = np.zeros(len(self.items), bool)
        for judged, numbers in zip(self.judged, self.numbers, strict=True):
            is_needed[numbers[judged.row_questions[judged.active].ravel()]] = True
        return Needed(is_needed, tuple(self._duels()))

    def beside(self, question: Question) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: no question is about people's answers."""
        return {}

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Nothing."""
        return {}

    def _judged(self, place: int, verdicts: Int[Array, " q"], unfit: Int[Array, " n"]) -> Judged:
        given = verdicts[self.numbers[place]]
        if place < len(self.judged):  # only duels in which something was discarded are worked out again
            return replace(self.judged[place], unfit=unfit).with_verdicts(given)
        rule, share = rule_of(self.found[place].settings), self.settings.judge.share
        return judge(self.found[place].selection, given, rule.k, rule.cap, share, unfit.tolist(), self.asked[place])

    def _duels(self) -> list[Duel]:
        models = len(self.models)
        items, decided = np.zeros(models**2, np.int64), np.zeros(models**2, np.int64)
        for judged in self.judged:
            duel = (judged.selection.first * models + judged.selection.second)[judged.active]
            is_decided = np.isin(judged.verdicts, (YES, NO))[judged.row_questions[judged.active]].all(axis=1)
            items += np.bincount(duel, minlength=models**2)
            decided += np.bincount(duel[is_decided], minlength=models**2)
        return [
            Duel(self.models[duel // models], self.models[duel % models], int(items[duel]), int(decided[duel]))
            for duel in np.flatnonzero(items).tolist()
        ]


def _item_names(rounds: Sequence[Round]) -> list[str]:
    """The ids of all items in rounds, each once, by their positions in the pool."""
    if not rounds:
        return []
    first = np.unique(np.concatenate([found.selection.item for found in rounds]), return_index=True)[1]
    ids = pa.chunked_array([chunk for found in rounds for chunk in found.table["item"].chunks])
    names: list[str] = ids.take(pa.array(first)).to_pylist()
    return names


def _question_texts(items: Sequence[str], labels: Sequence[int]) -> list[str]:
    """The texts of `contains` questions, as `Question.text` writes them, only faster."""
    written = {item: encode_basestring(item) for item in dict.fromkeys(items)}
    return [f'{{"item":{written[item]},"label":{label}}}' for item, label in zip(items, labels, strict=True)]
