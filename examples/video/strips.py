"""Seven real ImageNet classifiers along two real clips: their labels frame by frame, as strips.

    python examples/video/strips.py CLASSIFIERS_FOLDER VIDEO_FOLDER STUDY_FOLDER

Needs `pip install 'dissensus[onnx,litert]'`, and the example frames of ImageNet-Vid-Robust and YTBB-Robust that come
with imagenet-testbed: 21 frames around an anchor each, in vid_robust_examples/ and ytbb_robust_examples/. The first
clip is labelled in the public metadata (a turtle); the second shows a cat. Classes are the 30 of ImageNet-Vid, to which
the networks' 1,000 classes are mapped along WordNet: a terrapin is a turtle.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dissensus.records import VideoResult
from dissensus.study import Study

CLIPS = {"vid_robust_examples": ("442", "turtle"), "ytbb_robust_examples": ("732", "domestic cat")}
"""Folders with the number of the anchor and its class."""
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


def collect(video: Path, folder: Path) -> Study:
    """The study of the two clips."""
    folder.mkdir(parents=True, exist_ok=True)
    labels, anchors = folder / "labels.csv", folder / "anchors.csv"
    labels.write_text("clip,label\n" + "".join(f"{clip},{label}\n" for clip, (_, label) in CLIPS.items()))
    anchors.write_text("clip,frame\n" + "".join(f"{clip},{number}\n" for clip, (number, _) in CLIPS.items()))
    study = Study.init(folder / "study", classes="imagenet", title="Two clips")
    study.video_collect([video / clip for clip in CLIPS], labels, anchors=anchors, classes="imagenet-vid")
    return study


def predict(study: Study, classifiers: Path) -> None:
    """Add all models to study.toml, each with its own preprocessing, and run them in one pass over the frames."""
    lines = []
    for name, (spec, preprocess) in MODELS.items():
        backend, file = spec.split(":")
        lines += [f'\n[models."{name}"]', f'backend = "{backend}"', f"target = {json.dumps(str(classifiers / file))}"]
        lines += [f"preprocess.{key} = {json.dumps(value)}" for key, value in preprocess.items()]
    with study.folder.settings.open("a", encoding="utf-8") as settings:
        settings.write("\n".join(lines) + "\n")
    study.video_predict()


def main() -> None:
    """Read the arguments, predict, print the strips and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classifiers", type=Path)
    parser.add_argument("video", type=Path)
    parser.add_argument("study", type=Path)
    given = parser.parse_args()
    study = collect(given.video, given.study)
    predict(study, given.classifiers)
    result = study.video_result(distances=True)
    for line in (*result.words, *result.notes, *strip_lines(result)):
        print(line)
    print(f"page: {study.video_report(result=result)}")


def strip_lines(result: VideoResult) -> list[str]:
    """Every model along every clip: a dot where it is right, a cross where it is wrong, and its labels."""
    lines = []
    for strip in result.strips:
        lines.append(f"{strip.anchor}: {', '.join(strip.truth)}")
        for row in strip.rows:
            marks = "".join("." if is_right else "x" for is_right in row.is_right)
            lines.append(f"  {row.model:20} {marks}  {', '.join(dict.fromkeys(row.labels))}")
    return lines


if __name__ == "__main__":
    main()
