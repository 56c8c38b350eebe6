"""Every streaming session of section 4.2 of the gMAD paper, by its number; none of them is stored.

A session plays one of 50 contents as five segments of two seconds, each in one of the five representations of Table 4
and after a stall of 0, 2 or 4 seconds: 50 · 5⁵ · 3⁵ = 37,968,750 sessions.

    dissensus pool STUDY python:examples/streaming/sessions.py:SESSIONS
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from dissensus.arrays import Array, Float, UInt8

SEGMENTS = 5
SEGMENT = 2
"""Seconds of play in a segment."""
LADDER = ("bad", "poor", "fair", "good", "excellent")
KBPS = np.array([235, 560, 1050, 2350, 5800], np.float32)
"""Bitrate of each representation (Table 4)."""
PIXELS = np.array([320 * 240, 512 * 384, 640 * 480, 1280 * 720, 1920 * 1080], np.float32)
"""Resolution of each representation (Table 4)."""
STALLS = np.array([0, 2, 4], np.uint8)
"""Seconds without a picture that may come before a segment; before the first one it is the initial buffering."""


def _digits(radix: int) -> UInt8[Array, "S codes"]:
    """The digits of every number of five digits, the first segment's in the first row."""
    numbers = np.arange(radix**SEGMENTS)
    return np.stack([numbers // radix**place % radix for place in reversed(range(SEGMENTS))]).astype(np.uint8)


REPRESENTATION_CODES, STALL_CODES = _digits(len(LADDER)), STALLS[_digits(len(STALLS))]
ID = re.compile(r"content([0-9]{2})-([1-5]{5})-([024]{5})")


@dataclass(frozen=True)
class Played:
    """Some sessions, as models take them."""

    content: UInt8[Array, " n"]
    """0 to 49."""
    representation: UInt8[Array, "n S"]
    """Of each segment, 0 (bad) to 4 (excellent)."""
    stall: UInt8[Array, "n S"]
    """Seconds before each segment."""

    def __len__(self) -> int:
        return len(self.content)

    @cached_property
    def kbps(self) -> Float[Array, "n S"]:
        """Bitrate of each segment."""
        return KBPS[self.representation]

    @property
    def ladder(self) -> tuple[Float[Array, " R"], Float[Array, " R"]]:
        """Bitrate in kbps and number of pixels of each representation."""
        return KBPS, PIXELS


@dataclass(frozen=True)
class Sessions:
    """Contents × representations × stalls, the stalls of the last segment changing fastest."""

    contents: int = 50

    def __len__(self) -> int:
        return self.contents * REPRESENTATION_CODES.shape[1] * STALL_CODES.shape[1]

    def id_of(self, number: int) -> str:
        """Such as content07-31425-02004: representations 1 to 5, and seconds of stalls."""
        one = self.items(range(number, number + 1))
        representations = "".join(str(digit + 1) for digit in one.representation[0].tolist())
        return f"content{int(one.content[0]) + 1:02}-{representations}-{''.join(map(str, one.stall[0].tolist()))}"

    def number_of(self, item: str) -> int:
        """The number that an id was made from; raises ValueError where there is no such session."""
        parts = ID.fullmatch(item)
        if parts is None or not 1 <= int(parts[1]) <= self.contents:
            raise ValueError(f"{item} is not a session id: ids look like content01-31425-02004")
        representations = int("".join(str(int(digit) - 1) for digit in parts[2]), len(LADDER))
        stalls = int("".join(str(int(digit) // 2) for digit in parts[3]), len(STALLS))
        content = int(parts[1]) - 1
        return (content * REPRESENTATION_CODES.shape[1] + representations) * STALL_CODES.shape[1] + stalls

    def items(self, numbers: range) -> Played:
        """What is played in some sessions."""
        rest, stalls = np.divmod(np.arange(numbers.start, numbers.stop, numbers.step), STALL_CODES.shape[1])
        content, representations = np.divmod(rest, REPRESENTATION_CODES.shape[1])
        return Played(content.astype(np.uint8), REPRESENTATION_CODES[:, representations].T, STALL_CODES[:, stalls].T)

    def draw(self, number: int) -> Image.Image:
        """The session as bars on an axis of time, as in Fig. 11 of the paper."""
        one = self.items(range(number, number + 1))
        segments = zip(one.representation[0].tolist(), one.stall[0].tolist(), strict=True)
        return _drawn(int(one.content[0]) + 1, list(segments))


SESSIONS = Sessions()


SIZE = (620, 240)
"""Two of them stand side by side, pixel for pixel, on a screen of 1280: nothing of a session may be out of sight."""
FINER = 2
"""Drawn so many times larger and then reduced, which smooths slanted lines."""
LONGEST = SEGMENTS * (SEGMENT + int(STALLS.max()))
"""Seconds that the axis has, for short sessions too: lengths are compared."""
PAPER, INK, FAINT = "#f2f2ef", "#22262b", "#8b9097"
COLOURS = ("#440154", "#3b528b", "#21908c", "#5dc863", "#fde725")
"""Viridis: from dark to bright for every kind of colour vision. The heights of the bars say the same."""
LEFT, RIGHT, TOP, BOTTOM = 18, 576, 68, 190
"""Edges of the bars' field in pixels."""


def _drawn(content: int, segments: list[tuple[int, int]]) -> Image.Image:
    image = Image.new("RGB", (SIZE[0] * FINER, SIZE[1] * FINER), PAPER)
    pen = _Pen(image)
    pen.words((LEFT, 32), f"content {content:02}", "lm")
    _draw_legend(pen)
    _draw_axis(pen)
    second = 0
    for representation, stall in segments:
        if stall:
            pen.stall((_at(second), TOP, _at(second + stall), BOTTOM))
        pen.bar((_at(second + stall), TOP, _at(second + stall + SEGMENT), BOTTOM), representation)
        second += stall + SEGMENT
    return image.resize(SIZE, Image.Resampling.LANCZOS)


def _at(second: int) -> float:
    return LEFT + (RIGHT - LEFT) * second / LONGEST


def _draw_axis(pen: _Pen) -> None:
    pen.line((LEFT, BOTTOM, RIGHT, BOTTOM))
    for second in range(0, LONGEST + 1, 5):
        pen.line((_at(second), BOTTOM, _at(second), BOTTOM + 6))
        pen.words((_at(second), BOTTOM + 8), f"{second} s" if second == LONGEST else str(second), "ma")


def _draw_legend(pen: _Pen) -> None:
    pen.words((240, 32), LADDER[0], "rm")
    for representation in range(len(LADDER)):
        pen.bar((247 + 21 * representation, 14, 267 + 21 * representation, 48), representation)
    pen.words((359, 32), LADDER[-1], "lm")
    pen.stall((500, 14, 532, 48))
    pen.words((540, 32), "stall", "lm")


class _Pen:
    """Draws in pixels of the finished picture."""

    def __init__(self, image: Image.Image) -> None:
        self.image, self.draw = image, ImageDraw.Draw(image)
        self.font = ImageFont.load_default(29 * FINER)

    def words(self, at: tuple[float, float], text: str, anchor: str) -> None:
        self.draw.text((FINER * at[0], FINER * at[1]), text, INK, self.font, anchor)

    def line(self, ends: tuple[float, ...], width: float = 2) -> None:
        self.draw.line(_finer(ends), INK, round(width * FINER))

    def bar(self, field: tuple[float, float, float, float], representation: int) -> None:
        """A bar that stands on the floor of its field, the higher the better the representation."""
        left, top, right, bottom = field
        height = (bottom - top) * (0.28 + 0.72 * representation / (len(LADDER) - 1))
        outer = _finer((left + 1, bottom - height, right - 1, bottom))
        self.draw.rectangle(outer, COLOURS[representation], INK, FINER)

    def stall(self, field: tuple[float, float, float, float]) -> None:
        """Slanted stripes, which no colour can be taken for."""
        left, top, right, bottom = (round(edge) for edge in _finer(field))
        stripes = Image.new("RGB", (right - left, bottom - top), PAPER)
        pen = ImageDraw.Draw(stripes)
        for start in range(-stripes.height, stripes.width, 11 * FINER):
            pen.line((start, stripes.height, start + stripes.height, 0), FAINT, 4 * FINER)
        pen.rectangle((0, 0, stripes.width - 1, stripes.height - 1), None, INK, FINER)
        self.image.paste(stripes, (left, top))


def _finer(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(FINER * number for number in numbers)
