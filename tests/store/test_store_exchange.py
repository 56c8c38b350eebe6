from __future__ import annotations

import csv
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchange_cases import names
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import ANSWERS, Classes, Judgement, Question, Response
from dissensus.store.exchange import ENDINGS, read_responses, write_responses


def read_all(path: Path, classes: Classes, is_item: Any) -> list[Judgement]:
    return [
        Judgement(**response.question.body, **response.model_dump(include={"id", "annotator", "answer", "time"}))
        for response in read_responses(path, classes, is_item)
    ]


def write_all(path: Path, said: list[Judgement], classes: Classes) -> int:
    asked = [Question(kind="contains", body={"item": judgement.item, "label": judgement.label}) for judgement in said]
    given = [judgement.model_dump(include={"id", "annotator", "answer", "time"}) for judgement in said]
    responses = [Response(question=question, **fields) for question, fields in zip(asked, given, strict=True)]
    return write_responses(path, responses, classes)


ROW = {"item": "a.jpg", "label": "1", "annotator": "ann", "answer": "yes"}
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
judgements = st.builds(
    Judgement,
    id=words,
    item=words,
    label=st.integers(0, 2),
    annotator=names,
    answer=st.sampled_from(ANSWERS),
    time=st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
)


def everything(item: str) -> bool:
    return True


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@given(st.lists(judgements, max_size=5))
@settings(max_examples=40)
def test_every_field_comes_back_whatever_it_is_spelled_with(
    tmp_path: Path, classes: Classes, ending: str, said: list[Judgement]
) -> None:
    path = tmp_path / f"answers{ending}"
    assert write_all(path, said, classes) == len(said)
    assert read_all(path, classes, everything) == said


@pytest.mark.parametrize("ending", ENDINGS)
def test_newlines_quotes_commas_and_other_alphabets_in_an_item(tmp_path: Path, classes: Classes, ending: str) -> None:
    item = ' a "b",\r\n\tc;\u2028 𝄞é'
    said = [Judgement(id="1", item=item, label=2, annotator="Zoë, ;", answer="unfit", time="2026-01-01T00:00:00+00:00")]
    write_all(tmp_path / f"a{ending}", said, classes)
    assert read_all(tmp_path / f"a{ending}", classes, {item}.__contains__) == said


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_go_by_name_id_synonym_or_number(tmp_path: Path, classes: Classes, ending: str) -> None:
    labels = ["1", "0", "2", "n1", "king", "Königs-Pinguin, groß"]
    path = write(tmp_path / f"a{ending}", [ROW | {"label": label} for label in labels])
    assert [found.label for found in read_all(path, classes, everything)] == [0, 1, 2, 0, 2, 2]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_number_that_is_no_text_is_an_index(tmp_path: Path, classes: Classes, ending: str) -> None:
    path = write(tmp_path / f"a{ending}", [ROW | {"label": label} for label in (1, 0, 2)])
    assert [found.label for found in read_all(path, classes, everything)] == [1, 0, 2]


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_that_nobody_has_answered_yet_are_passed_over(tmp_path: Path, classes: Classes, ending: str) -> None:
    path = write(tmp_path / f"a{ending}", [ROW, ROW | {"answer": "", "annotator": ""}])
    assert [found.answer for found in read_all(path, classes, everything)] == ["yes"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_answers_may_be_spelled_in_a_few_ways(tmp_path: Path, classes: Classes, ending: str) -> None:
    spelled = {"YES": "yes", " n ": "no", "Maybe": "unsure", "hard to tell": "unsure", "unfit": "unfit", "true": "yes"}
    path = write(tmp_path / f"a{ending}", [ROW | {"answer": answer} for answer in spelled])
    assert [found.answer for found in read_all(path, classes, everything)] == list(spelled.values())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"answer": "perhaps"}, "invalid answer 'perhaps': it must be one of yes, no, unsure, unfit"),
        ({"item": "b.jpg"}, "item 'b.jpg' is not in the pool"),
        ({"label": "cat"}, "no such class 'cat': this study has 3 classes"),
        ({"label": "3"}, "no such class '3'"),
        ({"annotator": ""}, "annotator is missing"),
        ({"annotator": " "}, "' ' is not a valid name: use 1 to 100 printable characters"),
        ({"annotator": "ann "}, "'ann ' is not a valid name"),
        ({"annotator": "a\tb"}, r"'a\tb' is not a valid name"),
        ({"annotator": "a\0"}, r"'a\x00' is not a valid name"),
        ({"annotator": "x" * 100_000}, f"'{'x' * 100}' is not a valid name"),
        ({"annotator": "a/b"}, "'a/b' is not a valid name, as names are part of URLs"),
        ({"time": "yesterday"}, "invalid time 'yesterday': write it like"),
    ],
)
def test_a_bad_row_is_named_with_what_is_wrong(
    tmp_path: Path, classes: Classes, ending: str, change: dict[str, str], complaint: str
) -> None:
    row = ROW | {"time": "2026-01-01"}
    path = write(tmp_path / f"a{ending}", [row, row, row | change])
    with pytest.raises(JudgementError) as refused:
        read_all(path, classes, {"a.jpg"}.__contains__)
    line = 4 if ending == ".csv" else 3  # the header is a line too
    assert str(refused.value).startswith(f"{path}, row {line}: {complaint}")
    assert "\n" not in str(refused.value)


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path, classes: Classes) -> None:
    (tmp_path / "a.csv").write_text('item,label,annotator,answer\n\n"a\nb",1,ann,yes\n\nc,1,ann,perhaps\n')
    with pytest.raises(JudgementError, match="row 6: invalid answer"):
        read_all(tmp_path / "a.csv", classes, everything)
    (tmp_path / "a.jsonl").write_text(f"\n{json.dumps(ROW)}\n\nno json\n")
    with pytest.raises(JudgementError, match="row 4: is not valid JSON"):
        read_all(tmp_path / "a.jsonl", classes, everything)


