"""remove: take a model out of a study, as long as no answers depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dissensus.competition.evaluation import Competition
from dissensus.competition.task import Task
from dissensus.errors import StudyError, counted
from dissensus.records import Record
from dissensus.steps.given import remove_unused
from dissensus.store.files import remove_file
from dissensus.store.parts import clear_parts
from dissensus.store.rounds import Round, remove_round
from dissensus.store.settings import remove_models


class Removal(Record):
    """What was removed: a model, and the rounds that were selected from its predictions."""

    model: str
    rounds: tuple[int, ...]


def remove(task: Task[Any, Any], name: str) -> Removal:
    """Remove a model: its rounds, its predictions and MEPIs, and its section of study.toml, in this order.

    All rounds after its first one are removed too, since their selection took the model into account.

    Raises:
        StudyError: no such model, or its rounds have answers.
    """
    folder, known = task.work.folder, task.work.settings.models
    predicted = {path.stem for path in folder.predictions(name).parent.glob("*.parquet")}
    if name not in known and name not in predicted:
        raise StudyError(f"this study has no model {name}: it has {', '.join(known) or 'no models'}")
    competition = Competition(task, may_be_behind=True)
    of_model = [found.number for found in competition.rounds if name in found.predictions]
    first = min(of_model, default=len(competition.rounds) + 1)
    rounds = competition.rounds[first - 1 :]
    if count := _answers_to(competition, rounds):
        depending = counted(count, "answer depends", "answers depend")
        raise StudyError(
            f"{name} takes part in round {first}, and {depending} on it: answers are never deleted, so "
            "the model stays; add the corrected model under a new name (dissensus join)"
        )
    for number in sorted((one.number for one in rounds), reverse=True):
        remove_round(folder, number)
    remove_file(folder.predictions(name))
    remove_file(folder.mepis(name))
    remove_file(folder.laconic_results)  # `laconic report` writes it again, without this model
    clear_parts(folder.parts(f"predict-{name}"))
    remove_unused(folder, name, [model for other, model in known.items() if other != name])
    remove_models(folder.settings, [name] if name in known else [])
    return Removal(model=name, rounds=tuple(one.number for one in rounds))


def _answers_to(competition: Competition[Any, Any], rounds: Sequence[Round[Any]]) -> int:
    """How many answers would no longer count without these rounds, the last ones of the study."""
    if not rounds:
        return 0
    stay = competition.rounds[: len(competition.rounds) - len(rounds)]
    others = competition.task.question_set(competition.models, stay).groups if stay else []
    needed = {(group.kind, text) for group in others for text in group.places()}
    log, count = competition.work.answers, 0
    for group in competition.questions():
        texts = [text for text in group.places() if (group.kind, text) not in needed]
        count += sum(1 for _ in log.essentials(group.kind, "asked", texts))
    return count
