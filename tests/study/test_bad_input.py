"""Bad input ends in one line that says what is wrong and what to do, exit code 2, and nothing written is damaged."""

from __future__ import annotations

import hashlib
import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.errors import StudyError
from dissensus.steps.benchmark import read_benchmark
from dissensus.study import Study

ITEMS = [f"item-{number:02}" for number in range(12)]


def snapshot(folder):
    """Every file of a study and its content, but for settings, which name the model that was refused."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("study.toml", "inputs.json")
    }


def refused(done, *words):
    """One line on standard error, exit code 2, all the words in it."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.fixture
def study(tmp_path):
    """Three classes, twelve items without pictures, one good prediction file."""
    (tmp_path / "classes.txt").write_text("cat\ndog\nowl\n")
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(ITEMS))
    made = Study.init(tmp_path / "study", classes=str(tmp_path / "classes.txt"))
    made.pool([tmp_path / "pool.csv"])
    write(tmp_path / "good.parquet", [0, 1, 2] * 4)
    made.predict([f"good=file:{tmp_path / 'good.parquet'}"])
    return made


def write(path, labels, confidence=None, items=ITEMS):
    columns = {"item": items, "label": labels}
    pq.write_table(pa.table(columns | ({} if confidence is None else {"confidence": confidence})), path)


def changed(archive, local, central, value):
    """A .zip with two bytes changed in the headers of its members, at the front and in the directory."""
    data = bytearray(archive.read_bytes())
    for mark, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        for start in [found.start() for found in re.finditer(re.escape(mark), bytes(data))]:
            data[start + offset : start + offset + 2] = value
    return bytes(data)


