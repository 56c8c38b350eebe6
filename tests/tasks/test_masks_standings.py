from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mask_rows import choice_evidence, full_round, images_of, truth_evidence
from scipy.special import ndtri

from dissensus.competition.attacks import MEASURES, named_matrices, two_orders
from dissensus.errors import RankingError
from dissensus.inquiry import NumericAnswers
from dissensus.pairwise import ratio_matrices
from dissensus.ranking import ATTACK_RANKERS
from dissensus.tasks.masks.standings import USUAL, Choices, MaskEvidence, contradictions, likeness

NAMES = ["a", "b", "c", "d"]
ranked = partial(two_orders, judged="images")
SKILL = np.array([0.8, 0.6, 0.45, 0.3])


def skilled(models: int = 4, categories: int = 8, seed: int = 0, k: int = 1, noise: float = 0.1) -> MaskEvidence:
    """Models of lower number agree better with the truth."""
    selection = full_round(models, categories, seed, k)
    rng = np.random.default_rng(seed)
    ours, theirs = (
        (SKILL[side] + noise * rng.standard_normal(len(selection))).clip(0.01, 1)
        for side in (selection.attacker, selection.defender)
    )
    return truth_evidence(selection, ours, theirs, k)


def by_model(standings):
    return {standing.model: standing for standing in standings.standings}


def duel(ours: float, theirs: float, back: float, forth: float) -> MaskEvidence:
    """a attacks b with one image and b attacks a with another; scores of the attacker and of the defender."""
    selection = images_of([(0, 1, 1, 1, 1), (1, 0, 1, 1, 2)])
    return truth_evidence(selection, np.array([ours, back]), np.array([theirs, forth]))


def test_a_planted_order_is_found_by_both_measures() -> None:
    found = ranked(skilled(), NAMES, USUAL)
    for measure in MEASURES:
        rows = found[measure].standings
        assert [standing.model for standing in rows] == NAMES
        for place, standing in enumerate(rows, start=1):
            assert standing.low <= standing.strength <= standing.high
            assert standing.rank_low <= place <= standing.rank_high
        assert found[measure].words[0] == "a is first."
        assert found[measure].cyclic_share < 0.3


def test_two_models_have_a_closed_form_and_both_measures_agree() -> None:
    found = ranked(duel(0.8, 0.2, 0.3, 0.6), ["a", "b"], replace(USUAL, smoothing=0.1))
    a_12, a_21 = 0.9 / 0.3, 0.4 / 0.7
    for measure in MEASURES:
        rows = by_model(found[measure])
        assert rows["a"].strength - rows["b"].strength == pytest.approx(ndtri(a_12 / (a_12 + a_21)))
        assert rows["a"].strength + rows["b"].strength == pytest.approx(0)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_two_models_stand_alike_by_both_measures_intervals_and_all(seed: int) -> None:
    found = ranked(skilled(2, 5, seed, noise=0.4), ["a", "b"], USUAL)
    one, other = (by_model(found[measure]) for measure in MEASURES)
    for model in "ab":
        mine, theirs = one[model], other[model]
        assert (mine.strength, mine.low, mine.high) == pytest.approx((theirs.strength, theirs.low, theirs.high))
        assert (mine.rank_low, mine.rank_high) == (theirs.rank_low, theirs.rank_high)


@given(st.integers(0, 10_000), st.sampled_from(sorted(ATTACK_RANKERS)), st.sampled_from([0.0, 0.05]))
@settings(max_examples=15)
def test_strengths_are_those_of_the_ratios_themselves(seed: int, name: str, smoothing: float) -> None:
    evidence = skilled(seed=seed, categories=3, k=2, noise=0.3)
    found = ranked(evidence, NAMES, replace(USUAL, name=name, smoothing=smoothing))
    matrices = ratio_matrices(evidence.contests, 4, smoothing)
    ranker = ATTACK_RANKERS[name].strengths
    for measure in MEASURES:
        strengths = [by_model(found[measure])[model].strength for model in NAMES]
        np.testing.assert_allclose(strengths, ranker(getattr(matrices, measure)), atol=1e-9)


@pytest.mark.parametrize("name", ATTACK_RANKERS)
def test_both_rankings_are_the_same_exactly_if_the_words_say_so(name: str) -> None:
    method = replace(USUAL, name=name)
    found = ranked(skilled(noise=0.3), NAMES, method)
    one, other = (
        [(row.model, row.rank_low, row.rank_high, row.may_be_first) for row in found[measure].standings]
        for measure in MEASURES
    )
    strengths = [[by_model(found[measure])[model].strength for model in NAMES] for measure in MEASURES]
    is_same = strengths[0] == pytest.approx(strengths[1], rel=1e-9) and one == other
    assert is_same == bool(likeness(method))


