"""Requests that no browser sends: other people's files, too much, too slow, from another site."""

from __future__ import annotations

import json
import resource
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from served import Client, Reply, Served, ServedProcess, answer_to, make_study
from worded_pictures import huge_png

from dissensus.study import Study
from dissensus.web import guard, running

JSON = {"content-type": "application/json"}
ASCENTS = (
    *("../app.py", "..%2fapp.py", "%2e%2e/app.py", "%2e%2e%2fapp.py", "%252e%252e/app.py", "..%5capp.py", r"..\app.py"),
    *("kinds/../../app.py", "/etc/passwd", "%2fetc%2fpasswd", "....//app.py", "..;/app.py", "%c0%ae%c0%ae/app.py"),
    *(
        "annotate.js%00.png",
        "%00",
        "a%00/b.js",
        "kinds",
        "kinds/",
        "",
        ".",
        "..",
        "~root/x.js",
        "C:%5cx.js",
        "a" * 9000 + ".js",
    ),
)
PROMISES = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture(scope="module")
def shared(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile") / "study"
    shutil.copytree(small_study, folder)
    with Served(folder) as served:
        yield served


@pytest.fixture(scope="module")
def token(shared: Served) -> str:
    return str(shared.add("ada").token)


@pytest.fixture
def ada(shared: Served, token: str) -> Client:
    return Client(shared.address, token)


def raw(served: Served, *parts: bytes, pause: float = 0.0, wait: float = 60.0) -> bytes:
    """What comes back for bytes that are sent as they are; the first part of it, where it does not end."""
    where = urlsplit(served.address)
    with socket.create_connection((where.hostname, where.port), timeout=wait) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
        except OSError:
            pass  # it was refused before it was over
        try:
            return connection.recv(1 << 16)
        except ConnectionResetError:
            return b""


def seconds_until_closed(served: Served, sent: bytes, drip: float | None = None) -> float:
    """How long a connection is kept after some bytes; with `drip`, one more is sent every so many seconds."""
    where, began = urlsplit(served.address), time.monotonic()
    with socket.create_connection((where.hostname, where.port), timeout=drip or 60) as connection:
        with suppress(ConnectionError):  # closed before all of it was sent
            connection.sendall(sent)
        while True:
            try:
                if not connection.recv(1 << 16):
                    return time.monotonic() - began
            except TimeoutError:
                assert drip is not None, "it is still open"
                connection.sendall(b" ")
            except OSError:
                return time.monotonic() - began


def test_idle_connections_do_not_lock_others_out(
    study_folder: Path, serve_process: Callable[..., ServedProcess]
) -> None:
    service = serve_process(study_folder)
    ada = service.add("ada")
    resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (64, 64))
    where = urlsplit(service.address)
    with ExitStack() as idle:
        for _ in range(200):
            idle.enter_context(socket.create_connection((where.hostname, where.port), timeout=60))
        began = time.monotonic()
        assert Client(service.address).get("/").status == 200
        assert ada.answer_next(), "her connection was in use, and those that never asked anything go first"
        assert ada.get(ada.next()[0]["images"][0]).status == 200
        assert time.monotonic() - began < 10
        time.sleep(3)  # it looks for changes every second
    assert service.stop() == 0
    log = "".join(service.printed)
    assert "Traceback" not in log, log
    assert "Too many open files" not in log, log


