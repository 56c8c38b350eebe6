from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_rows import evidence_from, full_round, pairs_of
from scipy.special import ndtri

from dissensus.competition.attacks import MEASURES, other_methods, other_orders, two_orders
from dissensus.errors import RankingError
from dissensus.pairwise import attack_matrices
from dissensus.ranking import ATTACK_RANKERS, credits_of
from dissensus.records import Standing
from dissensus.tasks.scores.standings import USUAL, contradictions, disagreements, level_stability

NAMES = ["a", "b", "c", "d"]


def skilled(models: int = 4, levels: int = 6, seed: int = 0, **answers):
    """Better attackers (of lower number) find larger differences, and better defenders smaller ones."""
    selection = full_round(models, levels, seed)
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.8, 0.1, models)
    towards = 0.3 + skill[selection.attacker] - skill[selection.defender] + rng.normal(0, 0.1, len(selection))
    return evidence_from(selection, towards.clip(-1, 1), **answers)


def by_model(standings):
    return {standing.model: standing for standing in standings.standings}


def test_an_easy_case_is_in_order_by_both_measures() -> None:
    found = two_orders(skilled(people=5, noise=10), NAMES, USUAL)
    for measure in MEASURES:
        rows = found[measure].standings
        assert [standing.model for standing in rows] == NAMES
        for place, standing in enumerate(rows, start=1):
            assert standing.low <= standing.strength <= standing.high
            assert standing.rank_low <= place <= standing.rank_high
        assert found[measure].words[0] == "a is first."
        assert found[measure].cyclic_share < 0.3


@given(st.integers(0, 10_000), st.sampled_from(sorted(ATTACK_RANKERS)))
@settings(max_examples=15)
def test_strengths_are_those_of_the_credits_themselves(seed: int, name: str) -> None:
    evidence = skilled(seed=seed, people=2, noise=30, levels=2)
    found = two_orders(evidence, NAMES, replace(USUAL, name=name))
    matrices = attack_matrices(evidence.attacks, 4)
    ranker = ATTACK_RANKERS[name].strengths
    for measure, compared in zip(MEASURES, (matrices.attacked, matrices.defended), strict=True):
        expected = ranker(credits_of(getattr(matrices, measure), compared, 0.01))
        strengths = [by_model(found[measure])[model].strength for model in NAMES]
        np.testing.assert_allclose(strengths, expected, atol=1e-9)
        assert sum(strengths) == pytest.approx(1 if name == "perron" else 0, abs=1e-9)


def test_two_models_have_a_closed_form() -> None:
    # 0 attacks 1: seen clearly; 1 attacks 0: hardly
    selection = pairs_of([(0, 1, 0, 1, 1, 2), (1, 0, 0, 1, 4, 3)])
    found = two_orders(evidence_from(selection, np.array([0.8, 0.2])), ["a", "b"], USUAL)
    half = 0.5 * ndtri(0.81 / (0.81 + 0.21))
    assert by_model(found["aggressiveness"])["a"].strength == pytest.approx(half)
    assert by_model(found["aggressiveness"])["b"].strength == pytest.approx(-half)
    # a withstands b by 1 − 0.2, b withstands a by 1 − 0.8
    assert by_model(found["resistance"])["a"].strength == pytest.approx(0.5 * ndtri(0.81 / (0.81 + 0.21)))


def test_weights_of_levels_are_those_of_equation_2() -> None:
    selection = pairs_of([(0, 1, 0, 1, 1, 2), (0, 1, 1, 1, 3, 4), (1, 0, 0, 1, 5, 6)], weight=[300, 100, 1])
    found = two_orders(evidence_from(selection, np.array([1.0, 0.2, 0.4])), ["a", "b"], USUAL)
    attack = (300 * 1.0 + 100 * 0.2) / 400
    expected = 0.5 * ndtri((attack + 0.01) / (attack + 0.4 + 0.02))
    assert by_model(found["aggressiveness"])["a"].strength == pytest.approx(expected)


