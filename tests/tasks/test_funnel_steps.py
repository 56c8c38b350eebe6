"""What is left of the levels of defenders (scores) and of their categories (masks), counted by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from dissensus.records import MaskSelection, PairSelection, Selection
from dissensus.selection import CategoryTops, Quota
from dissensus.tasks.masks.groups import group_steps
from dissensus.tasks.scores.levels import level_steps


def columns(kind, rows: int, **given):
    """A selection whose other columns are zero."""
    return kind(**{field.name: np.asarray(given.get(field.name, np.zeros(rows, np.int64))) for field in fields(kind)})


def test_levels_and_attacks():
    weight = np.array([[5, 1, 2], [0, 9, 9], [3, 3, 3]])
    wanted = np.array([[False, True, False], [True, False, False], [True, True, False]])  # nobody attacks the third
    selection = columns(PairSelection, 3, attacker=[0, 0, 2], defender=[1, 1, 0], level=[1, 1, 0])
    steps = level_steps(weight, wanted, selection)
    assert [(step.left, step.unit) for step in steps] == [(6, "levels"), (4, "levels"), (8, "attacks"), (2, "attacks")]


def test_categories_of_defenders():
    tops = CategoryTops.empty(2, 4, Quota(1))
    predicted = np.array([[9, 1, 1, 0], [9, 1, 1, 1]])
    in_scale = np.array([[0, 1, 0, 0], [0, 1, 1, 1]])
    valid = np.zeros((2, 2, 4), np.int64)
    valid[0, 1, 1] = 1
    valid[1, 0, 1] = 1  # not wanted
    wanted = np.array([[False, True], [False, False]])
    steps = group_steps(replace(tops, predicted=predicted, in_scale=in_scale, valid=valid), wanted)
    assert [step.left for step in steps] == [3, 3, 3, 1]
    both = group_steps(replace(tops, predicted=predicted, in_scale=in_scale, valid=valid), ~np.eye(2, dtype=bool))
    assert [step.left for step in both] == [6, 5, 4, 2]


def test_what_several_duels_share_counts_once():
    assert columns(Selection, 4, item=[3, 3, 5, 3], first=[0, 0, 1, 1]).different == 2
    assert columns(PairSelection, 3, low=[1, 2, 1], high=[2, 1, 3]).different == 2  # a pair in both orders is one
    assert columns(MaskSelection, 0, item=np.zeros(0, np.int64)).different == 0
