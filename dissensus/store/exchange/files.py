"""Files of other tools: JSON documents, parsed without trusting their content, and many small files together."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from dissensus.errors import JudgementError, first_line
from dissensus.records import Question, Response
from dissensus.store.exchange.answers import Reading, json_of, refuse
from dissensus.store.files import fingerprint, write_bytes, write_whole

LARGEST = 1 << 30
"""In bytes, for one document: parsed in memory it takes about ten times as much."""
LARGEST_MEMBER = 1 << 28
"""In bytes, for one of many files."""
LONGEST_ADDRESS = 4_096
UPLOADED = re.compile(r"[0-9a-f]{8}-")
"""Label Studio prefixes the names of uploaded files with eight hexadecimal digits."""
OURS = "dissensus"
"""The key under which other tools' files carry our own fields."""
UNSAFE = re.compile(r"[^\w.-]+")
LONGEST_NAME = 80
LONGEST_END = (1 << 16) + 22
"""Size in bytes of the end of a .zip with the longest possible comment."""

Files = Iterable[tuple[str, bytes]]
"""Names, which may include folders, and contents."""


def document(path: Path) -> Any:
    if path.stat().st_size > LARGEST:
        raise JudgementError(f"{path} is larger than 1 GiB: export it in parts, or as .jsonl")
    return parsed(path.read_bytes(), str(path))


def parsed(data: str | bytes, where: str) -> Any:
    try:
        return json_of(data)
    except RecursionError:
        refuse(where, "is nested too deeply")
    except ValueError as error:
        refuse(where, f"is not valid JSON ({first_line(error)})")


def write_document(path: Path, content: Any) -> None:
    """Write a JSON file atomically."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    write_bytes(path, text.encode())


def object_of(value: Any, name: str, where: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        refuse(where, f"{name} is not a JSON object")
    return value


def objects_of(value: Any, name: str, where: str, each: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its location; None counts as an empty list."""
    for number, one in enumerate(list_of(value, name, where), start=1):
        place = f"{where}, {each} {number}"
        yield place, object_of(one, "it", place)


def list_of(value: Any, name: str, where: str) -> list[Any]:
    """The value, which must be a list; None counts as an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        refuse(where, f"{name} is not a list")
    return value


def our_answers(reading: Reading, ours: dict[str, Any], where: str) -> list[Response]:
    """The answers that we wrote, with all their fields, into another tool's file."""
    found = objects_of(ours.get("answers"), "answers", where, "answer")
    return [reading.response(fields, place) for place, fields in found]


def item_at(address: Any, reading: Reading, where: str) -> str:
    """The item that a path or URL refers to: its longest suffix that is an item's id."""
    if not isinstance(address, str) or len(address) > LONGEST_ADDRESS:
        refuse(where, "does not say which image it is about")
    found = next((end for end in _ends(address) if end and reading.is_item(end)), None)
    if found is None:
        refuse(where, f"item '{address}' is not in the pool of this study: check its path")
    return found


def _ends(address: str) -> Iterator[str]:
    for spelled in (address, unquote(address)):
        path = spelled.split("?d=")[-1] if "?d=" in spelled else spelled.split("?")[0].split("#")[0]
        for whole in (spelled, path.replace("\\", "/")):
            parts = whole.split("/")
            yield from ("/".join(parts[start:]) for start in range(len(parts)))
            yield UPLOADED.sub("", parts[-1], count=1)


def refuse_kind(path: Path, question: Question, tool: str) -> NoReturn:
    """Raise an error that this tool has no counterpart for a question, and name formats that do."""
    kind = question.kind
    is_of_predictions = kind == "choice" and "item" in question.body
    between = " between predictions" if is_of_predictions else ""
    other = ""
    if kind in ("mask", "check"):
        other = " or with --format labelme"
    elif kind == "choice" and not is_of_predictions:
        other = " or with --format label-studio"
    raise JudgementError(
        f"{path}: questions of kind '{kind}'{between} have no counterpart in {tool}: export them as .jsonl{other}"
    )