def test_an_attack_that_backfires_speaks_for_the_defender() -> None:
    selection = pairs_of([(0, 1, 0, 1, 1, 2), (1, 0, 0, 1, 3, 4)])
    found = two_orders(evidence_from(selection, np.array([-0.5, 0.1])), ["a", "b"], USUAL)
    assert by_model(found["aggressiveness"])["b"].strength == pytest.approx(0.5 * ndtri(0.61 / 0.62))
    # a difference is a difference: a defends by 1 − 0.1, b by 1 − 0.5
    assert by_model(found["resistance"])["a"].strength == pytest.approx(0.5 * ndtri(0.91 / (0.91 + 0.51)))


@given(st.permutations(range(4)))
@settings(max_examples=6)
def test_the_numbering_of_models_does_not_matter(number: list[int]) -> None:
    evidence = skilled(people=3, noise=20, levels=3)
    attacks, place = evidence.attacks, np.array(number)
    renamed = replace(
        evidence, attacks=replace(attacks, attacker=place[attacks.attacker], defender=place[attacks.defender])
    )
    names = [NAMES[number.index(new)] for new in range(4)]
    one = two_orders(evidence, NAMES, USUAL)
    other = two_orders(renamed, names, USUAL)
    for measure in MEASURES:
        for model in NAMES:
            mine, theirs = by_model(one[measure])[model], by_model(other[measure])[model]
            assert (mine.strength, mine.low, mine.high) == pytest.approx((theirs.strength, theirs.low, theirs.high))
            assert (mine.rank_low, mine.rank_high) == (theirs.rank_low, theirs.rank_high)
        assert one[measure].cyclic_share == pytest.approx(other[measure].cyclic_share)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4), st.integers(1, 5), st.sampled_from([0, 20, 60]))
@settings(max_examples=20)
def test_intervals_hold_the_estimate(seed: int, models: int, levels: int, people: int, noise: int) -> None:
    found = two_orders(skilled(models, levels, seed, people=people, noise=noise), "abcde"[:models], USUAL)
    for measure in MEASURES:
        for standing in found[measure].standings:
            assert standing.low - 1e-9 <= standing.strength <= standing.high + 1e-9
            assert np.isfinite([standing.low, standing.strength, standing.high]).all()


def test_more_people_and_more_levels_mean_narrower_intervals() -> None:
    def width(**made) -> float:
        rows = two_orders(skilled(noise=50, **made), NAMES, USUAL)["aggressiveness"].standings
        return float(np.mean([standing.high - standing.low for standing in rows]))

    assert width(people=20, levels=6) < width(people=2, levels=6)
    assert width(people=5, levels=12) < width(people=5, levels=3)


def test_one_pair_in_each_of_two_duels_separates_nobody() -> None:
    selection = pairs_of([(0, 1, 0, 1, 1, 2), (1, 0, 0, 1, 4, 3)])
    found = two_orders(evidence_from(selection, np.array([0.9, 0.1])), ["a", "b"], USUAL)
    for measure in MEASURES:
        assert found[measure].words[0].startswith("Not enough judgements to separate any two models.")
        assert {(s.rank_low, s.rank_high) for s in found[measure].standings} == {(1, 2)}


def test_what_was_asked_in_one_direction_only_is_no_comparison() -> None:
    duels = [(0, 1), (1, 0), (1, 2)]  # nobody was asked about c's attacks, so c can be neither praised nor blamed
    selection = pairs_of([(*duel, 0, 1, 2 * at + 1, 2 * at + 2) for at, duel in enumerate(duels)])
    found = two_orders(evidence_from(selection, np.array([0.9, 0.1, 0.8])), list("abc"), USUAL)
    for measure in MEASURES:
        last = found[measure].standings[-1]
        assert (last.model, last.strength, last.rank_low, last.rank_high) == ("c", None, 1, 3)
        assert any("Not comparable" in words and "c" in words for words in found[measure].words)
        assert any(words.startswith("Of a and b") for words in found[measure].words)
    with pytest.raises(RankingError, match=r"judge\.share"):
        two_orders(evidence_from(selection.take(np.array([2])), np.array([0.8])), list("abc"), USUAL)


