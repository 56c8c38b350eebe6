"""Results that are kept because they take a while: read back only if they belong to what the study contains now."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from dissensus.store.files import fingerprint, write_text


def read_kept(path: Path, inputs: Any) -> Any | None:
    """What was computed from these inputs; None if it is missing, damaged, or belongs to other inputs."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["key"] == _key(inputs) and found["check"] == _key(found["value"]):
            return found["value"]
    return None


def keep(path: Path, inputs: Any, value: Any) -> None:
    """Keep what was computed from some inputs."""
    document = {"key": _key(inputs), "value": value, "check": _key(value)}
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _key(value: Any) -> str:
    return fingerprint(json.dumps(value, ensure_ascii=False))
