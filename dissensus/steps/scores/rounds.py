"""The rounds of pairs, as the annotation service needs them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.competitions.duels import states_of
from dissensus.competitions.scores import JUDGED, JudgedPairs, judge
from dissensus.labeling import QUESTIONS
from dissensus.records import Question
from dissensus.steps.pools import open_pool
from dissensus.steps.scores.judging import numbered_pairs, pair_texts
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import read_pair_rounds
from dissensus.store.settings import ScoreSettings
from dissensus.web.backing import Answered, Duel, Needed


class PairRounds:
    """What was selected, with the pairs of all rounds numbered in one list."""

    def __init__(self, folder: Folder, settings: ScoreSettings) -> None:
        """Read the rounds; there may be none yet."""
        self.settings = settings.judge
        self.kind: str = settings.judge.question
        self.on_disk = tuple(folder.rounds())
        self.models, self.found = read_pair_rounds(folder)
        self.pairs, self.numbers = numbered_pairs(self.found)
        ids = {item: name for found in self.found for item, name in found.item_ids.items()}
        self.questions: list[tuple[str, list[str]]] = [(self.kind, pair_texts(self.kind, self.pairs, ids))]
        uris = open_pool(folder).uris(list(ids)) if ids else []
        self.uris: dict[str, str | None] = dict(zip(ids.values(), uris, strict=True))

    def needed(self, answered: Answered) -> Needed:
        """Pairs that count now, reserves in the place of what people discarded."""
        people = np.bincount(answered.question, minlength=len(self.pairs))
        unfit = np.bincount(answered.question[answered.code == self._unfit], minlength=len(self.pairs))
        state = states_of(people, unfit, self.settings.min_answers, self.settings.unfit)
        judged = [
            judge(found.selection, state[at], np.zeros(len(at)), self.settings.share)
            for found, at in zip(self.found, self.numbers, strict=True)
        ]
        is_needed = np.zeros(len(self.pairs), bool)
        for one, at in zip(judged, self.numbers, strict=True):
            is_needed[at[one.row_pair[one.active]]] = True
        return Needed(is_needed, tuple(self._duels(judged)))

    def beside(self, question: Question) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: no question is about people's answers."""
        return {}

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Nothing."""
        return {}

    @property
    def _unfit(self) -> int:
        """The code of an answer that discards a pair; a choice has none."""
        return QUESTIONS["slider"].code("unfit") if self.kind == "slider" else -1

    def _duels(self, judged: list[JudgedPairs]) -> list[Duel]:
        models = len(self.models)
        pairs, decided = np.zeros(models**2, np.int64), np.zeros(models**2, np.int64)
        for one in judged:
            duel = one.selection.attacker * models + one.selection.defender
            is_decided = one.active & (one.state[one.row_pair] == JUDGED)
            pairs += np.bincount(duel[one.active], minlength=models**2)
            decided += np.bincount(duel[is_decided], minlength=models**2)
        return [
            Duel(self.models[duel // models], self.models[duel % models], int(pairs[duel]), int(decided[duel]))
            for duel in np.flatnonzero(pairs).tolist()
        ]
