"""Output about questions and answers."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from dissensus.printing.console import document, people_words, say, say_next, show_table
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.competition.status import Status


def show_questions(questions: Sequence[Any], sheet: Path | None, study: Path, as_json: bool) -> None:
    with document(as_json, {"questions": [question.model_dump(mode="json") for question in questions]}):
        if sheet is not None:
            asked = counted(len(questions), "question")
            say(f"{sheet}: {asked}; once answered, run: dissensus judgements import {shlex.quote(str(study))} FILE")
            return
        headings = {"item": "item", "name": "does it contain", "first": "first", "second": "second"}
        headings["answers"] = "answers so far"
        shown = [name for name in headings if questions and getattr(questions[0], name, None) is not None]
        table = Table(*(headings[name] for name in shown))
        for question in questions[:20]:
            table.add_row(*(escape(str(getattr(question, name))) for name in shown))
        if questions:
            show_table(table)
        say(counted(len(questions), "open question") + (" (20 shown)" if len(questions) > 20 else ""))


def show_import(new: int, status: Status, as_json: bool) -> None:
    """The number of answers that were imported, and the new totals."""
    names = ("answers", "judgements", "annotators", "open_questions")
    with document(as_json, {"new": new} | {name: getattr(status, name) for name in names}):
        people = f"by {people_words(status.annotators)}"
        is_all = status.judgements == status.answers
        detail = people if is_all else f"({status.judgements:,} of them to its main questions, {people})"
        say(f"{counted(new, 'new answer')}; the study now has {counted(status.answers, 'answer')} {detail}")
        say_next(status.next)


def show_export(file: Path, written: int, notes: Sequence[str], as_json: bool) -> None:
    """How many answers were written, and what the format could not hold."""
    with document(as_json, {"file": str(file), "answers": written}):
        for sentence in notes:
            say(sentence)
        say(f"{file}: {counted(written, 'answer')}")


def show_asked(new: int, total: int, role: str, as_json: bool) -> None:
    """How many of the questions are new."""
    with document(as_json, {"new": new, "updated": total - new, "role": role}):
        known = counted(total - new, "existing one", "existing ones")
        updated = f"; {known} updated with this file's answers and notes" if total > new else ""
        say(f"{counted(new, 'new question')} ({role}){updated}")


def show_serving(study: Path, as_json: bool) -> Callable[[str, str], None]:
    """Callback for when the service is up: print its links."""

    def ready(address: str, owner_token: str) -> None:
        dashboard = f"{address}/owner#{owner_token}"
        with document(as_json, {"study": str(study), "address": address, "dashboard": dashboard}):
            say(f"{study} is open at {address}")
            say(f"  dashboard   {dashboard}    (for you only, valid until you stop the service)")
            say(f"  annotators  dissensus annotators add {shlex.quote(str(study))} NAME --url {address}")
            say("Press Ctrl-C to stop; no answer is lost.")

    return ready
