"""The queue's promises, whatever happens in whichever order."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from dissensus.labeling import Queue, checks
from dissensus.labeling import queue as queue_module
from dissensus.labeling.order import group_words, places, question_words
from dissensus.records import Role

NAMES = ("ada", "ben", "cem", "dia")
LEASE = 10.0


def add_questions(queue: Queue, numbers: range, per_group: int = 2) -> None:
    words = group_words("contains", [f"picture {n // per_group}" for n in numbers])
    queue.add(words, question_words(words, [f"question {n}" for n in numbers]))


def make(questions: int, answers: int = 1, control_rate: float = 0.0, repeat_rate: float = 0.0) -> Queue:
    queue = Queue(answers, LEASE, control_rate, repeat_rate)
    add_questions(queue, range(questions))
    queue.need(range(questions))
    for seed, name in enumerate(NAMES):
        queue.join(name, seed)
    return queue


def take_all(queue: Queue, name: str) -> list[tuple[int, Role]]:
    """Take and answer until nothing is left for a person."""
    taken = []
    while (following := queue.next(name, 0.0)) is not None:
        taken.append(following)
        if following[1] == "asked":
            queue.answer(name, following[0], True)
    return taken


class Work(RuleBasedStateMachine):
    """People take, answer, leave things lying, are excluded; questions come, go and come back."""

    held = Bundle("held")

    @initialize(answers=st.integers(1, 3), questions=st.integers(0, 12), ahead=st.sampled_from([2, 256]))
    def begin(self, answers: int, questions: int, ahead: int) -> None:
        self.before = queue_module.AHEAD
        queue_module.AHEAD = ahead  # so that orders are worked out in several goes
        self.now = 0.0
        self.queue = make(questions, answers)
        self.said: dict[int, set[str]] = defaultdict(set)
        self.late: set[int] = set()
        self.seen: dict[str, list[int]] = {name: [] for name in NAMES}
        self.excluded: set[str] = set()
        self.barred: dict[str, set[int]] = defaultdict(set)

    def teardown(self) -> None:
        if hasattr(self, "before"):
            queue_module.AHEAD = self.before

    @rule(target=held, name=st.sampled_from(NAMES))
    def take(self, name: str) -> tuple[str, int] | None:
        wanted = self.first_by_hand(name)
        following = self.queue.next(name, self.now)
        if following is None:
            assert wanted is None
            return None
        question, role = following
        assert role == "asked"
        assert question == wanted
        self.seen[name].append(question)
        return name, question

    def first_by_hand(self, name: str) -> int | None:
        """The first question of a person's order that needs them, found the plain way."""
        person = self.queue.people[name]
        place = places(self.queue.groups, self.queue.words, person.seed)
        out = person.seen | self.barred[name]
        fit = [n for n in range(len(self.queue)) if self.queue.is_open(n) and n not in out]
        return min(fit, key=lambda n: int(place[n]), default=None)

    @rule(one=held)
    def answer(self, one: tuple[str, int] | None) -> None:
        if one is None:
            return
        name, question = one
        if question not in self.queue.leases[name]:
            self.late.add(question)
        counts = name not in self.said[question] and name not in self.excluded
        self.said[question].add(name)
        self.queue.answer(name, question, counts)

    @rule(seconds=st.sampled_from([1.0, 6.0, 20.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.queue.expire(self.now)

    @rule(one=held)
    def come_back(self, one: tuple[str, int] | None) -> None:
        if one is not None and one[0] not in self.said[one[1]] and not self.queue.hold(*one, self.now):
            self.queue.people[one[0]].seen.discard(one[1])
            self.seen[one[0]].remove(one[1]) if one[1] in self.seen[one[0]] else None

    @rule(count=st.integers(1, 5))
    def more_questions(self, count: int) -> None:
        before = self.queue.is_needed.copy()
        add_questions(self.queue, range(len(self.queue), len(self.queue) + count))
        self.queue.need(np.flatnonzero(np.append(before, np.ones(count, bool))))

    @precondition(lambda self: len(self.queue) > 0)
    @rule(chosen=st.sets(st.integers(0, 30)))
    def need(self, chosen: set[int]) -> None:
        self.queue.need(sorted(number for number in chosen if number < len(self.queue)))

    @rule(name=st.sampled_from(NAMES))
    def exclude_or_include(self, name: str) -> None:
        self.excluded ^= {name}
        given = [len(self.said[number] - self.excluded) for number in range(len(self.queue))]
        self.queue.recount(np.array(given, np.int64))
        self.late |= {number for number in range(len(self.queue)) if given[number]}

    @precondition(lambda self: len(self.queue) > 0)
    @rule(name=st.sampled_from(NAMES), number=st.integers(0, 30))
    def bar_or_admit(self, name: str, number: int) -> None:
        question = number % len(self.queue)
        (self.queue.admit if question in self.barred[name] else self.queue.bar)(name, question)
        self.barred[name] ^= {question}

    @rule(name=st.sampled_from(NAMES))
    def take_and_lose(self, name: str) -> None:
        following = self.queue.next(name, self.now)
        if following is not None:
            self.queue.take_back(name, *following)
            assert self.first_by_hand(name) == following[0]

    @invariant()
    def nobody_holds_what_they_are_barred_from(self) -> None:
        for name, leases in self.queue.leases.items():
            assert not leases.keys() & self.barred[name]

    @invariant()
    def what_is_left_is_open_to_them(self) -> None:
        for name in NAMES:
            out = self.queue.people[name].seen | self.barred[name]
            counted = self.queue.unfinished
            if self.queue.people[name].counted != self.queue.counted:
                assert self.queue.left(name) == sum(bool(counted[n]) for n in range(len(counted)) if n not in out)

    @invariant()
    def never_more_people_than_needed(self) -> None:
        over = np.flatnonzero(self.queue.given + self.queue.held > self.queue.answers)
        assert set(over.tolist()) <= self.late

    @invariant()
    def held_is_the_number_of_leases(self) -> None:
        held = Counter(question for leases in self.queue.leases.values() for question in leases)
        assert self.queue.held.tolist() == [held[number] for number in range(len(self.queue))]

    @invariant()
    def given_are_those_who_count(self) -> None:
        assert self.queue.given.tolist() == [len(self.said[n] - self.excluded) for n in range(len(self.queue))]

    @invariant()
    def nobody_is_asked_twice(self) -> None:
        for name, seen in self.seen.items():
            assert len(seen) == len(set(seen)), name


Work.TestCase.settings = settings(stateful_step_count=40)
test_whatever_happens_the_promises_hold = Work.TestCase


@pytest.mark.parametrize("answers", [1, 3])
def test_every_question_gets_r_different_people(answers: int) -> None:
    queue = make(50, answers)
    who = defaultdict(list)
    busy = list(NAMES)
    while busy:
        for name in list(busy):
            following = queue.next(name, 0.0)
            if following is None:
                busy.remove(name)
            else:
                queue.answer(name, following[0], True)
                who[following[0]].append(name)
    assert len(who) == 50
    assert all(len(names) == len(set(names)) == answers for names in who.values())
    assert [queue.left(name) for name in NAMES] == [0] * 4


def test_orders_differ_between_people_and_pictures_stay_together() -> None:
    queue = make(400, answers=4)
    orders = {name: [question for question, _ in take_all(queue, name)] for name in NAMES}
    assert len({tuple(order) for order in orders.values()}) == 4
    for order in orders.values():
        assert sorted(order) == list(range(400))
        pictures = [question // 2 for question in order]
        assert pictures[::2] == pictures[1::2]


def test_long_orders_are_the_same_as_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = make(3000)
    place = places(queue.groups, queue.words, queue.people["ada"].seed)
    monkeypatch.setattr(queue_module, "AHEAD", 100)
    assert [question for question, _ in take_all(queue, "ada")] == np.argsort(place).tolist()


def test_what_opens_again_comes_in_its_place() -> None:
    queue = make(3000)
    place = places(queue.groups, queue.words, queue.people["ada"].seed)
    later = np.argsort(place)[20:2000:70]
    queue.need(np.setdiff1d(np.arange(3000), later))
    first = [queue.next("ada", 0.0) for _ in range(10)]
    queue.need(np.arange(3000))
    rest = take_all(queue, "ada")
    assert [question for question, _ in [*first, *rest] if question is not None] == np.argsort(place).tolist()


def test_many_openings_make_orders_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "OPENED", 5)
    queue = make(60)
    assert queue.next("ada", 0.0) is not None
    for turn in range(4):
        queue.need(range(10 * turn))
        queue.need(range(60))
    assert len(take_all(queue, "ada")) == 59


def test_leases_end_and_go_to_others() -> None:
    queue = make(1)
    assert queue.next("ada", 0.0) == (0, "asked")
    assert queue.next("ben", 1.0) is None
    assert queue.hold("ada", 0, 5.0)
    queue.expire(LEASE + 1)
    assert queue.next("ben", LEASE + 1) is None  # she came back at 5
    queue.expire(LEASE + 5)
    assert queue.next("ben", LEASE + 5) == (0, "asked")
    assert not queue.hold("ada", 0, LEASE + 6)
    queue.answer("ada", 0, True)  # late, and kept all the same
    queue.answer("ben", 0, True)
    assert queue.given.tolist() == [2]
    assert queue.held.tolist() == [0]


def test_nobody_holds_what_is_needed_no_more() -> None:
    queue = make(2)
    question, _ = queue.next("ada", 0.0) or (0, "")
    queue.need([1 - question])
    assert not queue.hold("ada", question, 1.0)
    assert queue.held.sum() == 0


def test_training_comes_first_and_once() -> None:
    queue = make(5)
    add_questions(queue, range(5, 8))
    queue.training = [5, 6, 7]
    assert queue.left("ada") == 8
    assert [role for _, role in take_all(queue, "ada")] == ["training"] * 3 + ["asked"] * 5


def with_controls(questions: int) -> Queue:
    queue = make(questions, answers=4, control_rate=0.1, repeat_rate=0.2)
    add_questions(queue, range(questions, questions + 400))
    queue.controls = list(range(questions, questions + 400))
    return queue


@pytest.mark.parametrize("name", NAMES)
def test_controls_and_repeats_come_at_their_rates_between_pictures(name: str) -> None:
    queue = with_controls(1000)
    taken = take_all(queue, name)
    roles = Counter(role for _, role in taken)
    assert roles["asked"] == 1000
    assert abs(roles["control"] - 100) < 5 * 2 * np.sqrt(500 * 0.1 * 0.9)  # of 500 pictures with two questions each
    assert abs(roles["repeat"] - 200) < 5 * 2 * np.sqrt(500 * 0.2 * 0.8)
    for role in ("control", "repeat"):
        assert max(Counter(question for question, what in taken if what == role).values()) == 1
    asked = [question for question, role in taken if role == "asked"]
    first = {question: place for place, question in enumerate(asked)}
    number = 0
    for question, role in taken:
        number += role == "asked"
        if role == "repeat":
            assert number - first[question] > checks.APART
        if role != "asked":  # not between two questions about one picture
            assert number % 2 == 0


def test_what_was_withdrawn_is_not_repeated() -> None:
    queue = make(100, control_rate=0.0, repeat_rate=0.5)
    gone, _ = queue.next("ada", 0.0) or (0, "")
    queue.need(np.setdiff1d(np.arange(100), [gone]))
    assert not queue.hold("ada", gone, 1.0)
    queue.people["ada"].seen.discard(gone)
    assert gone not in [question for question, _ in take_all(queue, "ada")]


@pytest.mark.parametrize("steps", [0, 1, 7, 60, 300])
def test_a_restart_changes_nothing(steps: int) -> None:
    queue = with_controls(200)
    queue.training = [queue.controls.pop(), queue.controls.pop()]
    given = [following for following in (queue.next("ada", 0.0) for _ in range(steps)) if following is not None]
    other = with_controls(200)
    other.training, other.controls = queue.training, queue.controls
    other.restore("ada", given[: steps // 2])
    other.restore("ada", given[steps // 2 :])
    for question, role in given:
        if role == "asked":
            assert other.hold("ada", question, 0.0)
    person, restored = queue.people["ada"], other.people["ada"]
    for field in ("asked", "seen", "repeated", "trained", "controlled", "run"):
        assert getattr(person, field) == getattr(restored, field), field
    assert queue.held.tolist() == other.held.tolist()
    assert take_all(copy.deepcopy(queue), "ada") == take_all(other, "ada")


def test_whoever_is_barred_is_not_asked_and_loses_what_they_hold() -> None:
    queue = make(6)
    held, _ = queue.next("ada", 0.0) or (0, "")
    other = (held + 1) % 6
    for question in (held, other):
        queue.bar("ada", question)
    assert queue.held.sum() == 0
    assert not queue.hold("ada", held, 1.0), "it is not hers any more"
    queue.people["ada"].seen.discard(held)  # as when it is withdrawn
    assert (queue.left("ada"), queue.left("ben")) == (4, 6)
    taken = [question for question, _ in take_all(queue, "ada")]
    assert sorted(taken) == sorted(set(range(6)) - {held, other})
    assert sorted(question for question, _ in take_all(queue, "ben")) == sorted([held, other])
    queue.expire(0.0)
    assert [queue.left(name) for name in ("ada", "ben")] == [0, 0]


def test_bars_wait_for_people_and_can_be_lifted() -> None:
    queue = make(2)
    queue.bar("eva", 0)
    queue.join("eva", 9)
    assert queue.left("eva") == 1
    assert queue.next("eva", 0.0) == (1, "asked")
    assert queue.next("eva", 0.0) is None
    queue.admit("eva", 0)
    queue.admit("nobody", 0)
    assert queue.next("eva", 0.0) == (0, "asked")


def test_some_questions_come_once() -> None:
    queue = Queue(4, LEASE, 0.0, 0.5)
    words = group_words("check", [f"picture {n}" for n in range(100)])
    queue.add(words, question_words(words, [f"question {n}" for n in range(100)]), np.arange(100) % 2 == 0)
    queue.need(range(100))
    queue.join("ada", 1)
    repeats = [question for question, role in take_all(queue, "ada") if role == "repeat"]
    assert len(repeats) > 20
    assert all(question % 2 == 0 for question in repeats)


@pytest.mark.parametrize("role", ["training", "control", "repeat", "asked"])
def test_what_could_not_be_put_comes_again(role: Role) -> None:
    queue = with_controls(200)
    queue.training = [queue.controls.pop()]
    plain = copy.deepcopy(queue)
    wanted = take_all(plain, "ada")
    taken = []
    while (following := queue.next("ada", 0.0)) is not None:
        if following[1] == role:
            queue.take_back("ada", *following)
            assert queue.next("ada", 0.0) == following
        taken.append(following)
        if following[1] == "asked":
            queue.answer("ada", following[0], True)
    assert taken == wanted


def test_what_is_left_is_counted() -> None:
    queue = make(10, answers=2)
    assert queue.left("ada") == 10
    taken = [queue.next("ada", 0.0) for _ in range(4)]
    assert queue.left("ada") == 6
    assert queue.left("ben") == 10
    for following in taken:
        assert following is not None
        queue.answer("ada", following[0], True)
    queue.expire(0.0)
    assert (queue.left("ada"), queue.left("ben")) == (6, 10)
    queue.recount(np.full(10, 2))
    assert (queue.left("ada"), queue.left("ben")) == (0, 0)
    assert queue.next("ben", 0.0) is None
