"""Seven real ImageNet classifiers, four by LiteRT and three by ONNX Runtime, compete on a folder of photos.

    python examples/photos/compete.py CLASSIFIERS_FOLDER PHOTOS_FOLDER… [--study STUDY]

Needs `pip install 'dissensus[onnx,litert]'`. Each model says in study.toml how it wants its input; the table below is
what one would write there. Nobody has judged these photos: the script ends with an answer sheet to click through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dissensus.study import Study

BACKGROUND_FIRST = {"class_offset": 1}  # 1,001 outputs; output 0 is background
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "mobilenet_v1_0.25": ("litert:mobilenet_v1_0.25_128_quant.tflite", BACKGROUND_FIRST),
    "mobilenet_v1_0.5": ("litert:mobilenet_v1_0.5_160_quant.tflite", BACKGROUND_FIRST),
    "mobilenet_v1_0.75": ("litert:mobilenet_v1_0.75_192_quant.tflite", BACKGROUND_FIRST),
    "mobilenet_v2": ("litert:mobilenet_v2_1.0_224_quant.tflite", BACKGROUND_FIRST),
    "squeezenet1.1": ("onnx:squeezenet1.1_gluon_fp16w.onnx", {}),
    "squeezenet1.0": (
        "onnx:squeezenet1.0_deepcompression_fp16w.onnx",
        {"channels": "bgr", "scale": 1.0, "mean": [104, 117, 123], "std": 1.0},
    ),
    "efficientnet_lite0": (
        "onnx:efficientnet_lite0_fp16w.onnx",
        {"resample": "bicubic", "scale": 1.0, "mean": 127, "std": 128},
    ),
}


def compete(classifiers: Path, photos: list[Path], folder: Path) -> Study:
    """Predict and select; the study, ready for people."""
    study = Study.init(folder, classes="imagenet", title="Seven small classifiers on photos")
    study.pool(photos)
    for name, (spec, preprocess) in MODELS.items():
        backend, file = spec.split(":")
        study.predict([f"{name}={backend}:{classifiers / file}"], preprocess)
    study.select(k=5, confidence=0.5)  # a few hundred photos: fewer items, and less sure models
    return study


def main() -> None:
    """Read the arguments, compete, print what the models disagree on most."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classifiers", type=Path)
    parser.add_argument("photos", type=Path, nargs="+")
    parser.add_argument("--study", type=Path, default=Path("photos-study"))
    given = parser.parse_args()
    study = compete(given.classifiers, given.photos, given.study)
    for row in study.selection():
        if row["rank"] == 1:
            print(f"{row['item']}: {said(row, 'first')}, {said(row, 'second')}; {row['discrepancy']:.4f} apart")
    sheet = given.study / "sheet.html"
    questions, status = study.questions(sheet), study.status()
    print(f"{status.pool} photos, {status.rounds[0].duels} duels, {status.rounds[0].items} photos selected")
    print(f"{len(questions)} open questions: {sheet}")


def said(row: dict[str, Any], side: str) -> str:
    """What one model of a duel said about an item."""
    return f"{row[side]} says {row[f'{side}_label']} ({row[f'{side}_confidence']:.2f})"


if __name__ == "__main__":
    main()
