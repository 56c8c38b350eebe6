"""A laconic test made up for the page: numbers like the paper's, and real photographs that are really reduced."""

from __future__ import annotations

from functools import cache

import numpy as np
from made_laconic import REDUCTIONS, made
from PIL import Image
from sklearn.datasets import load_sample_images

from dissensus.records import Laconic
from dissensus.reductions.entropy import png
from dissensus.reductions.findings import result_of
from dissensus.reductions.pictures import reduction_named
from dissensus.report.laconic.data import LaconicReport, Levels, Shown

SIDE = 224
NEEDS = {"SqueezeNet": 0.55, "GoogLeNet": 0.66, "ResNet50": 0.74, "SE-ResNet50": 0.8, "people": 0.7}
"""How far, from 0 to 1, each classifier's images are reduced."""


@cache
def photos() -> dict[str, np.ndarray]:
    """Two photographs, their central squares."""
    made = {}
    for name, pixels in zip(("vehicle-270", "flower-075"), load_sample_images().images, strict=True):
        image = Image.fromarray(pixels)
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        made[name] = np.asarray(image.crop((left, top, left + side, top + side)).resize((SIDE, SIDE)))
    return made


@cache
def picture(image: str, levels: Levels, reduction: str) -> bytes:
    return png(reduction_named(reduction)(photos()[image], levels))


def path(reduction: str, share: float) -> tuple[Levels, ...]:
    """Every axis goes this share of the way to nothing, in equal parts."""
    end = np.array(reduction_named(reduction).nothing((SIDE, SIDE)))
    if reduction != "crop":
        share **= 0.35 if reduction == "colour" else 0.6
    return tuple(tuple((end * share * step / 60).astype(int).tolist()) for step in range(61))


def shown(classifiers: tuple[str, ...]) -> tuple[Shown, ...]:
    """The MEPIs of all classifiers; SqueezeNet does not recognise the flower."""
    found = []
    for image in photos():
        for name in classifiers:
            if (name, image) == ("SqueezeNet", "flower-075"):
                continue
            for reduction in REDUCTIONS:
                way = path(reduction, NEEDS.get(name, 0.5))
                size, whole = (len(picture(image, levels, reduction)) for levels in (way[-1], way[0]))
                found.append(Shown(image, image.partition("-")[0], name, reduction, way, size, whole))
    return tuple(found)


def report(laconic: Laconic | None = None, **options: object) -> LaconicReport:
    """A page's data; by default with people, photographs and the numbers of the paper."""
    laconic = made() if laconic is None else laconic
    defaults = {
        "title": "How little is enough? Four networks and people",
        "shown": shown(laconic.classifiers),
        "picture": picture,
        "settings": {"side": "224", "spacing": "geometric"},
        "notes": ("All numbers on this page are made up.",),
        "study": "animals",
    }
    return LaconicReport(result=result_of(laconic, resamples=500), **(defaults | options))
