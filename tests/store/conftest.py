from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dissensus.records import Classes


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 900 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=900k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk can only be mounted by root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture(scope="session")
def classes() -> Classes:
    """Three classes, two of which are called by the number of the other."""
    return Classes(
        ("1", "0", "Königs-Pinguin, groß"), ids=("n1", "n2", "n3"), synonyms=(("one",), ("zero",), ("king",))
    )
