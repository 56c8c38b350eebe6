"""The verbs of a study of classifiers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dissensus.competitions.standings import matrices
from dissensus.engines.local import Progress
from dissensus.records import Classes, Question, Ranking
from dissensus.report.page import render
from dissensus.steps.benchmark import known_benchmark
from dissensus.steps.labels.judging import Hearing, hear
from dissensus.steps.labels.predictions import LabelSource
from dissensus.steps.labels.questions import OpenQuestion, open_questions, write_questions
from dissensus.steps.labels.ranking import consensus, make_ranking, method_of, with_fragility, write_results
from dissensus.steps.labels.reporting import report_data
from dissensus.steps.labels.rounds import LabelRounds
from dissensus.steps.labels.selecting import select
from dissensus.steps.predicting import predict
from dissensus.steps.task import RoundStatus, Stand
from dissensus.store.folder import Folder
from dissensus.store.rounds import Round
from dissensus.store.settings import LabelSettings


class Labels:
    """A competition of models that give a class."""

    kind = LabelRounds.kind

    def __init__(self, folder: Folder, settings: LabelSettings, classes: Classes, progress: Progress) -> None:
        """Name the study."""
        self.folder, self.settings, self.classes, self.progress = folder, settings, classes, progress

    def predict(self, name: str) -> bool:
        """Write the labels that a model gives."""
        source = LabelSource(self.folder, self.settings, self.classes, name)
        return predict(self.folder, self.settings.models[name], name, source, self.progress)

    def select(self, again: bool) -> int:
        """Select the items on which models disagree most."""
        return select(self.folder, self.settings, self.classes, again, self.progress)

    def open_questions(self) -> list[OpenQuestion]:
        """Questions about an item and a class that wait for answers."""
        return open_questions(self.folder, self.settings, self.classes)

    def write_questions(self, path: Path, image_url: str | None) -> list[OpenQuestion]:
        """The same, also as a sheet."""
        found = self.open_questions()
        write_questions(self.folder, self.settings, path, found, image_url, self.progress)
        return found

    def asked(self) -> list[Question]:
        """Every question that the study needed so far."""
        hearing = self.hear()
        return [
            Question(kind="contains", body={"item": hearing.item_ids[item], "label": label})
            for item, label in hearing.asked
        ]

    def hear(self) -> Hearing:
        """What people said, and what it comes to."""
        return hear(self.folder, self.settings)

    def rank(self, method: str | None) -> Ranking:
        """Rank the models by who was right, and keep the result."""
        return self._ranked(self.hear(), method)

    def report(self, method: str | None) -> str:
        """Rank, and the page about it."""
        hearing = self.hear()
        ranking = self._ranked(hearing, method)
        agreement = consensus(self.folder, hearing.models, self.progress)
        known = known_benchmark(self.folder, ranking)
        parts = (self.folder, self.settings, self.classes, hearing, ranking, agreement, known, self.progress)
        return render(report_data(*parts))

    def stand(self) -> Stand:
        """How far the rounds are."""
        hearing = self.hear()
        rounds = tuple(_round(found) for found in hearing.rounds)
        return Stand(hearing.models, rounds, len(hearing.asked), len(hearing.open), hearing.discarded)

    def rounds(self) -> LabelRounds:
        """The rounds for the annotation service."""
        return LabelRounds(self.folder, self.settings)

    def _ranked(self, hearing: Hearing, method: str | None) -> Ranking:
        chosen = method_of(self.settings.rank, method)
        ranking = make_ranking(self.folder, hearing, chosen)
        ranking = with_fragility(ranking, self.settings, hearing, chosen, self.progress)
        write_results(self.folder, ranking, hearing.models, matrices(hearing.outcomes, len(hearing.models), chosen))
        return ranking


def _round(found: Round) -> RoundStatus:
    selected = found.selection.take(~found.selection.is_reserve)
    duels = Counter(zip(selected.first.tolist(), selected.second.tolist(), strict=True))
    return RoundStatus(
        round=found.number,
        duels=len(found.duels),
        items=len(selected),
        reserves=len(found.selection) - len(selected),
        short=len(found.duels) - sum(count >= found.settings["k"] for count in duels.values()),
        settings=found.settings,
    )
