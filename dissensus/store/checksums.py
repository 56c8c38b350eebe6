"""checksums.txt: the SHA-256 digest of every file that a study is made of, in the format of `sha256sum`.

A digest is listed as the next one of its file before the file is replaced, so that a kill at any moment leaves files
that match; the next command that changes the study settles what a killed one left. Pictures have lists of their own
(`picture_checksums.py`): there may be thousands.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.store.durable import file_state, replace_file, taking_turns

NAME = "checksums.txt"
MARK = "study.toml"
LISTED = (
    "classes.json",
    "pool.parquet",
    "pool.json",
    "descriptors.parquet",
    "ratings.csv",
    "scales.csv",
    "benchmark.csv",
    "causes.csv",
    "given/**/*.parquet",
    "drawings/items.parquet",
    "eligible/*",
    "predictions/*.parquet",
    "rounds/*/selection.parquet",
    "draws/*.parquet",
    "replica/*.parquet",
    "replica/*/*.parquet",
    "human/*.parquet",
    "human/*/*.parquet",
    "video/*.parquet",
)
"""The files that are listed. study.toml is not, since people edit it; answers change all the time."""
DEPTH = 3
"""How many parts the name of a listed file may have."""
LARGEST = 16 << 20
"""Of larger files, only the end and the pages that are read are verified; `check` verifies the whole files."""

HEAD = "# The SHA-256 digest of every file of this study. To verify them: dissensus check STUDY\n"
SUM, NEXT, BEGUN, END = "# sum ", "# next ", "# begun ", "# end "


@dataclass
class Checksums:
    """Digests by path within the study; `next` are those of files that are being written, or were when a kill came."""

    files: dict[str, str] = field(default_factory=dict)
    next: dict[str, str] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)
    """Files that change all the time and only have to exist: the answers."""
    ends: dict[str, str] = field(default_factory=dict)
    """Digests of the ends of large files, by the digest of the whole file."""

    def text(self) -> str:
        lines = [f"{BEGUN}{name}\n" for name in sorted(self.begun)]
        used = {*self.files.values(), *self.next.values()}
        lines += [f"{END}{end}  {whole}\n" for whole, end in sorted(self.ends.items()) if whole in used]
        lines += [f"{NEXT}{digest}  {name}\n" for name, digest in sorted(self.next.items())]
        lines += [f"{digest}  {name}\n" for name, digest in sorted(self.files.items())]
        return f"{HEAD}{SUM}{_digest_of(''.join(lines).encode())}\n" + "".join(lines)

    @property
    def names(self) -> set[str]:
        """Names of the files that can be verified."""
        return {*self.files, *self.next}

    def problem(self, root: Path, name: str) -> str | None:
        """What is wrong with a listed file of the study at `root`, and what to do about it; None if nothing is."""
        path = root / name
        if not path.exists():  # a new file that is about to be written is not missing
            return f"{path} is missing: {remedy(root, name)}" if name in self.files else None
        if not path.is_file():
            return f"{path} is not a file: move it elsewhere; then {remedy(root, name)}"
        if digest_of(path) in (self.files.get(name), self.next.get(name)):
            return None
        return self._mismatch(root, name)

    def problem_at_end(self, root: Path, name: str) -> str | None:
        """What is wrong with the end of a large file, which says what is in the rest of it; None if nothing is.

        If no end is listed, the file was small, or an older version has listed it: the whole file is read.
        """
        wholes = (self.files.get(name), self.next.get(name))
        known = [self.ends[whole] for whole in wholes if whole in self.ends]
        if not known:
            return self.problem(root, name)
        return None if end_digest(root / name) in known else self._mismatch(root, name)

    def _mismatch(self, root: Path, name: str) -> str:
        return f"{root / name} is damaged: it does not match its checksum; {remedy(root, name)}"

    def put(self, name: str, digest: str | None) -> None:
        """List a file with this checksum, or take it off the list."""
        self.next.pop(name, None)
        self.files.pop(name, None)
        if digest is not None:
            self.files[name] = digest

    def settle(self, root: Path) -> None:
        """List what is in place of the files that were being written: the new one, the old one, or neither."""
        for name, digest in self.next.items():
            path = root / name
            if path.exists() and (name not in self.files or digest_of(path) == digest):
                self.files[name] = digest
        self.next.clear()


def read_checksums(root: Path) -> Checksums | None:
    """The checksums of a study; None if an older version wrote the study, or the list was removed.

    Raises:
        StudyError: the list itself is damaged.
    """
    path = root / NAME
    try:
        return _read(path, file_state(path))
    except FileNotFoundError:
        return None


def verify(path: Path) -> None:
    """Check a file against its checksum; a file that is not listed passes.

    Raises:
        StudyError: the file is missing or damaged; says what to do.
    """
    place = _place(path)
    known = None if place is None else read_checksums(place[0])
    if place is None or known is None:
        return
    find = known.problem_at_end if is_large(path) else known.problem
    if place[1] in known.names and (problem := find(*place)) is not None:
        raise StudyError(problem)


def is_large(path: Path) -> bool:
    """Whether reading the whole file takes long."""
    return path.exists() and path.stat().st_size > LARGEST


def listed(root: Path, pattern: str) -> list[str]:
    """Names of the listed files that match a pattern."""
    known = read_checksums(root) or Checksums()
    return [name for name in known.files if fnmatchcase(name, pattern)]


def checksum_of(path: Path) -> str | None:
    """The checksum that a file is listed with; None if it is not listed."""
    place = _place(path)
    known = None if place is None else read_checksums(place[0])
    return None if place is None or known is None else known.files.get(place[1])


@contextmanager
def listing(path: Path, content: Path, digest: str | None = None) -> Iterator[None]:
    """List the digest of `content`, which the block renames to `path`, if `path` is a listed file of a study.

    `digest` is the checksum to list instead of its own, for a file that is put back as it was, damaged or not.
    """
    place = _place(path)
    if place is None:
        yield
        return
    root, name = place
    digest = digest or digest_of(content)
    end = {digest: end_digest(content)} if is_large(content) else {}

    def begin(known: Checksums) -> None:
        known.next[name] = digest
        known.ends |= end

    change(root, begin)
    try:
        yield
    except OSError:
        change(root, lambda known: known.settle(root))
        raise
    change(root, lambda known: known.put(name, digest))


def unlist(path: Path) -> None:
    """Take a file off the list, before it is removed."""
    relist(path, None)


def relist(path: Path, digest: str | None) -> None:
    """List a file with this checksum, or take it off the list."""
    if (place := _place(path)) is not None and (place[0] / NAME).exists():
        change(place[0], lambda known: known.put(place[1], digest))


def settle(root: Path) -> None:
    """Settle what killed commands were writing; a damaged list is left to the commands that read it."""
    with suppress(StudyError):
        known = read_checksums(root)
        if known is not None and known.next:
            change(root, lambda known: known.settle(root))


def begin(path: Path) -> None:
    """Record that a file whose content changes all the time exists from now on."""
    known = read_checksums(path.parent)
    if known is not None and path.name not in known.begun and os.access(path.parent, os.W_OK):
        change(path.parent, lambda known: known.begun.add(path.name))


def change(root: Path, edit: Callable[[Checksums], object], is_anew: bool = False) -> None:
    """Edit the list, or, if `is_anew`, an empty one in its place; processes that do so at the same time take turns."""
    with taking_turns(root):
        known = None if is_anew else read_checksums(root)
        edited = (
            Checksums() if known is None else Checksums({**known.files}, {**known.next}, {*known.begun}, {**known.ends})
        )
        edit(edited)
        if known is None or edited != known:
            text = edited.text()
            replace_file(root / NAME, lambda unfinished: unfinished.write_bytes(text.encode()))


def record_all(root: Path) -> int:
    """List the files of a study as they are now, and return how many there are."""
    found = {name: digest_of(root / name) for name in present(root)}
    ends = {digest: end_digest(root / name) for name, digest in found.items() if is_large(root / name)}

    def record(known: Checksums) -> None:
        known.files |= found
        known.ends |= ends

    change(root, record, is_anew=True)
    return len(found)


def present(root: Path) -> list[str]:
    """Names of the files in the folder that belong on the list."""
    found = (path for pattern in LISTED for path in root.glob(pattern) if path.is_file())
    return sorted(path.relative_to(root).as_posix() for path in found if not path.name.startswith("."))


def remedy_for(path: Path) -> str:
    """What to do about any file that cannot be read."""
    place = _place(path)
    return "delete it and rerun the step that writes it" if place is None else remedy(*place)


def remedy(root: Path, name: str) -> str:
    """What to do about a file of a study that is missing or damaged."""
    if fnmatchcase(name, "predictions/*.parquet"):
        return f"run dissensus predict {root} --again {Path(name).stem}, or restore it from a backup"
    if name in ("pool.parquet", "pool.json"):
        return (
            "restore it from a backup, or, if items were never added to it, delete it and run dissensus pool with the "
            "same sources"
        )
    if name == "descriptors.parquet":
        return f"run dissensus duplicates {root}, which makes it again"
    if name == "drawings/items.parquet":
        return f"run dissensus select {root}, which makes it again, or restore it from a backup"
    return "restore it from a backup"


def digest_of(path: Path) -> str:
    """The SHA-256 digest of a file; read again only if the file has changed."""
    return _digest(path, file_state(path))


@lru_cache(4096)
def _digest(path: Path, _: tuple[int, ...]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def end_digest(path: Path) -> str:
    """The digest of a file's last bytes: of a Parquet file, its footer, which says what is where; of others, eight."""
    return _end_digest(path, file_state(path))


@lru_cache(4096)
def _end_digest(path: Path, _: tuple[int, ...]) -> str:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        last = file.read()
        footer = int.from_bytes(last[:4], "little") if last[4:] == b"PAR1" else 0
        file.seek(max(0, size - 8 - footer))
        return hashlib.sha256(file.read()).hexdigest()


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
        elif line.startswith(END):
            end, whole = line.removeprefix(END).split("  ", 1)
            known.ends[whole] = end
        else:
            digest, name = line.removeprefix(NEXT).split("  ", 1)
            (known.next if line.startswith(NEXT) else known.files)[name] = digest
    return known


def is_study(root: Path) -> bool:
    """True if a folder is a study, maybe one without settings."""
    return (root / NAME).exists() or (root / MARK).exists()


def _place(path: Path) -> tuple[Path, str] | None:
    """The study that a file belongs to and its name there; None if it is not one of the files that are listed."""
    for root in list(path.parents)[:DEPTH]:
        name = path.relative_to(root).as_posix()
        if _LISTED.fullmatch(name) and is_study(root):
            return root, name
    return None


def _pattern(glob: str) -> str:
    return re.escape(glob).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")


_LISTED = re.compile("|".join(map(_pattern, LISTED)), re.DOTALL)


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
