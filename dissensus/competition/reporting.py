"""Parts shared by the reports of all tasks: settings and exclusions in words, benchmarks, duels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dissensus.arrays import Array
from dissensus.competition.examining import sanity_of
from dissensus.records import AttackMatrices, Exclusion, Rankings, latest_causes
from dissensus.report.data import AttackDuel, Benchmark
from dissensus.report.page import Page
from dissensus.report.predictions import Sample, with_predictions
from dissensus.steps.benchmark import known_benchmark
from dissensus.steps.pictures import Pictures
from dissensus.steps.predicting import spread_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.causes import read_causes
from dissensus.store.folder import Folder
from dissensus.store.rounds import Round
from dissensus.store.settings import ModelSettings
from dissensus.store.tables import read_stamps

if TYPE_CHECKING:
    from dissensus.competition.task import Evaluation, Task

Shown = TypeVar("Shown")
SAMPLES = 8  # items that a report shows with all predictions
SMALL = 192  # pixels of their pictures


def setting_text(value: object) -> str:
    """A setting as the report shows it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {setting_text(one)}" for name, one in value.items())
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def under(heading: str, values: Mapping[str, Any], text: Callable[[object], str] = setting_text) -> dict[str, str]:
    """Settings with a heading in front of their names, such as 'judge: method'."""
    return {f"{heading}: {name}": text(value) for name, value in values.items()}


def model_settings(
    work: Workspace[Any],
    words: Callable[[str, ModelSettings], str] = lambda source, _: source,
    preprocessed: Callable[[str], bool] | None = None,
) -> dict[str, str]:
    """The source of each model, and its preprocessing, as stamped on its predictions: study.toml may have changed.

    `preprocessed` decides from a model's source whether it gets a line about preprocessing; by default, all models with
    preprocessing settings get one.
    """
    shown = {}
    for name, model in work.settings.models.items():
        path = work.folder.predictions(name)
        stamps = read_stamps(path, "inputs") if path.exists() else {}
        source = str(stamps.get("source", f"{model.backend}:{model.target}"))
        preprocess = stamps["inputs"]["preprocess"] if stamps else work.settings.preprocess | model.preprocess
        shown[f"model {name}"] = words(source, model)
        if preprocessed(source) if preprocessed else preprocess:
            text = ", ".join(f"{key} = {value}" for key, value in preprocess.items())
            shown[f"model {name}: preprocess"] = text or "defaults"
    return shown


def about_study(work: Workspace[Any], evaluation: Evaluation[Any, Any], *notes: str) -> dict[str, Any]:
    """Fields that every report has; `notes` are specific to the task and come last."""
    return {
        "title": work.title,
        "models": tuple(evaluation.models),
        "pool_size": work.size,
        "questions": len(evaluation.asked),
        **respondents(work, evaluation),
        "notes": (*nobody_asked(work), *work.settings.notes, *left_out(evaluation.exclusions), *notes),
        "causes": {key: tag.cause for key, tag in latest_causes(read_causes(work.folder)).items()},
        "funnels": {found.number: found.funnel for found in evaluation.rounds if found.funnel},
    }


def respondents(work: Workspace[Any], evaluation: Evaluation[Any, Any]) -> dict[str, Any]:
    """Who answered, and how often: every page, card and table of a report says it from these fields.

    Answers to questions that the study does not need, such as those of a file with more than was selected, are stored
    but not counted.
    """
    answers, source = evaluation.answers, work.settings.answers_from
    is_needed = np.isin(answers.question, evaluation.asked)
    kinds = [group.kind for group in evaluation.question_set.groups]
    stored, people = work.answers.counts(kinds, "asked")
    return {
        "judgements": int(is_needed.sum()),
        "annotators": None if source else len(np.unique(answers.person[is_needed])),
        "answers_from": source,
        "stored_answers": stored,
        "stored_annotators": None if source else people,
    }


