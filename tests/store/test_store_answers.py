from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import ANSWERS, Assignment, Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database

TIME = "2026-01-01T00:00:00+00:00"
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def response(number: object, answer: Any = "yes", kind: str = "contains", item: str = "i", **more: Any) -> Response:
    body = {"item": item, "label": 0} if kind == "contains" else {"item": item}
    given = {"id": str(number), "annotator": "ann", "time": TIME} | more
    return Response(question=Question(kind=kind, body=body), answer=answer, **given)


def assignment(ticket: str, time: str = TIME, **more: Any) -> Assignment:
    question = Question(kind="choice", body={"first": "a", "second": "b"})
    given = {"annotator": "ann", "role": "asked", "shown": {"left": "second"}} | more
    return Assignment(ticket=ticket, question=question, time=time, **given)


@pytest.fixture
def store(database: Database) -> AnswerLog:
    return AnswerLog(database)


def stored(store: AnswerLog) -> list[Response]:
    return [found for _, found in store.all()]


def test_a_study_without_answers_has_none(store: AnswerLog) -> None:
    assert (stored(store), list(store.raw()), list(store.about("contains", ["x"]))) == ([], [], [])
    assert (store.counts(), store.latest_seq(), store.assignment("t"), store.open_assignments("")) == (
        (0, 0),
        0,
        None,
        [],
    )


def test_readers_of_a_file_that_is_not_there_do_not_make_it(tmp_path: Path) -> None:
    store = AnswerLog(Database(f"sqlite:///{tmp_path / 'j.sqlite'}"))
    assert store.counts() == (0, 0)
    assert not (tmp_path / "j.sqlite").exists()
    assert store.append([response(1)]) == 1
    assert store.counts() == (1, 1)


answers = st.one_of(
    st.builds(response, st.integers(), st.sampled_from(ANSWERS), item=words, annotator=words, comment=words),
    st.builds(
        response,
        st.integers(),
        st.one_of(st.none(), st.integers(0, 999)),
        st.just("pick"),
        words,
        role=st.sampled_from(["asked", "control", "repeat", "training"]),
        shown=st.dictionaries(words, words | st.integers(), max_size=2),
        seconds=st.none() | st.floats(0, 1e6, allow_nan=False),
        ticket=st.none() | words,
    ),
)


@given(st.lists(answers, max_size=8, unique_by=lambda found: found.id))
@settings(max_examples=20)
def test_answers_come_back_as_they_were_in_the_order_in_which_they_came(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Response]
) -> None:
    store = AnswerLog(Database(f"sqlite:///{tmp_path_factory.mktemp('s') / 'j.sqlite'}"))
    half = len(given_) // 2
    assert store.append(given_[:half]) == half
    assert store.keep([], given_[half:]) == set()
    assert stored(store) == given_
    assert store.counts() == (len(given_), len({found.annotator for found in given_}))


def test_every_field_comes_back(store: AnswerLog) -> None:
    whole = response(
        1, None, "pick", 'ä "quoted" \\ \n 中', role="repeat", shown={"left": "second"}, seconds=1.25,
        comment="why: 'so' ; %s :x", ticket="t",
    )  # fmt: skip
    store.keep([], [whole])
    store.append([whole.model_copy(update={"id": "2"})])
    assert stored(store) == [whole, whole.model_copy(update={"id": "2"})]
    [(seq, found), _] = store.about("pick", [whole.question.text])
    assert (seq, found.question.text) == (store.latest_seq() - 1, whole.question.text)
    text = whole.question.text
    raw = (store.latest_seq(), "2", "pick", text, "ann", "repeat", "null", 1.25, "t", TIME)
    assert list(store.raw(after=store.latest_seq() - 1)) == [raw]


def test_what_is_stored_already_is_stored_once(store: AnswerLog) -> None:
    assert store.append([response(1), response(2)]) == 2
    assert store.append([response(2), response(1, time="later")]) == 0
    assert store.append([response(2), response(3), response(3)]) == 1
    assert store.keep([], [response(3, time="later", comment="again"), response(4), response(4)]) == set()
    assert [found.id for found in stored(store)] == ["1", "2", "3", "4"]
    assert stored(store)[2] == response(3)


