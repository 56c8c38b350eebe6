from __future__ import annotations

import numpy as np
import pytest

from dissensus.ranking import named, sentences

NAMES = ["alexnet", "vgg", "resnet", "senet"]
ALL = ((0, 1, 2, 3),)


def better(*pairs: tuple[int, int]) -> np.ndarray:
    matrix = np.zeros((4, 4), dtype=bool)
    for one, other in pairs:
        matrix[one, other] = True
    return matrix


STRENGTHS = np.array([0.0, 1.0, 2.0, 3.0])


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
def test_who_is_first(separated: np.ndarray, said: str) -> None:
    assert sentences(NAMES, ALL, STRENGTHS, separated) == (said,)


def test_the_first_group_is_ranked_and_the_others_are_not_comparable() -> None:
    said = sentences(NAMES, ((1, 3), (0,), (2,)), np.array([1.0, 0.0]), np.array([[False, True], [False, False]]))
    assert said == (
        "Of vgg and senet, vgg is first.",
        "Not comparable: no judged item connects alexnet with vgg and senet.",
        "Not comparable: no judged item connects resnet with vgg and senet.",
    )


def test_nobody_is_comparable() -> None:
    said = sentences(NAMES, ((0,), (1,), (2,), (3,)), np.zeros(1), np.zeros((1, 1), dtype=bool))
    assert said == ("Not comparable: no two models share a judged item.",)


def test_circles_identical_models_and_degenerate_resamples_are_said() -> None:
    said = sentences(
        NAMES, ALL, STRENGTHS, better(), cyclic_share=0.634, degenerate=12, resamples=1000, identical=[(0, 2)]
    )
    assert said[1:] == (
        "No consistent order: 63 % of the pairwise results are cyclic.",
        "alexnet and resnet gave every item the same label, so they cannot be told apart.",
        "12 of 1,000 bootstrap resamples had too few comparisons to be ranked "
        "and are left out of the confidence intervals.",
    )


def test_errors_get_their_names() -> None:
    assert named("model 3, model 0 never lost", NAMES) == "senet, alexnet never lost"
