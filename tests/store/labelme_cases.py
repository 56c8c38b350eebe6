"""Files of LabelMe with shapes, and what is read from them."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from mask_cases import MANY, labels
from PIL import Image

from dissensus.records import Classes, Response
from dissensus.store.exchange import read_responses

ITEMS = {"a.jpg", "b.jpg", "0.jpg", "1.jpg"}


def bits(pixels: Any) -> str:
    """A mask as LabelMe writes it: zeros and ones as a grey PNG in base64."""
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, format="PNG")
    return base64.b64encode(file.getvalue()).decode("utf-8")


def shape(label: str, points: list[list[float]], kind: str = "polygon", mask: str | None = None) -> dict[str, Any]:
    """As LabelMe 5 writes it."""
    fields = {"label": label, "points": points, "group_id": None, "description": "", "shape_type": kind, "flags": {}}
    return {**fields, "mask": mask}


def labelme(*shapes: Any, **changes: Any) -> dict[str, Any]:
    """A file as LabelMe 5 writes it, of an image 8 wide and 6 high."""
    content = {
        "version": "5.5.0",
        "flags": {},
        "shapes": [*shapes],
        "imagePath": "..\\photos\\a.jpg",
        "imageData": "/9j/4AAQSkZJRgABAQ==",
        "imageHeight": 6,
        "imageWidth": 8,
    }
    return content | changes


def stored(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def read_all(path: Path, classes: Classes = MANY, task: str | None = "masks", **options: Any) -> list[Response]:
    return list(read_responses(path, classes, ITEMS.__contains__, "labelme", task=task, **options))


def drawn(tmp_path: Path, *shapes: Any, **changes: Any) -> list[list[int]]:
    (found,) = read_all(stored(tmp_path / "a.json", labelme(*shapes, **changes)))
    return labels(found.answer)
