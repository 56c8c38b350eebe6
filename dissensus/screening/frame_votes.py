"""From votes on pairs of frames to the frames and anchors that are kept (thesis, section 4.2.4).

Every reviewer first judges the pairs alone. Pairs that anybody called dissimilar, wrong or unsure are then reviewed
jointly, in stage 2. A pair is accepted if a strict majority of all who answered say 'right and similar': a tie rejects
it, and 'unsure' does not speak for it. Where a pair has answers of stage 2, they alone count, because they are what
people say who have seen how everybody voted, whether each of them answers again or the group answers once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import ScreeningError
from dissensus.records import FRAME_ACCEPTS, FRAME_ANSWERS, FRAME_REASONS, NO, OPEN, YES
from dissensus.records.columns import Columns
from dissensus.screening.agreement import Agreement, agreement
from dissensus.screening.counts import cross_counts

ALONE, JOINT = 1, 2
"""The stages of the review."""

REASONS = ("wrong label", "unsure label", *FRAME_REASONS, "unsure")
"""Why a vote speaks against a pair; of reasons that are given equally often, the one listed first is named."""
WRONG_LABEL = REASONS.index("wrong label")
NO_REASON = -1


def _reason_of(label: str, similar: str | None) -> int:
    if label == "wrong":
        return WRONG_LABEL
    if similar in REASONS[:-1]:
        return REASONS.index(similar)  # a dissimilar pair stays one, whatever its label
    if label == "unsure":
        return REASONS.index("unsure label")
    return NO_REASON if similar == "yes" else REASONS.index("unsure")


REASON_OF = np.array([_reason_of(*answer) for answer in FRAME_ANSWERS])
"""The reason of each code; NO_REASON for the answer that accepts."""

WRONG_ANCHOR, BARE_ANCHOR = -1, -2
"""Anchors that are dropped: the label is wrong, or no similar frame is left."""


@dataclass(frozen=True)
class FrameVotes(Columns):
    """Each person's latest answer about each pair in each stage; `code` is a place in `FRAME_ANSWERS`."""

    pair: Int[Array, " A"]
    person: Int[Array, " A"]
    code: Int[Array, " A"]
    stage: Int[Array, " A"]


@dataclass(frozen=True)
class FrameRule:
    """When a pair has enough answers."""

    answers: int = 1
    """Answers that every pair needs in stage 1."""
    joint: int = 1
    """Answers that a disputed pair needs in stage 2: 1 if a group answers at one screen, 0 if there is no stage 2."""


@dataclass(frozen=True)
class JudgedFrames:
    """What the votes say about each pair."""

    state: Int[Array, " n"]
    """YES (accepted), NO (rejected) or OPEN."""
    counts: Int[Array, "n L"]
    """How many people gave each answer, of those that count."""
    is_joint: Bool[Array, " n"]
    """Whether the answers that count are those of stage 2."""
    is_disputed: Bool[Array, " n"]
    """Whether anybody objected in stage 1."""

    @property
    def against(self) -> Int[Array, "n W"]:
        """How many people named each of the `REASONS`."""
        return np.stack([self.counts[:, reason == REASON_OF].sum(axis=1) for reason in range(len(REASONS))], axis=1)

    @property
    def reason(self) -> Int[Array, " n"]:
        """The reason that most people named, for pairs that are rejected; NO_REASON for others."""
        return np.where(self.state == NO, self.against.argmax(axis=1), NO_REASON)

    @property
    def is_wrong(self) -> Bool[Array, " n"]:
        """Whether the label is wrong, by a strict majority of all who answered."""
        is_wrong = 2 * self.against[:, WRONG_LABEL] > self.counts.sum(axis=1)
        return np.asarray((self.state == NO) & is_wrong)


def frame_votes(question: Int[Array, " A"], person: Int[Array, " A"], code: Int[Array, " A"], pairs: int) -> FrameVotes:
    """Votes from answers to 2 × `pairs` questions: all pairs in stage 1, then the same pairs in stage 2."""
    stage = np.where(question < pairs, ALONE, JOINT)
    return FrameVotes(question % max(pairs, 1), person, code, stage)


