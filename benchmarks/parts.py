"""The predictions of one model: in the parts that it leaves while it runs, and in memory while they are joined.

python benchmarks/parts.py --items 4_000_000

They are joined as they are, or put into the order of the pool, as those of pictures in archives are. Memory per item is
what the second half of them adds to the peak.
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
from dissensus.steps.growing import Coverage, in_pool_order
from dissensus.steps.predicting import CHUNK
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts
from dissensus.store.settings import ModelSettings, set_models
from dissensus.study import Study
from dissensus.tasks.labels.predictions import LabelSource

ORDERS = {"as they are": "same", "in another order": "other"}


def main() -> None:
    """Make the parts, and join them in fresh processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=4_000_000)
    parser.add_argument("--join", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.join:
        show(measured(joining(Path(options.join[0]), options.join[1], options.items)))
        return
    with tempfile.TemporaryDirectory(dir=".") as folder:
        root = Path(folder) / "study"
        set_models(Study.init(root).folder.settings, {"a": ModelSettings(backend="onnx", target="a.onnx")})
        kept = Parts(Folder(root).parts("a"), "a", {})
        half = options.items // (2 * CHUNK) * CHUNK
        growths: dict[str, list[float]] = {words: [] for words in ORDERS}
        for items in (half, 2 * half):
            for number, rows in enumerate(chunks(items, CHUNK)):
                if number not in kept:
                    kept.write(number, part(rows))
            for words, order in ORDERS.items():
                arguments = ["--items", str(items), "--join", str(root), order]
                growths[words].append(in_fresh_process(__file__, arguments).growth)
        bytes_of = (
            sum(path.stat().st_size for path in kept.folder.glob("*.parquet")),
            (root / "a.parquet").stat().st_size,
        )
        in_parts, written = (size / (2 * half) for size in bytes_of)
        print(f"{2 * half:,} predictions: {in_parts:.0f} bytes per item in parts of {CHUNK}, {written:.0f} in the file")
        for words, (less, more) in growths.items():
            each = (more - less) * 1e6 / half
            print(f"joined {words}: peak growth {more:.0f} MB, {each:.0f} bytes for each further item")


def joining(root: Path, order: str, items: int) -> Any:
    """Joins the parts, and gives nothing."""
    source, kept = source_of(root), Parts(Folder(root).parts("a"), "a", {})
    rows = range(items) if order == "same" else np.random.default_rng(0).permutation(items)
    covered = Coverage(rows, 0, items)
    source.write(root / "warm-up.parquet", lambda: [part(range(CHUNK))], {})

    def join() -> list[Any]:
        source.write(root / "a.parquet", lambda: in_pool_order(covered, root, kept.all()), {})
        return []

    return join


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