def bad_predictions(tmp_path):
    """Files that must be refused, with what the line has to say."""
    good = [0, 1, 2] * 4
    write(tmp_path / "nan.parquet", good, [0.9] * 11 + [float("nan")])
    write(tmp_path / "large.parquet", good, [0.9] * 11 + [1.5])
    write(tmp_path / "unknown.parquet", ["cat"] * 11 + ["yeti"])
    write(tmp_path / "range.parquet", [0] * 11 + [3])
    write(tmp_path / "twice.parquet", good, items=[*ITEMS[:11], ITEMS[0]])
    write(tmp_path / "other.parquet", good, items=[*ITEMS[:11], "elsewhere"])
    write(tmp_path / "short.parquet", good[:6], items=ITEMS[:6])
    pq.write_table(pa.table({"item": ITEMS, "class": good}), tmp_path / "columns.parquet")
    np.savez(tmp_path / "shape.npz", item=np.array(ITEMS), label=np.zeros((12, 3)))
    np.savez_compressed(tmp_path / "whole.npz", item=np.array(ITEMS), label=np.array(good))
    (tmp_path / "compression.npz").write_bytes(changed(tmp_path / "whole.npz", 8, 10, b"\x63\x00"))
    (tmp_path / "encrypted.npz").write_bytes(changed(tmp_path / "whole.npz", 6, 8, b"\x01\x00"))
    np.save(tmp_path / "one.npy", np.array(good))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    whole = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "truncated.parquet").write_bytes(whole[: len(whole) // 2])
    return {
        "nan.parquet": "NaN",
        "large.parquet": "1.5",
        "unknown.parquet": "yeti",
        "range.parquet": "outside 0..2",
        "twice.parquet": "item-00",
        "other.parquet": "not in the pool, such as elsewhere",
        "short.parquet": "item-06",
        "columns.parquet": "label",
        "shape.npz": "shape.npz",
        "compression.npz": "compression method is not supported",
        "encrypted.npz": "is encrypted",
        "one.npz": "not really .npz",
        "truncated.parquet": "truncated.parquet",
        "nowhere.parquet": "nowhere.parquet",
    }


def test_bad_prediction_files(study, tmp_path, command):
    before = snapshot(study.folder.root)
    for name, word in bad_predictions(tmp_path).items():
        refused(command("predict", study.folder.root, f"bad-{name.split('.')[0]}=file:{tmp_path / name}"), word)
        assert snapshot(study.folder.root) == before


def test_a_refused_model_is_not_left_in_the_settings(study, tmp_path, command):
    write(tmp_path / "nan.parquet", [0, 1, 2] * 4, [float("nan")] * 12)
    refused(command("predict", study.folder.root, f"bad=file:{tmp_path / 'nan.parquet'}"))
    assert list(study.settings.models) == ["good"]
    write(tmp_path / "fine.parquet", [2, 1, 0] * 4)
    assert command("predict", study.folder.root, f"fine=file:{tmp_path / 'fine.parquet'}").returncode == 0


def test_one_model_and_identical_models(study, tmp_path, command):
    refused(command("select", study.folder.root), "two models")
    study.predict([f"twin=file:{tmp_path / 'good.parquet'}"])
    refused(command("select", study.folder.root), "cannot be told apart")


def test_nothing_to_select(study, tmp_path, command):
    write(tmp_path / "shy.parquet", [2, 0, 1] * 4, [0.1] * 12)
    study.predict([f"shy=file:{tmp_path / 'shy.parquet'}"])
    refused(command("select", study.folder.root, "--confidence", 0.8), "--confidence")
    assert command("select", study.folder.root, "--confidence", 0.05).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--k", 0), "k"),
        (("--cap", 0), "cap"),
        (("--confidence", 1.5), "confidence"),
        (("--distance", "euclid"), "euclid"),
        (("--distance", "hops"), "taxonomy"),
        (("--eligible", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_bad_settings_of_a_selection(study, tmp_path, command, arguments, word):
    write(tmp_path / "other.parquet", [2, 1, 0] * 4)
    study.predict([f"other=file:{tmp_path / 'other.parquet'}"])
    refused(command("select", study.folder.root, *arguments), word)
    assert not study.folder.rounds()


def test_bad_pools(study, tmp_path, command):
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "twice.csv").write_text("item\na\na\n")
    (tmp_path / "none.csv").write_text("item\n")
    (tmp_path / "column.csv").write_text("name\na\n")
    (tmp_path / "nul.csv").write_bytes(b"item,path\na,a.png\nb,b\x00.png\n")
    pq.write_table(pa.table({"item": ["a", "b"], "reference": ["x\0y", None]}), tmp_path / "nul.parquet")
    no_text = pa.array([b"\xff", b"\xfe"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"item": ["a", "b"], "path": no_text}), tmp_path / "bytes.parquet")
    fresh = tmp_path / "fresh"
    Study.init(fresh, classes=str(tmp_path / "classes.txt"))
    for source, word in (
        (empty, "neither images nor video clips"),
        (tmp_path / "twice.csv", "'a' is in the pool twice"),
        (tmp_path / "none.csv", "empty"),
        (tmp_path / "column.csv", "no column 'item'"),
        (tmp_path / "nul.csv", "nul.csv, row 2: the path contains a NUL byte"),
        (tmp_path / "nul.parquet", "nul.parquet, row 1: the reference contains a NUL byte"),
        (tmp_path / "bytes.parquet", "bytes.parquet"),
        (tmp_path / "nowhere", "nowhere"),
    ):
        refused(command("pool", fresh, source), word)
    (tmp_path / "more.csv").write_text("item\n" + "\n".join([*ITEMS, "item-99"]))
    before = snapshot(study.folder.root)
    refused(command("pool", study.folder.root, tmp_path / "more.csv"), "another pool")
    assert snapshot(study.folder.root) == before


def test_broken_taxonomies_and_classes(tmp_path, command):
    (tmp_path / "classes.txt").write_text("cat\ndog\nowl\n")
    (tmp_path / "cycle.csv").write_text("child,parent\ncat,pet\ndog,pet\nowl,bird\npet,bird\nbird,pet\n")
    (tmp_path / "roots.csv").write_text("child,parent\ncat,pet\ndog,pet\nowl,bird\n")
    (tmp_path / "loose.csv").write_text("child,parent\ncat,pet\ndog,pet\n")
    (tmp_path / "twice.txt").write_text("cat\ndog\ncat\n")
    line = ("init", tmp_path / "new", "--classes", tmp_path / "classes.txt", "--taxonomy")
    refused(command(*line, tmp_path / "cycle.csv"), "cycle")
    refused(command(*line, tmp_path / "roots.csv"), "2 roots")
    refused(command(*line, tmp_path / "loose.csv"), "owl")
    refused(command("init", tmp_path / "new", "--classes", tmp_path / "twice.txt"), "'cat' is listed twice")
    refused(command("init", tmp_path / "new", "--classes", "nowhere.txt"), "nowhere.txt")
    (tmp_path / "half.json").write_text('{"classes": ["a", "b"], "nodes": {"a": {"lemmas": ["\\ud800"]}, "b": {}}}')
    (tmp_path / "shape.json").write_text('{"classes": ["a", "b"], "nodes": {"a": {"lemmas": {"x": 1}}, "b": {}}}')
    refused(command("init", tmp_path / "new", "--classes", tmp_path / "half.json"), "not a valid classes document")
    refused(command("init", tmp_path / "new", "--classes", tmp_path / "shape.json"), "nodes.a.lemmas")
    assert not (tmp_path / "new").exists()
    refused(command("init", tmp_path), "not empty")


def test_bad_judgements_store_nothing(study, tmp_path, command):
    good = {"item": "item-00", "label": "cat", "annotator": "ann", "answer": "yes"}
    for change, word in (
        ({"answer": "perhaps"}, "perhaps"),
        ({"label": "yeti"}, "yeti"),
        ({"item": "elsewhere"}, "elsewhere"),
        ({"annotator": ""}, "annotator"),
        ({"annotator": "\r"}, "not a valid name"),
        ({"annotator": "\0"}, "not a valid name"),
        ({"annotator": "x" * 100_000}, "not a valid name"),
        ({"time": "yesterday"}, "yesterday"),
    ):
        path = tmp_path / "answers.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in (good, good | change)))
        refused(command("judgements", "import", study.folder.root, path), "row 2", word)
        assert study.status().judgements == 0
    refused(command("judgements", "import", study.folder.root, tmp_path / "nowhere.csv"), "nowhere.csv")
    refused(command("judgements", "export", study.folder.root, tmp_path / "answers.xls"), ".jsonl")


def test_in_a_process_of_its_own_too(process, tmp_path):
    refused(process("status", tmp_path / "nowhere"), "is not a study")


def test_a_study_that_is_none_or_damaged(study, tmp_path, command):
    refused(command("status", tmp_path / "nowhere"), "is not a study")
    (study.folder.predictions("good")).write_bytes(b"PAR1 and no more")
    refused(command("status", study.folder.root), "damaged")
    study.folder.settings.write_text("task = ")
    refused(command("status", study.folder.root), "TOML")
    for task in ("[]", "{}", "3", '[["labels"]]'):
        study.folder.settings.write_text(f"task = {task}")
        refused(command("status", study.folder.root), "unknown task", "choose one of labels, scores, masks")
    study.folder.settings.write_text('classes = "x"\n[select]\nkk = 3\n')
    refused(command("status", study.folder.root), "select.kk")


def test_a_model_that_cannot_be_opened(study, tmp_path, command):
    for spec, word in (
        ("resnet", "NAME=BACKEND:TARGET"),
        ("a=tensorflow:x", "tensorflow"),
        ("a=onnx:nowhere.onnx", "nowhere.onnx"),
        ("../a=file:x.csv", "is not a valid model name"),
        ("good=file:other.csv", "another name"),
    ):
        refused(command("predict", study.folder.root, spec), word)


def test_pipes_are_refused_instead_of_waited_for(study, tmp_path, command):
    study, pipe = study.folder.root, tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    script = tmp_path / "pipe.py"
    os.mkfifo(script)
    for line in (
        ("judgements", "import", study, pipe),
        ("predict", study, f"z=file:{pipe}"),
        ("predict", study, f"z=python:{script}:f"),
        ("ask", study, pipe),
        ("report", study, "--benchmark", pipe),
        ("init", tmp_path / "new", "--classes", pipe),
        ("select", study, "--eligible", pipe),
    ):
        done = command(*line)
        assert done.returncode == 2, line
        assert "is a pipe or a device, not a file" in done.stderr, line
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('model,accuracy\n"one,0.5\ntwo,0.6\n', "unexpected end of data"),
        ("model,accuracy\none,0.5\none,0.6\n", "several rows are about one"),
    ],
)
def test_a_benchmark_that_does_not_say_one_score_each_is_refused(tmp_path, text, says):
    (tmp_path / "scores.csv").write_text(text)
    with pytest.raises(StudyError, match=says):
        read_benchmark(tmp_path / "scores.csv")


def test_a_number_of_labels_that_nobody_can_have_is_left_out(tmp_path):
    (tmp_path / "scores.csv").write_text(f"model,accuracy,labels\none,0.5,{'9' * 5000}\n")
    assert read_benchmark(tmp_path / "scores.csv") == ("accuracy", {"one": 0.5}, None)


def test_figures_that_cannot_be_written_are_refused_before_the_report_is(study, tmp_path, command):
    (tmp_path / "figures").write_text("mine")
    before = snapshot(study.folder.root)
    refused(command("report", study.folder.root, "--figures", tmp_path / "figures"), "is not a folder")
    assert snapshot(study.folder.root) == before
