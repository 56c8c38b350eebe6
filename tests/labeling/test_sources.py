"""Nobody gets two questions with the same source, whatever happens in whichever order."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from dissensus.labeling import Queue
from dissensus.labeling import queue as queue_module
from dissensus.labeling.order import group_words, question_words

SOURCES, EACH = 12, 5


def make(answers: int = 2, plain: int = 6, repeat_rate: float = 0.0) -> Queue:
    """Sixty questions about twelve sources, and a few without one."""
    queue = Queue(answers, 10.0, repeat_rate=repeat_rate)
    count = SOURCES * EACH
    words = group_words("reveal", [f"picture {n}" for n in range(count)])
    queue.add(words, question_words(words, map(str, range(count))), False, 0, np.arange(count) % SOURCES)
    words = group_words("contains", [f"plain {n}" for n in range(plain)])
    queue.add(words, question_words(words, map(str, range(plain))), kind=1)
    queue.need(range(len(queue)))
    return queue


@pytest.mark.parametrize("seed", range(8))
def test_nobody_gets_a_source_twice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "AHEAD", [4, 256][seed % 2])
    chance, queue = random.Random(seed), make()
    names = [f"person {n}" for n in range(15)]
    for number, name in enumerate(names):
        queue.join(name, number)
    seen: dict[str, list[int]] = {name: [] for name in names}
    held: list[tuple[str, int]] = []
    for now in range(400):
        name = chance.choice(names)
        queue.urgent = chance.sample(range(SOURCES * EACH), 10)
        if held and chance.random() < 0.5:
            who, question = held.pop(chance.randrange(len(held)))
            queue.answer(who, question, chance.random() < 0.8)
        elif (following := queue.next(name, float(now))) is not None:
            assert following[1] == "asked"
            seen[name].append(following[0])
            held.append((name, following[0]))
        queue.expire(float(now))
    for name, questions in seen.items():
        sources = Counter(int(queue.sources[one]) for one in questions)
        assert all(count == 1 for source, count in sources.items() if source >= 0), name
    assert sum(map(len, seen.values())) > 60


def test_what_is_left_counts_every_source_once() -> None:
    queue = make(answers=99)
    queue.join("ada", 1)
    taken = 0
    while True:
        assert queue.left("ada") == SOURCES + 6 - taken
        if queue.next("ada", 0.0) is None:
            break
        taken += 1
        queue.expire(0.0)
    assert taken == SOURCES + 6


def test_a_question_that_was_not_shown_frees_its_source_and_one_that_was_shown_does_not() -> None:
    queue = make(answers=1, plain=0)
    person = queue.join("ada", 1)
    question, role = queue.next("ada", 0.0) or (0, "asked")
    source = int(queue.sources[question])
    queue.take_back("ada", question, role)
    assert source not in person.sources
    question, _ = queue.next("ada", 0.0) or (0, "asked")
    person.seen.discard(question)  # as the service does when it withdraws a question
    queue.release_all("ada")
    alike = [int(one) for one in np.flatnonzero(queue.sources == queue.sources[question])]
    assert [one for one in alike if queue.may_be_asked(person, one)] == []


def test_after_a_restart_it_is_as_before() -> None:
    queue, again = make(), make()
    for one in (queue, again):
        one.join("ada", 1)
    given = [queue.next("ada", 0.0) for _ in range(7)]
    again.restore("ada", [one for one in given if one is not None])
    assert again.people["ada"].sources == queue.people["ada"].sources
    assert again.left("ada") == queue.left("ada")


def test_questions_with_a_source_are_not_repeated() -> None:
    queue = make(answers=99, plain=0, repeat_rate=1.0)
    queue.join("ada", 1)
    roles = [queue.next("ada", 0.0) for _ in range(SOURCES + 1)]
    assert roles[-1] is None
    assert {one[1] for one in roles if one is not None} == {"asked"}
