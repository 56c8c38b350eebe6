"""Where clips come from: folders of frames, and video files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dissensus.errors import StudyError, refuse_pipe, some
from dissensus.store.sources import IMAGES

FILMS = frozenset([".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".mpg", ".mpeg", ".ts", ".wmv", ".flv", ".ogv"])
"""Endings of video files; PyAV reads them by their contents."""
DIGITS = re.compile(r"(\d+)")
MOST_DIGITS = 18
"""Of a frame's number, so that it fits into a table."""


@dataclass(frozen=True)
class Clip:
    """A clip: its frames as files in order, or a video file."""

    name: str
    frames: tuple[Path, ...] = ()
    film: Path | None = None

    @property
    def where(self) -> Path:
        """The video file, or the folder of the frames."""
        return self.film or self.frames[0].parent

    @property
    def numbered(self) -> dict[int, Path]:
        """The frames by number: the last number in their names if all have one of their own, otherwise their place."""
        numbers = [number_in(path.name) for path in self.frames]
        if None in numbers or len({*numbers}) < len(numbers):
            return dict(enumerate(self.frames))
        return {number: path for number, path in zip(numbers, self.frames, strict=True) if number is not None}


def number_in(name: str) -> int | None:
    """The last number in the name of a file, such as 732 in frame-732.jpg; None if there is none."""
    found = DIGITS.findall(Path(name).stem)
    return int(found[-1][-MOST_DIGITS:]) if found else None


def frame_number(name: str, is_film: bool) -> int | None:
    """The number of a frame that is named by it; of a video file's frames also as in frame-732.jpg."""
    if name.isdecimal() and len(name) <= MOST_DIGITS:
        return int(name)
    return number_in(name) if is_film and Path(name).suffix.lower() in IMAGES else None


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts frame-9 before frame-10."""
    parts = [part for part in DIGITS.split(text) if part]
    return tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def clips_in(sources: Sequence[str | Path]) -> list[Clip]:
    """All clips of the sources, in order of their names.

    A source is a video file, a folder of frames, or a folder that has such files and folders at any depth. A clip is
    called like its file without the ending, or like its folder; with its path below the source if that is deeper.

    Raises:
        StudyError: a source does not exist or has no clips, or two clips have the same name.
    """
    found = [clip for source in sources for clip in _clips(Path(source))]
    known: dict[str, Clip] = {}
    for clip in found:
        if clip.name in known:
            both = f"{known[clip.name].where} and {clip.where}"
            raise StudyError(f"two clips are called '{clip.name}' ({both}): rename one of them")
        known[clip.name] = clip
    return sorted(found, key=lambda clip: natural(clip.name))


def full_names(clips: Sequence[Clip]) -> dict[str, str]:
    """Whole names of the clips by how files may call them: by these, or by the last part if it is theirs alone."""
    last: dict[str, list[str]] = {}
    for clip in clips:
        last.setdefault(clip.name.rpartition("/")[2], []).append(clip.name)
    return {short: names[0] for short, names in last.items() if len(names) == 1} | {one.name: one.name for one in clips}


def _clips(source: Path) -> Iterator[Clip]:
    refuse_pipe(source, StudyError)
    if source.is_file() and source.suffix.lower() in FILMS:
        if not source.stem.strip("."):
            raise StudyError(f"{source} has no name before its ending: rename it")
        yield Clip(source.stem, film=Path(os.path.realpath(source)))
        return
    if source.is_file():
        raise StudyError(f"{source} is not a video file: give one ({some(sorted(FILMS))}), or a folder of frames")
    if not source.is_dir():
        raise StudyError(f"{source} does not exist: give a video file, or a folder of frames or clips")
    begun = False
    for top, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for clip in _clips_of(source, Path(top), files):
            begun = True
            yield clip
    if not begun:
        raise StudyError(f"{source} has neither frames nor video files: give a folder of frames or clips")


def _clips_of(source: Path, folder: Path, files: Sequence[str]) -> Iterator[Clip]:
    """The clips that are directly in a folder: its frames, if it has any, and every video file.

    Hidden files are not used, such as the ._12.jpg that some systems put beside 12.jpg.
    """
    _require_text(folder, files)
    shown = sorted((name for name in files if not name.startswith(".")), key=natural)
    frames = [name for name in shown if _is_any(folder / name, IMAGES)]
    inside = folder.relative_to(source)
    if frames:
        name = inside.as_posix() if inside.parts else Path(os.path.realpath(source)).name
        yield Clip(name, tuple(Path(os.path.realpath(folder)) / frame for frame in frames))
    for name in shown:
        if _is_any(folder / name, FILMS):
            yield Clip((inside / Path(name).stem).as_posix(), film=Path(os.path.realpath(folder / name)))


def _is_any(path: Path, endings: frozenset[str]) -> bool:
    """Whether a file has one of the endings.

    Raises:
        StudyError: it has, but cannot be read like a file.
    """
    if path.suffix.lower() not in endings:
        return False
    if not path.is_file():
        raise StudyError(f"{path} is a pipe, a device or a link to nothing: remove it from the folder")
    return True


def _require_text(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise StudyError(f"the name {name!r} in {folder} is not in UTF-8: rename it") from None
