"""Video files, decoded frame by frame with PyAV: every frame once, in order, and one at a time in memory."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.errors import StudyError, counted, one_line
from dissensus.images import excess
from dissensus.version import installing

TICKS = 2
SHARE = 0.05
"""Gaps between frames that differ by no more ticks of the clock, or by no larger share, are roundings."""
SKIPPED, REORDERED = 0.5, 16
"""The share by which a gap is wider if a frame is missing in it, and how many frames codecs reorder at most."""
LEEWAY, SHORT = 0.5, 0.1
"""Seconds, and the share of its length, by which a file may end early without being called short."""


@dataclass(frozen=True)
class Film:
    """What was read of a video file."""

    times: tuple[float | None, ...]
    """When each decoded frame is shown, in seconds."""
    tick: float
    """The resolution of the times."""
    ended: str
    """Why reading ended early; empty if it did not."""

    @property
    def is_constant(self) -> bool:
        """Whether all frames are shown equally long, as far as it is known."""
        known = np.array([time for time in self.times if time is not None])
        gaps = np.diff(known)
        if len(gaps) < 2:
            return True
        return bool(gaps.max() - gaps.min() <= max(TICKS * self.tick, SHARE * float(np.median(gaps))))


def pyav() -> Any:
    """The module that reads video files.

    Raises:
        StudyError: it is not installed.
    """
    try:
        av = importlib.import_module("av")
    except ImportError as error:
        needs = f"reading video files needs PyAV: {installing('video')}"
        raise StudyError(needs if error.name == "av" else f"{needs} ({one_line(error)})") from error
    av.logging.set_level(None)  # FFmpeg's own lines about damaged files would go to the terminal
    return av


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """An open file, and its stream of pictures.

    Raises:
        StudyError: it cannot be opened, or has no pictures; says only why.
    """
    av = pyav()
    try:
        container = av.open(str(path), metadata_errors="replace")
    except (OSError, ValueError, av.FFmpegError) as error:
        raise StudyError(f"cannot be opened ({_reason(error)})") from None
    with container:
        stream = container.streams.best("video")  # not a cover, which may come first
        if stream is None:
            raise StudyError("has no pictures")
        stream.thread_type = "AUTO"
        yield container, stream


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or one_line(error))


def packet_count(path: Path) -> int:
    """How many frames the file seems to have, without decoding any.

    Raises:
        StudyError: it cannot be opened, or has no pictures.
    """
    return _packet_counts(path)[0]


def _packet_counts(path: Path) -> tuple[int, int]:
    """How many packets hold frames that are shown, and how many are cut out by an edit list."""
    av, shown, cut = pyav(), 0, 0
    with _opened(path) as (container, stream):
        try:
            for packet in container.demux(stream):
                shown += bool(packet.size) and not packet.is_discard
                cut += bool(packet.size) and packet.is_discard
        except (OSError, ValueError, av.FFmpegError):
            pass  # what can be read until then is what there is
    return shown, cut


def read_film(path: Path, last: int | None, is_kept: Callable[[int], bool], keep: Callable[[int, Any], None]) -> Film:
    """Decode a file up to a frame, all of it if None; `keep` gets the upright RGB images of some.

    Whatever is damaged ends it, since the frames after it can no longer be counted. Times that go back, as in files
    that store none, are not known.

    Raises:
        StudyError: it cannot be opened, has no pictures, or has enormous ones.
    """
    av = pyav()
    times: list[float | None] = []
    ended = ""
    with _opened(path) as (container, stream):
        tick = float(stream.time_base) if stream.time_base else 0.0
        frames = container.decode(stream)
        for number in itertools.count():
            if last is not None and number > last:
                break
            try:
                frame = next(frames, None)
            except (OSError, ValueError, av.FFmpegError) as error:
                ended = f"damaged after {counted(number, 'frame')} ({_reason(error)})"
                break
            if frame is None:
                ended = _shortness(path, container, stream, times)
                break
            if frame.is_corrupt:  # the decoder made up what it could not read
                ended = f"damaged after {counted(number, 'frame')}"
                break
            times.append(None if frame.pts is None or frame.time is None else float(frame.time))
            if is_kept(number):
                if reason := excess(frame.width, frame.height):
                    raise StudyError(f"is too large: {reason}")
                keep(number, _image(frame))
    known = [time for time in times if time is not None]
    if not all(one < other for one, other in itertools.pairwise(known)):
        return Film((None,) * len(times), tick, ended)
    is_cut = bool(ended) and len(known) == len(times)
    return Film(tuple(times[: _whole(known)] if is_cut else times), tick, ended)


def _whole(times: Sequence[float]) -> int:
    """How many frames of a file that was cut off come before the first gap at its end.

    Frames are stored in another order than they are shown in, so that of the last few some are there and some are not.
    """
    gaps = np.diff(times)
    wide = np.flatnonzero(gaps > (1 + SKIPPED) * np.median(gaps)) if len(gaps) else np.zeros(0, int)
    late = wide[wide >= len(gaps) - REORDERED]
    return int(late[0]) + 1 if len(late) else len(times)


def _shortness(path: Path, container: Any, stream: Any, times: Sequence[float | None]) -> str:
    """By how much there are fewer frames than the file says; empty if there are not.

    Not all files say how many they have, but most say how long they are.
    """
    frames, said = len(times), int(stream.frames or 0)
    if said:
        said -= _packet_counts(path)[1] if frames < said else 0
        return f"ended after {frames:,} of {counted(said, 'frame')}" if frames < said else ""
    begin = float((stream.start_time or 0) * (stream.time_base or 0))
    last = max((time for time in times if time is not None), default=begin) - begin
    length = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else 0.0
    if not length and len(container.streams) == 1:  # sound may be longer than pictures
        length = (container.duration or 0) / 1_000_000
    is_short = length - last > max(LEEWAY, SHORT * length)
    return f"ended after {counted(frames, 'frame')}, at {last:.2f} of {length:.2f} s" if is_short else ""


def _image(frame: Any) -> Image.Image:
    """The frame as it is shown: in RGB whatever its format, and upright."""
    image: Image.Image = frame.to_image()
    turn = round(frame.rotation) % 360
    return image.rotate(turn, expand=True) if turn else image
