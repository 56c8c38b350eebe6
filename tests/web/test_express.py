"""The short way and the long way through the service say the same."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from served import Client, Served, answer_to


def the_long_way(client: Client, body: bytes) -> dict:
    """What the application itself replies: cookies in two lines, which HTTP/1 allows, do not go the short way."""
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=60)
    connection.putrequest("POST", "/api/answers")
    for name, value in [
        ("Cookie", client.cookie),
        ("Cookie", "another=1"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
    ]:
        connection.putheader(name, value)
    connection.endheaders(body)
    reply = connection.getresponse()
    assert reply.status == 200
    return json.loads(reply.read())


def test_both_ways_give_the_same_questions(service: Served) -> None:
    ada = service.add("ada")
    short = ada.get("/api/next?ahead=3")
    for path in ("/api/next?ahead=03", "/api/next?ahead=3&unknown=1", "/api/next?ahead=%33"):
        long = ada.get(path)
        assert (long.status, long.json) == (200, short.json)
        assert {name for name in long.headers if name != "date"} == {name for name in short.headers if name != "date"}
    assert len(ada.get("/api/next").json["questions"]) == 4
    assert ada.get("/api/next?ahead=101").status == ada.get("/api/next?ahead=0").status == 422


def test_both_ways_take_answers_and_refuse_what_is_none(service: Served) -> None:
    ada = service.add("ada")
    first, second = ada.next(2)
    short = ada.post("/api/answers", {"answers": [answer_to(first["ticket"])]})
    long = the_long_way(ada, json.dumps({"answers": [answer_to(second["ticket"])]}).encode())
    assert short.json.keys() == long.keys()
    assert (short.json["answered"], long["answered"]) == (1, 2)
    assert len(long["stored"]) == 1
    for wrong in (b"", b"[]", b"{", b'{"answers": [{}]}', b'{"answers": [], "more": 1}', b'{"answers": 3}'):
        reply = ada.request("POST", "/api/answers", wrong, **{"content-type": "application/json"})
        assert reply.status == 422, (wrong, reply.body)
        assert list(reply.json) == ["reason"]


def test_strangers_go_the_long_way_to_nowhere(service: Served) -> None:
    ticket = service.add("ada").next()[0]["ticket"]
    stranger = Client(service.address)
    assert stranger.get("/api/next?ahead=1").status == 401
    assert stranger.post("/api/answers", {"answers": [answer_to(ticket)]}).status == 401
    owner = service.owner
    assert owner.get("/api/next?ahead=1").status == 401
    ben = service.add("ben")
    refused = ben.post("/api/answers", {"answers": [answer_to(ticket)]}).json
    assert refused["stored"] == []
    assert refused["refused"][0]["reason"] == "this question was not assigned to you"
