"""Responses of all kinds, spelled with anything, and documents that are almost right."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import ANSWERS, Classes, Question, Response
from dissensus.store.exchange import read_responses

CLASSES = Classes(("1", "0", "Königs-Pinguin, groß"), ids=("n1", "n2", "n3"), synonyms=(("one",), ("zero",), ("king",)))
NASTY = [
    "=1+1",
    "-x",
    "'=x",
    "''@",
    "@",
    "\n",
    '"',
    ",",
    "a\r\nb",
    "cannot tell",
    "null",
    "é𝄞\u2028",
    "<b>",
    "\\",
    "/",
    "..",
]

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(NASTY)
labels = st.integers(0, 2)
names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=6).filter(
    lambda name: name.isprintable() and name.strip(".") != ""
) | st.sampled_from(["=1+1", "-x", "'=x", "''@", "@", '"', ",", "null", "é𝄞", "<b>", "\\", "Ann B."])
"""Of annotators."""
atoms = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
jsons = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


def everything(item: str) -> bool:
    return True


def whole(number: float) -> float:
    """A whole number without its decimals, as it is kept."""
    return int(number) if number == int(number) else number


two = st.lists(texts, min_size=2, max_size=2, unique=True).map(
    lambda pair: dict(zip(("first", "second"), pair, strict=True))
)


@st.composite
def ranked(draw: st.DrawFn, one: st.SearchStrategy[int]) -> dict[str, Any]:
    """Labels, best first, and an alternative."""
    chosen = draw(st.lists(one, max_size=5, unique=True))
    return {"labels": chosen, "alternative": draw(st.none() | one.filter(lambda label: label not in chosen[:1]))}


@st.composite
def questions(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[Question, Any]:
    """A question of one of these kinds and an answer to it."""
    kind = draw(st.sampled_from(kinds))
    asked = draw(st.just({}) | st.fixed_dictionaries({"ask": texts}))
    if kind == "contains":
        return Question(kind=kind, body={"item": draw(texts), "label": draw(labels)}), draw(st.sampled_from(ANSWERS))
    if kind == "choice":
        same = draw(st.sampled_from([{}, {"same": True}]))
        answer = draw(st.sampled_from(["first", "second", *same]))
        return Question(kind=kind, body={**draw(two), **asked, **same}), answer
    if kind == "slider":
        answer = draw(st.integers(-100, 100) | st.floats(-100, 100).map(whole) | st.just("unfit"))
        return Question(kind=kind, body={**draw(two), **asked}), answer
    if kind == "rating":
        answer = draw(st.integers(0, 100) | st.floats(0, 100).map(whole) | st.just("unfit"))
        return Question(kind=kind, body={"item": draw(texts), **asked}), answer
    options = draw(st.none() | st.lists(labels, min_size=2, unique=True).map(sorted))
    if options and kind == "pick" and draw(st.booleans()):
        chosen = st.lists(st.sampled_from(options), unique=True).map(sorted)
        body = {"item": draw(texts), **asked, "options": options, "several": True}
        return Question(kind=kind, body=body), draw(st.none() | st.just("unfit") | chosen)
    one = labels if options is None else st.sampled_from(options)
    answer = draw(st.none() | (ranked(one) if kind == "label" else one))
    return Question(kind=kind, body={"item": draw(texts), **asked, **({"options": options} if options else {})}), answer


@st.composite
def responses(draw: st.DrawFn, kinds: tuple[str, ...] = ("contains", "choice", "pick")) -> Response:
    question, answer = draw(questions(kinds))
    return Response(
        id=draw(texts),
        question=question,
        annotator=draw(names),
        answer=answer,
        role=draw(st.sampled_from(["asked", "control", "repeat", "training"])),
        shown=draw(
            st.dictionaries(texts, jsons, max_size=2) | st.sampled_from([{"left": "first"}, {"left": "second"}])
        ),
        seconds=draw(st.none() | st.floats(0, 1e7)),
        comment=draw(st.just("") | texts),
        ticket=draw(st.none() | texts),
        time=draw(st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)),
    )


def several(kinds: tuple[str, ...] = ("contains", "choice", "pick")) -> st.SearchStrategy[list[Response]]:
    return st.lists(responses(kinds), max_size=5, unique_by=lambda response: response.id)


def by_id(found: list[Response]) -> list[Response]:
    return sorted(found, key=lambda response: response.id)


@st.composite
def damaged(draw: st.DrawFn, document: Any) -> Any:
    """The document with one to three of its parts replaced by something else, or left out."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = None, None
        inner = document
        while isinstance(inner, (dict, list)) and inner and (holder is None or draw(st.integers(0, 5))):
            holder = inner
            key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
            inner = inner[key]
        if holder is None:
            return draw(jsons)
        if draw(st.booleans()):
            holder[key] = draw(jsons | st.sampled_from(["\ud800", 10**400, "9" * 5000]))
        else:
            del holder[key]
    return document


def read_or_refuse(path: Path, format: str | None = None) -> list[Response] | None:
    """The responses, or None where the file was refused in one line; any other error is a bug."""
    try:
        found = list(read_responses(path, CLASSES, everything, format))
    except JudgementError as error:
        refused = str(error)
    else:
        for response in found:
            Response.model_validate_json(response.model_dump_json())
        return found
    assert "\n" not in refused
    assert len(refused) < 1000
    return None
