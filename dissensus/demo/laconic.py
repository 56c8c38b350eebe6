"""How little of a handwritten digit is enough for four classifiers: a complete laconic test."""

from __future__ import annotations

from pathlib import Path

from dissensus.demo.labels import PREPROCESS, digits_study, prepare, refuse_demo, write_csv
from dissensus.progress import Progress
from dissensus.records import LaconicResult, Record

MODELS = ("svm", "knn", "lda", "tree")
SIDE, PER_CLASS = 64, 3
NOTE = (
    "The images are scikit-learn's handwritten digits, enlarged to 64×64 pixels. The models were trained on other "
    "digits and shrink every image to 8×8 pixels."
)


class LaconicDemoResult(Record):
    """What the demo produced."""

    study: Path
    report: Path
    results: LaconicResult


def run_laconic_demo(folder: Path, progress: Progress) -> LaconicDemoResult:
    """Fit, predict, reduce and report."""
    report = folder / "study" / "results" / "laconic.html"
    refuse_demo(folder, report)
    truth, specs = prepare(folder, progress, MODELS)
    study = digits_study(folder, "How little of a digit is enough?", NOTE, progress)
    study.change("laconic", {"side": SIDE, "crop": 1.0, "images": PER_CLASS})
    study.pool([folder / "pool"])
    study.predict(specs, PREPROCESS)
    write_csv(folder / "truth.csv", ("item", "label"), list(truth.items()))
    results = study.laconic(folder / "truth.csv")
    return LaconicDemoResult(study=study.folder.root, report=study.laconic_report(), results=results)
