"""The pages on which people label images, in a thread of this process, and people who answer them over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from replica_pages import asked
from served import Client, Served

from dissensus.records import Question
from dissensus.study import Study


class ServedHuman(Served):
    """`dissensus shift human serve --page …` in a thread of this process."""

    def __init__(self, folder: Path, page: str, family: str | None = None, answers: int | None = None) -> None:
        self.page, self.family, self.answers = page, family, answers
        super().__init__(folder)

    def _serve(self) -> None:
        try:
            study = self.open_study(self.folder)
            study.human_serve(
                self._opened, self.page, "127.0.0.1", self.port, family=self.family, answers=self.answers
            )  # fmt: skip
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()


def questions(study: Study, client: Client) -> Iterator[tuple[dict[str, Any], Question]]:
    """What the service asks, with what only it knows."""
    while found := client.next():
        yield found[0], asked(study, found[0]["ticket"])[0]


def let_answer(study: Study, client: Client, how: Callable[[dict[str, Any]], tuple[Any, float]]) -> list[Any]:
    """Answer everything: `how(body)` gives the answer and the seconds it took; returns what the service said."""
    replies = []
    for told, question in questions(study, client):
        answer, seconds = how(question.body)
        replies.append(client.answer(told["ticket"], answer, seconds=seconds))
    return replies
