"""Checks of masks: what is kept of the marks, and how it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import JudgementError, quoted
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.check import ERRORS, LARGEST_SIDE, MOST_MARKS
from dissensus.records import Classes, class_colours

CLASSES = Classes(names=("background", "cat", "dog"))
CHECK = QUESTIONS["check"]
BODY = {"item": "secret.jpg"}
PLACES = st.integers(0, LARGEST_SIDE - 1)
MARKS = st.lists(st.fixed_dictionaries({"x": PLACES, "y": PLACES, "kind": st.sampled_from(sorted(ERRORS))}))


@given(marks=MARKS)
def test_marks_are_kept_as_they_were_placed(marks: list[dict[str, Any]]) -> None:
    kept = CHECK.kept(BODY, CHECK.heard({"mask": "id"}, marks), CLASSES)
    assert kept == marks == json.loads(json.dumps(CHECK.said({}, kept)))
    assert CHECK.code(kept) == (1 if marks else 0)
    words = CHECK.words(kept, CLASSES)
    assert words.startswith(f"{len(marks)} error" if marks else "nothing wrong")
    assert all((kind in words) == any(mark["kind"] == kind for mark in marks) for kind in ERRORS)


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "",
        "[]",
        {},
        0,
        True,
        [None],
        [[]],
        [{}],
        [{"x": 1, "y": 1}],
        [{"x": 1, "y": 1, "kind": "extra", "note": "?"}],
        [{"x": 1, "y": 1, "kind": "ugly"}],
        [{"x": 1, "y": 1, "kind": ["extra"]}],
        [{"x": 1.5, "y": 1, "kind": "extra"}],
        [{"x": True, "y": 1, "kind": "extra"}],
        [{"x": -1, "y": 1, "kind": "extra"}],
        [{"x": 1, "y": 10**5000, "kind": "extra"}],
        [{"x": 1, "y": float("nan"), "kind": "extra"}],
        [{"x": 1, "y": 1, "kind": "extra"}] * (MOST_MARKS + 1),
    ],
    ids=lambda value: quoted(value)[:20],
)
def test_what_is_no_list_of_marks_is_refused(nonsense: Any) -> None:
    with pytest.raises(JudgementError):
        CHECK.kept(BODY, CHECK.heard({}, nonsense), CLASSES)


def test_the_most_marks_are_taken() -> None:
    assert len(CHECK.kept(BODY, [{"x": 1, "y": 1, "kind": "extra"}] * MOST_MARKS, CLASSES)) == MOST_MARKS


@pytest.mark.parametrize(
    "body", [{}, {"item": ""}, {"item": 3}, {"item": "a", "again": True}, {"item": "a", "label": 1}]
)
def test_what_is_no_question_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(JudgementError):
        CHECK.checked(body, CLASSES)


def test_the_browser_gets_colours_and_nothing_of_the_item() -> None:
    payload = CHECK.payload(CHECK.checked(BODY, CLASSES), CLASSES)
    assert [tuple(bytes.fromhex(colour[1:])) for colour in payload["colours"]] == list(class_colours()[:3])
    assert "secret" not in json.dumps(payload)
    assert "0123" not in json.dumps(payload)
    assert CHECK.pictures(BODY, {}) == ("secret.jpg",)
    assert CHECK.is_about_answers(BODY)
