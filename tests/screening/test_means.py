"""Ratings of single items: what they say about pairs, whoever rated which of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.screening import PREFERENCES, WeightedAnswers, item_means, p910, pair_means

SEEDS = st.integers(0, 10_000)


def rated(seed: int, items: int = 7, people: int = 5, share: float = 0.5):
    """Some people's ratings of some items, with weights."""
    rng = np.random.default_rng(seed)
    question, person = np.nonzero(rng.random((items, people)) < share)
    value = rng.uniform(0, 60, items)[question] + rng.uniform(0, 40, people)[person]
    value += rng.normal(0, 5, len(question))
    return question, person, WeightedAnswers(value.clip(0, 100), rng.choice([0.0, 1.0, 2.5], len(value))), items, people


def every_pair(items: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(items, 1)
    return first, second


@given(SEEDS, st.sampled_from([0.2, 0.4, 0.8]))
def test_differences_are_those_of_least_squares_and_what_it_cannot_tell_is_not_known(seed: int, share: float) -> None:
    question, person, weighed, items, people = rated(seed, share=share)
    first, second = every_pair(items)
    found = item_means(question, person, weighed, items, people).between(first, second)
    design = np.concatenate([np.eye(items)[question], np.eye(people)[person]], axis=1)
    root = np.sqrt(weighed.weight)[:, None]
    fitted = np.linalg.lstsq(root * design, root[:, 0] * weighed.value, rcond=None)[0]
    # a difference is known if it is a combination of the rows, that is, if the rows leave nothing of it
    contrast = (np.eye(items)[second] - np.eye(items)[first]) @ np.eye(items, items + people)
    used = design[weighed.weight > 0]
    left = contrast - contrast @ np.linalg.pinv(used) @ used if len(used) else contrast
    assert found.is_known.tolist() == (np.abs(left).max(axis=1) < 1e-8).tolist()
    expected = (contrast @ fitted).clip(-100, 100)
    np.testing.assert_allclose(found.value[found.is_known], expected[found.is_known], atol=1e-7)
    assert not found.value[~found.is_known].any()
    assert not found.moved[:, ~found.is_known].any()


@given(SEEDS)
def test_if_everybody_rated_everything_it_is_the_mean_difference_within_people(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.uniform(0, 100, (6, 4))
    question, person = np.indices(table.shape).reshape(2, -1)
    first, second = every_pair(6)
    found = item_means(question, person, WeightedAnswers(table.ravel(), np.ones(24)), 6, 4).between(first, second)
    apart = table[second] - table[first]
    np.testing.assert_allclose(found.value, apart.mean(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.moved, ((apart - apart.mean(axis=1, keepdims=True)) / 4).T, atol=1e-9)


def test_a_person_who_rated_one_side_counts_beyond_their_own_leniency() -> None:
    """Ann rated 0, 1 and 2, Ben 1 and 2, ten points higher: his 60 for item 1 is as good as Ann's 50."""
    question, person = np.array([0, 1, 2, 1, 2]), np.array([0, 0, 0, 1, 1])
    value = np.array([30.0, 50.0, 70.0, 60.0, 80.0])
    found = item_means(question, person, WeightedAnswers(value, np.ones(5)), 3, 2)
    assert found.between(np.array([0]), np.array([1])).value == pytest.approx([20])
    # the plain means would say 25; his disagreement about item 2 now moves both means that he rated
    value[4] = 90.0
    found = item_means(question, person, WeightedAnswers(value, np.ones(5)), 3, 2).between(
        np.array([0, 1]), np.array([1, 2])
    )
    assert found.value == pytest.approx([17.5, 25])


def test_a_person_with_one_rating_says_nothing_and_nobody_in_common_is_not_known() -> None:
    question, person = np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 2, 2])
    found = item_means(question, person, WeightedAnswers(np.array([20.0, 50, 90, 10, 40]), np.ones(5)), 5, 3)
    pairs = found.between(np.array([0, 2, 0, 0]), np.array([1, 3, 2, 4]))
    assert pairs.is_known.tolist() == [True, True, False, False]
    np.testing.assert_allclose(pairs.value, [30, 30, 0, 0], atol=1e-9)
    np.testing.assert_allclose(pairs.moved, 0, atol=1e-9)


@given(SEEDS)
def test_nobody_rated_two_items(seed: int) -> None:
    """One rating each: leniency and quality cannot be told apart, so nothing is known."""
    rng = np.random.default_rng(seed)
    person = np.arange(6)
    found = item_means(rng.integers(0, 4, 6), person, WeightedAnswers(rng.uniform(0, 100, 6), np.ones(6)), 4, 6)
    pairs = found.between(*every_pair(4))
    assert not pairs.is_known.any()
    assert np.isfinite(found.value).all()


def test_no_ratings_at_all() -> None:
    nothing = np.zeros(0, np.int64)
    found = item_means(nothing, nothing, WeightedAnswers(np.zeros(0), np.zeros(0)), 3, 0)
    assert found.weight.tolist() == found.value.tolist() == [0, 0, 0]
    assert not found.between(*every_pair(3)).is_known.any()


@given(SEEDS, st.sampled_from(["items", "pairs"]))
def test_a_person_moves_a_mean_as_a_little_more_of_their_weight_would(seed: int, what: str) -> None:
    question, person, weighed, items, people = rated(seed, share=0.7)

    def found(weight: np.ndarray):
        told = WeightedAnswers(weighed.value, weight)
        if what == "pairs":
            return pair_means(question, person, told, items, people)
        return item_means(question, person, told, items, people).between(*every_pair(items))

    before = found(weighed.weight)
    np.testing.assert_allclose(before.moved.sum(axis=0), 0, atol=1e-8)
    for one in range(people):
        more = np.where(person == one, 1e-6, 0.0) * weighed.weight
        change = (found(weighed.weight + more).value - found(weighed.weight - more).value) / 2e-6
        np.testing.assert_allclose(before.moved[one], change, atol=1e-5)


@given(SEEDS)
def test_the_order_of_people_items_and_answers_does_not_matter_nor_does_anybodys_leniency(seed: int) -> None:
    question, person, weighed, items, people = rated(seed, share=0.6)
    rng = np.random.default_rng(seed)
    first, second = every_pair(items)
    before = item_means(question, person, weighed, items, people).between(first, second)
    item, who, order = rng.permutation(items), rng.permutation(people), rng.permutation(len(question))
    lenient = weighed.value + rng.uniform(-50, 50, people)[person]
    shuffled = WeightedAnswers(lenient[order], weighed.weight[order])
    after = item_means(item[question][order], who[person][order], shuffled, items, people)
    after = after.between(item[first], item[second])
    assert after.is_known.tolist() == before.is_known.tolist()
    np.testing.assert_allclose(after.value, before.value, atol=1e-7)
    np.testing.assert_allclose(after.moved[who], before.moved, atol=1e-7)


@given(SEEDS)
def test_with_the_weights_of_p910_it_is_p910(seed: int) -> None:
    rng = np.random.default_rng(seed)
    question, person = np.nonzero(rng.random((20, 6)) < 0.8)
    value = (rng.uniform(20, 80, 20)[question] + rng.normal(0, 8, 6)[person] + rng.normal(0, 6, len(question))).clip(
        0, 100
    )
    columns = question, person, value, 20, 6
    found = item_means(question, person, PREFERENCES["p910"](*columns), 20, 6)
    quality = p910(*columns).quality
    np.testing.assert_allclose(found.value - found.value[0], quality - quality[0], atol=1e-5)
