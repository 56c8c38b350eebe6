"""Large matrices in a folder, tile by tile: computed over days if need be, and resumed after a kill or a full disk.

The folder holds `inputs.json` (what the matrix is computed from), `tiles.txt` (the digest of every finished tile) and
`matrix.npy`, which is called `unfinished.npy` until its last tile is there. The whole file is allocated first, so that
a disk that is too small is noticed before anything is computed. A tile is listed once its values are on disk, and
counts only if they match the digest.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError
from dissensus.kernels.gram import Tile, tiles
from dissensus.records import Record
from dissensus.records.kernels import size_words
from dissensus.store.durable import flush_folder, make_folder, remove_left_over, replace_file
from dissensus.store.files import fingerprint
from dissensus.store.lock import Lock
from dissensus.store.parts import NOTE, recorded_inputs, refuse_changes, write_inputs

MATRIX, UNFINISHED, JOURNAL = "matrix.npy", "unfinished.npy", "tiles.txt"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk or a quota that is exhausted."""
BUSY = "another command is computing this matrix: wait for it to finish"
BLOCK = 512
"""Bytes that `st_blocks` counts in."""
SECONDS_PER_TILE = 15
SHORTEST, LONGEST, MOST_TILES = 16, 4096, 20_000

NAMED = {"images": "fingerprint of the images", "other": "fingerprint of the other images"}
"""Inputs whose own names say too little in a message."""

Block = Callable[[slice, slice], Float[Array, "n m"]]
"""What computes the values in some rows and columns."""


class GramInputs(Record):
    """What a matrix is computed from; `other` is None if it is symmetric."""

    images: str
    """Fingerprints of the arrays."""
    other: str | None
    kernel: str
    precision: str
    device: str
    rows: int
    columns: int

    @property
    def is_symmetric(self) -> bool:
        return self.other is None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.precision).newbyteorder("<")

    @property
    def bytes(self) -> int:
        return self.rows * self.columns * self.dtype.itemsize


def array_fingerprint(array: Array) -> str:
    """A fingerprint of an array: its type, its shape and its values."""
    whole = np.ascontiguousarray(array)
    return fingerprint(whole.dtype.str, str(whole.shape), whole.reshape(-1).view(np.uint8).data)


def tile_side(rows: int, columns: int, pairs_per_second: float) -> int:
    """Side of tiles that take some seconds each, so that little is lost in a kill; there are not too many of them."""
    side = int((SECONDS_PER_TILE * pairs_per_second) ** 0.5)
    return max(SHORTEST, _fewest(rows, columns), min(side, LONGEST))


def refuse_many_tiles(rows: int, columns: int, side: int) -> None:
    """Raise an error if tiles of this side are so many that listing them takes longer than computing them."""
    many = _count(rows, columns, side)
    if many > MOST_TILES:
        raise KernelError(
            f"--tile {side}: that makes up to {many:,} tiles: give at least {_fewest(rows, columns)}, or leave it out"
        )


def _fewest(rows: int, columns: int) -> int:
    """The side of tiles that are at most MOST_TILES."""
    side = int((rows * columns / MOST_TILES) ** 0.5) + 1
    while _count(rows, columns, side) > MOST_TILES:  # those at the edges are cut off
        side += 1 + side // 16
    return side


