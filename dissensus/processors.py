"""The processors of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(work: Callable[..., object], *arguments: Iterable[Any]) -> None:
    """Call `work` with the first of all arguments, with the second, and so on, in as many threads as processors."""
    with ThreadPoolExecutor(cores()) as threads:
        for _ in threads.map(work, *arguments):
            pass


def one_thread_per_product() -> AbstractContextManager[Any]:
    """Within it, every product of matrices uses one thread, as for small ones, or where ours divide the work already.

    The library's own threads wait for each other in a loop, which takes several times as long on a busy machine.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
