"""Models as the user names them: added to study.toml or changed there, and restored if they are rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from dissensus.backends import Preprocess, parse_spec
from dissensus.errors import DissensusError, StudyError
from dissensus.store.files import write_bytes
from dissensus.store.folder import Folder
from dissensus.store.settings import ModelSettings, Settings, set_models


@contextmanager
def named_models(
    folder: Folder,
    settings: Settings,
    specs: Sequence[str],
    preprocess: Mapping[str, Any],
    lower: Sequence[str],
    kind: type[Any] = Preprocess,
    gives_numbers: bool = False,
    again: Sequence[str] = (),
) -> Iterator[list[str]]:
    """Add the models given as NAME=BACKEND:TARGET to study.toml, and yield their names.

    `kind` is the preprocessing class of the study's task. Models named in `again` may be in the study already, and get
    the new settings. If the `with` block raises an error, study.toml is restored, except for models that were predicted
    in the block, or new ones that have begun, so that they can resume.

    Raises:
        StudyError: another model has the name, or --lower or --again name a model that is not among these.
    """
    before = folder.settings.read_bytes()
    changed = _changed_models(settings, specs, preprocess, lower, kind, gives_numbers, again)
    begun = {name: _progress(folder, name, name not in settings.models) for name in changed}
    if changed:
        set_models(folder.settings, changed)
    try:
        yield list(dict.fromkeys([*(parse_spec(spec)[0] for spec in specs), *again]))
    except DissensusError:
        write_bytes(folder.settings, before)
        stay = [name for name in changed if _progress(folder, name, name not in settings.models) != begun[name]]
        if stay:
            set_models(folder.settings, {name: changed[name] for name in stay})
        raise


def _progress(folder: Folder, name: str, is_new: bool) -> tuple[int, int]:
    """When a model was predicted, and how many parts it has; those of a model that is replaced do not count."""
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


def _changed_models(
    settings: Settings,
    specs: Sequence[str],
    preprocess: Mapping[str, Any],
    lower: Sequence[str],
    kind: type[Any],
    gives_numbers: bool,
    again: Sequence[str],
) -> dict[str, ModelSettings]:
    """The models that are not in the study yet, or change; one that is must be the same model unless it is `again`."""
    known = settings.models
    kind.read(preprocess)
    absent = [name for name in again if name not in known]
    if absent:
        raise StudyError(f"there is no model {absent[0]} to predict again: this study has {', '.join(known) or 'none'}")
    changed = {name: known[name].model_copy(update={"preprocess": dict(preprocess)}) for name in again if preprocess}
    named: set[str] = set()
    unknown = [name for name in lower if name not in [parse_spec(spec)[0] for spec in specs]]
    if unknown or (lower and not gives_numbers):
        raise StudyError(
            f"{(unknown or lower)[0]}: --lower takes models named in this command, and only for the task scores"
        )
    for spec in specs:
        name, backend, target = parse_spec(spec)
        if name in lower and backend == "quality" and known_better(backend, target) == "higher":
            raise StudyError(f"{name}: higher scores of {target} are better: remove --lower")
        model = ModelSettings(
            backend=backend,
            target=resolved_target(backend, target),
            preprocess=dict(preprocess),
            better="lower" if name in lower else known_better(backend, target),
        )
        if name in named or (name in known and name not in again and not _same(known[name], model)):
            raise StudyError(
                f"there is already a model {name}: give this one another name, or correct it with --again {name}"
            )
        named.add(name)
        if name not in known or name in again:
            changed[name] = model
    return {name: model for name, model in changed.items() if known.get(name) != model}


def _same(known: ModelSettings, given: ModelSettings) -> bool:
    """True if both are the same model; preprocessing already in study.toml need not be repeated."""
    same_source = (known.backend, known.target, known.better) == (given.backend, given.target, given.better)
    return same_source and (not given.preprocess or known.preprocess == given.preprocess)
