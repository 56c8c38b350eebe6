from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError, StudyError
from dissensus.records import ANSWERS, Judgement
from dissensus.store.judgements import Judgements

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


def judgement(
    number: object, answer: str = "yes", item: str = "i", label: int = 0, annotator: str = "ann"
) -> Judgement:
    return Judgement(
        id=str(number), item=item, label=label, annotator=annotator, answer=answer, time="2026-01-01T00:00:00+00:00"
    )


@pytest.fixture
def store(tmp_path: Path) -> Judgements:
    return Judgements(tmp_path / "judgements.sqlite")


def test_a_study_without_answers_has_none_and_makes_no_file(store: Judgements) -> None:
    assert (list(store.all()), store.about([("i", 0)]), store.counts()) == ([], [], (0, 0))
    assert not store.path.exists()


@given(
    st.lists(st.builds(judgement, words, st.sampled_from(ANSWERS), words, st.integers(0, 65_533), words), max_size=8)
)
@settings(max_examples=30)
def test_answers_come_back_as_they_were_in_the_order_in_which_they_came(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Judgement]
) -> None:
    store = Judgements(tmp_path_factory.mktemp("s") / "j.sqlite")
    distinct = list({found.id: found for found in given_}.values())
    assert store.append(distinct) == len(distinct)
    assert list(store.all()) == distinct
    assert store.counts() == (len(distinct), len({found.annotator for found in distinct}))


def test_what_is_stored_already_is_stored_once(store: Judgements) -> None:
    assert store.append([judgement(1), judgement(2)]) == 2
    assert store.append([judgement(2), judgement(1)]) == 0
    assert store.append([judgement(2), judgement(3), judgement(3)]) == 1
    assert [found.id for found in store.all()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "second",
    [
        judgement(1, answer="no"),
        judgement(1, item="j"),
        judgement(1, label=1),
        judgement(1, annotator="bob"),
    ],
)
def test_an_id_that_stands_for_another_answer_is_refused_and_nothing_is_stored(
    store: Judgements, second: Judgement
) -> None:
    store.append([judgement(1)])
    with pytest.raises(JudgementError, match="the id '1' stands for another answer already") as refused:
        store.append([judgement(2), second, judgement(3)])
    assert "i, yes by ann" in str(refused.value)
    assert list(store.all()) == [judgement(1)]


def test_two_answers_of_one_import_may_not_share_an_id(store: Judgements) -> None:
    with pytest.raises(JudgementError, match="the id '1'"):
        store.append([judgement(1), judgement(1, answer="no")])
    assert store.counts() == (0, 0)


def test_an_import_that_breaks_off_stores_nothing(store: Judgements) -> None:
    def breaks():
        yield from (judgement(number) for number in range(5_000))
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError):
        store.append(breaks())
    assert store.counts() == (0, 0)
    assert store.append([judgement(0)]) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgements SET answer = 'no'",
        "UPDATE judgements SET seq = seq + 10",
        "DELETE FROM judgements",
        "DELETE FROM judgements WHERE id = '1'",
        "INSERT OR REPLACE INTO judgements VALUES (9, '1', 'i', 0, 'ann', 'no', 't')",
        "INSERT OR REPLACE INTO judgements VALUES (1, 'new', 'i', 0, 'ann', 'no', 't')",
        "INSERT INTO judgements VALUES (9, '1', 'i', 0, 'ann', 'no', 't') ON CONFLICT (id) DO UPDATE SET answer = 'no'",
        "INSERT INTO judgements VALUES (9, 'x', 'i', 0, 'ann', 'perhaps', 't')",
    ],
)
def test_nobody_changes_or_removes_an_answer(store: Judgements, statement: str) -> None:
    store.append([judgement(1), judgement(2)])
    with closing(sqlite3.connect(store.path)) as raw:
        try:
            raw.execute(statement)
            raw.commit()
        except sqlite3.IntegrityError:
            raw.rollback()
    assert list(store.all()) == [judgement(1), judgement(2)]


@pytest.mark.parametrize("statement", ["UPDATE judgements SET answer = 'no'", "DELETE FROM judgements"])
def test_changing_an_answer_is_refused_with_a_reason(store: Judgements, statement: str) -> None:
    store.append([judgement(1)])
    with closing(sqlite3.connect(store.path)) as raw, pytest.raises(sqlite3.IntegrityError, match="appended, never"):
        raw.execute(statement)


def test_answers_are_on_the_disk_before_they_are_acknowledged(store: Judgements) -> None:
    with store._opened() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL: every commit is synced
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_answers_about_some_questions(store: Judgements) -> None:
    items = [("i", 0), ("i", 1), ("j", 0), ("j", 1)]
    store.append(judgement(number, item=item, label=label) for number, (item, label) in enumerate(items))
    wanted = [("j", 0), ("i", 1), ("i", 1), ("k", 0)]
    assert [(found.item, found.label) for found in store.about(wanted)] == [("i", 1), ("j", 0)]
    assert store.about([]) == []


WRITER = """
import sys
from pathlib import Path
from dissensus.records import Judgement
from dissensus.store.judgements import Judgements
who, store = sys.argv[1], Judgements(Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(30):
    given = dict(item="i", label=0, annotator=who, answer="yes", time="2026-01-01")
    store.append([Judgement(id=f"{who}-{number}-{part}", **given) for part in range(2)])
"""


def test_no_answer_is_lost_when_several_processes_write_at_once(store: Judgements) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(number), str(store.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(3)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    ends = [writer.communicate("go\n") for writer in writers]
    assert [(writer.returncode, end[1]) for writer, end in zip(writers, ends, strict=True)] == [(0, "")] * 3
    assert store.counts() == (3 * 30 * 2, 3)


def test_a_full_disk_stores_nothing_of_the_import_and_keeps_the_rest(small_disk: Path) -> None:
    store = Judgements(small_disk / "judgements.sqlite")
    store.append([judgement(number) for number in range(10)])
    with pytest.raises(StudyError, match="full: make room") as refused:
        store.append(judgement(f"new {number}", item="x" * 200) for number in range(5_000))
    assert "\n" not in str(refused.value)
    assert [found.id for found in store.all()] == [str(number) for number in range(10)]
    assert store.append([judgement("later")]) == 1


def test_a_damaged_file_is_said_to_be_one(store: Judgements) -> None:
    store.path.write_bytes(b"this is no database, whatever its name says" * 100)
    for use in (lambda: store.append([judgement(1)]), lambda: list(store.all()), store.counts):
        with pytest.raises(StudyError, match="not a database: restore it from a copy"):
            use()


def test_a_folder_that_is_not_there_is_not_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="writable"):
        Judgements(tmp_path / "none" / "judgements.sqlite").append([judgement(1)])


def test_a_writer_that_never_ends_is_told_from_a_damaged_file(
    store: Judgements, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append([judgement(1)])
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **_: connect(path, timeout=0.1))
    with closing(connect(store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StudyError, match="another process is writing"):
            store.append([judgement(2)])
    assert store.append([judgement(2)]) == 1
