from __future__ import annotations

from pathlib import Path

from dissensus.store.folder import Folder


def test_rounds_that_ended_are_found_in_order_and_nothing_else(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.rounds() == []
    for number in (10, 2, 1, 1000):
        folder.selection(number).parent.mkdir(parents=True)
        folder.selection(number).touch()
    for other in ("003", "002 copy", "old", "2b"):
        (tmp_path / "rounds" / other).mkdir()
    (tmp_path / "rounds" / "002 copy" / "selection.parquet").touch()
    (tmp_path / "rounds" / "2b" / "selection.parquet").touch()
    assert folder.rounds() == [1, 2, 10, 1000]
