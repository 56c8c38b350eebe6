"""Damage to a study never changes a ranking unsaid: checksums, missing rounds, `dissensus check`."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forking import killed_at_change
from small import answered, one_line, selected, snapshot

from dissensus.errors import StudyError
from dissensus.store import checksums
from dissensus.store.files import write_bytes
from dissensus.store.parts import clear_finished
from dissensus.store.tables import StudyTable, read_table
from dissensus.study import Study

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in which everything is answered; copy it."""
    root = tmp_path_factory.mktemp("whole") / "study"
    answered(root)
    return root


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "study")
    return tmp_path / "study"


def flipped(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_whole_study_is_said_to_be_whole(study, command):
    done = command("check", study)
    assert done.returncode == 0
    assert "is intact" in done.stdout
    assert json.loads(command("check", study, "--json").stdout)["whole"] is True


def test_any_tool_can_verify_the_files(study):
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "checksums.txt"], cwd=study, check=True)


@pytest.mark.parametrize(
    "name",
    [
        "classes.json",
        "pool.parquet",
        "predictions/one.parquet",
        "rounds/001/selection.parquet",
        "rounds/002/selection.parquet",
        "checksums.txt",
    ],
)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_flipped_bit_is_named_and_changes_no_ranking(study, command, name, share):
    path = study / name
    flipped(path, int(path.stat().st_size * share))
    assert "damaged" in one_line(command("rank", study))
    done = command("check", study)
    assert done.returncode == 1
    assert name in done.stdout


@pytest.mark.parametrize("number", ["001", "002"])
def test_a_missing_round_is_refused(study, command, number):
    shutil.rmtree(study / "rounds" / number)
    for name in ("status", "rank", "report", "select", "questions"):
        assert f"{number}/selection.parquet is missing" in one_line(command(name, study))
    assert command("check", study).returncode == 1


def test_a_gap_in_the_rounds_is_refused_without_checksums_too(study, command):
    (study / "checksums.txt").unlink()
    shutil.rmtree(study / "rounds" / "001")
    assert "001/selection.parquet is missing" in one_line(command("rank", study))


def test_swapped_files_are_refused(study, command):
    one, two = (study / "predictions" / f"{name}.parquet" for name in ("one", "two"))
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)
    assert "damaged" in one_line(command("rank", study))
    (study / "checksums.txt").unlink()
    assert "holds the predictions of two" in one_line(command("rank", study))


@pytest.mark.parametrize("name", ["pool.parquet", "predictions/two.parquet", "classes.json"])
def test_a_missing_file_is_not_taken_for_one_that_never_was(study, command, name):
    (study / name).unlink()
    assert "missing" in one_line(command("status", study))


@pytest.mark.parametrize("is_empty", [False, True])
def test_answers_that_are_gone_are_missed(study, command, is_empty):
    (study / "judgements.sqlite").unlink()
    if is_empty:
        (study / "judgements.sqlite").touch()
    line = one_line(command("status", study))
    assert "judgements.sqlite is" in line
    assert command("check", study, "--record").returncode == 0
    assert command("status", study).returncode == 0


def test_a_changed_answer_in_the_database_is_noticed(study, command):
    path = study / "judgements.sqlite"
    content = path.read_bytes()
    place = content.index(b'annasked"no"')
    path.write_bytes(content[:place] + b"bnn" + content[place + 3 :])
    for words in ("rank", "status", "screen", "screen --exclude", "annotators list", "serve --port 0", "backup"):
        first, *rest = words.replace("annotators list", "annotators|list").split()
        given = [study.parent / "copy"] if first == "backup" else rest
        assert "judgements.sqlite is damaged" in one_line(command(*first.split("|"), study, *given)), words
    assert "judgements.sqlite is damaged" in one_line(
        command("judgements", "export", study, study.parent / "a.csv"),
    )
    assert command("check", study).returncode == 1


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["ratings.csv", "predictions/one.parquet"])
def test_a_pipe_or_folder_under_the_name_of_a_file_is_named(study, command, make, name):
    (study / name).unlink(missing_ok=True)
    make(study / name)
    done = command("check", study)
    assert done.returncode == 1
    assert f"{name} is not a file" in " ".join(done.stdout.split())


