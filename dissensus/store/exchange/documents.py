"""JSON documents of other tools: read with limits, and looked into without trusting what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from dissensus.errors import JudgementError
from dissensus.records import Question
from dissensus.store.exchange.reading import refuse
from dissensus.store.tables import first_line

LARGEST = 1 << 30
"""Bytes of one document: it is held in memory, some ten times as large."""
LONGEST_ADDRESS = 4_096
UPLOADED = re.compile(r"[0-9a-f]{8}-")
"""Label Studio puts eight digits before the name of a file that was uploaded."""
OURS = "dissensus"
"""Under this name other tools' files carry what only we know."""


def document(path: Path) -> Any:
    """What a JSON file holds."""
    if path.stat().st_size > LARGEST:
        raise JudgementError(f"{path} is larger than 1 GiB: export it in parts, or as .jsonl")
    return parsed(path.read_bytes(), str(path))


def parsed(data: bytes, where: str) -> Any:
    """What JSON text means; NaN and infinities are none."""
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        refuse(where, "is nested too deeply")
    except ValueError as error:
        refuse(where, f"is no JSON ({first_line(error)})")


def object_of(value: Any, name: str, where: str) -> dict[str, Any]:
    """The value, which has to be an object."""
    if not isinstance(value, dict):
        refuse(where, f"{name} is no JSON object")
    return value


def list_of(value: Any, name: str, where: str) -> list[Any]:
    """The value, which has to be a list; nothing is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        refuse(where, f"{name} is no list")
    return value


def item_at(address: Any, is_item: Callable[[str], bool], where: str) -> str:
    """The item behind a path or an address: the longest end of it that is one."""
    if not isinstance(address, str) or len(address) > LONGEST_ADDRESS:
        refuse(where, "does not say which image it is about")
    found: list[str] = []
    for spelled in (address, unquote(address)):
        path = spelled.split("?d=")[-1] if "?d=" in spelled else spelled.split("?")[0].split("#")[0]
        for whole in (spelled, path.replace("\\", "/")):
            parts = whole.split("/")
            ends = ["/".join(parts[start:]) for start in range(len(parts))]
            found += [end for end in [*ends, UPLOADED.sub("", parts[-1], count=1)] if end and is_item(end)]
    if not found:
        refuse(where, f"item '{address}' is not in the pool of this study")
    return found[0]


def without_counterpart(question: Question, tool: str) -> str:
    """That a tool has nothing like this question, and what has."""
    kind = question.kind
    is_of_predictions = kind == "choice" and "item" in question.body
    between = " between predictions" if is_of_predictions else ""
    other = ""
    if kind in ("mask", "check"):
        other = " or with --format labelme"
    elif kind == "choice" and not is_of_predictions:
        other = " or for Label Studio"
    return f"questions of the kind '{kind}'{between} have no counterpart in {tool}: export them as .jsonl{other}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
