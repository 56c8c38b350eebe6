"""Tables with semicolons, tabs and decimal commas: whatever reads a table of a user's reads them all."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyarrow as pa
import pytest

from dissensus.errors import StudyError
from dissensus.separated import arrow_table, as_number, dict_reader, separator
from dissensus.store.documents import csv_rows

PACKAGE = Path(__file__).resolve().parents[2] / "dissensus"


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        ("item,label", ","),
        ("item;label", ";"),
        ("item\tlabel", "\t"),
        ("item", ","),
        ("", ","),
        ('"a;b;c",d', ","),
        ('item;"label, in words, of it"', ";"),
    ],
)
def test_the_header_says_what_separates_the_columns(header: str, mark: str) -> None:
    assert separator(header) == mark


def test_known_names_say_it_first() -> None:
    assert separator("item;label,with,many,commas", {"item"}) == ";"


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_rows_are_the_same_whatever_separates_them(tmp_path: Path, mark: str, begin: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(begin + "\r\n".join(mark.join(row) for row in (("item", "label"), ("a", "cat"), ("b", "dog"))))
    rows = [row for _, row in csv_rows(path, ("item", "label"), StudyError)]
    assert rows == [{"item": "a", "label": "cat"}, {"item": "b", "label": "dog"}]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_large_tables_too_with_decimal_commas(tmp_path: Path, ending: str) -> None:
    path, text = tmp_path / f"t{ending}", b"item;label;confidence\n007;cat;0,93\n008;dog;1\n"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    found = arrow_table(path, None, ("item", "label"), ("confidence",))
    assert found["item"].to_pylist() == ["007", "008"]
    assert found["confidence"].to_pylist() == [0.93, 1.0]
    assert arrow_table(path, b"item;score\na;x\n", ("item",), ("score",))["score"].type == pa.string()


def test_numbers_with_decimal_commas() -> None:
    assert [as_number(text) for text in ("0.5", "0,5", "-1,25", "1e3")] == [0.5, 0.5, -1.25, 1000.0]
    for text in ("1,234,567", "1.234,5", "", "x", None):
        with pytest.raises(ValueError):  # noqa: PT011
            as_number(text)


def test_a_header_alone_has_no_rows() -> None:
    assert list(dict_reader("item;label\n")) == []


def test_nothing_else_reads_csv() -> None:
    """Files that only look for rows of their own kind name the separator's function; nobody else parses CSV."""
    reads = re.compile(r"csv\.DictReader|csv\.read_csv|pyarrow\.csv(?! import write_csv)|csv\.reader")
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if reads.search(path.read_text())}
    assert found == {"separated.py", "store/columns.py", "store/exchange/rows.py"}
    for name in found - {"separated.py"}:
        assert "separator(" in (PACKAGE / name).read_text()
