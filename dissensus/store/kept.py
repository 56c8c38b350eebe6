"""Results that are kept because they take a while: read back only if they belong to what the study contains now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION
from dissensus.store.files import fingerprint, write_text
from dissensus.store.tables import read_stamps, read_table, write_table


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


def read_kept_tables(path: Path) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Tables that were kept, by name, and what they were made from; nothing if they are missing or damaged."""
    with suppress(StudyError, pa.ArrowException, OSError, ValueError, KeyError):
        stamps, columns = read_stamps(path, "about", "check"), read_table(path)
        names, cells = columns["name"].to_pylist(), columns["table"].to_pylist()
        if stamps["check"] == _check(stamps["about"], names, cells):
            tables = [pa.ipc.open_stream(cell).read_all() for cell in cells]
            return dict(stamps["about"]), dict(zip(names, tables, strict=True))
    return {}, {}


def keep_tables(path: Path, about: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Keep several tables in one file, and what they were made from."""
    names, cells = list(tables), list(map(_as_bytes, tables.values()))
    stamps = {"about": about, "check": _check(about, names, cells), "format_version": FORMAT_VERSION}
    write_table(path, pa.table({"name": pa.array(names, pa.string()), "table": pa.array(cells, pa.binary())}), stamps)


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _check(about: Mapping[str, Any], names: list[str], cells: list[bytes]) -> str:
    return fingerprint(json.dumps(about, sort_keys=True), *names, *cells)


def _key(value: Any) -> str:
    return fingerprint(json.dumps(value, ensure_ascii=False))