def judged_frames(votes: FrameVotes, pairs: int, rule: FrameRule | None = None) -> JudgedFrames:
    """The state of pairs 0 to `pairs` − 1.

    A pair is open as long as it has fewer answers than the rule asks for, in stage 1 or, if somebody objected there, in
    stage 2. Once it has answers of stage 2, those of stage 1 no longer matter.

    Raises:
        ScreeningError: a pair or a code is out of range.
    """
    rule = rule or FrameRule()
    alone, joint = (_counts(votes, pairs, stage) for stage in (ALONE, JOINT))
    is_disputed = alone.sum(axis=1) > alone[:, FRAME_ACCEPTS]
    is_joint = joint.sum(axis=1) > 0
    counts = np.where(is_joint[:, None], joint, alone)
    total = counts.sum(axis=1)
    needed = np.where(is_joint, rule.joint, rule.answers)
    is_open = (total < np.maximum(needed, 1)) | (is_disputed & ~is_joint & (rule.joint > 0))
    accepted = np.where(2 * counts[:, FRAME_ACCEPTS] > total, YES, NO)
    return JudgedFrames(np.where(is_open, OPEN, accepted), counts, is_joint, is_disputed)


def joint_pairs(votes: FrameVotes, pairs: int, rule: FrameRule | None = None) -> Bool[Array, " n"]:
    """Which pairs the joint review still has to answer: somebody objected to them, and all of stage 1 is in."""
    rule = rule or FrameRule()
    alone, joint = (_counts(votes, pairs, stage) for stage in (ALONE, JOINT))
    given = alone.sum(axis=1)
    is_due = (given >= max(rule.answers, 1)) & (given > alone[:, FRAME_ACCEPTS])
    return np.asarray(is_due & (joint.sum(axis=1) < rule.joint))


def first_votes(votes: FrameVotes, pair: int) -> list[dict[str, Any]]:
    """How stage 1 voted on a pair, without names, as the joint review shows it: the most frequent answer first.

    Answers that were given equally often are in the order of `FRAME_ANSWERS`.
    """
    is_here = (votes.pair == pair) & (votes.stage == ALONE)
    counts = np.bincount(votes.code[is_here], minlength=len(FRAME_ANSWERS))
    told = [code for code in np.argsort(-counts, kind="stable").tolist() if counts[code]]
    return [
        {"label": FRAME_ANSWERS[code][0], "similar": FRAME_ANSWERS[code][1], "count": int(counts[code])}
        for code in told
    ]


def judged_anchors(judged: JudgedFrames, anchor: Int[Array, " n"], anchors: int) -> Int[Array, " a"]:
    """The state of each anchor, from its pairs: YES if it is kept, OPEN while one of its pairs is open.

    WRONG_ANCHOR: the label is wrong in more than half of its pairs; in a few of them, the fault may be the neighbour's.
    BARE_ANCHOR: none of its pairs is accepted, or it has none, so that there is nothing to compare it with.
    """
    columns = (np.ones(len(anchor), bool), judged.state == OPEN, judged.state == YES, judged.is_wrong)
    every, still, accepted, wrong = (np.bincount(anchor[one], minlength=anchors) for one in columns)
    state = np.where(accepted > 0, YES, BARE_ANCHOR)
    state[2 * wrong > every] = WRONG_ANCHOR
    state[still > 0] = OPEN
    return state


def frame_agreement(votes: FrameVotes, seed: int = 0) -> Agreement | str:
    """Krippendorff's alpha of who accepts which pair in stage 1, or the reason why there is none.

    Answers of stage 2 are left out, because people knew how others had voted.
    """
    first = votes.take(votes.stage == ALONE)
    pairs, pair = np.unique(first.pair, return_inverse=True)
    values, value = np.unique(first.code == FRAME_ACCEPTS, return_inverse=True)
    try:
        return agreement(pair, value, len(pairs), values.astype(float), np.random.default_rng(seed), resamples=200)
    except ScreeningError as error:
        return str(error)


def _counts(votes: FrameVotes, pairs: int, stage: int) -> Int[Array, "n L"]:
    here = votes.take(votes.stage == stage)
    return cross_counts(here.pair, here.code, pairs, len(FRAME_ANSWERS))
