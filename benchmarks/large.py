"""A study of 200,000 questions: how soon it is open, and how long a question, an answer and the dashboard take."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.load import ANSWER, NEXT, Load, put_under_load
from benchmarks.serving import Served, add_people, fresh_study, served
from dissensus.records import ANSWERS, Assignment, Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.study import Study

ITEMS, MODELS, K = 1_000_000, 11, 5_000
PEOPLE = 50
PACE = 750
STORED = 200_000
BATCH = 5_000
SHARES = np.array([0.85, 0.1, 0.03, 0.02])
"""Of yes, no, unsure and unfit, where the thing is there."""


@dataclass(frozen=True)
class Figures:
    """Seconds, milliseconds and megabytes of one service."""

    questions: int
    answers: int
    ready: float
    calm: Load
    paced: Load
    busy: Load
    summary: float
    memory: float

    def lines(self) -> Iterator[str]:
        """What is printed."""
        yield f"{self.questions:,} questions, {self.answers:,} answers stored before"
        yield f"  open after {self.ready:.2f} s; {self.memory:.0f} MB at the peak"
        yield f"  {PEOPLE} people take turns: first question {self.calm.first():.1f} ms, {_quantiles(self.calm)}"
        yield f"  750 answers a second: {_quantiles(self.paced)}"
        yield f"  without a pause, {self.busy.requests:,.0f} requests/s: {_quantiles(self.busy)}"
        yield f"  dashboard {self.summary:.2f} s at the slowest"


def _quantiles(load: Load) -> str:
    return (
        f"next p99 {load.quantile(0.99, NEXT):.1f} ms, max {load.quantile(1, NEXT):.1f}; "
        f"answer p99 {load.quantile(0.99, ANSWER):.1f} ms, max {load.quantile(1, ANSWER):.1f}"
    )


def measure(folder: Path, seconds: float) -> list[Figures]:
    """Serve the study without answers, and again with 200,000 of them."""
    found = []
    with fresh_study(folder, ITEMS, MODELS, K, answers=3) as study:
        tokens = add_people(study, PEOPLE)
        for stored in (0, STORED):
            before = answer_beforehand(study, stored) if stored else 0
            with served(study) as service:
                found.append(_figures(service, tokens, before, seconds))
    return found


def _figures(service: Served, tokens: list[str], before: int, seconds: float) -> Figures:
    calm = put_under_load(service, tokens, seconds, pace=PEOPLE)
    paced = put_under_load(service, tokens, seconds, pace=PACE)
    busy = put_under_load(service, tokens, seconds)
    summaries = [service.summary()]
    for _ in range(3):
        time.sleep(3)  # it is shown again for two seconds
        summaries.append(service.summary())
    slowest = max(took for took, _ in summaries)
    questions = sum(kind["questions"] for kind in summaries[0][1]["kinds"])
    return Figures(questions, before, service.ready, calm, paced, busy, slowest, service.memory("VmHWM"))


def answer_beforehand(study: Path, count: int) -> int:
    """Store so many answers of all people, as the service would have; how many there are then."""
    opened = Study(study)
    names = [person.name for person in opened.people.all()]
    database = Database(f"sqlite:///{study / 'judgements.sqlite'}")
    answers = AnswerLog(database)
    given = _given(opened, names)
    while batch := list(islice(given, min(BATCH, count))):
        answers.keep([assignment for assignment, _ in batch], [response for _, response in batch])
        count -= len(batch)
    stored = answers.counts()[0]
    database.close()  # as every command does at its end: what is in the log goes into the file
    return stored


def _given(study: Study, names: list[str]) -> Iterator[tuple[Assignment, Response]]:
    """Every question answered by two people, one after the other, during the last days; they are mostly right."""
    random = np.random.default_rng(0)
    began = datetime.now(UTC) - timedelta(days=3)
    for number, (item, label) in enumerate((item, label) for item, label in study.asked() for _ in range(2)):
        moment = (began + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        question = Question(kind="contains", body={"item": item, "label": label})
        name, ticket = names[(number * 7) % len(names)], secrets.token_urlsafe(16)
        told = {"question": question, "annotator": name, "ticket": ticket, "time": moment}
        answer = str(random.choice(ANSWERS, p=SHARES if number // 2 % 2 else SHARES[[1, 0, 2, 3]]))
        response = Response(id=f"before-{number:08}", answer=answer, seconds=2.0, **told)
        yield Assignment(role="asked", shown={}, **told), response
