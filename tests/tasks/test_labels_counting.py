"""Which rule removed how many items, and the confidence that `select` chooses: against counting one by one."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.arrays import MISSING
from dissensus.competition.select import duels_of
from dissensus.selection import enough_from
from dissensus.study import Study
from dissensus.tasks.labels.counting import Counting, Counts, confidences_counted, raised_in_words, steps_of, why_short
from dissensus.tasks.labels.settings import LADDER

MODELS = 3
DUELS = duels_of(MODELS)


def chunk_of(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    """Labels of three models, the last of which gives no confidences; some items are unreadable or not eligible."""
    labels = rng.integers(0, 3, (MODELS, size)).astype(np.uint16)
    labels[rng.random((MODELS, size)) < 0.05] = MISSING
    sure = [*rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], (MODELS - 1, size)).astype(np.float32), None]
    return list(labels), sure, rng.random((MODELS, size)) < 0.7


def loaded(chunk: tuple[Any, ...]) -> tuple[Any, ...]:
    """As `Reader.columns` gives it."""
    labels, sure, eligible = chunk
    return list(zip(labels, sure, strict=True)), eligible


def one_by_one(
    chunk: tuple[Any, ...], threshold: float, needs_list: bool
) -> tuple[set[int], dict[tuple[int, int], int]]:
    labels, sure, eligible = chunk
    items, counts = set(), dict.fromkeys(combinations(range(MODELS), 2), 0)
    for item, (one, other) in product(range(len(labels[0])), counts):
        pair = [labels[one][item], labels[other][item]]
        is_read = all(column[item] != MISSING for column in labels)
        is_sure = all(sure[m] is None or sure[m][item] >= threshold for m in (one, other))
        is_listed = not needs_list or (eligible[one, item] and eligible[other, item])
        if is_read and is_sure and is_listed and pair[0] != pair[1]:
            items.add(item)
            counts[one, other] += 1
    return items, counts


@given(seed=st.integers(0, 10_000), size=st.integers(1, 40), cut=st.integers(0, 40))
@settings(max_examples=20)
def test_counts_are_those_of_counting_one_by_one_in_any_chunks(seed: int, size: int, cut: int) -> None:
    chunk = chunk_of(np.random.default_rng(seed), size)
    counting = Counting(None, DUELS, LADDER)
    counts = counting.scan(loaded(chunk), 0, None)
    for place, threshold in enumerate(LADDER):
        every, _ = one_by_one(chunk, threshold, False)
        among, of_duels = one_by_one(chunk, threshold, True)
        assert counts.items[place].tolist() == [len(every), len(among)]
        assert counts.candidates[place].tolist() == list(of_duels.values())
    every, of_duels = one_by_one(chunk, 0, False)
    assert (counts.disagreed, counts.by_duel.tolist()) == (len(every), list(of_duels.values()))
    if 0 < cut < size:
        halves = [
            ([label[part] for label in chunk[0]], [s if s is None else s[part] for s in chunk[1]], chunk[2][:, part])
            for part in (slice(cut), slice(cut, None))
        ]
        second, first = (counting.scan(loaded(half), 0, None) for half in reversed(halves))
        merged = counting.merge(second, first)
        assert (merged.readable, merged.disagreed) == (counts.readable, counts.disagreed)
        np.testing.assert_array_equal(merged.candidates, counts.candidates)
        np.testing.assert_array_equal(merged.items, counts.items)
        np.testing.assert_array_equal(counting.restore(counting.dump(merged)).by_duel, counts.by_duel)


@pytest.mark.parametrize(
    ("candidates", "row"),
    [
        ([[5, 5, 0], [9, 9, 9]], 0),  # two of three have enough at once
        ([[5, 0, 0], [5, 5, 0], [5, 5, 5]], 1),
        ([[5, 0], [5, 4], [5, 4]], 1),  # half of the duels are not most of them, and the last row adds nothing
        ([[0, 0], [1, 0], [1, 2]], 2),
        ([[3, 3], [3, 3]], 0),  # models without confidences
        ([[0], [0]], 0),
    ],
)
def test_the_first_confidence_at_which_most_duels_have_enough(candidates: list[list[int]], row: int) -> None:
    assert enough_from(np.array(candidates), 5) == row


def test_duels_are_short_for_a_reason() -> None:
    labels = np.zeros((2, 12), np.uint16)
    labels[1, :6] = 1
    sure = [np.full(12, 0.5, np.float32), None]
    counts = Counting(None, duels_of(2), confidences_counted(0.8)).scan(loaded((list(labels), sure, None)), 0, None)
    used = {"k": 10, "confidence": 0.8, "cap": 3, "eligible": None}

    def said(filled: int, **changed: Any) -> list[str]:
        return why_short(counts, np.array([filled]), used | changed)

    assert said(0) == ["1 duel has fewer than 10 items: the models disagree on fewer."]
    assert said(0, k=5) == ["1 duel has fewer than 5 items: confidence = 0.8 leaves fewer."]
    both = "1 duel has fewer than 5 items: confidence = 0.8 and the list of what is eligible leave fewer."
    assert said(0, k=5, eligible="some.csv") == [both]
    assert said(3, k=5, confidence=0.4) == ["1 duel has fewer than 5 items: earlier rounds leave fewer."]
    assert said(5, k=5, confidence=0.4) == []
    steps = steps_of(counts, 12, 0.8, False)
    assert [(step.rule, step.left) for step in steps] == [("two models disagree", 6), ("both: confidence ≥ 0.8", 0)]
    assert [(one.setting, one.left) for one in steps[1].otherwise] == [("0.6", 0), ("0.4", 6), ("0.2", 6), ("0", 6)]


def test_duels_that_are_short_for_different_reasons_are_counted_apart() -> None:
    candidates = np.array([[9, 1, 1, 9]] * len(LADDER))
    counts = Counts(20, 20, np.zeros((len(LADDER), 2), int), candidates, np.array([9, 9, 1, 9]))
    used = {"k": 5, "confidence": 0.8, "cap": 3, "eligible": None}
    assert why_short(counts, np.array([2, 1, 1, 5]), used) == [
        "3 duels have fewer than 5 items: in 1 of them, the models disagree on fewer; in 1 of them, confidence = 0.8 "
        "leaves fewer; in 1 of them, earlier rounds leave fewer."
    ]
    assert why_short(counts, np.array([5, 1, 1, 5]), used | {"confidence": 0.0, "eligible": "some.csv"})[0].endswith(
        "in 1 of them, the list of what is eligible leaves fewer."
    )
    assert why_short(counts, np.array([2, 5, 5, 3]), used) == [
        "2 duels have fewer than 5 items: earlier rounds leave fewer."
    ]


CLASSES = [f"class {number}" for number in range(20)]


def made(root: Path, sure: float, items: int = 60) -> Study:
    """Two models that disagree on every item, one of them as sure as said."""
    study = Study.init(root, classes=CLASSES)
    study.pool(items=[f"item-{number:02}" for number in range(items)])
    first = [number % 20 for number in range(items)]
    second = [(number + 1) % 20 for number in range(items)]
    study.predict(one=(first, [0.9] * items), two=(second, [sure] * items))
    return study


@pytest.mark.parametrize(("sure", "used"), [(0.85, 0.8), (0.7, 0.6), (0.45, 0.4), (0.05, 0.0)])
def test_the_default_confidence_adapts_and_says_so(tmp_path: Path, sure: float, used: float) -> None:
    study = made(tmp_path / "study", sure)
    study.select(k=10)
    found = study.status().rounds[0]
    assert (found.settings["confidence"], found.selected, found.short) == (used, 10, 0)
    assert [f"{used:g} was used instead of 0.8" in words for words in found.words] == [True] * (used < 0.8)
    assert study.select() == 1


def test_a_confidence_that_is_set_is_obeyed(tmp_path: Path) -> None:
    study = made(tmp_path / "study", 0.45)
    from dissensus.errors import SelectionError

    with pytest.raises(SelectionError, match="--confidence"):
        study.select(k=10, confidence=0.8)
    assert study.settings.select.confidence is None  # type: ignore[attr-defined]


def test_models_that_join_are_selected_with_the_confidence_of_the_round(tmp_path: Path) -> None:
    study = made(tmp_path / "study", 0.45)
    study.select(k=10)
    labels = [(number + 2) % 20 for number in range(60)]
    study.join(three=(labels, [0.42] * 30 + [0.9] * 30))
    rounds = study.status().rounds
    assert [one.settings["confidence"] for one in rounds] == [0.4, 0.4]
    assert not any("instead" in words for words in rounds[1].words)


def test_large_pools_are_not_counted_if_every_duel_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dissensus.tasks.labels.selecting import LabelSelector

    monkeypatch.setattr(LabelSelector, "tried_up_to", 10)
    study = made(tmp_path / "full", 0.9)
    study.select(k=10)
    assert [step.rule for step in study.status().rounds[0].funnel] == ["in the pool", "selected (k 10, no cap)"]
    short = made(tmp_path / "short", 0.9)
    short.select(k=100)
    rules = [step.rule for step in short.status().rounds[0].funnel]
    assert "two models disagree" in rules
    assert not short.status().rounds[0].funnel[-1].otherwise


def test_other_settings_give_what_they_would_select(tmp_path: Path) -> None:
    study = made(tmp_path / "study", 0.9)
    study.select(k=5, cap=1)
    tried = study.status().rounds[0].funnel[-1].otherwise
    for one in tried:
        name, value = one.setting.split()
        other = made(tmp_path / f"{name}-{value}", 0.9)
        other.select(**({"k": 5, "cap": 1} | {name: int(value)}))
        assert other.status().rounds[0].selected == one.left
    assert len(tried) == 3


def test_caps_that_rose_are_said_and_others_are_not():
    used = {"k": 25, "cap": 3}
    assert raised_in_words({"duels": 2, "cap": 15}, 10, used) == [
        "In 2 of 10 duels, cap = 3 would have left fewer than 25 items, so it was raised: up to 15 items share a label."
    ]
    assert raised_in_words({"duels": 0, "cap": 3}, 10, used) == []
