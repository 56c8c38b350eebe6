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
    """Seconds, seconds of CPU per second, and how often frames are decoded."""
    read: Counter[str] = Counter()
    original = predicting.read_image

    def counted(uri: Any) -> Any:
        read[str(uri)] += 1
        return original(uri)

    predicting.read_image = counted  # type: ignore[assignment]
    begun, used = time.perf_counter(), time.process_time()
    try:
        act()
    finally:
        predicting.read_image = original
    seconds = time.perf_counter() - begun
    return {
        "seconds": seconds,
        "cores": (time.process_time() - used) / seconds,
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
            f"{way}: {one['seconds']:.1f} s, {one['cores']:.2f} of {os.cpu_count()} cores, "
            f"{one['frames']:.0f} frames, each decoded {one['decoded']:.1f} times"
        )
    print(f"ratio {found['one after the other']['seconds'] / found['one pass']['seconds']:.2f}")


if __name__ == "__main__":
    main()
