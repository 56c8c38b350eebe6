"""A round that nobody has been asked about may be selected again, with other settings or from a larger pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dissensus.competition.notices import uncounted
from dissensus.competition.task import S, Task
from dissensus.errors import StudyError
from dissensus.store.lock import Lock
from dissensus.store.rounds import Round, read_rounds

LARGER = (
    "start a new study for the larger pool, and take the answers along (dissensus judgements export, then import there)"
)


def use_of(task: Task[S, Any], models: Sequence[str], found: Round[S]) -> str | None:
    """Why a round has to stay: the answers to its questions, or the people who have been asked; None if it may go.

    Answers that were imported before the round was selected count too, and so do answers to other kinds of questions,
    which count again if `judge.question` is set back.
    """
    log = task.work.answers
    if others := uncounted(task):
        return f"people have answered other questions about it ({others[0].rstrip('.')})"
    groups = task.question_set(models, [found]).groups
    answers = sum(1 for group in groups for _ in log.about(group.kind, group.places()))
    if answers:
        return f"its questions have {answers:,} answers" if answers > 1 else "one of its questions has an answer"
    texts = {(group.kind, text) for group in groups for text in group.places()}
    if any((one.question.kind, one.question.text) in texts for one in log.assignments()):
        return "people have been asked its questions"
    return None


def has_old_duels(rounds: Sequence[Round[Any]]) -> bool:
    """Whether the last round has duels of models that had met before: it was selected with `again`."""
    met = {name for found in rounds[:-1] for duel in found.duels for name in duel}
    return any(first in met and second in met for first, second in rounds[-1].duels)


@contextmanager
def growing(task: Task[Any, Any]) -> Iterator[None]:
    """Hold the study while items are added to its pool: nobody can be asked anything meanwhile.

    Raises:
        StudyError: somebody has been asked, or the study is being served.
    """
    folder, log = task.work.folder, task.work.answers
    if not folder.rounds() and not folder.batches():
        yield
        return
    served = "this study is being served, so its pool cannot grow: stop the service first"
    with Lock(folder.serving, served, is_removed=True):
        models, rounds = read_rounds(folder, task.selection)
        for found in rounds:
            if use := use_of(task, models, found):
                raise StudyError(f"round {found.number} was selected from this pool, and {use}: {LARGER}")
        if folder.batches() and (log.counts()[0] or log.assignments()):
            raise StudyError(f"questions were drawn from this pool, and people have been asked: {LARGER}")
        yield
