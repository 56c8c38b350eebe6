"""Parts of a pass, for tests that need no disk."""

from __future__ import annotations

import pyarrow as pa


class Kept(dict[int, pa.Table]):
    """Finished parts in memory."""

    def read(self, number: int) -> pa.Table:
        return self[number]

    def write(self, number: int, table: pa.Table) -> None:
        assert number not in self, "it is finished already"
        self[number] = table
