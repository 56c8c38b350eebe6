"""What sets a model's failures apart: against plain loops, with planted and absent effects, and for almost no items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.failures import Terms, Trials, confusions_of, contrasts, counted_pairs, failures_of
from dissensus.records import Failure

TERMS = Terms("item", "is wrong on", "items of the class {}", "These are not error rates.")


def made(items: int = 200, models: int = 4, groups: int = 3, seed: int = 0, planted: float = 0.0):
    """Failures at random, some of them unknown; model 0 fails more often in group 0 by `planted`."""
    rng = np.random.default_rng(seed)
    member = rng.integers(groups, size=items)[:, None] == np.arange(groups)
    chance = np.full((items, models), 0.3)
    chance[member[:, 0], 0] += planted
    return rng.random((items, models)) < chance, rng.random((items, models)) < 0.9, member


def by_hand(failed, known, member, group: int, model: int) -> tuple[float, ...]:
    """The four shares of one comparison, counted one by one."""
    shares = []
    for is_own in (True, False):
        for is_inside in (True, False):
            found = [
                bool(failed[i, m])
                for i in range(len(failed))
                for m in range(failed.shape[1])
                if known[i, m] and (m == model) == is_own and bool(member[i, group]) == is_inside
            ]
            shares.append(sum(found) / len(found))
    return tuple(shares)


def test_shares_are_those_counted_one_by_one():
    failed, known, member = made()
    found = contrasts(failed, known, member, permutations=9)
    for group in range(3):
        for model in range(4):
            own, elsewhere, others, others_elsewhere = by_hand(failed, known, member, group, model)
            shares = [
                one[group, model] for one in (found.inside, found.outside, found.others_inside, found.others_outside)
            ]
            np.testing.assert_allclose(shares, [own, elsewhere, others, others_elsewhere])
            every = [by_hand(failed, known, member, group, m) for m in range(4)]
            middle = sorted(one[0] - one[1] for one in every)[1:3]
            assert found.difference[group, model] == pytest.approx(own - elsewhere - sum(middle) / 2)
            assert found.items[group, model] == (known[:, model] & member[:, group]).sum()


def test_planted_difference_is_found_and_is_the_only_one():
    found = contrasts(*made(items=600, planted=0.4), permutations=199)
    assert found.p.min() == found.p[0, 0] == 1 / 200
    assert found.difference[0, 0] > 0.25
    assert (found.p[:, 1:] > 0.05).all()


def test_without_a_difference_a_claim_is_as_rare_as_the_level_says():
    rejected = sum(
        contrasts(*made(items=90, seed=seed), permutations=99, seed=seed).p.min() <= 0.05 for seed in range(120)
    )
    assert rejected <= 13  # 6 are expected for all comparisons together; 13 or fewer with a probability above 0.99


def test_a_model_that_is_worse_everywhere_does_not_stand_out():
    rng = np.random.default_rng(1)
    member = rng.integers(2, size=400)[:, None] == np.arange(2)
    failed = rng.random((400, 3)) < [0.9, 0.1, 0.1]
    assert contrasts(failed, np.ones_like(failed), member, permutations=199).p.min() > 0.05


def test_a_group_that_is_hard_for_weak_and_strong_models_alike_sets_nobody_apart():
    """Odds that rise alike move the shares of models apart that are unlike elsewhere."""
    claims = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        group = rng.integers(6, size=150)
        odds = np.exp(np.array([-2, -1, 0, 0, 1, 2])[group])[:, None] * [1 / 9, 3 / 7, 1, 7 / 3]
        failed = rng.random((150, 4)) < odds / (1 + odds)
        found = contrasts(failed, np.ones_like(failed), group[:, None] == np.arange(6), permutations=99, seed=seed)
        claims += bool((found.p < 0.05).any())
    assert claims <= 7  # 2 are expected; differences of shares alone make claims in about half of such studies


def test_items_whose_class_nobody_knows_are_no_background_to_compare_with():
    """Two models, one right more often in every class: what neither gets right has no known class."""
    rng = np.random.default_rng(4)
    group, outcome = rng.integers(4, size=400), rng.choice(3, size=400, p=[0.5, 0.2, 0.3])
    failed, is_known = outcome[:, None] != [0, 1], outcome < 2
    groups = {str(number): (group == number) & is_known for number in range(4)}
    trials = Trials(["good", "weak"], failed, np.ones_like(failed), groups)
    assert any(one.is_clear for one in failures_of("labels", trials, [], [], TERMS).contrasts)
    compared = failures_of("labels", replace(trials, comparable=is_known), [], [], TERMS)
    assert len(compared.contrasts) == 8
    assert not any(one.is_clear for one in compared.contrasts)
    assert compared.of("good").judged == 400


def test_few_items_support_no_claim():
    failed, known, member = made(items=27)
    found = contrasts(failed, known, member, permutations=9)
    assert not found.is_tested.any()
    assert (found.p == 1).all()
    none = contrasts(failed[:0], known[:0], member[:0], permutations=9)
    assert np.isfinite(none.inside).all()
    assert not none.is_tested.any()


def test_order_of_items_and_models_does_not_matter():
    failed, known, member = made(planted=0.3)
    found = contrasts(failed, known, member, permutations=19)
    rows, columns = np.random.default_rng(3).permutation(len(failed)), [2, 0, 3, 1]
    other = contrasts(failed[rows][:, columns], known[rows][:, columns], member[rows], permutations=19)
    np.testing.assert_allclose(other.difference, found.difference[:, columns])


def test_summary_says_how_many_and_how_many_alone():
    failed = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]], bool)
    known = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0]], bool)
    found = failures_of("labels", Trials(["a", "b", "c"], failed, known, {}), [], [], TERMS)
    one = found.of("a")
    assert (one.judged, one.failed, one.alone) == (4, 3, 1)
    assert one.words == (
        "a is wrong on 3 of 4 judged items, 75 % (19–99); on 1 of these, every other judged model is right.",
    )
    assert found.words[0].startswith("There are too few judged items")
    assert found.words[-1] == TERMS.caveat
    assert found.plot().table["value"] == [75.0, pytest.approx(100 / 3), 0.0]


def test_confusions_count_only_known_truths():
    cases = [
        Failure(model="a", item=str(n), severity=1, predicted="cat", true=true)
        for n, true in enumerate(("dog", "dog", "", "fox"))
    ]
    rows = confusions_of("a", counted_pairs(cases)["a"])
    assert [(one.true, one.count, one.share) for one in rows] == [
        ("dog", 2, pytest.approx(2 / 3)),
        ("fox", 1, pytest.approx(1 / 3)),
    ]


def test_cases_are_sorted_and_frames_have_them():
    cases = [
        Failure(model=name, item=item, severity=s)
        for name, item, s in (("b", "x", 0.2), ("a", "y", 0.1), ("a", "z", 0.9))
    ]
    trials = Trials(["a", "b"], *(np.ones((3, 2), bool) for _ in range(2)), {})
    found = failures_of("labels", trials, cases, [], TERMS)
    assert [(one.model, one.item) for one in found.failures] == [("a", "z"), ("a", "y"), ("b", "x")]
    assert list(found.to_frame()["item"]) == ["z", "y", "x"]
    assert [one.item for one in found.only("b").failures] == ["x"]
    assert list(found.to_frame("models")["failed"]) == [3, 3]
    assert len(found.to_frame("contrasts")) == 0
    with pytest.raises(ValueError, match="failures"):
        found.to_frame("nothing")
