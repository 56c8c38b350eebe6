from __future__ import annotations

import numpy as np
import pytest

from dissensus.ranking import Margins, named, other_order, sentences

NAMES = ["alexnet", "vgg", "resnet", "senet"]
ALL = ((0, 1, 2, 3),)


def better(*pairs: tuple[int, int], by: float = 0.5) -> Margins:
    """Margins that separate these pairs, given strengths that are at least one apart, and no others."""
    matrix = np.full((4, 4), 100.0)
    for one, other in pairs:
        matrix[one, other] = by
    return Margins(matrix, matrix)


STRENGTHS = np.array([0.0, 1.0, 2.0, 3.0])
CLOSE = "senet and resnet are too close to say how many more judged items would separate them."


@pytest.mark.parametrize(
    ("separated", "said"),
    [
        (better((3, 0), (3, 1), (3, 2)), "senet is first."),
        (better((3, 2), (2, 1), (1, 0)), "senet is first."),
        (better((3, 0), (2, 0)), "Tied for first: senet, resnet and vgg."),
        (better((3, 0), (3, 1)), "Tied for first: senet and resnet."),
        (better(), "Not enough judgements to separate any two models."),
    ],
)
def test_who_is_first(separated: Margins, said: str) -> None:
    words = sentences(NAMES, ALL, STRENGTHS, separated)
    assert words[0] == said
    assert (CLOSE in words) == (not said.endswith("is first."))


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (0.9, None),
        (1.2, "If senet stays as far ahead of resnet as now, about 1.4 times as many judged items would show it."),
        (3.0, "If senet stays as far ahead of resnet as now, about 9 times as many judged items would show it."),
        (11.0, "senet and resnet are too close to say how many more judged items would separate them."),
    ],
)
def test_how_many_more_items(margin: float, said: str | None) -> None:
    margins = better((3, 0), (3, 1), (3, 2), by=margin)
    assert sentences(NAMES, ALL, STRENGTHS, margins)[-1] == ("senet is first." if said is None else said)


def test_rank_sets_that_reach_first_place_are_explained() -> None:
    first = better((3, 0), (3, 1)).first
    words = sentences(NAMES, ALL, STRENGTHS, Margins(better((3, 0)).pairs, first))
    assert words[0] == "Tied for first: senet and resnet."
    assert words[-1] == "Rank sets hold for all pairs at once, which takes more evidence: that of vgg also begins at 1."


def test_models_that_tie_exactly_get_no_forecast() -> None:
    _, words = sentences(["a", "b"], ((0, 1),), np.zeros(2), Margins(np.ones((2, 2)), np.ones((2, 2))))
    assert words == ("a and b are too close to say how many more judged items would separate them.")


def test_who_may_be_first_can_be_decided_before_any_two_are_separated() -> None:
    first = np.full((4, 4), 0.5)
    assert sentences(NAMES, ALL, STRENGTHS, Margins(np.full((4, 4), 100.0), first)) == (
        "senet is first.",
        "Rank sets hold for all pairs at once, which takes more evidence: that of senet is 1–4.",
    )


def test_the_first_group_is_ranked_and_the_others_are_not_comparable() -> None:
    said = sentences(NAMES, ((1, 3), (0,), (2,)), np.array([1.0, 0.0]), Margins(*np.full((2, 2, 2), 0.5)))
    assert said == (
        "Of vgg and senet, vgg is first.",
        "Not comparable: no judged item connects alexnet with vgg and senet.",
        "Not comparable: no judged item connects resnet with vgg and senet.",
    )


def test_nobody_is_comparable() -> None:
    said = sentences(NAMES, ((0,), (1,), (2,), (3,)), np.zeros(1), Margins(*np.ones((2, 1, 1))))
    assert said == ("Not comparable: no judged item connects any two models.",)


def test_circles_identical_models_and_degenerate_resamples_are_said() -> None:
    said = sentences(
        NAMES, ALL, STRENGTHS, better(), cyclic_share=0.634, degenerate=12, resamples=1000, identical=[(0, 2)]
    )
    assert said[2:] == (
        "No consistent order: 63 % of the pairwise results are cyclic.",
        "alexnet and resnet gave every item the same label, so they cannot be told apart.",
        "12 of 1,000 bootstrap resamples had too few comparisons to be ranked and are left out of the rank sets.",
    )


def test_errors_get_their_names() -> None:
    assert named("model 3, model 0 never lost", NAMES) == "senet, alexnet never lost"


def test_the_order_from_all_answers_is_said_to_be_the_same_or_not() -> None:
    counts = "From all answers (each counts in every duel that it decides: 62.9 items per duel instead of 30)"
    assert other_order("abc", "abc", 62.93, 30.0) == f"{counts}: the same order."
    assert other_order("abc", "acb", 62.93, 30.0) == f"{counts}: a still leads; 2 of 3 models change places."
    assert other_order("abc", "bca", 62.93, 30.0) == f"{counts}: b leads instead of a; 3 of 3 models change places."
