"""The verbs of a study of models that give a map."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dissensus.engines.local import Progress
from dissensus.errors import StudyError
from dissensus.records import Classes, Question, Rankings
from dissensus.report.masks.page import render_masks
from dissensus.steps.attacks import attack_method
from dissensus.steps.masks.drawings import check_question, mask_question
from dissensus.steps.masks.judging import MaskHearing, hear_masks
from dissensus.steps.masks.predictions import MaskSource
from dissensus.steps.masks.questions import OpenImage, open_images, write_images
from dissensus.steps.masks.ranking import make_mask_rankings
from dissensus.steps.masks.reporting import masks_report
from dissensus.steps.masks.rounds import MaskRounds
from dissensus.steps.masks.selecting import select_masks
from dissensus.steps.predicting import predict
from dissensus.steps.task import RoundStatus, Stand
from dissensus.store.folder import Folder
from dissensus.store.mask_rounds import MaskRound
from dissensus.store.settings import MaskSettings


class Masks:
    """A competition of models that give a map."""

    def __init__(self, folder: Folder, settings: MaskSettings, classes: Classes, progress: Progress) -> None:
        """Name the study."""
        self.folder, self.settings, self.classes, self.progress = folder, settings, classes, progress
        self.kind: str = settings.judge.question

    def predict(self, name: str) -> bool:
        """Write the maps that a model gives."""
        source = MaskSource(self.folder, self.settings, self.classes, name)
        return predict(self.folder, self.settings.models[name], name, source, self.progress)

    def select(self, again: bool) -> int:
        """Select the images by which attackers may falsify defenders."""
        return select_masks(self.folder, self.settings, self.classes, again, self.progress)

    def open_questions(self) -> list[OpenImage]:
        """Images that wait to be judged."""
        return open_images(self.hear_so_far())

    def write_questions(self, path: Path, image_url: str | None) -> list[OpenImage]:
        """The same, also as a sheet."""
        if image_url is not None:
            raise StudyError("masks have no column of addresses: let people draw them by dissensus serve")
        found = self.open_questions()
        write_images(self.folder, path, found)
        return found

    def asked(self) -> list[Question]:
        """Every question that the study needed so far: what was drawn or chosen, its check and its correction."""
        hearing = self.hear_so_far()
        asked = [hearing.subjects.question(number, hearing.models) for number in hearing.asked]
        if self.kind == "mask" and self.settings.judge.check:
            items = [question.body["item"] for question in asked]
            asked += [check_question(item) for item in items]
            asked += [mask_question(item, again=True) for item in hearing.faulty]
        return asked

    def hear(self) -> MaskHearing:
        """What people said, and what it comes to."""
        return hear_masks(self.folder, self.settings, self.classes)

    def hear_so_far(self) -> MaskHearing:
        """The same without scores, which what is open does not depend on."""
        return hear_masks(self.folder, self.settings, self.classes, is_scored=False)

    def rank(self, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and keep the result."""
        return make_mask_rankings(self.folder, self.settings, self.hear(), attack_method(self.settings.rank, method))

    def report(self, method: str | None) -> str:
        """Rank, and the page about it."""
        hearing, chosen = self.hear(), attack_method(self.settings.rank, method)
        rankings = make_mask_rankings(self.folder, self.settings, hearing, chosen)
        return render_masks(masks_report(self.folder, self.settings, self.classes, hearing, rankings, self.progress))

    def stand(self) -> Stand:
        """How far the rounds are."""
        hearing = self.hear_so_far()
        rounds = tuple(_round(found) for found in hearing.rounds)
        return Stand(hearing.models, rounds, len(hearing.asked), len(hearing.open), hearing.discarded)

    def rounds(self) -> MaskRounds:
        """The rounds for the annotation service."""
        return MaskRounds(self.folder, self.settings)


def _round(found: MaskRound) -> RoundStatus:
    selected = found.selection.take(~found.selection.is_reserve)
    duels = Counter(zip(selected.attacker.tolist(), selected.defender.tolist(), strict=True))
    return RoundStatus(
        round=found.number,
        duels=len(found.duels),
        items=len(selected),
        reserves=len(found.selection) - len(selected),
        short=len(found.duels) - len(duels),
        settings=found.settings,
        words=found.words,
    )
