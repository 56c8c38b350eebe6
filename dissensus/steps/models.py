"""Models as the user names them: added to study.toml or changed there, predicted, and taken back if rejected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from dissensus.backends import parse_spec
from dissensus.engines.reduction import Workers
from dissensus.errors import BackendError, PredictionError, StudyError
from dissensus.steps.code import model_code, pool_code
from dissensus.steps.given import all_kept, keep_predictions, remove_kept, remove_unused
from dissensus.steps.growing import is_behind
from dissensus.steps.pooled_files import listed_as_given
from dissensus.steps.pooling import files_of
from dissensus.steps.predicting import Source, is_wanted, predict
from dissensus.steps.predicting_on_workers import predict_on_workers
from dissensus.steps.predicting_together import predict_together
from dissensus.steps.workspace import Workspace
from dissensus.store.consent import agree_if_possible, require_agreement
from dissensus.store.files import write_bytes
from dissensus.store.folder import Folder
from dissensus.store.settings import ModelSettings, Settings, read_settings, set_models


class Task(Protocol):
    """What predicting needs to know about the study's task."""

    work: Workspace[Any]
    source: type[Source]
    preprocess: ClassVar[type[Any]]
    gives_numbers: ClassVar[bool]


@dataclass(frozen=True)
class Request:
    """What a user asks `predict` to do; see `Study.predict`."""

    specs: Sequence[str] = ()
    """Models as NAME=BACKEND:TARGET."""
    preprocess: Mapping[str, Any] = field(default_factory=dict)
    lower: Sequence[str] = ()
    again: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    """Models in memory, by name."""
    is_together: bool = False
    """Whether all models see an image while it is decoded once, instead of one model after the other."""


def predict_models(task: Task, request: Request) -> dict[str, bool]:
    """Predict the models of a request and those in study.toml that have not finished.

    Returns, for each of them, whether anything was left to predict. To name a model's code in the request is to agree
    to it; a name alone, as in `again`, is not, since the code it stands for may be somebody else's choice.
    """
    folder, settings = task.work.folder, task.work.settings
    behind = [name for name, model in settings.models.items() if model.backend == "file" and is_behind(folder, name)]
    request = replace(request, again=[*request.again, *behind])  # they give all predictions at once
    with _named_models(task, request) as named:
        _require_given(folder, settings, {*behind} - {*named})
        settings = read_settings(folder.settings, {settings.task: type(settings)})
        if not settings.models:
            raise StudyError("the study has no models yet: add some as NAME=BACKEND:TARGET")
        unnamed = unfinished(folder, settings, request.again, named)
        require_agreement(folder, [*pool_code(folder), *model_code(settings, unnamed)])
        agree_if_possible(folder, model_code(settings, named))
        work = replace(task.work, settings=settings)
        sources = {name: task.source(work, name) for name in settings.models if name in (*named, *unnamed)}
        wanted = [one for name, one in sources.items() if is_wanted(one, name in request.again)]  # checks all of them
        in_order = any(one.fits_in_memory and not one.is_whole for one in wanted)
        with listed_as_given(folder) if in_order else nullcontext():
            if isinstance(work.engine, Workers):
                return predict_on_workers(work.engine, list(sources.values()), request.again)
            if request.is_together or files_of(folder).is_remote:  # a picture that comes a long way is read once
                return predict_together(list(sources.values()), request.again)
            return {name: predict(source, name in request.again) for name, source in sources.items()}


def _require_given(folder: Folder, settings: Settings, behind: Iterable[str]) -> None:
    """Raise PredictionError if a model whose predictions were given in memory has none of the items that were added."""
    for name in sorted(behind):
        if folder.given in Path(settings.models[name].target).parents:
            raise PredictionError(
                f"the predictions of {name} were given in memory, before items were added: give them for all items, "
                f"with Study.predict({name}=…)"
            )


def unfinished(folder: Folder, settings: Settings, again: Iterable[str] = (), named: Iterable[str] = ()) -> list[str]:
    """Models that `predict` runs although the command does not say what they are: study.toml does."""
    # models that have finished are opened again only if they are named in `again`
    return [
        name
        for name in settings.models
        if name not in named and (name in again or not folder.predictions(name).exists() or is_behind(folder, name))
    ]


@contextmanager
def _named_models(task: Task, request: Request) -> Iterator[list[str]]:
    """Add the models of a request to study.toml, and yield the names of those that it says where to find.

    If the `with` block raises an error, study.toml and given/ are restored, except for models that were predicted in
    the block, or new ones that have begun, so that they can resume.

    Raises:
        StudyError: another model has the name, or --lower or --again name a model that is not among these.
    """
    folder, known = task.work.folder, task.work.settings.models
    before, kept = folder.settings.read_bytes(), all_kept(folder)
    changed: dict[str, ModelSettings] = {}
    begun: dict[str, tuple[int, int]] = {}
    try:
        specs = [*request.specs, *_given_specs(task, request)]
        changed |= _changed_models(task, replace(request, specs=specs))
        begun |= {name: _progress(folder, name, name not in known) for name in changed}
        if changed:
            set_models(folder.settings, changed)
        yield [parse_spec(spec)[0] for spec in specs]
    except Exception:
        stay = {
            name: model
            for name, model in changed.items()
            if _progress(folder, name, name not in known) != begun.get(name)
        }
        if folder.settings.read_bytes() != before:
            write_bytes(folder.settings, before)
        if stay:
            set_models(folder.settings, stay)
        remove_kept(folder, all_kept(folder) - kept - {Path(model.target).name for model in stay.values()})
        _remove_replaced(folder, known, stay)
        raise
    _remove_replaced(folder, known, changed)


