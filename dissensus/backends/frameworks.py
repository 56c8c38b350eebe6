"""Frameworks are imported only when a model needs them, so that nobody has to install what they do not use."""

from __future__ import annotations

import importlib
from typing import Any

from dissensus.errors import BackendError, one_line


def framework(module: str, backend: str, title: str) -> Any:
    """Import a framework's module.

    Raises:
        BackendError: it is not installed, or its installation is broken.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needs = f"the {backend} backend needs {title}: pip install 'dissensus[{backend}]'"
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        raise BackendError(needs if is_absent else f"{needs} ({one_line(error)})") from error
