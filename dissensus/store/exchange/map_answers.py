"""Masks in three forms: as they are answered, by run lengths; as arrays of labels; as PNG files of those numbers."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from dissensus.arrays import Array, Bool, UInt8
from dissensus.errors import JudgementError
from dissensus.labeling.kinds.mask import UNFIT
from dissensus.records import class_colours
from dissensus.store.tables import first_line

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
HEAD = struct.Struct(">8s4x4sIIBB")  # signature, name of the first part, width, height, bits and colour type
GREY = 0
COLOURED = {2: "RGB", 4: "grey with transparency", 6: "RGBA"}
KEPT_AS = "labels are kept as indexed or grey PNG of 8 bits"


def answer_of(labels: UInt8[Array, "H W"]) -> dict[str, Any]:
    """The answer to a question of the kind mask: label and length of every run, row by row, on past the row's end."""
    flat = labels.reshape(-1)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(starts, append=len(flat))
    runs = np.stack([flat[starts].astype(np.int64), lengths], axis=1)
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs.reshape(-1).tolist()}


def labels_of(answer: dict[str, Any]) -> UInt8[Array, "H W"]:
    """The labels of such an answer, pixel by pixel."""
    runs = np.array(answer["runs"], np.int64).reshape(-1, 2)
    return np.repeat(runs[:, 0].astype(np.uint8), runs[:, 1]).reshape(answer["height"], answer["width"])


def label_png(labels: UInt8[Array, "H W"]) -> bytes:
    """An indexed PNG of 8 bits whose numbers are the labels; each class has its colour."""
    image = Image.fromarray(np.ascontiguousarray(labels))
    image.putpalette([part for colour in class_colours() for part in colour])
    return _saved(image)


def bit_png(is_set: UInt8[Array, "H W"]) -> bytes:
    """A grey PNG of 8 bits with the numbers 0 and 1."""
    return _saved(Image.fromarray(np.ascontiguousarray(is_set)))


def png_labels(data: bytes) -> UInt8[Array, "H W"]:
    """The numbers of an indexed PNG, or of a grey one of 8 bits, without a colour being made of any.

    Raises:
        JudgementError: it is of another kind, damaged or enormous.
    """
    bits, colours = _checked_head(data)
    if colours in COLOURED:
        raise JudgementError(f"is {COLOURED[colours]}, whose colours say nothing of classes: {KEPT_AS}")
    if bits > 8 or (colours == GREY and bits < 8):  # fewer bits of grey are spread over 0 to 255
        raise JudgementError(f"has {bits} bits a pixel: {KEPT_AS}")
    return _pixels(data)


def png_bits(data: bytes) -> Bool[Array, "H W"]:
    """Where a PNG without colours is not zero.

    Raises:
        JudgementError: it has colours, or is damaged or enormous.
    """
    _, colours = _checked_head(data)
    if colours in COLOURED:
        raise JudgementError(f"is {COLOURED[colours]} where 0 and 1 are expected")
    return _pixels(data).astype(bool)


def refuse_enormous(width: int, height: int) -> None:
    """Refuse sizes that models and people are not shown either.

    Raises:
        JudgementError: there are more pixels than Pillow takes.
    """
    limit = Image.MAX_IMAGE_PIXELS
    if limit is not None and width * height > limit:
        raise JudgementError(f"{width}×{height} pixels are more than Pillow's limit of {limit}")


def _checked_head(data: bytes) -> tuple[int, int]:
    """Bits and colour type, which Pillow does not tell; the file is not unpacked before its size was looked at."""
    if not data.startswith(SIGNATURE) or len(data) < HEAD.size:
        raise JudgementError("is no PNG file")
    _, name, width, height, bits, colours = HEAD.unpack_from(data)
    if name != b"IHDR" or not width or not height:
        raise JudgementError("is a damaged PNG file")
    refuse_enormous(width, height)
    return bits, colours


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
