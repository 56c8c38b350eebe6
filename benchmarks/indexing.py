"""Finding the items of large pools: system calls, time and memory per file, and how they grow.

    python benchmarks/indexing.py [--files 1000000] [--calls 20000] [--folder /tmp]

The straightforward way is `rglob`, `is_file` and `resolve` for every file. System calls are counted by strace, if it is
installed. All files are links to a few empty ones, in a temporary folder that is removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import in_fresh_process, measured, show
from dissensus.store.listing import IMAGES
from dissensus.store.sources import found_items
from dissensus.study import Study

PER_FOLDER = 1000
LINKS = 30_000
"""File systems limit how many links a file may have."""


def by_looking_up(folder: str) -> int:
    """Ids and paths of all images as they were found before: every file is looked up several times."""
    root = Path(folder)
    found = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in IMAGES and path.is_file()]
    return len([(path.relative_to(root).as_posix(), str(path.resolve())) for path in found])


def by_listing(folder: str) -> int:
    """The same from one listing of every folder."""
    return len(found_items([folder]).table)


WAYS: dict[str, Callable[[str], int]] = {"lookups": by_looking_up, "listing": by_listing}


def make_files(folder: Path, count: int) -> Path:
    """Empty images, a thousand in a folder."""
    for number in range(count):
        inside = folder / f"{number // PER_FOLDER:05}"
        if number % PER_FOLDER == 0:
            inside.mkdir(parents=True)
        if number % LINKS == 0:
            original = folder.parent / f"{folder.name}-{number}"
            original.touch()
        os.link(original, inside / f"{number:08}.jpg")
    return folder


def seconds(work: Callable[[str], int], folder: str, count: int) -> float:
    """The shorter of two times: the first may have to wait for the disk."""
    took = []
    for _ in range(2):
        begun = time.perf_counter()
        assert work(folder) == count
        took.append(time.perf_counter() - begun)
    return min(took)


def calls(way: str, folder: Path) -> int:
    """System calls of a process that finds the items, without those of starting it."""

    def counted(where: Path) -> int:
        line = ["strace", "-f", "-c", "-S", "calls", "-o", f"{folder}.calls", sys.executable, __file__, "--way", way]
        subprocess.run([*line, "--folder", str(where)], check=True, capture_output=True)
        total = Path(f"{folder}.calls").read_text().strip().splitlines()[-1].split()
        return int(total[3])

    empty = folder.parent / "one"
    if not empty.exists():
        empty.mkdir()
        (empty / "a.jpg").touch()
    return counted(folder) - counted(empty)


def archive_of(folder: Path, count: int) -> Path:
    """A tar archive with as many empty images."""
    path = folder.parent / "all.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(count):
            archive.addfile(tarfile.TarInfo(f"{number:08}.jpg"))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=20_000, help="files for which system calls are counted")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--study", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.study:
        show(measured(lambda: pool(given.folder, given.study)))
        return
    if given.way:
        WAYS[given.way](given.folder)
        return
    root = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        report(root, given.files, given.calls)
    finally:
        shutil.rmtree(root)


def memory(folder: Path, study: Path) -> float:
    """By how many MB a process grows that pools a folder."""
    return in_fresh_process(__file__, ["--folder", str(folder), "--study", str(study)]).growth


def pool(folder: str, study: Path) -> list[Any]:
    """Make a study of all images in a folder."""
    Study.init(study).pool([folder])
    return []


def report(root: Path, files: int, few: int) -> None:
    if shutil.which("strace"):
        folder = make_files(root / "few", few)
        found = {way: calls(way, folder) / few for way in WAYS}
        print(f"system calls per file: {found['lookups']:.2f} by lookups, {found['listing']:.4f} by listing")
    before = 0.0
    for count in (files // 4, files):
        folder = make_files(root / f"files-{count}", count)
        own = seconds(by_listing, str(folder), count)
        theirs = seconds(by_looking_up, str(folder), count)
        grown = "" if not before else f"; {own / before:.1f} times as long as for a quarter of the files"
        print(f"{count:,} files: listing takes {own / theirs:.3f} of the time of lookups{grown}")
        before = own
    few, many = files // 4, files
    less, more = (memory(root / f"files-{count}", root / f"study-{count}") for count in (few, many))
    each = (more - less) * 1e6 / (many - few)
    print(f"`pool` of {many:,} files: peak growth {more:.0f} MB, {each:.0f} bytes for each further file")
    tar = archive_of(root / "tar", files // 10)
    own = seconds(by_listing, str(tar), files // 10)
    print(f"{files // 10:,} files in a tar archive: {own / before * 10:.1f} times as long per file as in folders")


if __name__ == "__main__":
    main()
