"""Who may do what: tokens, cookies, the owner's routes, and other people's questions."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Client, Served, ServedProcess, answer_to, eventually

from dissensus.study import Study
from dissensus.web import doors as doors_module
from dissensus.web.app import Service

JSON = {"content-type": "application/json"}
HOSTILE = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def shared(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that several tests only ask."""
    folder = tmp_path_factory.mktemp("shared") / "study"
    shutil.copytree(small_study, folder)
    with Served(folder) as served:
        yield served


@pytest.fixture(scope="module")
def token(shared: Served) -> str:
    return str(shared.add("ada").token)


@pytest.fixture
def ada(shared: Served, token: str) -> Client:
    return Client(shared.address, token)


def routes(client: Client, part: str) -> list[tuple[str, str]]:
    """Method and address of every route that the API describes below a path, with something for its parameters."""
    paths = client.get("/openapi.json").json["paths"]
    filled = {
        path: re.sub(r"{number}", "0", path.replace("{name}", "ada").replace("{file}", "answers.csv")) for path in paths
    }
    return [
        (method.upper(), filled[path].replace("{ticket}", "abc"))
        for path, methods in paths.items()
        for method in methods
        if part in path and path not in ("/api/enter", "/api/leave")
    ]


def changed(token: str) -> list[str]:
    """Tokens that are nearly right."""
    flipped = [
        token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :] for place in (0, 10, len(token) - 1)
    ]
    return [
        "",
        token[:-1],
        token[1:],
        token + "A",
        token.swapcase(),
        f" {token}",
        *flipped,
        "wrong",
        "x" * 200,
        "é",
        "'; --",
    ]


def test_only_the_whole_right_token_opens(shared: Served, ada: Client) -> None:
    stranger = Client(shared.address)
    for token in [*changed(ada.token or ""), *changed(shared.owner_token)]:
        reply = stranger.post("/api/enter", {"token": token})
        assert (reply.status, "set-cookie" in reply.headers) == (401, False), token
    name = ada.cookie.partition("=")[0]
    for token in changed(ada.token or ""):
        stranger.cookie = f"{name}={token}".encode("ascii", "replace").decode()
        assert stranger.get("/api/me").status in ((401, 200) if token.strip() == ada.token else (401,)), token


