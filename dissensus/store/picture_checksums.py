"""Checksums of pictures: every folder of a study that has some lists them in its own checksums.txt.

A line is appended before a picture is put in place, so that thousands of pictures take no longer to list than to write.
A picture that is replaced has several lines, and matches any of them. After a power cut, the last pictures may have no
checksum. Only `check` reads the lists.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dissensus.store.checksums import NAME, digest_of, is_study
from dissensus.store.durable import replace_file, taking_turns

FOLDERS = ("given", "drawings", "video")
SUFFIX = ".png"
LINE = re.compile(rb"\\?([0-9a-f]{64})  (.+)")


class PictureCheck(NamedTuple):
    """How many pictures match their checksums, what is wrong with others, and which have no checksum."""

    files: int
    problems: list[str]
    unlisted: list[str]


def is_picture(path: Path) -> bool:
    """True if this is the place of a picture of a study."""
    if path.suffix != SUFFIX:
        return False
    above = list(path.parents)
    return any(folder.name in FOLDERS and is_study(root) for folder, root in pairwise(above))


@contextmanager
def listing_picture(path: Path, content: Path) -> Iterator[None]:
    """List `content`, which the block renames to `path`."""
    line = _line(path.name, digest_of(content))
    with taking_turns(path.parent), open(path.with_name(NAME), "ab+") as file:
        if file.tell():  # a power cut may have left half a line
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)  # not flushed to disk, which would take a third of the time that a picture takes
    yield


def unlist_picture(path: Path) -> None:
    """Take a picture off the list of its folder, before it is removed."""
    kept = path.with_name(NAME)
    if kept.exists():
        with taking_turns(path.parent):
            lines = [
                line for line in kept.read_bytes().splitlines(keepends=True) if _name_in(line) != _escaped(path.name)
            ]
            replace_file(kept, lambda unfinished: unfinished.write_bytes(b"".join(lines)))


def record_pictures(root: Path) -> None:
    """List the pictures of a study as they are now."""
    for folder, (names, _) in _folders(root).items():
        content = b"".join(_line(name, digest_of(folder / name)) for name in names)
        with taking_turns(folder):
            replace_file(folder / NAME, lambda unfinished, content=content: unfinished.write_bytes(content))  # type: ignore[misc]


def check_pictures(root: Path) -> PictureCheck:
    """Compare every picture of a study with its checksum."""
    count, problems, unlisted = 0, [], []
    for folder, (names, known) in _folders(root).items():
        for name in names:
            digests = known.pop(_escaped(name), None)
            if digests is None:
                unlisted.append((folder / name).relative_to(root).as_posix())
            elif digest_of(folder / name) in digests:
                count += 1
            else:
                problems.append(f"{folder / name} is damaged: it does not match its checksum; {_remedy(root, folder)}")
        lost = [folder / os.fsdecode(name) for name in known]
        problems += [f"{path} is missing: {_remedy(root, folder)}" for path in lost if not _is_overlay(root, path)]
    return PictureCheck(count, problems, unlisted)


def _folders(root: Path) -> dict[Path, tuple[list[str], dict[bytes, set[str]]]]:
    """The names of the pictures in each folder, and the digests that are listed there by escaped name."""
    found: dict[Path, tuple[list[str], dict[bytes, set[str]]]] = {}
    for top in FOLDERS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix == SUFFIX and path.is_file():
                found.setdefault(path.parent, ([], {}))[0].append(path.name)
            elif path.name == NAME:
                known = found.setdefault(path.parent, ([], {}))[1]
                for match in filter(None, map(LINE.fullmatch, path.read_bytes().split(b"\n"))):
                    known.setdefault(match[2], set()).add(match[1].decode())
    return found


def _is_overlay(root: Path, path: Path) -> bool:
    """True for a prediction drawn over its photo, which the service makes whenever it is missing."""
    return path.parent == root / "drawings" and not path.stem.isdecimal()


def _remedy(root: Path, folder: Path) -> str:
    if folder == root / "drawings":
        return f"delete it, and dissensus select {root} or dissensus serve {root} makes it again"
    return "restore it from a backup"


def _line(name: str, digest: str) -> bytes:
    """A line as sha256sum writes it."""
    escaped = _escaped(name)
    mark = b"\\" if escaped != os.fsencode(name) else b""
    return mark + digest.encode() + b"  " + escaped + b"\n"


def _escaped(name: str) -> bytes:
    return os.fsencode(name).replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")


def _name_in(line: bytes) -> bytes | None:
    found = LINE.fullmatch(line.rstrip(b"\n"))
    return None if found is None else found[2]
