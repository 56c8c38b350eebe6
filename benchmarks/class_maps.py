"""Class maps to measure with: made by a documented generator, or by the real networks of the data kit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from dissensus.arrays import Array, Float, UInt8
from dissensus.predictions.maps import resized
from dissensus.records import BACKGROUND

SEED = 20_210_101
SIZE, CLASSES, MODELS = 512, 21, 10
CORNERS, WAVES = 120, 6
SPECKS = 3
MISSED, MISTAKEN, INVENTED = 0.08, 0.12, 0.3


@dataclass(frozen=True)
class Blob:
    """An object with a smooth border: a circle whose radius is a sum of a few waves around its middle."""

    middle: Float[Array, " 2"]
    radius: float
    waves: Float[Array, "waves 2"]
    label: int

    @classmethod
    def random(cls, rng: np.random.Generator, smallest: float, largest: float) -> Blob:
        """One anywhere in the picture, its radius between two shares of the picture's side."""
        radius = SIZE * np.exp(rng.uniform(np.log(smallest), np.log(largest)))
        waves = rng.normal(0, 0.25, (WAVES, 2)) / np.arange(1, WAVES + 1)[:, None]
        return cls(rng.uniform(0, SIZE, 2), float(radius), waves, int(rng.integers(1, CLASSES)))

    def seen_again(self, rng: np.random.Generator) -> Blob:
        """As another model sees it: a border some pixels off, here and there more, and at times another class."""
        waves = self.waves + rng.normal(0, 0.04, self.waves.shape)
        label = int(rng.integers(1, CLASSES)) if rng.random() < MISTAKEN else self.label
        return Blob(self.middle + rng.normal(0, 2, 2), self.radius * float(np.exp(rng.normal(0, 0.03))), waves, label)

    def drawn(self, canvas: ImageDraw.ImageDraw) -> None:
        """Paint it over what is there."""
        angles = 2 * np.pi * np.arange(CORNERS) / CORNERS
        turns = np.arange(1, WAVES + 1)[:, None] * angles
        scale = np.exp(self.waves[:, :1] * np.cos(turns) + self.waves[:, 1:] * np.sin(turns)).prod(axis=0)
        corners = self.middle + (self.radius * scale * np.stack([np.cos(angles), np.sin(angles)])).T
        canvas.polygon([tuple(corner) for corner in corners.tolist()], fill=self.label)


def generated(images: int, models: int = MODELS) -> UInt8[Array, "n M H W"]:
    """Maps of one to six objects on a background; every model has its own version of the same objects.

    A model shifts and bends each border, misses one object in twelve, names one in eight otherwise, now and then sees
    one more, and has a few specks and holes, as networks do. With these numbers the runs of a map are as many as those
    of real networks: `masks.py --kit` prints both.
    """
    rng = np.random.default_rng(SEED)
    maps = np.empty((images, models, SIZE, SIZE), np.uint8)
    for image in range(images):
        objects = [Blob.random(rng, 0.05, 0.35) for _ in range(rng.integers(1, 7))]
        for model in range(models):
            maps[image, model] = _drawn(_version(objects, rng))
    return maps


def _version(objects: list[Blob], rng: np.random.Generator) -> list[Blob]:
    seen = [one.seen_again(rng) for one in objects if rng.random() >= MISSED]
    if rng.random() < INVENTED:
        seen.append(Blob.random(rng, 0.03, 0.1))
    labels = [BACKGROUND, *(one.label for one in seen)]
    specks = [Blob.random(rng, 0.005, 0.02) for _ in range(rng.poisson(SPECKS))]
    return seen + [replace(speck, label=int(rng.choice(labels))) for speck in specks]


def _drawn(objects: list[Blob]) -> UInt8[Array, "H W"]:
    picture = Image.new("L", (SIZE, SIZE))
    canvas = ImageDraw.Draw(picture)
    for one in objects:
        one.drawn(canvas)
    return np.asarray(picture)


def pets(kit: Path, images: int) -> list[Path]:
    """Photos of all breeds."""
    photos = sorted((kit / "photos" / "pets" / "images").glob("*.jpg"))
    return photos[:: max(1, len(photos) // images)][:images]


def of_networks(kit: Path, images: int) -> UInt8[Array, "n M H W"]:
    """Maps of pets by ten models: both DeepLab networks of the kit, each with five ways to show it the photo."""
    photos = pets(kit, images)
    networks = [_network(path) for path in sorted((kit / "segmentation").glob("deeplab*.tflite"))]
    maps = np.empty((len(photos), len(networks) * len(VIEWS), SIZE, SIZE), np.uint8)
    for number, path in enumerate(photos):
        photo = Image.open(path).convert("RGB")
        for model, (network, view) in enumerate(product(networks, VIEWS)):
            maps[number, model] = resized(np.ascontiguousarray(view(network, photo)), SIZE, SIZE)
    return maps


Network = Callable[[Image.Image], UInt8[Array, "h w"]]


def _network(path: Path) -> Network:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path), num_threads=os.cpu_count())
    interpreter.allocate_tensors()
    entry, result = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    side = int(entry["shape"][1])

    def labels(photo: Image.Image) -> UInt8[Array, "h w"]:
        interpreter.set_tensor(entry["index"], np.asarray(photo.resize((side, side)), np.uint8)[None])
        interpreter.invoke()
        return np.asarray(interpreter.get_tensor(result["index"])[0], np.uint8)

    return labels


def _flipped(network: Network, photo: Image.Image) -> UInt8[Array, "h w"]:
    return network(photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT))[:, ::-1]


def _smaller(share: float) -> Callable[[Network, Image.Image], UInt8[Array, "h w"]]:
    """The photo shrunk in the corner of a grey picture: the network sees everything smaller."""

    def labels(network: Network, photo: Image.Image) -> UInt8[Array, "h w"]:
        width, height = (round(share * side) for side in photo.size)
        shown = Image.new("RGB", photo.size, (127, 127, 127))
        shown.paste(photo.resize((width, height)))
        found = network(shown)
        return found[: round(share * found.shape[0]), : round(share * found.shape[1])]

    return labels


VIEWS: tuple[Callable[[Network, Image.Image], UInt8[Array, "h w"]], ...] = (
    lambda network, photo: network(photo),
    _flipped,
    _smaller(0.9),
    _smaller(0.75),
    _smaller(0.6),
)
