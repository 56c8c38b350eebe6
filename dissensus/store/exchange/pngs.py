"""PNG files as arrays of the numbers that they hold, without a colour being made of any."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from dissensus.arrays import Array, UInt8
from dissensus.errors import JudgementError
from dissensus.records import class_colours
from dissensus.store.exchange.map_answers import refuse_enormous
from dissensus.store.tables import first_line

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEAD = struct.Struct(">4x4sIIBB")  # of the first part: its name, width, height, bits and colour type
GREY, INDEXED = 0, 3
COLOURED = {2: "RGB", 4: "grey with transparency", 6: "RGBA"}
KEPT_AS = "labels are kept as indexed or grey PNG of 8 bits"


@dataclass(frozen=True)
class Head:
    """What a PNG file says of itself."""

    width: int
    height: int
    bits: int
    colours: int


def label_png(labels: UInt8[Array, "H W"]) -> bytes:
    """An indexed PNG of 8 bits whose numbers are the labels; each class has its colour."""
    image = Image.fromarray(np.ascontiguousarray(labels))
    image.putpalette([part for colour in class_colours() for part in colour])
    return _saved(image)


def bit_png(is_set: UInt8[Array, "H W"]) -> bytes:
    """A grey PNG of 8 bits with the numbers 0 and 1."""
    return _saved(Image.fromarray(np.ascontiguousarray(is_set)))


def png_labels(data: bytes) -> UInt8[Array, "H W"]:
    """The numbers of an indexed PNG, or of a grey one of 8 bits.

    Raises:
        JudgementError: it is of another kind, damaged or enormous.
    """
    head = _head(data)
    if head.colours in COLOURED:
        raise JudgementError(f"is {COLOURED[head.colours]}, whose colours say nothing of classes: {KEPT_AS}")
    if head.bits > 8 or (head.colours == GREY and head.bits < 8):  # fewer bits of grey are spread over 0 to 255
        raise JudgementError(f"has {head.bits} bits a pixel: {KEPT_AS}")
    return _pixels(data)


def png_bits(data: bytes) -> Array:
    """Where a PNG without colours is not zero.

    Raises:
        JudgementError: it has colours, or is damaged or enormous.
    """
    if _head(data).colours in COLOURED:
        raise JudgementError(f"is {COLOURED[_head(data).colours]} where 0 and 1 are expected")
    return _pixels(data).astype(bool)


def _head(data: bytes) -> Head:
    if not data.startswith(SIGNATURE) or len(data) < len(SIGNATURE) + HEAD.size:
        raise JudgementError("is no PNG file")
    name, width, height, bits, colours = HEAD.unpack_from(data, len(SIGNATURE))
    if name != b"IHDR" or not width or not height:
        raise JudgementError("is a damaged PNG file")
    refuse_enormous(width, height)
    return Head(width, height, bits, colours)


def _pixels(data: bytes) -> Array:
    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            image.verify()  # the checksums of all parts, which nobody looks at otherwise
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            return np.array(image)
    except MemoryError:
        raise
    except UnidentifiedImageError:  # its words hold the address of an object
        raise JudgementError("is a damaged PNG file") from None
    except Exception as error:  # damaged files make Pillow raise nearly anything, SyntaxError and struct.error included
        raise JudgementError(f"is a damaged PNG file ({first_line(error)})") from None


def _saved(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", optimize=False)
    return file.getvalue()
