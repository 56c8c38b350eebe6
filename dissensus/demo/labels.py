"""A complete study of real classifiers on real handwritten digits."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.arrays import Array
from dissensus.errors import StudyError
from dissensus.progress import Progress
from dissensus.records import Estimates, Ranking, Record
from dissensus.report.labels.page import findings
from dissensus.report.standings import rank_correlation
from dissensus.study import Study
from dissensus.study.kernels import fit_kernel

SEED = 0
MARK = ".dissensus-demo"
"""A file in the folder of a demo that says which one it is."""
ITEMS, DRAWS, BATCH = 10, 60, 20
"""Items per duel; questions drawn to estimate how often each model is right, in all and at a time."""
PREPROCESS = {"size": 8, "crop": 1.0, "channels": "gray", "scale": 16 / 255, "layout": "flat"}
KERNEL = "kernel"
"""The name of the kernel machine, which competes with the classifiers of scikit-learn."""
LAYERS, TAUGHT = "conv3 gaussian conv3 gaussian pool2 conv3 gaussian mean gaussian", 200
"""Its layers, and how many digits it learns from, so that it does not take longer than all others together."""
ANSWERS = "labels of the data set"
NOTE = (
    "The data are scikit-learn's handwritten digits: the models were trained on one half, the kernel machine on 200 "
    "digits of it, and competed on the other."
)


class DemoResult(Record):
    """What the demo produced; without a ranking if the user answers by hand."""

    study: Path
    report: Path | None = None
    sheet: Path | None = None
    ranking: Ranking | None = None
    estimates: Estimates | None = None
    consensus: Mapping[str, float] = {}
    accuracy: Mapping[str, float] = {}
    """With all items of the pool labelled."""
    srcc: float | None = None
    """Rank correlation of the ranking with `accuracy`."""
    srcc_of_estimates: float | None = None
    words: tuple[str, ...] = ()
    questions: int
    pool: int


def classifiers() -> dict[str, Any]:
    """Eight scikit-learn classifiers, as different from each other as possible."""
    # imported here, as scikit-learn takes a second to import and no other command needs it
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return {
        "svm": SVC(gamma=0.001, random_state=SEED),
        "knn": KNeighborsClassifier(3),
        "forest": RandomForestClassifier(200, random_state=SEED),
        "mlp": MLPClassifier((32,), max_iter=400, random_state=SEED),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "lda": LinearDiscriminantAnalysis(),
        "bayes": GaussianNB(var_smoothing=1e-2),
        "tree": DecisionTreeClassifier(random_state=SEED),
    }


def run_demo(folder: Path, by_hand: bool, progress: Progress) -> DemoResult:
    """Fit, predict, select, answer, draw, answer, rank and report; or stop at the questions for the user to answer."""
    report, sheet = folder / "study" / "results" / "report.html", folder / "sheet.html"
    if report.exists() or sheet.exists():
        raise StudyError(f"{folder} already holds a demo: open its report or sheet, or choose another folder")
    truth, specs = prepare(folder, progress, (*classifiers(), KERNEL))
    study = digits_study(folder, "Handwritten digits", NOTE, progress, "" if by_hand else ANSWERS)
    study.change("estimate", {"questions": DRAWS, "batch": BATCH})
    study.pool([folder / "pool"])
    study.predict(specs, PREPROCESS)
    # In a small pool, good models rarely disagree while both are confident: use all disagreements.
    study.select(k=ITEMS, confidence=0.0)
    if by_hand:
        _draw(study)
        questions = study.questions(sheet)
        return DemoResult(study=study.folder.root, sheet=sheet, questions=len(questions), pool=len(truth))
    _answer(study, truth, folder / "answers.csv")
    while _draw(study):
        _answer(study, truth, folder / "answers.csv")
    accuracy = _full_labelling(study, truth, folder / "accuracy.csv")
    study.report(benchmark=folder / "accuracy.csv")
    ranking = Ranking.model_validate_json(study.folder.ranking.read_text())  # just written by the report
    compared, estimates = study.benchmark(ranking), study.estimates()
    return DemoResult(
        study=study.folder.root,
        report=report,
        ranking=ranking,
        estimates=estimates,
        consensus=study.consensus(),
        accuracy=accuracy,
        srcc=None if compared is None else compared.srcc,
        srcc_of_estimates=rank_correlation({one.model: one.accuracy for one in estimates.models}, accuracy),
        words=findings(ranking, estimates),
        questions=study.status().questions,
        pool=len(truth),
    )


def claim(folder: Path, task: str) -> None:
    """Mark a folder as this demo's; one with anything else in it is refused, since a demo writes over what it finds.

    Raises:
        StudyError: the folder is not a demo's.
    """
    mark = folder / MARK
    if mark.is_file() and mark.read_text(encoding="utf-8") == task:
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder} already exists and is not empty: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    mark.write_text(task, encoding="utf-8")


def refuse_demo(folder: Path, report: Path, begun: Path | None = None) -> None:
    """Raise an error if a folder holds a demo that is finished, or one that has begun and cannot be resumed."""
    if report.exists():
        raise StudyError(f"{folder} already holds a demo: open {report}, or choose another folder")
    if begun is not None and begun.exists():
        raise StudyError(f"{folder} holds a demo that was interrupted: remove it, or choose another folder")


def digits_study(folder: Path, title: str, note: str, progress: Progress, answers_from: str = "") -> Study:
    """The study of a demo, new or as an interrupted run left it."""
    if (folder / "study" / "study.toml").exists():
        return Study(folder / "study", progress)
    classes = str(folder / "digits.txt")
    study = Study.init(folder / "study", classes=classes, title=title, notes=[note], answers_from=answers_from)
    study.progress = progress
    return study


def prepare(folder: Path, progress: Progress, names: Sequence[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Write images of half of the data, models fitted on the rest, and class names; return true labels and models.

    `names` are those of the models; all classifiers of scikit-learn if none are given.
    """
    import joblib
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    train, pool = train_test_split(
        np.arange(len(digits.target)), test_size=0.5, random_state=SEED, stratify=digits.target
    )
    pictures, models = folder / "pool", folder / "models"
    for path in (pictures, models):
        path.mkdir(parents=True, exist_ok=True)
    (folder / "digits.txt").write_text("".join(f"{name}\n" for name in digits.target_names))
    for number in pool:
        Image.fromarray(gray(digits.images[number])).save(pictures / f"digit-{number:04}.png")
    specs = []
    todo = {name: model for name, model in classifiers().items() if not names or name in names}
    for done, (name, model) in enumerate(todo.items(), start=1):
        joblib.dump(model.fit(digits.data[train], digits.target[train]), models / f"{name}.joblib")
        specs.append(f"{name}=sklearn:{models / name}.joblib")
        progress("fitting models", done, len(todo))
    if KERNEL in names:
        taught = train[:TAUGHT]
        images = np.stack([gray(one) for one in digits.images[taught]])
        fit_kernel(images, digits.target[taught], LAYERS, path=models / f"{KERNEL}.npz")
        specs.append(f"{KERNEL}=kernel:{models / KERNEL}.npz")
    return {f"digit-{number:04}.png": str(digits.target[number]) for number in pool}, specs


