"""Files of a study: written atomically, with their checksums; restored if a step is refused; fingerprints."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dissensus.contents import content, is_file_path
from dissensus.store.checksums import checksum_of, listing, relist, unlist, verify
from dissensus.store.durable import replace_file
from dissensus.store.picture_checksums import is_picture, listing_picture, unlist_picture


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file next to `path`, flush it to disk, and atomically rename it to `path`.

    The checksums of a study's files are kept up to date.
    """
    around = listing_picture if is_picture(path) else listing
    replace_file(path, write, lambda unfinished: around(path, unfinished))


def remove_file(path: Path) -> None:
    """Remove a file and its checksum."""
    (unlist_picture if is_picture(path) else unlist)(path)
    path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_bytes(path: Path, content: bytes) -> None:
    write_whole(path, lambda unfinished: unfinished.write_bytes(content))


def exists(path: Path) -> bool:
    """True if there is such a file; one that belongs to a study has been verified.

    Raises:
        StudyError: a file of a study is lost or damaged.
    """
    verify(path)
    return path.is_file()


def read_bytes(path: Path) -> bytes:
    """The contents of a file; one that belongs to a study is verified first.

    Raises:
        StudyError: a file of a study is lost or damaged.
    """
    verify(path)
    return path.read_bytes()


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark; one that belongs to a study is verified first.

    Raises:
        StudyError: a file of a study is lost or damaged.
    """
    return read_bytes(path).decode("utf-8-sig")


@contextmanager
def restored(*paths: Path) -> Iterator[None]:
    """Restore these files, byte for byte, if the block raises an error; files added to these folders are removed.

    Their checksums are restored too, so that a file that was damaged or missing before is still known to be.
    """
    before = {path: path.read_bytes() for path in paths if path.is_file()}
    checksums = {path: checksum_of(path) for path in paths}
    folders = {path: {*path.iterdir()} if path.is_dir() else set() for path in paths if path not in before}
    try:
        yield
    except Exception:
        for path, content in before.items():
            if not path.exists() or path.read_bytes() != content:
                _put_back(path, content, checksums[path])
        for path, known in folders.items():
            _remove_new(path, known, checksums[path])
        raise


def _put_back(path: Path, content: bytes, checksum: str | None) -> None:
    if checksum is None:
        unlist(path)
        replace_file(path, lambda unfinished: unfinished.write_bytes(content))
    else:
        around = lambda unfinished: listing(path, unfinished, checksum)  # noqa: E731
        replace_file(path, lambda unfinished: unfinished.write_bytes(content), around)


def _remove_new(path: Path, known: set[Path], checksum: str | None) -> None:
    """Remove what was added to a folder, or a file that did not exist before."""
    if not path.is_dir():
        if path.exists():
            relist(path, checksum)
            path.unlink()
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
    """A short fingerprint of a file's bytes; a file of a study is verified first."""
    verify(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def fingerprint_of(uri: str) -> str:
    """Of a picture's bytes; empty if it cannot be read, or is a pipe or a device, whose reading may never end."""
    try:
        return "" if is_file_path(uri) and not Path(uri).is_file() else content_fingerprint(uri)[1]
    except OSError:
        return ""


def content_fingerprint(uri: str) -> tuple[int, str]:
    """Size and fingerprint of what a URI leads to; for a file, the same as `file_fingerprint`, which verifies it too.

    Raises:
        OSError: it cannot be read.
        PoolError: a server cannot be reached.
    """
    if not is_file_path(uri):
        data = content(uri)
        return len(data), bytes_fingerprint(data)
    with open(uri, "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8))
        return file.tell(), digest.hexdigest()


def bytes_fingerprint(data: bytes) -> str:
    """The fingerprint of a file with these bytes."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()
