"""Pools that are computed instead of listed: pool.json names the enumerator and the number of items."""

from __future__ import annotations

import json
from typing import Any

from dissensus.errors import StudyError
from dissensus.store.files import read_text, write_text
from dissensus.store.folder import Folder


def read_enumeration(folder: Folder) -> dict[str, Any]:
    """The contents of pool.json: target, size and pool (the stamp).

    Raises:
        StudyError: it is damaged.
    """
    try:
        found = json.loads(read_text(folder.enumeration))
        return {"target": str(found["target"]), "size": int(found["size"]), "pool": str(found["pool"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{folder.enumeration} is damaged ({error}): set the pool again") from None


def write_enumeration(folder: Folder, target: str, size: int, stamp: str) -> None:
    known = {"target": target, "size": size, "pool": stamp}
    write_text(folder.enumeration, json.dumps(known, indent=1) + "\n")
