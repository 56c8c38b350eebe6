"""What the service knows of a study: made from what is stored, and kept up with what others write beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dissensus.labeling import QUESTIONS, Queue
from dissensus.records import Annotator, Assignment, Exclusion, Question, Response, Role, SetQuestion
from dissensus.web.backing import Answered, Backing, Changes, Duel, StoredRow
from dissensus.web.books import Books, Questions, code_of_text
from dissensus.web.countdown import Countdown
from dissensus.web.group_commit import GroupCommit


class Memory:
    """Everything that is remembered while the service runs; all of it can be made again from what is stored."""

    def __init__(self, backing: Backing) -> None:
        """Begin with nothing; `open` reads what is stored."""
        terms = backing.terms
        self.backing = backing
        self.questions = Questions()
        self.books = Books()
        self.queue = Queue(terms.answers, 60 * terms.lease_minutes, terms.control_rate, terms.repeat_rate)
        self.log = GroupCommit(backing.keep)
        self.everybody: tuple[Annotator, ...] = ()
        self.people: dict[str, Annotator] = {}
        self.exclusions: dict[str, Exclusion] = {}
        self.excluded: set[str] = set()
        self.known: set[str] = set()
        self.written_down: tuple[SetQuestion, ...] = ()
        self.set_questions: dict[tuple[int, str], SetQuestion] = {}
        self.is_paused = False
        self.duels: tuple[Duel, ...] = ()
        self.ids: set[str] = set()
        self.tickets: dict[str, tuple[Assignment, int]] = {}
        self.waiting: dict[str, dict[str, None]] = {}
        self.held_before: dict[str, list[tuple[Assignment, int]]] = {}
        """What people held when the service stopped, until they come back."""
        self.unsaved: dict[str, list[Assignment]] = {}
        self.doors: dict[str, asyncio.Lock] = {}
        self.skipped: set[int] = set()
        """Questions that somebody could not answer."""
        self.last_seq = 0
        self.rounds: Any = None
        self.round_numbers = np.zeros(0, np.int64)
        self.round_kinds: list[str] = []
        self.barred: set[tuple[str, int]] = set()
        """Who must not be asked what."""
        self.has_news = False
        self.looking = asyncio.Lock()
        self.looks = 0
        self.countdown = Countdown()

    async def open(self) -> None:
        """Read what is stored: rounds, people, answers, and what people held when the service stopped."""
        self.apply(await asyncio.to_thread(self.backing.changes, 0))
        await self.review()
        since = datetime.fromtimestamp(time.time() - self.queue.lease, UTC).isoformat(timespec="milliseconds")
        for assignment in await asyncio.to_thread(self.backing.open_assignments, since):
            number = self.number(assignment.question)
            if number is not None and assignment.annotator in self.queue.people:
                self.held_before.setdefault(assignment.annotator, []).append((assignment, number))
                if assignment.role == "asked":
                    self.queue.hold(assignment.annotator, number, datetime.fromisoformat(assignment.time).timestamp())

    def apply(self, changes: Changes) -> None:
        """Take in what was written beside the service."""
        self.is_paused = changes.is_paused
        self.everybody = changes.people
        self.people = {person.token_hash: person for person in changes.people if person.revoked is None}
        for person in changes.people:
            self.queue.join(person.name, person.seed)
        if changes.rounds != self.rounds:
            self.rounds, self.has_news = changes.rounds, True
            groups = self.backing.round_questions()
            numbers = [number for kind, texts in groups for number in self.numbered(kind, texts)]
            self.round_numbers = np.array(numbers, np.int64)
            self.round_kinds = [kind for kind, texts in groups if texts]
        if changes.set_questions != self.written_down:
            self._set(changes.set_questions)
        before = self.excluded
        self.exclusions = {exclusion.annotator: exclusion for exclusion in changes.exclusions}
        self.excluded = {name for name, exclusion in self.exclusions.items() if exclusion.is_excluded}
        for name in self.excluded | {person.name for person in changes.people if person.revoked is not None}:
            self._let_go(name)
        if self._take_in(changes.answers) or before != self.excluded:
            self.queue.recount(self.books.given(len(self.questions), self.excluded))
            self.has_news = True

    async def review(self) -> None:
        """Find out which questions are needed now: items that people discarded make room for reserves."""
        self.has_news = False
        question, person, code, moment = self.books.columns_that_count(self.excluded)
        place = np.full(len(self.questions), -1, np.int64)
        place[self.round_numbers] = np.arange(len(self.round_numbers))
        ours = place[question] >= 0
        told = place[question[ours]], person[ours], code[ours], moment[ours]
        answered = Answered(*told, len(self.books.people))
        needed = await asyncio.to_thread(self.backing.needed, answered)
        self.duels = needed.duels
        names = list(self.books.people)
        self._bar({(names[who], int(self.round_numbers[where])) for where, who in needed.barred})
        by_hand = [number for number, role in self.set_questions if role == "asked"]
        self.queue.need(np.concatenate([self.round_numbers[needed.is_needed], np.array(by_hand, np.int64)]))
        self.queue.controls, self.queue.training = self._set_apart("control"), self._set_apart("training")

    async def look(self) -> None:
        """Take in what was written beside the service, and what people's answers mean for what is asked."""
        before = self.looks
        async with self.looking:
            if self.looks > before:  # somebody's look began meanwhile and saw it: many wrong links cost one look
                return
            self.looks += 1
            self.apply(await asyncio.to_thread(self.backing.changes, self.last_seq))
            self.queue.expire(time.time())
            if self.has_news:
                try:
                    await self.review()
                except BaseException:
                    self.has_news = True  # what could not be found out now is looked at again
                    raise

    def kinds(self) -> list[str]:
        """The kinds of questions that may be asked, also those that answers of others will make necessary."""
        by_hand = sorted({self.questions.kinds[number] for number, _ in self.set_questions})
        return list(dict.fromkeys([*self.round_kinds, *by_hand]))

    def know(self, person: Annotator) -> None:
        """Remember what a person was given before the service started."""
        if person.name in self.known:
            return
        self.known.add(person.name)
        self.queue.join(person.name, person.seed)
        self.waiting.setdefault(person.name, {})
        self.queue.restore(person.name, self.books.answered_by(person.name))
        last = {(number, one.role): (one, number) for one, number in self.held_before.pop(person.name, [])}
        held = list(last.values())  # what was put to somebody anew is asked once, as it was put last
        self.queue.restore(person.name, [(number, assignment.role) for assignment, number in held])
        for assignment, number in held:
            if not self.books.has_answered(number, person.name, assignment.role):  # also without its ticket, by a file
                self.remember(assignment, number)

    def enter(self, number: int, response: Response) -> None:
        """Write a stored answer into memory."""
        name = response.annotator
        code = QUESTIONS[response.question.kind].code(response.answer)
        is_first = self.books.enter(number, name, response.role, code, response.seconds, response.time)
        if response.ticket is not None:
            self.waiting.get(name, {}).pop(response.ticket, None)
            self.tickets.pop(response.ticket, None)  # whoever changes their mind finds it among what is stored
        if response.role == "asked":
            self.queue.answer(name, number, is_first and name not in self.excluded)
            self.has_news = True

    def _take_in(self, rows: Sequence[StoredRow]) -> bool:
        """Answers that were stored before the service started, or beside it; False where all are known."""
        self.last_seq = max([self.last_seq, *(row[0] for row in rows[-1:])])
        new = [row for row in rows if row[1] not in self.ids and row[2] in QUESTIONS]
        self.ids.update(row[1] for row in new)
        numbers = self.questions.numbers
        for kind in {row[2] for row in new}:
            self.numbered(kind, [row[3] for row in new if row[2] == kind and row[3] not in numbers[kind]])
        self.books.enter_all(
            [
                (numbers[kind][text], name, role, code_of_text(kind, answer), seconds, time)
                for _, _, kind, text, name, role, answer, seconds, _, time in new
            ]
        )
        for _, _, kind, text, name, role, _, _, _, _ in new if self.known else ():
            if name in self.known and role == "asked":  # nobody is asked what they said elsewhere
                number = numbers[kind][text]
                self.queue.answer(name, number, False)
                for held in [one for one in self.waiting[name] if self.tickets[one][1] == number]:
                    del self.waiting[name][held]
        return bool(new)

    def _let_go(self, name: str) -> None:
        """Whoever is asked no longer keeps nothing from others; what they send all the same is stored."""
        for ticket in self.waiting.get(name, {}):
            self.queue.people[name].seen.discard(self.tickets.pop(ticket)[1])
        self.waiting.get(name, {}).clear()
        self.held_before.pop(name, None)
        self.queue.release_all(name)

    def _bar(self, barred: set[tuple[str, int]]) -> None:
        """Keep people from what they must not be asked now, also where they hold it already."""
        for name, number in self.barred - barred:
            self.queue.admit(name, number)
        for name, number in barred - self.barred:
            self.queue.bar(name, number)
            for ticket in [one for one in self.waiting.get(name, ()) if self._is_asked(one, number)]:
                self.withdraw(name, ticket, number)
        self.barred = barred

    def _is_asked(self, ticket: str, number: int) -> bool:
        assignment, what = self.tickets[ticket]
        return what == number and assignment.role == "asked"

    def withdraw(self, name: str, ticket: str, number: int) -> None:
        """Ask a person no longer what is not for them now; should that change, they may be asked anew."""
        del self.waiting[name][ticket]
        del self.tickets[ticket]
        self.queue.people[name].seen.discard(number)

    def remember(self, assignment: Assignment, number: int) -> None:
        """A person holds a question until they answer it."""
        self.tickets[assignment.ticket] = assignment, number
        self.waiting.setdefault(assignment.annotator, {})[assignment.ticket] = None

    def _set(self, given: tuple[SetQuestion, ...]) -> None:
        """Questions that somebody wrote down."""
        self.written_down = given
        for one in given:
            (number,) = self.numbered(one.question.kind, [one.question.text])
            self.set_questions[number, one.role] = one
        self.has_news = True

    def _set_apart(self, role: Role) -> list[int]:
        """Controls, or training: none of what the study itself has to ask, or nobody would be left to answer it."""
        needed = self.queue.is_needed
        return [number for number, what in self.set_questions if what == role and not needed[number]]

    def number(self, question: Question) -> int | None:
        """The number of a question; None where nobody asks it."""
        return self.questions.number(question.kind, question.text)

    def numbered(self, kind: str, texts: Sequence[str]) -> list[int]:
        """Numbers of questions; new ones are taken in."""
        new = self.questions.new(kind, texts)
        if new:
            self.queue.add(*self.questions.add(kind, new))
        numbers = self.questions.numbers[kind]
        return [numbers[text] for text in texts]
