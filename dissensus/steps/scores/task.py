"""The verbs of a study of models that give a number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from dissensus.engines.local import Progress
from dissensus.errors import StudyError
from dissensus.records import Question, Rankings
from dissensus.report.scores.page import render_scores
from dissensus.steps.attacks import attack_method
from dissensus.steps.predicting import predict, predicted
from dissensus.steps.scores.judging import PairHearing, hear_pairs
from dissensus.steps.scores.predictions import ScoreSource
from dissensus.steps.scores.questions import OpenPair, open_pairs, write_pairs
from dissensus.steps.scores.ranking import make_rankings
from dissensus.steps.scores.reporting import scores_report
from dissensus.steps.scores.rounds import PairRounds
from dissensus.steps.scores.scaling import ScaleFit, common_scale
from dissensus.steps.scores.selecting import select_pairs
from dissensus.steps.task import RoundStatus, Stand
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import PairRound
from dissensus.store.settings import ScoreSettings


class Scores:
    """A competition of models that give a number."""

    def __init__(self, folder: Folder, settings: ScoreSettings, progress: Progress) -> None:
        """Name the study."""
        self.folder, self.settings, self.progress = folder, settings, progress
        self.kind: str = settings.judge.question

    def predict(self, name: str) -> bool:
        """Write the scores that a model gives."""
        source = ScoreSource(self.folder, self.settings, name)
        return predict(self.folder, self.settings.models[name], name, source, self.progress)

    def scale(self) -> list[ScaleFit]:
        """How the scores of every model come on the common scale."""
        models = predicted(self.folder, self.settings)
        if not models:
            raise StudyError(f"no model has predicted yet: dissensus predict {self.folder.root} NAME=BACKEND:TARGET…")
        return list(common_scale(self.folder, self.settings, models).fits)

    def select(self, again: bool) -> int:
        """Select the pairs by which attackers may falsify defenders."""
        return select_pairs(self.folder, self.settings, again, self.progress)

    def open_questions(self) -> list[OpenPair]:
        """Pairs that wait to be compared."""
        return open_pairs(self.hear_so_far(), self.kind)

    def write_questions(self, path: Path, image_url: str | None) -> list[OpenPair]:
        """The same, also as a sheet."""
        if image_url is not None:
            raise StudyError("pairs have no column of addresses: let people compare them by dissensus serve")
        found = self.open_questions()
        write_pairs(self.folder, path, found)
        return found

    def asked(self) -> list[Question]:
        """Every pair that the study needed so far."""
        hearing = self.hear_so_far()
        return [self._question(hearing, number) for number in hearing.asked]

    def hear(self) -> PairHearing:
        """What people said, and what it comes to."""
        return hear_pairs(self.folder, self.settings)

    def hear_so_far(self) -> PairHearing:
        """The same, also while a screening has no estimate, as with somebody's first answer."""
        return hear_pairs(self.folder, self.settings, is_final=False)

    def rank(self, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and keep the result."""
        chosen = attack_method(self.settings.rank, method)
        return make_rankings(self.folder, self.settings, self.hear(), chosen)

    def report(self, method: str | None) -> str:
        """Rank, and the page about it."""
        hearing, chosen = self.hear(), attack_method(self.settings.rank, method)
        rankings = make_rankings(self.folder, self.settings, hearing, chosen)
        return render_scores(scores_report(self.folder, self.settings, hearing, rankings, chosen, self.progress))

    def stand(self) -> Stand:
        """How far the rounds are."""
        hearing = self.hear_so_far()
        rounds = tuple(_round(found) for found in hearing.rounds)
        return Stand(hearing.models, rounds, len(hearing.asked), len(hearing.open), hearing.discarded)

    def rounds(self) -> PairRounds:
        """The rounds for the annotation service."""
        return PairRounds(self.folder, self.settings)

    def _question(self, hearing: PairHearing, number: int) -> Question:
        first, second = hearing.pairs[number].tolist()
        body: dict[str, Any] = {"first": hearing.item_ids[first], "second": hearing.item_ids[second]}
        return Question(kind=self.kind, body=body | ({"same": True} if self.kind == "choice" else {}))


def _round(found: PairRound) -> RoundStatus:
    selected = found.selection.take(~found.selection.is_reserve)
    duels = Counter(zip(selected.attacker.tolist(), selected.defender.tolist(), strict=True))
    levels = 1 if found.settings["case"] == "most" else found.settings["levels"]
    return RoundStatus(
        round=found.number,
        duels=len(found.duels),
        items=len(selected),
        reserves=len(found.selection) - len(selected),
        short=len(found.duels) - sum(count >= levels for count in duels.values()),
        settings=found.settings,
        words=found.skipped,
    )