@given(st.permutations(range(4)))
@settings(max_examples=6)
def test_the_numbering_of_models_does_not_matter(number: list[int]) -> None:
    for evidence in (
        skilled(categories=4, noise=0.3),
        choice_evidence(full_round(4, 4), np.full(48, 0.6), people=4),
    ):
        contests, place = evidence.contests, np.array(number)
        turned = replace(contests, attacker=place[contests.attacker], defender=place[contests.defender])
        names = [NAMES[number.index(new)] for new in range(4)]
        one = ranked(evidence, NAMES, USUAL)
        other = ranked(replace(evidence, contests=turned), names, USUAL)
        for measure in MEASURES:
            for model in NAMES:
                mine, theirs = by_model(one[measure])[model], by_model(other[measure])[model]
                assert (mine.strength, mine.low, mine.high) == pytest.approx((theirs.strength, theirs.low, theirs.high))
                assert (mine.rank_low, mine.rank_high) == (theirs.rank_low, theirs.rank_high)


def width(evidence: MaskEvidence) -> float:
    rows = ranked(evidence, NAMES, USUAL)["aggressiveness"].standings
    return float(np.mean([standing.high - standing.low for standing in rows]))


def test_more_categories_more_images_and_more_people_mean_narrower_intervals() -> None:
    assert width(skilled(categories=20, noise=0.3)) < width(skilled(categories=4, noise=0.3))
    assert width(skilled(categories=4, k=6, noise=0.3)) < width(skilled(categories=4, k=1, noise=0.3))
    half = np.full(12, 0.7)
    one_image = full_round(4, 1)  # images do not vary: only people do
    assert width(choice_evidence(one_image, half, people=40)) < width(choice_evidence(one_image, half, people=4))


