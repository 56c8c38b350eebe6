"""status: how far a study has come, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter

from dissensus.records import Classes, Record
from dissensus.steps.answers import study_database
from dissensus.steps.judging import hear
from dissensus.steps.pooling import duplicates, pool_size
from dissensus.steps.predicting import problems
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.rounds import Round
from dissensus.store.settings import Settings
from dissensus.store.tables import read_stamps


class ModelStatus(Record):
    """One model: whether it has predicted, and on how many items it could not, by reason."""

    model: str
    source: str
    predicted: bool
    unreadable: int
    reasons: dict[str, int]


class RoundStatus(Record):
    """One round: its duels and items; `short` are duels with fewer items than k."""

    round: int
    duels: int
    items: int
    reserves: int
    short: int
    settings: dict[str, object]


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


def status_of(folder: Folder, settings: Settings, classes: Classes) -> Status:
    """The status, from the study folder alone."""
    has_pool = folder.pool.exists()
    judgements, annotators = Judgements(study_database(folder, settings)).counts()
    hearing = hear(folder, settings) if folder.rounds() else None
    rounds = tuple(_round(found) for found in hearing.rounds) if hearing else ()
    models = tuple(_model(folder, settings, name) for name in settings.models)
    questions, waiting = (len(hearing.asked), len(hearing.open)) if hearing else (0, 0)
    return Status(
        study=str(folder.root),
        task=settings.task,
        classes=len(classes),
        pool=pool_size(folder) if has_pool else 0,
        identical_files=duplicates(folder) if has_pool else 0,
        models=models,
        rounds=rounds,
        questions=questions,
        open_questions=waiting,
        discarded_items=hearing.discarded if hearing else 0,
        judgements=judgements,
        annotators=annotators,
        next=_next(folder, has_pool, models, hearing.models if hearing else [], questions, waiting),
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
    if sum(model.predicted for model in models) < 2 or not all(model.predicted for model in models):
        return f"dissensus predict {study} NAME=BACKEND:TARGET…"
    if any(model.model not in competing for model in models):
        return f"dissensus select {study}"
    if waiting:
        return f"dissensus serve {study}    # {waiting:,} of {questions:,} questions wait for answers"
    return f"dissensus report {study}"
