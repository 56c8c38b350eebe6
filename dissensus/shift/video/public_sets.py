"""Sets of similar frames as they are published: an anchor and the frames that reviewers called similar to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dissensus.errors import StudyError, quoted
from dissensus.shift.video.anchors import Frame
from dissensus.shift.video.clips import number_in


def from_sets(
    sets: Mapping[str, Sequence[str]], k: int, roots: Sequence[Path]
) -> Iterator[tuple[str, int, list[Frame]]]:
    """The clip, the number of the anchor, and the frames within k of it in order; their names are the ids.

    A frame's number is the last one in its name. Frames that are under none of the roots have no path.

    Raises:
        StudyError: a frame has no number, is of another clip than its anchor, or is not a path below a folder.
    """
    for anchor, similar in sets.items():
        clip = anchor.rpartition("/")[0]
        home, frames = _number(anchor), {}
        for name in (anchor, *similar):
            number = _number(name)
            if name.startswith("/") or ".." in name.split("/") or "\0" in name:
                raise StudyError(f"{quoted(name)} is not a path below the folder of the frames: correct the set")
            if name.rpartition("/")[0] != clip:
                raise StudyError(f"'{name}' is not of the same clip as its anchor '{anchor}': correct the set")
            if abs(number - home) <= k:
                frames[number] = Frame(number, name, _path(name, roots))
        yield clip, home, [frames[number] for number in sorted(frames)]


def _number(name: str) -> int:
    number = number_in(name)
    if number is None:
        raise StudyError(f"'{name}' has no frame number in its name: name frames such as clip/000123.jpg")
    return number


def _path(name: str, roots: Sequence[Path]) -> str | None:
    """Where the frame is, by its whole name or by the last two parts of it."""
    for root in roots:
        for tail in (name, "/".join(name.split("/")[-2:])):
            path = (root / tail).absolute()
            if path.is_file():
                return str(path)
    return None
