"""Atomic file writes: to a temporary file, flushed to disk, then renamed."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dissensus.errors import DissensusError


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file next to `path`, flush it to disk, and atomically rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # a name unique to the thread: two people may request the same picture at once
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
    try:
        write(unfinished)
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself must survive a power cut
    finally:
        os.close(folder)


def write_text(path: Path, text: str) -> None:
    write_whole(path, lambda unfinished: _write(unfinished, text))


def write_bytes(path: Path, content: bytes) -> None:
    def write(unfinished: Path) -> None:
        unfinished.write_bytes(content)

    write_whole(path, write)


@contextmanager
def restored(*paths: Path) -> Iterator[None]:
    """Restore these files, byte for byte, if the block raises a DissensusError."""
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    try:
        yield
    except DissensusError:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                write_bytes(path, content)
        raise


def fingerprint(*parts: bytes | memoryview | str) -> str:
    """A short fingerprint of some bytes: 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def column_fingerprint(rows: int, pieces: Iterable[memoryview]) -> str:
    """The fingerprint of a column that arrives in pieces; does not depend on how it is split."""
    digest = hashlib.blake2b(rows.to_bytes(8, "little"), digest_size=8)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def file_fingerprint(path: Path) -> str:
    """A short fingerprint of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
