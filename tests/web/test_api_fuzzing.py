"""Requests made up from the API's own description, and answers that are none: refused in words, never a 5xx."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import CLASSES, Client, Served, ServedProcess

from dissensus.study import Study

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ITEMS = [f"picture{number:05}.png" for number in range(16)]
# more of each kind than one person may hold
QUESTIONS = [
    *({"kind": "choice", "first": ITEMS[0], "second": item, "same": True} for item in ITEMS[1:]),
    *({"kind": "pick", "item": item, "options": ["ant", "bee"]} for item in ITEMS),
    *({"kind": "slider", "first": ITEMS[1], "second": item} for item in ITEMS[2:]),
    *({"kind": kind, "item": item} for kind in ("mask", "check", "rating") for item in ITEMS),
    *({"kind": "frames", "anchor": ITEMS[2], "frame": item, "labels": ["ant"]} for item in ITEMS[3:]),
]
WRONG = {"label": "wrong", "similar": None}
WORDS = {
    "contains": ("yes", "no", "unsure", "unfit"),
    "choice": ("left", "right", "same"),
    "pick": (),
    "slider": ("unfit",),
    "rating": ("unfit",),
    "mask": ("unfit",),
    "check": (),
    "frames": (),
}
MALFORMED = {
    "no JSON": b"{" * 5,
    "half a character": b'{"answers": [{"id": "\xff"}]}',
    "escaped half a character": rb'{"answers": [{"id": "abcdefgh", "ticket": "t", "answer": 1, "comment": "\ud800"}]}',
    "half a character as a name": rb'{"\ud800": 1}',
    "NUL": rb'{"answers": [{"id": "abcdefgh", "ticket": "t", "answer": 1, "comment": "\u0000"}]}',
    "a long name": json.dumps({"x" * 900_000: 1}).encode(),
    "a number of 10,000 digits": b"9" * 10_000,
    "endless seconds": b'{"answers": [{"id": "abcdefgh", "ticket": "t", "answer": 1, "seconds": Infinity}]}',
    "more seconds than a float": b'{"answers": [{"id": "abcdefgh", "ticket": "t", "answer": 1, "seconds": 1%s}]}'
    % (b"0" * 400),
    "deep": b"[" * 500_000,
    "deep and closed": b'{"answers": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a list": b"[]",
    "nothing": b"",
    "101 answers": json.dumps({"answers": [{"id": "abcdefgh", "ticket": "t", "answer": 1}] * 101}).encode(),
}


def quick(examples: int) -> settings:
    """Settings for examples that are the same in every run; a fifth of them, but five at least, outside of CI."""
    return settings(
        max_examples=max(5, examples * min(settings().max_examples, 100) // 100),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def fuzzed(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProcess]:
    """A service with questions of all kinds."""
    root = tmp_path_factory.mktemp("fuzzed")
    shutil.copytree(small_study, root / "study")
    (root / "asked.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    Study(root / "study").ask(root / "asked.jsonl")
    with ServedProcess(root / "study") as served:
        yield served


@pytest.fixture(scope="module")
def cookies(fuzzed: Served) -> dict[str, dict[str, str]]:
    """What each kind of visitor sends along."""
    jar = {"annotator": fuzzed.add("fuzz"), "owner": fuzzed.owner, "stranger": Client(fuzzed.address)}
    return {who: dict([client.cookie.split("=", 1)] if client.cookie else []) for who, client in jar.items()}


@pytest.fixture(scope="module")
def tickets(fuzzed: Served) -> tuple[Client, dict[str, str]]:
    """A person, and a question of each kind that they hold."""
    assert fuzzed.owner.post("/api/owner/pause", {"paused": False}).status == 204  # requests above may have paused it
    person, found = fuzzed.add("careful"), dict[str, str]()
    for _ in range(200):  # the order is drawn anew for every person, so that a kind may come late
        if set(found) == set(WORDS):
            break
        for question in person.next(10):
            if found.setdefault(question["kind"], question["ticket"]) != question["ticket"]:
                said: dict[str, Any] = {"contains": "yes", "choice": "left", "pick": 0, "slider": 5, "check": []}
                said["frames"] = WRONG
                person.answer(question["ticket"], said.get(question["kind"], "unfit"))
    assert set(found) == set(WORDS)
    return person, found


@pytest.mark.parametrize("who", ["annotator", "owner", "stranger"])
def test_whatever_the_description_allows_or_forbids_is_answered_as_described(
    fuzzed: ServedProcess, cookies: dict[str, dict[str, str]], who: str
) -> None:
    schema = schemathesis.openapi.from_url(f"{fuzzed.address}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()
        doors = {name for scheme in operation.definition.raw.get("security", []) for name in scheme}
        is_open = not doors or who in doors
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode.is_positive or operation.body or operation.path_parameters:  # there is something to get wrong
                strategy = operation.as_strategy(generation_mode=mode)
                fuzz(strategy, fuzzed.address, cookies[who], is_open, is_open or mode.is_negative)
    assert fuzzed.process.poll() is None
    assert not [line for line in fuzzed.printed if "bug in dissensus" in line]


def fuzz(
    strategy: st.SearchStrategy[Any], address: str, cookies: dict[str, str], is_open: bool, may_be_other: bool
) -> None:
    """Send examples of a request; each must be answered as described, and with 401 where nothing else may be said."""

    @given(case=strategy)
    @quick(30 if is_open else 5)
    def is_answered_as_described(case: Any) -> None:
        case.headers["content-type"] = "application/json"
        response = case.call(base_url=address, cookies=cookies)
        case.validate_response(response, checks=CHECKS)
        assert may_be_other or response.status_code == 401

    is_answered_as_described()


def test_the_description_is_complete(fuzzed: Served) -> None:
    description = Client(fuzzed.address).get("/openapi.json").json
    schemes = description["components"]["securitySchemes"]
    assert {(name, one["type"], one["in"]) for name, one in schemes.items()} == {
        ("annotator", "apiKey", "cookie"),
        ("owner", "apiKey", "cookie"),
    }
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            statuses = set(operation["responses"])
            is_owners = path.startswith("/api/owner/")
            open_to_all = path in ("/api/enter", "/api/leave")
            assert operation.get("security", []) == (
                [] if open_to_all else [{"owner" if is_owners else "annotator": []}]
            )
            assert operation["summary"]
            assert operation.get("description"), path
            assert {"403"} <= statuses
            assert open_to_all or {"401", "503"} <= statuses
            assert "requestBody" not in operation or {"400", "408", "413", "422"} <= statuses, path
            assert "parameters" not in operation or "422" in statuses, path
            assert method in ("get", "post")


@pytest.mark.parametrize("path", ["/api/answers", "/api/enter", "/api/owner/annotators", "/api/owner/pause"])
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_body_is_refused_in_words(
    fuzzed: Served, cookies: dict[str, dict[str, str]], path: str, body: bytes
) -> None:
    sent = "; ".join(f"{name}={value}" for who in cookies.values() for name, value in who.items())
    headers = {"cookie": sent, "content-type": "application/json"}
    reply = Client(fuzzed.address).request("POST", path, body, **headers)
    assert reply.status in (400, 422)
    assert reply.headers["content-type"] == "application/json"
    assert list(reply.json) == ["reason"]
    assert len(reply.body) < 1000


def any_json() -> st.SearchStrategy[Any]:
    """JSON of any shape: huge numbers, no numbers, half characters and the words of other kinds."""
    words = sorted({word for words in WORDS.values() for word in words} | {"first", "second", "Yes", ""})
    plain = (
        st.none()
        | st.booleans()
        | st.integers(-3, len(CLASSES) + 3)
        | st.integers(-102, 102)
        | st.integers(-(1 << 200), 1 << 200)
        | st.floats()
        | st.sampled_from(words)
        | st.text(st.characters(), max_size=5)
        | st.just("x" * 10_000)
        | st.just("\ud800")
    )
    return st.recursive(
        plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=5
    )


@pytest.mark.parametrize("kind", WORDS)
def test_an_answer_of_any_shape_is_stored_where_it_is_one_and_refused_alone_where_not(
    tickets: tuple[Client, dict[str, str]], kind: str
) -> None:
    person, found = tickets
    numbers = itertools.count()

    @given(value=any_json())
    @quick(60)
    def heard(value: Any) -> None:
        identity = f"{kind}-{next(numbers):08}"
        answer = {"id": identity, "ticket": found[kind], "answer": value}
        reply = person.post("/api/answers", {"answers": [answer]})
        assert reply.status == 200, reply.body
        is_class = type(value) is int and value in (0, 1)
        is_one = value is None or is_class if kind == "pick" else value in WORDS[kind]
        if kind == "slider" and type(value) in (int, float):
            is_one = -100 <= value <= 100
        if kind == "rating" and type(value) in (int, float):
            is_one = 0 <= value <= 100
        if kind == "check":
            is_one = value == [] and type(value) is list
        assert (reply.json["stored"] == [identity]) == is_one
        assert [one["id"] for one in reply.json["refused"]] == ([] if is_one else [identity])
        assert len(reply.body) < 1000

    heard()


def test_good_answers_are_stored_beside_bad_ones(tickets: tuple[Client, dict[str, str]]) -> None:
    person, found = tickets
    values = ["yes", [1], {"a": {}}, 10**300, None, "no"]
    answers = [{"id": f"beside-{n}", "ticket": found["contains"], "answer": value} for n, value in enumerate(values)]
    reply = person.post("/api/answers", {"answers": answers})
    assert reply.json["stored"] == ["beside-0", "beside-5"]
    assert len(reply.json["refused"]) == 4
