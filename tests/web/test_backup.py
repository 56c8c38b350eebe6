"""A backup that was taken while people answered is a study with every answer that was acknowledged before."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crowd import Crowd
from databases import Postgres
from served import Served, eventually, make_study_without_pictures

from dissensus.errors import StudyError
from dissensus.steps import backing_up
from dissensus.store.database import Database
from dissensus.study import Study

PEOPLE = ("ada", "ben", "cem", "dia")


def ids(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "judgements.sqlite") as connection:
        return {row[0] for row in connection.execute("SELECT id FROM answers")}


@pytest.mark.slow
def test_a_backup_of_a_busy_service_has_every_acknowledged_answer(tmp_path: Path, command: Callable[..., Any]) -> None:
    study = make_study_without_pictures(tmp_path / "busy", 2000, k=500, reserves=50, cap=500)
    study.configure(answers=len(PEOPLE))
    folder = study.folder.root
    with Served(folder) as service, Crowd({name: service.add(name) for name in PEOPLE}, 1) as crowd:
        for number in range(5):
            so_far = crowd.acknowledged
            eventually(lambda so_far=so_far: crowd.acknowledged > so_far + 50)
            before = {identity for person in crowd.people for identity in list(person.acknowledged)}
            done = command("backup", folder, tmp_path / f"copy {number}")
            assert done.returncode == 0, done.stderr
            sent = {identity for person in crowd.people for identity in list(person.sent)}
            assert before <= ids(tmp_path / f"copy {number}") <= sent
        assert not crowd.problems
    last = tmp_path / "copy 4"
    assert f"{len(ids(last)):,} answers" in done.stdout
    shutil.move(folder, tmp_path / "lost")  # the original is gone: this is all there is
    restored = tmp_path / "restored"
    shutil.move(last, restored)
    status = json.loads(command("status", restored, "--json").stdout)
    assert status["judgements"] > 50
    Study(restored).change("judge", {"min_answers": 1, "share": 0.0})  # not everybody was asked everything yet
    ranked = command("rank", restored)
    assert ranked.returncode == 0, ranked.stderr
    with Served(restored) as service:
        assert service.add("eva").answer_next() is not None


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.init(tmp_path / "study", classes=["cat", "dog"])
    made.pool(items=["a", "b", "c", "d"])
    made.predict(small=["cat", "cat", "dog", "dog"], large=["dog", "cat", "dog", "cat"])
    made.select(k=2)
    made.answer([{"item": one.item, "label": one.name, "answer": "yes"} for one in made.questions()], "ann")
    return made


def test_a_backup_is_the_same_study(study: Study, tmp_path: Path) -> None:
    (study.folder.root / ".unfinished").mkdir()
    (study.folder.root / ".unfinished" / "part").write_text("")
    assert study.backup(tmp_path / "new" / "copy") == 4
    copied = Study(tmp_path / "new" / "copy")
    assert copied.status().judgements == 4
    assert copied.rank() == study.rank()
    assert stat.S_IMODE(copied.folder.judgements.stat().st_mode) == 0o600
    names = [{path.relative_to(one.folder.root) for path in one.folder.lasting_files()} for one in (study, copied)]
    assert names[0] == names[1] > {Path("study.toml"), Path("pool.parquet"), Path("rounds/001/selection.parquet")}
    assert not (copied.folder.root / ".unfinished").exists()
    assert copied.check().is_whole


def test_a_backup_of_a_damaged_study_is_known_to_be_damaged(study: Study, tmp_path: Path) -> None:
    path = study.folder.selection(1)
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    (problem,) = study.check().problems
    study.backup(tmp_path / "copy")
    assert Study(tmp_path / "copy").check().problems == (
        problem.replace(str(tmp_path / "study"), str(tmp_path / "copy")),
    )


def test_a_backup_is_there_after_a_power_cut(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[tuple[Path, bool]] = []
    target = tmp_path / "new" / "copy"
    monkeypatch.setattr(backing_up, "flush_folder", lambda path: flushed.append((path, target.exists())))
    study.backup(target)
    assert flushed == [(target.parent, True)]


def test_a_study_without_answers_has_a_backup(tmp_path: Path) -> None:
    made = Study.init(tmp_path / "study", classes=["cat", "dog"])
    assert made.backup(tmp_path / "copy") == 0
    assert not Study(tmp_path / "copy").folder.judgements.exists()


def test_refused_backups_write_nothing(study: Study, tmp_path: Path, command: Callable[..., Any]) -> None:
    (tmp_path / "there").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for target, word in ((tmp_path / "there", "already exists"), (study.folder.root / "copy", "inside the study")):
        done = command("backup", study.folder.root, target)
        assert done.returncode == 2
        assert word in done.stderr
        assert len(done.stderr.splitlines()) == 1
    with study._lock, pytest.raises(StudyError, match="another command"):
        Study(study.folder.root).backup(tmp_path / "copy")
    assert sorted(tmp_path.rglob("*")) == sorted({*before, study.folder.lock})


def test_a_damaged_database_has_no_backup(study: Study, tmp_path: Path, command: Callable[..., Any]) -> None:
    study._database.close()
    with open(study.folder.judgements, "r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 60_000)
    done = command("backup", study.folder.root, tmp_path / "copy")
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_on_a_server_it_is_said_what_to_use(
    study: Study, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    monkeypatch.setenv("DISSENSUS_DATABASE", postgres.new_database())
    done = command("backup", study.folder.root, tmp_path / "copy")
    assert done.returncode == 2
    assert "pg_dump" in done.stderr
    assert not (tmp_path / "copy").exists()


def test_only_the_owner_reads_answers(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'answers.sqlite'}")
    database.set("key", "value")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("answers.sqlite", "answers.sqlite-wal", "answers.sqlite-shm"), 0o600)
