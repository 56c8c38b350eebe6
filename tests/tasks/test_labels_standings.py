from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import outcomes_of

from dissensus.competition.one_order import USUAL, matrices, rank, stability
from dissensus.errors import RankingError
from dissensus.ranking import RANKERS

FEW = replace(USUAL, resamples=200)
# a beats b beats c, each 9 times to 3, and a beats c 11 to 1
EASY = [
    *[(0, 1, True, False)] * 9, *[(0, 1, False, True)] * 3,
    *[(1, 2, True, False)] * 9, *[(1, 2, False, True)] * 3,
    *[(0, 2, True, False)] * 11, *[(0, 2, False, True)] * 1,
]  # fmt: skip


@pytest.mark.parametrize("method", RANKERS)
def test_every_method_finds_the_order_of_an_easy_case(method: str) -> None:
    standings = rank(outcomes_of(EASY), ["a", "b", "c"], replace(FEW, name=method)).standings
    assert [standing.model for standing in standings] == ["a", "b", "c"]
    for standing in standings:
        assert standing.low <= standing.strength <= standing.high
        assert standing.rank_low <= standings.index(standing) + 1 <= standing.rank_high


def test_two_models_by_perron_are_as_far_apart_as_their_accuracies() -> None:
    # 8 items, 5 and 2 right: smoothed 6/10 and 3/10, so strengths 2/3 and 1/3
    rows = [(0, 1, True, False)] * 4 + [(0, 1, True, True)] + [(0, 1, False, True)] + [(0, 1, False, False)] * 2
    strengths = [standing.strength for standing in rank(outcomes_of(rows), ["a", "b"], FEW).standings]
    assert strengths == pytest.approx([2 / 3, 1 / 3])
    compared = matrices(outcomes_of(rows), 2, USUAL)
    assert compared.accuracy[0, 1] == pytest.approx(0.6)
    assert compared.dominance[0, 1] == pytest.approx(2)


@pytest.mark.parametrize("method", ["perron", "hodgerank"])
def test_a_model_that_wins_everything_is_first_for_sure(method: str) -> None:
    rows = [(0, other, True, False) for other in (1, 2) for _ in range(20)]
    rows += [(1, 2, number % 2 == 0, number % 2 == 1) for number in range(20)]
    found = rank(outcomes_of(rows), ["all", "b", "c"], replace(FEW, name=method))
    assert found.standings[0].model == "all"
    assert (found.standings[0].rank_low, found.standings[0].rank_high) == (1, 1)
    assert {standing.rank_low for standing in found.standings[1:]} == {2}
    assert "all is first." in found.words


def test_models_that_never_met_are_ranked_apart_and_that_is_said() -> None:
    rows = [(0, 1, True, False)] * 5 + [(1, 2, True, False)] * 5 + [(3, 4, True, False)] * 5
    found = rank(outcomes_of(rows), list("abcdef"), FEW)
    assert [standing.model for standing in found.standings] == list("abcdef")
    assert found.standings[-1].strength is found.standings[-1].low is found.standings[-1].high is None
    assert sum(standing.strength for standing in found.standings[:3]) == pytest.approx(1)
    assert sum(standing.strength for standing in found.standings[3:5]) == pytest.approx(1)
    assert any("d and e with a, b and c" in sentence for sentence in found.words)
    assert any("connects f with" in sentence for sentence in found.words)
    assert (found.standings[-1].rank_low, found.standings[-1].rank_high) == (1, 6)


def test_nothing_judged_is_said_and_not_estimated() -> None:
    with pytest.raises(RankingError, match=r"not enough judgements: .*judge\.min_answers and judge\.share"):
        rank(outcomes_of([]), ["a", "b"], USUAL)


def test_identical_models_are_named() -> None:
    found = rank(outcomes_of(EASY), ["a", "b", "c"], FEW, identical=[(1, 2)])
    assert any("b and c gave every item the same label" in sentence for sentence in found.words)


