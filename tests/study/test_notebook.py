"""A study from a notebook: everything from memory, and results that show themselves."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from PIL import Image

import dissensus.study
from dissensus import Study
from dissensus.errors import DissensusError, PoolError, PredictionError
from dissensus.frames import frame_of, table_of
from dissensus.records import Ranking, Rankings

ROOT = Path(__file__).resolve().parents[2]
CLASSES = ["ant", "bee", "cat"]
ITEMS = [f"item{number:02}" for number in range(40)]
TRUTH = np.random.default_rng(1).integers(0, 3, len(ITEMS))


def wrong(share: float, seed: int) -> np.ndarray:
    """Class numbers of which a share is guessed."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(ITEMS)) < share, rng.integers(0, 3, len(ITEMS)), TRUTH)


def names(items: list[str]) -> list[str]:
    """A function that classifies."""
    return [CLASSES[(TRUTH[int(item[4:])] + (int(item[4:]) % 4 == 0)) % 3] for item in items]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.init(tmp_path / "study", classes=CLASSES, title="From memory")
    made.pool(items=ITEMS)
    return made


def judged(study: Study) -> Study:
    study.select(k=8, confidence=0)
    truth = {item: CLASSES[label] for item, label in zip(ITEMS, TRUTH, strict=True)}
    rows = [
        {"item": one.item, "label": one.name, "answer": "yes" if truth[one.item] == one.name else "no"}
        for one in study.questions()
    ]
    assert study.answer(pd.DataFrame(rows), annotator="ann") == len(rows)
    assert study.answer(pl.DataFrame(rows), annotator="ann") == 0  # the same answers again
    return study


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict, "rows"])
def test_whatever_holds_columns_is_a_table(kind) -> None:
    columns = {"item": ["a", "b"], "label": [1, 2]}
    data = [{"item": "a", "label": 1}, {"item": "b", "label": 2}] if kind == "rows" else kind(columns)
    assert table_of(data).to_pydict() == columns


def test_what_holds_no_columns_is_refused() -> None:
    for data in (3, "text", ["a"], np.zeros(3)):
        with pytest.raises(TypeError, match="expected a frame"):
            table_of(data)


def test_frames_are_of_the_kind_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"a": [1, 2]}
    assert isinstance(frame_of(columns), pd.DataFrame)
    hidden = {"pandas"}
    monkeypatch.setattr("dissensus.frames.find_spec", lambda name: None if name in hidden else object())
    assert isinstance(frame_of(columns), pl.DataFrame)
    hidden.add("polars")
    assert isinstance(frame_of(columns), pa.Table)


def test_arrays_functions_and_frames_are_models(study: Study) -> None:
    labels = wrong(0.3, 2)
    probabilities = np.full((len(ITEMS), 3), 0.1)
    probabilities[np.arange(len(ITEMS)), wrong(0.5, 3)] = 0.8
    done = study.predict(
        numbers=labels,
        strings=[CLASSES[label] for label in wrong(0.4, 4)],
        probabilities=probabilities,
        pair=(wrong(0.2, 5), np.linspace(0.5, 1, len(ITEMS))),
        function=names,
        frame=pd.DataFrame({"item": ITEMS[::-1], "label": [CLASSES[label] for label in labels[::-1]]}),
    )
    assert all(done.values())
    assert study.labels("numbers").tolist() == study.labels("frame").tolist() == labels.tolist()
    assert study.labels("probabilities").tolist() == probabilities.argmax(1).tolist()
    assert study.predictions("probabilities")["confidence"].tolist() == pytest.approx([0.8] * len(ITEMS))
    assert study.predictions("function")["label"].tolist() == names(ITEMS)
    assert list(study.predictions().columns) == ["item", *done]
    assert list(study.predictions("numbers", "pair").columns) == ["item", "numbers", "pair"]


def test_probabilities_given_to_an_earlier_version_are_still_the_same(study: Study) -> None:
    scores = np.random.default_rng(1).dirichlet(np.ones(3), len(ITEMS))
    first = pd.DataFrame({"label": scores.argmax(1), "confidence": scores.max(1).astype(np.float32)})
    study.predict(a=(first["label"].to_numpy(), first["confidence"].to_numpy()))  # what was kept of probabilities then
    assert study.predict(a=scores) == {"a": False}
    assert "label2" not in study.predictions("a")
    assert study.predict(a=scores, again=["a"]) == {"a": True}
    order = np.argsort(-scores, axis=1)
    assert study.predictions("a")["label2"].tolist() == [CLASSES[label] for label in order[:, 1]]
    assert list(study.predictions("a").columns) == ["item", "label", "confidence", "label2", "label3", "problem"]


