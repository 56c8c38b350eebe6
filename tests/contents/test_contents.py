"""From a URI to bytes: every form, odd names, and files that have changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.backends import Unreadable, read_image
from dissensus.contents import (
    Member,
    Row,
    content,
    ending,
    is_file_path,
    is_remote,
    local_path,
    name_of,
    parsed,
    remote,
    size_of,
    stored_in,
)
from dissensus.contents import rows as parquet_rows
from dissensus.contents.rows import Columns, columns_of
from dissensus.errors import PoolError
from dissensus.store.files import bytes_fingerprint, content_fingerprint, file_fingerprint, fingerprint_of
from dissensus.store.sources import items_of
from tests.shards import png, write_hugging_face, write_tar

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(NAMES, NAMES, st.integers(512, 10**13), st.integers(0, 10**9))
def test_a_uri_says_what_it_was_made_from_whatever_the_names(archive: str, name: str, offset: int, size: int) -> None:
    for where in (f"/{archive}", f"s3://{archive}"):
        for place in (Member(where, name, offset, size), Row(where, name, offset)):
            assert parsed(place.uri) == place
            assert stored_in(place.uri) == where
            assert not is_file_path(place.uri)
            assert is_remote(place.uri) == where.startswith("s3")


@given(NAMES)
def test_the_path_of_a_file_is_never_taken_for_another_form(name: str) -> None:
    path = f"/data/{name}"
    assert is_file_path(path)
    assert not is_remote(path)
    assert parsed(path) is None
    assert stored_in(path) == path
    assert local_path(path) == path


def test_names_and_endings() -> None:
    tar = Member("/d/a#b.tar", "cats/c#1.JPG", 512, 3).uri
    assert tar == "tar:512+3:/d/a%23b.tar#cats/c#1.JPG"
    assert (name_of(tar), ending(tar)) == ("c#1.JPG", ".jpg")
    assert ending("https://host/a.png?signature=x.y") == ".png"
    assert (name_of("/d/tar:1+2:x#y.gif"), ending("/d/tar:1+2:x#y.gif")) == ("tar:1+2:x#y.gif", ".gif")
    assert Row("/d/a.parquet", "train/3", 3).uri == "parquet:3:/d/a.parquet#train/3"


def test_addresses_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", ())
    huge = f"tar:{'9' * 5000}+3:/a.tar#a.png"
    assert parsed(huge) is None
    assert isinstance(read_image(huge), Unreadable)
    assert ending("http://[half/a.png") == ".png"
    with pytest.raises(PoolError, match=r"cannot reach http://\[half/a.png \(Invalid IPv6 URL\)"):
        read_image("http://[half/a.png")


def test_an_address_of_a_local_file_is_its_path(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(png(1))
    (tmp_path / "50%25.png").write_bytes(png(2))
    assert local_path(f"file://{tmp_path}/a%20b.png") == str(tmp_path / "a b.png")
    assert local_path(f"file://{tmp_path}/50%25.png") == str(tmp_path / "50%25.png")
    assert items_of([f"file://{tmp_path}"])[1] == [str(tmp_path / "50%25.png"), str(tmp_path / "a b.png")]


def test_every_form_leads_to_the_same_bytes(tmp_path: Path) -> None:
    pictures = [png(value, side) for value, side in ((0, 4), (100, 30), (200, 7), (250, 90))]
    write_tar(tmp_path / "a#1.tar", {f"{place}.png": data for place, data in enumerate(pictures)})
    write_hugging_face(tmp_path / "b%.parquet", pictures)
    for source in ("a#1.tar", "b%.parquet"):
        uris = [str(uri) for uri in items_of([str(tmp_path / source)])[1]]
        assert [content(uri) for uri in uris] == pictures
        assert [size_of(uri) for uri in uris] == list(map(len, pictures))
        assert [fingerprint_of(uri) for uri in uris] == list(map(bytes_fingerprint, pictures))
        assert [read_image(uri).size[0] for uri in uris] == [4, 30, 7, 90]  # type: ignore[union-attr]
    (tmp_path / "c.png").write_bytes(pictures[1])
    path = str(tmp_path / "c.png")
    assert content_fingerprint(path) == (len(pictures[1]), file_fingerprint(Path(path)))
    assert content(path) == pictures[1]


def test_a_member_of_an_archive_that_has_changed_is_not_read_as_something_else(tmp_path: Path) -> None:
    archive = write_tar(tmp_path / "a.tar", {"a.png": png(1), "b.png": png(2, 64)})
    uris = [str(uri) for uri in items_of([str(archive)])[1]]
    write_tar(archive, {"new.png": png(3, 100), "a.png": png(1), "b.png": png(2, 64)})
    for uri in uris:
        with pytest.raises(OSError, match="has changed since it was pooled"):
            content(uri)
        assert "archive has changed" in read_image(uri).reason  # type: ignore[union-attr]
    archive.write_bytes(archive.read_bytes()[:700])
    with pytest.raises(OSError, match="has changed"):
        content(uris[1])
    archive.unlink()
    assert read_image(uris[0]) == Unreadable("missing file")
    assert fingerprint_of(uris[0]) == ""


def test_a_row_is_read_with_its_group_alone_and_a_changed_file_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_hugging_face(tmp_path / "a.parquet", [png(value) for value in range(12)], group=5)
    uris = [str(uri) for uri in items_of([str(path)])[1]]
    monkeypatch.setattr(parquet_rows, "SHELF", parquet_rows.Shelf())
    read: list[int] = []
    original = parquet_rows.OpenFile.column
    monkeypatch.setattr(parquet_rows.OpenFile, "column", lambda *given: (read.append(given[1]), original(*given))[1])
    assert content(uris[7]) == png(7)
    assert content(uris[5]) == png(5)
    assert read == [1]
    assert [content(uri) for uri in uris] == [png(value) for value in range(12)]
    assert read == [1, 0, 2]
    write_hugging_face(path, [png(value) for value in range(50, 55)], group=2)
    assert content(uris[3]) == png(53)
    with pytest.raises(OSError, match="fewer rows"):
        content(uris[7])
    pq.write_table(pa.table({"item": ["a"]}), path)
    with pytest.raises(OSError, match="no column of pictures"):
        content(uris[0])


def test_a_row_without_a_picture_is_unreadable(tmp_path: Path) -> None:
    pq.write_table(pa.table({"image": [png(1), None, b""]}), tmp_path / "a.parquet")
    uris = [str(uri) for uri in items_of([str(tmp_path / "a.parquet")])[1]]
    reasons = [getattr(read_image(uri), "reason", None) for uri in uris]
    assert reasons[0] is None
    assert "no picture in this row" in str(reasons[1])
    assert reasons[2] == "empty file"


STRUCT = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"image": STRUCT, "label": pa.int64()}, Columns("image.bytes", "image", True, None)),
        ({"photo": STRUCT, "id": pa.int64()}, Columns("photo.bytes", "photo", True, "id")),
        ({"left": STRUCT, "img": STRUCT}, Columns("img.bytes", "img", True, None)),
        ({"left": STRUCT, "right": STRUCT}, None),
        ({"content": pa.large_binary(), "__key__": pa.string()}, Columns("content", "content", False, "__key__")),
        ({"bytes": pa.binary(), "path": pa.string(), "item": pa.string()}, Columns("bytes", "bytes", False, "item")),
        ({"image": pa.string(), "item": pa.string()}, None),
        ({"image": pa.binary(), "id": pa.float64()}, Columns("image", "image", False, None)),
    ],
)
def test_which_columns_hold_pictures_and_ids(columns: dict[str, pa.DataType], found: Columns | None) -> None:
    assert columns_of(pa.schema(list(columns.items()))) == found


def test_local_paths_do_without_fsspec(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(1))
    write_tar(tmp_path / "a.tar", {"a.png": png(1)})
    write_hugging_face(tmp_path / "a.parquet", [png(1)])
    code = (
        "import sys; sys.modules['fsspec'] = None\n"
        "from dissensus.backends import read_image\n"
        "from dissensus.store.sources import items_of\n"
        f"uris = items_of([{str(tmp_path)!r}, {str(tmp_path / 'a.tar')!r}, {str(tmp_path / 'a.parquet')!r}])[1]\n"
        "assert [read_image(uri).size for uri in uris] == [(8, 8)] * 3\n"
        "try: items_of(['s3://bucket/photos'])\n"
        "except Exception as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert (
        done.stdout == "s3://bucket/photos is not on this machine: install fsspec (pip install 'dissensus[remote]')\n"
    )
