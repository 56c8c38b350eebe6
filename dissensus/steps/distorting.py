"""distort: turn photos into a pool of distorted images, with a manifest for `pool`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from PIL import Image, PngImagePlugin

from dissensus.backends import Unreadable, read_image
from dissensus.contents import name_of
from dissensus.errors import PoolError
from dissensus.images import open_image
from dissensus.pool.distortions import DISTORTIONS, LEVELS, check_kinds, check_levels, distorted, random_stream
from dissensus.processors import cores
from dissensus.progress import Progress, silent
from dissensus.records.base import Record
from dissensus.store.files import content_fingerprint, csv_text, write_text, write_whole
from dissensus.store.sources import items_of

MANIFEST = "pool.csv"
COLUMNS = ("item", "path", "reference", "distortion", "level")
REFERENCE = "reference"
STAMP = "dissensus"
"""Key of the PNG text chunk that says what an image was made from; files without it were not made here."""
SHORTEST = 16
QUICK = 1  # zlib level: three times as fast as Pillow's default, for files 5 % larger


class DistortResult(Record):
    """The contents of the folder. `skipped` lists photos that could not be used: path and reason."""

    manifest: Path
    photos: int
    images: int
    written: int
    skipped: list[tuple[str, str]]


@dataclass(frozen=True)
class Job:
    """One photo and the versions to make of it."""

    name: str
    path: str
    versions: tuple[tuple[str, int], ...]
    seed: int
    levels: Mapping[str, Sequence[float]]

    def stamps(self) -> dict[str, tuple[str, int, str]]:
        """Map file names to kind, level and a stamp of what the file is made from."""
        photo = content_fingerprint(self.path)[1]
        made = {f"{REFERENCE}.png": (REFERENCE, 0, photo)}
        for kind, level in self.versions:
            seeded = f" seed {self.seed}" if DISTORTIONS[kind].is_random else ""
            stamp = f"{photo} {kind} {self.levels[kind][level - 1]:g}{seeded}"
            made[f"{kind}-{level}.png"] = (kind, level, stamp)
        return made


def distort(
    sources: Sequence[str],
    folder: Path,
    kinds: Sequence[str] = tuple(DISTORTIONS),
    levels: Sequence[int] = (1, 2, 3, 4, 5),
    seed: int = 0,
    progress: Progress = silent,
    parameters: Mapping[str, Sequence[float]] = LEVELS,
    workers: int | None = None,
) -> DistortResult:
    """Write NAME/reference.png and NAME/KIND-LEVEL.png for every photo, and pool.csv.

    The same photos, levels and seed give the same pixels, regardless of the number of workers and of interruptions;
    existing files are kept. `parameters` define the levels of each kind.

    Raises:
        PoolError: there is no usable photo, a kind or level is unknown, or a file of that name was made elsewhere.
    """
    check_kinds(kinds)
    for kind in kinds:
        check_levels(levels, parameters[kind])
    _refuse_foreign_manifest(folder / MANIFEST)
    versions = tuple((kind, level) for kind in dict.fromkeys(kinds) for level in sorted({*levels}))
    jobs = [Job(name, path, versions, seed, parameters) for name, path in _named(_photos(sources, folder))]
    outcomes: list[int | str] = []
    for outcome in _all_made(jobs, folder, workers or cores()):
        outcomes.append(outcome)
        progress("distorting photos", len(outcomes), len(jobs))
    skipped = [(job.path, why) for job, why in zip(jobs, outcomes, strict=True) if isinstance(why, str)]
    if len(skipped) == len(jobs):
        raise PoolError(f"none of the {len(jobs):,} photos can be used; the first is {skipped[0][0]}: {skipped[0][1]}")
    usable = [job for job, outcome in zip(jobs, outcomes, strict=True) if not isinstance(outcome, str)]
    rows = [row for job in usable for row in _rows(job)]
    write_text(folder / MANIFEST, csv_text([COLUMNS, *rows]))
    written = sum(outcome for outcome in outcomes if not isinstance(outcome, str))
    return DistortResult(
        manifest=folder / MANIFEST, photos=len(usable), images=len(rows), written=written, skipped=skipped
    )


def parsed_levels(text: str) -> list[int]:
    """Levels from text such as 1,2,3.

    Raises:
        PoolError: the text is not a list of numbers.
    """
    try:
        return [int(level) for level in text.split(",")]
    except ValueError:
        raise PoolError(f"'{text}' is not a list of levels: write comma-separated numbers, such as 1,3,5") from None


def _photos(sources: Sequence[str], folder: Path) -> list[str]:
    """Paths of the photos, without those in the output folder, which were made from photos."""
    inside = folder.resolve()
    found = [path for path in items_of(list(sources))[1] if path is not None]
    photos = [path for path in dict.fromkeys(found) if inside not in Path(path).parents]
    if not photos:
        raise PoolError(f"the sources have no photos outside the output folder {folder}: give the original photos")
    return photos


def _named(paths: list[str]) -> Iterator[tuple[str, str]]:
    """A folder name for each photo: its file name without the suffix, numbered if already taken."""
    taken = {MANIFEST}
    for path in paths:
        stem = Path(name_of(path)).stem.encode("utf-8", "replace").decode().strip(". ") or "photo"
        numbered = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        name = next(name for name in numbered if name.casefold() not in taken)  # some file systems ignore case
        taken.add(name.casefold())
        yield name, path


def _all_made(jobs: list[Job], folder: Path, workers: int) -> Iterator[int | str]:
    """Run the jobs in threads, which is enough: encoders, filters and random numbers release the GIL."""
    threads = ThreadPoolExecutor(workers)
    try:
        yield from threads.map(lambda job: _made(job, folder / job.name), jobs)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _made(job: Job, folder: Path) -> int | str:
    """The number of files written because they were missing, or why the photo cannot be used."""
    try:
        stamps = job.stamps()
    except OSError as error:
        return error.strerror or "cannot be read"
    todo = {name: made for name, made in stamps.items() if not _is_there(folder / name, made[2])}
    if not todo:
        return 0
    photo = read_image(job.path)
    if isinstance(photo, Unreadable):
        return photo.reason
    if min(photo.size) < SHORTEST:
        return f"{photo.width}×{photo.height} pixels: each side needs at least {SHORTEST}"
    fingerprint = stamps[f"{REFERENCE}.png"][2]
    for name, (kind, level, stamp) in todo.items():
        rng = random_stream(job.seed, fingerprint, kind, level)
        image = photo if kind == REFERENCE else distorted(photo, kind, level, rng, job.levels)
        _write_png(folder / name, image, stamp)
    return len(todo)


def _is_there(path: Path, stamp: str) -> bool:
    """True if the file exists and is complete.

    Raises:
        PoolError: there is a different file of that name.
    """
    if not path.exists():
        return False
    found, is_whole = _stamp_of(path)
    if found == stamp:
        return is_whole
    made = "by something else" if found is None else "from another photo, or with another level or seed"
    raise PoolError(f"{path} already exists and was made {made}: choose another folder, or remove the file")


def _stamp_of(path: Path) -> tuple[str | None, bool]:
    """The stamp of a file, and whether the file is complete."""
    found = None
    try:
        with open_image(path, ("PNG",)) as image:
            found = image.info.get(STAMP)
            image.verify()
    except (OSError, SyntaxError, ValueError):  # what Pillow raises for damaged files
        return found, False
    return found, True


def _write_png(path: Path, image: Image.Image, stamp: str) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text(STAMP, stamp)
    write_whole(path, lambda unfinished: image.save(unfinished, "PNG", compress_level=QUICK, pnginfo=text))


def _rows(job: Job) -> list[tuple[str, ...]]:
    versions = [(REFERENCE, 0, REFERENCE), *((kind, level, f"{kind}-{level}") for kind, level in job.versions)]
    reference = f"{job.name}/{REFERENCE}.png"
    return [
        (f"{job.name}/{file}", f"{job.name}/{file}.png", reference, kind, str(level)) for kind, level, file in versions
    ]


def _refuse_foreign_manifest(path: Path) -> None:
    if path.exists() and not path.read_bytes().startswith(",".join(COLUMNS).encode()):
        raise PoolError(f"{path} already exists and was made by something else: choose another folder, or remove it")