def is_archive(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def contents(path: Path, ending: str) -> Iterator[tuple[str, str, Path, bytes]]:
    """Name, name for messages, file and bytes of all files with this extension in a folder or .zip, or of one file.

    Symlinked folders are not followed. Pipes and other special files, which could block, are skipped; a dangling link
    is not, and raises an error.
    """
    if is_archive(path):
        for name, data in _members(path, ending):
            yield name.replace("\\", "/"), f"{path}, {name!r}", path, data
        return
    found = (file for file in path.rglob("*") if _is_wanted(file.name, ending)) if path.is_dir() else [path]
    for file in sorted(file for file in found if file.is_file() or not file.exists()):
        if file.stat().st_size > LARGEST_MEMBER:
            raise JudgementError(f"{file}: is larger than 256 MiB: split it or leave it out")
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield name, str(file), file, file.read_bytes()


def holds(path: Path, ending: str) -> bool:
    """True if a folder or .zip contains a file with this extension."""
    if not is_archive(path):
        return any(_is_wanted(file.name, ending) for file in path.rglob("*"))
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_is_wanted(name, ending) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):  # the reader reports what is wrong
        return False


def write_together(path: Path, files: Files) -> None:
    """Write files into a new folder or a .zip, all or none.

    Raises:
        JudgementError: the folder is not empty.
    """
    if is_archive(path):
        write_whole(path, lambda unfinished: _write_zip(unfinished, files))
        return
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise JudgementError(f"{path} is not empty: name a new folder, or a .zip")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.mkdir(parents=True)
        for name, data in files:
            write_bytes(unfinished / name, data)
        os.replace(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def is_safe(part: str) -> bool:
    """True if a string is safe as the name of a file or folder."""
    return 0 < len(part) <= LONGEST_NAME and not part.startswith(".") and UNSAFE.search(part) is None


def marked_name(name: str, key: str) -> str:
    """A safe name like this one and unique to `key`: underscores for unsafe characters, plus a fingerprint."""
    return f"{UNSAFE.sub('_', name).lstrip('.')[:LONGEST_NAME]}-{fingerprint(key)}"


def own_name(name: str, key: str, taken: set[str]) -> str:
    """The name itself, or a marked one if it is unsafe or taken (ignoring case); adds the result to `taken`."""
    own = name if is_safe(name) and name.casefold() not in taken else marked_name(name, key)
    taken.add(own.casefold())
    return own


def without_ending(item: str) -> str:
    """An id without its file extension, if it has one."""
    folders, slash, last = item.rpartition("/")
    return f"{folders}{slash}{last.rsplit('.', 1)[0]}" if "." in last[1:] else item


def _members(path: Path, ending: str) -> Files:
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_unlisted(path, archive)
            for member in archive.infolist():
                with archive.open(member) as file:  # even if it is not wanted: its name may be damaged in the index
                    data = file.read(LARGEST_MEMBER + 1) if _is_wanted(member.filename, ending) else None
                if data is not None:
                    if len(data) > LARGEST_MEMBER:
                        raise JudgementError(
                            f"{path}, {member.filename!r}: is larger than 256 MiB: split it or leave it out"
                        )
                    yield member.filename, data
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        refuse(str(path), f"is not a readable .zip file ({error})")


def _refuse_unlisted(path: Path, archive: zipfile.ZipFile) -> None:
    """Compare the index with its own count, which zipfile does not read: a flipped bit can hide the rest of it."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - LONGEST_END))
        end = file.read()
    (count,) = struct.unpack_from("<H", end, end.rfind(b"PK\5\6") + 10)
    if len(archive.infolist()) & 0xFFFF != count != 0xFFFF:  # with more members, the count is stored elsewhere
        raise zipfile.BadZipFile(f"its index lists {len(archive.infolist())} of {count} files")


def _is_wanted(name: str, ending: str) -> bool:
    """Skip the metadata files with the same extensions that macOS adds to archives."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last.lower().endswith(ending) and not name.startswith("__MACOSX") and not last.startswith("._")


def _write_zip(path: Path, files: Files) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(
                zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED
            )  # without a timestamp, so that equal content gives equal bytes
