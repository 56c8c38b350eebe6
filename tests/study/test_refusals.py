"""A refused command writes nothing, ever: the bytes of the study are the same before and after."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import typer.main
from small import ITEMS, answered, labels, maps, masked, one_line, predicted, selected, snapshot

from dissensus.cli import app
from dissensus.errors import DissensusError
from dissensus.study import Study

MADE = {
    "new": predicted,
    "predicted": lambda root: predicted(root, "one", "two"),
    "alike": lambda root: predicted(root, "one").predict(two=labels(0)),
    "selected": selected,
    "answered": answered,
    "masked": masked,
}
"""Studies at every stage."""

FILES = {
    "other.csv": "item\nelsewhere\n",
    "empty.csv": "",
    "labels.csv": "item,label\nitem-00,cat\nitem-01,yeti\n",
    "answers.csv": "item,label,annotator,answer\nitem-00,cat,ann,yes\nitem-01,cat,ann,perhaps\n",
    "questions.csv": "kind,item,label,expected\ncontains,item-00,cat,\n",
    "benchmark.csv": "model,score\nsomebody,1\n",
    "ratings.csv": "item,rating\nitem-00,1\n",
    "notes.xyz": "what",
}

LINES = [
    "init STUDY --task labels",
    "pool STUDY other.csv",
    "pool STUDY empty.csv",
    "pool STUDY nowhere/",
    "pool STUDY python:nowhere.py:POOL",
    "duplicates STUDY --radius 3",
    "duplicates STUDY --keep nowhere/kept.csv",
    "predict STUDY one=file:labels.csv",
    "predict STUDY new=file:labels.csv",
    "predict STUDY new=file:nowhere.csv",
    "predict STUDY new=onnx:nowhere.onnx",
    "predict STUDY new=file:labels.csv -p size=x",
    "predict STUDY new=file:labels.csv --lower new",
    "predict STUDY --again nobody",
    "predict STUDY --again one -p size=0",
    "predict STUDY one=file:labels.csv --again one",
    "join STUDY new=file:labels.csv",
    "join STUDY one=file:labels.csv",
    "remove STUDY nobody",
    "scale STUDY ratings.csv",
    "select STUDY --k 0",
    "select STUDY --confidence 2",
    "select STUDY --levels 3",
    "select STUDY --eligible nowhere.csv",
    "select STUDY --eligible other.csv --again",
    "select STUDY --eligible empty.csv --k 2 --again",
    "select STUDY --distance hops --again",
    "questions STUDY sheet.xyz",
    "judgements import STUDY answers.csv",
    "judgements import STUDY nowhere.csv",
    "judgements import STUDY notes.xyz",
    "judgements export STUDY out.xyz",
    "ask STUDY questions.csv --as control",
    "ask STUDY nowhere.csv",
    "serve STUDY --answers 0",
    "serve STUDY --answers 2 --port 99999",
    "serve STUDY --answers 2 --until nonsense",
    "serve STUDY --answers 2 --database nonsense://x",
    "annotators add STUDY new a/b",
    "annotators list nowhere",
    "annotators revoke STUDY nobody",
    "annotators exclude STUDY nobody --reason why",
    "annotators exclude STUDY ann --reason=",
    "annotators include STUDY nobody",
    "screen nowhere --exclude",
    "rank STUDY --method nonsense",
    "plan STUDY",
    "plan STUDY --until nonsense",
    "plan STUDY --answers 0",
    "draw STUDY --count 0",
    "draw STUDY",
    "estimate STUDY",
    "replay STUDY answers.csv",
    "replay STUDY nowhere.csv",
    "replay STUDY answers.csv --rule nonsense",
    "replay STUDY answers.csv --until nonsense",
    "report STUDY --method nonsense",
    "report STUDY --benchmark empty.csv",
    "report STUDY --benchmark benchmark.csv",
    "report STUDY --benchmark nowhere.csv",
    "status nowhere",
    "check nowhere",
    "backup STUDY answers.csv",
    "distance yeti cat",
    "distort nowhere/ --out STUDY/made",
    "demo nonsense STUDY",
    "laconic find STUDY",
    "laconic find STUDY --truth nowhere.csv",
    "laconic find STUDY --model nobody",
    "laconic serve STUDY",
    "laconic report STUDY",
    "laconic pool STUDY STUDY/reduced",
    "laconic pool STUDY reduced --reduction blur",
    "shift compare",
    "shift compare nowhere.csv --output page.html",
    "shift compare --original STUDY --new STUDY --output page.html",
    "shift collect STUDY",
    "shift collect STUDY --originals labels.csv --candidates nowhere.csv",
    "shift collect STUDY --originals labels.csv --candidates labels.csv",
    "shift duplicates STUDY --features nowhere.npz",
    "shift serve STUDY --page grid",
    "shift serve STUDY --page nonsense --answers 2",
    "shift sample STUDY --strategy nonsense",
    "shift sample STUDY",
    "shift export STUDY STUDY/new",
    "shift status STUDY",
    "shift human sample STUDY",
    "shift human sample STUDY --truth nowhere.csv",
    "shift human sample STUDY --truth labels.csv --images 0",
    "shift human sample STUDY --truth labels.csv --examples nowhere",
    "shift human sample STUDY --truth labels.csv --guide nowhere.md",
    "shift human serve STUDY --page label",
    "shift human serve STUDY --page review",
    "shift human serve STUDY --page nonsense --answers 2",
    "shift human serve STUDY --page label --family animal",
    "shift human status STUDY",
    "shift human report STUDY --output STUDY/page.html",
    "shift human report STUDY --person nobody",
    "shift human export STUDY STUDY/new",
    "shift human join STUDY nobody",
    "shift video collect STUDY",
    "shift video collect STUDY nowhere --labels labels.csv",
    "shift video collect STUDY nowhere --labels nowhere.csv --k -1",
    "shift video predict STUDY",
    "shift video serve STUDY --answers 2",
    "shift video status STUDY",
    "shift video report STUDY --output page.html",
    "shift video detection nowhere.json nowhere.json",
    "shift video detection labels.csv labels.csv",
    "kernel gram nowhere.npy --to STUDY/matrix",
    "kernel gram labels.csv --to matrix",
    "kernel gram STUDY --to matrix",
    "kernel gram nowhere.npy --to matrix --kernel nonsense",
    "kernel fit nowhere.npy --to machine.npz",
    "kernel fit labels.csv --to STUDY/machine.npz",
    "kernel fit STUDY --to machine.npz",
    "kernel fit STUDY --to labels.csv",
    "kernel list --nonsense",
    "kernel sequences nowhere.fa",
    "kernel sequences labels.csv",
    "predict STUDY new=kernel:labels.csv",
    "predict STUDY new=kernel:nowhere.npz",
    "shift compare nowhere.csv --output STUDY/page.html",
    "browse STUDY --port -1",
    "failures STUDY --model nobody",
    "causes list STUDY --nonsense",
    "causes export STUDY nowhere/causes.csv",
    "causes import STUDY labels.csv",
    "suite nowhere.csv --figures STUDY/figures",
    "suite labels.csv",
    "shift compare --original STUDY --new STUDY --truth-original labels.csv --truth-new nowhere.csv",
]
"""Every command, in ways that at least one of the studies refuses."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All studies and files; copy what you use."""
    root = tmp_path_factory.mktemp("made")
    for name, make in MADE.items():
        make(root / name)
    for name, content in FILES.items():
        (root / name).write_text(content)
    return root


