"""The pages of a replication in a thread of this process, and people who answer them over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from served import Client, Served

from dissensus.labeling import QUESTIONS
from dissensus.records import Question
from dissensus.study import Study


class ServedPage(Served):
    """`dissensus shift serve --page …` in a thread of this process."""

    def __init__(self, folder: Path, page: str, answers: int | None = None) -> None:
        self.page, self.answers = page, answers
        super().__init__(folder)

    def _serve(self) -> None:
        try:
            study = self.open_study(self.folder)
            study.shift_serve(self._opened, self.page, "127.0.0.1", self.port, answers=self.answers)
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()


def asked(study: Study, ticket: str) -> tuple[Question, dict[str, Any]]:
    """What only the service knows: the question itself, and what was randomized."""
    assignment = study._task.work.answers.assignment(ticket)
    assert assignment is not None
    return assignment.question, assignment.shown


def on_screen(question: Question, shown: dict[str, Any]) -> list[str]:
    """The images of a grid in the order of the screen, without the examples."""
    return list(QUESTIONS["grid"].pictures(question.body, shown)[-len(question.body["items"]) :])


def waiting(study: Study, client: Client) -> Iterator[tuple[dict[str, Any], Question, dict[str, Any]]]:
    """What the service asks, with what only it knows."""
    while found := client.next():
        yield (found[0], *asked(study, found[0]["ticket"]))


def let_select(study: Study, client: Client, how: Callable[[str, str], bool]) -> int:
    """Answer all grids: `how(item, name)` says whether a picture is ticked."""
    count = 0
    for told, question, shown in waiting(study, client):
        name, text = question.body["name"], json.dumps(told)
        assert not any(item in text for item in question.body["items"])  # nothing tells originals from candidates
        screen = on_screen(question, shown)
        client.answer(told["ticket"], [place for place, item in enumerate(screen) if how(item, name)])
        count += 1
    return count
