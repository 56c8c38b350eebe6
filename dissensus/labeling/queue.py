"""Who is asked what next: every question gets R answers from R different people, in a random order for each of them.

Questions are numbered as they arrive, and the caller passes the time, so that nothing here depends on a clock, a file
or unseeded randomness.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.labeling.checks import Checks
from dissensus.labeling.columns import NO_SOURCE
from dissensus.labeling.order import MASK, is_due, mixed, places
from dissensus.labeling.person import Lease, Person
from dissensus.records import Role

AHEAD = 256
"""How many questions of a person's order are computed at a time: all of 200,000 would take too long for one click."""
URGENT = 0.5
"""The share of questions that are urgent ones, while both kinds wait."""
OPENED = 4096
"""How many questions may reopen before everybody's order is recomputed."""


class Queue(Checks):
    """The questions of a study, the people, and who holds what."""

    def __init__(self, answers: int, lease: float, control_rate: float = 0.0, repeat_rate: float = 0.0) -> None:
        """Each question needs `answers` people; a person holds an assigned question for `lease` seconds."""
        super().__init__(control_rate, repeat_rate)
        self.answers = answers
        self.lease = lease
        self.people: dict[str, Person] = {}
        self.leases: dict[str, dict[int, Lease]] = {}
        self.barred: dict[str, set[int]] = {}
        """For everybody, including people who have not joined yet."""
        self.training: list[int] = []
        self.urgent: list[int] = []
        """Questions that go first every other time, in this order: see `Needed.urgent`."""
        self.is_in_order = False
        """Whether they go first every time: see `Needed.is_in_order`."""
        self.opened: list[int] = []
        """Questions that have reopened since the orders were computed, in sequence."""
        self.unfinished: Bool[Array, " Q"] = np.zeros(0, bool)
        self.unfinished_total, self.counted = 0, 0
        """How many questions needed answers at the last count, and the number of counts so far."""

    def need(self, questions: Sequence[int] | Array) -> None:
        """Ask these questions from now on, and no others."""
        before = self._open()
        self.is_needed = np.zeros(len(self), bool)
        self.is_needed[np.asarray(questions, np.int64)] = True
        self._count()
        self._note_opened(np.flatnonzero(self._open() & ~before).tolist())

    def join(self, name: str, seed: int) -> Person:
        """Add a person; someone already known stays as they are."""
        self.leases.setdefault(name, {})
        return self.people.setdefault(name, Person(seed, barred=self.barred.setdefault(name, set())))

    def ask_at_least(self, people: int) -> None:
        """Each question needs at least so many people from now on."""
        if people > self.answers:
            before = self._open()
            self.answers = people
            self._count()
            self._note_opened(np.flatnonzero(self._open() & ~before).tolist())

    def bar(self, name: str, question: int) -> None:
        """Never ask a person this question, such as a check of their own mask; if they hold it, they lose it."""
        self.barred.setdefault(name, set()).add(question)
        if question in self.leases.get(name, {}):
            self._release(name, question)
        if name in self.people:
            self.people[name].counted = -1

    def admit(self, name: str, question: int) -> None:
        """Lift a bar: the person may be asked this question again."""
        self.barred.get(name, set()).discard(question)
        if name in self.people:
            self.people[name].heard, self.people[name].counted = None, -1

    def answer(self, name: str, question: int, counts: bool) -> None:
        """Record that a person answered: they no longer hold it and are not asked again; `counts` adds one answer."""
        was_open = self.is_open(question)
        if self.leases.get(name, {}).pop(question, None) is not None:
            self.held[question] -= 1
        if name in self.people:
            self.people[name].seen.add(question)
            self.note_source(self.people[name], question)
        self.given[question] += counts
        if self.is_open(question) and not was_open:
            self._note_opened([question])

    def recount(self, given: Int[Array, " Q"]) -> None:
        """Replace the number of answers that count, for example when a person is excluded."""
        before = self._open()
        self.given = given.astype(np.int32)
        self._count()
        self._note_opened(np.flatnonzero(self._open() & ~before).tolist())

    def next(self, name: str, now: float, is_spare: bool = False) -> tuple[int, Role] | None:
        """The next question for a person, who holds it from now on; None if there is nothing for them.

        `is_spare`: it is for later. Then others may take it over, and nothing is taken over from others.
        """
        person = self.people[name]
        for question in self.training:
            if question not in person.trained:
                self._note(person, question, "training")
                return question, "training"
        following = self._urgent(person)
        following = self._peek(person) if following is None else following
        following = self._taken_over(name) if following is None and not is_spare else following
        if (check := self.next_check(person, following)) is not None:
            self._note(person, *check)
            return check
        if following is None:
            self._count()  # so that the remaining number leaves out what others have answered in the meantime
            return None
        self._note(person, following, "asked")
        self.hold(name, following, now, is_spare)
        return following, "asked"

    def hold(self, name: str, question: int, now: float, is_spare: bool = False) -> bool:
        """Let a person hold a question, or extend their lease; False if it no longer needs them, or they are barred."""
        lease = self.leases[name].get(question)
        if lease is None:
            if not self.is_open(question) or question in self.people[name].barred:
                return False
            self.leases[name][question] = Lease(question, now + self.lease, is_spare)
            self.held[question] += 1
        elif not self.is_needed[question]:
            self._release(name, question)
            return False
        else:
            lease.until, lease.is_spare = now + self.lease, is_spare
        return True

    def extend(self, name: str, now: float, near: Collection[int] = ()) -> None:
        """Extend everything that a person holds: they are at work. Nobody takes over what is `near` any more."""
        for question, lease in self.leases.get(name, {}).items():
            lease.until = now + self.lease
            lease.is_spare = lease.is_spare and question not in near

    def expire(self, now: float) -> None:
        """Take back expired questions and count what is left; to be called every second or so."""
        late = [(name, lease) for name, held in self.leases.items() for lease in held.values() if lease.until <= now]
        for name, lease in late:
            self._release(name, lease.question)
        self._count()

    def release_all(self, name: str) -> None:
        """Release everything that a person holds."""
        for question in list(self.leases.get(name, ())):
            self._release(name, question)

    def take_back(self, name: str, question: int, role: Role) -> None:
        """Undo `next` for a question that could not be shown to the person."""
        person = self.people[name]
        person.sources.discard(int(self.sources[question]))  # they have not seen anything of it
        if role == "asked":
            person.seen.discard(question)
            person.asked.remove(question)
            person.heard, person.counted = None, -1
            if question in self.leases[name]:
                self._release(name, question)
        elif role == "training":
            person.trained.discard(question)
        else:
            person.run.appendleft((question, role))
            (person.repeated if role == "repeat" else person.controlled).discard(question)

    def restore(self, name: str, given: Sequence[tuple[int, Role]]) -> None:
        """Restore what a person was given before the service started, in order."""
        person = self.people[name]
        for question, role in given:
            if role in person.drawn:
                person.drawn[role] = len(person.asked)
            self._note(person, question, role)
        for question, role in given[-1:]:
            self.resume(person, question, role)
        person.counted = -1

    def is_open(self, question: int) -> bool:
        """True if a question needs more people."""
        return bool(self.is_needed[question] and self.given[question] + self.held[question] < self.answers)

    def left(self, name: str) -> int:
        """How many questions a person could still be asked; others may currently hold some of them."""
        person = self.people[name]
        if person.counted != self.counted:
            out = _array(person.seen | person.barred if person.barred else person.seen)  # avoids copying a large set
            known = out[out < len(self.unfinished)]
            person.left = self.unfinished_total - int(np.count_nonzero(self.unfinished[known]))
            if (self.sources != NO_SOURCE).any():
                person.left = self._left_of_sources(person, known)
            person.counted = self.counted
        return person.left + sum(question not in person.trained for question in self.training)

    def _left_of_sources(self, person: Person, out: Int[Array, " n"]) -> int:
        """Unfinished questions that a person may be asked, of which those with the same source are one."""
        wanted = self.unfinished.copy()
        wanted[out] = False
        wanted &= ~self._spent(person)[: len(wanted)]
        sources = self.sources[: len(wanted)][wanted]
        return int(np.count_nonzero(sources == NO_SOURCE)) + len(np.unique(sources[sources != NO_SOURCE]))

    def _spent(self, person: Person) -> Bool[Array, " Q"]:
        """Questions whose source a person has been shown."""
        return np.isin(self.sources, _array(person.sources))

    def _note(self, person: Person, question: int, role: Role) -> None:
        self.note_source(person, question)
        if role == "asked":
            person.seen.add(question)
            person.asked.append(question)
            person.left -= 1
        elif role == "training":
            person.trained.add(question)
        else:
            (person.repeated if role == "repeat" else person.controlled).add(question)

    def _release(self, name: str, question: int) -> None:
        was_open = self.is_open(question)
        del self.leases[name][question]
        self.held[question] -= 1
        if self.is_open(question) and not was_open:
            self._note_opened([question])

    def _note_opened(self, questions: list[int]) -> None:
        """Add reopened questions to everybody's order."""
        if len(self.opened) + len(questions) > OPENED:
            self.opened.clear()
            for person in self.people.values():
                person.heard = None
        else:
            self.opened += questions

    def _urgent(self, person: Person) -> int | None:
        """The first urgent question that still needs a person, if one is due."""
        is_turn = self.is_in_order or is_due(person.seed, "urgent", len(person.asked), URGENT)
        if not self.urgent or not is_turn:
            return None
        ready = (question for question in self.urgent if self.may_be_asked(person, question) and self.is_open(question))
        return next(ready, None)

    def _peek(self, person: Person) -> int | None:
        """The first question in a person's order that still needs them."""
        if person.heard is None:
            self._work_out(person)
        elif person.heard < len(self.opened):
            self._take_in(person, self.opened[person.heard :])
        while True:
            while person.ahead:
                if self.may_be_asked(person, person.ahead[0]) and self.is_open(person.ahead[0]):
                    return person.ahead[0]
                person.ahead.popleft()
            if person.horizon == MASK:
                return None
            self._work_out(person)

    def _taken_over(self, name: str) -> int | None:
        """A question that somebody else holds for later, who loses it; from whoever holds most, and their last one."""
        person = self.people[name]
        for other in sorted(self.leases.keys() - {name}, key=lambda one: len(self.leases[one]), reverse=True):
            for question, lease in reversed(self.leases[other].items()):
                is_wanted = self.is_needed[question] and self.given[question] + self.held[question] <= self.answers
                if lease.is_spare and is_wanted and self.may_be_asked(person, question):
                    self._release(other, question)
                    return question
        return None

    def _work_out(self, person: Person) -> None:
        """Compute the next part of a person's order, from all open questions that they may be asked."""
        wanted = self._open()
        wanted[_array(person.seen)] = False
        wanted[_array(person.barred)] = False
        if person.sources:
            wanted &= ~self._spent(person)
        numbers = np.flatnonzero(wanted)
        person.heard, count = len(self.opened), len(numbers)
        if count > 2 * AHEAD:
            # preselect by group about twice as many as needed: sorting all would dominate the running time
            bound = np.uint64(int(2 * AHEAD / count * 2.0**64))
            near = numbers[mixed(self.groups[numbers], person.seed) < bound]
            numbers = near if len(near) >= AHEAD else numbers
        place = places(self.groups[numbers], self.words[numbers], person.seed)
        first = np.argsort(place)[:AHEAD]
        person.horizon = int(place[first[-1]]) if count > len(first) else MASK
        person.ahead = deque(numbers[first].tolist())

    def _take_in(self, person: Person, opened: list[int]) -> None:
        """Insert reopened questions where they belong in a person's order."""
        person.heard = len(self.opened)
        fresh = {question for question in opened if self.may_be_asked(person, question) and self.is_open(question)}
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


def _array(questions: Collection[int]) -> Int[Array, " n"]:
    return np.fromiter(questions, np.int64, len(questions))
