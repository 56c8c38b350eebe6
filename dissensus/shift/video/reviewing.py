"""What people are asked about pairs of frames, and what their votes say (thesis, section 4.2.4).

In the first stage, several people judge every pair on their own. In the second, everything that anybody called
dissimilar, wrong or unsure is reviewed jointly: the page shows how the first stage voted, without names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.competition.evaluation import read_answers
from dissensus.errors import StudyError, counted
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.records import NO, OPEN, YES, Question
from dissensus.records.video_steps import VideoStatus
from dissensus.screening import (
    FrameRule,
    FrameVotes,
    JudgedFrames,
    first_votes,
    frame_agreement,
    frame_votes,
    joint_pairs,
    judged_anchors,
    judged_frames,
)
from dissensus.screening.frame_votes import ALONE, BARE_ANCHOR, REASONS, WRONG_ANCHOR
from dissensus.shift.video.frames import KeptFrames, kept_frames
from dissensus.steps.predicting import predicted
from dissensus.steps.presence import recorded_missing
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace

STAGES: tuple[dict[str, Any], ...] = ({}, {"stage": 2})
NOBODY = "Nobody has reviewed the frames, so all of them count as similar to their anchors."
AS_PUBLISHED = "The sets of similar frames are those that were published, as their reviewers left them."


def pair_questions(kept: KeptFrames, work: Workspace[Any]) -> list[Questions]:
    """All pairs in the first stage, and the same in the second; labels are those of the frame, or the anchor's."""
    is_own = kept.groups.names == work.classes.names
    bodies = []
    for row in kept.pairs:
        labels = list(row.labels or kept.labels[row.anchor])
        names = {} if is_own else {"names": [kept.groups.names[label] for label in labels]}
        bodies.append({"anchor": row.anchor, "frame": row.item, "labels": labels} | names)
    return [Questions("frames", [Question(kind="frames", body=body | more).text for body in bodies]) for more in STAGES]


def review_rule(work: Workspace[Any]) -> FrameRule:
    settings = work.settings.video
    return FrameRule(settings.reviewers, settings.joint)


class FrameReview(Inquiry):
    """Every pair, and then the joint review of those that anybody objected to."""

    def __init__(self, work: Workspace[Any]) -> None:
        """Read the frames.

        Raises:
            StudyError: there are none, or no anchor has a neighbour, or there are no pictures.
        """
        self.work = work
        super().__init__()
        self.kept = kept_frames(work)
        self.rule = review_rule(work)
        self.groups = pair_questions(self.kept, work)
        self.many = len(self.kept.pairs)
        if not self.many:
            raise StudyError("no anchor has a neighbour, so there is nothing to ask: collect with a larger --k")
        self._uris = uris_named(work.folder, {*self.kept.items})
        if not any(self._uris.values()):
            raise StudyError("the frames are not on disk, so nobody can look at them: collect with their folder")
        self._place = {text: number for number, text in enumerate(self.groups[1].texts)}

    def current_version(self) -> tuple[int, ...]:
        path = self.work.folder.video_frames
        return (path.stat().st_mtime_ns,) if path.is_file() else ()

    def questions(self) -> list[Questions]:
        return self.groups

    def uris(self) -> Mapping[str, str | None]:
        return self._uris

    @cached_property
    def _pictured(self) -> tuple[frozenset[str], Bool[Array, " n"]]:
        missing = recorded_missing(self.work.database) | {item for item, uri in self._uris.items() if not uri}
        return missing, np.array([missing.isdisjoint((row.anchor, row.item)) for row in self.kept.pairs], bool)

    def votes(self, answers: Answers | None = None) -> FrameVotes:
        """Everybody's latest votes, from the database unless they are given."""
        found = self._read(self.groups) if answers is None else answers
        return frame_votes(found.question, found.person, found.code, self.many)

    def _read(self, groups: list[Questions]) -> Answers:
        return read_answers(self.work.answers, groups, self.work.people.excluded())

    def needed(self, answers: Answers, /) -> Needed:
        """Pairs that are open and have both pictures; disputed ones in the second stage once the first is complete."""
        votes = self.votes(answers)
        is_joint = joint_pairs(votes, self.many, self.rule)
        is_open = judged_frames(votes, self.many, self.rule).state == OPEN
        has_pictures = self._pictured[1]
        return Needed(np.concatenate([is_open & ~is_joint & has_pictures, is_joint & has_pictures]))

    def context(self, question: Question, /) -> dict[str, Any]:
        """How the first stage voted at the time the joint review is asked."""
        found = self._read([self.groups[0].at(self._place[question.text])])  # of this pair alone: there may be many
        return {"votes": first_votes(frame_votes(found.question, found.person, found.code, 1), 0)}

    def material(self, _question: Question, shown: dict[str, Any], /) -> dict[str, Any]:
        return {"votes": shown["votes"]}