def gray(image: Array) -> Array:
    """Sixteen levels of ink as 8-bit gray."""
    return np.round(image * 255 / 16).astype(np.uint8)


def _draw(study: Study) -> int:
    """Draw the next batch; returns how many questions it has, 0 once all batches are drawn."""
    return study.draw(BATCH) if len(study.folder.batches()) < DRAWS // BATCH else 0


def _answer(study: Study, truth: Mapping[str, str], path: Path) -> None:
    """Answer every open question from the data set's own labels."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [(q.item, q.name, "data set", "yes" if truth[q.item] == q.name else "no", now) for q in study.questions()]
    write_csv(path, ("item", "label", "annotator", "answer", "time"), rows)
    study.judgements_import(path)


def _full_labelling(study: Study, truth: Mapping[str, str], path: Path) -> dict[str, float]:
    """Accuracy of every model with all items of the pool labelled, also written as a benchmark file."""
    names = np.array([truth[item] for item in study.items()])
    accuracy = {
        model: float(np.mean(np.array(study.classes.names, dtype=object)[study.labels(model)] == names))
        for model in study.settings.models
    }
    rows = [(model, score, len(truth)) for model, score in accuracy.items()]
    write_csv(path, ("model", "accuracy with all labels", "labels"), rows)
    return accuracy


def write_csv(path: Path, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
