"""Pools of archives from start to finish, and pools that grow."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from dissensus import Study
from dissensus.demo.labels import PREPROCESS
from dissensus.errors import PoolError, PredictionError, StudyError
from dissensus.steps import growing
from dissensus.steps.growing import merged
from dissensus.store import parts
from dissensus.store.tables import read_stamps, read_table
from dissensus.tasks.labels.predictions import LabelSource
from dissensus.web.pictures import Pictures
from tests.commands import run
from tests.shards import png, served_folder, write_hugging_face, write_tar

MODELS = """
from pathlib import Path
import numpy as np

def _seen(images, name):
    values = [int(np.asarray(image)[0, 0, 0]) for image in images]
    with open(Path(__file__).with_name(name), "a") as file:
        file.write("".join(f"{value}\\n" for value in values))
    return np.array(values)

def tens(images): return np.eye(4)[_seen(images, "tens") // 10 % 4]
def ones(images): return np.eye(4)[_seen(images, "ones") % 4]
def level(images): return _seen(images, "level").astype(float)
"""
SETTINGS = [part for name, value in PREPROCESS.items() for part in ("-p", f"{name}={value}")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    write_tar(tmp_path / "s-0.tar", {f"{value:03}.png": png(value) for value in range(20)})
    write_tar(tmp_path / "s-1.tar", {f"{value:03}.png": png(value) for value in range(20, 50)} | {"020.cls": b"1"})
    write_tar(tmp_path / "all.tar", {f"{value:03}.png": png(value) for value in range(50)})
    return tmp_path


def seen(folder: Path, name: str) -> list[int]:
    """What a model has been shown since the last time that this was asked."""
    path = folder / name
    found = list(map(int, path.read_text().split())) if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def models(folder: Path, *names: str) -> list[str]:
    return [f"{name}=python:{folder / 'models.py'}:{name}" for name in names]


def labels(study: Study) -> dict[str, dict[str, int]]:
    """Every model's label of every item."""
    found = {}
    for path in sorted((study.folder.root / "predictions").glob("*.parquet")):
        ids = read_table(study.folder.pool, ["id"])["id"].to_pylist()
        found[path.stem] = dict(zip(ids, read_table(path)["label"].to_pylist(), strict=True))
    return found


def test_models_see_only_the_items_that_were_added(folder: Path) -> None:
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens", "ones"))
    assert sorted(seen(folder, "tens")) == sorted(seen(folder, "ones")) == list(range(20))
    study.pool([folder / "s-1.tar"], add=True)
    assert study.pool_notes == (
        "30 items added to 20 items",
        "1 file in the archives ignored, because they are not images: 1 .cls",
    )
    with pytest.raises(StudyError, match="has not predicted the items that were added: run dissensus predict"):
        study.select(k=2)
    assert "predict" in study.status().next
    assert "tens: has predicted 20 of 50 items" in run("status", study.folder.root).stdout
    study.predict()
    assert sorted(seen(folder, "tens")) == sorted(seen(folder, "ones")) == list(range(20, 50))
    study.predict()
    assert seen(folder, "tens") == []

    whole = Study.init(folder / "whole", classes=list("abcd"))
    whole.pool([folder / "all.tar"])
    whole.predict(models(folder, "tens", "ones"))
    assert labels(study) == labels(whole)
    for one in (study, whole):
        one.select(k=3)
    assert study.folder.selection(1).read_bytes() == whole.folder.selection(1).read_bytes()


def test_models_that_see_only_what_was_added_let_a_round_be_extended(folder: Path) -> None:
    whole = Study.init(folder / "whole", classes=list("abcd"))
    whole.pool([folder / "all.tar"])
    whole.predict(models(folder, "tens", "ones"))
    whole.select(k=3)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens", "ones"))
    study.select(k=3)
    study.pool([folder / "s-1.tar"], add=True)
    study.predict()
    study.engine.passes.clear()
    study.select()
    assert {one.items for one in study.engine.passes} == {30}
    assert study.folder.selection(1).read_bytes() == whole.folder.selection(1).read_bytes()


def test_a_model_that_joins_a_pool_that_has_grown_sees_all_of_it(folder: Path) -> None:
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens"))
    study.pool([folder / "s-1.tar"], add=True)
    seen(folder, "tens")
    study.predict(models(folder, "ones"))
    assert sorted(seen(folder, "tens")) == list(range(20, 50))
    assert sorted(seen(folder, "ones")) == list(range(50))


def test_a_pool_may_grow_several_times_and_scores_too(folder: Path) -> None:
    study = Study.init(folder / "study", task="scores")
    for value in range(3):
        folder.joinpath(f"{value}").mkdir()
        for inside in range(4):
            (folder / f"{value}" / f"{10 * value + inside}.png").write_bytes(png(10 * value + inside))
    study.pool([folder / "0"])
    study.predict(models(folder, "level"))
    study.pool([folder / "1"], add=True)
    study.pool([folder / "2"], add=True)
    seen(folder, "level")
    study.predict()
    assert sorted(seen(folder, "level")) == [10, 11, 12, 13, 20, 21, 22, 23]
    ids = read_table(study.folder.pool, ["id"])["id"].to_pylist()
    scores = read_table(study.folder.predictions("level"))["score"].to_pylist()
    assert scores == [float(name.removesuffix(".png")) for name in ids]


def test_an_interrupted_addition_resumes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelSource, "chunk", 7)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens"))
    study.pool([folder / "s-1.tar"], add=True)
    seen(folder, "tens")
    interrupt(monkeypatch, study)
    before = seen(folder, "tens")
    assert len(before) == 14
    study.predict()
    assert sorted(before + seen(folder, "tens")) == list(range(20, 50))


