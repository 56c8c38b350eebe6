"""status: the progress of a study, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.competition.changes import mixed_rounds, outdated
from dissensus.competition.evaluation import Competition
from dissensus.competition.examining import known_sanity
from dissensus.competition.notices import uncounted
from dissensus.competition.task import Evaluation, Task
from dissensus.errors import counted
from dissensus.records import LabelSanity, MapSanity, Record, ScoreSanity, Step
from dissensus.steps.belonging import rounds_with, taking_part
from dissensus.steps.growing import is_behind, rounds_behind
from dissensus.steps.pooling import Files, files_of, has_items
from dissensus.steps.predicting import changes_since, problems
from dissensus.store.files import exists
from dissensus.store.folder import Folder
from dissensus.store.parts import finished_parts, part_size
from dissensus.store.rounds import Round, read_rounds
from dissensus.store.tables import open_table, read_stamps


class RoundStatus(Record):
    """One round: its duels and what is selected for them; `short` counts duels that have too few.

    Several duels may share an item, or a pair of items: `selected` and `reserves` count each once, `places` counts it
    for every duel that has it.
    """

    round: int
    duels: int
    selected: int
    """Different items, pairs or images."""
    places: int
    items: int
    """Different items, which are fewer or more than pairs of them."""
    reserves: int
    """Different items, pairs or images that are not selected for any duel."""
    short: int
    settings: dict[str, object]
    words: tuple[str, ...] = ()
    """Sentences about the selection for readers of the result."""
    funnel: tuple[Step, ...] = ()
    """What each rule left, and what other settings would give."""


class ModelStatus(Record):
    """One model: whether it has predictions, and for how many items it has none and why."""

    model: str
    source: str
    predicted: bool
    items: int
    """How many items it has predicted; fewer than the pool has if that has grown since, or if it was interrupted."""
    unreadable: int
    reasons: dict[str, int]
    changed: tuple[str, ...] = ()
    """Settings that have changed since its predictions were made, with old and new values."""
    remedy: str = ""
    """What to do about them."""
    sanity: LabelSanity | ScoreSanity | MapSanity | None = None
    """What it predicts, as far as `predict` looked at it."""


class Status(Record):
    """The progress of a study."""

    study: str
    task: str
    classes: int
    pool: int
    identical_files: int
    missing_files: int
    """Items whose file was missing when it was pooled."""
    models: tuple[ModelStatus, ...]
    rounds: tuple[RoundStatus, ...]
    questions: int
    open_questions: int
    discarded_items: int
    answers: int
    """Of all kinds and roles."""
    judgements: int
    """Answers to the study's main questions: without controls, repeats, training and the owner's own questions."""
    annotators: int
    """How many people gave these judgements."""
    drawn: int = 0
    """Questions that were drawn at random among the models of now, to estimate how often each is right."""
    drawn_answered: int = 0
    decided: tuple[str, ...] = ()
    """Sentences about what these decide."""
    doubts: tuple[str, ...] = ()
    """Sentences about predictions that look wrong, and what to try."""
    changes: tuple[str, ...] = ()
    """Sentences about settings that have changed since rounds were selected or answers were given."""
    next: str


def status_of(task: Task[Any, Any]) -> Status:
    """The status, from the study folder and its database alone."""
    work = task.work
    folder, settings, has_pool = work.folder, work.settings, has_items(work.folder)
    behind = rounds_behind(folder)
    evaluation = Competition(task).evaluation() if folder.rounds() and not behind else None
    rounds = read_rounds(folder, task.selection)[1] if evaluation is None else evaluation.rounds
    judgements, annotators = work.answers.counts(_kinds(task, evaluation), "asked")
    sanity = known_sanity(task) if has_pool else None
    known = {} if sanity is None else {one.model: one for one in sanity.models}
    models = tuple(_model(task, name, known.get(name)) for name in settings.models)
    competing = [] if evaluation is None else evaluation.models
    questions, waiting = (0, 0) if evaluation is None else (len(evaluation.asked), len(evaluation.open))
    old = None if evaluation is None else outdated(task, competing, evaluation.rounds)
    files = files_of(folder) if has_pool else Files(0, 0, False, False)
    drawn, told = (0, 0) if evaluation is None else _draws(evaluation)
    has_drawn = evaluation is not None and len(evaluation.question_set.drawn) > 0
    decided, is_over = task.draws_in_words(evaluation) if evaluation is not None and has_drawn else ((), True)
    return Status(
        study=str(folder.root),
        task=settings.task,
        classes=len(work.classes),
        pool=work.size if has_pool else 0,
        identical_files=files.copies,
        missing_files=files.missing,
        models=models,
        rounds=_rounds(task, rounds),
        questions=questions,
        open_questions=waiting,
        discarded_items=0 if evaluation is None else evaluation.discarded,
        answers=work.answers.counts()[0],
        judgements=judgements,
        annotators=annotators,
        drawn=drawn,
        drawn_answered=told,
        decided=decided,
        doubts=() if sanity is None else sanity.words,
        changes=_grown(behind) if evaluation is None else (*(() if old is None else (old.words,)), *uncounted(task)),
        next=_next(
            folder,
            has_pool,
            models,
            competing,
            is_replaced=old is not None and old.is_replaced,
            questions=questions,
            waiting=waiting,
            is_over=is_over,
            is_decided=has_drawn and is_over,
        ),
    )


def _grown(behind: Sequence[int]) -> tuple[str, ...]:
    """A sentence about rounds of a smaller pool."""
    if not behind:
        return ()
    names = " and ".join(filter(None, (", ".join(map(str, behind[:-1])), str(behind[-1]))))
    rounds, them = (f"round {names} was", "it") if len(behind) == 1 else (f"rounds {names} were", "them")
    return (f"Items have been added to the pool since {rounds} selected: dissensus select replaces {them}.",)


def _draws(evaluation: Evaluation[Any, Any]) -> tuple[int, int]:
    """How many questions were drawn among the models of now, and how many of these are answered."""
    asked = evaluation.question_set
    return asked.draws, asked.draws - len(asked.open_draws(evaluation.states.state))


def _kinds(task: Task[Any, Any], evaluation: Evaluation[Any, Any] | None) -> tuple[str, ...] | None:
    """The kinds of the study's main questions; None if all kinds are."""
    groups = () if evaluation is None else evaluation.question_set.groups
    return None if task.kind is None else tuple({task.kind: None} | {one.kind: None for one in groups if len(one)})


