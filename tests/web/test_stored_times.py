"""A database that already holds strange times: everything works, and each person's last answer counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from iso_times import STORED
from served import Served

from dissensus.records import Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.study import Study


@pytest.fixture
def strange(study_folder: Path) -> Path:
    """The small study, answered by one person at all strange times in turn, and by one more person at each of them."""
    study = Study(study_folder)
    label_of = {name: number for number, name in enumerate(study.classes.names)}
    asked = [
        Question(kind="contains", body={"item": one.item, "label": label_of[one.name]}) for one in study.questions()
    ]
    AnswerLog(study._database).append(
        Response(id=f"{name}-{number}", question=question, annotator=name, answer="yes", time=time)
        for number, (question, time) in enumerate(zip(asked, cycle(STORED), strict=False))
        for name in ("ann", f"person {number % len(STORED)}")
    )
    return study_folder


def test_all_commands_work(strange: Path, command: Callable[..., Any], tmp_path: Path) -> None:
    people = json.loads(command("annotators", "list", strange, "--json").stdout)["annotators"]
    assert {one["name"] for one in people} == {"ann", *(f"person {number}" for number in range(len(STORED)))}
    last = {one["name"]: one["last"] for one in people}
    assert last["person 0"] == "2026-03-04T05:06:07+00:00"
    assert last[f"person {STORED.index('yesterday')}"] is None
    for words in (
        ("annotators", "list", strange),
        ("screen", strange),
        ("status", strange),
        ("rank", strange),
        ("report", strange),
        *(("judgements", "export", strange, tmp_path / f"out{ending}") for ending in (".csv", ".jsonl", ".parquet")),
        ("judgements", "export", strange, tmp_path / "out.json", "--format", "label-studio"),
    ):
        done = command(*words)
        assert done.returncode == 0, (words, done.stderr)


def test_the_service_opens_and_its_dashboard_shows_them(strange: Path, serve: Callable[..., Served]) -> None:
    service = serve(strange)
    summary = service.owner.get("/api/owner/summary")
    assert summary.status == 200
    assert [kind["done"] for kind in summary.json["kinds"]] == [kind["questions"] for kind in summary.json["kinds"]]
    assert len(summary.json["annotators"]) == 1 + len(STORED)
