"""Masks as answers: what is kept is a map and nothing else, whatever a browser or a file says."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.errors import JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.mask import LARGEST_AREA, MOST_RUNS, Mask
from dissensus.predictions.maps import packed, unpacked
from dissensus.records import VOID, Classes, class_colours

CLASSES = Classes(names=("background", "cat", "dog", "cow"))
BODY = {"item": "a.jpg"}
MASK = Mask()
NO_RUNS: list[Any] = [[], [0], [0, True], [0.0, 1], ["0", 1], [[0, 1]], {}, "0,1"]
LABELS = arrays.arrays(
    np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.sampled_from([0, 1, 2, 3, VOID])
)


def kept(answer: Any, classes: Classes = CLASSES) -> Any:
    return MASK.kept(BODY, answer, classes)


def by_hand(labels: np.ndarray) -> list[int]:
    """Run lengths, pixel by pixel."""
    runs: list[int] = []
    for label in labels.reshape(-1).tolist():
        if runs and runs[-2] == label:
            runs[-1] += 1
        else:
            runs += [label, 1]
    return runs


def mask(labels: np.ndarray, runs: list[int] | None = None) -> dict[str, Any]:
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": by_hand(labels) if runs is None else runs}


@given(LABELS)
def test_a_mask_is_kept_as_it_is(labels: np.ndarray) -> None:
    answer = mask(labels)
    assert kept(answer) == answer
    assert json.loads(json.dumps(kept(answer))) == answer
    runs = np.array(answer["runs"]).reshape(-1, 2)
    assert np.array_equal(np.repeat(runs[:, 0], runs[:, 1]).reshape(labels.shape), labels)
    assert np.array_equal(unpacked(packed(labels), *labels.shape), labels), "the form in which maps of models lie"


@given(LABELS, st.data())
def test_neighbours_of_one_label_become_one_run(labels: np.ndarray, data: st.DataObject) -> None:
    wanted = by_hand(labels)
    torn: list[int] = []
    for label, length in np.array(wanted).reshape(-1, 2).tolist():
        first = data.draw(st.integers(0, length - 1))
        torn += ([label, first] if first else []) + [label, length - first]
    before = list(torn)
    assert kept(mask(labels, torn))["runs"] == wanted
    assert torn == before, "the answer that was given is not changed"


@given(LABELS, st.data())
def test_what_does_not_fill_the_picture_is_refused(labels: np.ndarray, data: st.DataObject) -> None:
    runs = by_hand(labels)
    place = 2 * data.draw(st.integers(0, len(runs) // 2 - 1)) + 1
    other = data.draw(st.integers(-(10**20), 10**20).filter(lambda length: length != runs[place]))
    broken = [*runs[:place], other, *runs[place + 1 :]]
    with pytest.raises(JudgementError):
        kept(mask(labels, broken))
    with pytest.raises(JudgementError):
        kept(mask(labels, runs[:-1]))
    with pytest.raises(JudgementError):
        kept(mask(labels, [*runs, 0, 0]))


@pytest.mark.parametrize("label", [4, 254, 256, -1, 10**30])
def test_a_label_that_is_no_class_is_refused(label: int) -> None:
    with pytest.raises(JudgementError):
        kept({"height": 1, "width": 2, "runs": [0, 1, label, 1]})
    assert kept({"height": 1, "width": 2, "runs": [3, 1, VOID, 1]})["runs"] == [3, 1, VOID, 1]


@pytest.mark.parametrize(
    "answer",
    [
        *("drawn", "Unfit", "", None, True, 0, [], {}, [1, 2], {"runs": [0, 1]}),
        {"height": 1, "width": 1, "runs": [0, 1], "more": 1},
        *({"height": side, "width": 1, "runs": [0, 1]} for side in (0, -1, True, 1.0, "1", None, 20_001, 10**5000)),
        *({"height": 1, "width": 1, "runs": runs} for runs in NO_RUNS),
        {"height": 1, "width": 1, "runs": [0, 2**64 + 1]},
        {"height": 1, "width": 1, "runs": [0, 2**63 - 1, 1, 2**63 - 1, 0, 3]},
        {"height": 20_000, "width": 20_000, "runs": [0, 20_000**2]},
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_nonsense_is_refused_in_one_line(answer: Any) -> None:
    with pytest.raises(JudgementError) as refused:
        kept(answer)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_large_masks_are_kept_and_larger_ones_are_not() -> None:
    side = LARGEST_AREA // 8_000
    assert kept({"height": 8_000, "width": side, "runs": [1, LARGEST_AREA]})["runs"] == [1, LARGEST_AREA]
    many = [label for number in range(MOST_RUNS) for label in (number % 2, 1)]
    assert kept({"height": 500, "width": MOST_RUNS // 500, "runs": many})["runs"] == many
    with pytest.raises(JudgementError, match="more than 300,000 runs"):
        kept({"height": 501, "width": MOST_RUNS // 500, "runs": [*many, 0, MOST_RUNS // 500]})


def test_bodies() -> None:
    assert MASK.checked({"item": "a", "again": False}, CLASSES) == {"item": "a"}
    assert MASK.checked({"item": "a", "again": True}, CLASSES) == {"item": "a", "again": True}
    assert not MASK.is_about_answers({"item": "a"})
    assert MASK.is_about_answers({"item": "a", "again": True})
    for body in ({"item": "a", "again": 1}, {"item": ""}, {"item": "a", "model": "b"}, {}):
        with pytest.raises(JudgementError):
            MASK.checked(body, CLASSES)
    with pytest.raises(JudgementError, match="at most 255 classes"):
        MASK.checked({"item": "a"}, Classes(names=tuple(f"class {n}" for n in range(256))))


def test_the_browser_is_told_colours_and_nothing_of_models() -> None:
    payload = MASK.payload({"item": "secret"}, CLASSES)
    assert "secret" not in json.dumps(payload)
    assert payload.keys() == {"ask", "colours", "unknown", "most_runs"}, "no mask to begin with"
    assert [tuple(bytes.fromhex(colour[1:])) for colour in payload["colours"]] == list(class_colours()[:4])
    assert tuple(bytes.fromhex(payload["unknown"][1:])) == class_colours()[VOID]
    assert MASK.payload({"item": "secret", "again": True}, CLASSES)["ask"] != payload["ask"]


def test_drawings_are_not_compared() -> None:
    one, other = mask(np.zeros((2, 2), np.uint8)), mask(np.ones((2, 2), np.uint8))
    assert [MASK.code(answer) for answer in (one, other, "drawn", "unfit")] == [0, 0, 0, 1]
    void, partly = ({"height": 1, "width": 4, "runs": runs} for runs in ([255, 4], [255, 3, 0, 1]))
    assert [MASK.code(answer) for answer in (void, partly)] == [1, 0]  # nothing is left to compare in the first
    assert [MASK.expected({}, word, CLASSES) for word in ("drawn", " Unfit ")] == ["drawn", "unfit"]
    for nonsense in (one, "cat", None, 1):
        with pytest.raises(JudgementError):
            MASK.expected({}, nonsense, CLASSES)


@given(LABELS)
def test_words_name_the_largest_first(labels: np.ndarray) -> None:
    words = MASK.words(mask(labels), CLASSES)
    names = {1: "cat", 2: "dog", 3: "cow", VOID: "cannot tell"}
    there = {names[label] for label in np.unique(labels).tolist() if label}
    said = [re.sub(r" (under )?\d+ %$", "", part) for part in words.split(", ")]
    assert set(said) == (there or {"only background"})
    pixels = [int((labels == label).sum()) for name in said for label in names if names[label] == name]
    assert pixels == sorted(pixels, reverse=True)


def test_words() -> None:
    labels = np.zeros((10, 20), np.uint8)
    assert MASK.words(mask(labels), CLASSES) == "only background"
    labels[:4, :17] = 1
    labels[5, :4] = 2
    assert MASK.words(mask(labels), CLASSES) == "cat 34 %, dog 2 %"
    labels[9, 19] = VOID
    large = np.repeat(np.repeat(labels, 3, 0), 3, 1)
    large[0, 0] = 3
    assert MASK.words(mask(large), CLASSES) == "cat 34 %, dog 2 %, cannot tell under 1 %, cow under 1 %"
    assert MASK.words("unfit", CLASSES) == "unfit"
    many = np.arange(6, dtype=np.uint8)[None]
    assert MASK.words(mask(many), Classes(names=tuple("abcdef"))) == "b 17 %, c 17 %, d 17 %, e 17 %, 1 more"


def test_it_is_one_of_the_kinds() -> None:
    assert isinstance(QUESTIONS["mask"], Mask)
    assert MASK.pictures(BODY, {}) == ("a.jpg",)
    assert MASK.heard({}, "unfit") == MASK.said({}, "unfit") == "unfit"
