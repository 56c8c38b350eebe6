"""Kernels of strings: alphabets, windows, exact kernels against counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import KernelError
from dissensus.kernels.strings import (
    Alphabet,
    both_strands,
    encode,
    kitchen_sinks,
    ngram_counts,
    ngram_kernel,
    reverse_complements,
    spectrum_kernel,
)
from dissensus.kernels.strings.ngrams import window_eigenvalues, window_values

TEXTS = st.lists(st.text("ACGTNacgtn", min_size=3, max_size=14), min_size=1, max_size=4)


def windows(text: str, n: int) -> list[str]:
    found = (text[i : i + n].upper() for i in range(len(text) - n + 1))
    return [one for one in found if "N" not in one]


def by_hand(x: list[str], z: list[str], n: int, gamma: float, power: int) -> np.ndarray:
    def distance(u: str, v: str) -> int:
        return sum(a != b for a, b in zip(u, v, strict=True))

    return np.array([
        [sum(np.exp(-gamma * distance(u, v) ** power) for u in windows(a, n) for v in windows(b, n)) for b in z]
        for a in x
    ])  # fmt: skip


def all_counted(texts: list[str], n: int) -> list[str]:
    return [one for one in texts if windows(one, n)] or ["ACGTA"]


@given(x=TEXTS, z=TEXTS, n=st.integers(1, 4), gamma=st.floats(0.05, 3), power=st.sampled_from([1, 2]))
def test_the_ngram_kernel_is_the_sum_over_all_pairs(
    x: list[str], z: list[str], n: int, gamma: float, power: int
) -> None:
    x, z = all_counted(x, n), all_counted(z, n)
    assert ngram_kernel(x, z, n, gamma, power) == pytest.approx(by_hand(x, z, n, gamma, power))
    assert ngram_kernel(x, None, n, gamma, power) == pytest.approx(by_hand(x, x, n, gamma, power))


@given(x=TEXTS, z=TEXTS, n=st.integers(1, 4))
def test_the_spectrum_kernel_counts_equal_ngrams(x: list[str], z: list[str], n: int) -> None:
    x, z = all_counted(x, n), all_counted(z, n)
    counts = [[Counter(windows(one, n)) for one in side] for side in (x, z)]
    expected = [[sum(a[word] * b[word] for word in a) for b in counts[1]] for a in counts[0]]
    assert spectrum_kernel(x, z, n).tolist() == expected
    assert ngram_kernel(x, z, n, gamma=50.0) == pytest.approx(np.array(expected, float), abs=1e-12)
    dense = ngram_counts(x, n) @ ngram_counts(z, n).T
    assert dense.tolist() == expected


def test_counts_are_in_alphabetical_order() -> None:
    words = ["".join(word) for word in product("ACGT", repeat=2)]
    assert [words[i] for i in np.flatnonzero(ngram_counts(["CAGT"], 2)[0])] == ["AG", "CA", "GT"]


def test_order_of_strings_and_names_of_letters_do_not_matter() -> None:
    random = np.random.default_rng(0)
    texts = ["".join(random.choice(list("ACGT"), random.integers(9, 30))) for _ in range(6)]
    order = random.permutation(6)
    known = ngram_kernel(texts, n=5, gamma=0.7)
    assert ngram_kernel([texts[i] for i in order], n=5, gamma=0.7) == pytest.approx(known[np.ix_(order, order)])
    renamed = [text.translate(str.maketrans("ACGT", "wzαx")) for text in texts]
    assert ngram_kernel(renamed, n=5, gamma=0.7, alphabet="αwxz") == pytest.approx(known)
    backwards = [text[::-1] for text in texts]
    assert ngram_kernel(backwards, n=5, gamma=0.7) == pytest.approx(known)


@pytest.mark.parametrize(("n", "letters", "gamma", "power"), [(3, 4, 0.3, 1), (3, 4, 0.3, 2), (4, 2, 0.8, 2)])
def test_eigenvalues_are_those_of_the_kernel_of_all_ngrams(n: int, letters: int, gamma: float, power: int) -> None:
    alphabet = "ABCD"[:letters]
    words = ["".join(word) for word in product(alphabet, repeat=n)]
    expected = np.linalg.eigvalsh(ngram_kernel(words, n=n, gamma=gamma, power=power, alphabet=alphabet))
    found = window_eigenvalues(n, letters, window_values(n, gamma, power))
    assert {float(one) for one in np.round(expected, 8)} <= {float(one) for one in np.round(found, 8)}


def test_the_printed_kernel_is_not_positive_semidefinite() -> None:
    """So no features can have it, whatever their number: two windows of two letters are enough to see it."""
    matrix = ngram_kernel(["AA", "AC", "CA", "CC"], n=2, gamma=0.3, power=2)
    weights = np.array([1, -1, -1, 1])
    assert weights @ matrix @ weights == pytest.approx(4 * (1 - 2 * np.exp(-0.3) + np.exp(-1.2)))
    assert weights @ matrix @ weights < -0.5
    assert window_eigenvalues(8, 4, window_values(8, 0.3, power=2)).min() < -1
    closed = [(1 + 3 * np.exp(-0.3)) ** (8 - j) * (1 - np.exp(-0.3)) ** j for j in range(9)]
    assert window_eigenvalues(8, 4, window_values(8, 0.3)) == pytest.approx(closed)


def test_letters_and_cases() -> None:
    assert encode(["acgtN", "RYuT"]).texts() == ["ACGTN", "NNTT"]
    assert encode(["aB"], Alphabet("cases", "aAbB")).texts() == ["aB"]
    assert encode(["MKV", "mxv"], "protein").texts() == ["MKV", "MXV"]
    strings = encode(["ACGT", "", "GG"])
    assert strings.lengths().tolist() == [4, 0, 2]
    assert strings.part(np.array([2, 0])).texts() == ["GG", "ACGT"]
    assert strings.part(slice(1, 3)).texts() == ["", "GG"]
    assert strings.part(slice(3, 3)).texts() == []


def turned(text: str) -> str:
    """The reverse complement, by a table of letters."""
    return text.upper()[::-1].translate(str.maketrans("ACGT", "TGCA"))


@given(texts=TEXTS, n=st.integers(1, 4), gamma=st.floats(0.05, 3))
def test_both_strands_are_sums_over_both(texts: list[str], n: int, gamma: float) -> None:
    texts = all_counted(texts, n)
    others = [turned(one) for one in texts]
    assert reverse_complements(encode(texts)).texts() == others
    both = both_strands(encode(texts))
    assert both.texts() == [f"{one.upper()}N{other}" for one, other in zip(texts, others, strict=True)]
    assert (ngram_counts(both, n) == ngram_counts(texts, n) + ngram_counts(others, n)).all()
    sides = [by_hand(x, z, n, gamma, 1) for x in (texts, others) for z in (texts, others)]
    assert ngram_kernel(both, n=n, gamma=gamma) == pytest.approx(sum(sides))
    features = [kitchen_sinks(one, n, 20, gamma) for one in (both, texts, others)]
    assert features[0] == pytest.approx(features[1] + features[2], abs=1e-4)


@given(texts=TEXTS, which=st.integers(0, 15), n=st.integers(1, 4))
def test_turning_any_string_around_changes_nothing_on_both_strands(texts: list[str], which: int, n: int) -> None:
    texts = all_counted(texts, n)
    some = [turned(one) if which >> place & 1 else one for place, one in enumerate(texts)]
    first, second = both_strands(encode(texts)), both_strands(encode(some))
    assert (ngram_counts(first, n) == ngram_counts(second, n)).all()
    assert ngram_kernel(first, n=n, gamma=0.5) == pytest.approx(ngram_kernel(second, n=n, gamma=0.5))
    assert kitchen_sinks(first, n, 20, 0.5) == pytest.approx(kitchen_sinks(second, n, 20, 0.5), abs=1e-4)


def test_strands_of_other_alphabets() -> None:
    assert reverse_complements(encode(["ACGUU", "TR"], "rna")).texts() == ["AACGU", "NA"]
    assert reverse_complements(encode([])).texts() == both_strands(encode([])).texts() == []
    assert both_strands(encode(["", "A"])).texts() == ["N", "ANT"]
    for alphabet in ("protein", "ACGT"):
        with pytest.raises(
            KernelError, match=f"^'{alphabet}' is an alphabet without complements: read one strand only"
        ):
            both_strands(encode(["ACG"], alphabet))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encode(["ACGT", "ACXT"]), r"^sequence 2 has 'X' at position 3, which is not a letter of dna"),
        (lambda: encode(["AC", "A😀"]), "sequence 2 has '😀' at position 2"),
        (lambda: encode("ACGT"), "put it in a list"),
        (lambda: encode(["ACGT", 5]), "sequence 2 is 5: give every sequence as text"),  # type: ignore[list-item]
        (lambda: encode(["ACGT"], "A"), "give 2 to 255 different letters"),
        (lambda: encode(["ACGT"], "ABBA"), "different letters"),
        (lambda: Alphabet("x", "abc", complements="bca"), "complements 'bca' of 'abc': give each letter one"),
        (lambda: Alphabet("x", "ab", complements="b"), "complements 'b' of 'ab': give each letter one"),
        (lambda: Alphabet("x", "ab", complements="bab"), "complements 'bab' of 'ab': give each letter one"),
        (lambda: Alphabet("x", "ab", complements="bc"), "complements 'bc' of 'ab': give each letter one"),
        (lambda: Alphabet("x", "ab", strands=2), "2 strands of 'ab': give 1, or 2 if there are complements"),
        (lambda: ngram_kernel(["ACGT", "AC", "A"], n=3), "^sequence 2 has 2 letters .and 1 more.*choose n ≤ 2"),
        (lambda: ngram_kernel(["ACNGT"], n=3), "^sequence 1 has an unknown letter in each of its n-grams of 3"),
        (lambda: ngram_kernel(["ACGT"], n=0), "n-grams of 0 letters"),
        (lambda: ngram_kernel(["ACGT"], n=2, gamma=-1), "γ = -1: give a positive number"),
        (lambda: ngram_kernel(["ACGT"], n=2, gamma=float("nan")), "γ = nan"),
        (lambda: ngram_kernel(["ACGT"], n=2, power=3), "choose 1"),
        (lambda: ngram_kernel(["ACGT"], encode(["MKV"], "protein"), n=2), "use one alphabet for both"),
        (lambda: ngram_counts(["ACGT" * 9], 9), "262,144 n-grams of 9 letters"),
        (lambda: spectrum_kernel(["ACGT" * 19], n=70), "too many to number"),
    ],
)
def test_what_cannot_be_compared_is_said_in_words(call, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        call()