def test_contradicted_attackers_are_named_and_not_praised() -> None:
    duels = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    selection = pairs_of([(*duel, 0, 1, 2 * at + 1, 2 * at + 2) for at, duel in enumerate(duels)])
    evidence = evidence_from(selection, np.full(6, -0.6))
    matrices = attack_matrices(evidence.attacks, 3)
    (words,) = contradictions(matrices, list("abc"))
    assert words.endswith("and 1 other.")
    praised = ranked("abc", "bca")
    assert disagreements(praised, matrices, list("abc")) == ()
    assert disagreements(praised) != ()
    assert contradictions(attack_matrices(evidence_from(selection, np.full(6, 0.6)).attacks, 3), list("abc")) == ()


def test_models_that_no_attack_connects_are_ranked_apart_and_that_is_said() -> None:
    duels = [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    selection = pairs_of([(*duel, 0, 1, 2 * at + 1, 2 * at + 2) for at, duel in enumerate(duels)])
    towards = np.array([0.9, 0.1, 0.5, 0.2, 0.5, 0.1])
    found = two_orders(evidence_from(selection, towards), list("abcdef"), USUAL)
    for measure in MEASURES:
        rows = found[measure].standings
        assert {standing.model for standing in rows[:3]} == set("abc")
        assert sum(standing.strength for standing in rows[:3]) == pytest.approx(0, abs=1e-9)
        assert sum(standing.strength for standing in rows[3:5]) == pytest.approx(0, abs=1e-9)
        assert (rows[5].model, rows[5].strength, rows[5].low, rows[5].high) == ("f", None, None, None)
        assert (rows[5].rank_low, rows[5].rank_high) == (1, 6)
        assert any("d and e with a, b and c" in sentence for sentence in found[measure].words)
        assert any("connects f with" in sentence for sentence in found[measure].words)


def test_a_group_is_ranked_as_if_the_others_were_not_there() -> None:
    evidence = skilled(3, 4, people=3, noise=20)
    attacks = evidence.attacks
    far = replace(attacks, attacker=attacks.attacker + 2, defender=attacks.defender + 2)  # models 2, 3, 4
    alone = two_orders(evidence, ["a", "b", "c"], USUAL)
    beside = two_orders(replace(evidence, attacks=far), ["x", "y", "a", "b", "c"], USUAL)
    for measure in MEASURES:
        assert [s.strength for s in alone[measure].standings] == [s.strength for s in beside[measure].standings[:3]]
        assert [s.low for s in alone[measure].standings] == [s.low for s in beside[measure].standings[:3]]


def test_nothing_judged_and_an_unknown_method() -> None:
    evidence = evidence_from(pairs_of([]), np.zeros(0))
    with pytest.raises(RankingError, match="not enough judgements: no two models"):
        two_orders(evidence, NAMES, USUAL)
    with pytest.raises(RankingError, match="thurstone, bradley-terry"):
        two_orders(skilled(), NAMES, replace(USUAL, name="elo"))


def test_other_methods_are_listed_with_the_reason_why_one_has_no_ranking() -> None:
    evidence = skilled(people=5, noise=10)
    found, refused = other_orders(other_methods(evidence, USUAL), NAMES, "pairs")
    assert list(found) == ["bradley-terry", "hodgerank", "perron"]
    assert not refused
    for name, orders in found.items():
        assert orders == {m: one.standings for m, one in two_orders(evidence, NAMES, replace(USUAL, name=name)).items()}
    # nobody saw what c found against a: likelihoods can live with that, quotients cannot
    duels = [(a, d) for a in range(3) for d in range(3) if a != d]
    selection = pairs_of([(a, d, 0, 1, 2 * n, 2 * n + 1) for n, (a, d) in enumerate(duels)])
    preference = np.array([0.0 if duel == (2, 0) else 0.5 for duel in duels])
    unsmoothed = replace(USUAL, smoothing=0.0)
    found, refused = other_orders(other_methods(evidence_from(selection, preference), unsmoothed), "abc", "pairs")
    assert list(found) == ["bradley-terry"]
    assert refused["rank by perron"].startswith("no estimate: no evidence favours c over a, and this method")


def test_without_smoothing_what_has_no_bound_is_said_with_names() -> None:
    selection = pairs_of([(0, 1, 0, 1, 1, 2), (1, 0, 0, 1, 3, 4)])
    with pytest.raises(RankingError, match=r"there is no evidence (for b|against a)"):
        two_orders(evidence_from(selection, np.array([0.9, 0.0])), ["a", "b"], replace(USUAL, smoothing=0))


def test_a_pair_that_stands_in_many_duels_counts_as_one() -> None:
    rows = [
        (a, d, k, 1, 100 * a + 10 * d + 2 * k, 100 * a + 10 * d + 2 * k + 1)
        for a, d in ((0, 1), (1, 0))
        for k in range(6)
    ]
    towards = np.array([0.9, 0.1] * 3 + [0.4, 0.6] * 3)
    apart = evidence_from(pairs_of(rows), towards)
    lumped = replace(apart, attacks=replace(apart.attacks, pair=np.array([0, 1] * 3 + [6, 7] * 3)))
    widths = [two_orders(one, ["a", "b"], USUAL)["aggressiveness"].standings[0] for one in (apart, lumped)]
    assert widths[1].high - widths[1].low > widths[0].high - widths[0].low


def test_a_circle_is_said_to_have_no_consistent_order() -> None:
    rows = [(a, d, 0, 1, 10 * a + d, 100 + 10 * a + d) for a in range(3) for d in range(3) if a != d]
    towards = np.array([0.9 if (d - a) % 3 == 1 else 0.05 for a, d, *_ in rows])
    found = two_orders(evidence_from(pairs_of(rows), towards), ["a", "b", "c"], USUAL)
    assert found["aggressiveness"].cyclic_share == pytest.approx(1)
    assert any("No consistent order" in sentence for sentence in found["aggressiveness"].words)


def test_levels_that_all_say_the_same_are_stable_from_the_first_one_on() -> None:
    selection = full_round(4, 5)
    skill = np.linspace(0.8, 0.1, 4)
    towards = 0.1 + np.maximum(skill[selection.attacker] - skill[selection.defender], 0)
    evidence = evidence_from(selection, towards)
    curve = level_stability(evidence.attacks, 4, USUAL)
    assert [k for k, *_ in curve] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose([row[1:] for row in curve], 1)


def test_the_last_level_agrees_with_itself_and_few_levels_less() -> None:
    curve = level_stability(skilled(levels=8, seed=3, people=1, noise=60).attacks, 4, USUAL)
    assert curve[-1] == (8, pytest.approx(1), pytest.approx(1))
    assert all(-1 <= value <= 1 for row in curve for value in row[1:])


def test_levels_that_do_not_connect_all_models_yet_are_left_out_and_the_others_stay() -> None:
    attacks = skilled(levels=4).attacks
    late = attacks.take((attacks.level >= 2) | ((attacks.attacker < 3) & (attacks.defender < 3)))
    late = replace(late, weight=np.where(late.level < 2, 100.0, 1.0))  # the fullest levels come first
    assert [k for k, *_ in level_stability(late, 4, USUAL)] == [3, 4]
    never = attacks.take((attacks.attacker < 3) & (attacks.defender < 3))
    assert level_stability(never, 4, USUAL) == ()


def ranked(attack: str, defence: str, reach: int = 0) -> dict[str, list[Standing]]:
    """Models of one letter in their order by each measure, with rank sets of some reach to either side."""
    return {
        measure: [
            Standing(
                model=name,
                strength=0,
                low=0,
                high=0,
                rank_low=max(1, at - reach),
                rank_high=at + reach,
                may_be_first=at <= reach,
            )
            for at, name in enumerate(order, start=1)
        ]
        for measure, order in (("aggressiveness", attack), ("resistance", defence))
    }


def test_a_disagreement_that_may_be_chance_is_said_to_be() -> None:
    (sure,) = disagreements(ranked("abc", "bca"))
    (unsure,) = disagreements(ranked("abc", "bca", reach=2))
    assert "chance" not in sure
    assert unsure == f"{sure} Its rank sets overlap, so this may be chance."


def test_words_about_models_that_attack_better_than_they_defend() -> None:
    assert disagreements(ranked("abc", "acb")) == ()
    (words,) = disagreements(ranked("abc", "bca"))
    assert words.startswith("a attacks better (place 1) than it defends (place 3)")
    both = disagreements(ranked("abcdef", "fbcdea"))
    assert both[0].startswith("a attacks better (place 1) than it defends (place 6)")
    assert both[1].startswith("f defends better (place 1) than it attacks (place 6)")
    assert len(both) == 2
