"""select: plan a round of duels, find its rows in one pass over all predictions, and write it, for every task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.changes import changed_since
from dissensus.competition.examining import doubts_about
from dissensus.competition.funnel import funnel
from dissensus.competition.kept_passes import extending_engine, keep_passes
from dissensus.competition.replacing import has_old_duels, use_of
from dissensus.competition.selector import Plan
from dissensus.competition.task import H, S, Task, ids_of
from dissensus.errors import PredictionError, SelectionError, StudyError
from dissensus.steps.belonging import check_same_pool, refuse_other_predictions
from dissensus.steps.growing import rounds_behind
from dissensus.steps.pooling import earlier_pools, pool_stamp
from dissensus.steps.pools import drawn, open_source, require_source
from dissensus.steps.predicting import changes_since, predicted
from dissensus.steps.workspace import Workspace
from dissensus.store.checksums import verify
from dissensus.store.files import remove_file
from dissensus.store.lock import Lock
from dissensus.store.parts import Parts, clear_parts, unfinished_inputs
from dissensus.store.rounds import Round, read_rounds, remove_round, write_round
from dissensus.store.set_questions import CustomQuestions

BEHIND = "was selected before items were added to the pool"


def select(task: Task[S, H], again: bool) -> int:
    """Select a round and return its number, or the number of the last round if nothing is left to select.

    The first round has all duels; later ones only those of models that joined since (Algorithm 2 of the papers) or,
    with `again`, new rows for all duels. If only settings have changed, the last round is replaced, as long as nobody
    has been asked about it. If items have been added to the pool, one round replaces all. Otherwise, rounds never
    change.

    Raises:
        SelectionError: there are fewer than two models, or no two can be told apart.
        StudyError: the settings differ from those of the last round, which has to stay; or predictions have changed.
        PredictionError: predictions cannot be compared.
    """
    try:
        return _selected(task, again)
    except SelectionError as error:
        if doubts := doubts_about(task):  # the likeliest reason why nothing can be selected
            raise SelectionError(f"{error}. But first: {' '.join(doubts)}") from None
        raise


def _selected(task: Task[S, H], again: bool) -> int:
    plan = planned(task, again)
    redraw(task)
    if plan is None:
        last = task.work.folder.rounds()[-1]
        clear_parts(task.work.folder.parts(f"select-{last:03}"))  # of a replacement that was given up
        return last
    if not plan.replaced:
        return _select(task, plan)
    served = f"this study is being served, so round {plan.number} has to stay: stop the service first, or use --again"
    with Lock(task.work.folder.serving, served, is_removed=True):
        return _select(task, plan)


def _select(task: Task[S, H], plan: Plan[S]) -> int:
    require_source(task.work.folder)
    engine = extending_engine(task.work, plan)
    work = replace(task.work, engine=engine)
    selecting = task.selecting(work, plan)
    inputs = {
        "pool": pool_stamp(work.folder),
        "predictions": {name: plan.stamps[name]["content"] for name in plan.models},
        "settings": plan.settings,
        "duels": len(plan.duels),
    } | dict(selecting.inputs)
    extends = {"extends": engine.origin} if engine.is_known(selecting.reduction) else {}
    step, folder = f"select (round {plan.number})", work.folder.parts(f"select-{plan.number:03}")
    has_grown = unfinished_inputs(folder).get("pool") in earlier_pools(work.folder)
    parts = Parts(folder, step, inputs | extends, replaces=bool(plan.replaced) or has_grown)
    try:
        choice = selecting.run(work, parts)
    except (PredictionError, SelectionError):  # resuming would fail again, so the parts are useless
        parts.clear()
        raise
    selection = choice.selection
    items = np.unique(np.concatenate([getattr(selection, name) for name in selection.items])).tolist()
    about = {
        "settings": plan.settings,
        "asked": plan.settings,
        "duels": [[plan.models[first], plan.models[second]] for first, second in plan.duels.tolist()],
        "inputs": {name: inputs[name] for name in selecting.recorded},
        "funnel": [step.model_dump() for step in funnel(work, task.noun, selecting, choice)],
    }
    ids = dict(zip(items, drawn(work.folder, items, work.progress), strict=True))
    _make_way(task, plan)
    keep_passes(work.folder, plan, engine)  # first: once there is the round, nothing is done again
    write_round(work.folder, plan.number, selection, plan.models, ids, about | dict(choice.about), choice.more)
    parts.clear()
    return plan.number


def _make_way(task: Task[S, H], plan: Plan[S]) -> None:
    """Remove the rounds that are replaced but for the first, which is overwritten.

    Raises:
        StudyError: answers have been imported in the meantime.
    """
    models, rounds = read_rounds(task.work.folder, task.selection)
    replaced = rounds[plan.number - 1 :]
    for found in replaced:
        require_unused(task, models, found, "is being replaced")
    for found in reversed(replaced[1:]):  # the last one first, so that no number is ever missing
        remove_round(task.work.folder, found.number)


def redraw(task: Task[S, H]) -> None:
    """Draw what was selected from an enumeration or asked about before, where drawings are missing."""
    folder = task.work.folder
    if not folder.enumeration.exists():
        return
    from dissensus.steps.serving import items_shown  # takes long to import, and other pools do not need it

    _, rounds = read_rounds(folder, task.selection)
    try:
        verify(folder.drawn)
    except StudyError:
        remove_file(folder.drawn)
    asked = {item for one in CustomQuestions(task.work.database).all() for item in items_shown(one.question)}
    drawn(folder, sorted({*ids_of(rounds), *open_source(folder).places(sorted(asked))}), task.work.progress)


def planned(task: Task[S, H], again: bool) -> Plan[S] | None:
    """The round to select; None if all models have met and no setting has changed.

    Raises:
        StudyError: settings have changed since the last round, and it has to stay.
    """
    work = task.work
    met, rounds = read_rounds(work.folder, task.selection)
    wanted, replaced = task.wanted(), rounds[:0]
    if rounds_behind(work.folder):
        for found in rounds:
            require_unused(task, met, found, BEHIND, "start a new study for the larger pool")
        met, rounds, replaced = [], [], rounds
    models = competing(work, met)
    if rounds and not again and len(models) == len(met):
        differs = changed_since(rounds[-1], wanted, task.found_later)
        if not differs:
            return None
        require_unused(task, met, rounds[-1], f"was selected with other settings ({', '.join(differs)})")
        earlier, replaced = rounds[:-1], rounds[-1:]
        again, rounds = has_old_duels(rounds), earlier
        met = [name for name in met if any(name in duel for found in earlier for duel in found.duels)]
        models = competing(work, met)
    newcomers = len(models) - len(met) if rounds and not again else 0
    require_unchanged(task, rounds)
    _refuse_outdated(task, [name for name in models if name not in met])
    number = rounds[-1].number + 1 if rounds else 1
    duels = duels_of(len(models), newcomers, task.is_ordered)
    stamps = check_same_pool(work.folder, models)
    return Plan(number, models, duels, wanted, rounds if again else (), stamps, rounds, replaced)


def require_unused(
    task: Task[S, H], models: Sequence[str], found: Round[S], problem: str, remedy: str | None = None
) -> None:
    """Refuse to replace a round that people have been asked about.

    Raises:
        StudyError: says what the problem is, and what the round is used for.
    """
    if use := use_of(task, models, found):
        usual = f"restore the settings, or use --again to select more {task.noun} for every duel"
        raise StudyError(f"round {found.number} {problem}, but {use}: {remedy or usual}")


def _refuse_outdated(task: Task[S, H], newcomers: Sequence[str]) -> None:
    """Refuse predictions that were made with settings other than those in study.toml.

    Raises:
        StudyError: names the model and the settings that have changed.
    """
    for name in newcomers:
        if changed := changes_since(task.source(task.work, name)):
            raise StudyError(
                f"the predictions of {name} were made with different settings ({', '.join(changed)}): run dissensus "
                f"predict {task.work.folder.root} --again {name}, or restore the old settings in study.toml"
            )


def duels_of(models: int, newcomers: int = 0, is_ordered: bool = False) -> Int[Array, "D 2"]:
    """All pairs of models, ordered if one attacks the other; with newcomers (the last models), only their own pairs.

    A model that joins M others adds M duels, or 2·M ordered ones.
    """
    pairs = permutations(range(models), 2) if is_ordered else combinations(range(models), 2)
    chosen = [pair for pair in pairs if not newcomers or max(pair) >= models - newcomers]
    return np.array(chosen, np.int64).reshape(-1, 2)


def competing(work: Workspace[Any], met: list[str]) -> list[str]:
    """The models of earlier rounds, in that order, followed by those that have predicted since.

    Raises:
        SelectionError: fewer than two models have predictions.
    """
    models = predicted(work.folder, work.settings)
    if len(models) < 2:
        found = models[0] if models else "none"
        raise SelectionError(
            f"a competition needs two models with predictions, and this study has {found}: run dissensus predict"
        )
    return met + [name for name in models if name not in met]


def require_unchanged(task: Task[S, H], rounds: Sequence[Round[S]]) -> dict[str, dict[str, Any]]:
    """Stamps of the predictions of all competing models, after checking that they have not changed since the rounds.

    Raises:
        StudyError: a model is no longer in study.toml, or its predictions have changed.
    """
    work = task.work
    names = list(dict.fromkeys(name for found in rounds for name in found.predictions))
    gone = [name for name in names if name not in work.settings.models]
    if gone:
        raise StudyError(
            f"{gone[0]} takes part in the competition but is no longer in {work.folder.settings}: "
            f"restore [models.{gone[0]}]"
        )
    stamps = check_same_pool(work.folder, names)
    refuse_other_predictions(rounds, stamps)
    for found in rounds:
        task.require_same(found)
    return stamps
