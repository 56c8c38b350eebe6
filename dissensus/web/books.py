"""The service's questions and answers in memory, as plain arrays."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.inquiry import Questions as Group
from dissensus.inquiry import latest_rows
from dissensus.labeling import QUESTIONS, code_of_text
from dissensus.labeling.columns import NO_SOURCE
from dissensus.labeling.order import group_words, question_words
from dissensus.records import ROLES, Question, Role, as_text, moments_of

ROLE_NUMBERS: dict[str, int] = {role: number for number, role in enumerate(ROLES)}
Row = tuple[int, str, Role, int, float | None, str, int | None]
"""Question, person, role, code, seconds, time and number in the order of arrival, or None if that is not known yet."""
NOT_NUMBERED = 1 << 62
"""Stands in for a number that is not known yet: such answers came after all those whose number is known."""


class Questions:
    """All questions, each with a number of its own; bodies are parsed only when somebody is asked."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.numbers: dict[str, dict[str, int]] = {kind: {} for kind in QUESTIONS}
        """By kind and text."""
        self.sources: dict[str, int] = {}
        """Numbers of what nobody may be shown in two questions: see `Kind.source`."""
        self.wordings: dict[str, dict[str, tuple[int, bool]]] = {kind: {} for kind in QUESTIONS}
        """By kind and alternative text: the number of the same question, and whether the two sides are swapped."""

    def __len__(self) -> int:
        return len(self.texts)

    def new(self, kind: str, texts: Iterable[str]) -> list[str]:
        """The texts that are not known yet."""
        known = self.numbers[kind]
        return [text for text in dict.fromkeys(texts) if text not in known]

    def add(self, kind: str, texts: Sequence[str]) -> tuple[Array, Array, Array, Array]:
        """Number new questions.

        Returns the hashes of their groups and of themselves, which can be repeated, and the numbers of their sources.
        """
        bodies = json.loads(f"[{','.join(texts)}]")  # all at once, which takes a third of the time
        groups = group_words(kind, list(map(QUESTIONS[kind].group, bodies)))
        self.numbers[kind].update(zip(texts, range(len(self.texts), len(self.texts) + len(texts)), strict=True))
        self.kinds += [kind] * len(texts)
        self.texts += texts
        is_repeatable = ~np.fromiter(map(QUESTIONS[kind].is_about_answers, bodies), bool, len(bodies))
        named = map(QUESTIONS[kind].source, bodies)
        sources = np.array([NO_SOURCE if one is None else self._source(one) for one in named], np.int64)
        return groups, question_words(groups, texts), is_repeatable & (sources == NO_SOURCE), sources

    def _source(self, name: str) -> int:
        return self.sources.setdefault(name, len(self.sources))

    def set_wordings(self, groups: Sequence[Group]) -> bool:
        """Let answers to other wordings count for the questions of these groups, which must be known.

        True if a known text now counts for another question, so that its answers have to be read again.
        """
        before, self.wordings = self.wordings, {kind: {} for kind in QUESTIONS}
        for group in groups:
            own, known = self.numbers[group.kind], self.wordings[group.kind]
            for text, (place, wording) in group.places().items():
                if wording:
                    known[text] = own[group.texts[place]], group.is_swapped(wording)
        return any(
            self.wordings[kind].get(text) != before[kind].get(text)
            for kind, numbers in self.numbers.items()
            for text in (self.wordings[kind].keys() | before[kind].keys()) & numbers.keys()
        )

    def is_swapped(self, question: Question) -> bool:
        """Whether a wording swaps the two sides."""
        wordings = self.wordings[question.kind]
        return bool(wordings) and wordings.get(question.text, (0, False))[1]

    def answered(self, kind: str, text: str, role: Role, answer: str) -> tuple[int, int]:
        """The question that a stored answer counts for, and its code.

        For the study's own questions any wording counts; for controls, training and repeats only the exact one.
        """
        known = self.wordings[kind].get(text) if role == "asked" else None
        if known is None:
            return self.numbers[kind][text], code_of_text(kind, answer)
        number, is_swapped = known
        turned = as_text(QUESTIONS[kind].turned(json.loads(answer))) if is_swapped else answer
        return number, code_of_text(kind, turned)

    def of(self, number: int) -> Question:
        """The question with this number."""
        return Question.model_construct(kind=self.kinds[number], body=json.loads(self.texts[number]))