def test_one_image_in_every_category_still_has_intervals() -> None:
    # the paper's K = 1: weights that cancel within a category would leave nothing to vary
    found = ranked(skilled(k=1, noise=0.3), NAMES, USUAL)
    for measure in MEASURES:
        assert all(standing.high - standing.low > 0.05 for standing in found[measure].standings)


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Two models, K = 1, twelve categories: scores are drawn anew, and the true ratios are known."""
    held, studies = 0, 60
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        selection = full_round(2, 12, seed)
        ours = rng.beta(4, 2, len(selection))
        theirs = rng.beta(2, 2, len(selection))
        is_better = selection.attacker == 0
        evidence = truth_evidence(selection, np.where(is_better, ours, theirs), np.where(is_better, theirs, ours))
        rows = by_model(ranked(evidence, ["a", "b"], replace(USUAL, smoothing=0))["aggressiveness"])
        ratio = (4 / 6) / (2 / 4)
        truth = 0.5 * ndtri(ratio / (ratio + 1 / ratio))
        held += rows["a"].low <= truth <= rows["a"].high
    assert held >= 0.8 * studies


def test_an_image_that_stands_in_many_duels_counts_as_one() -> None:
    rows = [(a, d, y, 1, 100 * a + y) for a, d in ((0, 1), (1, 0)) for y in range(1, 7)]
    scores = np.array([0.9, 0.3] * 3 + [0.2, 0.6] * 3)
    apart = truth_evidence(images_of(rows), scores, np.full(12, 0.5))
    lumped = replace(apart, contests=replace(apart.contests, question=np.array([0, 1] * 3 + [6, 7] * 3)))
    first, second = (ranked(one, ["a", "b"], USUAL)["aggressiveness"].standings[0] for one in (apart, lumped))
    assert second.high - second.low > first.high - first.low


def test_one_image_in_each_of_two_duels_separates_nobody() -> None:
    found = ranked(duel(0.9, 0.1, 0.2, 0.8), ["a", "b"], USUAL)
    for measure in MEASURES:
        assert found[measure].words[0].startswith("Not enough judgements to separate any two models.")
        assert {(s.rank_low, s.rank_high) for s in found[measure].standings} == {(1, 2)}


def test_what_each_persons_choices_change() -> None:
    # image 1: a against b, image 2: b against a; 'first' is a
    told = NumericAnswers(
        np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1.0, 0.0, 0.5, 0.0]), ("ann", "bob")
    )
    choices = Choices(told, is_first=np.array([True, False]))
    # image 1: half of the choices are a's, ann's counts half and is half too high; image 2: a quarter is a's
    np.testing.assert_allclose(choices.by_person(np.array([0, 1])), [[0.25, -0.125], [-0.25, 0.125]])
    nobody = replace(choices, told=replace(told, question=np.array([0, 0, 0, 0])))
    np.testing.assert_allclose(nobody.by_person(np.array([0, 1]))[:, 1], 0)


def test_chosen_models_are_first() -> None:
    selection = full_round(4, 6)
    better = selection.attacker < selection.defender
    found = ranked(choice_evidence(selection, np.where(better, 0.85, 0.15), people=6), NAMES, USUAL)
    for measure in MEASURES:
        assert found[measure].standings[0].model == "a"
        assert found[measure].standings[-1].model == "d"
        assert np.isfinite([[s.low, s.strength, s.high] for s in found[measure].standings]).all()


def test_what_was_asked_in_one_direction_only_is_no_comparison() -> None:
    selection = images_of([(0, 1, 1, 1, 1), (1, 0, 1, 1, 2), (1, 2, 1, 1, 3)])
    evidence = truth_evidence(selection, np.array([0.9, 0.4, 0.8]), np.full(3, 0.5))
    found = ranked(evidence, list("abc"), USUAL)
    for measure in MEASURES:
        last = found[measure].standings[-1]
        assert (last.model, last.strength, last.rank_low, last.rank_high) == ("c", None, 1, 3)
        assert any("Not comparable" in words for words in found[measure].words)
    alone = replace(evidence, contests=evidence.contests.take(np.array([2])))
    with pytest.raises(RankingError, match=r"enough judged images yet; .*judge\.min_answers and judge\.share"):
        ranked(alone, list("abc"), USUAL)


def test_models_that_no_attack_connects_are_ranked_as_if_the_others_were_not_there() -> None:
    evidence = skilled(3, 4, noise=0.3)
    contests = evidence.contests
    far = replace(contests, attacker=contests.attacker + 2, defender=contests.defender + 2)  # models 2, 3, 4
    alone = ranked(evidence, ["a", "b", "c"], USUAL)
    beside = ranked(replace(evidence, contests=far), ["x", "y", "a", "b", "c"], USUAL)
    for measure in MEASURES:
        assert [s.strength for s in alone[measure].standings] == [s.strength for s in beside[measure].standings[:3]]
        assert [s.low for s in alone[measure].standings] == [s.low for s in beside[measure].standings[:3]]


def test_choices_follow_their_rows_into_a_group() -> None:
    evidence = choice_evidence(full_round(4, 3), np.full(36, 0.8), people=3)
    part = evidence.among(np.array([1, 3]))
    assert part.choices is not None
    rows = np.isin(evidence.contests.attacker, [1, 3]) & np.isin(evidence.contests.defender, [1, 3])
    assert evidence.choices is not None
    np.testing.assert_array_equal(part.choices.is_first, evidence.choices.is_first[rows])
    assert set(part.contests.attacker.tolist()) == {0, 1}


def test_nothing_judged_an_unknown_method_and_a_ratio_without_a_bound() -> None:
    nothing = truth_evidence(images_of([]), np.zeros(0), np.zeros(0))
    with pytest.raises(RankingError, match="not enough judgements"):
        ranked(nothing, NAMES, USUAL)
    with pytest.raises(RankingError, match="thurstone, bradley-terry"):
        ranked(skilled(), NAMES, replace(USUAL, name="elo"))
    failed = duel(0.8, 0.0, 0.5, 0.5)
    with pytest.raises(RankingError, match="b agrees with people on no image that a selected against b"):
        ranked(failed, ["a", "b"], replace(USUAL, smoothing=0))
    assert ranked(failed, ["a", "b"], USUAL)["resistance"].standings[0].model == "a"


def test_attackers_that_do_worse_on_their_own_images_are_named() -> None:
    evidence = duel(0.4, 0.5, 0.9, 0.5)
    (words,) = contradictions(named_matrices(evidence, ["a", "b"], USUAL), ["a", "b"])
    assert words.startswith("In 1 of 2 duels, the attacker's maps agree less with annotators than the defender's")
    assert words.endswith("a against b.")
    even = duel(0.5, 0.5, 0.9, 0.5)
    assert contradictions(named_matrices(even, ["a", "b"], USUAL), ["a", "b"]) == ()


def test_what_the_intervals_cannot_say() -> None:
    assert skilled().limits("") == ()
    alike = truth_evidence(full_round(2, 2), np.full(4, 0.5), np.full(4, 0.5))
    assert alike.limits("") == (
        "In every duel, both models do equally well on all judged images: nothing tells them apart.",
    )
    lonely = choice_evidence(full_round(2, 3), np.full(6, 0.99), people=1)
    assert any("Only one person answered" in words for words in lonely.limits(""))
