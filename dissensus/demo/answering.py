"""Simulated people who answer the pages of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dissensus.shift.pages import Page
from dissensus.study import Study

Answer = Callable[[Mapping[str, Any]], Any]
"""What somebody answers to a question, given what it is about."""


def answer_page(
    study: Study, page: Page, people: Mapping[str, Answer], seconds: Mapping[str, Callable[[], float]] | None = None
) -> None:
    """Let simulated people answer all open questions of a page; `seconds` gives the time of each answer by person."""
    needed = page.needed(page.answers()).is_needed
    bodies = [question.body for question, is_open in zip(page.asked, needed.tolist(), strict=True) if is_open]
    times = seconds or {}
    rows = [
        {"kind": page.kind, "question": body, "annotator": name, "answer": answer(body)}
        | ({"seconds": times[name]()} if name in times else {})
        for name, answer in people.items()
        for body in bodies
    ]
    import_answers(study, rows)


def import_answers(study: Study, rows: Iterable[Mapping[str, Any]]) -> None:
    """Let the study import answers, each with kind, question, annotator and answer."""
    path = study.folder.root.parent / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    study.judgements_import(path)
    path.unlink()
