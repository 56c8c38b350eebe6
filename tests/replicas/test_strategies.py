"""The three strategies: closed forms, dry bins, permutations, and planted histograms that come back."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.replicas.keywords import filled_by_keywords, keyword_targets
from dissensus.replicas.revisions import Pool, has_converged, next_revision
from dissensus.replicas.rounding import largest_remainders
from dissensus.replicas.strategies import STRATEGIES, Candidate, Wanted, bin_of, histogram, interval_words

ORIGINALS = [(0, 10)] + [(3, 10)] * 2 + [(7, 10)] * 3 + [(10, 10)] * 4
"""Bins 0, 1, 3 and 4 with 1, 2, 3 and 4 of ten."""


def candidates(counts: list[int], start: str = "c") -> list[Candidate]:
    """So many in each of five bins, in the middle of it."""
    return [Candidate(f"{start}{one}-{n}", 2 * one + 1, 10) for one, count in enumerate(counts) for n in range(count)]


def bins_of(places) -> list[int]:
    found = Counter(bin_of(one.selected, one.votes) for one in places)
    return [found[number] for number in range(5)]


@given(st.lists(st.integers(0, 50), min_size=1).filter(any), st.integers(0, 60))
def test_largest_remainders_stay_within_one_of_the_quota(weights: list[int], total: int) -> None:
    counts = largest_remainders(weights, total)
    assert sum(counts) == total
    for weight, count in zip(weights, counts, strict=True):
        assert abs(count - Fraction(weight * total, sum(weights))) < 1


def test_largest_remainders_by_hand() -> None:
    assert largest_remainders([47, 16, 158, 120, 40, 19], 10) == [1, 0, 4, 3, 1, 1]
    assert largest_remainders([1, 1], 3) == [1, 2]
    assert largest_remainders([0, 0], 0) == [0, 0]
    with pytest.raises(ValueError, match="no weight"):
        largest_remainders([0], 1)
    with pytest.raises(ValueError, match="negative"):
        largest_remainders([-1, 2], 1)


@pytest.mark.parametrize(("selected", "votes", "expected"), [(0, 1, 0), (1, 5, 1), (3, 5, 3), (7, 10, 3), (9, 9, 4)])
def test_bins_are_closed_below(selected: int, votes: int, expected: int) -> None:
    assert bin_of(selected, votes) == expected


@given(st.integers(1, 300).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))), st.integers(1, 20))
def test_a_bin_holds_its_frequencies_exactly(count: tuple[int, int], bins: int) -> None:
    number, share = bin_of(*count, bins), Fraction(*count)
    assert Fraction(number, bins) <= share
    assert share < Fraction(number + 1, bins) or (share == 1 and number == bins - 1)


def test_matched_frequency_has_the_histogram_of_the_originals() -> None:
    filled = STRATEGIES["matched"](candidates([20] * 5), Wanted(10, ORIGINALS), (), 0)
    assert bins_of(filled.places) == [1, 2, 0, 3, 4]
    assert filled.missing == 0
    assert not any(one.is_from_higher_bin for one in filled.places)


def test_a_dry_bin_is_served_by_the_next_higher_one() -> None:
    filled = STRATEGIES["matched"](candidates([20, 0, 20, 20, 20]), Wanted(10, ORIGINALS), (), 0)
    assert bins_of(filled.places) == [1, 0, 2, 3, 4]
    moved = [one for one in filled.places if one.is_from_higher_bin]
    assert [(one.wanted, one.bin) for one in moved] == [(1, 2), (1, 2)]
    # the next higher one is dry, too; every bin serves itself first
    filled = STRATEGIES["matched"](candidates([20, 0, 0, 3, 20]), Wanted(10, ORIGINALS), (), 0)
    assert bins_of(filled.places) == [1, 0, 0, 3, 6]


def test_bins_that_are_dry_everywhere_leave_places_empty() -> None:
    filled = STRATEGIES["matched"](candidates([50, 50, 50, 0, 0]), Wanted(10, ORIGINALS), (), 0)
    assert bins_of(filled.places) == [1, 2, 0, 0, 0]
    assert filled.missing == 7
    assert "[0.6, 0.8)" in filled.reason
    nothing = STRATEGIES["matched"]([], Wanted(10, ORIGINALS), (), 0)
    assert (nothing.places, nothing.missing) == ((), 10)
    unknown = STRATEGIES["matched"](candidates([5] * 5), Wanted(10), (), 0)
    assert unknown.missing == 10
    assert "annotated" in unknown.reason
    assert interval_words(4) == "[0.8, 1]"


def test_threshold_and_top_images() -> None:
    pool = candidates([5] * 5)
    assert bins_of(STRATEGIES["threshold"](pool, Wanted(7), (), 0).places)[:3] == [0, 0, 0]
    exact = [Candidate("exactly", 7, 10), Candidate("below", 6, 10)]
    filled = STRATEGIES["threshold"](exact, Wanted(2), (), 0)
    assert [one.item for one in filled.places] == ["exactly"]
    assert (filled.missing, filled.reason) == (1, "too few candidates have a frequency of 0.7 or more")
    top = STRATEGIES["top"](pool, Wanted(7), (), 0)
    assert bins_of(top.places) == [0, 0, 0, 2, 5]
    tied = {tuple(one.item for one in STRATEGIES["top"](pool, Wanted(7), (), seed).places[5:]) for seed in range(9)}
    assert len(tied) > 1  # ties are broken by the seed


@given(
    st.sampled_from(sorted(STRATEGIES)),
    st.lists(st.integers(0, 9), min_size=5, max_size=5),
    st.integers(1, 15),
    st.randoms(use_true_random=False),
)
def test_the_order_of_candidates_does_not_matter(strategy, counts, wanted, random) -> None:
    pool = candidates(counts)
    filled = STRATEGIES[strategy](pool, Wanted(wanted, ORIGINALS), (), 1)
    random.shuffle(pool)
    assert STRATEGIES[strategy](pool, Wanted(wanted, ORIGINALS), (), 1) == filled
    assert len(filled.places) + filled.missing == wanted
    assert len({one.item for one in filled.places}) == len(filled.places)


@pytest.mark.parametrize("strategy", ["matched", "threshold"])
def test_images_of_a_bin_are_equally_likely(strategy: str) -> None:
    pool, runs = candidates([0, 0, 0, 0, 8]), 2000
    wanted = Wanted(2, [(10, 10)])
    seen = Counter(one.item for seed in range(runs) for one in STRATEGIES[strategy](pool, wanted, (), seed).places)
    expected = runs / 4
    assert sum((seen[one.item] - expected) ** 2 / expected for one in pool) < 25  # chi-squared with 7 degrees


def test_planted_histograms_of_classes_come_back() -> None:
    """Originals and candidates of 30 classes with frequencies of their own, seen by ten workers."""
    rng = np.random.default_rng(0)
    pools, truth = {}, {}
    for label in range(30):
        truth[label] = rng.beta(*rng.uniform(0.5, 4, 2), 400)
        own = [(int(one), 10) for one in rng.binomial(10, truth[label][:20])]
        pool = [Candidate(f"{label}-{n}", int(one), 10) for n, one in enumerate(rng.binomial(10, truth[label]))]
        pools[label] = Pool(pool, Wanted(10, own))
    revision = next_revision("matched", pools, None, (), 0)
    for label, filled in revision.filled.items():
        targets = largest_remainders(histogram(pools[label].wanted.originals), 10)
        assert filled.missing == 0
        wanted = Counter(one.wanted for one in filled.places)
        assert [wanted[number] for number in range(5)] == targets
    moved = [one.is_from_higher_bin for filled in revision.filled.values() for one in filled.places]
    assert np.mean(moved) < 0.02
    means = [
        (
            np.mean([one.selected / one.votes for one in revision.filled[label].places]),
            np.mean([one / of for one, of in pools[label].wanted.originals]),
        )
        for label in pools
    ]
    gaps = np.subtract(*np.transpose(means))
    assert abs(gaps.mean()) < 0.02


def test_keywords_by_largest_remainders() -> None:
    originals = ["bomber"] * 47 + ["fighter"] * 30 + ["jet"] * 23
    assert keyword_targets(originals, 10) == {"bomber": 5, "fighter": 3, "jet": 2}
    pool = [
        Candidate(f"{keyword}{number}", number % 11, 10, keyword)
        for keyword in ("bomber", "fighter", "jet", "glider")
        for number in range(60)
    ]
    for strategy in STRATEGIES:
        filled = filled_by_keywords(strategy, pool, Wanted(10, ORIGINALS), (), 0, originals)
        assert Counter(one.keyword for one in filled.places) == {"bomber": 5, "fighter": 3, "jet": 2}
    matched = filled_by_keywords("matched", pool, Wanted(10, ORIGINALS), (), 0, originals)
    assert bins_of(matched.places) == [1, 2, 0, 3, 4]  # the class has its histogram, too
    few = [one for one in pool if one.keyword != "jet"]
    short = filled_by_keywords("top", few, Wanted(10, ORIGINALS), (), 0, originals)
    assert (short.missing, short.reason) == (2, "'jet': there are too few candidates")
    assert filled_by_keywords("top", pool, Wanted(10), (), 0, []).missing == 10


@given(st.sampled_from(sorted(STRATEGIES)), st.integers(0, 20), st.data())
def test_revisions_keep_what_is_not_removed_and_converge(strategy: str, seed: int, data) -> None:
    pools = {label: Pool(candidates([6] * 5, f"{label}:"), Wanted(10, ORIGINALS)) for label in range(2)}
    revision = next_revision(strategy, pools, None, (), seed)
    removed: set[str] = set()
    for _ in range(4):
        gone = data.draw(st.sets(st.sampled_from(sorted(revision.items)), max_size=4))
        removed |= gone
        later = next_revision(strategy, pools, revision, removed, seed)
        assert later.number == revision.number + 1
        assert revision.items - gone <= later.items
        assert not later.items & removed
        assert has_converged(revision, later) == (not gone and not revision.missing)
        assert later == next_revision(strategy, pools, revision, removed, seed)
        entered = {place.item: place.revision for one in later.filled.values() for place in one.places}
        assert all((entered[item] == later.number) == (item not in revision.items) for item in entered)
        revision = later
        if revision.missing:
            return
    again = next_revision(strategy, pools, revision, removed, seed)
    assert has_converged(revision, again)
    assert not has_converged(None, again)


def test_a_kept_image_from_a_higher_bin_still_fills_the_lower_one() -> None:
    pools = {0: Pool(candidates([20, 0, 20, 20, 20]), Wanted(10, ORIGINALS))}
    first = next_revision("matched", pools, None, (), 0)
    more = {0: Pool([*candidates([20, 0, 20, 20, 20]), Candidate("late", 3, 10)], Wanted(10, ORIGINALS))}
    assert next_revision("matched", more, first, (), 0).items == first.items