def _count(rows: int, columns: int, side: int) -> int:
    return -(-rows // side) * -(-columns // side)


class GramFolder:
    """A matrix in a folder, finished or not."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = Lock(root / ".lock", BUSY, is_removed=True)
        self.journal = root / JOURNAL

    @property
    def path(self) -> Path:
        """Where the matrix is, finished or not."""
        return self.root / (MATRIX if self.is_finished else UNFINISHED)

    @property
    def is_finished(self) -> bool:
        return (self.root / MATRIX).exists()

    @cached_property
    def _recorded(self) -> dict[str, Any]:
        if not (self.root / NOTE).is_file():
            raise KernelError(f"{self.root} has no matrix: compute it with dissensus kernel gram")
        return recorded_inputs(self.root)

    @cached_property
    def inputs(self) -> GramInputs:
        """What the matrix is computed from.

        Raises:
            KernelError: there is no matrix in the folder.
        """
        recorded = self._recorded
        try:
            int(recorded["side"])
            return GramInputs(**{name: recorded[name] for name in GramInputs.model_fields})
        except (KeyError, TypeError, ValueError):
            raise KernelError(
                f"{self.root / NOTE} was not written by dissensus kernel gram: choose another folder"
            ) from None

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        inputs = self.inputs
        return tiles(inputs.rows, None if inputs.is_symmetric else inputs.columns, int(self._recorded["side"]))

    def finished(self) -> dict[int, str]:
        """Digests of the tiles that are listed, by number; whether they are whole is not checked."""
        found: dict[int, str] = {}
        if self.journal.is_file():
            for line in self.journal.read_text(encoding="ascii", errors="replace").splitlines():
                number, _, digest = line.partition("  ")
                if number.isdecimal() and int(number) < len(self.tiles) and len(digest) == 64:
                    found[int(number)] = digest
        return found

    def whole(self) -> dict[int, str]:
        """Digests of the tiles that are listed and whose values on disk match."""
        if not self._has_its_size():
            return {}
        values, known = self._opened(), self.finished()
        return {number: digest for number, digest in known.items() if self._digest_in(values, number) == digest}

    def matrix(self, verify: bool = True) -> Float[Array, "n m"]:
        """The finished matrix, memory-mapped and read-only; `verify` compares its values with tiles.txt first.

        Raises:
            KernelError: it is missing, unfinished or damaged.
        """
        known, needed = self.finished(), len(self.tiles)
        again = "run the same dissensus kernel gram again"
        if not self.is_finished:
            raise KernelError(f"{self.root} has {len(known):,} of {needed:,} tiles: {again} to resume")
        damaged = needed - len(self.whole() if verify else known)
        if damaged or not self._has_its_size():
            raise KernelError(f"{self.path} is damaged ({damaged:,} of {needed:,} tiles): {again} to repair it")
        return self._opened()

    def make_room(self, inputs: GramInputs) -> None:
        """Remove the matrix if it is that of other inputs.

        Raises:
            KernelError: the folder is somebody else's.
            StudyError: another command is computing it.
        """
        if (self.root / NOTE).is_file() and self.inputs != inputs:
            self.clear()

    def clear(self) -> None:
        """Remove the matrix and what is known about it, and the folder if nothing else is in it.

        Raises:
            StudyError: another command is computing it.
        """
        with self.lock:
            for name in (NOTE, JOURNAL, MATRIX, UNFINISHED):
                (self.root / name).unlink(missing_ok=True)
        for name in ("_recorded", "inputs", "tiles"):
            self.__dict__.pop(name, None)
        with suppress(OSError):
            self.root.rmdir()

    def refuse(self, inputs: GramInputs) -> None:
        """Raise an error if the folder is not for this matrix, or the disk is too small for what is missing."""
        if self.root.exists() and not self.root.is_dir():
            raise KernelError(f"{self.root} is a file: give the name of a folder")
        if self.root.is_dir() and not (self.root / NOTE).exists():
            others = sorted(path.name for path in self.root.iterdir() if not path.name.startswith("."))
            if others:
                raise KernelError(f"{self.root} holds other files ({others[0]}): choose a new folder")
        elif self.root.is_dir() and (self.finished() or self.is_finished or self.inputs is None):
            _refuse_other(self.root, self.inputs, inputs)
        there = self.path.stat().st_blocks * BLOCK if self.root.is_dir() and self.path.exists() else 0
        free = free_bytes(self.root)
        if inputs.bytes - there > free:
            raise KernelError(
                f"the matrix takes {size_words(inputs.bytes)}, but the disk of {self.root} has {size_words(free)} left:"
                " free some space, or choose a folder on another disk"
            )

    def fill(self, inputs: GramInputs, side: int, block: Block, progress: Callable[[int, int], None]) -> int:
        """Compute the tiles that are missing; returns how many they were. `side` counts only for a new matrix.

        Raises:
            StudyError: the matrix was begun with other inputs, or another command is computing it.
            KernelError: the folder is not for this matrix, or the disk is full.
        """
        self.refuse(inputs)
        with self._naming_a_full_disk():
            make_folder(self.root)
            with self.lock:
                missing = self._begin(inputs, side)
                self._fill(missing, block, progress)
                self._end()
        return len(missing)

    def _begin(self, inputs: GramInputs, side: int) -> list[int]:
        """Prepare the file, and return the numbers of the missing tiles; damaged ones are missing, too."""
        remove_left_over(self.root)
        if not (self.root / NOTE).exists() or not self.finished():
            self.journal.unlink(missing_ok=True)
            write_inputs(self.root, inputs.model_dump() | {"side": side})
            for name in ("_recorded", "inputs", "tiles"):
                self.__dict__.pop(name, None)
        _refuse_other(self.root, self.inputs, inputs)
        whole = self.whole()
        missing = [number for number in range(len(self.tiles)) if number not in whole]
        if missing and self.is_finished:
            os.replace(self.root / MATRIX, self.root / UNFINISHED)
        text = "".join(f"{number:06}  {digest}\n" for number, digest in sorted(whole.items()))
        replace_file(self.journal, lambda unfinished: unfinished.write_text(text, encoding="ascii"))
        if not self._has_its_size():
            self._allocate()
        return missing

    def _fill(self, missing: list[int], block: Block, progress: Callable[[int, int], None]) -> None:
        total, dtype = len(self.tiles), self.inputs.dtype
        progress(total - len(missing), total)
        if not missing:
            return
        file = os.open(self.path, os.O_RDWR)
        try:
            for done, number in enumerate(missing, start=total - len(missing) + 1):
                tile = self.tiles[number]
                values = np.ascontiguousarray(block(tile.rows, tile.columns), dtype)
                if not np.isfinite(values).all():
                    raise KernelError(f"tile {number} has values that are not finite: check the images")
                self._write(file, tile.rows, tile.columns, values)
                if self.inputs.is_symmetric and tile.rows != tile.columns:
                    self._write(file, tile.columns, tile.rows, np.ascontiguousarray(values.T))
                os.fsync(file)
                self._list(number, digest_of_values(values))
                progress(done, total)
        finally:
            os.close(file)

    def _end(self) -> None:
        if not self.is_finished:
            os.replace(self.root / UNFINISHED, self.root / MATRIX)
            flush_folder(self.root)

    def _list(self, number: int, digest: str) -> None:
        """Append a line to tiles.txt; half a line, after a kill, does not count."""
        file = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            _write_at(file, f"{number:06}  {digest}\n".encode(), None)
            os.fsync(file)
        finally:
            os.close(file)

    def _write(self, file: int, rows: slice, columns: slice, values: Float[Array, "n m"]) -> None:
        # not through a memory map: on a full disk, the kernel would end the process (SIGBUS)
        inputs = self.inputs
        width, start = inputs.dtype.itemsize, len(_header(inputs))
        for row, line in zip(range(rows.start, rows.stop), values, strict=True):
            _write_at(file, line.tobytes(), start + (row * inputs.columns + columns.start) * width)

    def _allocate(self) -> None:
        """Write the header and reserve the space of all values; if there is not enough, nothing stays."""
        header = _header(self.inputs)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            _write_at(file, header, 0)
            os.posix_fallocate(file, 0, len(header) + self.inputs.bytes)
            os.fsync(file)
        except OSError:
            self.path.unlink(missing_ok=True)
            raise
        finally:
            os.close(file)
        flush_folder(self.root)

    def _has_its_size(self) -> bool:
        header, inputs = _header(self.inputs), self.inputs
        if not self.path.is_file() or self.path.stat().st_size != len(header) + inputs.bytes:
            return False
        with self.path.open("rb") as file:
            return file.read(len(header)) == header

    def _opened(self) -> Float[Array, "n m"]:
        inputs = self.inputs
        start, shape = len(_header(inputs)), (inputs.rows, inputs.columns)
        return np.memmap(self.path, inputs.dtype, "r", start, shape)

    def _digest_in(self, values: Float[Array, "n m"], number: int) -> str | None:
        """The digest of a tile on disk; None if its mirror image is not the same."""
        tile = self.tiles[number]
        found = digest_of_values(values[tile.rows, tile.columns])
        if self.inputs.is_symmetric and tile.rows != tile.columns:
            return found if digest_of_values(values[tile.columns, tile.rows].T) == found else None
        return found

    @contextmanager
    def _naming_a_full_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            done = f"{len(self.finished()):,} of {len(self.tiles):,}" if (self.root / NOTE).exists() else "0"
            raise KernelError(
                f"the disk of {self.root} is full ({error.strerror}); {done} tiles are finished and stay: free some"
                " space, and run the command again to resume"
            ) from error


def free_bytes(path: Path) -> int:
    """Space left on the disk that a folder is on, or would be."""
    return shutil.disk_usage(nearest(path)).free


def nearest(path: Path) -> Path:
    """The path, or the innermost folder above it that exists."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


def digest_of_values(values: Float[Array, "n m"]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()


def _refuse_other(root: Path, before: GramInputs, now: GramInputs) -> None:
    """Raise StudyError if a matrix was begun with other inputs."""
    first, second = (
        {NAMED.get(name, name): "none" if value is None else value for name, value in one.model_dump().items()}
        for one in (before, now)
    )
    refuse_changes(f"the matrix in {root}", first, second, "choose a new folder")


def _header(inputs: GramInputs) -> bytes:
    """The first bytes of the .npy file."""
    file = BytesIO()
    about = {"descr": inputs.dtype.str, "fortran_order": False, "shape": (inputs.rows, inputs.columns)}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def _write_at(file: int, content: bytes, offset: int | None) -> None:
    """Write all bytes; a system call may write fewer. Without an offset they are appended."""
    rest = memoryview(content)
    while rest:
        count = os.write(file, rest) if offset is None else os.pwrite(file, rest, offset)
        rest = rest[count:]
        offset = None if offset is None else offset + count
