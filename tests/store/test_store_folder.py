from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.errors import StudyError
from dissensus.store.folder import Folder


def test_rounds_that_ended_are_found_in_order_and_nothing_else(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.rounds() == []
    for number in (3, 2, 1):
        folder.selection(number).parent.mkdir(parents=True)
        folder.selection(number).touch()
    for other in ("004", "002 copy", "old", "2b"):
        (tmp_path / "rounds" / other).mkdir()
    (tmp_path / "rounds" / "002 copy" / "selection.parquet").touch()
    (tmp_path / "rounds" / "2b" / "selection.parquet").touch()
    assert folder.rounds() == [1, 2, 3]


@pytest.mark.parametrize("numbers", [(2,), (1, 3), (1, 2, 1000)])
def test_a_gap_in_the_rounds_is_refused(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    folder = Folder(tmp_path)
    for number in numbers:
        folder.selection(number).parent.mkdir(parents=True)
        folder.selection(number).touch()
    with pytest.raises(StudyError, match=r"00[123]/selection.parquet is missing"):
        folder.rounds()
