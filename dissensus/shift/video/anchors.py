"""Which frames of a clip are used: anchors that are drawn or named, and their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dissensus.errors import StudyError
from dissensus.replicas.chance import shuffled
from dissensus.shift.video.clips import Clip, frame_number
from dissensus.shift.video.decoding import Film, packet_count, pyav, read_film


@dataclass(frozen=True)
class Frame:
    """A frame of a clip: where its picture is, and when it is shown."""

    number: int
    name: str
    uri: str | None
    time: float | None = None


@dataclass
class Outcome:
    """What became of a clip: its anchors with their frames, and what is to be said about it."""

    clip: str
    anchors: dict[int, list[Frame]] = field(default_factory=dict)
    """By the number of the anchor: the anchor and its neighbours in order."""
    problem: str = ""
    """Why the clip is not used at all."""
    ended: str = ""
    """Where a damaged file ended."""
    unknown: list[str] = field(default_factory=list)
    """Named anchors that the clip does not have."""
    is_variable: bool = False
    """Whether its frames are not equally far apart in time."""

    def as_json(self) -> dict[str, Any]:
        anchors = [[number, [vars(one) for one in frames]] for number, frames in self.anchors.items()]
        return vars(self) | {"anchors": anchors}

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Outcome:
        anchors = {number: [Frame(**one) for one in frames] for number, frames in kept["anchors"]}
        return cls(**dict(kept) | {"anchors": anchors})


@dataclass(frozen=True)
class Choice:
    """How anchors are chosen from clips."""

    k: int
    per_clip: int
    seed: int
    named: Mapping[str, tuple[str, ...]] | None = None
    """The anchors of every clip, if they are named: numbers or file names."""

    def drawn(self, clip: str, numbers: Sequence[int], is_labelled: Callable[[int], bool]) -> list[int]:
        """Random anchors among the frames that have a label."""
        able = [str(number) for number in numbers if is_labelled(number)]
        return sorted(int(number) for number in shuffled(able, self.seed, "anchor", clip)[: self.per_clip])

    def near(self, anchor: int) -> range:
        """The numbers of an anchor and its neighbours, whether they exist or not."""
        return range(max(anchor - self.k, 0), anchor + self.k + 1)


def from_folder(clip: Clip, choice: Choice, is_labelled: Callable[[int, str], bool]) -> Outcome:
    """The anchors of a folder of frames."""
    made, files = Outcome(clip.name), clip.numbered
    if choice.named is None:
        chosen = choice.drawn(clip.name, list(files), lambda number: is_labelled(number, files[number].name))
    else:
        of_name = {path.name: number for number, path in files.items()}
        chosen = []
        for name in choice.named.get(clip.name, ()):
            number = of_name.get(name, frame_number(name, is_film=False))
            if number is None or number not in files:
                made.unknown.append(f"{clip.name}/{name}")
            else:
                chosen.append(number)
    for anchor in dict.fromkeys(chosen):
        near = [number for number in choice.near(anchor) if number in files]
        made.anchors[anchor] = [Frame(number, files[number].name, str(files[number])) for number in near]
    return made


def frame_name(number: int) -> str:
    return f"{number:06}.png"


def from_film(
    clip: Clip, choice: Choice, is_labelled: Callable[[int, str], bool], keep: Callable[[str, Any], Path]
) -> Outcome:
    """The anchors of a video file; `keep` writes a frame and returns its path.

    To draw anchors, the frames are counted without being decoded. If the file then turns out to be shorter than that
    and an anchor is beyond its end, anchors are drawn again among what there is.
    """
    assert clip.film is not None
    pyav()  # without it, no video file can be read, which is not this one's fault
    made = Outcome(clip.name)
    try:
        if choice.named is not None:
            chosen = []
            for name in choice.named.get(clip.name, ()):
                number = frame_number(name, is_film=True)
                made.unknown += [f"{clip.name}/{name}"] if number is None else []
                chosen += [] if number is None else [number]
            film, paths = _read(clip.film, chosen, choice, keep)
        else:
            count = packet_count(clip.film)
            chosen = choice.drawn(clip.name, range(count), lambda number: is_labelled(number, frame_name(number)))
            film, paths = _read(clip.film, chosen, choice, keep)
            if chosen and max(chosen) >= len(film.times):
                shorter = range(len(film.times))
                chosen = choice.drawn(clip.name, shorter, lambda number: is_labelled(number, frame_name(number)))
                film, paths = _read(clip.film, chosen, choice, keep)
    except StudyError as error:
        made.problem = f"{clip.film} {error}"
        return made
    made.ended, made.is_variable = film.ended, not film.is_constant
    if not film.times:
        made.problem = f"{clip.film} has no frames" + (f": {film.ended}" if film.ended else "")
        return made
    for anchor in dict.fromkeys(chosen):
        if anchor >= len(film.times):
            made.unknown.append(f"{clip.name}/{anchor}")
            continue
        near = [number for number in choice.near(anchor) if number < len(film.times)]
        made.anchors[anchor] = [
            Frame(number, frame_name(number), str(paths[number]), film.times[number]) for number in near
        ]
    return made


def _read(
    path: Path, chosen: Sequence[int], choice: Choice, keep: Callable[[str, Any], Path]
) -> tuple[Film, dict[int, Path]]:
    """Decode what the anchors need, and keep it."""
    wanted = {number for anchor in chosen for number in choice.near(anchor)}
    paths: dict[int, Path] = {}

    def kept(number: int, image: Any) -> None:
        paths[number] = keep(frame_name(number), image)

    return read_film(path, max(wanted, default=0), wanted.__contains__, kept), paths
