from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from dissensus.errors import StudyError
from dissensus.store.parts import Parts

INPUTS = {
    "pool": "00ff",
    "predictions": {"alexnet": "a1", "resnet101": "b2", "vgg16": "c3"},
    "settings": {"k": 30, "reserves": 30, "cap": 3, "confidence": 0.8, "distance": "weighted"},
    "duels": (1, 2),
}


def changed(**values) -> dict:
    return INPUTS | values


def test_finished_parts_are_found_again(tmp_path: Path) -> None:
    Parts(tmp_path / "step", "select", INPUTS).write(3, pa.table({"x": [1, 2]}))
    resumed = Parts(tmp_path / "step", "select", INPUTS)
    assert [number in resumed for number in (2, 3)] == [False, True]
    assert resumed.read(3)["x"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        (changed(pool="11ff"), 'pool "00ff" → "11ff"'),
        (changed(settings=INPUTS["settings"] | {"distance": "hops"}), 'settings.distance "weighted" → "hops"'),
        (changed(predictions=INPUTS["predictions"] | {"vgg16": "zz"}), 'predictions.vgg16 "c3" → "zz"'),
        (changed(predictions={"alexnet": "a1"}), "predictions.resnet101"),
        (changed(extra=1), "extra null → 1"),
        ({name: INPUTS[name] for name in ("pool", "predictions", "settings")}, "duels [1, 2] → null"),
    ],
)
def test_a_changed_input_is_refused_and_named_alone(tmp_path: Path, inputs: dict, named: str) -> None:
    Parts(tmp_path / "step", "select", INPUTS).write(0, pa.table({"item": [1]}))
    with pytest.raises(StudyError) as refused:
        Parts(tmp_path / "step", "select", inputs)
    message = str(refused.value)
    assert message.startswith("select was started with different inputs (")
    assert named in message
    assert f"delete {tmp_path / 'step'} to start over" in message
    assert "settings.k " not in message
    assert "\n" not in message


def test_a_step_that_kept_nothing_can_begin_with_other_inputs(tmp_path: Path) -> None:
    Parts(tmp_path / "step", "select", INPUTS)
    Parts(tmp_path / "step", "select", {"pool": "other"}).write(0, pa.table({"item": [1]}))
    with pytest.raises(StudyError):
        Parts(tmp_path / "step", "select", INPUTS)


def test_a_step_that_was_refused_can_go_on_with_the_old_inputs(tmp_path: Path) -> None:
    Parts(tmp_path / "step", "select", INPUTS).write(0, pa.table({"x": [1]}))
    with pytest.raises(StudyError):
        Parts(tmp_path / "step", "select", changed(pool="?"))
    assert 0 in Parts(tmp_path / "step", "select", INPUTS)


def test_after_clearing_a_step_begins_anew(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "step", "select", INPUTS)
    parts.write(0, pa.table({"x": [1]}))
    parts.clear()
    assert not (tmp_path / "step").exists()
    assert 0 not in Parts(tmp_path / "step", "select", changed(pool="another"))


def test_a_half_written_part_does_not_count(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "step", "select", INPUTS)
    (tmp_path / "step" / ".000001.parquet.unfinished").write_bytes(b"PAR1")
    assert 1 not in parts


def test_files_that_other_programs_leave_beside_parts_are_ignored(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "step", "select", INPUTS)
    for name in ("._000000", "000000 (copy)", "-00001", "notes"):
        (tmp_path / "step" / f"{name}.parquet").write_bytes(b"something else")
    assert not parts
    for number in (1, 0):
        parts.write(number, pa.table({"x": [number]}))
    assert [part["x"].to_pylist() for part in Parts(tmp_path / "step", "select", INPUTS).all()] == [[0], [1]]


def test_a_part_of_another_step_is_refused(tmp_path: Path) -> None:
    one, other = (Parts(tmp_path / name, "predict", INPUTS) for name in ("predict-a", "predict-b"))
    one.write(0, pa.table({"label": [1]}))
    other.write(0, pa.table({"label": [2]}))
    shutil.copy(tmp_path / "predict-a" / "000000.parquet", tmp_path / "predict-b")
    with pytest.raises(StudyError, match=r"holds a different part\): delete it and run the command again"):
        other.read(0)
