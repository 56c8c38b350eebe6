"""Models as the user names them: added to study.toml, and removed again if they are rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from dissensus.backends import Preprocess, parse_spec
from dissensus.errors import DissensusError, StudyError
from dissensus.steps.predicting import has_begun
from dissensus.store.files import write_bytes
from dissensus.store.folder import Folder
from dissensus.store.settings import ModelSettings, Settings, add_models, remove_models


@contextmanager
def named_models(
    folder: Folder,
    settings: Settings,
    specs: Sequence[str],
    preprocess: Mapping[str, Any],
    lower: Sequence[str],
    kind: type[Any] = Preprocess,
    gives_numbers: bool = False,
) -> Iterator[list[str]]:
    """Add the models given as NAME=BACKEND:TARGET to study.toml, and yield their names.

    `kind` is the preprocessing class of the study's task. If the `with` block raises an error, models without any
    predictions are removed again; those that have some stay, so that they can resume.

    Raises:
        StudyError: another model has the name, or --lower names a model that is not among these.
    """
    before = folder.settings.read_bytes()
    added = _new_models(settings, specs, preprocess, lower, kind, gives_numbers)
    if added:
        add_models(folder.settings, added)
    try:
        yield [parse_spec(spec)[0] for spec in specs]
    except DissensusError:
        not_begun = [name for name in added if not has_begun(folder, name)]
        if added and len(not_begun) == len(added):
            write_bytes(folder.settings, before)
        else:
            remove_models(folder.settings, not_begun)
        raise


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


def _new_models(
    settings: Settings,
    specs: Sequence[str],
    preprocess: Mapping[str, Any],
    lower: Sequence[str],
    kind: type[Any],
    gives_numbers: bool,
) -> dict[str, ModelSettings]:
    """The models that are not in the study yet; one that is must be the same model."""
    known = settings.models
    added: dict[str, ModelSettings] = {}
    kind.read(preprocess)
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
        if name in added or (name in known and not _same(known[name], model)):
            raise StudyError(f"there is already a model {name}: give this one another name")
        if name not in known:
            added[name] = model
    return added


def _same(known: ModelSettings, given: ModelSettings) -> bool:
    """True if both are the same model; preprocessing already in study.toml need not be repeated."""
    same_source = (known.backend, known.target, known.better) == (given.backend, given.target, given.better)
    return same_source and (not given.preprocess or known.preprocess == given.preprocess)
