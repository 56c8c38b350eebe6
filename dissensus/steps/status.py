"""status: how far a study has come, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter

from dissensus.records import Classes, Record
from dissensus.steps.judging import hear
from dissensus.steps.pooling import duplicates, pool_size
from dissensus.steps.predicting import problems
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.rounds import read_rounds
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
    judgements, annotators = Judgements(folder.judgements).counts()
    rounds = tuple(_rounds(folder))
    hearing = hear(folder, settings) if rounds else None
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
        next=_next(folder, has_pool, models, rounds, questions, waiting),
    )


def _model(folder: Folder, settings: Settings, name: str) -> ModelStatus:
    model, path = settings.models[name], folder.predictions(name)
    unreadable = int(read_stamps(path)["unreadable"]) if path.exists() else 0
    reasons = Counter(problems(folder, name)["problem"].to_pylist()) if unreadable else Counter()
    return ModelStatus(
        model=name,
        source=f"{model.backend}:{model.target}",
        predicted=path.exists(),
        unreadable=unreadable,
        reasons=dict(reasons.most_common()),
    )


def _rounds(folder: Folder) -> list[RoundStatus]:
    found = []
    for one in read_rounds(folder)[1]:
        selected = ~one.selection.is_reserve
        duels = Counter(
            zip(one.selection.first[selected].tolist(), one.selection.second[selected].tolist(), strict=True)
        )
        short = len(one.duels) - sum(count >= one.settings["k"] for count in duels.values())
        found.append(
            RoundStatus(
                round=one.number,
                duels=len(one.duels),
                items=int(selected.sum()),
                reserves=int((~selected).sum()),
                short=short,
                settings=one.settings,
            )
        )
    return found


def _next(
    folder: Folder,
    has_pool: bool,
    models: tuple[ModelStatus, ...],
    rounds: tuple[RoundStatus, ...],
    questions: int,
    waiting: int,
) -> str:
    """The command that comes next."""
    study = shlex.quote(str(folder.root))
    if not has_pool:
        return f"dissensus pool {study} SOURCE…"
    if sum(model.predicted for model in models) < 2 or not all(model.predicted for model in models):
        return f"dissensus predict {study} NAME=BACKEND:TARGET…"
    met = read_rounds(folder)[0]
    if not rounds or any(model.model not in met for model in models):
        return f"dissensus select {study}"
    if waiting:
        return f"dissensus questions {study} sheet.html    # {waiting:,} of {questions:,} questions wait for answers"
    return f"dissensus report {study}"
