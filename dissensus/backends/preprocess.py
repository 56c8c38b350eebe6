"""How images become the input that a network was trained on; set per model in study.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from PIL import Image
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from dissensus.arrays import Array
from dissensus.backends.decode import as_rgb
from dissensus.errors import BackendError
from dissensus.predictions.top5 import OutputKind
from dissensus.records import Record

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

Size = int | tuple[int, int]
"""Side of a square in pixels, or height and width if they differ."""
Layout = Literal["auto", "nchw", "nhwc", "flat"]
PerChannel = Annotated[
    tuple[Annotated[float, Field(allow_inf_nan=False)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, int | float) else value),
]


class Preprocess(Record):
    """Settings of one model: central square -> `size`×`size` -> (pixel·scale − mean)/std -> layout.

    Models with 8-bit unsigned input get the pixels 0..255 as they are; Python callables get the image itself and use
    only `outputs` and `class_offset`. For timm, settings default to the model's own configuration.
    """

    size: Annotated[int, Field(ge=1)] | None = None
    """Side in pixels; defaults to what the model declares."""
    crop: Annotated[float, Field(gt=0, le=1)] = 0.875
    """Side of the central square as a share of the image's shorter side."""
    resample: Literal["bilinear", "bicubic", "nearest"] = "bilinear"
    channels: Literal["rgb", "bgr", "gray"] = "rgb"
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1 / 255
    """Multiplies the pixels 0..255 before the mean is subtracted."""
    mean: PerChannel | None = None
    """One number, or one per channel in the order fed to the model; defaults to ImageNet's, and 0 for gray."""
    std: PerChannel | None = None
    """Like `mean`; defaults to ImageNet's, and 1 for gray."""
    layout: Layout = "auto"
    outputs: OutputKind = "auto"
    class_offset: Literal[0, 1] = 0
    """1 if the first output is a background class."""

    takes_rectangles: ClassVar[bool] = False
    """False, as a central square would not fill a rectangle."""

    @model_validator(mode="after")
    def _fits_channels(self) -> Preprocess:
        for name, values in (("mean", self.mean), ("std", self.std)):
            if values is not None and len(values) not in (1, self.depth):
                raise ValueError(
                    f"{name} has {len(values)} numbers for {self.depth} channels ({self.channels}): "
                    "give one, or one per channel"
                )
        if self.std is not None and min(self.std) <= 0:
            raise ValueError("std has a value that is not positive: give positive numbers")
        return self

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Read a preprocess table of study.toml.

        Raises:
            BackendError: a key is unknown or a value is invalid.
        """
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(["preprocess", *(str(part) for part in first["loc"])])
            known = f"; known keys: {', '.join(cls.known_keys())}" if first["type"] == "extra_forbidden" else ""
            raise BackendError(f"{key}: {first['msg'].removeprefix('Value error, ')}{known}") from error

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        return tuple(cls.model_fields)

    @property
    def depth(self) -> int:
        """Number of channels fed to the model."""
        return 1 if self.channels == "gray" else 3

    def per_channel(self, name: Literal["mean", "std"]) -> Array:
        """The mean to subtract or the std to divide by, in the order of the channels."""
        given = self.mean if name == "mean" else self.std
        if given is not None:
            return np.asarray(given, dtype=np.float32)
        if self.channels == "gray":
            return np.asarray([0.0 if name == "mean" else 1.0], dtype=np.float32)
        imagenet = IMAGENET_MEAN if name == "mean" else IMAGENET_STD
        return np.asarray(imagenet[:: -1 if self.channels == "bgr" else 1], dtype=np.float32)

    @property
    def filter(self) -> Image.Resampling:
        """Pillow's name for `resample`."""
        return Image.Resampling[self.resample.upper()]

    def framed(self, image: Image.Image, size: Size) -> Image.Image:
        """The part of an image that the network sees, at its size: the central square.

        The filter also uses pixels around the square, as in the usual 'resize, then crop'.
        """
        side = self.crop * min(image.size)
        left, top = (image.width - side) / 2, (image.height - side) / 2
        height, width = sides(size)
        return image.resize((width, height), self.filter, box=(left, top, left + side, top + side))


def size_of(height: int, width: int) -> Size:
    """One number if they are the same, otherwise both."""
    return height if height == width else (height, width)


def sides(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def pixels(image: Image.Image, preprocess: Preprocess, size: Size, *, raw: bool = False) -> Array:
    """The image as height×width×channels: float32 and normalised, or `raw` uint8."""
    image = as_rgb(image)
    if preprocess.channels == "gray":
        image = image.convert("L")
    array = np.asarray(preprocess.framed(image, size)).reshape(*sides(size), preprocess.depth)
    if preprocess.channels == "bgr":
        array = array[:, :, ::-1]
    return array if raw else normalised(array, preprocess)


def normalised(array: Array, preprocess: Preprocess) -> Array:
    """Pixels 0..255 with the channels last as a network takes them: (pixel·scale − mean)/std in float32."""
    scaled = array.astype(np.float32) * np.float32(preprocess.scale)
    return (scaled - preprocess.per_channel("mean")) / preprocess.per_channel("std")