def test_a_cell_may_be_run_again(study: Study) -> None:
    labels = wrong(0.3, 2)
    assert study.predict(a=labels, b=names) == {"a": True, "b": True}
    assert study.predict(a=labels, b=names) == {"a": False, "b": False}
    with pytest.raises(PredictionError, match="a already has other predictions"):
        study.predict(a=wrong(0.9, 9))
    assert study.labels("a").tolist() == labels.tolist()
    again = Study.init(study.folder.root, exist_ok=True)
    assert again.items() == ITEMS
    with pytest.raises(DissensusError, match="is a study already"):
        Study.init(study.folder.root)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(3, int), "3 predictions for 40 items"),
        (np.zeros((40, 3, 2)), "3 dimensions"),
        (np.full((40, 3), np.nan), "not finite"),
        ((TRUTH, TRUTH, TRUTH), "3 columns"),
        (["ant", "whale"] * 20, "whale"),
        (lambda items: items[:-1], "predictions for 40 items"),
    ],
)
def test_predictions_that_make_no_sense_leave_nothing_behind(study: Study, given, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        study.predict(a=given)
    assert study.settings.models == {}
    assert study.predict(a=TRUTH) == {"a": True}


def test_results_show_themselves(study: Study) -> None:
    study.predict(right=TRUTH, often=wrong(0.3, 2), seldom=wrong(0.8, 3))
    ranking = judged(study).rank()
    assert isinstance(ranking, Ranking)
    shown = repr(ranking)
    assert shown.splitlines()[: len(ranking.words)] == list(ranking.words)
    assert "rank" in shown
    assert len(shown) < 1000
    frame = ranking.to_frame()
    assert frame["model"].tolist() == [one.model for one in ranking.standings]
    page = ranking._repr_html_()
    assert page.count("<svg") == 1
    assert all(f"<td>{one.model}</td>" in page for one in ranking.standings)
    assert ranking.plot().figure().axes[0].get_xlabel() == "Strength"
    assert {"ranking", "accuracy", "dominance", "cases", "stability"} <= study.plots().keys()


def test_two_orders_show_themselves(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", task="scores")
    study.pool(items=pl.DataFrame({"item": ITEMS}))
    quality = np.linspace(0, 1, len(ITEMS))
    rng = np.random.default_rng(4)
    noise = {name: quality + rng.normal(0, size, len(ITEMS)) for name, size in (("a", 0.05), ("b", 0.3), ("c", 1))}
    study.predict(**noise)
    study.select(levels=3)
    of = dict(zip(ITEMS, 100 * quality, strict=True))
    rows = [
        {"first": one.first, "second": one.second, "answer": of[one.second] - of[one.first]}
        for one in study.questions()
    ]
    study.answer(rows, annotator="ann")
    found = study.rank()
    assert isinstance(found, Rankings)
    assert found.to_frame()["measure"].unique().tolist() == ["aggressiveness", "resistance"]
    assert found._repr_html_().count("<svg") == 2
    assert "Aggressiveness" in repr(found)
    assert study.predictions("a")["score"].tolist() == pytest.approx(noise["a"].tolist())


def test_images_and_maps_from_arrays(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", task="masks", classes=["background", "thing"])
    images = np.random.default_rng(0).integers(0, 255, (4, 8, 9, 3), np.uint8)
    study.pool(items=images)
    assert study.items() == ["0.png", "1.png", "2.png", "3.png"]
    with Image.open(study._uri("2.png")) as image:
        assert np.array_equal(np.asarray(image), images[2])
    maps = np.random.default_rng(1).integers(0, 2, (4, 8, 9))
    study.predict(a=maps, b=1 - maps, c=lambda paths: np.stack([maps[int(Path(path).stem)] for path in paths]))
    assert study.predictions("a")["map"].tolist()[3] is not None
    assert np.array_equal(np.array(study.predictions("c")["map"].tolist()[3].tolist()), maps[3])
    with pytest.raises(PredictionError, match="matrix of class numbers"):
        study.predict(d=maps + 0.5)
    assert study.predict(a=maps) == {"a": False}
    with pytest.raises(PredictionError, match="a already has other predictions"):
        study.predict(a=1 - maps)
    with pytest.raises(DissensusError, match="another pool"):
        study.pool(items=255 - images)
    with Image.open(study._uri("2.png")) as image:  # a pool that is refused leaves the images alone
        assert np.array_equal(np.asarray(image), images[2])


def test_relative_paths_of_a_frame_are_those_of_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "one.png")
    monkeypatch.chdir(tmp_path)
    study = Study.init("study", classes=CLASSES)
    study.pool(items={"item": ["first"], "path": ["one.png"]})
    assert study._uri("first") == str(tmp_path / "one.png")


def test_a_model_without_some_scores_may_be_given_again(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", task="scores")
    study.pool(items=ITEMS)
    scores = np.where(np.arange(len(ITEMS)) == 3, np.nan, np.arange(len(ITEMS)))
    assert [study.predict(a=scores), study.predict(a=scores)] == [{"a": True}, {"a": False}]


def test_arrays_are_in_the_order_in_which_items_were_given(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    items = ["zebra", "0", "mole", "é", "a"]
    study.pool(items=items)
    labels = np.array([1, 0, 1, 1, 0])
    study.predict(a=labels, b=lambda shown: labels[[items.index(item) for item in shown]])
    study.predict(c={"item": items[::-1], "label": labels[::-1]})
    assert study.items() == items
    assert study.items(1, 3) == items[1:3]
    assert study.labels("a").tolist() == study.labels("b").tolist() == study.labels("c").tolist() == labels.tolist()
    frame = study.predictions()
    assert frame["item"].tolist() == items
    assert frame["a"].tolist() == frame["b"].tolist() == frame["c"].tolist() == [CLASSES[label] for label in labels]
    study.predict(d=[0, 0, 1, 1, 0])  # differs from the others on the first item only
    study.select()
    assert {row["item"] for row in study.selection()} == {"zebra"}


def test_names_that_are_no_file_names_are_refused(study: Study) -> None:
    for name in ("../escaped", "a/b", ""):
        with pytest.raises(DissensusError):
            study.predict(**{name: TRUTH})
    assert not list(study.folder.root.parent.glob("escaped*"))


def test_files_may_be_given_as_a_list(tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=[tmp_path / "one.png", tmp_path / "two.png"])
    assert study.items() == ["one.png", "two.png"]
    seen: list[str] = []
    study.predict(a=lambda paths: seen.extend(paths) or ["ant", "bee"])
    assert [Path(path).name for path in seen] == study.items()
    with pytest.raises(PoolError, match="no column 'item'"):
        Study.init(tmp_path / "other", classes=CLASSES).pool(items={"name": ["a"]})
    with pytest.raises(PoolError, match="uint8"):
        Study.init(tmp_path / "third", classes=CLASSES).pool(items=np.zeros((2, 4, 4)))


def test_the_examples_of_the_docstrings_run() -> None:
    found = doctest.testmod(dissensus.study)
    assert found.attempted > 5
    assert found.failed == 0


def test_the_quick_start_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(code.strip().splitlines()) <= 12
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(found["questions"]) == 4
    assert found["ranking"].standings[0].model == "large"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "examples" / "notebook" / "quick_start.ipynb", 4)
    before = [[output.get("text") for output in cell.get("outputs", ())] for cell in notebook.cells]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("<svg" in str(data.get("text/html")) for data in shown) == 2  # the ranking and a matrix
    assert any("Tied for first" in str(data.get("text/plain")) for data in shown)
    assert [[output.get("text") for output in cell.get("outputs", ())] for cell in notebook.cells] == before
    assert (tmp_path / "digits" / "study.toml").exists()


def test_importing_loads_nothing_heavy(process_python) -> None:
    loaded = process_python("from dissensus import Study; import sys; print(*sys.modules)").split()
    assert not {"numba", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "PIL", "fastapi"} & set(loaded)


@pytest.fixture
def process_python():
    import subprocess

    def run(code: str) -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    return run


def test_notebooks_complete_the_names_of_the_package():
    import dissensus

    assert {"Study", "fit_kernel", "kernel_matrix", "learn_sequences"} <= set(dir(dissensus))
