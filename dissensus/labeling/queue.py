"""Who is asked what next: every question gets R answers of R different people, in a random order for each of them.

Questions and people are numbered as they come, and whoever calls says what time it is, so that nothing here depends on
a clock, a file or chance that is not written down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int, UInt64
from dissensus.labeling.order import MASK, draw, is_due, mixed, places, times_due
from dissensus.labeling.person import Lease, Person
from dissensus.records import ROLES, Role

AHEAD = 256
"""Questions that a person's order is worked out for at a time: all of 200,000 would take too long for one click."""
APART = 10
"""A repeat comes at least this many questions after the first time."""
MOST_DUE = 2
"""Controls, or repeats, that somebody can still be owed when the service starts: more would come in a row."""
OPENED = 4096
"""Questions that may open again before everybody's order is worked out anew."""


class Queue:
    """The questions of a study, the people, and who holds what."""

    def __init__(self, answers: int, lease: float, control_rate: float = 0.0, repeat_rate: float = 0.0) -> None:
        """Each question needs `answers` people; whoever is given one holds it for `lease` seconds."""
        self.answers = answers
        self.lease = lease
        self.rates: dict[Role, float] = {"control": control_rate, "repeat": repeat_rate}
        self.people: dict[str, Person] = {}
        self.leases: dict[str, dict[int, Lease]] = {}
        self.barred: dict[str, set[int]] = {}
        """Of everybody, also of those who have not joined yet."""
        self.controls: list[int] = []
        self.training: list[int] = []
        self.opened: list[int] = []
        """Questions that need people again since orders were worked out, as they came."""
        self.unfinished: Bool[Array, " Q"] = np.zeros(0, bool)
        self.unfinished_total, self.counted = 0, 0
        """What needed answers when it was last counted, and how often it was."""
        self.groups: UInt64[Array, " Q"] = np.zeros(0, np.uint64)
        self.words: UInt64[Array, " Q"] = np.zeros(0, np.uint64)
        self.is_needed: Bool[Array, " Q"] = np.zeros(0, bool)
        self.given: Int[Array, " Q"] = np.zeros(0, np.int32)
        self.held: Int[Array, " Q"] = np.zeros(0, np.int32)
        self.is_repeatable: Bool[Array, " Q"] = np.zeros(0, bool)

    def __len__(self) -> int:
        return len(self.words)

    def add(
        self, groups: Sequence[int] | Array, words: Sequence[int] | Array, is_repeatable: bool | Array = True
    ) -> range:
        """Take in questions by the words that stand for their group and themselves; the numbers they get.

        They are not asked before `need` says so. Only repeatable ones come to a person a second time.
        """
        count = len(words)
        self.groups = np.concatenate([self.groups, np.array(groups, np.uint64)])
        self.words = np.concatenate([self.words, np.array(words, np.uint64)])
        self.is_needed = np.concatenate([self.is_needed, np.zeros(count, bool)])
        self.given = np.concatenate([self.given, np.zeros(count, np.int32)])
        self.held = np.concatenate([self.held, np.zeros(count, np.int32)])
        self.is_repeatable = np.concatenate([self.is_repeatable, np.broadcast_to(is_repeatable, count)])
        return range(len(self) - count, len(self))

    def need(self, questions: Sequence[int] | Array) -> None:
        """These questions are to be asked now, and no others."""
        before = self._open()
        self.is_needed = np.zeros(len(self), bool)
        self.is_needed[np.asarray(questions, np.int64)] = True
        self._count()
        self._note_opened(np.flatnonzero(self._open() & ~before).tolist())

    def join(self, name: str, seed: int) -> Person:
        """A person who may be asked; one who is known stays as they are."""
        self.leases.setdefault(name, {})
        return self.people.setdefault(name, Person(seed, barred=self.barred.setdefault(name, set())))

    def bar(self, name: str, question: int) -> None:
        """Never ask a person this question, such as whether what they drew is right; whoever holds it loses it."""
        self.barred.setdefault(name, set()).add(question)
        if question in self.leases.get(name, {}):
            self._release(name, question)
        if name in self.people:
            self.people[name].counted = -1

    def admit(self, name: str, question: int) -> None:
        """Let a person be asked again what they were barred from."""
        self.barred.get(name, set()).discard(question)
        if name in self.people:
            self.people[name].heard, self.people[name].counted = None, -1

    def answer(self, name: str, question: int, counts: bool) -> None:
        """A person answered: they hold it no longer and are not asked again; `counts` where it is one answer more."""
        was_open = self.is_open(question)
        if self.leases.get(name, {}).pop(question, None) is not None:
            self.held[question] -= 1
        if name in self.people:
            self.people[name].seen.add(question)
        self.given[question] += counts
        if self.is_open(question) and not was_open:
            self._note_opened([question])

    def recount(self, given: Int[Array, " Q"]) -> None:
        """Other numbers of answers that count, as when a person is excluded."""
        before = self._open()
        self.given = given.astype(np.int32)
        self._count()
        self._note_opened(np.flatnonzero(self._open() & ~before).tolist())

    def next(self, name: str, now: float) -> tuple[int, Role] | None:
        """The next question for a person, who holds it from now on; None where there is nothing for them."""
        person = self.people[name]
        for question in self.training:
            if question not in person.trained:
                self._note(person, question, "training")
                return question, "training"
        following = self._peek(person)
        if following is None or not self._continues(person, following):
            special = self._special(person, "control", self._fresh_controls(person)) or self._special(
                person, "repeat", self._old_questions(person)
            )
            if special is not None:
                self._note(person, *special)
                return special
        if following is None:
            self._count()  # so that nobody is told of what others have answered meanwhile
            return None
        self._note(person, following, "asked")
        self.hold(name, following, now)
        return following, "asked"

    def hold(self, name: str, question: int, now: float) -> bool:
        """Let a person hold a question, or hold it longer; False where it needs them no more, or they are barred."""
        lease = self.leases[name].get(question)
        if lease is None:
            if not self.is_open(question) or question in self.people[name].barred:
                return False
            self.leases[name][question] = Lease(question, now + self.lease)
            self.held[question] += 1
        elif not self.is_needed[question]:
            self._release(name, question)
            return False
        else:
            lease.until = now + self.lease
        return True

    def expire(self, now: float) -> None:
        """Take back what people have held for too long, and count what is left; to be called every second or so."""
        late = [(name, lease) for name, held in self.leases.items() for lease in held.values() if lease.until <= now]
        for name, lease in late:
            self._release(name, lease.question)
        self._count()

    def release_all(self, name: str) -> None:
        """A person who is asked no longer holds nothing."""
        for question in list(self.leases.get(name, ())):
            self._release(name, question)

    def take_back(self, name: str, question: int, role: Role) -> None:
        """What `next` gave could not be put to the person: as if it had not been given."""
        person = self.people[name]
        if role == "asked":
            person.seen.discard(question)
            self._owe(person, -1)
            person.asked.remove(question)
            person.heard, person.counted = None, -1
            if question in self.leases[name]:
                self._release(name, question)
        elif role == "training":
            person.trained.discard(question)
        else:
            person.due[role] += 1
            (person.repeated if role == "repeat" else person.controlled).discard(question)

    def restore(self, name: str, given: Sequence[tuple[int, Role]]) -> None:
        """What a person was given before the service started, in order."""
        person = self.people[name]
        of_role = {role: [one for one, what in given if what == role] for role in ROLES}
        positions = range(len(person.asked) + 1, len(person.asked) + len(of_role["asked"]) + 1)
        person.seen.update(of_role["asked"])
        person.asked += of_role["asked"]
        person.controlled.update(of_role["control"])
        person.trained.update(of_role["training"])
        person.repeated.update(of_role["repeat"])
        for purpose, rate in self.rates.items():
            due = times_due(person.seed, purpose, _eligible(purpose, positions), rate) - len(of_role[purpose])
            person.due[purpose] = min(person.due[purpose] + due, MOST_DUE)

    def is_open(self, question: int) -> bool:
        """True where a question needs further people."""
        return bool(self.is_needed[question] and self.given[question] + self.held[question] < self.answers)

    def left(self, name: str) -> int:
        """How many questions could still come to a person: others may hold some of them just now."""
        person = self.people[name]
        if person.counted != self.counted:
            out = _array(person.seen | person.barred if person.barred else person.seen)  # no copy of many
            known = out[out < len(self.unfinished)]
            person.left = self.unfinished_total - int(np.count_nonzero(self.unfinished[known]))
            person.counted = self.counted
        return person.left + sum(question not in person.trained for question in self.training)

    def _note(self, person: Person, question: int, role: Role) -> None:
        if role == "asked":
            person.seen.add(question)
            person.asked.append(question)
            self._owe(person, 1)
            person.left -= 1
        elif role == "training":
            person.trained.add(question)
        else:
            person.due[role] -= 1
            (person.repeated if role == "repeat" else person.controlled).add(question)

    def _owe(self, person: Person, times: int) -> None:
        """Controls and repeats that are due after the last question of a person."""
        for purpose, rate in self.rates.items():
            for position in _eligible(purpose, range(len(person.asked), len(person.asked) + 1)):
                person.due[purpose] += times * is_due(person.seed, purpose, position, rate)

    def _release(self, name: str, question: int) -> None:
        was_open = self.is_open(question)
        del self.leases[name][question]
        self.held[question] -= 1
        if self.is_open(question) and not was_open:
            self._note_opened([question])

    def _note_opened(self, questions: list[int]) -> None:
        """Let everybody's order know of questions that need people again."""
        if len(self.opened) + len(questions) > OPENED:
            self.opened.clear()
            for person in self.people.values():
                person.heard = None
        else:
            self.opened += questions

    def _peek(self, person: Person) -> int | None:
        """The first question of a person's order that still needs them."""
        if person.heard is None:
            self._work_out(person)
        elif person.heard < len(self.opened):
            self._take_in(person, self.opened[person.heard :])
        while True:
            while person.ahead:
                if person.may_be_asked(person.ahead[0]) and self.is_open(person.ahead[0]):
                    return person.ahead[0]
                person.ahead.popleft()
            if person.horizon == MASK:
                return None
            self._work_out(person)

    def _work_out(self, person: Person) -> None:
        """The next questions of a person's order, from all that need people and that they may be asked."""
        wanted = self._open()
        wanted[_array(person.seen)] = False
        wanted[_array(person.barred)] = False
        numbers = np.flatnonzero(wanted)
        person.heard, count = len(self.opened), len(numbers)
        if count > 2 * AHEAD:
            # by their groups alone, about twice as many as are wanted: to sort all would take longer than all else
            bound = np.uint64(int(2 * AHEAD / count * 2.0**64))
            near = numbers[mixed(self.groups[numbers], person.seed) < bound]
            numbers = near if len(near) >= AHEAD else numbers
        place = places(self.groups[numbers], self.words[numbers], person.seed)
        first = np.argsort(place)[:AHEAD]
        person.horizon = int(place[first[-1]]) if count > len(first) else MASK
        person.ahead = deque(numbers[first].tolist())

    def _take_in(self, person: Person, opened: list[int]) -> None:
        """Put questions that need people again where they belong in a person's order."""
        person.heard = len(self.opened)
        fresh = {question for question in opened if person.may_be_asked(question) and self.is_open(question)}
        fresh.difference_update(person.ahead)
        if fresh:
            numbers = np.array([*person.ahead, *fresh], np.int64)
            place = places(self.groups[numbers], self.words[numbers], person.seed)
            order = np.argsort(place)
            person.ahead = deque(numbers[order[place[order] <= np.uint64(person.horizon)]].tolist())

    def _open(self) -> Bool[Array, " Q"]:
        return self.is_needed & (self.given + self.held < self.answers)

    def _count(self) -> None:
        self.unfinished = self.is_needed & (self.given < self.answers)
        self.unfinished_total, self.counted = int(np.count_nonzero(self.unfinished)), self.counted + 1

    def _continues(self, person: Person, question: int) -> bool:
        """True where the question is about the picture that the person was asked about last."""
        return bool(person.asked) and self.groups[person.asked[-1]] == self.groups[question]

    def _special(self, person: Person, role: Role, candidates: Sequence[int]) -> tuple[int, Role] | None:
        """A control or a repeat, where one is due and there is one to give."""
        if person.due[role] > 0 and not candidates:
            person.due[role] = 0  # there is nothing to give, and debts would make a row of them later
        if person.due[role] <= 0:
            return None
        return candidates[draw(person.seed, f"which {role}", len(person.asked)) % len(candidates)], role

    def _fresh_controls(self, person: Person) -> list[int]:
        if person.due["control"] <= 0:
            return []
        return [one for one in self.controls if one not in person.controlled and person.may_be_asked(one)]

    def _old_questions(self, person: Person) -> list[int]:
        if person.due["repeat"] <= 0:
            return []
        # what was withdrawn is not seen, and a second time needs a first
        first_times = [one for one in person.asked[:-APART] if one in person.seen and self.is_repeatable[one]]
        return [one for one in first_times if one not in person.repeated and one not in person.barred]


def _array(questions: set[int]) -> Int[Array, " n"]:
    return np.fromiter(questions, np.int64, len(questions))


def _eligible(purpose: Role, positions: range) -> range:
    """Positions after which there can be a control, or a repeat: that needs a first time some questions before."""
    return positions if purpose == "control" else range(max(positions.start, APART + 1), positions.stop)
