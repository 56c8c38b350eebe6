"""Objects named `module:object`, as in `python:my_model:predict` or `python:models/mine.py:predict`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from dissensus.errors import BackendError, one_line


def named_function(target: str) -> Any:
    """The callable that `module:name` refers to.

    Raises:
        BackendError: it does not exist, or cannot be called.
    """
    found = named_object(target)
    if not callable(found):
        raise BackendError(f"{target} is a {type(found).__name__}, not a function: write MODULE:FUNCTION")
    return found


def named_object(target: str) -> Any:
    """The object that `module:name` refers to; modules in the current folder and paths of .py files work too.

    Raises:
        BackendError: there is no such module or name, or importing the module fails.
    """
    module_name, name = split(target)
    module_file(module_name)
    try:
        module = _from_path(module_name) if _is_path(module_name) else importlib.import_module(module_name)
    except Exception as error:
        raise BackendError(f"cannot import {module_name}: {one_line(error)}") from error
    try:
        return attrgetter(name)(module)
    except AttributeError as error:
        raise BackendError(f"module {module_name} has no {name}: write MODULE:FUNCTION") from error


def split(target: str) -> tuple[str, str]:
    module, _, name = target.rpartition(":") if ".py:" in target else target.partition(":")
    if not module or not name:
        raise BackendError(f"'{target}' does not name a function: write MODULE:FUNCTION")
    return module, name


def module_file(module: str) -> Path | None:
    """Source file of a module, found without running it; None if it has no file.

    Raises:
        BackendError: there is no such module.
    """
    if _is_path(module):
        if not Path(module).is_file():
            raise BackendError(f"no such file: {module}; check the path")
        return Path(module)
    here = os.getcwd()
    # Appended, so that a model.py next to the study is found but a random.py there does not replace Python's own.
    if here not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    found = _found(module)
    if found is None:
        raise BackendError(f"no module {module} on Python's path or in {here}: change to its folder, or install it")
    return Path(found.origin) if found.has_location and found.origin else None


def _found(module: str) -> ModuleSpec | None:
    """Where a module is; unlike `find_spec`, this does not import the packages that contain it."""
    name, *inner = module.split(".")
    try:
        found = importlib.util.find_spec(name) if name else None
        for part in inner:
            if found is None or found.submodule_search_locations is None:
                return None
            name = f"{name}.{part}"
            found = PathFinder.find_spec(name, found.submodule_search_locations)
    except (ImportError, ValueError):
        return None
    return found


def _is_path(module: str) -> bool:
    return module.endswith(".py")


def _from_path(module: str) -> ModuleType:
    """Load a file as a module, once; modules next to it cannot be imported by name alone."""
    path = Path(module).resolve()
    name = f"dissensus_model_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None, "a .py file has a loader"
        assert spec.loader is not None, "a .py file has a loader"
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        try:
            spec.loader.exec_module(made)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
