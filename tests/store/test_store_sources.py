from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from dissensus.errors import PoolError
from dissensus.store.sources import items_of


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos [1]"
    for name in ("b.JPG", "a.png", "sub/c.jpeg", "sub/deep/d.webp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (2, 2)).save(folder / name)
    (folder / "notes.txt").write_text("no image")
    (folder / "folder.jpg").mkdir()
    return folder


def test_a_folder_gives_its_images_by_their_path_below_it(photos: Path) -> None:
    ids, paths = items_of([str(photos)])
    assert ids == ["a.png", "b.JPG", "sub/c.jpeg", "sub/deep/d.webp"]
    assert paths == [str(photos / name) for name in ids]


def test_a_name_that_is_not_in_utf8_is_refused_in_one_line(photos: Path) -> None:
    odd = photos / "sub" / os.fsdecode(b"caf\xe9.png")
    (photos / "a.png").rename(odd)
    for source in (photos, odd, photos.parent / "photos ?1?" / "sub" / "*.png"):
        with pytest.raises(PoolError, match=r"is not in UTF-8: rename it in .*sub$"):
            items_of([str(source)])


def test_a_glob_names_images_below_its_fixed_part(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = photos.rename(photos.with_name("photos"))
    everywhere, _ = items_of([str(parent / "**" / "*.*")])
    assert everywhere == ["a.png", "b.JPG", "sub/c.jpeg", "sub/deep/d.webp"]
    assert items_of([str(parent / "s*" / "*.jp*g")])[0] == ["sub/c.jpeg"]
    monkeypatch.chdir(parent)
    ids, paths = items_of(["*.png"])
    assert (ids, paths) == (["a.png"], [str(parent / "a.png")])
    monkeypatch.chdir(parent / "sub")
    assert items_of(["../?.png"])[0] == ["a.png"]


def test_a_single_image_goes_by_its_name(photos: Path) -> None:
    assert items_of([str(photos / "sub" / "c.jpeg")]) == (["c.jpeg"], [str(photos / "sub" / "c.jpeg")])


def test_sources_follow_one_another(photos: Path) -> None:
    assert items_of([str(photos / "sub"), str(photos / "a.png")])[0] == ["c.jpeg", "deep/d.webp", "a.png"]


def test_paths_of_a_manifest_lie_beside_it_unless_they_are_absolute(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("path,item,note\na/b.jpg,1,x\n/abs/c.jpg,2,y\n,3,z\n")
    assert items_of([str(tmp_path / "m.csv")]) == (["1", "2", "3"], [str(tmp_path / "a/b.jpg"), "/abs/c.jpg", None])


def test_a_manifest_of_ids_alone_has_no_paths(tmp_path: Path) -> None:
    pq.write_table(pa.table({"item": [7, 8]}), tmp_path / "m.parquet")
    assert items_of([str(tmp_path / "m.parquet")]) == (["7", "8"], [None, None])


def test_ids_are_text_whatever_they_look_like(tmp_path: Path) -> None:
    ids = ["NA", "null", "007", "1e3", "true", "nan", "a\nb", 'q"', "é", "N/A"]
    quoted = ['"{}"'.format(name.replace('"', '""')) for name in ids]
    (tmp_path / "m.csv").write_text("\ufeffitem\n" + "\n".join(quoted) + "\n")
    assert items_of([str(tmp_path / "m.csv")])[0] == ids


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("m.csv", b"", "cannot read"),
        ("m.csv", b"id,path\n1,a.jpg\n", "has no column 'item'"),
        ("m.csv", b"item,path\na,a.jpg\n,b.jpg\n", "row 2: the column 'item' is empty"),
        ("m.csv", b"item,item\na,b\n", "cannot read"),
        ("m.csv", b"item\ncaf\xe9\n", "cannot read"),
        ("m.csv", b"item,path\na,b,c\n", "cannot read"),
        ("m.parquet", b"PAR1", "cannot read"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PoolError) as refused:
        items_of([str(tmp_path / name)])
    assert complaint in str(refused.value)
    assert str(tmp_path / name) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_manifest_whose_ids_are_no_text_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"item": [b"caf\xe9"]}), tmp_path / "m.parquet")
    with pytest.raises(PoolError, match="cannot read"):
        items_of([str(tmp_path / "m.parquet")])


def test_a_truncated_manifest_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"item": [str(number) for number in range(1000)]}), tmp_path / "m.parquet")
    whole = (tmp_path / "m.parquet").read_bytes()
    (tmp_path / "m.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PoolError, match="cannot read"):
        items_of([str(tmp_path / "m.parquet")])


def test_a_source_that_is_not_there_or_holds_no_images_is_named(tmp_path: Path) -> None:
    for source in ("none", "none.csv"):
        with pytest.raises(PoolError, match=f"no such file or folder: .*{source}"):
            items_of([str(tmp_path / source)])
    for source in (tmp_path, tmp_path / "*.jpg"):
        with pytest.raises(PoolError, match="contains neither images nor video clips"):
            items_of([str(source)])
