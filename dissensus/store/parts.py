"""Finished parts of a long step, so that an interrupted step can resume."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import StudyError
from dissensus.store.files import write_text
from dissensus.store.tables import read_table, write_table


class Parts:
    """Numbered tables in a hidden folder, tied to the inputs they were computed from."""

    def __init__(self, folder: Path, step: str, inputs: dict[str, Any]) -> None:
        """Open the parts of a step, new or interrupted.

        Raises:
            StudyError: the step was started with different inputs.
        """
        self.folder = folder
        note = folder / "inputs.json"
        if note.exists() and any(folder.glob("*.parquet")):  # without a finished part the recorded inputs do not matter
            refuse_changes(step, json.loads(note.read_text()), inputs, f"delete {folder} to start over")
        else:
            write_text(note, json.dumps(inputs, sort_keys=True, indent=1))

    def __contains__(self, number: int) -> bool:
        return self._path(number).exists()

    def __bool__(self) -> bool:
        return any(self.folder.glob("*.parquet"))

    def write(self, number: int, table: pa.Table) -> None:
        write_table(self._path(number), table, {})

    def read(self, number: int) -> pa.Table:
        return read_table(self._path(number))

    def all(self) -> Iterator[pa.Table]:
        """The finished parts in order, loaded one at a time."""
        return (read_table(path) for path in sorted(self.folder.glob("*.parquet"), key=lambda path: int(path.stem)))

    def clear(self) -> None:
        """Remove the parts once the step's result is written."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # other steps may have parts there
            self.folder.parent.rmdir()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.parquet"


def refuse_changes(step: str, before: dict[str, Any], now: dict[str, Any], remedy: str) -> None:
    """Raise a StudyError that names every changed input of a step."""
    before, now = (
        _flat(before),
        _flat(json.loads(json.dumps(now))),
    )  # round-trip through JSON, which turns tuples into lists
    changed = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    if changed:
        what = ", ".join(f"{name} {_brief(before.get(name))} → {_brief(now.get(name))}" for name in changed)
        raise StudyError(f"{step} was started with different inputs ({what}): restore them, or {remedy}")


def _flat(inputs: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Nested inputs under dotted names such as 'settings.k', so that a message can name the one that changed."""
    flat: dict[str, Any] = {}
    for name, value in inputs.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return flat


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"