def test_every_command_is_among_them():
    def words(group, before=()):
        for name, found in group.commands.items():
            yield from words(found, (*before, name)) if hasattr(found, "commands") else [(*before, name)]

    tried = {tuple(line.split()[:count]) for line in LINES for count in (1, 2, 3)}
    assert set(words(typer.main.get_command(app))) <= tried


@pytest.mark.parametrize("line", LINES)
def test_a_refused_command_writes_nothing(made, command, tmp_path, line):
    found = [_is_refused(made, command, tmp_path, line, stage) for stage in MADE]
    assert any(found), "no study refuses this"


def _is_refused(made, command, tmp_path, line, stage):
    shutil.copytree(made / stage, tmp_path / stage)
    for name in FILES:
        shutil.copy(made / name, tmp_path / name)
    before = snapshot(tmp_path)
    done = command(*(word.replace("STUDY", stage) for word in line.split()), cwd=tmp_path)
    if done.returncode != 2:
        return False
    assert done.stderr
    if "Usage" not in done.stderr:
        one_line(done)
    assert snapshot(tmp_path) == before, (line, stage)
    return True


@pytest.mark.parametrize(
    "refused",
    [
        lambda study: study.pool(items=["x", "x"]),
        lambda study: study.pool(items=np.zeros((3, 4, 4), float)),
        lambda study: study.pool(items=np.zeros((3, 4, 4), np.uint8)),
        lambda study: study.predict(new=labels(3)[:5]),
        lambda study: study.predict(new=["yeti"] * len(ITEMS)),
        lambda study: study.predict(one=labels(3)),
        lambda study: study.predict(again=["one"], one=["yeti"] * len(ITEMS)),
        lambda study: study.predict(again=["one"], one=maps(5)),
        lambda study: study.predict(new=labels(3), one=labels(3)),
        lambda study: study.predict(new=maps(3), one=maps(3)),
        lambda study: study.predict(again=["one"], one=labels(3), new=labels(3)[:5]),
        lambda study: study.join(new=["yeti"] * len(ITEMS)),
        lambda study: study.select(k=-1),
        lambda study: study.configure(answers=3, port=-5),
        lambda study: study.change("judge", {"min_answers": 0}),
        lambda study: study.answer([{"item": "item-00", "label": "cat", "answer": "perhaps"}], "ann"),
    ],
)
def test_a_refused_method_writes_nothing(made, tmp_path, refused):
    found = [_is_refused_in_memory(made, tmp_path, refused, stage) for stage in MADE]
    assert any(found), "no study refuses this"


def _is_refused_in_memory(made, tmp_path, refused, stage):
    shutil.copytree(made / stage, tmp_path / stage)
    before = snapshot(tmp_path / stage)
    try:
        refused(Study(tmp_path / stage))
    except DissensusError:
        assert snapshot(tmp_path / stage) == before, stage
        return True
    return False
