"""Questions that people hold far ahead, in case they go offline, starve nobody."""

from __future__ import annotations

from test_queue import LEASE, make

from dissensus.labeling import Queue

FIRM, STOCK = 2, 8


def stocked(queue: Queue, name: str, now: float = 0.0) -> list[int]:
    """What a person gets who asks for a stock."""
    found = (queue.next(name, now, is_spare=place >= FIRM) for place in range(STOCK))
    return [one[0] for one in found if one is not None]


def test_who_has_nothing_takes_over_what_others_hold_for_later() -> None:
    queue = make(STOCK)
    held = stocked(queue, "ada")
    assert len(held) == STOCK
    assert queue.next("ben", 0.0, is_spare=True) is None  # not to lay in a stock
    taken = [queue.next("ben", 0.0) for _ in range(STOCK - FIRM)]
    assert [one[0] for one in taken if one is not None] == [*held[:FIRM:-1], held[FIRM]]
    assert queue.next("ben", 0.0) is None  # the first few stay with whoever holds them
    assert set(queue.leases["ada"]) == set(held[:FIRM])
    assert (queue.held == 1).all()


def test_what_was_taken_over_is_lost_and_a_late_answer_still_counts() -> None:
    queue = make(STOCK)
    held = stocked(queue, "ada")
    following = queue.next("ben", 0.0)
    assert following is not None
    assert following[0] == held[-1]
    assert not queue.hold("ada", held[-1], 1.0)
    queue.answer("ada", held[-1], True)  # answered offline
    queue.answer("ben", held[-1], True)
    assert queue.given[held[-1]] == 2
    assert queue.held[held[-1]] == 0


def test_nothing_is_taken_over_while_other_questions_are_open_or_from_who_holds_few() -> None:
    queue = make(STOCK + 2)
    stocked(queue, "ada")
    few = {one[0] for one in (queue.next("ben", 0.0), queue.next("ben", 0.0)) if one is not None}
    assert not few & set(queue.leases["ada"])
    queue.next("cem", 0.0)
    assert set(queue.leases["ben"]) == few
    assert len(queue.leases["ada"]) == STOCK - 1


def test_nobody_takes_over_what_they_have_answered() -> None:
    queue = make(STOCK, answers=2)
    for question in range(STOCK):
        queue.answer("ben", question, True)
    assert len(stocked(queue, "ada")) == STOCK
    assert queue.next("ben", 0.0) is None
    assert len(queue.leases["ada"]) == STOCK


def test_what_is_near_stays_with_whoever_gets_there() -> None:
    queue = make(STOCK)
    held = stocked(queue, "ada")
    queue.extend("ada", 1.0, held[FIRM : FIRM + 3])
    taken = [queue.next("ben", 1.0) for _ in range(STOCK)]
    assert {one[0] for one in taken if one is not None} == set(held[FIRM + 3 :])


def test_answering_extends_everything_that_is_held() -> None:
    queue = make(STOCK)
    held = stocked(queue, "ada")
    queue.extend("ada", LEASE - 1)
    queue.expire(LEASE + 1)
    assert set(queue.leases["ada"]) == set(held)
    queue.expire(2 * LEASE)
    assert not queue.leases["ada"]
