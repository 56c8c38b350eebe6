"""Code that a study names: the generator of its pool, and models that are, or contain, programs."""

from __future__ import annotations

from collections.abc import Iterable

from dissensus.backends import BACKENDS, target_fingerprint
from dissensus.errors import DissensusError
from dissensus.store.consent import Code
from dissensus.store.enumerations import read_enumeration
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings


def pool_code(folder: Folder) -> list[Code]:
    """The code that generates the pool, if any does."""
    if not folder.enumeration.exists():
        return []
    return _codes([("python", str(read_enumeration(folder)["target"]))])


def model_code(settings: Settings, names: Iterable[str]) -> list[Code]:
    """The code that runs some models."""
    models = [settings.models[name] for name in names]
    return _codes([(model.backend, model.target) for model in models if BACKENDS[model.backend].runs_code])


def _codes(targets: Iterable[tuple[str, str]]) -> list[Code]:
    """Targets with their fingerprints; a missing file cannot run, and is reported where it is needed."""
    found = []
    for backend, target in targets:
        try:
            found.append(Code(f"{backend}:{target}", target_fingerprint(backend, target)))
        except DissensusError:
            continue
    return found
