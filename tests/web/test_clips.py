"""Clips over HTTP: whole or in parts, under a ticket, and without a word of where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictured import ask
from served import Client, Served

from dissensus.study import Study
from dissensus.web.clips import span_of

DATA = b"\x1aE\xdf\xa3" + bytes(range(256)) * 4


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A pair of files that begin like clips; nobody plays them here."""
    root = tmp_path_factory.mktemp("zzclips")
    (root / "pool").mkdir()
    (root / "pool" / "zzfile a.webm").write_bytes(DATA)
    (root / "pool" / "zzfile b.MOV").write_bytes(b"\0\0\0\x14ftypqt  " + DATA)
    made = Study.init(root / "study", classes="imagenet")
    made.pool([root / "pool"])
    ask(made, [{"kind": "slider", "first": "zzfile a.webm", "second": "zzfile b.MOV"}])
    with Served(made.folder.root, "--answers", "9") as served:
        yield served


@pytest.fixture(scope="module")
def viewer(service: Served) -> tuple[Client, str]:
    """A person, and where they find the WebM clip."""
    ada = service.add("ada")
    (question,) = ada.next()
    (address,) = [path for path in question["images"] if ada.get(path).headers["content-type"] == "video/webm"]
    return ada, address


def test_a_clip_says_what_it_is_and_nothing_else(viewer: tuple[Client, str]) -> None:
    ada, address = viewer
    (question,) = ada.next()
    assert all(path.startswith(f"/video/{question['ticket']}/") for path in question["images"])
    assert "zzfile" not in str(question)
    replies = [ada.get(path) for path in question["images"]]
    assert {reply.headers["content-type"] for reply in replies} == {"video/webm", "video/quicktime"}
    whole = ada.get(address)
    assert (whole.status, whole.body) == (200, DATA)
    assert whole.headers["accept-ranges"] == "bytes"
    for reply in replies:
        assert not {"etag", "last-modified", "content-disposition"} & set(reply.headers)
        assert "media-src 'self' blob:" in reply.headers["content-security-policy"]
        assert "zz" not in str(reply.headers)


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, len(DATA)),
        ("bytes=-7", len(DATA) - 7, len(DATA)),
        ("bytes=5-5", 5, 6),
        ("bytes=1000-999999", 1000, len(DATA)),
        ("Bytes = 1 - 2", 1, 3),
    ],
)
def test_a_part_is_sent_where_one_is_asked_for(viewer: tuple[Client, str], asked: str, start: int, stop: int) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range=asked)
    assert (reply.status, reply.body) == (206, DATA[start:stop])
    assert reply.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(DATA)}"
    assert reply.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=0-1,4-5", "bytes=", "bytes=-", "bytes=9-1", "lines=1-2", "x", "bytes=0-"])
def test_what_is_no_range_is_passed_over(viewer: tuple[Client, str], asked: str) -> None:
    ada, address = viewer
    assert ada.request("GET", address, range=asked).body == DATA
    assert ada.request("GET", address, range=asked, **{"if-range": '"x"'}).status == 200
    assert ada.request("GET", address, range="bytes=0-3", **{"if-range": '"x"'}).status == 200


@pytest.mark.parametrize("asked", [f"bytes={len(DATA)}-", "bytes=5000-6000", "bytes=-0"])
def test_what_lies_beyond_the_end_is_refused(viewer: tuple[Client, str], asked: str) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range=asked)
    assert (reply.status, reply.headers["content-range"]) == (416, f"bytes */{len(DATA)}")
    assert list(reply.json) == ["reason"]


@given(st.integers(1, 50), st.integers(0, 60), st.none() | st.integers(0, 60))
def test_every_range_is_what_python_cuts(size: int, first: int, last: int | None) -> None:
    data = bytes(size)
    span = span_of(f"bytes={first}-{'' if last is None else last}", size)
    if last is not None and last < first:
        assert span == (0, size)
    elif first >= size:
        assert span is None
    else:
        assert span is not None
        assert data[span[0] : span[1]] == data[first : None if last is None else last + 1]
        assert span[1] <= size


def test_clips_are_for_those_who_were_asked(service: Served, viewer: tuple[Client, str]) -> None:
    ada, address = viewer
    assert Client(service.address).get(address).status == 401
    assert service.owner.get(address).status == 401
    assert service.add("ben").get(address).status == 404
    assert ada.get(address[:-1] + "7").status == 404
    assert ada.get(address.replace("/video/", "/image/")).status == 404, "it is no picture"


def test_a_folder_of_clips_is_a_pool_and_one_among_photographs_is_not(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "film.mp4").write_bytes(b"film")
    made = Study.init(tmp_path / "study", classes="imagenet")
    made.pool([tmp_path / "pool"])
    assert made.items() == ["film.mp4"]
    (tmp_path / "pool" / "photo.png").write_bytes(b"photo")
    made.pool([tmp_path / "pool"])
    assert made.items() == ["photo.png"]