def test_the_comparison_that_takes_the_same_time_is_what_decides(
    small_study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[Any, Any]] = []

    def refuse(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return False

    service = Service(Study(small_study)._backing())
    doors = service.doors
    assert doors.person_with(service.owner_token) is not None
    monkeypatch.setattr(doors_module.hmac, "compare_digest", refuse)
    assert doors.person_with(service.owner_token) is None
    assert doors.person_with("wrong") is None
    assert {len(one) for pair in compared for one in pair} == {64}, "hashes are compared, never tokens"


def test_a_revoked_link_is_worth_nothing(service: Served) -> None:
    ada = service.add("ada")
    assert ada.get("/api/me").status == 200
    assert service.owner.post("/api/owner/annotators/ada/revoke", {}).status == 204
    for method, path in routes(ada, ""):
        if not path.startswith("/api/owner"):
            assert ada.request(method, path, b"{}", **JSON).status == 401, path
    assert Client(service.address).post("/api/enter", {"token": ada.token}).status == 401


def test_a_link_that_is_revoked_beside_the_service_is_soon_worth_nothing(service: Served) -> None:
    ada = service.add("ada")
    Study(service.folder).people.revoke("ada")
    eventually(lambda: ada.get("/api/me").status == 401)


def test_another_studys_links_open_nothing(shared: Served, serve: Callable[..., Served], study_folder: Path) -> None:
    other = serve(study_folder)
    theirs = other.add("ada")
    here = Client(shared.address)
    for token in (theirs.token, other.owner_token):
        assert here.post("/api/enter", {"token": token}).status == 401
    here.cookie = theirs.cookie
    assert here.get("/api/me").status == 401
    here.cookie = other.owner.cookie
    assert here.get("/api/owner/summary").status == 401


def test_no_door_opens_to_the_others_key(shared: Served, ada: Client) -> None:
    owner = shared.owner
    own, theirs = (client.cookie.partition("=") for client in (ada, owner))
    assert own[0] != theirs[0]
    for cookie, part in (
        (f"{own[0]}={theirs[2]}", ""),
        (f"{theirs[0]}={own[2]}", "/api/owner"),
        (ada.cookie, "/api/owner"),
    ):
        visitor = Client(shared.address)
        visitor.cookie = cookie
        tried = [(method, path) for method, path in routes(visitor, part) if part or "/api/owner" not in path]
        assert tried
        for method, path in tried:
            assert visitor.request(method, path, b"{}", **JSON).status == 401, (cookie, path)


@pytest.mark.parametrize("who", ["annotator", "stranger"])
def test_every_route_of_the_owner_is_closed_to_others(shared: Served, ada: Client, who: str) -> None:
    visitor = ada if who == "annotator" else Client(shared.address)
    tried = routes(visitor, "/api/owner")
    assert len(tried) >= 6
    for method, path in tried:
        for body in (b"{}", b'{"paused": true}', b'{"name": "eve"}', b'{"is_excluded": true, "reason": "x"}'):
            assert visitor.request(method, path, body, **JSON).status == 401, path
    assert {one["name"] for one in shared.owner.get("/api/owner/summary").json["annotators"]} == {"ada"}


def test_the_owner_is_no_annotator(shared: Served) -> None:
    owner = shared.owner
    for method, path in routes(owner, ""):
        if not path.startswith("/api/owner"):
            assert owner.request(method, path, b'{"answers": []}', **JSON).status == 401, path


def test_cookies_are_out_of_reach_of_scripts_and_sites_and_secure_where_the_way_is(shared: Served, ada: Client) -> None:
    stranger = Client(shared.address)
    for token in (ada.token, shared.owner_token):
        for proto, is_secure in (("http", False), ("https", True)):
            body = json.dumps({"token": token}).encode()
            reply = stranger.request("POST", "/api/enter", body, **JSON, **{"x-forwarded-proto": proto})
            parts = reply.headers["set-cookie"].lower().split("; ")
            assert {"httponly", "samesite=strict", "path=/"} <= set(parts)
            assert ("secure" in parts) == is_secure
            assert token not in reply.body.decode()
    left = ada.post("/api/leave", {}).headers["set-cookie"]
    assert "Max-Age=0" in left


def test_links_carry_the_token_where_no_server_sees_it(shared: Served) -> None:
    reply = shared.owner.post("/api/owner/annotators", {"name": "fragment"})
    assert re.fullmatch(rf"{re.escape(shared.address)}/#[\w-]{{32}}", reply.json["link"])


def test_only_hashes_are_stored(service: Served) -> None:
    ada, owner_token = service.add("ada"), service.owner_token
    command = Study(service.folder).people.add("by-command")
    lasting = Study(service.folder).people.add("boss", is_owner=True)
    ada.answer_next()
    assert Client(service.address, lasting).get("/api/owner/summary").status == 200
    service.stop()
    stored = b"".join(file.read_bytes() for file in service.folder.rglob("*") if file.is_file())
    assert len(list(service.folder.glob("judgements.sqlite*"))) >= 1
    for token in (ada.token, owner_token, command, lasting):
        assert token is not None
        assert token.encode() not in stored
    assert doors_module.token_hash(command).encode() in stored


def test_tokens_are_never_logged(study_folder: Path, serve_process: Callable[..., ServedProcess]) -> None:
    service = serve_process(study_folder)
    ada, owner = service.add("ada"), service.owner
    question = ada.next()[0]
    for client in (ada, owner, Client(service.address)):
        for method, path in routes(client, ""):
            for body in (
                b"{}",
                b"{",
                json.dumps({"token": client.token, "answers": [], "name": client.token}).encode(),
            ):
                client.request(method, path, body, **JSON)
    for client in (ada, owner):
        client.get(f"/static/{client.token}.js")
        client.get(f"/image/{client.token}/0")
        client.post("/api/enter", {"token": f"{client.token}x", client.token: 1})
        client.post(f"/api/owner/annotators/{client.token}/revoke", {})
        client.request("BREW", f"/{client.token}", None)
    for picture in Path(service.folder.parent).rglob("*.png"):
        picture.write_bytes(b"broken")
    ada.get(question["images"][0])
    service.stop()
    log = [line for line in service.printed if "dashboard" not in line]
    for token in (ada.token, service.owner_token):
        assert token is not None
        assert not [line for line in log if token in line]


def test_a_bug_of_ours_is_told_in_one_line_and_logged_without_tokens(
    service: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken on purpose")

    monkeypatch.setattr("dissensus.web.annotating.standing", broken)
    monkeypatch.setattr("dissensus.web.replies.next_questions", broken)
    ada = service.add("ada")
    for path in ("/api/me", "/api/next?ahead=1"):
        reply = ada.get(path)
        assert reply.json == {"reason": "internal error; the service's log has the details"}
        assert (reply.status, reply.headers["x-frame-options"]) == (500, "DENY")
    assert ada.get("/api/classes").status == 200, "the next request is answered"
    service.stop()
    log = "".join(capsys.readouterr())
    assert log.count("KeyError: 'broken on purpose'") == 2
    assert str(ada.token) not in log
    assert service.owner_token not in log


def test_other_peoples_questions_can_be_neither_seen_nor_answered(service: Served) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    question = ada.next()[0]
    assert ada.get(question["images"][0]).status == 200
    for client in (ben, Client(service.address), service.owner):
        reply = client.get(question["images"][0])
        assert reply.status == (404 if client is ben else 401)
        assert reply.headers["content-type"] == "application/json"
    for address in (f"/image/{question['ticket']}/1", f"/image/{question['ticket']}x/0", "/image/unknown/0"):
        assert ada.get(address).status == 404
    given = answer_to(question["ticket"])
    heard = ben.post("/api/answers", {"answers": [given]}).json
    assert (heard["stored"], heard["refused"][0]["reason"]) == ([], "this question was not assigned to you")
    unknown = ben.post("/api/answers", {"answers": [answer_to("unknown")]}).json
    assert unknown["refused"][0]["reason"] == "this question was not assigned to you", "tickets cannot be tried out"
    assert ada.post("/api/answers", {"answers": [given]}).json["stored"] == [given["id"]]
    again = service.add("cem").post("/api/answers", {"answers": [given]}).json
    assert again["stored"] == []


def test_an_id_of_somebody_elses_answer_is_not_taken_over(service: Served) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    given = answer_to(ada.next()[0]["ticket"])
    ada.post("/api/answers", {"answers": [given]})
    heard = ben.post("/api/answers", {"answers": [given | {"ticket": ben.next()[0]["ticket"], "answer": "no"}]}).json
    assert heard["refused"] == [{"id": given["id"], "reason": "this id already belongs to another answer"}]
    (row,) = map(json.loads, service.owner.get("/api/owner/download/answers.jsonl").body.decode().splitlines())
    assert (row["annotator"], row["answer"]) == ("ada", "yes")


def test_downloads_are_whole_and_safe_for_spreadsheets(
    serve: Callable[..., Served], study_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "passing").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
    service = serve(study_folder)
    ada = service.add(HOSTILE.replace("/", "-"))
    ada.answer(ada.next()[0]["ticket"], comment=HOSTILE)
    ada.answer(ada.next()[0]["ticket"], comment="\u202e<b>,\"'\n@SUM(1)")
    owner = service.owner
    reply = owner.get("/api/owner/download/answers.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    assert reply.headers["cache-control"] == "no-store"
    rows = list(csv.reader(io.StringIO(reply.body.decode())))
    assert len(rows) == 3
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert rows[1][rows[0].index("comment")] == f"'{HOSTILE}"
    with zipfile.ZipFile(io.BytesIO(owner.get("/api/owner/download/everything.zip").body)) as archive:
        assert archive.testzip() is None
        people = archive.read("people.json").decode()
    assert "token" not in people
    assert not list((tmp_path / "passing").iterdir()), "nothing stays behind"