class Books:
    """All known answers, one row each."""

    def __init__(self) -> None:
        self.people: dict[str, int] = {}
        self.question = array("q")
        self.person = array("q")
        self.role = array("b")
        self.code = array("q")
        self.seconds = array("d")
        self.moment = array("d")
        self.arrival = array("q")
        self.known: set[int] = set()
        """Who has answered what in which role, as values of `_key`."""
        self.answered: Counter[str] = Counter()
        """Number of questions that each person has answered, not counting training."""

    def __len__(self) -> int:
        return len(self.question)

    def enter(self, rows: Sequence[Row]) -> list[bool]:
        """Add answers; returns for each whether it is the person's first to this question in this role."""
        question, name, role, code, seconds, time, arrival = zip(*rows, strict=True) if rows else ((),) * 7
        person = [self.people.setdefault(one, len(self.people)) for one in name]
        numbers = [ROLE_NUMBERS[one] for one in role]
        is_first = []
        for key, who, what in zip(map(_key, question, person, numbers), name, role, strict=True):
            is_first.append(key not in self.known)
            self.known.add(key)
            if is_first[-1] and what != "training":
                self.answered[who] += 1
        self.question.extend(question)
        self.person.extend(person)
        self.role.extend(numbers)
        self.code.extend(code)
        self.seconds.extend([-1.0 if one is None else one for one in seconds])
        self.moment.extend(moments_of(time))
        following = NOT_NUMBERED + len(self.arrival)
        self.arrival.extend([following + place if one is None else one for place, one in enumerate(arrival)])
        return is_first

    def has_answered(self, question: int, name: str, role: Role) -> bool:
        """Whether a person has answered a question in a role."""
        return name in self.people and _key(question, self.people[name], ROLE_NUMBERS[role]) in self.known

    def answered_by(self, name: str) -> list[tuple[int, Role]]:
        """What a person has answered, each question once per role, in the order of their first answers."""
        if name not in self.people:
            return []
        mine = np.flatnonzero(np.array(self.person) == self.people[name])
        question, role = np.array(self.question)[mine], np.array(self.role)[mine]
        first = np.sort(np.unique(_key(question, 0, role.astype(np.int64)), return_index=True)[1])
        return [(one, ROLES[what]) for one, what in zip(question[first].tolist(), role[first].tolist(), strict=True)]

    def columns(self) -> dict[str, Array]:
        """The rows as arrays, copied for use in other threads; `is_last` marks each person's latest answers."""
        names = ("question", "person", "role", "code", "seconds", "moment", "arrival")
        column = {name: np.array(getattr(self, name)) for name in names}
        is_last = np.ones(len(self), bool)
        if len(self.known) < len(self):  # somebody changed an answer
            asked = column["question"] * len(ROLES) + column["role"]
            is_last[:] = False
            is_last[latest_rows(asked, column["person"], column["arrival"])[0]] = True
        return column | {"is_last": is_last}

    def given(self, questions: int, excluded: Iterable[str]) -> Int[Array, " Q"]:
        """For each question of the study, how many people whose answers count have answered it."""
        return np.bincount(self.columns_that_count(excluded)[0], minlength=questions)

    def columns_that_count(self, excluded: Iterable[str]) -> tuple[Array, Array, Array, Array]:
        """Question, person, answer code and number of arrival of every latest answer that counts."""
        column = self.columns()
        out = np.array([self.people[name] for name in excluded if name in self.people], np.int64)
        counts = column["is_last"] & (column["role"] == 0) & ~np.isin(column["person"], out)
        question, person, code, arrival = (column[name][counts] for name in ("question", "person", "code", "arrival"))
        return question, person, code, arrival


def _key(question: Any, person: Any, role: Any) -> Any:
    """One number for (question, person, role), or an array of them; allows up to 16 million people."""
    return question << 26 | person << 2 | role