def interrupt(monkeypatch: pytest.MonkeyPatch, study: Study, **request: Any) -> None:
    """Start to predict, and stop after two parts."""
    part = LabelSource.part

    def stops(source: Any, rows: Sequence[int], batches: Any = None) -> pa.Table:
        if len(list(study.folder.parts("predict-tens").glob("0*"))) == 2:
            raise KeyboardInterrupt
        return part(source, rows, batches)

    with monkeypatch.context() as patched:
        patched.setattr(LabelSource, "part", stops)
        with pytest.raises(KeyboardInterrupt):
            study.predict(**request)


TENS = {"tens": {f"{value:03}.png": value // 10 % 4 for value in range(50)}}


@pytest.mark.parametrize("first", [[], ["tens"]], ids=["added, then all", "all, then added"])
def test_parts_of_other_items_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch, first: list[str]) -> None:
    monkeypatch.setattr(LabelSource, "chunk", 7)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens"))
    study.pool([folder / "s-1.tar"], add=True)
    interrupt(monkeypatch, study, again=first)
    seen(folder, "tens")
    study.predict(again=[] if first else ["tens"])
    assert sorted(seen(folder, "tens")) == list(range(20 if first else 0, 50))
    assert labels(study) == TENS


def test_parts_in_another_order_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelSource, "chunk", 7)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar", folder / "s-1.tar"])
    interrupt(monkeypatch, study, models=models(folder, "tens"))
    study.pool([folder / "s-1.tar", folder / "s-0.tar"])
    study.predict(models(folder, "tens"))
    assert labels(study) == TENS


def test_a_very_large_pool_has_larger_parts_and_the_same_predictions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    for name, most in (("usual", parts.MOST_PARTS), ("few", 3)):
        monkeypatch.setattr(LabelSource, "chunk", 7)
        monkeypatch.setattr(parts, "MOST_PARTS", most)
        monkeypatch.setattr(growing, "TOGETHER", 2)
        monkeypatch.setattr(growing, "ROW_GROUP", 16)
        study = made[name] = Study.init(folder / name, classes=list("abcd"))
        study.pool([folder / "s-1.tar", folder / "s-0.tar"])
        interrupt(monkeypatch, study, models=models(folder, "tens", "ones"))
        assert study.status().models[0].items == (14 if name == "usual" else 42)
        assert len(seen(folder, "tens")) == (14 if name == "usual" else 42)
        study.predict()
        assert len(seen(folder, "tens")) == (36 if name == "usual" else 8)
    found = [made[name].folder.predictions("ones").read_bytes() for name in made]
    assert found[0] == found[1]
    assert labels(made["few"])["tens"] == TENS["tens"]


