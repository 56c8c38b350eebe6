"""`dissensus serve`, counting its transactions: how many answers and questions share one fsync is seen nowhere else.

python benchmarks/counting.py COUNTS serve STUDY --port 0
"""

from __future__ import annotations

import mmap
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from dissensus.cli import main
from dissensus.records import Assignment, Response
from dissensus.steps.serving import StudyBacking

COUNTS = struct.Struct("QQ")
"""Transactions, and rows that they held."""


def count_into(counts: mmap.mmap) -> None:
    """Count from now on."""
    keep = StudyBacking.keep

    def counted(self: StudyBacking, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        commits, rows = COUNTS.unpack_from(counts)
        refused = keep(self, assignments, responses)
        COUNTS.pack_into(counts, 0, commits + 1, rows + len(assignments) + len(responses))
        return refused

    StudyBacking.keep = counted  # type: ignore[method-assign]


def read_counts(path: Path) -> tuple[int, int]:
    """Transactions so far, and rows in them."""
    commits, rows = COUNTS.unpack(path.read_bytes())
    return commits, rows


if __name__ == "__main__":
    with open(sys.argv[1], "r+b") as file:
        count_into(mmap.mmap(file.fileno(), COUNTS.size))
    main(sys.argv[2:])
