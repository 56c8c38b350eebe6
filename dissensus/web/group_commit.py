"""Everything that waits to be stored goes to the disk together: one fsync for all, and nobody is told before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from dissensus.errors import JudgementError
from dissensus.records import Assignment, Response

Keep = Callable[[Sequence[Assignment], Sequence[Response]], set[str]]
Waiting = tuple[Sequence[Assignment], Sequence[Response], "asyncio.Future[set[str]]"]


class GroupCommit:
    """Collects what requests want stored while the batch before is written, in a thread of its own."""

    def __init__(self, keep: Keep) -> None:
        """`keep` stores a batch durably, all or nothing, and returns the ids that stand for other answers already."""
        self.keep = keep
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="group-commit")
        self.waiting: list[Waiting] = []
        self.writing: asyncio.Task[None] | None = None

    async def store(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Return once this is durable, with the ids that were refused; raise what `keep` raised."""
        done: asyncio.Future[set[str]] = asyncio.get_running_loop().create_future()
        self.waiting.append((assignments, responses, done))
        if self.writing is None:
            self.writing = asyncio.create_task(self._write())
        return await done

    async def close(self) -> None:
        """Wait for what is being written."""
        while self.writing is not None:
            await asyncio.wait([self.writing])
        self.thread.shutdown()

    async def _write(self) -> None:
        try:
            while self.waiting:
                batch, self.waiting = self.waiting, []
                await self._store(batch)
        finally:
            self.writing = None

    async def _store(self, batch: Sequence[Waiting]) -> None:
        assignments = [one for part, _, _ in batch for one in part]
        responses = [one for _, part, _ in batch for one in part]
        loop = asyncio.get_running_loop()
        try:
            refused = await loop.run_in_executor(self.thread, self.keep, assignments, responses)
        except Exception as error:
            if isinstance(error, JudgementError) and len(batch) > 1:  # one of them stands in the way of the others
                for one in batch:
                    await self._store([one])
                return
            _tell(batch, lambda done: done.set_exception(error))
        else:
            _tell(batch, lambda done: done.set_result(refused))


def _tell(batch: Sequence[Waiting], what: Callable[[asyncio.Future[set[str]]], None]) -> None:
    for _, _, done in batch:
        if not done.done():  # whoever asked may have gone away
            what(done)
