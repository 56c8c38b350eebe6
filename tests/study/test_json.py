"""Every command takes --json, and prints one document with it: what it found, and the sentences in `words`."""

from __future__ import annotations

import csv
import json
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from clips_made import CLASSES as FILMED
from clips_made import picture, readers, write_film
from commands import command_line, run
from planted_labellers import let_label, let_review, planted_study
from replicating import CLASSES, folders, let_people_select
from test_documentation import COMMANDS

from dissensus.printing.console import document, say, say_next
from dissensus.study import Study

SERVICES = {name for name in COMMANDS if name.endswith((" serve", " browse"))}
"""They run until they are stopped, so they are not part of a story; `serve` is tested in a process of its own."""

Step = str | Callable[[Path], None]

READING = """
import numpy as np

def _read(images, wrong):
    found = [int(np.argmax(np.asarray(image.resize((1, 1)).convert("RGB"), float).ravel())) for image in images]
    marks = [sum(image.convert("RGB").resize((4, 4)).getpixel((3, 3))) for image in images]
    return [(label + 1) % 3 if wrong and mark % wrong == 0 else label for label, mark in zip(found, marks)]

def one(images): return _read(images, 0)
def two(images): return _read(images, 2)
def three(images): return _read(images, 3)
"""


def photographed(root: Path) -> None:
    """Pictures, three classifiers of them, and their true classes."""
    folders(root, 8, 0)
    (root / "mine.py").write_text(READING)
    (root / "classes.txt").write_text("\n".join(CLASSES))
    rows = [(f"{name}/{number:03}.png", name) for name in CLASSES for number in range(8)]
    write_table(root / "truth.csv", ("item", "label"), rows)
    write_table(root / "controls.csv", ("kind", "item", "label", "expected"), [("contains", *rows[0], "yes")])


def write_table(path: Path, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, *rows])


def answered(root: Path) -> None:
    """Answers to all open questions, as the folder of an item says."""
    asked = Study(root / "study").questions()
    rows = [(one.item, one.name, "yes" if one.name in one.item else "no", "ann") for one in asked]
    write_table(root / "answers.csv", ("item", "label", "answer", "annotator"), rows)


def labelled(root: Path) -> None:
    study, known = planted_study(root, 80)
    study.human_sample(root / "truth.csv", images=20)
    let_label(study, known)
    let_review(study, known)