@pytest.mark.parametrize("missing", ROW)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_missing_column_is_named(tmp_path: Path, classes: Classes, ending: str, missing: str) -> None:
    path = write(tmp_path / f"a{ending}", [{name: ROW[name] for name in ROW if name != missing}])
    with pytest.raises(JudgementError, match=f"no column '{missing}'|{missing} is missing"):
        read_all(path, classes, everything)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b"[1, 2]\n"),
        ("a.jsonl", b'{"item": "caf\xe9"}\n'),
        ("a.jsonl", b'{"item": "i", "label": 1, "annotator": "\\ud800", "answer": "yes"}\n'),
        ("a.jsonl", b'{"id": "\\ud800", "item": "i", "label": 1, "annotator": "ann", "answer": "yes"}\n'),
        ("a.csv", b""),
        ("a.csv", b"item,label,annotator,answer\ncaf\xe9,1,ann,yes\n"),
        ("a.csv", b"item,label,annotator,answer\n" + b"x" * 9_000_000 + b",1,ann,yes\n"),
        ("a.parquet", b"PAR1 and nothing more"),
        ("a.txt", b"yes"),
        ("a", b"yes"),
    ],
)
def test_a_file_that_holds_no_answers_is_refused_in_one_line(
    tmp_path: Path, classes: Classes, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(JudgementError) as refused:
        read_all(tmp_path / name, classes, everything)
    assert str(tmp_path / name) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path, classes: Classes) -> None:
    path = write(tmp_path / "a.parquet", [ROW] * 50)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(JudgementError, match="cannot read"):
        read_all(path, classes, everything)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_row_without_id_and_time_gets_the_same_ones_each_time_the_file_is_read(
    tmp_path: Path, classes: Classes, ending: str
) -> None:
    path = write(tmp_path / f"a{ending}", [ROW, ROW | {"answer": "no"}, ROW | {"item": "b.jpg"}])
    os.utime(path, (1_700_000_000, 1_700_000_000))
    first, again = read_all(path, classes, everything), read_all(path, classes, everything)
    assert first == again
    assert len({found.id for found in first}) == 3
    assert {found.time for found in first} == {"2023-11-14T22:13:20+00:00"}


def test_the_same_answers_have_the_same_ids_in_every_format(tmp_path: Path, classes: Classes) -> None:
    rows = [ROW | {"time": "2026-01-01T10:00:00+01:00"}]
    ids = {read_all(write(tmp_path / f"a{e}", rows), classes, everything)[0].id for e in ENDINGS}
    assert len(ids) == 1


def test_times_of_a_parquet_file_may_be_timestamps(tmp_path: Path, classes: Classes) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)
    path = write(tmp_path / "a.parquet", [ROW | {"time": moment}])
    assert datetime.fromisoformat(read_all(path, classes, everything)[0].time) == moment


def test_a_byte_order_mark_does_no_harm(tmp_path: Path, classes: Classes) -> None:
    for ending in (".csv", ".jsonl"):
        path = write(tmp_path / f"a{ending}", [ROW])
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert read_all(path, classes, everything)[0].item == "a.jpg"


def test_a_file_of_another_ending_is_not_written(tmp_path: Path, classes: Classes) -> None:
    with pytest.raises(JudgementError, match="unknown file extension"):
        write_all(tmp_path / "a.xlsx", [], classes)
    assert list(tmp_path.iterdir()) == []
