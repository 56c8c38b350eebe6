"""Are the predictions sane? What a task says about them, what to try where they are not, and the result, kept."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from dissensus.backends.recipes import NETWORKS, RECIPES, as_options, recipes_to_try, usual_recipes, with_recipe
from dissensus.errors import DissensusError, StudyError
from dissensus.predictions.doubts import Doubt
from dissensus.records import LabelSanity, MapSanity, Sanity, ScoreSanity
from dissensus.steps.belonging import check_same_pool, rounds_with
from dissensus.steps.predicting import predicted
from dissensus.store.kept import keep, read_kept
from dissensus.store.settings import ModelSettings

if TYPE_CHECKING:
    from dissensus.competition.task import Task

AnySanity = LabelSanity | ScoreSanity | MapSanity
Trial = Callable[[Mapping[str, Any]], float]
"""How well a model would agree with others if its images were prepared with these settings."""

Improvement = tuple[str, float, float]
"""A recipe that helped, with the agreement before and after."""

GAIN = 0.2
"""How much more a model has to agree with others before other settings are suggested."""
PATIENCE = 60.0
"""Seconds after which no further settings are tried."""


@dataclass(frozen=True)
class Examination:
    """What a task found out: a record for each model, without remedies, and the doubts that its warnings come from."""

    looked_at: int = 0
    models: Sequence[AnySanity] = ()
    doubts: Sequence[Sequence[Doubt]] = ()


class PredictionRun(dict[str, bool]):
    """For each model, whether anything was left to predict; with what the predictions look like."""

    def __init__(self, made: Mapping[str, bool], sanity: Sanity | None = None) -> None:
        super().__init__(made)
        self.sanity = sanity

    def _repr_html_(self) -> str | None:
        return None if self.sanity is None else self.sanity._repr_html_()


def known_sanity(task: Task[Any, Any]) -> Sanity | None:
    """What was found out about the present predictions; None if nobody has looked at them, or they are damaged."""
    try:
        names = predicted(task.work.folder, task.work.settings)
        found = read_kept(task.work.folder.sanity, _inputs(task, names)) if names else None
    except StudyError:  # the commands that need the predictions say what is wrong with them
        return None
    return None if found is None else _with_remedies(task, Sanity.model_validate(found))


def doubts_about(task: Task[Any, Any]) -> tuple[str, ...]:
    """What is known to look wrong about the predictions, in sentences."""
    known = known_sanity(task)
    return () if known is None else known.words


def sanity_of(task: Task[Any, Any], is_trying: bool = False) -> Sanity:
    """What the models predict, what looks wrong about it and what to do.

    With `is_trying`, doubted networks are run with other settings, and the result is kept until predictions change.
    Only commands that may run models do so: a network may contain somebody else's code.
    """
    work = task.work
    names = predicted(work.folder, work.settings)
    if (known := known_sanity(task)) is not None or not names:
        return known or Sanity(pool=0, looked_at=0, models=())
    inputs, found = _inputs(task, names), task.examined(names)
    made = Sanity(pool=work.size, looked_at=found.looked_at, models=_doubted(task, found, is_trying))
    if is_trying:
        keep(work.folder.sanity, inputs, made.model_dump(mode="json"))
    return _with_remedies(task, made)


def _inputs(task: Task[Any, Any], names: list[str]) -> dict[str, Any]:
    """What the result depends on."""
    stamps, models = check_same_pool(task.work.folder, names), task.work.settings.models
    return {"version": 1, "models": {name: [stamps[name]["content"], models[name].better] for name in names}}


def _doubted(task: Task[Any, Any], found: Examination, is_trying: bool) -> tuple[AnySanity, ...]:
    """The records with what looks wrong about them, and with the recipes that were tried and helped."""
    names = [one.model for one in found.models]
    sound = [
        name for name, doubts in zip(names, found.doubts, strict=True) if not any(doubt.is_certain for doubt in doubts)
    ]
    recipes: dict[str, Improvement] = {}
    for name, doubts in zip(names, found.doubts, strict=True):
        peers = [other for other in sound if other != name] or [other for other in names if other != name]
        if is_trying and peers and _is_triable(task, name, [doubt.kind for doubt in doubts]):
            tried = _tried(task, name, peers)
            recipes |= {} if tried is None else {name: tried}
    is_cleared = not sound and bool(recipes)
    return tuple(
        _one_doubted(one, doubts, recipes.get(one.model), is_cleared)
        for one, doubts in zip(found.models, found.doubts, strict=True)
    )


def _one_doubted(one: AnySanity, doubts: Sequence[Doubt], tried: Improvement | None, is_cleared: bool) -> AnySanity:
    """The record with its doubts.

    `is_cleared` if other models turned out to be at fault: then a model that only agreed with nobody is not doubted.
    Nor is one that may be just weaker, unless a recipe helped it.
    """
    is_lonely = all(doubt.kind in ("alone", "low") for doubt in doubts)
    is_certain = any(doubt.is_certain for doubt in doubts)
    if tried is None and (not is_certain or (is_cleared and is_lonely)):
        return one
    said = {"doubts": tuple(d.kind for d in doubts), "warnings": tuple(f"{d.words}." for d in doubts)}
    return one.model_copy(update=said if tried is None else {**said, "recipe": tried[0], "gain": tried[1:]})


def _with_remedies(task: Task[Any, Any], sanity: Sanity) -> Sanity:
    """The same with what to do, which depends on the rounds and answers of now, and on how the study is named."""
    has_peers = len(sanity.models) > 1
    models = tuple(
        one.model_copy(update=dict(zip(("remedy", "command"), _remedy(task, one, has_peers), strict=True)))
        if one.warnings
        else one
        for one in sanity.models
    )
    return sanity.model_copy(update={"models": models})


def _is_triable(task: Task[Any, Any], name: str, kinds: Sequence[str]) -> bool:
    """Whether other ways to prepare images may help: a network is doubted, and not only for its direction."""
    return task.work.settings.models[name].backend in NETWORKS and not set(kinds) <= {"few", "reversed"}


def _remedy(task: Task[Any, Any], one: AnySanity, has_peers: bool) -> tuple[str, str]:
    """What to do in a sentence, and the command in it."""
    name, model = one.model, task.work.settings.models[one.model]
    if "reversed" in one.doubts:
        return _reversed(task, name, model)
    if not _is_triable(task, name, one.doubts):
        return _by_hand(model), ""
    if one.recipe and one.gain is not None:
        command = _correction(task, name, model, one.recipe)
        words = (
            f"With {RECIPES[one.recipe].words}, {name} would agree with another model on {one.gain[1]:.0%} instead of "
            f"{one.gain[0]:.0%} of the items that were tried. Correct it: {command}"
        )
        return words, command
    others = recipes_to_try(model.target, task.work.settings.preprocess | model.preprocess)
    usual = [recipe for recipe in usual_recipes(model.target) if recipe in others]
    if has_peers or not usual:
        return _by_hand(model), ""
    command = _correction(task, name, model, usual[0])
    return f"Networks of this name usually take {RECIPES[usual[0]].words}. Try: {command}", command


def _tried(task: Task[Any, Any], name: str, peers: list[str]) -> Improvement | None:
    """The recipe with which the model agrees with others most, before and after; None if none helps much."""
    shared, model = task.work.settings.preprocess, task.work.settings.models[name]
    trial = task.trial(name, peers)
    if trial is None:
        return None
    started = monotonic()
    best: tuple[tuple[float, int], str] | None = None
    order = recipes_to_try(model.target, shared | model.preprocess)
    before = trial(model.preprocess)
    for number, recipe in enumerate(order, start=1):
        task.work.progress(f"trying settings for {name}", number, len(order))
        try:
            after = trial(with_recipe(model.preprocess, shared, recipe))
        except DissensusError:  # settings that this network cannot take, such as three channels for one
            continue
        found = after, -len(RECIPES[recipe].settings)  # networks that take bytes leave all but the channels aside
        if after >= before + GAIN and (best is None or found > best[0]):
            best = found, recipe
        if monotonic() - started > PATIENCE:
            break
    task.work.progress(f"trying settings for {name}", len(order), len(order))
    return None if best is None else (best[1], before, best[0][0])


def _correction(task: Task[Any, Any], name: str, model: ModelSettings, recipe: str) -> str:
    """The command that predicts the model with a recipe; one that takes part in a round has to join or leave first."""
    folder, settings, study = task.work.folder, task.work.settings, _study(task)
    options = as_options(with_recipe(model.preprocess, settings.preprocess, recipe))
    if not rounds_with(folder, name):
        return f"dissensus predict {study} --again {name} {options}".rstrip()
    spec = shlex.quote(f"{model.backend}:{model.target}")
    if task.work.answers.counts()[0]:
        fresh = next(one for number in range(2, 99) if (one := f"{name}{number}") not in settings.models)
        return f"dissensus join {study} {fresh}={spec} {options}".rstrip()
    return f"dissensus remove {study} {name} && dissensus predict {study} {name}={spec} {options}".rstrip()


def _reversed(task: Task[Any, Any], name: str, model: ModelSettings) -> tuple[str, str]:
    if model.better == "lower":
        return f'If higher scores are better after all, set better = "higher" for {name} in study.toml.', ""
    if model.backend == "quality":
        return "Check what the other models’ scores mean: this one knows which direction is better.", ""
    spec = shlex.quote(f"{name}={model.backend}:{model.target}")
    command = f"dissensus predict {_study(task)} {spec} --lower {name} --again {name}"
    return f"If lower scores are better: {command}", command


def _study(task: Task[Any, Any]) -> str:
    return shlex.quote(str(task.work.folder.root))


def _by_hand(model: ModelSettings) -> str:
    if model.backend in NETWORKS:
        settings = "size, crop, channels, mean, std and outputs"
        return f"Check its preprocessing ({settings}; see docs/backends.md) and the order of its classes."
    return "Check that its predictions are for the same items, and its classes the study’s."
