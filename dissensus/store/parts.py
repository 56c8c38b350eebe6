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
from dissensus.store.checksums import settle
from dissensus.store.durable import remove_left_over
from dissensus.store.files import write_text
from dissensus.store.folder import Folder
from dissensus.store.tables import read_stamps, read_table, write_table

NOTE = "inputs.json"
"""The record of the inputs that parts were computed from."""
MOST_PARTS = 1 << 16
"""Parts of a step, at most: file systems are slow with millions of files in a folder."""


def part_size(items: int, least: int) -> int:
    """How many items are computed before they are saved: a multiple of `least`, more of them in a very large pool."""
    return least * max(1, -(-items // (least * MOST_PARTS)))


class Parts:
    """Numbered tables in a hidden folder, tied to the inputs they were computed from."""

    def __init__(self, folder: Path, step: str, inputs: dict[str, Any], replaces: bool = False) -> None:
        """Open the parts of a step, new or interrupted; with `replaces`, parts made from other inputs are removed.

        Raises:
            StudyError: the step was started with different inputs, or the record of its inputs is damaged.
        """
        self.folder = folder
        note = folder / NOTE
        if not note.exists() or (replaces and changed_inputs(recorded_inputs(folder), inputs)):
            self.clear()
        if self:
            refuse_changes(step, recorded_inputs(folder), inputs, f"delete {folder} to start over")
        else:  # without a finished part the recorded inputs do not matter
            write_inputs(folder, inputs)

    def __contains__(self, number: int) -> bool:
        return self._path(number).exists()

    def __bool__(self) -> bool:
        return any(finished_parts(self.folder))

    def write(self, number: int, table: pa.Table) -> None:
        write_table(self._path(number), table, {"part": number, "of": self.folder.name})

    def read(self, number: int) -> pa.Table:
        path = self._path(number)
        stamps = read_stamps(path)  # those of older versions do not say of what it is a part
        if (stamps.get("part", number), stamps.get("of", self.folder.name)) != (number, self.folder.name):
            raise StudyError(f"{path} is damaged (it holds a different part): delete it and run the command again")
        return read_table(path)

    def all(self) -> Iterator[pa.Table]:
        """The finished parts in order, loaded one at a time."""
        return (self.read(number) for number in sorted(map(int, finished_parts(self.folder))))

    def clear(self) -> None:
        """Remove the parts once the step's result is written."""
        clear_parts(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.parquet"


def finished_parts(folder: Path) -> Iterator[str]:
    """The numbers of the parts in a folder; other files, such as copies by other programs, do not count."""
    return (path.stem for path in folder.glob("*.parquet") if path.stem.isdecimal())


def clear_parts(folder: Path) -> None:
    """Remove parts, the record of their inputs first: parts without one are not used again."""
    (folder / NOTE).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # other steps may have parts there
        folder.parent.rmdir()


def clear_finished(folder: Folder) -> None:
    """Settle what killed commands left behind: checksums, parts of finished steps, and temporary files."""
    settle(folder.root)
    for parts in (folder.root / ".unfinished").glob("*"):
        step, _, name = parts.name.partition("-")
        results = {"pool": folder.pool, "predict": folder.predictions(name)}
        if step == "select" and name.isdecimal():
            results[step] = folder.selection(int(name))
        note, result = parts / NOTE, results.get(step)
        is_newer = result is not None and note.exists() and result.exists() and _age(result) >= _age(note)
        if parts.is_file():
            parts.unlink()
        elif is_newer or not note.exists():
            clear_parts(parts)
    with suppress(OSError):
        (folder.root / ".unfinished").rmdir()
    inside = ("*/", "rounds/*/", "video/frames/**/")
    for place in (folder.root, *(one for pattern in inside for one in folder.root.glob(pattern))):
        remove_left_over(place)


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def unfinished_inputs(folder: Path) -> dict[str, Any]:
    """What the parts in a folder were computed from; empty if there are none."""
    return recorded_inputs(folder) if (folder / NOTE).exists() else {}


def write_inputs(folder: Path, inputs: dict[str, Any]) -> None:
    """Record what the parts in a folder are computed from."""
    write_text(folder / NOTE, json.dumps(inputs, sort_keys=True, indent=1))


def recorded_inputs(folder: Path) -> dict[str, Any]:
    """The record of the inputs that parts in a folder were computed from.

    Raises:
        StudyError: it is damaged.
    """
    note = folder / NOTE
    try:
        return dict(json.loads(note.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise StudyError(f"{note} is damaged ({error}): delete {note.parent} and run the command again") from None


def refuse_changes(step: str, before: dict[str, Any], now: dict[str, Any], remedy: str) -> None:
    """Raise a StudyError that names every changed input of a step."""
    if changed := changed_inputs(before, now):
        raise StudyError(f"{step} was started with different inputs ({', '.join(changed)}): restore them, or {remedy}")


def changed_inputs(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Every changed input with its old and new value, such as 'settings.k 10 → 20'."""
    # round-trip through JSON, which turns tuples into lists
    before, now = _flat(before), _flat(json.loads(json.dumps(now)))
    changed = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    return [f"{name} {_brief(before.get(name))} → {_brief(now.get(name))}" for name in changed]


def _flat(inputs: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Nested inputs under dotted names such as 'settings.k', so that a message can name the one that changed."""
    flat: dict[str, Any] = {}
    for name, value in inputs.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return flat


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"