def test_damaged_predictions_are_made_again_to_the_same_bytes(study, command):
    path = study / "predictions" / "one.parquet"
    before = path.read_bytes()
    flipped(path, 300)
    assert "--again one" in one_line(command("status", study))
    assert command("predict", study, "--again", "one").returncode == 0
    assert path.read_bytes() == before
    assert command("check", study).returncode == 0


def test_pages_of_large_tables_are_verified_as_they_are_read(study, command, monkeypatch):
    monkeypatch.setattr(checksums, "LARGEST", 0)
    path = study / "predictions" / "one.parquet"
    flipped(path, pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset + 40)
    with pytest.raises(OSError, match="CRC"):
        StudyTable(path).read()
    assert "damaged" in one_line(command("rank", study, "--method", "perron"))


def test_the_ends_of_large_files_are_verified(tmp_path, command, monkeypatch):
    """Of a Parquet file, the footer says what is where: pages that are read from a wrong place may be whole, too."""
    monkeypatch.setattr(checksums, "LARGEST", 0)
    study = selected(tmp_path / "study").folder.root
    path = study / "predictions" / "one.parquet"
    whole = path.read_bytes()
    checksums.verify(path)
    footer = int.from_bytes(whole[-8:-4], "little")
    for place in (len(whole) - 8 - footer, len(whole) - 8 - footer // 2, len(whole) - 5, len(whole) - 1):
        flipped(path, place)
        assert "is damaged: it does not match its checksum" in one_line(command("rank", study))
        path.write_bytes(whole)
    path.write_bytes(whole[:-20])
    assert "is damaged" in one_line(command("rank", study))
    path.write_bytes(whole)
    assert "nobody has answered yet" in one_line(command("rank", study))
    listed = checksums.read_checksums(study)
    assert set(listed.ends) <= {*listed.files.values()}  # none of files that have been replaced
    assert checksums.digest_of(path) in listed.ends
    Study(study).check(record=True)
    assert checksums.read_checksums(study).ends.items() >= listed.ends.items()


def test_a_file_that_was_small_when_it_was_listed_is_verified_as_a_whole(study, command, monkeypatch):
    path = study / "predictions" / "one.parquet"
    monkeypatch.setattr(checksums, "LARGEST", path.stat().st_size)
    checksums.verify(path)
    table = pq.read_table(path)
    labels = (table["label"].to_numpy() + 1) % 2
    table = table.set_column(0, table.schema.field("label"), pa.array(labels.astype(np.uint16)))
    stamps = {**table.schema.metadata, b"padding": b"x" * path.stat().st_size}
    pq.write_table(table.replace_schema_metadata(stamps), path)
    assert checksums.is_large(path)
    assert "is damaged: it does not match its checksum" in one_line(command("rank", study))


def test_a_pool_that_another_tool_has_rewritten_is_refused_where_pictures_are_looked_up(tmp_path, command):
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=np.arange(300 * 8 * 8 * 3).reshape(300, 8, 8, 3).astype(np.uint8))
    path = study.folder.pool
    pq.write_table(pq.read_table(path), path, row_group_size=100)
    study.check(record=True)
    assert "another tool has rewritten it, in row groups of another size" in one_line(
        command("duplicates", study.folder.root)
    )


def test_a_study_of_an_older_version_opens_and_gets_checksums_when_told(study, command):
    (study / "checksums.txt").unlink()
    assert command("rank", study).returncode == 0
    done = command("check", study)
    assert done.returncode == 1
    assert "no checksum for" in done.stdout
    assert command("check", study, "--record").returncode == 0


@pytest.mark.parametrize("moment", [1, 2], ids=["before the rename", "after it"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "replaced"])
def test_a_kill_at_any_moment_leaves_a_whole_study(tmp_path, moment, is_new):
    study = selected(tmp_path / "study")
    path = study.folder.benchmark
    if not is_new:
        write_bytes(path, b"model,accuracy\none,0.1\n")
    assert killed_at_change(moment, lambda: write_bytes(path, b"model,accuracy\none,0.5\n"))
    checksums.verify(path)
    assert study.check().is_whole, study.check()
    clear_finished(study.folder)  # as the next command that changes the study does
    known = checksums.read_checksums(study.folder.root)
    assert not known.next
    assert study.check().is_whole
    assert (path.name in known.files) == path.exists() == (moment == 2 or not is_new)
    if path.exists():
        path.unlink()
        assert "benchmark.csv is missing" in study.check().problems[0]