def _remove_replaced(folder: Folder, known: Mapping[str, ModelSettings], changed: Mapping[str, ModelSettings]) -> None:
    """Remove what the changed models were given as before."""
    for name in changed:
        remove_unused(folder, name, {**known, **changed}.values())


def _given_specs(task: Task, request: Request) -> list[str]:
    """Models in memory, saved to files of the study, as NAME=BACKEND:TARGET."""
    folder, known = task.work.folder, task.work.settings.models
    specs = []
    for name, given in request.given.items():
        parse_spec(f"{name}=file:given")  # rejects names that cannot be file names
        is_again = name in request.again
        if callable(given) and name in known and folder.predictions(name).exists() and not is_again:
            specs.append(f"{name}=file:{known[name].target}")  # a function is called only once
        else:
            specs.append(f"{name}=file:{keep_predictions(task.work, name, given, task.source.columns, is_again)}")
    return specs


def _progress(folder: Folder, name: str, is_new: bool) -> tuple[int, int]:
    """When a model's predictions were made, and how many parts it has; those of a replaced model do not count."""
    path = folder.predictions(name)
    parts = list(folder.parts(f"predict-{name}").glob("*.parquet")) if is_new else []
    return path.stat().st_mtime_ns if path.exists() else 0, len(parts)


def resolved_target(backend: str, target: str) -> str:
    """The target as study.toml stores it: paths do not depend on the working directory."""
    name, at, checkpoint = target.partition("@")
    if backend == "timm":
        return f"{name}@{Path(checkpoint).resolve()}" if at else target
    if backend == "python" and ".py:" in target:
        module, _, name = target.rpartition(":")
        return f"{Path(module).resolve()}:{name}"
    return str(Path(target).resolve()) if Path(target).exists() else target


def known_better(backend: str, target: str) -> Literal["higher", "lower"]:
    """Whether higher or lower scores are better by default; quality models know this themselves."""
    if backend != "quality":
        return "higher"
    from dissensus.backends.quality import open_quality  # takes half a second to import; only this backend needs it

    return open_quality(target).better


def _changed_models(task: Task, request: Request) -> dict[str, ModelSettings]:
    """The models that are new or change; one already in the study must stay the same unless it is in `again`."""
    known, again = task.work.settings.models, request.again
    task.preprocess.read(request.preprocess)
    if absent := [name for name in again if name not in known]:
        raise StudyError(
            f"--again {absent[0]}: this study has no model {absent[0]}, it has {', '.join(known) or 'no models'}"
        )
    specs = [parse_spec(spec) for spec in request.specs]
    names = [name for name, _, _ in specs]
    strangers = [name for name in request.lower if name not in names]
    if strangers or (request.lower and not task.gives_numbers):
        raise StudyError(
            f"{(strangers or request.lower)[0]}: --lower takes models named in this command, and only for the task "
            "scores"
        )
    told = {"preprocess": dict(request.preprocess)} if request.preprocess else {}
    models = {name: known[name].model_copy(update=told) for name in again}
    for spec in specs:
        name = spec[0]
        models[name] = _model(spec, known.get(name), name in request.lower, told)
        is_other = name in known and name not in again and models[name] != known[name]
        if is_other or names.count(name) > 1:
            raise StudyError(
                f"a model called {name} already exists: give this one another name, or correct it with --again {name}"
            )
    return {name: model for name, model in models.items() if known.get(name) != model}


def _model(
    spec: tuple[str, str, str], known: ModelSettings | None, is_lower: bool, told: Mapping[str, Any]
) -> ModelSettings:
    """A model as a command describes it; what the command leaves out stays as it is known.

    Raises:
        StudyError: lower scores are said to be better, but the model knows that they are not.
    """
    name, backend, target = spec
    better = known.better if known is not None and "quality" not in (backend, known.backend) else None
    better = better or known_better(backend, target)
    if is_lower and backend == "quality" and better == "higher":
        raise StudyError(f"{name}: higher scores of {target} are better: remove --lower")
    about = {"backend": backend, "target": resolved_target(backend, target), "better": "lower" if is_lower else better}
    return (known or ModelSettings(**about)).model_copy(update={**about, **told})


def parsed_settings(pairs: list[str]) -> dict[str, Any]:
    """Settings from KEY=VALUE pairs; values are parsed as JSON if possible, and are text otherwise.

    Raises:
        BackendError: a pair has no '=', or its value is null.
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BackendError(f"'{pair}' is not a setting: expected KEY=VALUE, for example size=224")
        try:
            settings[key] = json.loads(value)
        except ValueError:
            settings[key] = value
        if settings[key] is None:
            raise BackendError(f"'{pair}': a setting cannot be null; leave it out instead")
    return settings
