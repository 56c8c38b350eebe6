"""What a study still asks of people, in answers and in hours; said before they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array
from dissensus.labeling import QUESTIONS
from dissensus.labeling.columns import NO_SOURCE
from dissensus.records import ROLES
from dissensus.report.wording import counted, duration
from dissensus.web.memory import Memory

MEASURED = 10
"""From this many answers of a kind, their median time replaces the kind's rough default."""


@dataclass(frozen=True)
class Effort:
    """The open questions, how many answers of each kind they still need, and how many hours these take.

    `people` is how many answer each question; `least` how many it takes in all, and `annotators` how many there are.
    `reopened` questions had enough answers by the rule `before`, `closed` ones had too few.
    """

    people: int
    questions: int
    answers: Mapping[str, int]
    hours: float
    least: int
    annotators: int
    before: int
    reopened: int = 0
    closed: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The rule and what it costs, what it changes, and whether there are enough people for it."""
        return tuple(filter(None, (self._cost, self._change, self._shortage)))

    @property
    def _cost(self) -> str:
        if not self.questions:
            return ""
        needs = "an answer from one person" if self.people == 1 else f"answers from {self.people:,} people"
        total = sum(self.answers.values())
        kinds = [f"{count:,} for {QUESTIONS[kind].noun}" for kind, count in self.answers.items()]
        by_kind = f" ({', '.join(kinds)})" if len(kinds) > 1 else ""
        return (
            f"Each question needs {needs} (--answers, saved in study.toml): "
            f"{counted(self.questions, 'open question')}, {counted(total, 'answer')}{by_kind}, "
            f"about {duration(self.hours)} of work in all."
        )

    @property
    def _change(self) -> str:
        if self.reopened:
            questions, again = counted(self.reopened, "question"), "is" if self.reopened == 1 else "are"
            return f"{self.before:,} used to be enough: {questions} that had enough answers {again} open again."
        if self.closed:
            questions, need = counted(self.closed, "question"), "needs" if self.closed == 1 else "need"
            return f"It used to be {self.before:,}: {questions} with too few answers no longer {need} any."
        return ""

    @property
    def _shortage(self) -> str:
        if not self.questions or self.annotators >= self.least:
            return ""
        have = {0: "Nobody has", 1: "Only one person has"}.get(self.annotators, f"Only {self.annotators:,} people have")
        needed = "1 person" if self.least == 1 else f"{self.least:,} different people"
        return f"{have} a link, and it takes {needed}: questions stay open until they have links."


def effort_of(memory: Memory, before: int) -> Effort:
    """What is left to do; `before` is the number of people per question by the rule that applied until now."""
    queue, kinds = memory.queue, np.array(memory.questions.kinds, dtype=object)
    missing = np.where(queue.is_needed, np.maximum(queue.answers - queue.given, 0), 0)
    is_open = missing > 0
    answers = {kind: int(missing[kinds == kind].sum()) for kind in dict.fromkeys(kinds[is_open].tolist())}
    checks = "check" in memory.round_kinds
    if checks and "mask" in answers:  # somebody else will check every mask that is drawn
        answers["check"] = answers.get("check", 0) + int((is_open & (kinds == "mask")).sum())
    column = memory.books.columns()
    enough = queue.is_needed & (queue.given >= before)
    return Effort(
        people=queue.answers,
        questions=int(is_open.sum()),
        answers=answers,
        hours=sum(count * _seconds(kind, kinds, column) for kind, count in answers.items()) / 3600,
        least=max(queue.answers + checks, _people_per_source(queue.sources, missing)),
        annotators=sum(
            not one.is_owner and one.revoked is None and one.name not in memory.excluded for one in memory.everybody
        ),
        before=before,
        reopened=int((enough & is_open).sum()),
        closed=int((queue.is_needed & ~enough & ~is_open).sum()),
    )


def _people_per_source(sources: Array, missing: Array) -> int:
    """How many people it takes if nobody gets two questions about the same thing."""
    rows = sources != NO_SOURCE
    return int(np.bincount(sources[rows], missing[rows]).max(initial=0))


def _seconds(kind: str, kinds: Array, column: Mapping[str, Array]) -> float:
    is_timed = (column["role"] == ROLES.index("asked")) & (column["seconds"] >= 0)
    return usual_seconds(kind, column["seconds"][is_timed & (kinds[column["question"]] == kind)])[0]


def usual_seconds(kind: str, times: Sequence[float] | Array) -> tuple[float, bool]:
    """The median time of an answer so far, or the kind's own estimate; and whether it was measured."""
    is_measured = len(times) >= MEASURED
    return (float(np.median(times)) if is_measured else QUESTIONS[kind].seconds), is_measured