def test_parts_of_another_size_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelSource, "chunk", 7)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar", folder / "s-1.tar"])
    interrupt(monkeypatch, study, models=models(folder, "tens"))
    monkeypatch.setattr(parts, "MOST_PARTS", 3)
    study.predict()
    assert labels(study) == TENS


@pytest.mark.parametrize(("items", "least", "size"), [(0, 256, 256), (1 << 24, 256, 256), ((1 << 24) + 1, 256, 512)])
def test_the_size_of_parts(items: int, least: int, size: int) -> None:
    assert parts.part_size(items, least) == size
    assert -(-items // size) <= parts.MOST_PARTS


def test_what_is_there_already_is_not_added_again(folder: Path) -> None:
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    before = study.folder.pool.read_bytes()
    study.pool(folder / "s-0.tar", add=True)
    assert study.pool_notes == ("0 items added to 20 items",)
    assert read_stamps(study.folder.pool, "sources")["sources"] == [str(folder / "s-0.tar")]
    study.pool([folder / "s-*.tar"], add=True)
    assert len(read_table(study.folder.pool)) == 50
    assert before != study.folder.pool.read_bytes()
    write_tar(folder / "t.tar", {"000.png": png(99)})
    study.pool([folder / "t.tar"], add=True)
    assert "t/000.png" in read_table(study.folder.pool, ["id"])["id"].to_pylist()
    together = Study.init(folder / "together", classes=list("abcd"))
    together.pool([folder / "s-0.tar", folder / "t.tar"])
    for one in ("s-0.tar", "t.tar"):  # alone, their pictures would have other names
        together.pool([folder / one], add=True)
        assert together.pool_notes == ("0 items added to 21 items",)
    (folder / "photos").mkdir()
    (folder / "photos" / "000.png").write_bytes(png(98))
    with pytest.raises(PoolError, match=r"item '000\.png' is in the pool twice"):
        study.pool([folder / "photos"], add=True)


def test_merged_tables_are_in_the_order_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        is_new = rng.random(rng.integers(1, 60)) < rng.random()
        is_new[[0, -1]] = rng.permutation([True, False]) if len(is_new) > 1 else False
        values = np.arange(len(is_new))

        def pieces(rows: np.ndarray) -> list[pa.Table]:
            cuts = np.sort(rng.integers(0, len(rows) + 1, 3))
            return [pa.table({"value": part}) for part in np.split(rows, cuts)]

        if not is_new.any() or is_new.all():
            continue
        found = pa.concat_tables(merged(pieces(values[~is_new]), pieces(values[is_new]), is_new))
        assert found["value"].to_pylist() == values.tolist()


def test_pictures_in_archives_are_predicted_in_the_order_in_which_they_are_stored(folder: Path) -> None:
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    study.predict(models(folder, "tens"))
    assert seen(folder, "tens") == list(range(20))
    assert growing.coverage(study.folder, "other", False, False).rows == range(20)


def test_a_function_of_paths_is_refused_for_pictures_that_have_none(folder: Path) -> None:
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    with pytest.raises(PredictionError, match=r"tar:.*s-0\.tar#000\.png is not a file on this machine"):
        study.predict(mine=lambda paths: ["a"] * len(paths))


def archives(folder: Path, pool: Path) -> dict[str, list[str]]:
    """The demo's photos as other tools would store them: sources by kind."""
    files = sorted(pool.glob("*.png"))
    half = len(files) // 2
    for number, part in enumerate((files[:half], files[half:])):
        with tarfile.open(folder / f"digits-{number:04}.tar", "w") as archive:
            for path in part:
                archive.add(path, path.name)
        pictures, ids = [path.read_bytes() for path in part], [path.name for path in part]
        write_hugging_face(folder / f"digits-{number:04}.parquet", pictures, ids, group=100)
    rows = {"__key__": [path.name for path in files], "content": [path.read_bytes() for path in files]}
    pq.write_table(pa.table(rows), folder / "plain.parquet", row_group_size=64)
    return {
        "tar": [f"{folder}/digits-{{0000..0001}}.tar"],
        "hugging-face": [f"{folder}/digits-*.parquet"],
        "plain": [str(folder / "plain.parquet")],
    }


def test_the_demo_gives_the_same_from_archives_as_from_its_folder(demo: Any, tmp_path: Path) -> None:
    """pool, predict, select, questions, report and sheet, as commands."""
    root = demo[0]
    specs = [f"{name}=sklearn:{root / 'models' / name}.joblib" for name in ("knn", "tree", "bayes")]
    sources = {"folder": [str(root / "pool")]} | archives(tmp_path, root / "pool")
    with served_folder(tmp_path) as (address, _):
        sources["web"] = [f"{address}/digits-{{0000..0001}}.tar"]
        found, prints = {}, {}
        for kind, given in sources.items():
            study = tmp_path / f"study-{kind}"
            for line in (
                ["init", study, "--classes", root / "digits.txt"],
                ["pool", study, *given],
                ["predict", study, *specs, *SETTINGS],
                ["select", study, "--k", 4, "--confidence", 0],
                ["questions", study, study / "sheet.html"],
            ):
                done = run(*line)
                assert done.returncode == 0, (kind, line, done.stderr)
            found[kind] = json.loads(run("questions", study, "--json").stdout)["questions"]
            asked = Study(study).questions()
            said = [{"item": one.item, "label": one.name, "answer": "yes" if one.label % 2 else "no"} for one in asked]
            Study(study).answer(said, "me")
            assert run("report", study).returncode == 0
            prints[kind] = read_table(study / "pool.parquet", ["id", "fingerprint", "size", "place"])
            page = (study / "results" / "report.html").read_text()
            assert page.count("data:image/png") > 4, kind
    assert all(one == found["folder"] for one in found.values())
    assert all(one.equals(prints["folder"]) for one in prints.values())
    assert len(found["folder"]) > 10


def test_a_served_study_of_an_archive_shows_the_same_clean_pixels(demo: Any, tmp_path: Path) -> None:
    root = demo[0]
    specs = [f"{name}=sklearn:{root / 'models' / name}.joblib" for name in ("knn", "tree")]
    study = Study.init(tmp_path / "study", classes=str(root / "digits.txt"))
    study.pool(archives(tmp_path, root / "pool")["tar"])
    study.predict(specs, PREPROCESS)
    study.select(k=4, confidence=0.0)
    backing = study._backing()
    asked = {question.item for question in study.questions()}
    for item in asked:
        uri = backing.picture(item)
        assert uri is not None
        assert uri.startswith("tar:")
        data, kind = Pictures().read(uri)
        assert kind == "image/png"
        with Image.open(BytesIO(data)) as shown, Image.open(root / "pool" / item) as original:
            assert shown.tobytes() == original.tobytes()
            assert not shown.text  # type: ignore[attr-defined]
    selected = {row["item"] for row in study.selection()}  # with reserves
    others = {*read_table(study.folder.pool, ["id"])["id"].to_pylist()} - selected
    assert others
    assert all(backing.picture(item) is None for item in others)


def test_a_pool_does_not_grow_while_a_model_is_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelSource, "chunk", 8)
    study = Study.init(folder / "study", classes=list("abcd"))
    study.pool([folder / "s-0.tar"])
    write = parts.Parts.write

    def stopped(self: parts.Parts, number: int, table: pa.Table) -> None:
        if number == 1:
            raise PoolError("the server cannot be reached")
        write(self, number, table)

    monkeypatch.setattr(parts.Parts, "write", stopped)
    with pytest.raises(PoolError, match="cannot be reached"):
        study.predict(models(folder, "tens"))
    monkeypatch.setattr(parts.Parts, "write", write)
    with pytest.raises(StudyError, match="tens has predicted only some of the items: run dissensus predict"):
        study.pool([folder / "s-1.tar"], add=True)
    seen(folder, "tens")
    study.predict()
    assert seen(folder, "tens") == list(range(8, 20))
    study.pool([folder / "s-1.tar"], add=True)
    study.predict()
    assert seen(folder, "tens") == list(range(20, 50))
