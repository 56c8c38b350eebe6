"""Who is asked what, and what happens to their answers. HTTP is above this layer, the disk below."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from dissensus.errors import DissensusError, JudgementError, UnavailableError
from dissensus.labeling import QUESTIONS, state_of
from dissensus.labeling.order import draw
from dissensus.records import Annotator, Assignment, Response, Role
from dissensus.web.memory import FIRM, Memory

WHOLE = "whole"
"""Stands for all of a picture, in its address."""


@dataclass(frozen=True)
class Given:
    """One answer as the browser sent it."""

    id: str
    ticket: str
    answer: Any
    seconds: float | None
    comment: str


@dataclass(frozen=True)
class Receipt:
    """What happened to each answer: stored durably, or refused with a reason; and the feedback, if there is any."""

    stored: list[str]
    refused: dict[str, str]
    feedback: dict[str, dict[str, Any]]


class Desk(Memory):
    """The rules: who is asked what, and what happens to answers."""

    async def given(self, person: Annotator, ahead: int) -> list[tuple[Assignment, int]]:
        """Up to `ahead` questions for this person to answer; the same ones until they do."""
        async with self.doors.setdefault(person.name, asyncio.Lock()):
            self.know(person)
            if person.name in self.excluded:  # their answers would not count
                return []
            now = time.time()
            waiting = self.waiting[person.name]
            place = 0
            for ticket in list(waiting):
                assignment, number = self.tickets[ticket]
                is_spare, place = place >= FIRM, place + 1
                if assignment.role == "asked" and not self.queue.hold(person.name, number, now, is_spare):
                    self.withdraw(person.name, ticket, number)
                    place -= 1
            unsaved = self.unsaved.setdefault(person.name, [])
            while not self.is_paused and len(waiting) < ahead:
                following = self.queue.next(person.name, now, is_spare=len(waiting) >= FIRM)
                if following is None:
                    break
                unsaved.append(self._put(person, *following, await self._context(person, *following)))
            if unsaved:
                await self._save(unsaved, is_all=len(unsaved) == len(waiting))
            kept = waiting.keys() - {assignment.ticket for assignment in unsaved}
            shown = [] if self.is_paused else [ticket for ticket in waiting if ticket in kept]
            return [self.tickets[ticket] for ticket in shown[:ahead]]

    async def _save(self, unsaved: list[Assignment], is_all: bool) -> None:
        """Store a person's new assignments; if that fails, they continue with the earlier ones."""
        try:
            await self.log.store(list(unsaved), ())
            unsaved.clear()
        except UnavailableError:
            if is_all:
                raise

    async def hear(self, person: Annotator, given: Sequence[Given]) -> Receipt:
        """Store answers durably and return once they are, with what was refused and why."""
        self.know(person)
        heard = Receipt([], {}, {})
        responses: dict[str, tuple[Response, int]] = {}
        for one in given:
            if one.id in responses:
                continue
            try:
                responses[one.id] = await self._response(person, one)
            except UnavailableError:  # the answer itself is fine
                raise
            except DissensusError as error:
                heard.refused[one.id] = str(error)
        near = islice(self.waiting.get(person.name, ()), len(given) + FIRM)
        self.queue.extend(person.name, time.time(), {self.tickets[ticket][1] for ticket in near})
        new = {identity for identity in responses if identity not in self.ids}  # '-' would go through all ids
        self.ids |= dict.fromkeys(new)
        try:
            taken = await self.log.store((), [response for response, _ in responses.values()])
        except BaseException:
            self._forget(new)
            raise
        self._forget(new & taken)  # another answer has that id, and may not be in memory yet
        for identity, (response, number) in responses.items():
            if identity in taken:
                heard.refused[identity] = "this id already belongs to another answer"
                continue
            heard.stored.append(identity)
            if identity in new:
                self.enter(number, response)
            told = await self._feedback(number, response)
            if told is not None and response.ticket is not None:
                heard.feedback[response.ticket] = told
        return heard

    def _forget(self, ids: set[str]) -> None:
        for identity in ids:
            self.ids.pop(identity, None)

    async def skip(self, person: Annotator, ticket: str) -> None:
        """Take back a question that a person cannot answer, such as one with a broken picture; others may get it."""
        found = await self._find(ticket)
        if found is not None and found[0].annotator == person.name and ticket in self.waiting.get(person.name, ()):
            assignment, number = found
            del self.waiting[person.name][ticket]
            if assignment.role == "asked":
                self.queue.answer(person.name, number, False)
            self.skipped.add(number)

    async def assigned(self, person: Annotator, ticket: str) -> Assignment | None:
        """This person's assignment with a ticket; None if it is not theirs."""
        found = await self._find(ticket)
        return found[0] if found is not None and found[0].annotator == person.name else None

    def answered(self, person: Annotator) -> int:
        """How many questions this person has answered, not counting training."""
        return self.books.answered[person.name]

    def left(self, person: Annotator) -> int:
        """About how many questions are left for this person, including those they hold."""
        if person.name in self.excluded:
            return 0
        exact = self.queue.left(person.name) + len(self.waiting.get(person.name, ()))
        trained = sum(self.has_trained(person, number) for number in self.queue.training)
        return self.countdown.left(person.name, self.answered(person) + trained, exact)

    def has_trained(self, person: Annotator, number: int) -> bool:
        """Whether a person has answered a training question."""
        return self.books.has_answered(number, person.name, "training")

    async def _response(self, person: Annotator, one: Given) -> tuple[Response, int]:
        found = await self._find(one.ticket)
        if found is None or found[0].annotator != person.name:
            raise JudgementError("this question was not assigned to you")
        assignment, number = found
        body, shown = assignment.question.body, assignment.shown
        kind = QUESTIONS[assignment.question.kind]
        if self.is_told(assignment) and one.id not in self.ids and self.has_answered(assignment, number):
            raise JudgementError("you have answered this question, and know what is right: the first answer counts")
        answer = kind.kept(body, kind.heard(shown, one.answer), self.backing.classes)
        response = Response.model_construct(
            id=one.id,
            question=assignment.question,
            annotator=person.name,
            answer=answer,
            role=assignment.role,
            shown=shown,
            seconds=one.seconds,
            comment=one.comment,
            ticket=one.ticket,
            time=_now(),
        )
        return response, number

    async def _find(self, ticket: str) -> tuple[Assignment, int] | None:
        """Look up a ticket in memory or, after a restart, in storage."""
        if ticket not in self.tickets:
            assignment = await asyncio.to_thread(self.backing.assignment, ticket)
            if assignment is None or assignment.question.kind not in QUESTIONS:
                return None
            self.tickets[ticket] = assignment, self.number_for(assignment.question, assignment.role)
        return self.tickets[ticket]

    async def _context(self, person: Annotator, number: int, role: Role) -> dict[str, Any]:
        """What a question about other people's answers refers to right now; empty for all other questions."""
        question = self.questions.of(number)
        if not QUESTIONS[question.kind].is_about_answers(question.body):
            return {}
        try:
            return await asyncio.to_thread(self.backing.inquiry.context, question)
        except BaseException:  # the person does not have it yet
            self.queue.take_back(person.name, number, role)
            raise

    def _put(self, person: Annotator, number: int, role: Role, beside: dict[str, Any] | None = None) -> Assignment:
        """Assign a question to a person: an opaque ticket, random choices such as sides, and what it refers to."""
        question = self.questions.of(number)
        position = len(self.queue.people[person.name].asked)
        number_drawn = draw(person.seed, f"shown {role} {question.text}", position)
        chance = QUESTIONS[question.kind].chance(number_drawn, question.body)
        assignment = Assignment.model_construct(
            ticket=secrets.token_urlsafe(16),
            annotator=person.name,
            question=question,
            role=role,
            shown=chance | (beside or {}),
            time=_now(),
        )
        self.remember(assignment, number)
        return assignment

    def is_told(self, assignment: Assignment) -> bool:
        """Whether the person learns at once if they were right."""
        return assignment.role == "training" or (self.backing.inquiry.is_told and assignment.role == "asked")

    def has_answered(self, assignment: Assignment, number: int) -> bool:
        """Whether the person has answered what they were assigned."""
        return self.books.has_answered(number, assignment.annotator, assignment.role)

    async def picture_at(self, person: Annotator, ticket: str, state: str) -> bytes | None:
        """A picture as this person has uncovered it; all of it only after their answer. None if it is not theirs.

        Raises:
            DissensusError: the question has no such picture.
        """
        found = await self._find(ticket)
        if found is None or found[0].annotator != person.name:
            return None
        assignment, number = found
        question = assignment.question
        if state == WHOLE:
            if not (self.is_told(assignment) and self.has_answered(assignment, number)):
                return None
            return await asyncio.to_thread(self.backing.inquiry.picture_at, question, None)
        if QUESTIONS[question.kind].start(question.body) is None:
            return None
        return await asyncio.to_thread(self.backing.inquiry.picture_at, question, state_of(question.body, state))

    async def _feedback(self, number: int, response: Response) -> dict[str, Any] | None:
        """What somebody learns about an answer that is stored."""
        if response.role == "training":
            return self._training_feedback(number, response)
        if not (self.backing.inquiry.is_told and response.role == "asked"):
            return None
        try:
            return await asyncio.to_thread(self.backing.inquiry.feedback, response.question, response.answer)
        except DissensusError as error:  # the answer is stored all the same
            self.trouble.tell(f"no feedback on an answer: {error}")
            return None

    def _training_feedback(self, number: int, response: Response) -> dict[str, Any]:
        expected = self.set_questions[number, "training"]
        kind = QUESTIONS[response.question.kind]
        return {
            "right": kind.code(response.answer) == kind.code(expected.expected),
            "expected": kind.told(response.question.body, expected.expected, self.backing.classes),
            "answer": kind.said(response.shown, expected.expected),
            "note": expected.note,
        }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
