"""Eleven ImageNet classifiers compete on the 50,000 validation images, judged by the answers of 85 real raters.

    python examples/imagenet_raters/compete.py KIT_IMAGENET_FOLDER [STUDY] [--models A B C …] [--join MODEL]

The folder contains three public files (see ../README.md): `validation_top1.npz`, `raters_sparse.npz` and
`real.json`. No images are needed, since the raters have already answered. Everything after `prepare` works the same in
a study of your own; every step is also a command of `dissensus`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.records import Ranking
from dissensus.study import Study

ELEVEN = [
    "vgg16_bn",
    "resnet34",
    "resnet101",
    "resnext101_32x4d",
    "se_resnet101",
    "senet154",
    "nasnetalarge",
    "pnasnet5large",
    "alexnet",
    "squeezenet1_1",
    "inceptionv4",
]
ANSWERS = {"no": "no", "maybe": "unsure", "yes": "yes"}
NOTE = (
    "The answers were given for another study (Are we done with ImageNet?, 2020): its raters were asked about far more "
    "labels than were needed here."
)
SAID_AT = "2020-06-12T00:00:00+00:00"  # the raters' file has no times; this is when it was published


def item_names(images: np.ndarray) -> np.ndarray:
    """Names of validation images by their 0-based number."""
    return np.array([f"ILSVRC2012_val_{image + 1:08}" for image in images.tolist()])


def prepare(kit: Path, work: Path, models: list[str]) -> None:
    """Write manifest, predictions, answers, eligible questions and ReaL accuracy as files that dissensus reads."""
    top1 = np.load(kit / "validation_top1.npz")
    raters = np.load(kit / "raters_sparse.npz")
    items = item_names(top1["image_index"])
    pq.write_table(pa.table({"item": items}), work / "pool.parquet")
    rows = {str(name): row for row, name in enumerate(top1["models"])}
    for name in models:
        pq.write_table(pa.table({"item": items, "label": top1["top1"][rows[name]]}), work / f"{name}.parquet")
    judged, labels = item_names(raters["item_image"]), raters["item_label"]
    pq.write_table(pa.table({"item": judged, "label": labels}), work / "eligible.parquet")
    asked, rater = raters["item"], raters["rater"]
    answers = {
        "item": judged[asked],
        "label": labels[asked],
        "annotator": [f"rater-{number:02}" for number in rater.tolist()],
        "answer": np.array([ANSWERS[str(name)] for name in raters["answer_names"]])[raters["answer"]],
        "time": [SAID_AT] * len(asked),
        "id": [f"reassessed-imagenet-{number}" for number in range(len(asked))],
    }
    pq.write_table(pa.table(answers), work / "answers.parquet")
    write_real_accuracy(kit, work, top1, rows, models)


def write_real_accuracy(
    kit: Path, work: Path, top1: Mapping[str, Any], rows: dict[str, int], models: list[str]
) -> None:
    """Write the benchmark: the share of images with ReaL labels on which the model's label is one of them."""
    real = json.loads((kit / "real.json").read_text())
    images = top1["image_index"].tolist()
    labelled = [place for place, image in enumerate(images) if real[image]]
    lines = ["model,ReaL accuracy,labels"]
    for name in models:
        predicted = top1["top1"][rows[name]]
        right = [int(predicted[place]) in real[images[place]] for place in labelled]
        lines.append(f"{name},{np.mean(right):.5f},{len(images)}")
    (work / "real.csv").write_text("\n".join(lines) + "\n")


def import_answers(study: Study, work: Path, only_selected: bool) -> None:
    """Import the raters' answers: all of them, or only those about images selected so far."""
    answers = work / "answers.parquet"
    if only_selected:
        selected = pa.array(sorted({row["item"] for row in study.selection()}))
        answers = work / "selected.parquet"
        table = pq.read_table(work / "answers.parquet")
        pq.write_table(table.filter(pc.is_in(table["item"], value_set=selected)), answers)
    study.judgements_import(answers)


def compete(
    kit: Path, folder: Path, models: list[str], newcomer: str | None, only_selected: bool = False
) -> dict[str, Any]:
    """Run the competition and return its results."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        prepare(kit, work, [*models, *([newcomer] if newcomer else [])])
        study = Study.init(folder, classes="imagenet", title="Eleven ImageNet classifiers", notes=[NOTE])
        study.pool([work / "pool.parquet"])
        study.predict([f"{name}=file:{work / name}.parquet" for name in models])
        study.select(k=30, eligible=work / "eligible.parquet")
        import_answers(study, work, only_selected)
        study.report(benchmark=work / "real.csv")
        figures = figures_of(study)
        if newcomer:
            figures["newcomer"] = join(study, newcomer, work, only_selected)
    return figures


def join(study: Study, newcomer: str, work: Path, only_selected: bool) -> dict[str, Any]:
    """Let one more model join, and return what that cost and changed."""
    before = set(study.asked())
    study.join([f"{newcomer}=file:{work / newcomer}.parquet"])
    if only_selected:
        import_answers(study, work, only_selected)
    after = set(study.asked())
    study.report(benchmark=work / "real.csv")
    return {"model": newcomer, "new questions": len(after - before), "given up": len(before - after)} | figures_of(
        study
    )


def figures_of(study: Study) -> dict[str, Any]:
    """What the competition found and what it cost."""
    ranking = study.rank()
    assert isinstance(ranking, Ranking), "classifiers have one order"
    benchmark = study.benchmark(ranking)
    status = study.status()
    return {
        "order": [standing.model for standing in ranking.standings],
        "words": list(ranking.words),
        "Spearman correlation with ReaL accuracy": benchmark.srcc if benchmark else None,
        "questions": status.questions,
        "open questions": status.open_questions,
        "discarded items": status.discarded_items,
        "images in the pool": status.pool,
    }


def main() -> None:
    """Read the arguments, compete, print the results as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kit", type=Path)
    parser.add_argument("study", type=Path, nargs="?", default=Path("imagenet-raters"))
    parser.add_argument("--models", nargs="+", default=ELEVEN)
    parser.add_argument("--join", default=None)
    parser.add_argument("--only-selected", action="store_true", help="import no answers about images not selected")
    given = parser.parse_args()
    print(json.dumps(compete(given.kit, given.study, given.models, given.join, given.only_selected), indent=1))
    print(f"report: {given.study / 'results' / 'report.html'}")


if __name__ == "__main__":
    main()