def keeps_its_promises(reply: Reply) -> None:
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    for part in ("script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert {name: reply.headers.get(name) for name in PROMISES} == PROMISES
    assert "server" not in reply.headers
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("path", ASCENTS, ids=lambda path: path[:20] or "nothing")
def test_no_path_leads_out_of_the_pages(shared: Served, ada: Client, path: str) -> None:
    for folder in ("/static/", "/static/kinds/", "/image/", "/api/owner/download/", "/"):
        for client in (ada, shared.owner):
            if folder + path in ("/", "/static/annotate.js"):
                continue
            reply = client.get(folder + path)
            assert reply.status in (401, 404, 422), folder
            assert reply.headers["content-type"] == "application/json"
            assert list(reply.json) == ["reason"]
            keeps_its_promises(reply)


def test_every_response_keeps_its_promises(shared: Served, ada: Client) -> None:
    question = ada.next()[0]
    owner, stranger = shared.owner, Client(shared.address)
    replies = {
        "page": stranger.get("/"),
        "dashboard": stranger.get("/owner"),
        "script": stranger.get("/static/annotate.js"),
        "description": stranger.get("/openapi.json"),
        "closed": stranger.get("/api/me"),
        "me": ada.get("/api/me"),
        "next": ada.get("/api/next?ahead=1"),
        "next, the long way": ada.get("/api/next?ahead=01"),
        "invalid": ada.get("/api/next?ahead=0"),
        "picture": ada.get(question["images"][0]),
        "no picture": ada.get("/image/unknown/0"),
        "classes": ada.get("/api/classes"),
        "answer": ada.post("/api/answers", {"answers": [answer_to(question["ticket"])]}),
        "summary": owner.get("/api/owner/summary"),
        "download": owner.get("/api/owner/download/answers.csv"),
        "nothing": stranger.get("/nothing"),
        "method": stranger.request("PUT", "/api/me", b"{}", **JSON),
        "foreign": stranger.request("POST", "/api/enter", b"{}"),
    }
    for reply in replies.values():
        keeps_its_promises(reply)
    cached = {name: reply.headers["cache-control"] for name, reply in replies.items()}
    assert cached.pop("picture") == "private, max-age=86400, immutable"
    assert cached.pop("classes").startswith("private")
    assert [cached.pop(name) for name in ("page", "dashboard", "script")] == ["no-cache"] * 3
    assert set(cached.values()) == {"no-store"}
    for reply in (replies["picture"], replies["next"], replies["me"]):
        assert not {"etag", "last-modified", "content-disposition"} & set(reply.headers)


def test_what_is_no_http_is_refused_with_the_same_headers(shared: Served) -> None:
    for nonsense in (
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
    ):
        reply = raw(shared, nonsense)
        assert reply.startswith(b"HTTP/1.1 400")
        assert b"content-security-policy: default-src 'none'" in reply
        assert b"\r\nserver:" not in reply.lower()


@pytest.mark.parametrize("path", ["/api/answers", "/api/enter", "/api/leave", "/api/owner/annotators"])
def test_a_body_that_says_it_is_too_large_is_refused_unread(shared: Served, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n"
    assert raw(shared, head.encode()).startswith(b"HTTP/1.1 413")  # though the body never comes
    most = guard.LARGEST_ANSWERS if path == "/api/answers" else guard.LARGEST_BODY
    assert Client(shared.address).post(path, "x" * most).status == 413


def test_a_body_that_does_not_say_is_refused_once_it_is_too_large(shared: Served, ada: Client) -> None:
    head = f"POST /api/answers HTTP/1.1\r\nHost: x\r\nCookie: {ada.cookie}\r\nContent-Type: application/json\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    many = guard.LARGEST_ANSWERS // 0x10000 + 4
    assert raw(shared, head.encode(), *[chunk] * many).startswith(b"HTTP/1.1 413")
    smuggled = head.replace("Transfer-Encoding", "Content-Length: 4\r\nTransfer-Encoding")
    assert raw(shared, smuggled.encode(), chunk).startswith(b"HTTP/1.1 400"), "two lengths are one too many"


def test_the_largest_body_that_is_allowed_is_read(ada: Client) -> None:
    comment = "x" * 1990
    answers = [answer_to("unknown", comment=comment) for _ in range(100)]
    assert len(ada.post("/api/answers", {"answers": answers}).json["refused"]) == 100


@pytest.mark.parametrize("head", [b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", b"GET / HTTP/1.1\r\n"])
def test_an_endless_head_is_refused(shared: Served, head: bytes) -> None:
    filling = (b"X-A: " + b"a" * 1000 + b"\r\n") * 70 if head.endswith(b"\n") else b"a" * 70_000
    # not a byte more than it takes: whatever is sent after the connection is closed destroys the reply
    assert raw(shared, (head + filling)[: running.LARGEST_HEAD + 1]).startswith(b"HTTP/1.1 431")
    assert seconds_until_closed(shared, head + filling * 30) < 5, "it does not wait for the rest"
    assert Client(shared.address).get("/").status == 200


def test_a_long_head_is_read_up_to_its_bound(shared: Served) -> None:
    client = Client(shared.address)
    assert client.request("GET", "/", None, **{"x-long": "a" * (running.LARGEST_HEAD // 2)}).status == 200
    assert client.get(f"/{'a' * (running.LARGEST_HEAD // 2)}").status == 404


def test_those_who_do_not_end_their_request_are_let_go(
    serve: Callable[..., Served], study_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 1.0)
    hasty = serve(study_folder)
    assert raw(hasty, wait=20).startswith(b"HTTP/1.1 408"), "it said nothing at all"
    assert raw(hasty, b"GET / HTTP/1.1\r\nHost:", wait=20).startswith(b"HTTP/1.1 408")
    head = b"POST /api/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    assert raw(hasty, head, wait=20).startswith(b"HTTP/1.1 408"), "it sent less than it said"
    too_large = head.replace(b"500", b"999999999")
    for body in (head, too_large):
        assert seconds_until_closed(hasty, body) < 5, "the connection is not kept for another request"
    monkeypatch.setattr(running, "LONGEST", 3.0)
    assert 2.5 < seconds_until_closed(hasty, head, drip=0.3) < 8, "nor for one that sends a byte now and then"
    ada = hasty.add("ada")
    time.sleep(1.5)
    assert ada.answer_next(), "whoever says nothing between two requests is not let go by this"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"content-type": "application/json; charset=utf-8"}, 401),
        ({"content-type": "text/plain"}, 403),
        ({"content-type": "text/plain; application/json"}, 403),
        ({"content-type": "application/x-www-form-urlencoded"}, 403),
        ({"content-type": "multipart/form-data; boundary=x"}, 403),
        ({"content-type": ""}, 403),
        ({"sec-fetch-site": "same-origin"}, 401),
        ({"sec-fetch-site": "none"}, 401),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "OWN"}, 401),
        ({"origin": "OWN.evil.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
    ],
)
def test_changes_come_from_our_own_pages_only(shared: Served, headers: dict[str, str], status: int) -> None:
    sent = JSON | {name: value.replace("OWN", shared.address) for name, value in headers.items()}
    assert (
        Client(shared.address).request("POST", "/api/enter", json.dumps({"token": "x"}).encode(), **sent).status
        == status
    )


def test_other_sites_get_nothing_but_links_work(shared: Served, ada: Client) -> None:
    foreign = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    for path in ("/api/me", "/api/next", "/static/annotate.js", ada.next()[0]["images"][0]):
        assert ada.request("GET", path, None, **foreign).status == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert ada.request("GET", "/", None, **link).status == 200


def test_a_foreign_name_for_this_host_opens_nothing(shared: Served) -> None:
    rebound = {"host": "evil.example", "origin": "http://evil.example", "sec-fetch-site": "same-origin"}
    visitor = Client(shared.address)
    assert visitor.request("GET", "/api/me", None, **rebound).status == 401
    assert visitor.request("POST", "/api/enter", b'{"token": "guess"}', **JSON, **rebound).status == 401


@pytest.mark.parametrize("host", ["[", "a[b", "x" * 5000, "a b", "é", "", "@", "a:b:c", "127.0.0.1:99999999"])
def test_a_host_that_is_none_does_no_harm(shared: Served, host: str) -> None:
    body = json.dumps({"token": shared.owner_token}).encode()
    reply = Client(shared.address).request("POST", "/api/enter", body, **JSON, host=host)
    assert reply.status in (200, 400)
    cookie = reply.headers.get("set-cookie", "").partition(";")[0]
    body = json.dumps({"name": f"host {hash(host)}"}).encode()
    assert Client(shared.address).request(
        "POST", "/api/owner/annotators", body, **JSON, host=host, cookie=cookie
    ).status in (200, 400, 401)


def test_pictures_that_vanish_or_turn_into_something_else_are_refused_in_words(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    study = make_study(tmp_path, items=30)
    ada = serve(study.folder.root).add("ada")
    by_item = {item_of(study, question["ticket"]): question for question in ada.next(10)}
    seen, gone, page, bomb = list(by_item.values())[:4]
    assert ada.get(seen["images"][0]).headers["content-type"] == "image/png"
    for picture in (tmp_path / "pictures").iterdir():
        picture.unlink()
    refused_in_words(ada.get(gone["images"][0]), "this picture is gone")
    for number in range(30):
        (tmp_path / "pictures" / f"picture{number:05}.png").write_bytes(b"<!doctype html><script>alert(1)</script>")
    refused_in_words(ada.get(page["images"][0]), "this picture cannot be read")
    for picture in (tmp_path / "pictures").iterdir():
        picture.write_bytes(huge_png())
    refused_in_words(ada.get(bomb["images"][0]), "this picture is too large to show")
    assert ada.get(seen["images"][0]).status == 200, "somebody else may look at it this minute"


def item_of(study: Study, ticket: str) -> str:
    with study._database.reading() as connection:
        found = connection.exec_driver_sql("SELECT question FROM assignments WHERE ticket = ?", (ticket,))
        return str(json.loads(found.scalar_one())["item"])


def refused_in_words(reply: Reply, reason: str) -> None:
    assert (reply.status, reply.headers["content-type"], reply.json) == (404, "application/json", {"reason": reason})
