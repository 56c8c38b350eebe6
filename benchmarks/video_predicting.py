"""Seven networks along clips: one pass over the frames for all of them, against one network after the other.

    python benchmarks/video_predicting.py CLASSIFIERS_FOLDER FRAMES_FOLDER [--copies 8]

Needs the seven networks of examples/photos, and a folder of frames. For both ways it prints

* seconds, and seconds of CPU of this process;
* CPU time / wall time: how many cores the process kept busy. On a quiet machine with two cores, one pass should come
  close to 2; on a busy one it cannot, because other programs get their share;
* idle: the share of all cores that no program used meanwhile. Near zero, the cores had enough to do, from this process
  or others ('-' where the system does not tell);
* things at a time: how many frames were being decoded or batches predicted at any moment, on average, waiting for a
  core included. As many as there are cores, or more, means that this process always had work for all of them, however
  busy the machine was;
* how often each frame was decoded: once in one pass, and once per network otherwise.

The last line has the ratios of both ways. In one pass, networks share the cores: each uses as many threads as there are
cores per network, at least one, and as many networks as there are cores run at a time.
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
from dissensus.steps import pooled_images
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
    """Seconds, seconds of CPU, the share of idle cores, work at a time, and how often frames are decoded.

    Work at a time is how many frames are being decoded, or batches predicted, at any moment on average: on a machine
    that is busy with other things, it shows better than CPU time whether there is work for all cores.
    """
    read: Counter[str] = Counter()
    busy: list[float] = []
    decode, run = pooled_images.read_image, Guarded.predict

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

    pooled_images.read_image, Guarded.predict = decoded, predicted  # type: ignore[assignment, method-assign]
    begun, used, before = time.perf_counter(), time.process_time(), ticks()
    try:
        act()
    finally:
        pooled_images.read_image, Guarded.predict = decode, run  # type: ignore[method-assign]
    seconds = time.perf_counter() - begun
    every, idle = (after - earlier for after, earlier in zip(ticks(), before, strict=True))
    return {
        "idle": idle / every if every else float("nan"),
        "seconds": seconds,
        "cpu": time.process_time() - used,
        "at_a_time": sum(busy) / seconds,
        "frames": len(read),
        "decoded": sum(read.values()) / max(len(read), 1),
    }


def ticks() -> tuple[int, int]:
    """How long all cores have existed, and how long they have been idle; zeros where the system does not tell."""
    try:
        found = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return 0, 0
    return sum(found), found[3] + found[4]


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
            f"{way}: {one['seconds']:.1f} s, {one['cpu']:.1f} s of CPU; CPU time / wall time "
            f"{one['cpu'] / one['seconds']:.2f} on {os.cpu_count()} cores, "
            f"{'-' if one['idle'] != one['idle'] else format(one['idle'], '.0%')} idle; {one['at_a_time']:.1f} things "
            f"at a time; {one['frames']:.0f} frames, each decoded {one['decoded']:.1f} times"
        )
    first, second = found.values()
    print(
        f"one after the other / one pass: seconds {first['seconds'] / second['seconds']:.2f}, "
        f"CPU {first['cpu'] / second['cpu']:.2f}"
    )


if __name__ == "__main__":
    main()
