"""Dinucleotide shuffles: counts kept exactly, and every string with these counts equally likely."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dissensus.errors import KernelError
from dissensus.kernels.strings import dinucleotide_shuffles, encode
from dissensus.kernels.strings.shuffles import unchanged

DRAWS = 20_000


def all_shuffles(text: str) -> set[str]:
    pairs = Counter(pairwise(text))
    found = {text[0] + "".join(middle) + text[-1] for middle in set(permutations(text[1:-1]))}
    return {one for one in found if Counter(pairwise(one)) == pairs}


@given(texts=st.lists(st.text("ACGTN", max_size=40), min_size=1, max_size=5), copies=st.integers(1, 3))
def test_counts_and_ends_stay(texts: list[str], copies: int) -> None:
    shuffled = dinucleotide_shuffles(texts, copies, seed=1).texts()
    assert len(shuffled) == copies * len(texts)
    for number, one in enumerate(shuffled):
        original = texts[number // copies]
        assert Counter(pairwise(one)) == Counter(pairwise(original))
        assert (one[:1], one[-1:], len(one)) == (original[:1], original[-1:], len(original))


@pytest.mark.parametrize("text", ["ACACGCAGA", "AACCAGGCAT", "ACGTAGCTCA", "AABAACABCA", "CACATAGACT"])
def test_every_string_with_these_counts_is_equally_likely(text: str) -> None:
    possible = all_shuffles(text)
    found = Counter(dinucleotide_shuffles([text], DRAWS, seed=7, alphabet="ABCGT").texts())
    assert len(possible) > 3
    assert set(found) == possible
    assert chisquare([found[one] for one in sorted(possible)]).pvalue > 1e-3


def test_a_long_chain_of_letters_is_no_trap() -> None:
    """Rejection would try 2¹⁹ trees here: each letter leads back to the first one as often as to the next."""
    letters = "ACDEFGHIKLMNPQRSTVWY"
    text = "".join(letters[0] + letter for letter in letters[1:]) + letters
    shuffled = dinucleotide_shuffles([text], 50, alphabet="protein").texts()
    assert all(Counter(pairwise(one)) == Counter(pairwise(text)) for one in shuffled)
    assert len(set(shuffled)) > 25


def test_strings_with_one_order_stay_as_they_are() -> None:
    strings = encode(["AAAA", "ACGT", "ACACGCAGA", "", "A"])
    shuffled = dinucleotide_shuffles(strings, 40)
    same = unchanged(strings, shuffled).reshape(5, 40)
    assert same.all(axis=1).tolist() == [True, True, False, True, True]
    assert (shuffled.letters == dinucleotide_shuffles(strings, 40).letters).all()
    assert (shuffled.letters != dinucleotide_shuffles(strings, 40, seed=1).letters).any()


def test_most_pairs_of_long_strings_move() -> None:
    random = np.random.default_rng(0)
    text = "".join(random.choice(list("ACGT"), 2_000))
    one = dinucleotide_shuffles([text]).texts()[0]
    assert np.mean([a == b for a, b in zip(text, one, strict=True)]) < 0.35


def test_no_copies_are_refused() -> None:
    with pytest.raises(KernelError, match="0 shuffles of each sequence"):
        dinucleotide_shuffles(["ACGT"], 0)
