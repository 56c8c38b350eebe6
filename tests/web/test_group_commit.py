"""Group commit: nobody is told before the disk has it, and one that cannot be stored stands in nobody's way."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dissensus.errors import JudgementError, UnavailableError
from dissensus.web.group_commit import GroupCommit


def test_what_comes_while_a_batch_is_written_goes_with_the_next():
    batches, gate = [], threading.Event()

    def keep(assignments, responses):
        batches.append(list(responses))
        if len(batches) == 1:
            gate.wait()
        return set()

    async def run():
        log = GroupCommit(keep)
        first = asyncio.create_task(log.store((), ["a"]))
        while not batches:
            await asyncio.sleep(0.001)
        others = [asyncio.create_task(log.store((), [name])) for name in "bcd"]
        await asyncio.sleep(0.01)
        assert not first.done()
        assert not any(other.done() for other in others)
        gate.set()
        await asyncio.gather(first, *others)
        await log.close()

    asyncio.run(run())
    assert batches == [["a"], ["b", "c", "d"]]


def test_refused_ids_reach_everybody_and_a_lost_database_fails_the_whole_batch():
    async def run(keep):
        log = GroupCommit(keep)
        results = await asyncio.gather(*(log.store((), [name]) for name in "ab"), return_exceptions=True)
        await log.close()
        return results

    def lost(assignments, responses):
        raise UnavailableError("away")

    def taken(assignments, responses):
        return {"b"} & set(responses)

    assert asyncio.run(run(taken)) == [{"b"}, {"b"}]
    assert [type(result) for result in asyncio.run(run(lost))] == [UnavailableError] * 2


def test_one_that_cannot_be_stored_stands_in_nobodys_way():
    stored = []

    def keep(assignments, responses):
        if "bad" in responses:
            raise JudgementError("half a character")
        stored.extend(responses)
        return set()

    async def run():
        log = GroupCommit(keep)
        tasks = [asyncio.create_task(log.store((), [name])) for name in ("a", "bad", "c")]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await log.close()
        return results

    results = asyncio.run(run())
    assert stored == ["a", "c"]
    assert [isinstance(result, JudgementError) for result in results] == [False, True, False]


def test_somebody_who_goes_away_is_stored_all_the_same():
    stored, gate = [], threading.Event()

    def keep(assignments, responses):
        gate.wait()
        stored.extend(responses)
        return set()

    async def run():
        log = GroupCommit(keep)
        task = asyncio.create_task(log.store((), ["a"]))
        await asyncio.sleep(0.01)
        task.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await log.close()

    asyncio.run(run())
    assert stored == ["a"]
