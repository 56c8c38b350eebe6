"""The predictions of one model: in the parts that it leaves while it runs, and in memory while they are joined.

python benchmarks/parts.py --items 2_000_000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import in_fresh_process, measured, show
from dissensus.backends import FURTHER
from dissensus.engines.local import chunks
from dissensus.steps.predicting import CHUNK
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts
from dissensus.store.settings import ModelSettings, set_models
from dissensus.study import Study
from dissensus.tasks.labels.predictions import LabelSource


def main() -> None:
    """Make the parts, and join them in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=2_000_000)
    parser.add_argument("--join", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.join:
        source, kept = source_of(options.join), Parts(Folder(options.join).parts("a"), "a", {})
        source.write(options.join / "warm-up.parquet", lambda: [part(range(CHUNK))], {})

        def join() -> list[Any]:
            source.write(options.join / "a.parquet", kept.all, {})
            return []

        show(measured(join))
        return
    with tempfile.TemporaryDirectory(dir=".") as folder:
        root = Path(folder) / "study"
        set_models(Study.init(root).folder.settings, {"a": ModelSettings(backend="onnx", target="a.onnx")})
        kept = Parts(Folder(root).parts("a"), "a", {})
        todo = chunks(options.items, CHUNK)
        for number, rows in enumerate(todo):
            kept.write(number, part(rows))
        size = sum(path.stat().st_size for path in kept.folder.glob("*.parquet")) / len(todo)
        grown = in_fresh_process(__file__, ["--join", str(root)]).growth * 1e6 / options.items
        written = (root / "a.parquet").stat().st_size / options.items
        print(
            f"{options.items:,} predictions: {size / 1e3:.1f} kB for a part of {CHUNK} items; joining them takes "
            f"{grown:.0f} bytes of memory per item, and the file has {written:.0f}"
        )


def source_of(root: Path) -> LabelSource:
    """Where the predictions of the model come from."""
    study = Study(root)
    return LabelSource(Workspace(study.folder, study.settings, study.classes), "a")


def part(rows: range) -> pa.Table:
    """Predictions of some items, as a network leaves them."""
    rng = np.random.default_rng(rows.start)
    labels = rng.integers(0, 1000, (1 + len(FURTHER), len(rows)), np.uint16)
    columns: dict[str, Any] = dict(zip(("label", *FURTHER), labels, strict=True))
    confidence, problem = rng.random(len(rows), np.float32), pa.nulls(len(rows), pa.string())
    return pa.table(columns | {"confidence": confidence, "problem": problem})


if __name__ == "__main__":
    main()
