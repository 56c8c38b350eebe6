"""checksums.txt: the SHA-256 digest of every file that a study is made of, in the format of `sha256sum`.

A digest is listed as the next one of its file before the file is replaced, so that a kill at any moment leaves files
that match.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.store.durable import replace_file

NAME = "checksums.txt"
MARK = "study.toml"
LISTED = (
    "classes.json",
    "pool.parquet",
    "pool.json",
    "ratings.csv",
    "scales.csv",
    "benchmark.csv",
    "given/*.parquet",
    "eligible/*",
    "predictions/*.parquet",
    "rounds/*/selection.parquet",
)
"""The files that are listed. study.toml is not, since people edit it; answers change all the time."""
LARGEST = 16 << 20
"""Larger files are not verified whole when they are opened, only the pages that are read; `check` verifies them."""

HEAD = "# The SHA-256 digest of every file of this study. To verify them: dissensus check STUDY\n"
SUM, NEXT, BEGUN = "# sum ", "# next ", "# begun "


@dataclass
class Checksums:
    """Digests by path within the study; `next` are those of files about to be replaced."""

    files: dict[str, str] = field(default_factory=dict)
    next: dict[str, str] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)
    """Files that change all the time and only have to exist: the answers."""

    def text(self) -> str:
        lines = [f"{BEGUN}{name}\n" for name in sorted(self.begun)]
        lines += [f"{NEXT}{digest}  {name}\n" for name, digest in sorted(self.next.items())]
        lines += [f"{digest}  {name}\n" for name, digest in sorted(self.files.items())]
        return f"{HEAD}{SUM}{_digest_of(''.join(lines).encode())}\n" + "".join(lines)

    def problem(self, root: Path, name: str) -> str | None:
        """What is wrong with a listed file of the study at `root`, and what to do about it; None if nothing is."""
        path = root / name
        if not path.exists():
            return None if name in self.next else f"{path} is missing: {remedy(root, name)}"
        if not path.is_file():
            return f"{path} is not a file: move it elsewhere; then {remedy(root, name)}"
        if digest_of(path) in (self.files.get(name), self.next.get(name)):
            return None
        return f"{path} is damaged: it does not match its checksum; {remedy(root, name)}"


def read_checksums(root: Path) -> Checksums | None:
    """The checksums of a study; None if an older version wrote it, or they were removed.

    Raises:
        StudyError: the list itself is damaged.
    """
    path = root / NAME
    try:
        return _read(path, _state(path))
    except FileNotFoundError:
        return None


def verify(path: Path) -> None:
    """Check a file against its checksum; a file that is not listed passes.

    Raises:
        StudyError: the file is missing or damaged; says what to do.
    """
    place = _place(path)
    known = None if place is None else read_checksums(place[0])
    if place is None or known is None or place[1] not in known.files:
        return
    if path.exists() and path.stat().st_size > LARGEST:
        return
    if (problem := known.problem(*place)) is not None:
        raise StudyError(problem)


def listed(root: Path, pattern: str) -> list[str]:
    """Names of the listed files that match a pattern."""
    known = read_checksums(root) or Checksums()
    return [name for name in known.files if fnmatchcase(name, pattern)]


@contextmanager
def listing(path: Path, content: Path) -> Iterator[None]:
    """List `content`, which the block renames to `path`, if it becomes a file of a study."""
    place = _place(path)
    if place is None:
        yield
        return
    root, name = place
    digest = digest_of(content)
    change(root, lambda known: known.next.update({name: digest}))
    yield
    change(root, lambda known: (known.next.pop(name, None), known.files.update({name: digest})))


def unlist(path: Path) -> None:
    """Take a file off the list, before it is removed."""
    if (place := _place(path)) is not None and (place[0] / NAME).exists():
        change(place[0], lambda known: (known.files.pop(place[1], None), known.next.pop(place[1], None)))


def begin(path: Path) -> None:
    """Record that a file whose content changes all the time exists from now on."""
    known = read_checksums(path.parent)
    if known is not None and path.name not in known.begun and os.access(path.parent, os.W_OK):
        change(path.parent, lambda known: known.begun.add(path.name))


def change(root: Path, edit: Callable[[Checksums], object]) -> None:
    """Edit the list; processes that do so at the same time take turns."""
    turn = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        known = read_checksums(root)
        edited = Checksums() if known is None else Checksums({**known.files}, {**known.next}, {*known.begun})
        edit(edited)
        if known is None or edited != known:
            text = edited.text()
            replace_file(root / NAME, lambda unfinished: _write(unfinished, text))
    finally:
        os.close(turn)


def record_all(root: Path) -> int:
    """List the files of a study as they are now, and return how many there are."""
    found = {name: digest_of(root / name) for name in present(root)}

    def edit(known: Checksums) -> None:
        known.files, known.next, known.begun = found, {}, set()

    (root / NAME).unlink(missing_ok=True)
    change(root, edit)
    return len(found)


def present(root: Path) -> list[str]:
    """Names of the files in the folder that belong on the list."""
    found = (path for pattern in LISTED for path in root.glob(pattern) if path.is_file())
    return sorted(path.relative_to(root).as_posix() for path in found if not path.name.startswith("."))


def remedy(root: Path, name: str) -> str:
    """What to do about a file that is missing or damaged."""
    if fnmatchcase(name, "predictions/*.parquet"):
        return f"run dissensus predict {root} --again {Path(name).stem}, or restore it from a backup"
    if name in ("pool.parquet", "pool.json"):
        return "restore it from a backup, or delete it and run dissensus pool with the same items"
    return "restore it from a backup"


def digest_of(path: Path) -> str:
    """The SHA-256 digest of a file; read again only if the file has changed."""
    return _digest(path, _state(path))


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(4096)
def _digest(path: Path, _: tuple[int, ...]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(64)
def _read(path: Path, _: tuple[int, ...]) -> Checksums:
    known = Checksums()
    try:
        head, total, *lines = path.read_bytes().decode("utf-8").splitlines(keepends=True)
    except ValueError:  # too few lines, or not text
        head, total, lines = "", "", []
    if head != HEAD or total != f"{SUM}{_digest_of(''.join(lines).encode())}\n":
        raise StudyError(
            f"{path} is damaged, so nothing can be verified: restore it from a backup, or, if you trust the files, "
            f"run dissensus check {path.parent} --record"
        )
    for line in (line.rstrip("\n") for line in lines):
        if line.startswith(BEGUN):
            known.begun.add(line.removeprefix(BEGUN))
        else:
            digest, name = line.removeprefix(NEXT).split("  ", 1)
            (known.next if line.startswith(NEXT) else known.files)[name] = digest
    return known


def _place(path: Path) -> tuple[Path, str] | None:
    """The study that a file belongs to and its name there; None if it is not one of the files that are listed."""
    for root in list(path.parents)[:3]:
        name = path.relative_to(root).as_posix()
        is_listed = any(fnmatchcase(name, pattern) and name.count("/") == pattern.count("/") for pattern in LISTED)
        if is_listed and ((root / NAME).exists() or (root / MARK).exists()):
            return root, name
    return None


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
