"""Many small files that belong together: a folder, or a .zip."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from dissensus.errors import JudgementError
from dissensus.store.exchange.reading import refuse
from dissensus.store.files import write_bytes, write_whole

LARGEST_MEMBER = 1 << 28
UNSAFE = re.compile(r"[^\w.-]+")
LONGEST_NAME = 80

Files = Iterable[tuple[str, bytes]]
"""Names, which may begin with folders, and what the files hold."""


def is_archive(path: Path) -> bool:
    """True where a path stands for a .zip."""
    return path.suffix.lower() == ".zip"


def members(path: Path, ending: str) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files in a .zip that end so."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if _is_wanted(member.filename, ending):
                    with archive.open(member) as file:
                        data = file.read(LARGEST_MEMBER + 1)
                    if len(data) > LARGEST_MEMBER:
                        raise JudgementError(f"{path}, {member.filename!r}: is larger than 256 MiB")
                    yield member.filename, data
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        refuse(str(path), f"cannot be read as a .zip ({error})")


def files_under(path: Path, ending: str) -> list[Path]:
    """The files of a folder and its subfolders that end so, in order; linked folders are not entered.

    Pipes and the like, which could be waited for, are no files. A link to nothing is one, which cannot be read.
    """
    found = (file for file in path.rglob("*") if _is_wanted(file.name, ending))
    return sorted(file for file in found if file.is_file() or not file.exists())


def content(file: Path) -> bytes:
    """What a file holds, unless it is larger than a member of a .zip may be."""
    if file.stat().st_size > LARGEST_MEMBER:
        raise JudgementError(f"{file}: is larger than 256 MiB")
    return file.read_bytes()


def holds(path: Path, ending: str) -> bool:
    """True where a folder or a .zip has a file that ends so."""
    if not is_archive(path):
        return any(_is_wanted(file.name, ending) for file in path.rglob("*"))
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_is_wanted(name, ending) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):  # whoever reads it says what is wrong
        return False


def write_together(path: Path, files: Files) -> None:
    """Write files into a new folder or into a .zip, all or none.

    Raises:
        JudgementError: the folder holds what could be somebody's work.
    """
    if is_archive(path):
        write_whole(path, lambda unfinished: _write_zip(unfinished, files))
    else:
        _write_folder(path, files)


def safe_name(text: str) -> str:
    """The text with underscores for all that a file's name should not have; empty where nothing is left."""
    return UNSAFE.sub("_", text).lstrip(".")[:LONGEST_NAME]


def without_ending(item: str) -> str:
    """An id without the ending of its file, if it has one."""
    folders, slash, last = item.rpartition("/")
    return f"{folders}{slash}{last.rsplit('.', 1)[0]}" if "." in last[1:] else item


def _is_wanted(name: str, ending: str) -> bool:
    """macOS puts files of its own, with the same endings, beside those that were packed."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last.lower().endswith(ending) and not name.startswith("__MACOSX") and not last.startswith("._")


def _write_folder(path: Path, files: Files) -> None:
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


def _write_zip(path: Path, files: Files) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # without the time of day
