"""Sources at addresses: in memory, and on a real web server that answers range requests."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import fsspec
import pytest

from dissensus.backends import Unreadable, read_image
from dissensus.contents import content, remote, size_of
from dissensus.contents.rows import SHELF, OpenFile
from dissensus.errors import PoolError
from dissensus.steps.presence import missing_files
from dissensus.store.sources import found_items, items_of
from dissensus.web.pictures import clean_picture
from tests.shards import png, served_folder, write_hugging_face, write_tar


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", ())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One picture of each kind of source, and manifests."""
    (tmp_path / "photos").mkdir()
    for value in range(3):
        (tmp_path / "photos" / f"{value}.png").write_bytes(png(value))
    (tmp_path / "photos" / "my cat.png").write_bytes(png(9))
    write_tar(tmp_path / "s-0.tar", {"a.png": png(10, 200), "b.png": png(11), "b.cls": b"1"})
    write_tar(tmp_path / "s-1.tar", {"c.png": png(12)})
    write_hugging_face(tmp_path / "t.parquet", [png(value) for value in range(20, 30)], group=4)
    (tmp_path / "m.csv").write_text("item,path\nx,photos/0.png\ny,photos/1.png\n")
    return tmp_path


@pytest.fixture
def memory(folder: Path) -> Iterator[str]:
    """The same files in fsspec's memory."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    for path in folder.rglob("*"):
        if path.is_file():
            files.pipe(f"/bucket/{path.relative_to(folder)}", path.read_bytes())
    yield "memory://bucket"
    files.store.clear()


def assert_same(folder: Path, address: str, source: str) -> None:
    """A source at an address has the items and the bytes that it has on this machine."""
    near, far = found_items([f"{folder}/{source}"]), found_items([f"{address}/{source}"])
    assert far.table["id"].to_pylist() == near.table["id"].to_pylist()
    assert far.ignored == near.ignored
    uris = far.table["uri"].to_pylist()
    assert [content(uri) for uri in uris] == [content(uri) for uri in near.table["uri"].to_pylist()]
    assert all("://" in uri for uri in uris)
    assert missing_files(uris) == []


@pytest.mark.parametrize(
    "source", ["photos", "photos/", "photos/*.png", "s-{0..1}.tar", "s-*.tar", "t.parquet", "m.csv", "photos/0.png"]
)
def test_every_kind_of_source_can_be_in_memory(folder: Path, memory: str, source: str) -> None:
    assert_same(folder, memory, source)


@pytest.mark.parametrize("source", ["s-{0..1}.tar", "t.parquet", "m.csv", "photos/0.png"])
def test_every_kind_of_file_can_be_on_the_web(folder: Path, source: str) -> None:
    with served_folder(folder) as (address, _):
        assert_same(folder, address, source)


def test_a_folder_on_the_web_is_read_from_its_list_of_links(folder: Path) -> None:
    with served_folder(folder / "photos") as (address, _):
        ids, uris = items_of([f"{address}/"])
        assert ids == ["0.png", "1.png", "2.png", "my cat.png"]
        assert [content(str(uri)) for uri in uris] == [png(0), png(1), png(2), png(9)]


def test_only_the_bytes_of_a_picture_travel(folder: Path) -> None:
    with served_folder(folder) as (address, asked):
        tar = [str(uri) for uri in items_of([f"{address}/s-0.tar"])[1]]
        rows = [str(uri) for uri in items_of([f"{address}/t.parquet"])[1]]
        asked.clear()
        assert content(tar[1]) == png(11)
        ((method, path, wanted),) = asked
        assert (method, path) == ("GET", "/files/s-0.tar")
        first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        assert last - first + 1 == 512 + len(png(11))
        asked.clear()
        SHELF.groups.clear()
        assert [content(uri) for uri in rows[4:8]] == [png(value) for value in range(24, 28)]
        assert all(wanted for method, _, wanted in asked if method == "GET")


def test_a_server_that_ignores_ranges_still_gives_the_right_bytes_but_has_no_archives_to_list(folder: Path) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *given: object) -> None:
            super().__init__(*given, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

        def send_header(self, keyword: str, value: str) -> None:
            if self.path != "/s-1.tar" or keyword != "Content-Length":
                super().send_header(keyword, value)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        uri = next(iter(items_of([str(folder / "s-0.tar")])[1]))
        assert content(str(uri).replace(str(folder), address)) == png(10, 200)
        with pytest.raises(PoolError, match=r"the server of .*s-1\.tar does not send parts of files: download"):
            items_of([f"{address}/s-1.tar"])
    finally:
        server.shutdown()
        server.server_close()


def test_less_than_was_asked_for_is_asked_for_again(folder: Path, memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.0, 0.0))
    files, lost = fsspec.filesystem("memory"), []
    uris = [str(uri) for uri in items_of([f"{memory}/s-0.tar"])[1]]
    original = type(files).cat_file

    def cut(*given: object, **named: object) -> bytes:
        whole = original(*given, **named)  # type: ignore[arg-type]
        lost.append(1)
        return whole[:-1] if len(lost) < 3 else whole

    with monkeypatch.context() as patched:
        patched.setattr(type(files), "cat_file", cut)
        assert content(uris[1]) == png(11)
    assert len(lost) == 3
    files.pipe("/bucket/s-0.tar", files.cat_file("/bucket/s-0.tar")[:700])
    with pytest.raises(OSError, match="has changed since it was pooled"):
        content(uris[0])


def test_a_file_is_read_in_parts_each_of_which_may_need_several_requests(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.0, 0.0))
    whole = bytes(range(256)) * 4
    fsspec.filesystem("memory").pipe("/bucket/parts", whole)
    file = remote.open_remote(f"{memory}/parts")
    original, tries = file.file.read, []

    def unlucky(size: int) -> bytes:
        tries.append(size)
        if len(tries) % 3 == 1:
            raise ConnectionResetError(104, "Connection reset by peer")
        found: bytes = original(size)
        return found[: size // 2] if len(tries) % 3 == 2 else found

    monkeypatch.setattr(file.file, "read", unlucky, raising=False)
    for start, size in ((0, 10), (900, 100), (1000, 100), (5, 0), (2000, 4)):
        file.seek(start)
        assert file.read(size) == whole[start : start + size]
        assert file.tell() == start + len(whole[start : start + size])
    assert tries == [10] * 3 + [100] * 3 + [24] * 3
    assert file.seek(-24, 2) == 1000
    assert file.read() == whole[1000:]
    monkeypatch.setattr(file.file, "read", lambda _: _reset())
    file.seek(0)
    with pytest.raises(PoolError, match=r"cannot reach memory://bucket/parts \(\[Errno 104\]"):
        file.read(1)


def test_what_is_missing_and_what_cannot_be_reached_are_told_apart(folder: Path) -> None:
    with served_folder(folder) as (address, _):
        gone = f"{address}/photos/gone.png"
        assert read_image(gone) == Unreadable("missing file")
        assert size_of(gone) == -1
        assert missing_files([gone, f"{address}/photos/0.png"]) == [gone]
        for source in ("none.tar", "none.csv", "none.parquet", "none"):
            with pytest.raises(PoolError, match=source) as refused:
                items_of([f"{address}/{source}"])
            assert "\n" not in str(refused.value)
    for uri in (f"{address}/photos/0.png", f"tar:512+10:{address}/s-0.tar#a.png"):
        with pytest.raises(PoolError, match=r"cannot reach .*: check the connection and run the command again"):
            read_image(uri)
        with pytest.raises(Exception, match="this picture cannot be read"):
            clean_picture(uri)


def test_an_address_of_an_unknown_kind_is_refused_in_one_line() -> None:
    for source, complaint in (("nothing://a/b", "Protocol not known"), ("s3://bucket/x.tar", "[Ii]nstall s3fs")):
        with pytest.raises(PoolError, match=complaint) as refused:
            items_of([source])
        assert "\n" not in str(refused.value)


def test_clips_at_an_address_are_refused(memory: str) -> None:
    fsspec.filesystem("memory").pipe("/bucket/clips/a.mp4", b"x")
    with pytest.raises(PoolError, match=r"only video clips, .* download them first"):
        items_of([f"{memory}/clips"])


def test_a_request_that_fails_once_is_repeated(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.0, 0.0))
    files, tries = fsspec.filesystem("memory"), []
    original = type(files).cat_file

    def unlucky(*given: object, **named: object) -> bytes:
        tries.append(given)
        if len(tries) < 3:
            raise ConnectionError("try again")
        return original(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(type(files), "cat_file", unlucky)
    assert content(f"{memory}/photos/1.png") == png(1)
    assert len(tries) == 3


def test_a_row_is_asked_for_again_if_the_connection_breaks_but_not_if_the_file_is_damaged(
    folder: Path, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAUSES", (0.0, 0.0))
    files = fsspec.filesystem("memory")
    data = files.cat_file("/bucket/t.parquet")
    files.pipe("/bucket/again.parquet", data)
    rows, tries = [str(uri) for uri in items_of([f"{memory}/again.parquet"])[1]], []
    original = OpenFile.column

    def unlucky(self: OpenFile, group: int) -> object:
        tries.append(group)
        if len(tries) < 3:
            raise ConnectionResetError(104, "Connection reset by peer")
        return original(self, group)

    monkeypatch.setattr(OpenFile, "column", unlucky)
    assert content(rows[5]) == png(25)
    assert tries == [1, 1, 1]
    tries[:] = []
    monkeypatch.setattr(OpenFile, "column", lambda *_: tries.append(1) or _reset())
    with pytest.raises(PoolError, match=r"cannot reach memory://bucket/again.parquet \(\[Errno 104\]"):
        content(rows[9])
    assert len(tries) == 3
    monkeypatch.setattr(OpenFile, "column", original)
    files.pipe("/bucket/damaged.parquet", data[:4] + b"\xff" * 200 + data[204:])
    read = [read_image(uri.replace("again", "damaged")) for uri in rows[:4]]
    assert any(isinstance(one, Unreadable) for one in read)
    assert len(tries) == 3


def _reset() -> None:
    raise ConnectionResetError(104, "Connection reset by peer")
