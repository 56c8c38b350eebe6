"""Photographs of scikit-learn, distorted as in databases of image quality, and measures of their quality."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import gaussian_filter, laplace, sobel
from sklearn.datasets import load_sample_images

QUALITY_MODELS = (
    "PSNR",
    "SSIM",
    "MS-SSIM",
    "gradient similarity",
    "sharpness",
    "JPEG size",
    "noise estimate",
    "contrast",
)
SIZE = (192, 128)
HARM = {"blur": 16.0, "noise": 11.0, "jpeg": 14.0, "darker": 4.5, "mosaic": 15.0}
"""Points of quality that people lose with every step of a distortion."""


def distorted(image: Image.Image, kind: str, step: int, seed: int) -> Image.Image:
    pixels = np.asarray(image, dtype=float)
    if kind == "blur":
        return image.filter(ImageFilter.GaussianBlur(0.5 * 1.5**step - 0.4))
    if kind == "jpeg":
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=(30, 17, 10, 6, 3)[step - 1])
        return Image.open(buffer).convert("RGB")
    if kind == "noise":
        pixels = pixels + np.random.default_rng(seed).normal(0, 5 * 1.6**step, pixels.shape)
    if kind == "darker":
        pixels = pixels * 0.87**step
    if kind == "mosaic":
        small = image.resize((SIZE[0] // (step + 1), SIZE[1] // (step + 1)), Image.Resampling.BOX)
        return small.resize(SIZE, Image.Resampling.NEAREST)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@cache
def photographs() -> tuple[list[str], list[Image.Image], list[Image.Image], np.ndarray]:
    """Ids, pictures, their undistorted originals, and how good people find them, 0 to 100."""
    china, flower = (Image.fromarray(image) for image in load_sample_images().images)
    corners = [(x, y) for x in (0, 150, 256) for y in (0, 171)]
    sources = [photo.crop((x, y, x + 384, y + 256)).resize(SIZE) for photo in (china, flower) for x, y in corners]
    ids, pictures, originals, quality = [], [], [], []
    for i, source in enumerate(sources):
        for kind, harm in HARM.items():
            for step in range(1, 6):
                ids.append(f"I{i + 1:02d}_{kind}_{step}.png")
                pictures.append(distorted(source, kind, step, 100 * i + step))
                originals.append(source)
                quality.append(96 - harm * (step + 0.2 * np.sin(i)))
    return ids, pictures, originals, np.clip(quality, 2, 98)


def ssim(one: np.ndarray, other: np.ndarray) -> float:
    means = gaussian_filter(one, 1.5), gaussian_filter(other, 1.5)
    spread = gaussian_filter(one**2, 1.5) - means[0] ** 2 + gaussian_filter(other**2, 1.5) - means[1] ** 2
    common = gaussian_filter(one * other, 1.5) - means[0] * means[1]
    luminance = (2 * means[0] * means[1] + 6.5) / (means[0] ** 2 + means[1] ** 2 + 6.5)
    return float((luminance * (2 * common + 58.5) / (spread + 58.5)).mean())


def raw_scores(picture: Image.Image, original: Image.Image) -> list[float]:
    grey, true = (np.asarray(image.convert("L"), dtype=float) for image in (picture, original))
    halves = [(grey[::n, ::n], true[::n, ::n]) for n in (1, 2, 4)]
    edges = [np.hypot(sobel(image, 0), sobel(image, 1)) for image in (grey, true)]
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=75)
    return [
        -float(((grey - true) ** 2).mean()),
        ssim(grey, true),
        float(np.prod([max(0.01, ssim(*half)) for half in halves])),
        float(((2 * edges[0] * edges[1] + 500) / (edges[0] ** 2 + edges[1] ** 2 + 500)).mean()),
        float(np.abs(laplace(grey)).mean()),
        float(len(buffer.getvalue())),
        -float(np.median(np.abs(grey[1:, 1:] - grey[:-1, 1:] - grey[1:, :-1] + grey[:-1, :-1]))) + grey.mean() / 90,
        float(grey.std()),
    ]
