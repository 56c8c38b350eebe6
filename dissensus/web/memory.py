"""What the service knows about a study: built from storage, and kept up to date with what others write."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dissensus.inquiry import Answers, Duel
from dissensus.labeling import QUESTIONS, Queue
from dissensus.labeling.columns import NO_SOURCE
from dissensus.labeling.order import draw, word_of
from dissensus.records import (
    Annotator,
    Assignment,
    CustomQuestion,
    Exclusion,
    Question,
    Response,
    Role,
    as_text,
    moments_of,
)
from dissensus.web.backing import Backing, Changes, StoredRow
from dissensus.web.books import Books, Questions
from dissensus.web.group_commit import GroupCommit
from dissensus.web.trouble import Trouble

KINDS = list(QUESTIONS)
FIRM = 6
"""How many questions a person is sure to keep; those further ahead may go to somebody who has none.

Pages ask what is open after every three answers (supply.js), so they learn of a loss well before they get there."""
TRIES = 20
"""How many fillers are drawn for each one needed: many turn out to be duplicates."""
EVERY = 10
"""Number of answers after which a person is told the exact number left."""


class Countdown:
    """Counts down by one with every answer, and is corrected after every ten.

    Control questions and repeats are extra, so the exact number would give each of them away.
    """

    def __init__(self) -> None:
        self.told: dict[str, tuple[int, int]] = {}

    def left(self, name: str, answered: int, exact: int) -> int:
        """How many questions to show as left to a person who has answered `answered`, when `exact` really are."""
        before, then = self.told.get(name, (-EVERY, 0))
        told = then - (answered - before)
        if answered // EVERY != before // EVERY or abs(told - exact) > EVERY or (told < 1) != (exact < 1):
            self.told[name] = answered, exact
            return exact
        return told


class Memory:
    """The state of the running service; all of it can be rebuilt from storage."""

    def __init__(self, backing: Backing) -> None:
        terms = backing.terms
        self.backing = backing
        self.questions = Questions()
        self.books = Books()
        self.queue = Queue(terms.answers, 60 * terms.lease_minutes, terms.control_rate, terms.repeat_rate)
        self.trouble = Trouble()
        self.log = GroupCommit(backing.keep, self.trouble)
        self.everybody: tuple[Annotator, ...] = ()
        self.people: dict[str, Annotator] = {}
        self.exclusions: dict[str, Exclusion] = {}
        self.excluded: set[str] = set()
        self.known: set[str] = set()
        self.written_down: tuple[CustomQuestion, ...] = ()
        self.set_questions: dict[tuple[int, str], CustomQuestion] = {}
        self.unseen: set[int] = set()
        """The owner's questions whose pictures are missing."""
        self.fillers: list[int] = []
        """Questions added about the pictures of controls that have too few."""
        self.is_paused = False
        self.duels: tuple[Duel, ...] = ()
        self.ids: dict[str, int | None] = {}
        """Known answers by id: their numbers in the order of arrival, or None until these are read from storage."""
        self.not_numbered: dict[str, int] = {}
        """Answers whose number is not known yet: their rows in `books`, by id."""
        self.tickets: dict[str, tuple[Assignment, int]] = {}
        self.waiting: dict[str, dict[str, None]] = {}
        self.held_before: dict[str, list[tuple[Assignment, int]]] = {}
        """Questions that people held when the service stopped, until they come back."""
        self.unsaved: dict[str, list[Assignment]] = {}
        self.doors: dict[str, asyncio.Lock] = {}
        self.skipped: set[int] = set()
        """Questions that somebody could not answer."""
        self.last_seq = 0
        self.version: Any = None
        self.round_numbers = np.zeros(0, np.int64)
        self.round_kinds: list[str] = []
        self.barred: set[tuple[str, int]] = set()
        """Who must not be asked which question."""
        self.has_news = False
        self.is_stale = False
        """True if known answers may now count for other questions."""
        self.looking = asyncio.Lock()
        self.looks = 0
        self.countdown = Countdown()

    async def open(self) -> None:
        """Load everything from storage: rounds, people, answers, and questions people held when the service stopped."""
        self.apply(await asyncio.to_thread(self.backing.changes, 0))
        await self.review()
        since = datetime.fromtimestamp(time.time() - self.queue.lease, UTC).isoformat(timespec="milliseconds")
        # what nobody may be shown in two questions stays with a person for good: they continue where they were
        earliest = "" if self.questions.sources else since
        for assignment in await asyncio.to_thread(self.backing.open_assignments, earliest):
            if assignment.question.kind not in QUESTIONS:
                continue
            number = self.number_for(assignment.question, assignment.role)
            is_late = assignment.time < since
            if assignment.annotator in self.queue.people and not (is_late and self.queue.sources[number] == NO_SOURCE):
                before = self.held_before.setdefault(assignment.annotator, [])
                before.append((assignment, number))
                if assignment.role == "asked" and not is_late:
                    (moment,) = moments_of([assignment.time])
                    self.queue.hold(assignment.annotator, number, moment, is_spare=len(before) > FIRM)

    def apply(self, changes: Changes) -> None:
        """Apply what other processes have written."""
        self.is_paused = changes.is_paused
        self.everybody = changes.people
        self.people = {person.token_hash: person for person in changes.people if person.revoked is None}
        for person in changes.people:
            self.queue.join(person.name, person.seed)
        if self.backing.inquiry.is_for_everybody:  # also for people who have left, as their answers count
            self.queue.ask_at_least(sum(not person.is_owner for person in changes.people))
        if changes.version != self.version:
            groups = self.backing.inquiry.questions()
            numbers = [number for group in groups for number in self.numbered(group.kind, group.texts)]
            self.round_numbers = np.array(numbers, np.int64)
            self.round_kinds = [group.kind for group in groups if group.texts]
            self.is_stale = self.questions.set_wordings(groups) and len(self.books) > 0
            self.version, self.has_news = changes.version, True
            self.written_down = ()  # a round may ask the same question as the owner
        if changes.set_questions != self.written_down:
            self._set(changes.set_questions, changes.unseen)
        before = self.excluded
        self.exclusions = {exclusion.annotator: exclusion for exclusion in changes.exclusions}
        self.excluded = {name for name, exclusion in self.exclusions.items() if exclusion.is_excluded}
        for name in self.excluded | {person.name for person in changes.people if person.revoked is not None}:
            self._let_go(name)
        if self._take_in(changes.answers) or before != self.excluded:
            self.queue.recount(self.books.given(len(self.questions), self.excluded))
            self.has_news = True

    async def review(self) -> None:
        """Find out which questions are needed now: reserves replace items that people discarded."""
        self.has_news = False
        question, person, code, arrival = self.books.columns_that_count(self.excluded)
        place = np.full(len(self.questions), -1, np.int64)
        place[self.round_numbers] = np.arange(len(self.round_numbers))
        ours = place[question] >= 0
        names = list(self.books.people)
        answers = Answers(place[question[ours]], person[ours], code[ours], arrival[ours], names)
        needed = await asyncio.to_thread(self.backing.inquiry.needed, answers)
        self.duels = needed.duels
        self._bar({(names[who], int(self.round_numbers[where])) for where, who in needed.barred})
        by_hand = [number for number, role in self.set_questions if role == "asked" and number not in self.unseen]
        self.queue.need(np.concatenate([self.round_numbers[needed.is_needed], np.array(by_hand, np.int64)]))
        self.queue.urgent = self.round_numbers[list(needed.urgent)].tolist()
        self.queue.is_in_order = needed.is_in_order
        self.queue.controls, self.queue.training = self._set_apart("control"), self._set_apart("training")
        self.queue.fillers = [number for number in self.fillers if not self.queue.is_needed[number]]

    async def look(self) -> None:
        """Apply what other processes have written, and work out which questions are needed after the new answers."""
        before = self.looks
        async with self.looking:
            if self.looks > before:  # another look started meanwhile: many wrong links cost only one look
                return
            self.looks += 1
            self.apply(await asyncio.to_thread(self.backing.changes, self.last_seq))
            if self.is_stale:  # keep what is known until everything has been read again
                everything = await asyncio.to_thread(self.backing.changes, 0)
                self.books, self.ids, self.not_numbered, self.is_stale = Books(), {}, {}, False
                self.apply(everything)
            self.queue.expire(time.time())
            if self.has_news:
                try:
                    await self.review()
                except BaseException:
                    self.has_news = True  # try again at the next look
                    raise

    def kinds(self) -> list[str]:
        """The kinds of questions that may be asked, including those that other people's answers may require later."""
        by_hand = sorted({self.questions.kinds[number] for number, _ in self.set_questions})
        return list(dict.fromkeys([*self.round_kinds, *by_hand]))

    def know(self, person: Annotator) -> None:
        """Restore what a person was asked before the service started."""
        if person.name in self.known:
            return
        self.known.add(person.name)
        self.queue.join(person.name, person.seed)
        self.waiting.setdefault(person.name, {})
        self.queue.restore(person.name, self.books.answered_by(person.name))
        last = {(number, one.role): (one, number) for one, number in self.held_before.pop(person.name, [])}
        held = list(last.values())  # a question assigned twice is asked once, as assigned last
        self.queue.restore(person.name, [(number, assignment.role) for assignment, number in held])
        for assignment, number in held:
            if not self.books.has_answered(number, person.name, assignment.role):  # also without a ticket, by import
                self.remember(assignment, number)

    def enter(self, number: int, response: Response) -> None:
        """Add a stored answer to memory."""
        name, kind = response.annotator, QUESTIONS[response.question.kind]
        is_swapped = response.role == "asked" and self.questions.is_swapped(response.question)
        code = kind.code(kind.turned(response.answer) if is_swapped else response.answer)
        arrival = self.ids.get(response.id)
        if arrival is None:
            self.not_numbered[response.id] = len(self.books)
        row = (number, name, response.role, code, response.seconds, response.time, arrival)
        (is_first,) = self.books.enter([row])
        if response.ticket is not None:
            self.waiting.get(name, {}).pop(response.ticket, None)
            self.tickets.pop(response.ticket, None)  # if they change their answer, it is found in storage
        if response.role == "asked":
            self.queue.answer(name, number, is_first and name not in self.excluded)
            self.has_news = True

    def _take_in(self, rows: Sequence[StoredRow]) -> bool:
        """Load stored answers; False if all of them were already known."""
        self.last_seq = max([self.last_seq, *(row[0] for row in rows[-1:])])
        new = [row for row in rows if row[1] not in self.ids and row[2] in QUESTIONS]
        self.ids.update((row[1], row[0]) for row in rows)
        for row in rows if self.not_numbered else ():
            if row[1] in self.not_numbered:
                self.books.arrival[self.not_numbered.pop(row[1])] = row[0]
        numbers = self.questions.numbers
        for kind in {row[2] for row in new}:
            self.numbered(kind, [row[3] for row in new if row[2] == kind and row[3] not in numbers[kind]])
        meant = [self.questions.answered(row[2], row[3], row[5], row[6]) for row in new]
        self.books.enter(
            [
                (number, row[4], row[5], code, row[7], row[9], row[0])
                for (number, code), row in zip(meant, new, strict=True)
            ]
        )
        for (number, _), (_, _, _, _, name, role, *_) in zip(meant, new, strict=True) if self.known else ():
            if name in self.known and role == "asked":  # nobody is asked what they already answered elsewhere
                self.queue.answer(name, number, False)
                for held in [one for one in self.waiting[name] if self.tickets[one][1] == number]:
                    del self.waiting[name][held]
                self._take_back_alike(name, number)
        return bool(new)

    def _take_back_alike(self, name: str, number: int) -> None:
        """Take back questions about what a person has just been shown elsewhere."""
        source = int(self.queue.sources[number])
        alike = [one for one in self.waiting[name] if self.queue.sources[self.tickets[one][1]] == source]
        for ticket in alike if source != NO_SOURCE else ():
            held = self.tickets[ticket][1]
            self.queue.bar(name, held)
            self.withdraw(name, ticket, held)

    def _let_go(self, name: str) -> None:
        """Release the questions of a person who is no longer asked; answers they still send are stored."""
        for ticket in self.waiting.get(name, {}):
            self.queue.people[name].seen.discard(self.tickets.pop(ticket)[1])
        self.waiting.get(name, {}).clear()
        self.held_before.pop(name, None)
        self.queue.release_all(name)

    def _bar(self, barred: set[tuple[str, int]]) -> None:
        """Stop asking people what they must not be asked, even if they already hold it."""
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
        """Take a question back from a person who must not answer it now; they may be asked again later, unless it has a
        source, of which they may have seen something."""
        del self.waiting[name][ticket]
        del self.tickets[ticket]
        self.queue.people[name].seen.discard(number)

    def remember(self, assignment: Assignment, number: int) -> None:
        """Let a person hold a question until they answer it."""
        self.tickets[assignment.ticket] = assignment, number
        self.waiting.setdefault(assignment.annotator, {})[assignment.ticket] = None

    def _set(self, given: tuple[CustomQuestion, ...], unseen: frozenset[str]) -> None:
        """Load the questions that the owner added."""
        self.written_down, self.set_questions = given, {}
        for one in given:
            self.set_questions[self.number_for(one.question, one.role), one.role] = one
        self.unseen = {number for (number, _), one in self.set_questions.items() if one.question.text in unseen}
        self.fillers = self._fillers()
        self.has_news = True

    def _fillers(self) -> list[int]:
        """Questions that bring each control's picture up to the largest number of questions per picture in the study.

        They ask what random questions of the study ask. Owners need not provide them, as no known answers are needed.
        """
        controls = [one.question for one in self.written_down if one.role == "control"]
        return [number for kind in {one.kind for one in controls} for number in self._fillers_of(kind, controls)]

    def _fillers_of(self, kind: str, controls: Sequence[Question]) -> list[int]:
        numbers = [number for number in self.round_numbers.tolist() if self.questions.kinds[number] == kind]
        most = int(max(np.unique(self.queue.groups[numbers], return_counts=True)[1], default=0))
        pictures: dict[str, list[Question]] = {}
        for one in controls:
            if one.kind == kind:
                pictures.setdefault(QUESTIONS[kind].group(one.body), []).append(one)
        fillers: list[str] = []
        for group, known in pictures.items():
            texts = dict.fromkeys(one.text for one in known)
            for turn in range(TRIES * most):
                other = self.questions.of(numbers[draw(word_of(kind, group), "filler", turn) % len(numbers)])
                made = QUESTIONS[kind].filler(known[0].body, other.body)
                if made is None or len(texts) >= most:
                    break
                texts[as_text(made)] = None
            fillers += [*texts][len({one.text for one in known}) :]
        return self.numbered(kind, fillers)

    def _set_apart(self, role: Role) -> list[int]:
        """Control or training questions, except those that the study itself asks now, or that nobody can see."""
        found = (number for number, what in self.set_questions if what == role and number not in self.unseen)
        return [number for number in found if not self.queue.is_needed[number]]

    def number_for(self, question: Question, role: Role) -> int:
        """The number of a question; all wordings of a question of the study share one."""
        (number,) = self.numbered(question.kind, [question.text])
        known = self.questions.wordings[question.kind].get(question.text) if role == "asked" else None
        return number if known is None else known[0]

    def numbered(self, kind: str, texts: Sequence[str]) -> list[int]:
        """Numbers of questions; new ones are added."""
        new = self.questions.new(kind, texts)
        if new:
            groups, words, is_repeatable, sources = self.questions.add(kind, new)
            self.queue.add(groups, words, is_repeatable, KINDS.index(kind), sources)
        numbers = self.questions.numbers[kind]
        return [numbers[text] for text in texts]
