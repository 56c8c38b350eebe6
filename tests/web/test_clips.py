"""Clips over HTTP: whole or in parts, under a ticket, and without a word of where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pictured import ask
from served import Client, Served

from dissensus.study import Study

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
        assert reply.headers["cache-control"] == "private, max-age=86400, immutable"


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, len(DATA)),
        ("bytes=-7", len(DATA) - 7, len(DATA)),
        ("bytes=5-5", 5, 6),
        ("bytes=1000-999999", 1000, len(DATA)),
        ("bytes=0-", 0, len(DATA)),
        ("Bytes = 1 - 2", 1, 3),
    ],
)
def test_a_part_is_sent_where_one_is_asked_for(viewer: tuple[Client, str], asked: str, start: int, stop: int) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range=asked)
    assert (reply.status, reply.body) == (206, DATA[start:stop])
    assert reply.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(DATA)}"
    assert reply.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=", "bytes=-", "bytes=9-1", "lines=1-2", "x", "bytes=x-y"])
def test_what_is_no_range_is_refused(viewer: tuple[Client, str], asked: str) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range=asked)
    assert (reply.status, list(reply.json)) == (400, ["reason"])


def test_several_parts_are_sent_as_one_reply(viewer: tuple[Client, str]) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range="bytes=0-1,8-9")
    assert reply.status == 206
    assert reply.headers["content-type"].startswith("multipart/byteranges")
    assert DATA[:2] + b"\r\n" in reply.body
    assert DATA[8:10] + b"\r\n" in reply.body
    assert ada.request("GET", address, range="bytes=" + ",".join(["0-0"] * 5000)).status == 200, "nobody needs as many"


def test_a_clip_has_no_version_so_that_whoever_asks_for_one_gets_the_whole(viewer: tuple[Client, str]) -> None:
    ada, address = viewer
    for version in ('"x"', "Sun, 15 Nov 2026 09:30:00 GMT"):
        assert ada.request("GET", address, range="bytes=0-3", **{"if-range": version}).body == DATA


@pytest.mark.parametrize("asked", [f"bytes={len(DATA)}-", "bytes=5000-6000", "bytes=-0"])
def test_what_lies_beyond_the_end_is_refused(viewer: tuple[Client, str], asked: str) -> None:
    ada, address = viewer
    reply = ada.request("GET", address, range=asked)
    assert (reply.status, reply.headers["content-range"]) == (416, f"bytes */{len(DATA)}")
    assert list(reply.json) == ["reason"]


def test_a_clip_that_cannot_be_sent_is_not_there(service: Served, viewer: tuple[Client, str]) -> None:
    ada, address = viewer
    file = service.folder.parent / "pool" / "zzfile a.webm"
    for damage, said in ((lambda: file.write_bytes(b"<html>"), "cannot be read"), (file.unlink, "is gone")):
        damage()
        try:
            replies = [ada.get(address), ada.request("GET", address, range="bytes=0-3")]
        finally:
            file.write_bytes(DATA)
        for reply in replies:
            assert (reply.status, reply.json) == (404, {"reason": f"this clip {said}"})
    assert ada.get(address).body == DATA


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