def nobody_asked(work: Workspace[Any]) -> tuple[str, ...]:
    """A sentence for readers if no person was asked."""
    source = work.settings.answers_from
    return (f"No person was asked: the answers are {source}.",) if source else ()


def about_attacks(
    work: Workspace[Any], evaluation: Evaluation[Any, Any], rankings: Rankings, matrices: AttackMatrices, *notes: str
) -> dict[str, Any]:
    """Fields of reports on models that attack each other."""
    return about_study(work, evaluation, *notes) | {
        "aggressiveness": rankings.aggressiveness,
        "resistance": rankings.resistance,
        "words": rankings.words,
        "matrices": matrices,
        "waiting": len(evaluation.open),
        "benchmarks": benchmarks_of(work.folder, rankings),
    }


def shown_predictions(task: Task[Any, Any], page: Page) -> Page:
    """The page with a late section about what the models predict, and some items with all predictions."""
    sanity, work = sanity_of(task), task.work
    if not sanity.models or work.folder.enumeration.exists():  # the items of an enumeration have no pictures yet
        return page if not sanity.models else with_predictions(page, sanity, ())
    rows = spread_rows(work.size, SAMPLES)
    found = task.predictions_in_words([one.model for one in sanity.models], rows)
    pictures = Pictures(work.pool, rows.tolist(), SMALL, work.progress)
    items = zip(work.pool.ids(rows.tolist()), rows.tolist(), found, strict=True)
    return with_predictions(page, sanity, [Sample(item, *pictures.of(row), tuple(words)) for item, row, words in items])


def round_settings(
    rounds: Sequence[Round[Any]],
    judge: Mapping[str, Any],
    text: Callable[[object], str] = setting_text,
    more: Callable[[Round[Any]], Mapping[str, str]] = lambda _: {},
) -> dict[str, str]:
    """The settings of every round, what `more` adds about it, and the settings for judging."""
    shown: dict[str, str] = {}
    for found in rounds:
        heading = f"round {found.number}"
        shown |= under(heading, found.settings, text) | under(heading, more(found), text)
    return shown | under("judge", judge, text)


def attack_duels(
    shown: Mapping[tuple[int, int], Sequence[Shown]],
    models: Sequence[str],
    matrices: AttackMatrices,
    order: Callable[[Shown], Any],
) -> tuple[AttackDuel[Shown], ...]:
    """One duel per attacker and defender, with the rows that were selected for it, sorted by `order`."""
    return tuple(
        AttackDuel(
            attacker=models[attacker],
            defender=models[defender],
            shown=tuple(sorted(found, key=order)),
            aggressiveness=known_cell(matrices.aggressiveness, matrices.attacked, attacker, defender),
            resistance=known_cell(matrices.resistance, matrices.defended, defender, attacker),
        )
        for (attacker, defender), found in shown.items()
    )


def known_cell(matrix: Array, known: Array, row: int, column: int) -> float | None:
    """An entry of a matrix; None if nothing was judged."""
    return float(matrix[row, column]) if known[row, column] else None


def known_cells(matrix: Array, where: Array) -> list[list[float | None]]:
    """The matrix as lists, with None where nothing was judged."""
    rows, columns = matrix.shape
    return [[known_cell(matrix, where, row, column) for column in range(columns)] for row in range(rows)]


def benchmarks_of(folder: Folder, rankings: Rankings) -> dict[str, Benchmark] | None:
    """Each ranking compared with the user's benchmark, if there is one."""
    found = {name: known_benchmark(folder, ranking) for name, ranking in rankings.measures.items()}
    return {name: known for name, known in found.items() if known is not None} or None


def left_out(exclusions: Mapping[str, Exclusion]) -> list[str]:
    """A sentence for each excluded annotator, with the reason."""
    return [
        f"The answers of {name} are excluded: {exclusion.reason} (decided by {exclusion.by}, {exclusion.time[:10]})."
        for name, exclusion in sorted(exclusions.items())
    ]