@dataclass(frozen=True)
class Review:
    """What the votes say about pairs and anchors."""

    kept: KeptFrames
    votes: FrameVotes
    judged: JudgedFrames
    rule: FrameRule
    people: tuple[str, ...]

    @property
    def is_begun(self) -> bool:
        return len(self.votes.pair) > 0

    @cached_property
    def is_kept(self) -> Bool[Array, " a"]:
        """Anchors that are used: all of them if nobody has reviewed anything.

        An anchor that is not decided yet is used if one of its pairs is accepted.
        """
        kept = self.kept
        if not self.is_begun:
            return np.ones(len(kept.anchors), bool)
        anchor = np.array([kept.number_of[row.anchor] for row in kept.pairs], np.int64)
        state = judged_anchors(self.judged, anchor, len(kept.anchors))
        accepted = np.bincount(anchor[self.judged.state == YES], minlength=len(kept.anchors)) > 0
        return np.asarray(accepted & (state != WRONG_ANCHOR) & (state != BARE_ANCHOR))

    @property
    def is_similar(self) -> Bool[Array, " F"]:
        """Rows that are used; without any review, all of them."""
        kept = self.kept
        if not self.is_begun:
            return np.ones(len(kept.rows), bool)
        accepted = iter((self.judged.state == YES).tolist())
        own = [self.is_kept[kept.number_of[row.anchor]] if row.offset == 0 else next(accepted) for row in kept.rows]
        return np.array(own, bool)

    @property
    def words(self) -> str:
        """How far the review is, for the notes of a result."""
        if not self.is_begun:
            return AS_PUBLISHED if self.kept.collected.is_reviewed else NOBODY
        still = int((self.judged.state == OPEN).sum())
        accepted, pairs = int((self.judged.state == YES).sum()), len(self.kept.pairs)
        people = counted(len(self.people), "person", "people")
        line = (
            f"{people} reviewed pairs of frames: {accepted:,} of {pairs:,} are accepted, and "
            f"{int(self.is_kept.sum()):,} of {len(self.kept.anchors):,} anchors."
        )
        undecided = counted(still, "pair is not decided yet and is", "pairs are not decided yet and are")
        return line + (f" {undecided} left out." if still else "")


def review_of(work: Workspace[Any], kept: KeptFrames | None = None) -> Review:
    """The votes so far."""
    kept = kept or kept_frames(work)
    groups, rule, many = pair_questions(kept, work), review_rule(work), len(kept.pairs)
    found = read_answers(work.answers, groups, work.people.excluded())
    votes = frame_votes(found.question, found.person, found.code, many)
    people = sorted({found.people[number] for number in found.person.tolist()})
    return Review(kept, votes, judged_frames(votes, many, rule), rule, tuple(people))


def status(work: Workspace[Any]) -> VideoStatus:
    """How far the review is."""
    found = review_of(work)
    many, rule, judged = len(found.kept.pairs), found.rule, found.judged
    first = np.bincount(found.votes.pair[found.votes.stage == ALONE], minlength=many)
    reason = judged.reason[judged.state == NO]
    alpha = frame_agreement(found.votes)
    return VideoStatus(
        collected=found.kept.collected,
        answers=int(np.minimum(first, rule.answers).sum()),
        wanted=many * rule.answers,
        reviewed=int((judged.state != OPEN).sum()),
        accepted=int((judged.state == YES).sum()),
        disputed=int(judged.is_disputed.sum()),
        joint=int(joint_pairs(found.votes, many, rule).sum()),
        reasons={REASONS[n]: int((reason == n).sum()) for n in range(len(REASONS)) if (reason == n).any()},
        agreement=alpha if isinstance(alpha, str) else alpha.words,
        kept_anchors=int(found.is_kept.sum()),
        people=found.people,
        models=tuple(predicted(work.folder, work.settings)),
    )
