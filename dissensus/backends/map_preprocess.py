"""How images are prepared for models that predict masks: they see the whole image, as every pixel gets a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
from PIL import Image
from pydantic import BeforeValidator, model_validator

from dissensus.backends.label_sets import LABEL_SETS, Labels
from dissensus.backends.preprocess import Preprocess, Size, sides, size_of


def _labels(value: object) -> object:
    if isinstance(value, str) and value in LABEL_SETS:
        return value
    if isinstance(value, list | tuple) and value and all(type(label) in (str, int) for label in value):
        return tuple(value)
    raise ValueError(
        f"'{value}' is not a list of labels: give {' or '.join(LABEL_SETS)}, or a name or number per output"
    )


def _size(value: object) -> Size | None:
    pair = (value, value) if type(value) is int else value
    if pair is None:
        return None
    if not isinstance(pair, list | tuple) or len(pair) != 2 or any(type(side) is not int or side < 1 for side in pair):
        raise ValueError(f"{value!r} is not a size: give a whole number of pixels, or [height, width]")
    return size_of(*pair)


class MapPreprocess(Preprocess):
    """Settings of one model that predicts masks: image -> `size` -> (pixel·scale − mean)/std -> layout."""

    size: Annotated[Size | None, BeforeValidator(_size)] = None  # type: ignore[assignment]  # wider than in the base class
    """Side in pixels, or height and width; defaults to what the model declares."""
    fit: Literal["stretch", "letterbox"] = "stretch"
    """Stretch the image to that size, or keep its proportions and pad it; the padding is cut off the map again."""
    labels: Annotated[Labels | None, BeforeValidator(_labels)] = None
    """What each output index means: the name of a known list, or names or numbers of classes; defaults to the study's
    classes."""
    classes_axis: Literal["auto", "first", "last"] = "auto"
    """Which axis of one image's scores holds the classes; auto: the one whose length fits."""

    takes_rectangles: ClassVar[bool] = True
    UNFIT: ClassVar[dict[str, str]] = {
        "crop": "a mask covers the whole image",
        "outputs": "only the highest score counts",
        "class_offset": "labels says what the outputs mean",
    }

    @model_validator(mode="after")
    def _fits_maps(self) -> MapPreprocess:
        unfit = [name for name in self.UNFIT if name in self.model_fields_set]
        if unfit:
            raise ValueError(
                f"{unfit[0]} does not apply to models that predict masks, as {self.UNFIT[unfit[0]]}: leave it out"
            )
        if self.layout == "flat":
            raise ValueError("layout 'flat' cannot represent a mask: use nchw or nhwc")
        return self

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        return tuple(name for name in cls.model_fields if name not in cls.UNFIT)

    def framed(self, image: Image.Image, size: Size) -> Image.Image:
        """The whole image, stretched to the size or, in its own proportions, at the upper left of a frame of that size.

        The rest of the frame has the colour that normalises to zero.
        """
        height, width = sides(size)
        inner = image.resize(self.inner_size(image, size), self.filter)
        if inner.size == (width, height):
            return inner
        frame = Image.new(image.mode, (width, height), self._fill(image.mode))
        frame.paste(inner)
        return frame

    def inner_size(self, image: Image.Image, size: Size) -> tuple[int, int]:
        """Width and height of the image within the frame: the relatively longer side fills it."""
        height, width = sides(size)
        if self.fit == "stretch":
            return width, height
        if image.width * height >= image.height * width:
            return width, _scaled(image.height, width, image.width)
        return _scaled(image.width, height, image.height), height

    def _fill(self, mode: str) -> int | tuple[int, ...]:
        mean = np.rint(self.per_channel("mean") / self.scale).clip(0, 255).astype(int).tolist()
        if mode == "L":
            return int(mean[0])
        colour = mean * (3 if len(mean) == 1 else 1)
        return tuple(colour[::-1] if self.channels == "bgr" else colour)


def _scaled(side: int, new: int, old: int) -> int:
    """The side, scaled by `new` / `old` and rounded to whole pixels, halves up; at least one."""
    return max(1, (2 * side * new + old) // (2 * old))


def map_preprocess(settings: Mapping[str, object]) -> MapPreprocess:
    """Read a preprocess table of study.toml, for a model that predicts masks.

    Raises:
        BackendError: a key is unknown or does not apply to masks, or a value is invalid.
    """
    return MapPreprocess.read(settings)
