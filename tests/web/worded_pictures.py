"""Picture files with words hidden in every place that a format has for them."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin
from PIL.TiffImagePlugin import ImageFileDirectory_v2

SECRET = "zzmodelalpha"
ORIENTATION, SOFTWARE, DESCRIPTION = 0x0112, 0x0131, 0x010E
EXIF_IFD, USER_COMMENT = 0x8769, 0x9286


def colours(mode: str = "RGB", size: tuple[int, int] = (40, 24)) -> Image.Image:
    """A picture in which no two corners are alike."""
    across, down = np.meshgrid(np.linspace(0, 255, size[0]), np.linspace(0, 255, size[1]))
    channels = {"L": 1, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    layers = [across, down, 255 - across, 128 + down / 2][:channels]
    pixels = np.stack(layers, axis=-1).round().astype(np.uint8)
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode)


def exif(orientation: int = 1) -> bytes:
    """A camera's words, and how it was held."""
    found = Image.Exif()
    found[ORIENTATION], found[SOFTWARE], found[DESCRIPTION] = orientation, SECRET, f"made by {SECRET}"
    found.get_ifd(EXIF_IFD)[USER_COMMENT] = SECRET.encode()
    return found.tobytes()


def xmp() -> bytes:
    return f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><r dc="{SECRET}"/></x:xmpmeta>'.encode()


def profile(swaps_red_and_green: bool = False) -> bytes:
    """An sRGB profile with the secret for a description; or one that shows red as green, to see whether it is used."""
    made = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    (count,) = struct.unpack_from(">I", made, 128)
    table = {bytes(made[132 + 12 * n : 136 + 12 * n]): 132 + 12 * n for n in range(count)}
    if swaps_red_and_green:
        red, green = table[b"rXYZ"], table[b"gXYZ"]
        made[red + 4 : red + 12], made[green + 4 : green + 12] = made[green + 4 : green + 12], made[red + 4 : red + 12]
    words = b"desc" + bytes(4) + struct.pack(">I", len(SECRET) + 1) + SECRET.encode() + bytes(100)
    at = table[b"desc"]
    struct.pack_into(">II", made, at + 4, len(made), len(words))
    made[48:56] = b"zzmodela"  # who built the device, and what they call it
    made += words
    struct.pack_into(">I", made, 0, len(made))
    return bytes(made)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def worded_jpeg(image: Image.Image, orientation: int = 1, **options: Any) -> bytes:
    """A JPEG file with words before, between and behind its pixels."""
    data = saved(
        image,
        "JPEG",
        quality=90,
        exif=exif(orientation),
        comment=SECRET.encode(),
        xmp=xmp(),
        icc_profile=profile() if image.mode == "RGB" else None,
        **options,
    )
    jfif_thumbnail = _segment(0xE0, b"JFXX\0\x10" + SECRET.encode())
    data = data[:2] + jfif_thumbnail + _segment(0xEC, SECRET.encode()) + b"\xff\xff" + data[2:]
    scan = data.rindex(b"\xff\xda")  # of several, where it is progressive
    data = data[:scan] + _segment(0xFE, SECRET.encode()) + data[scan:]
    return data + SECRET.encode() + b"\xff\xd9"


def worded_png(image: Image.Image, **options: Any) -> bytes:
    """A PNG file with every kind of text chunk, a time, a profile's name, a chunk of somebody's own, and a tail."""
    text = PngImagePlugin.PngInfo()
    text.add_text("Software", SECRET)
    text.add_text("Comment", SECRET * 20, zip=True)
    text.add_itxt("XML:com.adobe.xmp", xmp().decode())
    text.add(b"prVt", SECRET.encode())
    text.add(b"tIME", bytes(7))
    colour = {"icc_profile": profile()} if image.mode in ("RGB", "RGBA") else {}
    data = saved(image, "PNG", pnginfo=text, exif=exif(), **colour, **options)
    split = data.rindex(b"IEND") - 4
    late = png_chunk(b"tEXt", b"Author\0" + SECRET.encode())
    return data[:split] + late + data[split:] + SECRET.encode()


def worded_tiff(image: Image.Image, **options: Any) -> bytes:
    tags = ImageFileDirectory_v2()
    tags[SOFTWARE] = SECRET
    return saved(image, "TIFF", tiffinfo=tags, **options)


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def huge_png() -> bytes:
    """A few bytes that say they are 60,000 by 60,000 pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(60_000))
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", pixels) + png_chunk(b"IEND", b"")


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content
