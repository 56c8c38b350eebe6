"""Pictures have checksums, whatever their names, and listing thousands of them stays cheap."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dissensus.store.files import remove_file, restored, write_bytes
from dissensus.store.picture_checksums import check_pictures, is_picture

NAMES = ("a.png", "two  spaces.png", "grün.png", "line\nbreak.png", "back\\slash.png", "next\x85line.png")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").touch()
    for name in NAMES:
        write_bytes(tmp_path / "given" / "model" / "deep" / name, name.encode())
    return tmp_path


def test_pictures_with_any_name_are_listed(root: Path) -> None:
    assert check_pictures(root) == (len(NAMES), [], [])
    subprocess.run(["sha256sum", "--check", "--strict", "checksums.txt"], cwd=root / "given/model/deep", check=True)


@pytest.mark.parametrize("name", NAMES)
def test_damage_to_a_picture_is_named(root: Path, name: str) -> None:
    (root / "given" / "model" / "deep" / name).write_bytes(b"other")
    count, (problem,), unlisted = check_pictures(root)
    assert (count, unlisted) == (len(NAMES) - 1, [])
    assert f"{name} is damaged" in problem


def test_a_replaced_picture_matches(root: Path) -> None:
    write_bytes(root / "given" / "model" / "deep" / "a.png", b"new")
    assert check_pictures(root) == (len(NAMES), [], [])


def test_a_removed_picture_is_not_missed(root: Path) -> None:
    remove_file(root / "given" / "model" / "deep" / "line\nbreak.png")
    assert check_pictures(root) == (len(NAMES) - 1, [], [])


def test_half_a_line_does_not_spoil_the_next(root: Path) -> None:
    with open(root / "given" / "model" / "deep" / "checksums.txt", "ab") as file:
        file.write(b"0123")
    write_bytes(root / "given" / "model" / "deep" / "z.png", b"z")
    assert check_pictures(root) == (len(NAMES) + 1, [], [])


def test_a_lost_overlay_is_made_again_but_a_lost_drawing_is_missed(root: Path) -> None:
    for name in ("12.png", "12ab.png"):
        write_bytes(root / "drawings" / name, b"pixels")
        (root / "drawings" / name).unlink()
    (problem,) = check_pictures(root).problems
    assert "12.png is missing" in problem
    assert "dissensus select" in problem


def test_refused_pictures_leave_no_list(root: Path) -> None:
    def refused() -> None:
        with restored(root / "drawings"):
            write_bytes(root / "drawings" / "1.png", b"pixels")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        refused()
    assert not (root / "drawings").exists()


def test_pictures_elsewhere_are_not_listed(tmp_path: Path) -> None:
    write_bytes(tmp_path / "drawings" / "1.png", b"pixels")
    assert not is_picture(tmp_path / "drawings" / "1.png")
    assert [path.name for path in (tmp_path / "drawings").iterdir()] == ["1.png"]
