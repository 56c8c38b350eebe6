"""Everything waiting to be stored is written together: one fsync for all, and no acknowledgement before that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from dissensus.errors import JudgementError, UnavailableError
from dissensus.records import Assignment, Response
from dissensus.web.trouble import Trouble

STORING = "storing answers"
Keep = Callable[[Sequence[Assignment], Sequence[Response]], set[str]]
Waiting = tuple[Sequence[Assignment], Sequence[Response], "asyncio.Future[set[str]]"]


class GroupCommit:
    """Collects what requests want to store while the previous batch is written in a separate thread."""

    def __init__(self, keep: Keep, trouble: Trouble | None = None) -> None:
        """`keep` stores a batch durably, all or nothing, and returns the ids that already belong to other answers."""
        self.keep = keep
        self.trouble = trouble or Trouble()
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="group-commit")
        self.waiting: list[Waiting] = []
        self.writing: asyncio.Task[None] | None = None

    async def store(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Wait until this is durable and return the refused ids; re-raises what `keep` raises."""
        done: asyncio.Future[set[str]] = asyncio.get_running_loop().create_future()
        self.waiting.append((assignments, responses, done))
        if self.writing is None:
            self.writing = asyncio.create_task(self._write())
        return await done

    async def close(self) -> None:
        """Wait until everything is written."""
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
            if isinstance(error, JudgementError) and len(batch) > 1:  # one of them blocks the others
                for one in batch:
                    await self._store([one])
                return
            if isinstance(error, UnavailableError):
                self.trouble.tell(str(error), STORING)
            _tell(batch, lambda done: done.set_exception(error))
        else:
            self.trouble.over(STORING)
            _tell(batch, lambda done: done.set_result(refused))


def _tell(batch: Sequence[Waiting], what: Callable[[asyncio.Future[set[str]]], None]) -> None:
    for _, _, done in batch:
        if not done.done():  # the request may have been cancelled
            what(done)
