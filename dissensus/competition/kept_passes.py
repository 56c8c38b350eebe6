"""What the passes over the pool found for a round, kept so that a pool that grows is scanned only where it is new.

They are used again if the pool is the same or has grown from the one they were found in, if every model's predictions
are the same or extend those they were found in, and if the pass itself is the same (`VERSION`, `Reduction.stamp`).
Otherwise, or if they are missing or damaged, everything is scanned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dissensus.competition.selector import Plan
from dissensus.engines.extending import ExtendingEngine
from dissensus.engines.reduction import Reduction
from dissensus.steps.growing import is_added
from dissensus.steps.pooling import earlier_pools, pool_size, pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.files import fingerprint
from dissensus.store.folder import Folder
from dissensus.store.kept import keep_tables, read_kept_tables

VERSION = 1
"""Raised whenever the same pass would find something else, or would be kept in another form."""


def extending_engine(work: Workspace[Any], plan: Plan[Any]) -> ExtendingEngine:
    """The study's engine, with what is known from the round that a plan replaces."""
    folder = work.folder
    if folder.enumeration.exists():  # it cannot grow
        return ExtendingEngine(work.engine, lambda _: None)

    def key(reduction: Reduction[Any, Any]) -> str | None:
        stamp, kind = reduction.stamp(), type(reduction).__qualname__
        return None if stamp is None else fingerprint(json.dumps([VERSION, kind, plan.models, stamp], default=_plain))

    about, known = read_kept_tables(folder.candidates(plan.number)) if plan.replaced else ({}, {})
    size = _items_before(folder, plan, about) if about else None
    if size is None:
        return ExtendingEngine(work.engine, key)
    origin = fingerprint(json.dumps(about, sort_keys=True))
    return ExtendingEngine(work.engine, key, known, is_added(folder, size), origin)


def keep_passes(folder: Folder, plan: Plan[Any], engine: ExtendingEngine) -> None:
    """Keep what was found."""
    if engine.found:
        contents = {name: plan.stamps[name]["content"] for name in plan.models}
        about = {"pool": pool_stamp(folder), "predictions": contents}
        keep_tables(folder.candidates(plan.number), about, engine.found)


def _items_before(folder: Folder, plan: Plan[Any], about: Mapping[str, Any]) -> int | None:
    """How many items the pool had when something was found; None if it does not apply to what there is now."""
    pool, now = about["pool"], pool_stamp(folder)
    sizes = earlier_pools(folder) | {now: pool_size(folder)}
    for name in plan.models:
        stamps = plan.stamps[name]
        content = stamps["content"] if pool == now else stamps.get("earlier", {}).get(pool)
        if content is None or content != about["predictions"].get(name):
            return None
    return sizes.get(pool)


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    return [str(value.dtype), value.shape, fingerprint(np.ascontiguousarray(value).tobytes())]
