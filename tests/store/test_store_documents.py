"""CSV and JSON files that users give: what is wrong with one is said in a line of the caller's kind of error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dissensus.errors import ClassesError, StudyError
from dissensus.store import documents
from dissensus.store.documents import csv_rows, json_document


def test_rows_have_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffclip, label\n a ,"x\ny"\n\nb,c\n'.encode())
    with pytest.raises(StudyError, match="needs the columns clip and label; it has 'clip', ' label'"):
        csv_rows(path, ("clip", "label"), StudyError)
    assert csv_rows(path, ("clip",), StudyError) == [
        (3, {"clip": "a", " label": "x\ny"}),
        (5, {"clip": "b", " label": "c"}),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "needs the column a; it has none"),
        (b"a,a\n1,2\n", "several columns called a"),
        (b"a,b\n1\n", "line 2: it has fewer values"),
        (b"a,b\n1,2,3\n", "line 2: it has more values"),
        (b"a,b\n1,\0\n", "line 2: it has a NUL character|line contains NUL"),
        (b"a\ncaf\xe9\n", "cannot read"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ClassesError, match=message) as refused:
        csv_rows(path, ("a",), ClassesError)
    assert "\n" not in str(refused.value)


def test_json_may_be_compressed_but_not_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"a": [1]}).encode()))
    assert json_document(path, StudyError) == {"a": [1]}
    monkeypatch.setattr(documents, "LARGEST", 4)
    with pytest.raises(StudyError, match="is larger than"):
        json_document(path, StudyError)
    path.write_bytes(b"not compressed")
    with pytest.raises(StudyError, match=r"cannot read .* as JSON"):
        json_document(path, StudyError)