def test_a_replaced_file_that_is_lost_after_a_kill_is_missed(tmp_path):
    study = selected(tmp_path / "study")
    write_bytes(study.folder.benchmark, b"old")
    assert killed_at_change(2, lambda: write_bytes(study.folder.benchmark, b"new"))
    study.folder.benchmark.unlink()
    with pytest.raises(StudyError, match="missing"):
        checksums.verify(study.folder.benchmark)


def test_a_rename_that_fails_leaves_no_trace_on_the_list(tmp_path, monkeypatch):
    study = selected(tmp_path / "study")
    before, replace = study.folder.checksums.read_bytes(), os.replace

    def failing(source, target):
        if target == study.folder.benchmark:
            raise OSError("no")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="no"):
        write_bytes(study.folder.benchmark, b"new")
    assert study.folder.checksums.read_bytes() == before


def test_recording_replaces_the_list_at_once(study, monkeypatch):
    path = study / "checksums.txt"
    path.write_text("damaged")

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(checksums, "replace_file", stopped)
        with pytest.raises(KeyboardInterrupt):
            Study(study).check(record=True)
    assert path.read_text() == "damaged"
    assert Study(study).check(record=True).is_whole


def test_a_refused_report_does_not_hide_damage(study, tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("model,accuracy\none,0.5\ntwo,0.6\nthree,0.7\n")
    Study(study).report(benchmark=given)
    kept = study / "benchmark.csv"
    for damage, line in (
        (lambda: kept.write_text("model,accuracy\none,1\n"), "is damaged"),
        (kept.unlink, "is missing"),
    ):
        damage()
        given.write_text("model,accuracy\nfour,0.5\n")
        with pytest.raises(StudyError, match="none of the competing models"):
            Study(study).report(benchmark=given)
        assert line in Study(study).check().problems[0]


def test_a_round_that_cannot_be_read_is_not_to_be_deleted(study, monkeypatch):
    monkeypatch.setattr(checksums, "LARGEST", 0)
    path = study / "rounds" / "001" / "selection.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StudyError, match="restore it from a backup"):
        read_table(path)


@pytest.mark.parametrize("damage", [lambda path: flipped(path, 40), Path.unlink], ids=["damaged", "missing"])
def test_damage_to_pictures_given_in_memory_is_named(tmp_path, command, damage):
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=np.arange(4 * 8 * 8, dtype=np.uint8).reshape(4, 8, 8))
    assert study.check().is_whole
    picture = next((tmp_path / "study" / "given").rglob("2.png"))
    damage(picture)
    done = command("check", tmp_path / "study")
    assert done.returncode == 1
    assert str(picture) in done.stdout
    assert study.check(record=True).is_whole


def test_pictures_of_an_older_version_have_no_checksum(tmp_path):
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=np.zeros((2, 8, 8), np.uint8))
    next((tmp_path / "study" / "given").rglob("checksums.txt")).unlink()
    assert len(study.check().unlisted) == 2
    assert study.check(record=True).is_whole


@pytest.mark.parametrize("verb", ["report", "ask"])
def test_commands_that_write_wait_for_others(study, tmp_path, verb):
    (tmp_path / "q.jsonl").write_text(json.dumps({"item": "item-00", "label": "cat"}))
    with Study(study)._lock, pytest.raises(StudyError, match="another command"):
        getattr(Study(study), verb)(*([tmp_path / "q.jsonl"] if verb == "ask" else []))


def test_check_writes_nothing(study, command):
    before = snapshot(study)
    command("check", study)
    flipped(study / "pool.parquet", 100)
    before |= {"pool.parquet": snapshot(study)["pool.parquet"]}
    command("check", study)
    assert snapshot(study) == before
    assert Study(study).check().problems


def test_random_damage_ends_right_or_in_one_line():
    """A small run of benchmarks/damage.py."""
    spec = importlib.util.spec_from_file_location("damage", ROOT / "benchmarks" / "damage.py")
    damage = importlib.util.module_from_spec(spec)
    sys.modules["damage"] = damage
    spec.loader.exec_module(damage)
    found, failures = damage.attack(9, 7, lambda _: None)
    assert failures == []
    assert sum(found.values()) == 9 * 8
