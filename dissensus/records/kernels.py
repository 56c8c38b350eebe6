"""Kernel matrices and machines: what they will cost, and what was made."""

from __future__ import annotations

from pathlib import Path

from dissensus.errors import counted
from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table

HEADS = ("class", "images", "recognised")


class GramEstimate(Record):
    """What a kernel matrix will cost, from the time that a few of its entries took."""

    kernel: str
    rows: int
    columns: int
    pairs: int
    """Entries to compute: about half of them if the matrix is symmetric."""
    pairs_per_second: float
    seconds: float
    matrix_bytes: int
    memory_bytes: int
    engine: str
    precision: str
    free_bytes: int | None = None
    """Space left on the disk that the matrix goes to; None if it stays in memory."""
    finished: float = 0.0
    """Share of the matrix that is on disk already."""

    @property
    def words(self) -> str:
        """The estimate in one sentence."""
        where = f"{size_words(self.memory_bytes)} of memory"
        if self.free_bytes is not None:
            where += f", {size_words(self.matrix_bytes)} of disk ({size_words(self.free_bytes)} free)"
        rest = f"; {100 * self.finished:.0f} % is there already" if self.finished else ""
        rate = f"{self.pairs_per_second:,.0f}" if self.pairs_per_second >= 100 else f"{self.pairs_per_second:.3g}"
        return (
            f"{self.rows:,} × {self.columns:,} matrix, {self.pairs:,} pairs at {rate} a second"
            f" ({self.engine}, {self.precision}): {time_words(self.seconds)}, {where}{rest}."
        )


class GramResult(Record):
    """A kernel matrix on disk."""

    path: Path
    kernel: str
    rows: int
    columns: int
    precision: str
    engine: str
    tiles: int
    computed: int
    """Tiles that were computed now; the others were there."""
    seconds: float


class ClassCount(Record):
    """How many training images of a class there are, and how many a machine gets right that never saw them."""

    name: str
    images: int
    right: int


class KernelFit(Record):
    """A fitted kernel machine, and how often it is right on images that are left out of the training, one at a time."""

    path: Path | None = None
    kernel: str
    images: int
    size: tuple[int, int]
    channels: int
    penalty: float
    penalties: int = 1
    """How many were tried; the one with the best accuracy was taken."""
    tilt: float
    is_whitened: bool
    is_flipped: bool
    repeated: int = 0
    """Images that are copies of an earlier one."""
    classes: tuple[ClassCount, ...]
    right: int
    accuracy: float
    low: float
    high: float
    """The ends of the Clopper–Pearson interval."""
    level: float
    engine: str
    seconds: float

    @property
    def words(self) -> tuple[str, ...]:
        """What was fitted, and how good it is."""
        height, width = self.size
        parts = [f"penalty {self.penalty:g}"]
        parts += ["whitened"] * self.is_whitened + ["with flips"] * self.is_flipped
        parts += [f"tilted by {self.tilt:g}"] * bool(self.tilt)
        ends = f"{100 * self.level:g} % interval {100 * self.low:.1f} to {100 * self.high:.1f}"
        return (
            f"Left out one at a time, {self.right:,} of {counted(self.images, 'image')} recognised:"
            f" {100 * self.accuracy:.1f} % ({ends}).",
            *self._doubts(),
            f"Kernel {self.kernel} on {len(self.classes):,} classes of {height}×{width}×{self.channels} images, "
            f"{', '.join(parts)}; {time_words(self.seconds)} on {self.engine}.",
        )

    def _doubts(self) -> tuple[str, ...]:
        """Why the accuracy may not be that of this machine on other images."""
        found = []
        if self.penalties > 1:
            found.append(f"The penalty is the best of {self.penalties} by this figure, which makes it a bit too good.")
        if self.tilt:
            found.append("It is the figure of the machine without the tilt.")
        if self.repeated:
            are = "image is a copy" if self.repeated == 1 else "images are copies"
            found.append(
                f"{self.repeated:,} {are} of another, which stays when one is left out: the figure is too good."
            )
        return tuple(found)

    def rows(self) -> list[tuple[str, ...]]:
        """For every class: its images, and how many of them are recognised."""
        return [(one.name, f"{one.images:,}", f"{one.right:,}") for one in self.classes]

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + table(HEADS, self.rows())


class NamedKernel(Record):
    """A kernel that has a name."""

    name: str
    layers: str


class KernelList(Record):
    """The named kernels, and what can compute them here."""

    kernels: tuple[NamedKernel, ...]
    threads: int
    """Of the processor."""
    no_cuda: str | None
    """Why a GPU cannot be used; None if it can."""


def size_words(count: float) -> str:
    """A number of bytes as people read it: '640 bytes', '1.44 GB'."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 999.5 or unit == "TB":
            break
        count /= 1000
    return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.3g} {unit}"


def time_words(seconds: float) -> str:
    """A length of time as people read it: 'less than 1 s', '3 s', '12 min', '5.2 h', '3.1 days'."""
    if seconds < 0.95:
        return "less than 1 s"
    for limit, length, unit in ((90, 1, "s"), (90 * 60, 60, "min"), (36 * 3600, 3600, "h")):
        if seconds < limit:
            found = seconds / length
            return f"{found:.0f} {unit}" if found >= 9.95 else f"{found:.2g} {unit}"
    return f"{seconds / 86_400:,.3g} days"
