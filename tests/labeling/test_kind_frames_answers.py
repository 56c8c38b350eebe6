"""Pairs of frames: what is asked, what is kept of the answers, and what stays hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import DissensusError, JudgementError, quoted
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.frames import MOST_LABELS
from dissensus.records import FRAME_ACCEPTS, FRAME_ANSWERS, FRAME_LABEL, FRAME_SIMILAR, Classes

CLASSES = Classes(names=("ant", "bee", "cat"), ids=("n1", "n2", "n3"), glosses=("six legs", "", ""))
FRAMES = QUESTIONS["frames"]
BODY: dict[str, Any] = {"anchor": "secret 1", "frame": "secret 2", "labels": [0, 2]}
JOINT = BODY | {"stage": 2}


def test_every_answer_is_kept_has_its_own_code_and_its_own_words() -> None:
    answers = [{"label": label, "similar": similar} for label, similar in FRAME_ANSWERS]
    for body in (BODY, JOINT):
        assert [FRAMES.kept(body, FRAMES.heard({}, one), CLASSES) for one in answers] == answers
    assert [FRAMES.code(one) for one in answers] == list(range(len(answers)))
    assert len({FRAMES.words(one, CLASSES) for one in answers}) == len(answers)
    assert FRAMES.words(answers[FRAME_ACCEPTS], CLASSES) == "similar"
    assert {answer["label"] for answer in answers} == set(FRAME_LABEL)


VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([*FRAME_LABEL, *FRAME_SIMILAR])


@given(label=VALUES, similar=VALUES)
def test_an_answer_is_kept_exactly_if_it_is_one_of_them(label: Any, similar: Any) -> None:
    answer = {"label": label, "similar": similar}
    if (label, similar) in FRAME_ANSWERS:
        assert FRAMES.kept(BODY, answer, CLASSES) == answer
    else:
        with pytest.raises(JudgementError) as problem:
            FRAMES.kept(BODY, answer, CLASSES)
        assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "",
        "similar",
        [],
        ["right", "yes"],
        {},
        0,
        True,
        {"label": "right"},
        {"label": "right", "similar": None},
        {"label": "wrong", "similar": "yes"},
        {"label": "wrong"},
        {"label": ["right"], "similar": "yes"},
        {"label": "right", "similar": {"yes": 1}},
        {"label": "right", "similar": ["motion", "blur"]},
        {"label": "right", "similar": "yes", "note": "?"},
        {"label": "right", "similar": 10**5000},
        {"label": float("nan"), "similar": "yes"},
    ],
    ids=lambda value: quoted(value)[:20],
)
def test_what_is_no_answer_is_refused_in_one_line(nonsense: Any) -> None:
    with pytest.raises(JudgementError) as problem:
        FRAMES.kept(BODY, FRAMES.heard({"first": "frame"}, nonsense), CLASSES)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 300


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"anchor": ""}, "no anchor"),
        ({"frame": 3}, "no frame"),
        ({"frame": "secret 1"}, "two different items"),
        ({"labels": []}, "list of 1 to"),
        ({"labels": None}, "list of 1 to"),
        ({"labels": 2}, "list of 1 to"),
        ({"labels": list(range(MOST_LABELS + 1))}, "list of 1 to"),
        ({"labels": [0, "ant"]}, "every class once"),
        ({"labels": [7]}, "7"),
        ({"labels": ["emu"]}, "emu"),
        ({"labels": [[0]]}, "not a class"),
        ({"names": ["turtle"]}, "1 names for 2 labels"),
        ({"names": "turtle"}, "list of names"),
        ({"names": ["turtle", " "]}, "list of names"),
        ({"names": ["turtle", "fox"], "labels": [0, "fox"]}, "not a class number"),
        ({"names": ["turtle", "fox"], "labels": [0, -1]}, "not a class number"),
        ({"stage": 1}, "must be 2"),
        ({"stage": True}, "must be 2"),
        ({"stage": "2"}, "must be 2"),
        ({"offset": 3}, "unknown field 'offset'"),
    ],
    ids=str,
)
def test_what_is_no_question_is_refused_in_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(DissensusError, match=words) as problem:
        FRAMES.checked(BODY | change, CLASSES)
    assert "\n" not in str(problem.value)


def test_labels_are_the_studys_classes_or_bring_their_names() -> None:
    assert FRAMES.checked(BODY | {"labels": ["n3", "ant"]}, CLASSES) == BODY | {"labels": [2, 0]}
    assert FRAMES.payload(BODY, CLASSES)["labels"] == [
        {"name": "ant", "gloss": "six legs"},
        {"name": "cat", "gloss": ""},
    ]
    other = BODY | {"labels": [29, 3], "names": ["turtle", "fox"]}
    assert FRAMES.checked(other, CLASSES) == other
    assert [one["name"] for one in FRAMES.payload(other, CLASSES)["labels"]] == ["turtle", "fox"]


@pytest.mark.parametrize("body", [BODY, JOINT])
def test_nothing_tells_the_anchor_from_its_neighbour(body: dict[str, Any]) -> None:
    turned = body | {"anchor": body["frame"], "frame": body["anchor"]}
    assert FRAMES.payload(body, CLASSES) == FRAMES.payload(turned, CLASSES)
    assert "secret" not in json.dumps(FRAMES.payload(body, CLASSES))
    orders = {FRAMES.pictures(body, FRAMES.chance(number, body)) for number in range(2)}
    assert orders == {("secret 1", "secret 2"), ("secret 2", "secret 1")}
    assert FRAMES.is_pictorial, "an id is no substitute for a missing picture"
    assert FRAMES.group(body) != FRAMES.group(body | {"frame": "secret 3"}), (
        "in a row, the anchor would keep coming back"
    )


def test_only_the_joint_review_is_about_answers() -> None:
    for claim in (FRAMES.is_about_answers, FRAMES.has_material):
        assert [claim(body) for body in (BODY, JOINT)] == [False, True]
    assert [FRAMES.payload(body, CLASSES)["review"] for body in (BODY, JOINT)] == [False, True]
