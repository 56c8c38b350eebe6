"""report: the contents of the report on classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.judged import Judged
from dissensus.competition.one_order import matrices, stability
from dissensus.competition.reporting import about_study, model_settings, round_settings
from dissensus.competition.standings import Method
from dissensus.competition.task import Evaluation
from dissensus.discrepancy.labels import class_paths
from dissensus.records import ANSWERS, YES, Classes, ClassPath, Failures, Judgement, Outcomes, Ranking, Selection, Tally
from dissensus.report.data import ClassBeside
from dissensus.report.failures import shown_failures
from dissensus.report.labels.data import JudgedLabel, LabelDuel, LabelsReport, Ordinary, Shown
from dissensus.report.pictures import picture_side
from dissensus.report.wording import counted
from dissensus.screening import PanelAnswers, panel_agreement
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.benchmark import known_benchmark
from dissensus.steps.beside import classes_beside
from dissensus.steps.pictures import Pictures
from dissensus.steps.workspace import Workspace
from dissensus.store.laconic_results import read_laconic
from dissensus.store.rounds import Round
from dissensus.store.tables import read_table
from dissensus.tasks.labels.failing import label_failures
from dissensus.tasks.labels.outcomes import LabelStates
from dissensus.tasks.labels.settings import LabelSettings

Given = Mapping[int, Sequence[Judgement]]
LabelEvaluation = Evaluation[Selection, LabelStates]
SHOWN = 30  # judged items in the gallery of a duel


def report_data(
    work: Workspace[LabelSettings],
    evaluation: LabelEvaluation,
    outcomes: Outcomes,
    given: Given,
    method: Method,
    ranking: Ranking,
    others: Mapping[str, Ranking],
    refused: Mapping[str, str],
    consensus: Mapping[str, float],
) -> LabelsReport:
    """The contents of the report, from the study alone; `refused` says why other methods have no ranking."""
    compared = matrices(outcomes, len(evaluation.models), method)
    stamps = check_same_pool(work.folder, evaluation.models)
    failed = label_failures(work, evaluation)
    return LabelsReport(
        **about_study(work, evaluation),
        ranking=ranking,
        other_rankings=dict(others),
        tally=compared.tally,
        accuracy=compared.accuracy,
        dominance=compared.dominance,
        consensus=consensus,
        stability=stability(outcomes, len(evaluation.models), method),
        duels=_galleries(work, evaluation, given, compared.tally),
        paths=_paths(evaluation, work.classes),
        beside=_beside(work, evaluation, ranking.standings[0].model),
        discarded=evaluation.discarded,
        unreadable=max(stamp["unreadable"] for stamp in stamps.values()),
        settings=_settings(work, evaluation, given) | dict(refused),
        benchmark=known_benchmark(work.folder, ranking),
        laconic=read_laconic(work.folder),
        failures=failed,
        failed_pictures=_failed_pictures(work, evaluation, failed),
        label_names=dict(enumerate(work.classes.names)),
    )


def _beside(
    work: Workspace[LabelSettings], evaluation: LabelEvaluation, model: str
) -> tuple[ClassBeside[Ordinary], ...]:
    """Ordinary pictures of the classes predicted for most judged items; `model` says what shows them in the pool."""
    chosen = [judged.selection.take(judged.decided) for judged in evaluation.judged]
    sides = [(labels, one.item) for one in chosen for labels in (one.first_label, one.second_label)]

    def items_of(labels: Sequence[int]) -> dict[int, Int[Array, " n"]]:
        predicted = read_table(work.folder.predictions(model), ["label"])["label"].to_numpy()
        return {label: np.flatnonzero(predicted == label) for label in labels}

    return classes_beside(
        work,
        pairs=[pair for labels, items in sides for pair in zip(labels.tolist(), items.tolist(), strict=True)],
        selected=evaluation.item_ids,
        items_of=items_of,
        source=lambda count: f"at random from {counted(count, 'item')} that {model} puts in this class",
        shown=lambda name, uri, is_pixelated, _: Ordinary(name, uri, is_pixelated),
    )


def _failed_pictures(
    work: Workspace[LabelSettings], evaluation: LabelEvaluation, found: Failures
) -> dict[str, tuple[str | None, bool]]:
    """Pictures of the failures that the page shows, by item."""
    shown = shown_failures(found, evaluation.models)
    wanted = {one.item for cases in shown.values() for one in cases}
    items = [item for item, name in evaluation.item_ids.items() if name in wanted]
    pictures = Pictures(work.pool, items, _side(evaluation), work.progress)
    return {evaluation.item_ids[item]: pictures.of(item) for item in items}


def _side(evaluation: LabelEvaluation) -> int:
    """Pixels of every picture on the page: one size, so that each is embedded once."""
    both = zip(evaluation.rounds, evaluation.judged, strict=True)
    return picture_side(len({item for found, judged in both for item in found.selection.item[judged.decided].tolist()}))


def _galleries(
    work: Workspace[LabelSettings], evaluation: LabelEvaluation, given: Given, cases: Tally
) -> tuple[LabelDuel, ...]:
    shown: dict[tuple[int, int], list[Shown]] = {}
    pictures = Pictures(work.pool, list(evaluation.item_ids), _side(evaluation), work.progress)
    for found, judged in zip(evaluation.rounds, evaluation.judged, strict=True):
        for row in np.flatnonzero(judged.decided).tolist():
            of_duel = shown.setdefault((int(found.selection.first[row]), int(found.selection.second[row])), [])
            if len(of_duel) < SHOWN:
                of_duel.append(_shown(found, judged, row, work.classes, given, pictures))
    return tuple(
        LabelDuel(
            models=(evaluation.models[one], evaluation.models[other]),
            shown=tuple(of_duel),
            judged=int(cases.items[one, other]),
            only=(int(cases.only[one, other]), int(cases.only[other, one])),
        )
        for (one, other), of_duel in shown.items()
    )


def _paths(evaluation: LabelEvaluation, classes: Classes) -> dict[frozenset[str], ClassPath]:
    """The paths between the two labels of all judged items, by the distance of the round that selected them."""
    made: dict[frozenset[str], ClassPath] = {}
    for found, judged in zip(evaluation.rounds, evaluation.judged, strict=True):
        chosen = found.selection.take(judged.decided)
        pairs = sorted({*zip(chosen.first_label.tolist(), chosen.second_label.tolist(), strict=True)})
        paths = class_paths(classes, found.settings["distance"], pairs)
        made |= {frozenset(path.nodes[:: len(path.nodes) - 1]): path for path in paths}
    return made


def _shown(
    found: Round[Selection],
    judged: Judged[Selection],
    row: int,
    classes: Classes,
    given: Given,
    pictures: Pictures,
) -> Shown:
    chosen, item = found.selection, int(found.selection.item[row])
    image, pixelated = pictures.of(item)
    said = [
        JudgedLabel(
            label=classes.names[int(getattr(chosen, f"{side}_label")[row])],
            is_right=bool(judged.state[question] == YES),
            confidence=found.table[f"{side}_confidence"][row].as_py(),
            answers=answers_in_words(given[question]),
        )
        for side, question in zip(("first", "second"), judged.round_questions.questions[row].tolist(), strict=True)
    ]
    return Shown(found.item_ids[item], image, pixelated, (said[0], said[1]), float(chosen.discrepancy[row]))


def answers_in_words(answers: Sequence[Judgement]) -> str:
    """'4 yes, 1 no'."""
    counts = [sum(judgement.answer == answer for judgement in answers) for answer in ANSWERS]
    return ", ".join(f"{count} {answer}" for answer, count in zip(ANSWERS, counts, strict=True) if count)


def _settings(work: Workspace[LabelSettings], evaluation: LabelEvaluation, given: Given) -> dict[str, str]:
    """All settings that the numbers in the report depend on."""
    notes = lambda found: {"notes": " ".join(found.words)} if found.words else {}  # noqa: E731
    shown = round_settings(evaluation.rounds, work.settings.judge.model_dump(), more=notes)
    shown |= model_settings(work, preprocessed=lambda source: not source.startswith("file:"))
    return shown | {"agreement between included annotators": agreement_in_words(given)}


def agreement_in_words(given: Given) -> str:
    """Krippendorff's alpha of all answers that count, or the reason why there is none."""
    people: dict[str, int] = {}
    rows = [
        (number, people.setdefault(judgement.annotator, len(people)), ANSWERS.index(judgement.answer))
        for number, answers in enumerate(given.values())
        for judgement in answers
    ]
    question, person, code = np.array(rows, np.int64).reshape(-1, 3).T
    found = panel_agreement(PanelAnswers(question, person, code))
    return found if isinstance(found, str) else found.words