def test_a_circle_is_said_to_have_no_consistent_order() -> None:
    rows = [(0, 1, True, False)] * 9 + [(1, 2, True, False)] * 9 + [(0, 2, False, True)] * 9
    found = rank(outcomes_of(rows), ["a", "b", "c"], FEW)
    assert found.cyclic_share == pytest.approx(1)
    assert any("No consistent order" in sentence for sentence in found.words)
    assert [standing.strength for standing in found.standings] == pytest.approx([1 / 3] * 3)


def test_a_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    ranked = {
        (seed, time): rank(outcomes_of(EASY), ["a", "b", "c"], replace(FEW, seed=seed))
        for seed in (1, 2)
        for time in range(2)
    }
    assert ranked[1, 0] == ranked[1, 1]
    assert ranked[1, 0] != ranked[2, 0]
    assert [s.strength for s in ranked[1, 0].standings] == [s.strength for s in ranked[2, 0].standings]


def test_an_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(RankingError, match="perron, hodgerank, bradley-terry"):
        rank(outcomes_of(EASY), ["a", "b", "c"], replace(USUAL, name="elo"))


@pytest.mark.slow
@given(st.permutations(range(3)), st.sampled_from(sorted(RANKERS)))
@settings(max_examples=12)
def test_the_numbering_of_models_does_not_matter(number: list[int], method: str) -> None:
    renamed = outcomes_of([(number[one], number[other], a, b) for one, other, a, b in EASY])
    names = [""] * 3
    for before, after in enumerate(number):
        names[after] = "abc"[before]
    found = rank(renamed, names, replace(FEW, name=method)).standings
    plain = rank(outcomes_of(EASY), ["a", "b", "c"], replace(FEW, name=method)).standings
    assert [standing.model for standing in found] == [standing.model for standing in plain]
    assert [s.strength for s in found] == pytest.approx([s.strength for s in plain])


def test_an_item_that_stands_in_many_duels_is_resampled_as_one() -> None:
    rows = [(0, 1, True, False)] * 6 + [(0, 1, False, True)] * 6
    apart = rank(outcomes_of(rows), ["a", "b"], FEW).standings[0]
    in_two_lumps = rank(outcomes_of(rows, items=[0] * 6 + [1] * 6), ["a", "b"], FEW).standings[0]
    assert in_two_lumps.high - in_two_lumps.low > apart.high - apart.low


def test_stability_is_one_when_every_item_says_the_same() -> None:
    rows = [(one, other, True, False) for one, other in ((0, 1), (0, 2), (1, 2)) for _ in range(6)]
    curve = stability(outcomes_of(rows), 3, USUAL)
    assert [k for k, _ in curve] == [1, 2, 3, 4, 5, 6]
    assert [correlation for _, correlation in curve] == pytest.approx([1] * 6)


def test_stability_ends_high_where_skill_decides() -> None:
    rng = np.random.default_rng(0)
    skill = np.linspace(0.2, 0.9, 8)
    duels = [(one, other) for one in range(8) for other in range(one + 1, 8)]
    rows = [(*duel, *(rng.random(2) < skill[list(duel)])) for duel in duels for _ in range(30)]
    curve = dict(stability(outcomes_of(rows), 8, USUAL))
    assert sorted(curve) == list(range(1, 31))
    assert min(curve[k] for k in range(25, 30)) > 0.95
    assert curve[1] < curve[30] == pytest.approx(1)


def test_stability_leaves_out_what_has_no_order() -> None:
    # on the first item all models are alike
    rows = [(one, other, True, number == 0) for one, other in ((0, 1), (1, 2)) for number in range(3)]
    assert [k for k, _ in stability(outcomes_of(rows), 3, USUAL)] == [2, 3]


def test_stability_leaves_out_what_is_not_connected() -> None:
    # the only item that connects c is the third of its duel
    outcomes = outcomes_of([(0, 1, True, False)] * 3 + [(1, 2, True, False)])
    late = replace(outcomes, rank=np.array([1, 2, 3, 3]))
    assert [k for k, _ in stability(late, 3, USUAL)] == [3]
