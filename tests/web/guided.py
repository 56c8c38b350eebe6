"""Guides and examples of all classes, for a competition of any study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from photos import eight_photos
from PIL import Image

from dissensus.competition.evaluation import Competition

GUIDE = "Look at the ears first"
MANY = 30


@contextmanager
def guided(folder: Path) -> Iterator[Path]:
    """Whatever is asked meanwhile, its classes have a guide and thirty examples, in files with telling names."""
    photos = eight_photos()
    paths = []
    for number in range(MANY):
        photo = photos[number % len(photos)]
        side = min(photo.size) - 5 * number
        paths.append(str(folder / f"secret-example-{number}.jpg"))
        photo.crop((number, number, side, side)).resize((200, 200)).save(paths[-1], exif=_exif("secret-camera"))

    def guide(_self: Competition, label: int) -> str:
        return f"{GUIDE}: class {label} carries them low, others do not.\nThe tail is white at the tip."

    def examples(_self: Competition, label: int) -> Sequence[str]:
        return paths[label % 8 :] + paths[: label % 8]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Competition, "guide", guide)
        patched.setattr(Competition, "examples", examples)
        yield folder


def _exif(words: str) -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = words
    return exif
