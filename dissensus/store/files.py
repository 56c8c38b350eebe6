"""Files of a study: written atomically, with their checksums; restored if a step is refused; fingerprints."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dissensus.store.checksums import listing, unlist
from dissensus.store.durable import replace_file


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file next to `path`, flush it to disk, and atomically rename it to `path`.

    The checksums of a study's files are kept up to date.
    """
    replace_file(path, write, lambda unfinished: listing(path, unfinished))


def remove_file(path: Path) -> None:
    """Remove a file and its checksum."""
    unlist(path)
    path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_whole(path, lambda unfinished: _write(unfinished, text))


def write_bytes(path: Path, content: bytes) -> None:
    def write(unfinished: Path) -> None:
        unfinished.write_bytes(content)

    write_whole(path, write)


@contextmanager
def restored(*paths: Path) -> Iterator[None]:
    """Restore these files, byte for byte, if the block raises an error; files added to these folders are removed."""
    before = {path: path.read_bytes() for path in paths if path.is_file()}
    folders = {path: {*path.iterdir()} if path.is_dir() else set() for path in paths if path not in before}
    try:
        yield
    except Exception:
        for path, content in before.items():
            if not path.exists() or path.read_bytes() != content:
                write_bytes(path, content)
        for path, known in folders.items():
            _remove_new(path, known)
        raise


def _remove_new(path: Path, known: set[Path]) -> None:
    """Remove what was added to a folder, or a file that was not there."""
    if not path.is_dir():
        if path.exists():  # a file that was missing before stays on the list of checksums
            remove_file(path)
        return
    for added in {*path.iterdir()} - known:
        shutil.rmtree(added) if added.is_dir() else remove_file(added)
    if not known:
        path.rmdir()


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
