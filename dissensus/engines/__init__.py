"""Engines that process a pool chunk by chunk: this machine with all its cores, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dissensus.engines.local import LocalEngine
from dissensus.engines.reduction import Engine
from dissensus.errors import EngineError


def _ray(address: str) -> Any:
    from dissensus.engines.ray import RayEngine

    return RayEngine(address)


ENGINES: dict[str, Callable[[str], Engine]] = {"local": lambda _: LocalEngine(), "ray": _ray}
"""How each engine is started; the argument is the address behind the engine's name, or empty."""


def engine_named(name: str) -> Engine:
    """The engine named NAME, or NAME:ADDRESS.

    Raises:
        EngineError: the engine is unknown, or cannot be reached.
    """
    kind, _, address = name.partition(":")
    if kind not in ENGINES or (address and kind == "local"):
        raise EngineError(f"unknown engine '{name}': use local, ray, or ray:ADDRESS, such as ray:192.168.0.5:6379")
    return ENGINES[kind](address)
