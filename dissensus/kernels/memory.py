"""Whether a matrix fits into memory, which is asked before hours are spent on it."""

from __future__ import annotations

import math
import os

from dissensus.errors import KernelError


def memory_here() -> float:
    """Bytes of memory of this machine, or infinity if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf


def refuse_too_large(size: int, what: str, remedy: str) -> None:
    """Raise an error if something takes more memory than this machine has.

    Raises:
        KernelError: it does; the message says how much it takes, how much there is, and the remedy.
    """
    here = memory_here()
    if size > here:
        raise KernelError(
            f"{what} takes {size / 1e9:,.0f} GB of memory, and this machine has {here / 1e9:,.0f} GB: {remedy}"
        )
