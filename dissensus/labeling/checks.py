"""Controls and repeats, which people cannot tell from the study's own questions.

Like those, they come with all questions about one picture in a row. After every picture, chance decides whether one
follows, and a control has as many questions as a random picture of the study, so that neither the number of questions
nor their position shows that somebody is being checked.
"""

from __future__ import annotations

import numpy as np

from dissensus.labeling.columns import NO_SOURCE, QuestionColumns
from dissensus.labeling.order import draw, is_due, mixed, places
from dissensus.labeling.person import Person
from dissensus.records import Role

APART = 10
"""A repeat comes at least this many questions after the original."""
TRIES = 100
"""How many times a picture to repeat is drawn before giving up."""


class Checks(QuestionColumns):
    """The questions of a study, and which of them a person gets as a control or repeat, and when."""

    def __init__(self, control_rate: float, repeat_rate: float) -> None:
        """The rates are the shares of the study's pictures that are followed by a control or a repeat."""
        super().__init__()
        self.rates: dict[Role, float] = {"control": control_rate, "repeat": repeat_rate}
        self.controls: list[int] = []
        self.fillers: list[int] = []
        """Questions without a known answer, asked about a control's picture if it has too few controls."""

    def may_be_asked(self, person: Person, question: int) -> bool:
        """True if a question is new to a person, not barred, and about nothing that another question has shown them."""
        return person.may_be_asked(question) and int(self.sources[question]) not in person.sources

    def note_source(self, person: Person, question: int) -> None:
        """Remember what a question shows, for as long as the person may remember it: for good."""
        source = int(self.sources[question])
        if source != NO_SOURCE:
            person.sources.add(source)

    def next_check(self, person: Person, following: int | None) -> tuple[int, Role] | None:
        """The next question of a control or repeat; between two pictures, chance decides whether one starts."""
        if not person.run and (following is None or not self._continues(person, following)):
            self._begin(person, following)
        while person.run:
            question, role = person.run.popleft()
            if self._may_check(person, question, role):
                return question, role
        return None

    def _begin(self, person: Person, following: int | None) -> None:
        """Begin a control or a repeat if one is due; that is drawn once for each position between two pictures."""
        position = len(person.asked)
        around = {self.groups[one] for one in (*person.asked[-1:], following) if one is not None}
        for role, rate in self.rates.items() if around else ():
            if person.run or person.drawn[role] >= position:
                continue
            person.drawn[role] = position
            if is_due(person.seed, role, position, rate):
                chosen = (self._control if role == "control" else self._past_run)(person, position)
                if chosen and self.groups[chosen[0]] not in around:
                    person.run.extend((one, role) for one in self._whole(person, chosen, role))

    def resume(self, person: Person, question: int, role: Role) -> None:
        """Continue the control or repeat that the last question given to a person belonged to."""
        person.run.clear()
        if role == "control":
            group = self.groups[question]
            known = [one for one in self.controls if self.groups[one] == group and self.may_be_asked(person, one)]
        else:
            place = person.asked.index(question) if role == "repeat" and question in person.asked else None
            known = [] if place is None else [person.asked[one] for one in self._run_at(person, place)]
        person.run.extend((one, role) for one in self._whole(person, known, role) if self._may_check(person, one, role))

    def _whole(self, person: Person, known: list[int], role: Role) -> list[int]:
        """All questions of a control or repeat, in a person's order; a control has as many as other pictures do."""
        if role == "repeat" or not known:
            return known
        alike = np.flatnonzero(self.is_needed & (self.kinds == self.kinds[known[0]]))
        size = len(known)
        if len(alike):
            chance = mixed(self.groups[alike], draw(person.seed, "size", person.drawn["control"]))
            size = int(np.count_nonzero(self.groups[alike] == self.groups[alike[np.argmin(chance)]]))
        group = self.groups[known[0]]
        fillers = [one for one in self.fillers if self.groups[one] == group and self.may_be_asked(person, one)]
        return self._sorted(person, [*self._sorted(person, known), *self._sorted(person, fillers)][:size])

    def _sorted(self, person: Person, questions: list[int]) -> list[int]:
        place = places(self.groups[questions], self.words[questions], person.seed)
        return [questions[one] for one in np.argsort(place)]

    def _may_check(self, person: Person, question: int, role: Role) -> bool:
        """True if a person may get this question as a control or repeat, and has not had it as one yet."""
        if role == "control":
            return question not in person.controlled and self.may_be_asked(person, question)
        # a withdrawn question was not seen, and a repeat needs an original
        is_seen = question in person.seen and question not in person.barred
        return is_seen and question not in person.repeated and bool(self.is_repeatable[question])

    def _control(self, person: Person, position: int) -> list[int]:
        """The controls about a random picture that a person has not been given as a control yet."""
        had = {self.groups[one] for one in person.controlled}
        pictures: dict[int, list[int]] = {}
        for one in self.controls:
            if self.groups[one] not in had and self.may_be_asked(person, one):
                pictures.setdefault(self.groups[one], []).append(one)
        choice = list(pictures.values())
        return choice[draw(person.seed, "which control", position) % len(choice)] if choice else []

    def _past_run(self, person: Person, position: int) -> list[int]:
        """What a person was asked about a random earlier picture; their last questions are too recent."""
        old = len(person.asked) - APART
        for turn in range(TRIES if old > 0 else 0):
            place = draw(person.seed, f"which repeat {turn}", position) % old
            run = self._run_at(person, place)
            # every picture has one first question, so that all of them are equally likely
            if run.start == place and run.stop <= old:
                fit = [one for one in person.asked[run.start : run.stop] if self._may_check(person, one, "repeat")]
                if fit:
                    return fit
        return []

    def _run_at(self, person: Person, place: int) -> range:
        """The places in `asked` of all questions about the picture at one place."""
        start, stop, group = place, place + 1, self.groups[person.asked[place]]
        while start > 0 and self.groups[person.asked[start - 1]] == group:
            start -= 1
        while stop < len(person.asked) and self.groups[person.asked[stop]] == group:
            stop += 1
        return range(start, stop)

    def _continues(self, person: Person, question: int) -> bool:
        """True if the question is about the same image as the person's previous one."""
        return bool(person.asked) and self.groups[person.asked[-1]] == self.groups[question]
