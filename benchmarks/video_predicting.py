"""Seven networks along clips: one pass over the frames for all of them, against one network after the other.

    python benchmarks/video_predicting.py CLASSIFIERS_FOLDER FRAMES_FOLDER [--copies 8]

Needs the seven networks of examples/photos, and a folder of frames. Prints how often each frame is decoded, how busy
the cores are, and how long each way takes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dissensus.backends.guard import Guarded
from dissensus.steps import predicting
from dissensus.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "video"))


def prepared(frames: Path, folder: Path, copies: int) -> Study:
    """A study of several copies of the clip: every copy is a clip of its own."""
    labels = ["clip,label"]
    for number in range(copies):
        shutil.copytree(frames, folder / "clips" / f"clip{number}")
        labels.append(f"clip{number},turtle")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n")
    study = Study.init(folder / "study", classes="imagenet")
    study.video_collect([folder / "clips"], folder / "labels.csv", classes="imagenet-vid", k=100)
    return study


def measured(act: Callable[[], Any]) -> dict[str, float]:
    """Seconds, seconds of CPU per second, work at a time, and how often frames are decoded.

    Work at a time is how many frames are being decoded, or batches predicted, at any moment on average: on a machine
    that is busy with other things, it shows better than CPU time whether there is work for all cores.
    """
    read: Counter[str] = Counter()
    busy: list[float] = []
    decode, run = predicting.read_image, Guarded.predict

    def decoded(uri: Any) -> Any:
        begun = time.perf_counter()
        read[str(uri)] += 1
        image = decode(uri)
        busy.append(time.perf_counter() - begun)
        return image

    def predicted(model: Guarded, images: Any) -> Any:
        begun = time.perf_counter()
        found = run(model, images)
        busy.append(time.perf_counter() - begun)
        return found

    predicting.read_image, Guarded.predict = decoded, predicted  # type: ignore[assignment, method-assign]
    begun, used = time.perf_counter(), time.process_time()
    try:
        act()
    finally:
        predicting.read_image, Guarded.predict = decode, run  # type: ignore[method-assign]
    seconds = time.perf_counter() - begun
    return {
        "seconds": seconds,
        "cpu": time.process_time() - used,
        "at_a_time": sum(busy) / seconds,
        "frames": len(read),
        "decoded": sum(read.values()) / max(len(read), 1),
    }


def main() -> None:
    """Measure both ways, and print them."""
    from strips import MODELS, predict  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classifiers", type=Path)
    parser.add_argument("frames", type=Path)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for way in ("one after the other", "one pass"):
        with tempfile.TemporaryDirectory() as place:
            study = prepared(given.frames, Path(place), given.copies)
            if way == "one pass":
                found[way] = measured(lambda study=study: predict(study, given.classifiers))  # type: ignore[misc]
                continue

            def each(study: Study = study) -> None:
                for name, (spec, preprocess) in MODELS.items():
                    backend, file = spec.split(":")
                    study.predict([f"{name}={backend}:{given.classifiers / file}"], preprocess)

            found[way] = measured(each)
    if given.json:
        print(json.dumps(found, indent=1))
        return
    for way, one in found.items():
        print(
            f"{way}: {one['seconds']:.1f} s, {one['cpu']:.1f} s of CPU, {one['at_a_time']:.1f} things at a time on "
            f"{os.cpu_count()} cores; {one['frames']:.0f} frames, each decoded {one['decoded']:.1f} times"
        )
    first, second = found.values()
    print(f"ratio of seconds {first['seconds'] / second['seconds']:.2f}, of CPU {first['cpu'] / second['cpu']:.2f}")


if __name__ == "__main__":
    main()
