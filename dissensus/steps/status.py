"""status: how far a study has come, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter

from dissensus.records import Record
from dissensus.steps.answers import study_database
from dissensus.steps.pooling import duplicates, has_items, pool_size
from dissensus.steps.predicting import problems
from dissensus.steps.task import RoundStatus, Stand, Task
from dissensus.store.answers import Answers
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings
from dissensus.store.tables import read_stamps


class ModelStatus(Record):
    """One model: whether it has predicted, and on how many items it could not, by reason."""

    model: str
    source: str
    predicted: bool
    unreadable: int
    reasons: dict[str, int]


class Status(Record):
    """How far a study has come."""

    study: str
    task: str
    classes: int
    pool: int
    identical_files: int
    models: tuple[ModelStatus, ...]
    rounds: tuple[RoundStatus, ...]
    questions: int
    open_questions: int
    discarded_items: int
    judgements: int
    annotators: int
    next: str


def status_of(folder: Folder, settings: Settings, classes: int, task: Task) -> Status:
    """The status, from the study folder alone."""
    has_pool = has_items(folder)
    kind = None if settings.task == "masks" else task.kind  # checks of masks are judgements too
    answers, annotators = Answers(study_database(folder, settings)).counts(kind, "asked")
    stand = task.stand() if folder.rounds() else Stand([], (), 0, 0, 0)
    models = tuple(_model(folder, settings, name) for name in settings.models)
    return Status(
        study=str(folder.root),
        task=settings.task,
        classes=classes,
        pool=pool_size(folder) if has_pool else 0,
        identical_files=duplicates(folder) if has_pool else 0,
        models=models,
        rounds=stand.rounds,
        questions=stand.questions,
        open_questions=stand.waiting,
        discarded_items=stand.discarded,
        judgements=answers,
        annotators=annotators,
        next=_next(folder, has_pool, models, stand.models, stand.questions, stand.waiting),
    )


def _model(folder: Folder, settings: Settings, name: str) -> ModelStatus:
    model, path = settings.models[name], folder.predictions(name)
    unreadable = int(read_stamps(path, "unreadable")["unreadable"]) if path.exists() else 0
    reasons = Counter(problems(folder, name)["problem"].to_pylist()) if unreadable else Counter()
    return ModelStatus(
        model=name,
        source=f"{model.backend}:{model.target}",
        predicted=path.exists(),
        unreadable=unreadable,
        reasons=dict(reasons.most_common()),
    )


def _next(
    folder: Folder,
    has_pool: bool,
    models: tuple[ModelStatus, ...],
    competing: list[str],
    questions: int,
    waiting: int,
) -> str:
    """The command that comes next."""
    study = shlex.quote(str(folder.root))
    if not has_pool:
        return f"dissensus pool {study} SOURCE…"
    if not all(model.predicted for model in models):
        return f"dissensus predict {study}    # goes on"
    if len(models) < 2:
        return f"dissensus predict {study} NAME=BACKEND:TARGET…"
    if any(model.model not in competing for model in models):
        return f"dissensus select {study}"
    if waiting:
        return f"dissensus serve {study}    # {waiting:,} of {questions:,} questions wait for answers"
    return f"dissensus report {study}"
