"""What the owner should know before people come: answers that do not count, and that there are no questions."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from dissensus.labeling import QUESTIONS
from dissensus.report.wording import counted
from dissensus.store.set_questions import CustomQuestions

if TYPE_CHECKING:
    from dissensus.competition.task import Task


def uncounted(task: Task[Any, Any]) -> tuple[str, ...]:
    """Sentences about answers that do not count, because study.toml now asks another kind of question."""
    work, words = task.work, []
    question = getattr(work.settings.judge, "question", None)
    if question is None:
        return ()
    own = {(one.question.kind, one.question.text) for one in CustomQuestions(work.database).all()}
    for kind in QUESTIONS:
        if kind in (question, "check"):
            continue
        count = sum((kind, row[1]) not in own for row in work.answers.essentials(kind, "asked"))
        if count:
            do = "does" if count == 1 else "do"
            words.append(
                f"{counted(count, 'answer')} to {kind} questions {do} not count: this study asks {question} questions "
                "(judge.question in study.toml)."
            )
    return tuple(words)


def unasked(task: Task[Any, Any]) -> tuple[str, ...]:
    """A sentence if people would find no questions at all."""
    if task.work.folder.rounds() or CustomQuestions(task.work.database).all():
        return ()
    study = shlex.quote(str(task.work.folder.root))
    return (f"There are no questions yet: run dissensus select {study}, and people will see them at once.",)
