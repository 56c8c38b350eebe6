"""What a reveal question stores, and which histories cannot have happened; picks with names of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.labeling import QUESTIONS, state_of
from dissensus.labeling.kinds.base import MOST_NAMES
from dissensus.labeling.kinds.reveal import STEPS
from dissensus.records import Classes
from dissensus.reductions import revealing

CLASSES = Classes(names=("ant", "bee", "cat"))
REVEAL, PICK = QUESTIONS["reveal"], QUESTIONS["pick"]
NAMES = ["bird", "fish", "fox"]
FREE = {"item": "x.png", "reduction": "crop", "axes": ["left", "right"], "mode": "free", "names": NAMES}
GUIDED = FREE | {"mode": "guided"}


def test_both_sides_count_the_same_steps() -> None:
    assert revealing.STEPS == STEPS


def test_the_body_is_stored_as_given_and_nothing_tells_in_the_browser() -> None:
    for body in (FREE, FREE | {"scale": "even steps"}, FREE | {"ask": "Which animal?"}):
        assert REVEAL.checked(body, CLASSES) == body
    sent = json.dumps(REVEAL.payload(FREE | {"item": "secret.png"}, CLASSES))
    assert "secret" not in sent
    assert "crop" not in sent
    assert REVEAL.pictures(FREE, {}) == (), "the picture itself must not be shown"
    assert REVEAL.start(FREE) == "0-0"
    assert REVEAL.source(FREE) == "x.png"
    assert PICK.source({"item": "x.png"}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"item": ""},
        {"reduction": 3},
        {"axes": []},
        {"axes": ["left", ""]},
        {"axes": "left"},
        {"mode": "wild"},
        {"mode": ["free"]},
        {"names": ["one"]},
        {"names": ["fox", "Fox "]},
        {"names": ["fox", "cannot tell"]},
        {"names": ["fox", 3]},
        {"names": [str(n) for n in range(MOST_NAMES + 1)]},
        {"nams": NAMES},
        {"scale": ""},
        {"scale": 24},
    ],
)
def test_a_broken_body_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(JudgementError):
        REVEAL.checked(FREE | change, CLASSES)


def history(*states: list[int], name: Any = 1) -> dict[str, Any]:
    return {"name": name, "steps": [[0.5 * place, state] for place, state in enumerate(states)]}


@pytest.mark.parametrize(
    "answer",
    [
        history([0, 0]),
        history([0, 0], name=None),
        history([0, 0], [1, 0], [1, 1], [2, 2], [2, 3]),
        {"name": 0, "steps": [[0, [0, 0]], [0, [1, 1]]]},
        history([0, 0], *([n, 0] for n in range(1, 21)), [20, 1]),
    ],
)
def test_free_steps_add_along_one_axis_or_all(answer: dict[str, Any]) -> None:
    assert REVEAL.kept(FREE, answer, CLASSES) == answer
    assert REVEAL.code(answer) == (-1 if answer["name"] is None else answer["name"])


def test_all_axes_means_those_that_are_not_at_their_end() -> None:
    far = [[n, 0] for n in range(21)]
    assert REVEAL.kept(FREE, history(*far, [20, 1]), CLASSES)
    body = FREE | {"axes": ["a", "b", "c"]}
    far = [[n, 0, 0] for n in range(21)]
    assert REVEAL.kept(body, history(*far, [20, 1, 1]), CLASSES)
    with pytest.raises(JudgementError):
        REVEAL.kept(body, history([0, 0, 0], [1, 1, 0]), CLASSES)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "fox",
        {},
        {"name": 1},
        history([0, 0]) | {"more": 1},
        history([0, 0], name=3),
        history([0, 0], name=-1),
        history([0, 0], name=True),
        history([0, 0], name="fox"),
        {"name": 1, "steps": []},
        {"name": 1, "steps": [[0, [0]]]},
        {"name": 1, "steps": [[0, [0, 0.0]]]},
        {"name": 1, "steps": [[0, [0, False]]]},
        {"name": 1, "steps": [[-1, [0, 0]]]},
        {"name": 1, "steps": [[float("nan"), [0, 0]]]},
        {"name": 1, "steps": [[True, [0, 0]]]},
        {"name": 1, "steps": [[10**400, [0, 0]]]},
        {"name": 1, "steps": [[1, [0, 0]], [0.5, [0, 1]]]},
        history([1, 0]),
        history([0, 0], [0, 0]),
        history([0, 0], [2, 0]),
        history([0, 0], [1, 0], [0, 0]),
        history([0, 0], [1, 2]),
        history(*([n, n] for n in range(22))),
    ],
)
def test_what_cannot_have_happened_is_refused(answer: Any) -> None:
    with pytest.raises(JudgementError):
        REVEAL.kept(FREE, answer, CLASSES)


def test_a_guided_control_goes_both_ways_and_may_jump() -> None:
    there_and_back = history([0, 0], [1, 1], [9, 9], [8, 8], [0, 0], [20, 20])
    assert REVEAL.kept(GUIDED, there_and_back, CLASSES) == there_and_back
    for broken in (history([0, 0], [1, 0]), history([0, 0], [1, 1], [1, 1])):
        with pytest.raises(JudgementError):
            REVEAL.kept(GUIDED, broken, CLASSES)


@given(st.lists(st.integers(0, 2), max_size=50))
def test_whatever_somebody_presses_is_accepted(presses: list[int]) -> None:
    state, states = [0, 0], [[0, 0]]
    for press in presses:
        after = [min(step + 1, STEPS) if press in (axis, 2) else step for axis, step in enumerate(state)]
        if after != state:
            state = after
            states.append(state)
    assert REVEAL.kept(FREE, history(*states), CLASSES)["steps"][-1][1] == state


def test_states_in_addresses() -> None:
    assert state_of(FREE, "3-20") == (3, 20)
    for broken in ("3", "3-4-5", "3-21", "3--4", "-3-4", "x-1", "٣-1", "0003-1", ""):
        with pytest.raises(JudgementError):
            state_of(FREE, broken)


def test_known_answers_are_names() -> None:
    assert REVEAL.code(REVEAL.expected(FREE, "fish", CLASSES)) == 1
    assert REVEAL.told(FREE, REVEAL.expected(FREE, 2, CLASSES), CLASSES) == "fox"
    assert REVEAL.told(FREE, history([0, 0], name=None), CLASSES) == "gave up"
    with pytest.raises(JudgementError):
        REVEAL.expected(FREE, "whale", CLASSES)


def test_a_pick_can_bring_its_own_names() -> None:
    body = PICK.checked({"item": "x", "names": NAMES, "source": "y"}, CLASSES)
    assert body == {"item": "x", "names": NAMES, "source": "y"}
    assert PICK.source(body) == "y"
    assert PICK.payload(body, CLASSES) == {"ask": "What is it?", "names": NAMES}
    assert [PICK.kept(body, answer, CLASSES) for answer in (0, 2, None)] == [0, 2, None]
    assert PICK.code(2) == 2
    assert PICK.expected(body, "fish", CLASSES) == 1
    assert PICK.told(body, 2, CLASSES) == "fox"
    assert PICK.told(body, None, CLASSES) == "cannot tell"
    for answer in (3, -1, True, "fox", [0], "unfit"):
        with pytest.raises(JudgementError):
            PICK.kept(body, answer, CLASSES)
    for more in ({"options": [0, 1]}, {"several": True}, {"source": ""}, {"names": ["a"]}):
        with pytest.raises(JudgementError):
            PICK.checked({"item": "x", "names": NAMES} | more, CLASSES)