def _rounds(task: Task[Any, Any], rounds: Sequence[Round[Any]]) -> tuple[RoundStatus, ...]:
    mixed = mixed_rounds(rounds)
    return tuple(_round(task, one, (mixed[one.number],) if one.number in mixed else ()) for one in rounds)


def _round(task: Task[Any, Any], found: Round[Any], more: tuple[str, ...]) -> RoundStatus:
    selected = found.selection.take(~found.selection.is_reserve)
    rows = np.unique(selected.duel, return_counts=True)[1]
    return RoundStatus(
        round=found.number,
        duels=len(found.duels),
        selected=selected.different,
        places=len(selected),
        items=len(np.unique(np.concatenate([getattr(selected, name) for name in selected.items]))),
        reserves=found.selection.different - selected.different,
        short=task.short_duels(found, rows),
        settings=found.settings,
        words=(*found.words, *more),
        funnel=found.funnel,
    )


def _model(task: Task[Any, Any], name: str, sanity: LabelSanity | ScoreSanity | MapSanity | None) -> ModelStatus:
    work = task.work
    folder, model, path = work.folder, work.settings.models[name], work.folder.predictions(name)
    is_predicted = exists(path)
    source = task.source(work, name)
    changed = changes_since(source) if is_predicted else []
    items = open_table(path).metadata.num_rows if is_predicted else 0
    finished = sum(1 for _ in finished_parts(folder.parts(f"predict-{name}")))
    kept = finished * part_size(work.size - items, source.chunk)
    unreadable = int(read_stamps(path, "unreadable")["unreadable"]) if is_predicted else 0
    reasons = Counter(problems(folder, name)["problem"].to_pylist()) if unreadable else Counter()
    return ModelStatus(
        model=name,
        source=f"{model.backend}:{model.target}",
        predicted=is_predicted and not is_behind(work.folder, name),
        items=min(items + kept, work.size) if kept else items,
        unreadable=unreadable,
        reasons=dict(reasons.most_common()),
        changed=tuple(changed),
        remedy=_remedy(folder, name) if changed else "",
        sanity=sanity,
    )


def _remedy(folder: Folder, name: str) -> str:
    """What to do about a model whose settings have changed since its predictions were made."""
    rounds = rounds_with(folder, name)
    if rounds:
        return f"restore the old settings in study.toml: {taking_part(folder, name, min(rounds))}"
    study = shlex.quote(str(folder.root))
    return f"run dissensus predict {study} --again {name}, or restore the old settings in study.toml"


def _next(
    folder: Folder,
    has_pool: bool,
    models: tuple[ModelStatus, ...],
    competing: list[str],
    is_replaced: bool,
    questions: int,
    waiting: int,
    is_over: bool,
    is_decided: bool,
) -> str:
    """The command that comes next; `is_replaced` if `select` would replace the last round.

    `is_over` if nothing more has to be drawn, and `is_decided` if that is because of the answers to what was drawn.
    """
    study = shlex.quote(str(folder.root))
    again = [f"--again {model.model}" for model in models if model.changed and model.model not in competing]
    if not has_pool:
        return f"dissensus pool {study} SOURCE…"
    if again or not all(model.predicted for model in models):
        return f"dissensus predict {study} {' '.join(again) or '   # resumes'}"
    if len(models) < 2:
        return f"dissensus predict {study} NAME=BACKEND:TARGET…"
    if is_replaced or any(model.model not in competing for model in models):
        return f"dissensus select {study}"
    if waiting:
        if is_decided:
            are = "is" if waiting == 1 else "are"
            then = f"report {study}    # {counted(waiting, 'question')} {are} still open, but you may stop"
        else:
            then = f"serve {study}    # {waiting:,} of {counted(questions, 'question')} open"
        return f"dissensus {then}"
    return f"dissensus report {study}" if is_over else f"dissensus draw {study}    # not everything is decided yet"