def filmed(root: Path) -> None:
    for label, name in enumerate(FILMED):
        write_film(root / "clips" / f"{name}.mp4", [picture(label, label, 1, number=number) for number in range(6)])
    write_table(root / "labels.csv", ("clip", "label"), [(name, name) for name in FILMED])
    (root / "classes.txt").write_text("\n".join(FILMED))
    readers(root).rename(root / "readers.py")
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}
    truth = {
        "images": [{"id": 1, "file_name": "a/1.png"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [box | {"id": 1, "area": 81, "iscrowd": 0}],
    }
    (root / "truth.json").write_text(json.dumps(truth))
    (root / "net.json").write_text(json.dumps([box | {"score": 1.0}]))


def tabulated(root: Path) -> None:
    folders(root, 4, 0)
    write_table(
        root / "suite.csv", ("dataset", "svm", "forest"), [("iris", 96, 94), ("wine", 98, 97), ("glass", 60, 7)]
    )
    rows = [(f"m{number}", 60 + 3 * number, 50 + 3 * number + number % 2) for number in range(6)]
    write_table(root / "two.csv", ("model", "original", "new"), rows)
    (root / "train.fa").write_text(
        "".join(f">s{number}\nACGT{'ACGTTGCA' * 4}{'ACGT'[number % 4]}\n" for number in range(60))
    )


STORIES: dict[str, tuple[Step, ...]] = {
    "labels": (
        photographed,
        "init study --classes classes.txt",
        "pool study originals",
        "duplicates study",
        "predict study one=python:mine.py:one two=python:mine.py:two",
        "plan study",
        "select study --k 3 --confidence 0",
        "questions study",
        "ask study controls.csv --as control",
        "draw study --count 5",
        "annotators add study ann bob",
        answered,
        "judgements import study answers.csv",
        "judgements export study exported.csv",
        "annotators list study",
        "screen study",
        "estimate study",
        "rank study",
        "failures study",
        "causes export study failures.csv",
        "causes import study failures.csv",
        "causes list study",
        "report study",
        "replay study answers.csv --budget 4",
        "status study",
        "check study",
        "backup study copy",
        "annotators exclude study ann --reason slow",
        "annotators include study ann",
        "annotators revoke study ann",
        "join study three=python:mine.py:three",
        "remove study three",
        "laconic find study --truth truth.csv",
        "laconic report study",
        "laconic pool study reduced",
        "distance drake 'American coot'",
    ),
    "scores": (
        photographed,
        "distort originals/ant --out distorted --kinds jpeg,blur --levels 1,5",
        "init study --task scores",
        "pool study distorted/pool.csv",
        "predict study ssim=quality:ssim psnr=quality:psnr",
        "scale study",
        "select study --levels 2",
        "questions study",
        "screen study",
    ),
    "replica": (
        lambda root: Study.init(root / "study", classes=list(CLASSES)).change("replica", {"per_class": 3}),
        lambda root: folders(root) and None,
        "shift collect study --originals originals --candidates candidates",
        "shift duplicates study",
        lambda root: let_people_select(Study(root / "study"), [f"worker {number}" for number in range(10)]),
        "shift sample study",
        "shift status study",
        "shift export study out",
    ),
    "people": (
        labelled,
        "shift human sample study --images 25",
        "shift human status study",
        "shift human report study",
        "shift human export study out",
        "shift human join study ann",
    ),
    "video": (
        filmed,
        "init study --classes classes.txt",
        "shift video collect study clips --labels labels.csv --k 2",
        "shift video predict study a=python:readers.py:first b=python:readers.py:third",
        "shift video status study",
        "shift video report study",
        "shift video detection truth.json net=net.json",
    ),
    "tables": (
        tabulated,
        "kernel list",
        "kernel gram originals --size 8 --kernel 'conv3 relu mean' --to matrix",
        "kernel fit originals --size 8 --kernel 'conv3 relu mean' --to machine.npz",
        "kernel sequences train.fa --n 4 --features 64 --gamma 0.4 --penalty 0.001 --shuffles 1",
        "suite suite.csv",
        "shift compare two.csv --resamples 50",
        "demo labels digits --by-hand",
    ),
}


def command_of(step: str) -> str:
    """The command that a line runs."""
    words = ["dissensus", *shlex.split(step)]
    return next(name for count in (4, 3, 2) if (name := " ".join(words[:count])) in COMMANDS)


def test_the_stories_run_every_command() -> None:
    told = {command_of(step) for story in STORIES.values() for step in story if isinstance(step, str)}
    assert told == set(COMMANDS) - SERVICES


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_takes_json(line: str) -> None:
    assert any("--json" in option.opts for option in COMMANDS[line].params), f"{line} has no --json"


@pytest.mark.parametrize("name", STORIES)
def test_json_is_one_document_and_has_the_words(name: str, tmp_path: Path) -> None:
    for step in STORIES[name]:
        if not isinstance(step, str):
            step(tmp_path)
            continue
        done = run(*shlex.split(step), "--json", cwd=tmp_path)
        assert done.returncode == 0, f"{step}: {done.stderr}"
        found = json.loads(done.stdout)
        assert isinstance(found, dict), step
        assert found["words"] or found.get("next"), f"{step} says nothing in JSON"
        assert all(isinstance(sentence, str) and "\n" not in sentence for sentence in found["words"]), step


def test_a_service_prints_one_document_when_it_is_open(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=["a", "b", "c"])
    study.predict(one=["cat", "cat", "dog"], two=["dog", "cat", "cat"])
    study.select(k=1, confidence=0)
    line = command_line("serve", tmp_path / "study", "--port", 0, "--answers", 1, "--json")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        text = ""
        while not text.endswith("\n}\n"):
            text += (line_read := service.stdout.readline())
            assert line_read, service.stderr and service.stderr.read()
        service.send_signal(signal.SIGTERM)
        rest, beside = service.communicate(timeout=60)
    found = json.loads(text + rest)
    assert found["dashboard"].startswith(f"{found['address']}/owner#")
    assert "stopped; every acknowledged answer is stored" in beside


def test_what_a_model_prints_does_not_get_into_the_document(tmp_path: Path) -> None:
    folders(tmp_path, 1, 0)
    (tmp_path / "mine.py").write_text("print('loaded')\ndef f(images): print('noise'); return [0] * len(images)\n")
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool([tmp_path / "originals"])
    done = run("predict", tmp_path / "study", f"one=python:{tmp_path / 'mine.py'}:f", "--json")
    assert [one["model"] for one in json.loads(done.stdout)["models"]] == ["one"]
    assert "noise" in done.stderr


def test_the_words_are_what_people_would_read(capsys: pytest.CaptureFixture[str]) -> None:
    found: Mapping[str, Any] = {"items": 2, "words": ["a finding"]}
    for as_json in (False, True):
        with document(as_json, found):
            say("a finding")
            say("a warning")
            say_next("dissensus select birds")
    people, _, programs = capsys.readouterr().out.partition("{")
    assert people.splitlines() == ["a finding", "a warning", "Next: dissensus select birds"]
    assert json.loads("{" + programs) == {
        "items": 2,
        "words": ["a finding", "a warning"],
        "next": "dissensus select birds",
    }


def test_help_is_printed_whatever_else_is_asked_for(command) -> None:
    assert "Usage: dissensus rank" in command("rank", "--json", "--help").stdout
