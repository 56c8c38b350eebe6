"""Things named `module:object`, as in `python:my_model:predict`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

from dissensus.backends.reasons import one_line
from dissensus.errors import BackendError


def named_object(target: str) -> Any:
    """The callable that `module:name` stands for; modules of the current folder are found too.

    Raises:
        BackendError: no such module or name, a module that fails when imported, or something that cannot be called.
    """
    module_name, name = split(target)
    module_file(module_name)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise BackendError(f"importing {module_name} failed: {one_line(error)}") from error
    try:
        found = attrgetter(name)(module)
    except AttributeError as error:
        raise BackendError(f"module {module_name} has no {name}: write MODULE:FUNCTION") from error
    if not callable(found):
        raise BackendError(f"{target} is a {type(found).__name__}, not a function: write MODULE:FUNCTION")
    return found


def split(target: str) -> tuple[str, str]:
    """Module and name."""
    module, _, name = target.partition(":")
    if not module or not name:
        raise BackendError(f"'{target}' does not name a function: write MODULE:FUNCTION")
    return module, name


def module_file(module: str) -> Path | None:
    """Source file of a module, found without running it; None for one that has no file.

    Raises:
        BackendError: there is no such module.
    """
    here = os.getcwd()
    # At the end: a model.py beside the study is found, a random.py there does not replace Python's own.
    if here not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise BackendError(f"no module {module} on Python's path or in {here}: go to its folder or install it")
    return Path(found.origin) if found.has_location and found.origin else None
