"""Searches that are interrupted, continued later, or made with inputs that have changed since."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from PIL import Image
from planted_readers import COMMAND, MODELS, made

from dissensus import Study
from dissensus.errors import StudyError
from dissensus.store.tables import write_table


def test_models_that_are_added_later_are_searched_alone(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    before = study.folder.mepis("easy").read_bytes()
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    assert study.laconic().classifiers == ("easy", "strict")
    assert study.folder.mepis("easy").read_bytes() == before


def test_one_model_was_searched_before_an_image_was_mended(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    whole = (tmp_path / "pool" / "2.png").read_bytes()
    (tmp_path / "pool" / "2.png").write_bytes(b"not an image")
    assert study.laconic(truth).images == 3
    (tmp_path / "pool" / "2.png").write_bytes(whole)
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    result = study.laconic()
    assert result.images == 4
    assert result.unused == {"easy": 1, "strict": 0}


def test_an_image_that_changes_between_two_searches(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    Image.new("RGB", (36, 30), (250, 250, 250)).save(tmp_path / "pool" / "2.png")
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    with pytest.raises(StudyError, match=r"2\.png has changed between the searches of easy and strict: remove "):
        study.laconic()


@pytest.mark.parametrize("changed", [{"side": 16}, {"images": 1}, {"reductions": ["colour"]}, {"crop": 0.5}])
def test_settings_that_change_after_the_search(tmp_path: Path, changed: dict[str, object]) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth, models=["easy"])
    study.change("laconic", changed)
    calls = (
        study.laconic_result, study.laconic_report, lambda: study.laconic(models=["strict"]),
        lambda: study.laconic_pool(tmp_path / "reduced"), lambda: study.laconic_serve(lambda *_: None),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(StudyError, match="laconic find easy was started with different inputs"):
            call()


def test_another_function_of_the_same_file_is_another_model(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    settings = study.folder.settings
    settings.write_text(settings.read_text().replace("planted.py:strict", "planted.py:slow"))
    study.trust(again=["strict"])
    with pytest.raises(StudyError, match=r"target .*:strict\" → .*:slow"):
        study.laconic()


def test_a_removed_model_leaves_nothing(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    study.laconic_report()
    study.remove("strict")
    assert not study.folder.mepis("strict").exists()
    assert not study.folder.laconic_results.exists()
    assert study.laconic().classifiers == ("easy",)
    assert study.check().problems == ()


def test_check_finds_damage(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", count=2)
    study.laconic(truth)
    assert study.check().is_whole
    path = study.folder.mepis("easy")
    content = path.read_bytes()
    for place in (len(content) - 9, 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        (problem,) = study.check().problems
        assert problem.startswith(f"{path} is damaged")


def test_code_that_changed_is_not_run_as_a_reader_either(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    (tmp_path / "other.py").write_text(MODELS)
    study.predict([f"strict=python:{tmp_path / 'other.py'}:strict"])
    (tmp_path / "planted.py").write_text(f"{MODELS}\nraise SystemExit")
    with pytest.raises(StudyError, match=r"code that you have not agreed to \(python:.*planted\.py:easy\)"):
        study.laconic(models=["strict"])


@pytest.mark.slow
def test_a_killed_search_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    whole, truth = made(tmp_path, "slow", count=6)
    killed = Study(shutil.copytree(whole.folder.root, tmp_path / "killed"))
    whole.laconic(truth)
    command = [*COMMAND, str(killed.folder.root), "--truth", str(truth), "--trust", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    parts = killed.folder.parts("laconic-find")
    while len(list(parts.glob("*.parquet"))) < 2:
        time.sleep(0.02)
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(list(parts.glob("*.parquet"))) < 6
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["images"] == 6
    for path in (whole.folder.mepis("slow"), whole.folder.laconic_readings):
        assert (killed.folder.root / path.relative_to(whole.folder.root)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("writes", [1, 2])
def test_a_search_that_is_killed_at_its_end_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """After the file of the first model, or before the parts are removed."""
    from dissensus.laconic import finding

    study, truth = made(tmp_path, "easy", "strict", count=2)
    whole = Study(shutil.copytree(study.folder.root, tmp_path / "whole"))
    whole.trust(again=["easy", "strict"])
    whole.laconic(truth)
    left, clear = [None] * writes, finding.Parts.clear

    def written(*given: object) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        write_table(*given)  # type: ignore[arg-type]

    def cleared(parts: finding.Parts) -> None:
        if not left:
            raise KeyboardInterrupt
        clear(parts)

    with monkeypatch.context() as patched:
        patched.setattr(finding, "write_table", written)
        patched.setattr(finding.Parts, "clear", cleared)
        with pytest.raises(KeyboardInterrupt):
            study.laconic(truth)
    study.laconic()
    assert not study.folder.parts("laconic-find").exists()
    for name in ("easy", "strict"):
        assert study.folder.mepis(name).read_bytes() == whole.folder.mepis(name).read_bytes()
