"""Answers to questions about several pictures leave and come back in every format for all kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exchange_cases import CLASSES, everything

from dissensus.errors import JudgementError
from dissensus.records import Question, Response
from dissensus.store.exchange import ENDINGS, read_responses, write_responses

GRID = {"name": "tabby", "items": ["a.jpg", "b.jpg", "c.jpg"], "examples": ["d.jpg"]}
PAIRS = {"pairs": [["a.jpg", "b.jpg"], ["c.jpg", "d.jpg"]]}
REVIEW = {"name": "tabby", "revision": 1, "items": ["a.jpg", "b.jpg"], "originals": ["c.jpg"]}
REVIEWED = {"blacklist": [1], "duplicates": [[0, 2]], "state": "problematic", "note": "=1, “half” of them"}
FRAMES = {"anchor": "a.jpg", "frame": "b.jpg", "labels": [0, 1]}
VOTES = [{"label": "right", "similar": "motion", "count": 2}]
FOREIGN = {"anchor": "a.jpg", "frame": "c.jpg", "labels": [29], "names": ["=turtle"]}
CASES: list[tuple[str, dict[str, Any], Any, dict[str, Any]]] = [
    ("grid", GRID, [0, 2], {"order": [2, 0, 1]}),
    ("grid", GRID, [], {"order": [1, 0, 2]}),
    ("pairs", PAIRS, [1], {}),
    ("pairs", PAIRS, [], {}),
    ("review", REVIEW, REVIEWED, {}),
    ("frames", FRAMES, {"label": "right", "similar": "yes"}, {"first": "frame"}),
    ("frames", FOREIGN, {"label": "unsure", "similar": "blur"}, {"first": "anchor"}),
    ("frames", FRAMES | {"stage": 2}, {"label": "wrong", "similar": None}, {"first": "anchor", "votes": VOTES}),
]


def said() -> list[Response]:
    return [
        Response(
            id=f"answer-{number}",
            question=Question(kind=kind, body=body),
            annotator=f"person {number}",
            answer=answer,
            shown=shown,
            seconds=61.25,
            time="2026-11-16T09:30:00+00:00",
        )
        for number, (kind, body, answer, shown) in enumerate(CASES)
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_they_come_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"answers{ending}"
    assert write_responses(path, said(), CLASSES) == len(CASES)
    assert list(read_responses(path, CLASSES, everything)) == said()


def test_lines_have_lists_and_objects_not_text(tmp_path: Path) -> None:
    write_responses(tmp_path / "a.jsonl", said(), CLASSES)
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["answer"] for row in rows] == [answer for _, _, answer, _ in CASES]


@pytest.mark.parametrize("gone", ["b.jpg", "c.jpg", "d.jpg"])
def test_items_must_be_in_the_pool(tmp_path: Path, gone: str) -> None:
    kinds = {"b.jpg": "grid", "c.jpg": "review", "d.jpg": "pairs"}
    write_responses(tmp_path / "a.jsonl", [one for one in said() if one.question.kind == kinds[gone]], CLASSES)
    with pytest.raises(JudgementError, match=f"item '{gone}' is not in the pool"):
        list(read_responses(tmp_path / "a.jsonl", CLASSES, lambda item: item != gone))


@pytest.mark.parametrize("answer", ["x", [3], {"blacklist": []}, "[0"])
def test_what_is_no_answer_is_refused_with_its_line(tmp_path: Path, answer: Any) -> None:
    rows = [{"kind": "grid", "question": GRID, "annotator": "ann", "answer": answer}]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(JudgementError, match="positions, 0 to 2") as problem:
        list(read_responses(tmp_path / "a.jsonl", CLASSES, everything))
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "answer", ["similar", None, {"label": "right"}, {"label": "right", "similar": "no"}, '{"label": "wrong"}', ["yes"]]
)
def test_what_is_no_answer_about_frames_is_refused(tmp_path: Path, answer: Any) -> None:
    row = {"kind": "frames", "question": FRAMES, "annotator": "ann", "answer": answer}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    if answer is None:  # not answered yet
        assert list(read_responses(tmp_path / "a.jsonl", CLASSES, everything)) == []
        return
    with pytest.raises(JudgementError, match=r"row 1: .*(must have exactly|must be one of)") as problem:
        list(read_responses(tmp_path / "a.jsonl", CLASSES, everything))
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("format", ["label-studio", "coco"])
def test_other_tools_have_no_counterpart(tmp_path: Path, format: str) -> None:
    for one in said()[::2]:
        with pytest.raises(JudgementError, match="have no counterpart in"):
            write_responses(tmp_path / "tasks.json", [one], CLASSES, format=format)
