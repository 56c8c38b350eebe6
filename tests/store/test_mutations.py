"""A small run of `benchmarks/mutations.py`, and that it would notice what it looks for."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import mutating, mutations
from dissensus.errors import JudgementError
from dissensus.records import Response
from dissensus.store import exchange
from dissensus.store.exchange import read_responses

pytestmark = pytest.mark.slow


def total(table: dict[str, Counter[str]]) -> Counter[str]:
    return sum(table.values(), Counter())


def test_mutated_files_are_refused_in_one_line_or_imported_as_they_read(tmp_path: Path) -> None:
    counts = total(mutations.run(60, keep=tmp_path))
    assert not counts["findings"], sorted(tmp_path.iterdir())
    assert counts["files"] == 60
    assert counts["refused"] > 20
    assert counts["compared"] > 5


def test_whole_files_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutating, "_damaged", lambda _ending, data, _rng: data)
    assert total(mutations.run(20, keep=tmp_path))["compared"] == 20


def one_lost(read: Iterator[Response]) -> Iterator[Response]:
    return iter([*read][1:])


def another_name(read: Iterator[Response]) -> Iterator[Response]:
    return (one.model_copy(update={"annotator": "eve"}) for one in read)


def two_lines(read: Iterator[Response]) -> Iterator[Response]:
    raise JudgementError("one\ntwo")


def traceback(read: Iterator[Response]) -> Iterator[Response]:
    raise KeyError("item")


@pytest.mark.parametrize("mistake", [one_lost, another_name, two_lines, traceback])
def test_an_importer_that_errs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    def importer(path: Path, *given: Any, **more: Any) -> Iterator[Response]:
        read = read_responses(path, *given, **more)
        return read if path.name == "before.jsonl" else mistake(read)

    monkeypatch.setattr(mutating, "_damaged", lambda _ending, data, _rng: data)
    monkeypatch.setattr(exchange, "read_responses", importer)
    assert total(mutations.run(1, only=["jsonl"], keep=tmp_path))["findings"] == 1
    assert [*tmp_path.rglob("file.jsonl")]
