from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.labeling.order import (
    draw,
    group_words,
    is_due,
    mixed,
    places,
    question_words,
    word_of,
)

SEEDS = st.integers(0, 2**63 - 1)


def order(texts: list[str], groups: list[str], seed: int) -> list[str]:
    words = group_words("contains", groups)
    return [texts[place] for place in np.argsort(places(words, question_words(words, texts), seed))]


@given(st.permutations(range(40)), SEEDS)
def test_the_order_depends_on_the_seed_and_the_questions_alone(shuffled: list[int], seed: int) -> None:
    texts, groups = [f"question {n}" for n in shuffled], [f"picture {n // 3}" for n in shuffled]
    plain = order([f"question {n}" for n in range(40)], [f"picture {n // 3}" for n in range(40)], seed)
    assert order(texts, groups, seed) == plain
    some = [n for n in shuffled if n % 2]
    assert order([f"question {n}" for n in some], [f"picture {n // 3}" for n in some], seed) == [
        text for text in plain if int(text.split()[1]) % 2
    ]


@given(SEEDS)
def test_questions_of_one_group_stand_together(seed: int) -> None:
    found = [int(text) // 4 for text in order([str(n) for n in range(80)], [str(n // 4) for n in range(80)], seed)]
    assert [found[place] for place in range(0, 80, 4)] == list(dict.fromkeys(found))


def test_orders_of_different_seeds_look_unrelated() -> None:
    texts = [str(n) for n in range(2000)]
    ranks = np.array([np.argsort([int(text) for text in order(texts, texts, seed)]) for seed in range(20)])
    correlations = np.corrcoef(ranks)[np.triu_indices(20, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(2000)
    assert 500 < ranks[:, :50].mean() < 1500


@given(SEEDS, st.integers(0, 2**64 - 1))
def test_a_single_draw_is_the_mixing_of_many(seed: int, position: int) -> None:
    stream = word_of("control", str(seed))
    assert draw(seed, "control", position) == int(mixed(np.array([position], np.uint64), stream)[0])


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5])
def test_rates_hold(rate: float) -> None:
    assert abs(sum(is_due(7, "control", n, rate) for n in range(100_000)) / 100_000 - rate) < 0.006


def test_words_of_other_texts_differ() -> None:
    assert word_of("a", "bc") != word_of("ab", "c")
    words = group_words("contains", ["x", "y", "x", "\ud800"])
    assert words[0] == words[2] == word_of("contains", "x")
    assert len(set(words.tolist())) == 3
    assert len(group_words("contains", [])) == len(question_words(group_words("pick", []), [])) == 0
