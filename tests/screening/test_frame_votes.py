"""Votes on pairs of frames: which pairs and anchors are kept, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from krippendorff import alpha

from dissensus.errors import ScreeningError
from dissensus.records import FRAME_ACCEPTS, FRAME_ANSWERS, NO, OPEN, YES
from dissensus.screening import Agreement
from dissensus.screening.frame_votes import (
    ALONE,
    BARE_ANCHOR,
    JOINT,
    NO_REASON,
    REASON_OF,
    REASONS,
    WRONG_ANCHOR,
    FrameRule,
    FrameVotes,
    first_votes,
    frame_agreement,
    frame_votes,
    joint_pairs,
    judged_anchors,
    judged_frames,
)

SHORT = {
    "yes": ("right", "yes"),
    "motion": ("right", "motion"),
    "background": ("right", "background"),
    "blur": ("right", "blur"),
    "other": ("right", "other"),
    "unsure": ("right", "unsure"),
    "wrong": ("wrong", None),
    "label?": ("unsure", "yes"),
    "both?": ("unsure", "unsure"),
    "label? motion": ("unsure", "motion"),
}
ONE_STAGE = FrameRule(joint=0)


def votes(*pairs: str, joint: Sequence[str] = ()) -> FrameVotes:
    """Votes of persons 0, 1, … on pairs 0, 1, …, written as 'yes, motion'."""
    rows = [
        (pair, person, FRAME_ANSWERS.index(SHORT[word]), stage)
        for stage, written in ((ALONE, pairs), (JOINT, joint))
        for pair, words in enumerate(written)
        for person, word in enumerate(filter(None, words.split(", ")))
    ]
    return FrameVotes(*np.array(rows, np.int64).reshape(-1, 4).T)


def judged(alone: str, joint: str = "", rule: FrameRule = ONE_STAGE) -> tuple[int, str]:
    """The state of one pair, and why it was rejected."""
    found = judged_frames(votes(alone, joint=[joint]), 1, rule)
    reason = int(found.reason[0])
    return int(found.state[0]), "" if reason == NO_REASON else REASONS[reason]


@pytest.mark.parametrize(
    ("alone", "state", "reason"),
    [
        ("", OPEN, ""),
        ("yes", YES, ""),
        ("motion", NO, "motion"),
        ("wrong", NO, "wrong label"),
        ("unsure", NO, "unsure"),
        ("label?", NO, "unsure label"),
        ("label? motion", NO, "motion"),
        ("yes, blur", NO, "blur"),
        ("both?, both?, both?", NO, "unsure label"),
        ("unsure, unsure, unsure", NO, "unsure"),
        ("yes, yes, motion", YES, ""),
        ("yes, yes, unsure, both?", NO, "unsure label"),
        ("yes, yes, motion, background", NO, "motion"),
        ("yes, yes, background, background, blur", NO, "background"),
        ("yes, yes, yes, other, wrong", YES, ""),
        ("yes, wrong, other, other", NO, "other"),
    ],
)
def test_a_strict_majority_of_all_who_answered_accepts(alone: str, state: int, reason: str) -> None:
    assert judged(alone) == (state, reason)


@pytest.mark.parametrize("people", range(1, 9))
def test_ties_reject(people: int) -> None:
    for accepting in range(people + 1):
        words = ", ".join(["yes"] * accepting + ["motion"] * (people - accepting))
        assert judged(words)[0] == (YES if Fraction(accepting, people) > Fraction(1, 2) else NO)


@pytest.mark.parametrize(
    ("alone", "joint", "rule", "state"),
    [
        ("yes, yes", "", FrameRule(2, 2), YES),
        ("yes", "", FrameRule(2, 2), OPEN),
        ("yes, motion", "", FrameRule(2, 2), OPEN),
        ("yes, motion", "yes", FrameRule(2, 2), OPEN),
        ("yes, motion", "yes, yes", FrameRule(2, 2), YES),
        ("yes, motion", "yes, blur", FrameRule(2, 2), NO),
        ("yes, yes, motion", "blur", FrameRule(3, 1), NO),
        ("motion, motion, motion", "yes", FrameRule(3, 1), YES),
        ("motion", "", FrameRule(3, 1), OPEN),
        ("motion", "yes", FrameRule(3, 1), YES),
        ("yes, yes, motion", "", FrameRule(3, 0), YES),
        ("yes, yes, motion", "motion", FrameRule(3, 0), NO),
        ("", "", FrameRule(0, 0), OPEN),
    ],
)
def test_answers_of_the_joint_review_replace_those_of_the_first_stage(
    alone: str, joint: str, rule: FrameRule, state: int
) -> None:
    assert judged(alone, joint, rule)[0] == state


def test_whatever_somebody_objected_to_goes_to_the_joint_review_once_all_have_voted() -> None:
    words = ("yes, yes", "yes, motion", "motion", "yes, both?", "", "wrong, wrong", "yes, blur")
    joint = ("", "", "", "", "", "", "yes")
    rule = FrameRule(answers=2, joint=1)
    assert joint_pairs(votes(*words, joint=joint), 7, rule).tolist() == [False, True, False, True, False, True, False]
    assert not joint_pairs(votes(*words), 7, FrameRule(answers=2, joint=0)).any()
    state = judged_frames(votes(*words, joint=joint), 7, rule).state
    assert state.tolist() == [YES, OPEN, OPEN, OPEN, OPEN, OPEN, YES]


def test_first_votes_are_counted_without_names_or_later_answers() -> None:
    found = first_votes(votes("motion, yes, both?, yes", joint=["wrong, wrong"]), 0)
    assert found == [
        {"label": "right", "similar": "yes", "count": 2},
        {"label": "right", "similar": "motion", "count": 1},
        {"label": "unsure", "similar": "unsure", "count": 1},
    ]
    assert first_votes(votes("yes"), 3) == []


@pytest.mark.parametrize(
    ("pairs", "state"),
    [
        (["yes", "yes"], YES),
        (["yes", "motion"], YES),
        (["motion", "blur"], BARE_ANCHOR),
        (["wrong", "motion"], BARE_ANCHOR),
        (["wrong", "wrong", "yes"], WRONG_ANCHOR),
        (["wrong", "yes"], YES),
        (["wrong"], WRONG_ANCHOR),
        (["wrong, wrong, yes", "wrong, yes, wrong"], WRONG_ANCHOR),
        (["wrong, yes", "wrong, yes"], BARE_ANCHOR),
        (["wrong", ""], OPEN),
        ([], BARE_ANCHOR),
    ],
)
def test_an_anchor_is_dropped_if_its_label_is_wrong_or_no_frame_is_left(pairs: list[str], state: int) -> None:
    found = judged_frames(votes(*pairs), len(pairs), ONE_STAGE)
    assert judged_anchors(found, np.zeros(len(pairs), np.int64), 1).tolist() == [state]


def test_anchors_do_not_depend_on_each_other() -> None:
    found = judged_frames(votes("wrong", "yes", "motion", ""), 4, ONE_STAGE)
    states = judged_anchors(found, np.array([2, 0, 1, 3]), 5)
    assert states.tolist() == [YES, BARE_ANCHOR, WRONG_ANCHOR, OPEN, BARE_ANCHOR]


TABLES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([ALONE, JOINT])), unique=True, max_size=30
).flatmap(
    lambda cells: st.lists(st.integers(0, len(FRAME_ANSWERS) - 1), min_size=len(cells), max_size=len(cells)).map(
        lambda codes: [(pair, person, code, stage) for (pair, person, stage), code in zip(cells, codes, strict=True)]
    )
)


def columns(rows: Sequence[tuple[int, int, int, int]]) -> FrameVotes:
    return FrameVotes(*np.array(rows, np.int64).reshape(-1, 4).T)


@given(rows=TABLES, answers=st.integers(0, 3), joint=st.integers(0, 3))
def test_the_rule_word_for_word(rows: list[tuple[int, int, int, int]], answers: int, joint: int) -> None:
    found = judged_frames(columns(rows), 4, FrameRule(answers, joint))
    for pair in range(4):
        said = {stage: [code for p, _, code, s in rows if (p, s) == (pair, stage)] for stage in (ALONE, JOINT)}
        counted = said[JOINT] or said[ALONE]
        is_disputed = any(code != FRAME_ACCEPTS for code in said[ALONE])
        if said[JOINT]:
            is_open = len(said[JOINT]) < joint
        else:
            is_open = not counted or len(counted) < answers or (is_disputed and joint > 0)
        is_majority = 2 * counted.count(FRAME_ACCEPTS) > len(counted)
        assert found.state[pair] == (OPEN if is_open else YES if is_majority else NO)
        reasons = Counter(int(REASON_OF[code]) for code in counted if code != FRAME_ACCEPTS)
        if found.state[pair] == NO:
            assert reasons[int(found.reason[pair])] == max(reasons.values())


@given(rows=TABLES, random=st.randoms(use_true_random=False))
def test_neither_the_order_of_votes_nor_names_of_people_or_pairs_matter(
    rows: list[tuple[int, int, int, int]], random: Random
) -> None:
    rule = FrameRule(2, 2)
    shuffled, people, pairs = list(rows), list(range(5)), list(range(4))
    for one in (shuffled, people, pairs):
        random.shuffle(one)
    renamed = columns([(pairs[pair], people[person], code, stage) for pair, person, code, stage in shuffled])
    before, after = judged_frames(columns(rows), 4, rule), judged_frames(renamed, 4, rule)
    for name in ("state", "reason", "counts", "is_joint", "is_disputed", "is_wrong"):
        assert np.array_equal(getattr(before, name), getattr(after, name)[pairs]), name
    anchor = np.array([0, 0, 1, 1])
    turned = np.empty(4, np.int64)
    turned[pairs] = anchor
    assert np.array_equal(judged_anchors(before, anchor, 2), judged_anchors(after, turned, 2))


def test_questions_of_both_stages_become_votes() -> None:
    found = frame_votes(np.array([0, 2, 3, 5]), np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), 3)
    assert found.pair.tolist() == [0, 2, 0, 2]
    assert found.stage.tolist() == [ALONE, ALONE, JOINT, JOINT]
    empty = np.zeros(0, np.int64)
    assert len(frame_votes(empty, empty, empty, 0)) == 0
    assert judged_frames(frame_votes(empty, empty, empty, 0), 0).state.tolist() == []


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ScreeningError):
        judged_frames(columns([(0, 0, len(FRAME_ANSWERS), ALONE)]), 1)
    with pytest.raises(ScreeningError):
        judged_frames(columns([(2, 0, 0, ALONE)]), 2)


def test_agreement_is_krippendorffs_alpha_of_the_first_votes() -> None:
    rng = np.random.default_rng(3)
    code = np.where(rng.random((40, 4)) < 0.6, rng.integers(0, len(FRAME_ANSWERS), (40, 1)), 0)
    rows = [(pair, person, int(code[pair, person]), ALONE) for pair in range(40) for person in range(4)]
    later = [(pair, 0, 6, JOINT) for pair in range(40)]
    found = frame_agreement(columns([*rows, *later]))
    assert isinstance(found, Agreement)
    reference = alpha(reliability_data=(code == FRAME_ACCEPTS).astype(int).T.tolist(), level_of_measurement="nominal")
    assert found.value == pytest.approx(reference)
    assert found.items == 40


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (votes(), "no item has two answers"),
        (votes("yes", "motion"), "no item has two answers"),
        (votes("yes, yes", "yes, yes"), "all answers are the same"),
        (votes("yes, motion"), "only one item"),
    ],
)
def test_where_there_is_no_agreement_the_reason_is_given(found: FrameVotes, words: str) -> None:
    told = frame_agreement(found)
    assert isinstance(told, str)
    assert words in told
