"""Tar archives, Parquet files with pictures, braces, and folders: ids, order and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.contents import content
from dissensus.errors import PoolError
from dissensus.store import shards
from dissensus.store.listing import IMAGES, without_braces
from dissensus.store.sources import found_items, items_of
from tests.shards import png, write_hugging_face, write_tar


def test_a_folder_is_listed_as_pathlib_lists_it(tmp_path: Path) -> None:
    """The reference is the straightforward way, which looks up every file several times."""
    root = tmp_path / "root"
    for name in (
        "a.png", "a/z.png", "a-b.png", "a/b/c.JPG", ".hidden.png", ".git/x.png", "é.jpg", ".png", "x.", "b.png.txt",
        "B.png", "a.b/c.gif", "10.png", "9.png", "deep/" * 30 + "d.png",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / "folder.jpg").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "e.png").write_bytes(b"")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "link.png").symlink_to(tmp_path / "elsewhere" / "e.png")
    (root / "broken.png").symlink_to(tmp_path / "nowhere.png")
    (root / "to-folder.png").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(root / "pipe.png")
    (tmp_path / "way").symlink_to(root)
    expected = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in IMAGES and path.is_file()]
    for folder in (root, tmp_path / "way", Path(f"{root}/")):
        assert items_of([str(folder)]) == (
            [path.relative_to(root).as_posix() for path in expected],
            [str(path.resolve()) for path in expected],
        )
    matched = sorted(root.glob("a*/**/*.*"))
    matched = [path for path in matched if path.suffix.lower() in IMAGES and path.is_file()]
    ids, paths = items_of([f"{root}/a*/**/*.*"])
    assert (ids, paths) == ([str(path.relative_to(root)) for path in matched], [str(path) for path in matched])


@pytest.mark.parametrize(
    ("source", "every"),
    [
        ("a.tar", ["a.tar"]),
        ("s-{0008..0011}.tar", ["s-0008.tar", "s-0009.tar", "s-0010.tar", "s-0011.tar"]),
        ("{2..0}", ["2", "1", "0"]),
        ("{a,b}-{1..2}", ["a-1", "a-2", "b-1", "b-2"]),
        ("{a}.{}", ["{a}.{}"]),
        ("s3://b/{train,}.tar", ["s3://b/train.tar", "s3://b/.tar"]),
    ],
)
def test_braces_stand_for_what_they_do_in_a_shell(source: str, every: list[str]) -> None:
    assert without_braces(source) == every


def test_a_range_without_end_is_refused() -> None:
    for source in ("{0..99999999}.tar", "{0..9999}{0..9999}"):
        with pytest.raises(PoolError, match="stands for more than 1,000,000 names"):
            without_braces(source)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_images_of_an_archive_keep_their_names_and_other_files_are_counted(tmp_path: Path, form: int) -> None:
    long = "deep/" * 18 + "0.jpg"
    members = {
        "./a.png": png(1),
        "a.cls": b"3",
        "a.json": b"{}",
        "b.left.png": png(2),
        "b.right.png": png(3),
        long: b"x",
    }
    write_tar(tmp_path / "s-0.tar", members, form)
    found = found_items([str(tmp_path / "s-0.tar")])
    assert found.table["id"].to_pylist() == ["a.png", "b.left.png", "b.right.png", long]
    assert [content(uri) for uri in found.table["uri"].to_pylist()] == [png(1), png(2), png(3), b"x"]
    assert found.ignored == Counter({".cls": 1, ".json": 1})
    assert found.named == []


def test_links_in_an_archive_are_ignored_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(1))
    os.link(tmp_path / "a.png", tmp_path / "hard.png")
    (tmp_path / "soft.png").symlink_to("a.png")
    with tarfile.open(tmp_path / "s.tar", "w") as archive:
        for name in ("a.png", "hard.png", "soft.png"):
            archive.add(tmp_path / name, name)
    found = found_items([str(tmp_path / "s.tar")])
    assert (found.table["id"].to_pylist(), found.ignored) == (["a.png"], Counter({"links": 2}))


def test_a_picture_that_is_stored_with_holes_is_ignored_and_counted(tmp_path: Path) -> None:
    holes = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "b.png", "GNU.sparse.realsize": "512"}
    with tarfile.open(tmp_path / "s.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        for name, headers, data in (("a.png", {}, png(1)), ("x", holes, b"1\n0\n512\n".ljust(1024, b"\0"))):
            about = tarfile.TarInfo(name)
            about.pax_headers, about.size = headers, len(data)
            archive.addfile(about, io.BytesIO(data))
    found = found_items([str(tmp_path / "s.tar")])
    assert (found.table["id"].to_pylist(), found.ignored) == (["a.png"], Counter({"sparse files": 1}))


@pytest.mark.parametrize("size", [-512, -1024, -1, -(1 << 40)])
@pytest.mark.parametrize("is_pax", [False, True])
def test_a_size_below_zero_does_not_send_us_back_for_ever(tmp_path: Path, size: int, is_pax: bool) -> None:
    write_tar(tmp_path / "s.tar", {"a.png": png(1), "b.png": b""})
    data = bytearray((tmp_path / "s.tar").read_bytes())
    if is_pax:
        about = tarfile.TarInfo("b.png")
        about.pax_headers = {"size": str(size)}
        head = about.tobuf(tarfile.PAX_FORMAT)
    else:
        about = tarfile.TarInfo("b.png")
        about.size = size
        head = about.tobuf(tarfile.GNU_FORMAT)
    place = data.index(b"b.png")
    (tmp_path / "s.tar").write_bytes(data[:place] + head + bytes(10240))
    with pytest.raises(PoolError, match=r"cannot read .*s\.tar: .*: copy or write the archive again"):
        items_of([str(tmp_path / "s.tar")])


def test_the_same_name_in_two_archives_gets_the_archives_name_before_it(tmp_path: Path) -> None:
    write_tar(tmp_path / "s-0.tar", {"0.png": png(0), "1.png": png(1)})
    write_tar(tmp_path / "s-1.tar", {"0.png": png(2), "2.png": png(3)})
    expected = ["s-0/0.png", "1.png", "s-1/0.png", "2.png"]
    for sources in (["s-{0..1}.tar"], ["s-*.tar"], ["s-0.tar", "s-1.tar"]):
        assert items_of([str(tmp_path / source) for source in sources])[0] == expected


def test_rows_are_named_by_their_ids_or_by_file_and_row(tmp_path: Path) -> None:
    write_hugging_face(tmp_path / "train-0.parquet", [png(value) for value in range(11)])
    write_hugging_face(tmp_path / "train-1.parquet", [png(7), png(8)], ids=[70, 80])
    ids, uris = items_of([str(tmp_path / "train-*.parquet")])
    assert ids == [*(f"train-0/{row:02}" for row in range(11)), "70", "80"]
    assert [content(str(uri)) for uri in uris[-3:]] == [png(10), png(7), png(8)]


@pytest.mark.parametrize("is_struct", [False, True])
def test_columns_of_categories_and_views_hold_ids_and_pictures(is_struct: bool, tmp_path: Path) -> None:
    pictures, ids = [png(value) for value in (3, 3, 7, 8, 7)], pa.array(list("vwxyz")).dictionary_encode()
    for kind, group in ((pa.array(pictures).dictionary_encode(), 2), (pa.array(pictures, pa.binary_view()), 5)):
        image = pa.StructArray.from_arrays([kind], ["bytes"]) if is_struct else kind
        pq.write_table(pa.table({"id": ids, "image": image}), tmp_path / "p.parquet", row_group_size=group)
        names, uris = items_of([str(tmp_path / "p.parquet")])
        assert names == list("vwxyz")
        assert [content(str(uri)) for uri in uris] == pictures


def test_an_empty_source_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(png(1))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PoolError, match="one of the sources is empty: give an image folder"):
        items_of([""])


def test_a_table_of_paths_is_still_a_manifest(tmp_path: Path) -> None:
    pq.write_table(pa.table({"item": ["a"], "path": ["a.png"], "image": ["not bytes"]}), tmp_path / "m.parquet")
    assert items_of([str(tmp_path / "m.parquet")]) == (["a"], [str(tmp_path / "a.png")])


def damaged(whole: bytes, how: str) -> bytes:
    if how == "truncated in a picture":
        return whole[: 512 * 2 + 20]
    if how == "truncated between pictures":
        return whole[: whole.rindex(b"b.png")]
    if how == "damaged header":
        place = whole.rindex(b"b.png")
        return whole[:place] + b"XXXXX" + whole[place + 5 :]
    return b"" if how == "empty" else b"\xff" * 2048


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("truncated in a picture", "unexpected end of data|may be incomplete"),
        ("truncated between pictures", "may be incomplete"),
        ("damaged header", "damaged header at byte"),
        ("empty", "empty"),
        ("noise", "cannot read"),
    ],
)
def test_a_damaged_archive_is_refused_in_one_line(tmp_path: Path, how: str, complaint: str) -> None:
    path = write_tar(tmp_path / "a.tar", {"a.png": png(1, 64), "b.png": png(2)}, tarfile.USTAR_FORMAT)
    path.write_bytes(damaged(path.read_bytes(), how))
    with pytest.raises(PoolError, match=complaint) as refused:
        items_of([str(path)])
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


PACKED = {
    "gunzip": gzip.compress, "bunzip2": bz2.compress, "unxz": lzma.compress,
    "unzstd": lambda whole: pa.compress(whole, "zstd", asbytes=True),
}  # fmt: skip


def test_compressed_archives_are_refused_with_what_to_do(tmp_path: Path) -> None:
    whole = write_tar(tmp_path / "a.tar", {"a.png": png(1)}).read_bytes()
    for name, program in [
        ("a.tar.gz", "gunzip"), ("b.tgz", "gunzip"), ("c.tar.zst", "unzstd"), *(("a.tar", one) for one in PACKED)
    ]:  # fmt: skip
        (tmp_path / name).write_bytes(PACKED[program](whole))
        with pytest.raises(PoolError, match=rf"{name} is compressed.*\({program} .*{name}\) and give the .tar file"):
            items_of([str(tmp_path / name)])
    with pytest.raises(PoolError, match="is compressed"):
        items_of([str(tmp_path / "*.tar.gz")])


def test_sources_without_pictures_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tar(tmp_path / "text.tar", {"a.txt": b"x"})
    write_tar(tmp_path / "clips.tar", {"a.mp4": b"x"})
    write_tar(tmp_path / "odd.tar", {os.fsdecode(b"caf\xe9.png"): png(1)}, tarfile.GNU_FORMAT)
    pq.write_table(pa.table({"id": ["a", None], "image": [png(1)] * 2}), tmp_path / "null.parquet")
    for source, complaint in (
        ("text.tar", "contains no images"),
        ("clips.tar", "clips must be files of their own"),
        ("odd.tar", "not in UTF-8"),
        ("null.parquet", "row 2: the column 'id' is empty"),
        ("none-*.tar", r"no file matches .*none-\*.tar"),
        ("none-{0..3}.tar", r"no such file or folder: .*none-0\.tar"),
    ):
        with pytest.raises(PoolError, match=complaint) as refused:
            items_of([str(tmp_path / source)])
        assert "\n" not in str(refused.value)
    write_hugging_face(tmp_path / "large.parquet", [png(1)] * 9, group=9)
    monkeypatch.setattr(shards, "LARGEST_GROUP", 100)
    with pytest.raises(PoolError, match=r"row group 0 has .* row_group_size=100"):
        items_of([str(tmp_path / "large.parquet")])


def test_what_lies_behind_a_damaged_header_is_not_lost_in_silence(tmp_path: Path) -> None:
    import io
    import tarfile

    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for number in range(5):
            entry = tarfile.TarInfo(f"{number}.png")
            entry.size = 600
            archive.addfile(entry, io.BytesIO(bytes([number + 1]) * 600))
    data = bytearray((tmp_path / "x.tar").read_bytes())
    data[3 * 1536 : 3 * 1536 + 512] = bytes(512)
    (tmp_path / "x.tar").write_bytes(data)
    with pytest.raises(PoolError, match="something follows the end of the archive at byte 4,608"):
        items_of([str(tmp_path / "x.tar")])
