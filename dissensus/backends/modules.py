"""Objects named `module:object`, as in `python:my_model:predict` or `python:models/mine.py:predict`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from operator import attrgetter
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from dissensus.errors import BackendError, Interrupted, one_line, refuse_pipe

T = TypeVar("T")

_READ: dict[Path, bytes] = {}
"""Source files as they were last fingerprinted: exactly this runs, even if a file has changed since."""


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
        module = staying(_loaded, module_name)
    except Exception as error:
        raise BackendError(f"cannot import {module_name}: {one_line(error)}") from error
    try:
        return attrgetter(name)(module)
    except AttributeError as error:
        raise BackendError(f"module {module_name} has no {name}: write MODULE:FUNCTION") from error


def staying(function: Callable[..., T], *arguments: Any) -> T:
    """What a function of somebody's returns; a script that ends the program, as argparse does, fails like any other.

    Raises:
        RuntimeError: it calls sys.exit.
    """
    try:
        return function(*arguments)
    except SystemExit as error:
        if isinstance(error, Interrupted):
            raise
        raise RuntimeError(f"it calls sys.exit({error.code!r}), which would end the program") from error


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
        refuse_pipe(Path(module), BackendError)
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


def source_of(path: Path) -> bytes:
    """The contents of a source file, which are remembered for when it is loaded."""
    found = _READ[path.resolve()] = path.read_bytes()
    return found


class _Source(SourceFileLoader):
    """Runs the source itself: a compiled copy in __pycache__, which has no fingerprint, may be another program."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(_remembered(Path(self.path)), self.path)


def _remembered(path: Path) -> bytes:
    found = _READ.get(path.resolve())
    return source_of(path) if found is None else found


def _is_path(module: str) -> bool:
    return module.endswith(".py")


def _loaded(module: str) -> ModuleType:
    """Load a module, once; modules next to a file that is given by its path cannot be imported by name alone."""
    name, parent = module, ""
    if _is_path(module):
        path = Path(module).resolve()
        name = f"dissensus_model_{hashlib.sha256(str(path).encode() + _remembered(path)).hexdigest()[:16]}"
        found = importlib.util.spec_from_file_location(name, path)
    else:
        parent = module.rpartition(".")[0]
        if parent:
            importlib.import_module(parent)
        found = _found(module)
    if name in sys.modules or found is None or not isinstance(found.loader, SourceFileLoader):
        return importlib.import_module(name)
    found.loader = _Source(name, found.loader.path)
    made = sys.modules[name] = importlib.util.module_from_spec(found)
    try:
        found.loader.exec_module(made)
    except BaseException:
        del sys.modules[name]
        raise
    if parent:
        setattr(sys.modules[parent], module.rpartition(".")[2], made)
    return sys.modules[name]
