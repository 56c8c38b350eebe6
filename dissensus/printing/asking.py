"""Output about questions and answers."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from dissensus.printing.console import out, people_words, say, show_json
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.competition.status import Status


def show_questions(questions: Sequence[Any], sheet: Path | None, study: Path, as_json: bool) -> None:
    if as_json:
        return show_json([question.model_dump() for question in questions])
    if sheet is not None:
        say(f"{sheet}: {len(questions):,} questions; once answered, run: dissensus judgements import {study} FILE")
        return None
    headings = {"item": "item", "name": "does it contain", "first": "first", "second": "second"}
    headings["answers"] = "answers so far"
    shown = [name for name in headings if questions and getattr(questions[0], name, None) is not None]
    table = Table(*(headings[name] for name in shown))
    for question in questions[:20]:
        table.add_row(*(escape(str(getattr(question, name))) for name in shown))
    if questions:
        out.print(table)
    say(f"{len(questions):,} open questions" + (" (20 shown)" if len(questions) > 20 else ""))
    return None


def show_import(new: int, status: Status, as_json: bool) -> None:
    """The number of answers that were imported, and the new totals."""
    if as_json:
        names = ("answers", "judgements", "annotators", "open_questions")
        return show_json({"new": new} | {name: getattr(status, name) for name in names})
    people = f"by {people_words(status.annotators)}"
    is_all = status.judgements == status.answers
    detail = people if is_all else f"({status.judgements:,} of them to its main questions, {people})"
    say(f"{counted(new, 'new answer')}; the study now has {counted(status.answers, 'answer')} {detail}")
    return say(f"Next: {status.next}")


def show_serving(study: Path) -> Callable[[str, str], None]:
    """Callback for when the service is up: print its links."""

    def ready(address: str, owner_token: str) -> None:
        say(f"{study} is open at {address}")
        say(f"  dashboard   {address}/owner#{owner_token}    (for you only, valid until you stop the service)")
        say(f"  annotators  dissensus annotators add {shlex.quote(str(study))} NAME --url {address}")
        say("Press Ctrl-C to stop; no answer is lost.")

    return ready