OTHERS = [
    response(1, answer="no"),
    response(1, item="j"),
    response(1, 3, kind="pick"),
    response(1, annotator="bob"),
    response(1, role="control"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_an_id_that_stands_for_another_answer_is_refused_and_nothing_is_stored(
    store: AnswerLog, other: Response
) -> None:
    store.append([response(1)])
    with pytest.raises(JudgementError, match=r"the id '1' already belongs to another answer \(i, 0, yes by ann\)"):
        store.append([response(2), other, response(3)])
    assert stored(store) == [response(1)]


@pytest.mark.parametrize("other", OTHERS)
def test_the_service_is_told_which_ids_are_taken_and_the_others_are_kept(store: AnswerLog, other: Response) -> None:
    store.keep([], [response(1)])
    assert store.keep([assignment("t")], [response(2), other, response(3)]) == {"1"}
    assert stored(store) == [response(1), response(2), response(3)]
    assert store.assignment("t") == assignment("t")


def test_two_answers_of_one_import_may_not_share_an_id(store: AnswerLog) -> None:
    with pytest.raises(JudgementError, match="the id '1'"):
        store.append([response(1), response(1, answer="no")])
    assert store.counts() == (0, 0)


def test_an_import_that_breaks_off_stores_nothing(store: AnswerLog) -> None:
    def breaks():
        yield from (response(number) for number in range(5_000))
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        store.append(breaks())
    assert store.counts() == (0, 0)
    assert store.append([response(0)]) == 1


def test_answers_are_kept_while_an_import_is_read(store: AnswerLog, database_url: str) -> None:
    service = AnswerLog(Database(database_url))
    service.keep([], [response("first")])

    def slow():
        for number in range(3):
            assert service.keep([], [response(f"kept {number}")]) == set()
            yield response(f"imported {number}")

    assert store.append(slow()) == 3
    order = ["first", "kept 0", "kept 1", "kept 2", "imported 0", "imported 1", "imported 2"]
    assert [found.id for found in stored(store)] == order


def test_whoever_reads_on_from_a_number_misses_nothing_that_is_stored_later(
    store: AnswerLog, database_url: str
) -> None:
    """Numbers become visible in their order, also when several write at once."""
    names = [str(number) for number in range(4)]
    others = [AnswerLog(Database(database_url)) for _ in names]

    def write(who: str, other: AnswerLog) -> None:
        for number in range(25):
            other.append([response(f"{who}/{number}")]) if number % 5 == 0 else other.keep(
                [], [response(f"{who}/{number}")]
            )

    threads = [threading.Thread(target=write, args=pair) for pair in zip(names, others, strict=True)]
    store.append([response("begin")])
    for thread in threads:
        thread.start()
    seen, last = [], 0
    while len(seen) < 101:
        for row in store.raw(after=last):
            seen.append(row[1])
            last = row[0]
        if not any(thread.is_alive() for thread in threads) and last == store.latest_seq():
            break
    assert len(seen) == len(set(seen)) == 101


def test_answers_about_some_questions(store: AnswerLog) -> None:
    items = ["a", "b", "a", "c", "'; --", 'ä"\\']
    store.append(response(number, item=item) for number, item in enumerate(items))
    store.append([response("other", 1, kind="pick", item="a")])

    def about(*wanted: str) -> list[str]:
        texts = [Question(kind="contains", body={"item": item, "label": 0}).text for item in wanted]
        return [found.id for _, found in store.about("contains", texts)]

    assert about("c", "a", "a", "none") == ["0", "2", "3"]
    assert about("'; --", 'ä"\\') == ["4", "5"]
    assert about() == []
    assert about(*map(str, range(40_000)), "b") == ["1"]


def test_counts_of_a_kind_and_role(store: AnswerLog) -> None:
    store.append([response(1), response(2, annotator="bob", role="control"), response(3, 4, kind="pick")])
    assert (store.counts(), store.counts("contains"), store.counts("contains", "asked")) == ((3, 2), (2, 2), (1, 1))


def test_what_was_given_and_is_not_answered(store: AnswerLog) -> None:
    old, answered, waiting = (
        assignment("old", "2026-01-01"),
        assignment("b", "2026-01-02"),
        assignment("c", "2026-01-02"),
    )
    assert store.keep([old, answered], []) == set()
    assert store.keep([waiting, answered], [response(1, ticket="b")]) == set()
    assert store.open_assignments("2026-01-02") == [waiting]
    assert store.open_assignments("2026-01-01") == [old, waiting]
    assert store.assignment("b") == answered
    assert store.assignment("none") is None


def test_keeping_nothing_makes_no_file(tmp_path: Path) -> None:
    assert AnswerLog(Database(f"sqlite:///{tmp_path / 'j.sqlite'}")).keep([], []) == set()
    assert not (tmp_path / "j.sqlite").exists()


def test_characters_that_a_database_cannot_keep_are_refused_in_words(store: AnswerLog) -> None:
    for comment in ["\ud800"] if store.database.path is not None else ["\ud800", "\0"]:
        for use in (store.append, lambda rows: store.keep([], rows)):
            with pytest.raises(JudgementError, match="nothing was stored"):
                use([response(1), response(2, comment=comment)])
    assert store.counts() == (0, 0)


def test_an_answer_that_its_question_does_not_have_is_refused(store: AnswerLog) -> None:
    for use in (store.append, lambda rows: store.keep([], rows)):
        with pytest.raises(JudgementError, match="nothing was stored"):
            use([response(1), response(2, answer="perhaps")])
    assert store.keep([], [response(1)]) == set()
    assert store.counts() == (1, 1)


def test_threads_share_one_store(store: AnswerLog) -> None:
    def write(who: int) -> None:
        for number in range(20):
            store.keep([], [response(f"{who}/{number}")])
            store.counts()

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.counts() == (80, 1)


WRITER = """
import sys
from dissensus.records import Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
who, store = sys.argv[1], AnswerLog(Database(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
given = dict(question=Question(kind="contains", body={"item": "i", "label": 0}), annotator=who, answer="yes", time="t")
for number in range(20):
    two = [Response(id=f"{who}-{number}-{part}", **given) for part in range(2)]
    store.append(two) if who == "0" else store.keep([], two)
"""


def test_several_processes_make_one_database_and_write_at_once(store: AnswerLog, database_url: str) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(number), database_url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(4)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ends = [writer.communicate() for writer in writers]
    assert [(writer.returncode, end[1]) for writer, end in zip(writers, ends, strict=True)] == [(0, "")] * 4
    assert store.counts() == (4 * 20 * 2, 4)
