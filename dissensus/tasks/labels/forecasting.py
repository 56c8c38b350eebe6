"""plan: how many questions, answers and minutes it takes until something is decided, and what can be reached at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.competition.select import competing
from dissensus.competition.task import Evaluation
from dissensus.errors import StudyError
from dissensus.inquiry import Answers
from dissensus.planning.decisions import Bands, Until
from dissensus.planning.forecast import EVERYTHING, Outlook, Price, outlook
from dissensus.records import Milestone, Plan, Selection
from dissensus.report.wording import counted, duration
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.answers import AnswerLog
from dissensus.tasks.labels.deciding import points, reached_in_words, target_in_words
from dissensus.tasks.labels.drawing import Drawing, drawing, question_for
from dissensus.tasks.labels.estimating import Estimation
from dissensus.tasks.labels.outcomes import LabelStates, label_questions
from dissensus.tasks.labels.picks import Asking
from dissensus.tasks.labels.settings import LabelSettings
from dissensus.web.effort import usual_seconds

TARGETS = ("best", "order", "order,ε=0.01", "ε=0.01")
MARGINS = (0.005, 0.01, 0.02, 0.05)
"""What else can be said about two models that are hard to tell apart: that they differ by at most so much."""
WORTH = 0.5
"""A tie is worth mentioning if it takes at most this share of the questions that the order takes."""


@dataclass(frozen=True)
class Prospect:
    """A study as it stands: what is known, decided, and to be expected; `seconds` is how long one answer takes."""

    models: list[str]
    question: Asking
    outlook: Outlook
    decided: Bands
    answered: int
    people: int
    level: float
    seconds: float
    is_timed: bool

    def is_over(self, until: Until) -> bool:
        """Whether nothing more has to be asked."""
        return self.decided.settle(until) or not self.outlook.left

    def milestone(self, until: Until) -> Milestone:
        """What it takes until this is decided."""
        is_reached = self.decided.settle(until)
        price = Price(0, 0, 0, self.outlook.left) if is_reached else self.outlook.price(until, self.level)
        answers = price.median * self.people
        return Milestone(
            until=str(until),
            is_reached=is_reached,
            questions=price.median,
            low=price.low,
            high=price.high,
            answers=answers,
            minutes=round(answers * self.seconds / 60, 1),
            is_everything=price.is_everything,
            words=self._words(until, is_reached, price),
        )

    def _words(self, until: Until, is_reached: bool, price: Price) -> str:
        if is_reached:
            return f"{_reached(self, until)}."
        what = target_in_words(until)
        if not price.left:
            return f"Everything that tells the models apart has been asked, but {what} is not known."
        if price.is_everything:
            many = f"nearly all of the {price.left:,} questions that tell models apart"
            return f"To know {what} takes {many}{_range(price)}: {self.cost(price)}."
        return f"To know {what} takes about {self._questions(price.median)}{_range(price)}: {self.cost(price)}."

    def _questions(self, count: int) -> str:
        return counted(count, "more question" if self.answered else "question")

    def cost(self, price: Price) -> str:
        """The answers and the time of the median: '1,260 answers, 1.8 hours'."""
        answers = price.median * self.people
        return f"{counted(answers, 'answer')}, about {duration(answers * self.seconds / 3600)} of work"

    @cached_property
    def hardest(self) -> str:
        """Which two models are hardest to tell apart, what that takes, and what could be said instead."""
        apart = self.outlook.pairs(Until("order"), self.level)
        states = np.array(self.decided.states(at_once=True))
        apart = np.where(states == "undecided", apart, 0)
        if not apart.any():
            return ""
        gap = np.abs(self.outlook.known.mean[:, None] - self.outlook.known.mean)
        first, second = np.unravel_index(np.lexsort((gap.ravel(), -apart.ravel()))[0], apart.shape)
        needed, size = int(apart[first, second]), float(gap[first, second])
        everything = f"would take nearly all of the {self.outlook.left:,} questions that tell models apart"
        takes = everything if needed >= EVERYTHING * self.outlook.left else f"takes about {counted(needed, 'question')}"
        said = (
            f"{self.models[first]} and {self.models[second]} are the hardest to tell apart: they seem to differ by "
            f"{points(size)}, and knowing which is better {takes}"
        )
        for margin in MARGINS:
            tied = int(self.outlook.pairs(Until("order", margin), self.level)[first, second])
            if size < margin and tied <= WORTH * needed:
                return f"{said}; that they differ by at most {points(margin)} is known after {tied:,}."
        return f"{said}."


def _range(price: Price) -> str:
    return f" (likely {price.low:,} to {price.high:,})" if price.low < price.high else ""


def prospect(
    work: Workspace[LabelSettings], found: Estimation, question: Asking | None = None, people: int | None = None
) -> Prospect:
    """The study as it stands, if draws ask this question; by default, the one that the study would draw next."""
    level, judge = work.settings.rank.level, work.settings.judge
    question = question or question_for(found, work.settings.estimate.question)
    what, ledger = drawing(found, question), found.ledger
    seconds, is_timed = _seconds(work.answers, what, question)
    return Prospect(
        found.pool.models,
        question,
        outlook(what.planner, *found.counts, what.left, ledger),
        found.decided(level),
        found.asked,
        people or (judge.min_answers if work.answers.counts()[0] else judge.served_answers),
        level,
        seconds,
        is_timed,
    )


def nothing_asked(work: Workspace[LabelSettings]) -> Evaluation[Selection, LabelStates]:
    """A study in which nothing has been selected yet.

    Raises:
        SelectionError: there are fewer than two models.
    """
    models, none = competing(work, []), np.zeros(0, np.int64)
    check_same_pool(work.folder, models)
    return Evaluation(models, (), label_questions([]), Answers(none, none, none, none, ()), LabelStates(none), (), {})


def _seconds(log: AnswerLog, what: Drawing, question: Asking) -> tuple[float, bool]:
    """How long an answer to a drawn question takes, and whether that was measured."""
    times: dict[str, list[float]] = {"contains": [], "pick": []}
    for row in log.raw():
        if row[2] in times and row[5] == "asked" and row[7] is not None:
            times[row[2]].append(row[7])
    single, is_timed = usual_seconds("contains", times["contains"])
    if question == "contains" or not what.left.any():
        return single, is_timed
    several, is_timed = usual_seconds("pick", times["pick"])
    return what.seconds(single, several if is_timed else None), is_timed


def planned(now: Prospect, later: Prospect, targets: Sequence[Until]) -> Plan:
    """The price of each target; `now` looks for the order, `later` for the best model."""
    milestones = [(later if until.what == "best" else now).milestone(until) for until in targets]
    return Plan(
        milestones=tuple(milestones),
        words=tuple(_basis(now, any(until.what == "order" for until in targets))),
        question=now.question,
        people=now.people,
        seconds=now.seconds,
        is_timed=now.is_timed,
        answered=now.answered,
        draws=now.outlook.draws,
        left=now.outlook.left,
    )


def _basis(found: Prospect, is_order: bool) -> Iterator[str]:
    """Which models make it hard, what the forecast rests on, and what an answer costs."""
    if is_order and found.hardest:
        yield found.hardest
    if found.answered:
        drawn = counted(found.outlook.draws, "draw") if found.outlook.draws else "no draws"
        yield f"The forecast rests on answers about {counted(found.answered, 'label')}, with {drawn} among them."
    else:
        yield (
            "Nobody has been asked yet: the forecast assumes that a label is more likely to be right if more models "
            "predict it, and may be far off. Run plan again after some answers."
        )
    if found.question == "pick":
        yield "Questions are picks, which ask about all labels of an item at once (estimate.question in study.toml)."
    each = "1 person" if found.people == 1 else f"{found.people:,} people"
    basis = "As measured in this study" if found.is_timed else "Assumed"
    yield f"{basis}: {found.seconds:.3g} seconds per answer, {each} per question."


def targets_of(text: str | None, settings: LabelSettings) -> list[Until]:
    """What to forecast: what was asked for, or the usual, after what study.toml says."""
    if text is not None:
        return [Until.parsed(text)]
    own = [settings.estimate.until] if settings.estimate.until else []
    return [Until.parsed(one) for one in dict.fromkeys([*own, *TARGETS])]


def require_people(people: int | None) -> None:
    """Raise a StudyError if nobody would answer."""
    if people is not None and people < 1:
        raise StudyError(f"{people} people cannot answer a question: give at least 1")


def outlook_in_words(found: Prospect, until: Until, limit: int) -> str:
    """One line for the owner: that they may stop, or what it takes until then; at most `limit` more are drawn."""
    if found.decided.settle(until):
        return f"{_reached(found, until)}: you may stop."
    if not found.outlook.left:
        return "Everything that tells the models apart has been asked: you may stop."
    price = found.outlook.price(until, found.level)
    answers = price.median * found.people
    time, what = duration(answers * found.seconds / 3600), target_in_words(until)
    everything = " (nearly all questions that tell models apart)" if price.is_everything else ""
    verb = "are" if until.what == "differences" else "is"
    capped = ""
    if limit < price.median:
        drawn = counted(limit, "more question") if limit else "no more questions"
        capped = f"; the study draws {drawn}, unless estimate.questions or --until allows more"
    return f"About {counted(answers, 'more answer')} ({time} of work) until {what} {verb} known{everything}{capped}."


def _reached(found: Prospect, until: Until) -> str:
    """What is decided, as the start of a sentence; names of models stay as they are."""
    said = reached_in_words(found.models, found.decided, until)
    return said if until.what == "best" else f"{said[0].upper()}{said[1:]}"
