"""Engines that process a pool chunk by chunk: this machine with all its cores, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dissensus.engines.local import LocalEngine
from dissensus.engines.reduction import Engine
from dissensus.errors import EngineError


def _ray(address: str, root: Path | None) -> Any:
    from dissensus.engines.ray import RayEngine

    return RayEngine(address, root)


ENGINES: dict[str, Callable[[str, Path | None], Engine]] = {"local": lambda *_: LocalEngine(), "ray": _ray}
"""How each engine is started, from the address behind its name (or an empty one) and the study's folder."""


def engine_named(name: str, root: Path | None = None) -> Engine:
    """The engine named NAME, or NAME:ADDRESS; `root` is a folder that all of its machines have to see.

    Raises:
        EngineError: the engine is unknown, or cannot be reached.
    """
    kind, _, address = name.partition(":")
    if kind not in ENGINES or (address and kind == "local"):
        raise EngineError(f"unknown engine '{name}': use local, ray, or ray:ADDRESS, such as ray:192.168.0.5:6379")
    return ENGINES[kind](address, root)
