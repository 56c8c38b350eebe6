"""Masks in three forms: run lengths (as answered), arrays of labels, and PNG files of those labels."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from dissensus.arrays import Array, Bool, UInt8
from dissensus.errors import JudgementError, first_line
from dissensus.images import excess, open_image
from dissensus.labeling.kinds.mask import UNFIT
from dissensus.records import class_colours

__all__ = [
    "KIND",
    "UNFIT",
    "answer_of",
    "bit_png",
    "label_png",
    "labels_of",
    "png_bits",
    "png_labels",
    "refuse_enormous",
]

KIND = "mask"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEAD = struct.Struct(">8s4x4sIIBB")  # signature, name of the first chunk, width, height, bit depth and colour type
GREY = 0
COLOURED = {2: "RGB", 4: "greyscale with transparency", 6: "RGBA"}
KEPT_AS = "save labels as an 8-bit indexed or greyscale PNG"


def answer_of(labels: UInt8[Array, "H W"]) -> dict[str, Any]:
    """The answer to a question of kind mask: label and length of every run, row by row; runs may span rows."""
    flat = labels.reshape(-1)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(starts, append=len(flat))
    runs = np.stack([flat[starts].astype(np.int64), lengths], axis=1)
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs.reshape(-1).tolist()}


def labels_of(answer: dict[str, Any]) -> UInt8[Array, "H W"]:
    """The label of every pixel in such an answer."""
    runs = np.array(answer["runs"], np.int64).reshape(-1, 2)
    return np.repeat(runs[:, 0].astype(np.uint8), runs[:, 1]).reshape(answer["height"], answer["width"])


def label_png(labels: UInt8[Array, "H W"]) -> bytes:
    """An 8-bit indexed PNG whose pixel values are the labels, with one colour per class."""
    image = Image.fromarray(np.ascontiguousarray(labels))
    image.putpalette([part for colour in class_colours() for part in colour])
    return _saved(image)


def bit_png(is_set: UInt8[Array, "H W"]) -> bytes:
    """An 8-bit greyscale PNG with pixel values 0 and 1."""
    return _saved(Image.fromarray(np.ascontiguousarray(is_set)))


def png_labels(data: bytes) -> UInt8[Array, "H W"]:
    """The raw pixel values of an indexed or 8-bit greyscale PNG, not converted to colours.

    Raises:
        JudgementError: it has another pixel format, is damaged, or is too large.
    """
    bits, colours = _checked_head(data)
    if colours in COLOURED:
        raise JudgementError(f"is {COLOURED[colours]}, and colours do not identify classes: {KEPT_AS}")
    if bits > 8 or (colours == GREY and bits < 8):  # Pillow scales shallower greyscale to 0–255
        raise JudgementError(f"has {bits} bits per pixel: {KEPT_AS}")
    return _pixels(data)


def png_bits(data: bytes) -> Bool[Array, "H W"]:
    """True where a PNG without colours is nonzero.

    Raises:
        JudgementError: it has colours, is damaged, or is too large.
    """
    _, colours = _checked_head(data)
    if colours in COLOURED:
        raise JudgementError(f"is {COLOURED[colours]}: expected pixels with the values 0 and 1")
    return _pixels(data).astype(bool)


def refuse_enormous(width: int, height: int) -> None:
    """Reject images too large to be shown to models or people.

    Raises:
        JudgementError: there are more pixels than Pillow allows.
    """
    if reason := excess(width, height):
        raise JudgementError(reason)


def _checked_head(data: bytes) -> tuple[int, int]:
    """Bit depth and colour type, which Pillow does not report; checks the size before anything is decompressed."""
    if not data.startswith(SIGNATURE) or len(data) < HEAD.size:
        raise JudgementError("is not a PNG file")
    _, name, width, height, bits, colours = HEAD.unpack_from(data)
    if name != b"IHDR" or not width or not height:
        raise JudgementError("is a damaged PNG file")
    refuse_enormous(width, height)
    return bits, colours


def _pixels(data: bytes) -> Array:
    try:
        with open_image(BytesIO(data), ("PNG",)) as image:
            image.verify()  # checks every chunk's checksum, which decoding does not
        with open_image(BytesIO(data), ("PNG",)) as image:
            return np.array(image)
    except MemoryError:
        raise
    except UnidentifiedImageError:  # its message contains an object's address
        raise JudgementError("is a damaged PNG file") from None
    except Exception as error:  # damaged files make Pillow raise almost anything, even SyntaxError and struct.error
        raise JudgementError(f"is a damaged PNG file ({first_line(error)})") from None


def _saved(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", optimize=False)
    return file.getvalue()
