"""What the service remembers of questions and answers: everybody's last word on each question, as plain arrays."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.labeling import QUESTIONS
from dissensus.labeling.order import group_words, question_words
from dissensus.records import ROLES, Question, Role

ROLE_NUMBERS: dict[str, int] = {role: number for number, role in enumerate(ROLES)}
Row = tuple[int, str, Role, int, float | None, str]
"""Question, person, role, code, seconds and time."""


SHORT = 64
"""Characters of an answer that is worth remembering: a mask is long, and never comes twice."""


class Questions:
    """Questions by number, each once; bodies are made when somebody is asked."""

    def __init__(self) -> None:
        """Begin with none."""
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.numbers: dict[str, dict[str, int]] = {kind: {} for kind in QUESTIONS}
        """By kind and text."""

    def __len__(self) -> int:
        return len(self.texts)

    def number(self, kind: str, text: str) -> int | None:
        """The number of a question; None where it is not known."""
        return self.numbers.get(kind, {}).get(text)

    def new(self, kind: str, texts: Iterable[str]) -> list[str]:
        """Those that are not known yet."""
        known = self.numbers[kind]
        return [text for text in dict.fromkeys(texts) if text not in known]

    def add(self, kind: str, texts: Sequence[str]) -> tuple[Array, Array, Array]:
        """Number new questions; the words that stand for their groups and for themselves, and which can be repeated."""
        bodies = json.loads(f"[{','.join(texts)}]")  # at once, which takes a third of the time
        groups = group_words(kind, list(map(QUESTIONS[kind].group, bodies)))
        self.numbers[kind].update(zip(texts, range(len(self.texts), len(self.texts) + len(texts)), strict=True))
        self.kinds += [kind] * len(texts)
        self.texts += texts
        is_repeatable = ~np.fromiter(map(QUESTIONS[kind].is_about_answers, bodies), bool, len(bodies))
        return groups, question_words(groups, texts), is_repeatable

    def of(self, number: int) -> Question:
        """The question with a number."""
        return Question.model_construct(kind=self.kinds[number], body=json.loads(self.texts[number]))


class Books:
    """All answers that the service knows, one row each, and the last word of everybody on each question."""

    def __init__(self) -> None:
        """Begin empty."""
        self.people: dict[str, int] = {}
        self.question = array("q")
        self.person = array("q")
        self.role = array("b")
        self.code = array("q")
        self.seconds = array("d")
        self.moment = array("d")
        self.is_last = array("b")
        self.last: dict[int, int] = {}
        """The row of the last word by `_keys`."""
        self.answered: Counter[str] = Counter()
        """Questions that each person has answered, training aside."""

    def __len__(self) -> int:
        return len(self.question)

    def enter(self, question: int, name: str, role: Role, code: int, seconds: float | None, time: str) -> bool:
        """Write an answer down; True where it is the person's first on this question in this role."""
        person = self.people.setdefault(name, len(self.people))
        key, row, moment = _keys(question, person, ROLE_NUMBERS[role]), len(self.question), _moment(time)
        before = self.last.get(key)
        is_last = before is None or moment >= self.moment[before]  # as `latest_answers` decides it
        if before is None and role != "training":
            self.answered[name] += 1
        if before is not None and is_last:
            self.is_last[before] = 0
        if is_last:
            self.last[key] = row
        self.question.append(question)
        self.person.append(person)
        self.role.append(ROLE_NUMBERS[role])
        self.code.append(code)
        self.seconds.append(-1.0 if seconds is None else seconds)
        self.moment.append(moment)
        self.is_last.append(is_last)
        return before is None

    def enter_all(self, rows: Sequence[Row]) -> None:
        """Like `enter` for each row, in a fraction of the time."""
        question, name, role, code, seconds, time = zip(*rows, strict=True) if rows else ((),) * 6
        person = [self.people.setdefault(one, len(self.people)) for one in name]
        numbers = [ROLE_NUMBERS[one] for one in role]
        keys = _keys(*(np.array(column, np.int64) for column in (question, person, numbers)))
        moments = _moments(time)
        self._note_last(keys, np.array(moments), name, role)
        self.question.extend(question)
        self.person.extend(person)
        self.role.extend(numbers)
        self.code.extend(code)
        self.seconds.extend([-1.0 if one is None else one for one in seconds])
        self.moment.extend(moments)

    def _note_last(
        self, keys: Int[Array, " n"], moments: Float[Array, " n"], name: Sequence[str], role: Sequence[Role]
    ) -> None:
        """Which of many new rows are last words, by their time, and which are first ones."""
        order = np.lexsort((moments, keys))  # stable: of equal times the later row comes later
        distinct, first = np.unique(keys[order], return_index=True)
        ends = order[np.append(first[1:], len(order)) - 1] if len(order) else order
        before = np.array([self.last.get(key, -1) for key in distinct.tolist()] if self.last else [-1] * len(ends), int)
        is_known = before >= 0
        is_new = ~is_known
        if is_known.any():
            is_new[is_known] = np.array(self.moment)[before[is_known]] <= moments[ends[is_known]]
        for row in before[is_known & is_new].tolist():
            self.is_last[row] = 0
        self.answered.update(name[place] for place in ends[~is_known].tolist() if role[place] != "training")
        self.last.update(zip(distinct[is_new].tolist(), (ends[is_new] + len(self)).tolist(), strict=True))
        is_last = np.zeros(len(keys), np.int8)
        is_last[ends[is_new]] = 1
        self.is_last.frombytes(is_last.tobytes())

    def has_answered(self, question: int, name: str, role: Role) -> bool:
        """Whether a person has answered a question in a role."""
        return name in self.people and _keys(question, self.people[name], ROLE_NUMBERS[role]) in self.last

    def answered_by(self, name: str) -> list[tuple[int, Role]]:
        """What a person has answered, each question once for each role, in the order of the first times."""
        if name not in self.people:
            return []
        mine = np.flatnonzero(np.array(self.person) == self.people[name])
        question, role = np.array(self.question)[mine], np.array(self.role)[mine]
        first = np.sort(np.unique(_keys(question, 0, role.astype(np.int64)), return_index=True)[1])
        return [(one, ROLES[what]) for one, what in zip(question[first].tolist(), role[first].tolist(), strict=True)]

    def columns(self) -> dict[str, Array]:
        """The rows as arrays, copied, so that other threads may read them."""
        names = ("question", "person", "role", "code", "seconds", "moment", "is_last")
        return {name: np.array(getattr(self, name)) for name in names}

    def given(self, questions: int, excluded: Iterable[str]) -> Int[Array, " Q"]:
        """How many people whose answers count have answered each question for the study."""
        return np.bincount(self.columns_that_count(excluded)[0], minlength=questions)

    def columns_that_count(self, excluded: Iterable[str]) -> tuple[Array, Array, Array, Array]:
        """Question, person, answer code and moment of every last word that counts."""
        column = self.columns()
        out = np.array([self.people[name] for name in excluded if name in self.people], np.int64)
        counts = (column["is_last"] == 1) & (column["role"] == 0) & ~np.isin(column["person"], out)
        question, person, code, moment = (column[name][counts] for name in ("question", "person", "code", "moment"))
        return question, person, code, moment


def code_of_text(kind: str, answer: str) -> int:
    """An answer that is stored as JSON, as its kind's code; of short ones there are few different ones."""
    return _known_code(kind, answer) if len(answer) <= SHORT else QUESTIONS[kind].code(json.loads(answer))


@lru_cache(1 << 14)
def _known_code(kind: str, answer: str) -> int:
    return QUESTIONS[kind].code(json.loads(answer))


def _keys(question: Any, person: Any, role: Any) -> Any:
    """One number for (question, person, role), or an array of them; up to 16 million people."""
    return question << 26 | person << 2 | role


def _moments(times: Sequence[str]) -> list[float]:
    if all(time.endswith("+00:00") for time in times):  # as we write them, and quicker to read
        moments: list[float] = (np.array([time[:-6] for time in times], "datetime64[us]").view(np.int64) / 1e6).tolist()
        return moments
    return list(map(_moment, times))


def _moment(time: str) -> float:
    """Seconds since 1970; a time without a zone is UTC."""
    moment = datetime.fromisoformat(time)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
