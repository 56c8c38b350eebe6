"""Pairs of frames: short clips, their review in two stages, and people with planted judgements who answer over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from photos import eight_photos
from PIL import Image, ImageFilter
from served import Client, Served

from dissensus.competition.evaluation import read_answers
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.records import OPEN, Question
from dissensus.screening import (
    FrameRule,
    FrameVotes,
    JudgedFrames,
    first_votes,
    frame_votes,
    joint_pairs,
    judged_frames,
)
from dissensus.steps.serving import StudyBacking
from dissensus.store.settings import Settings
from dissensus.study import Study

Judgement = tuple[str, str | None]
"""(label, similar), as in `FRAME_ANSWERS`."""
OFFSETS = (-10, -3, 2, 9)
CLASSES = "ant\nbee\ncat\ndog\neel\n"


def clip(photo: Image.Image, offset: int) -> Image.Image:
    """A frame of a made clip: the camera moves along, and far away everything is blurred."""
    width, height = photo.size
    left = round(width * (0.1 + offset / 200))
    frame = photo.crop((left, height // 10, left + round(width * 0.8), height - height // 10)).resize((320, 240))
    return frame.filter(ImageFilter.GaussianBlur(2)) if offset == max(OFFSETS) else frame


def frame_name(anchor: int, offset: int) -> str:
    """A name that tells everything that people must not know."""
    return f"secret-{anchor}-{'anchor' if offset == 0 else f'offset{offset:+03}'}.png"


def frame_study(root: Path, anchors: int = 2) -> Study:
    """Clips of five frames, without any model."""
    (root / "pool").mkdir(parents=True)
    for number, photo in enumerate(eight_photos()[:anchors]):
        for offset in (0, *OFFSETS):
            clip(photo.convert("RGB"), offset).save(root / "pool" / frame_name(number, offset))
    (root / "classes.txt").write_text(CLASSES)
    study = Study.init(root / "study", classes=str(root / "classes.txt"), title="Frames")
    study.pool([root / "pool"])
    study.change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})  # everybody is asked each question once
    return study


def pair_bodies(anchors: int = 2, labels: Sequence[int] = (2,)) -> list[dict[str, Any]]:
    """Every anchor with every frame around it."""
    return [
        {"anchor": frame_name(number, 0), "frame": frame_name(number, offset), "labels": list(labels)}
        for number in range(anchors)
        for offset in OFFSETS
    ]


class FrameReview(Inquiry):
    """All pairs in stage 1, and then those that somebody objected to in stage 2."""

    def __init__(self, work: Any, pairs: Sequence[Mapping[str, Any]], rule: FrameRule, pool: Path) -> None:
        super().__init__()
        self.work, self.rule, self.pool = work, rule, pool
        stages: tuple[dict[str, Any], ...] = ({}, {"stage": 2})
        self.groups = [
            Questions("frames", [Question(kind="frames", body=dict(pair) | more).text for pair in pairs])
            for more in stages
        ]
        self.many = len(pairs)

    def current_version(self) -> tuple[int, ...]:
        return ()

    def questions(self) -> list[Questions]:
        return self.groups

    def uris(self) -> Mapping[str, str | None]:
        return {path.name: str(path) for path in self.pool.iterdir()}

    def votes(self, answers: Answers | None = None) -> FrameVotes:
        found = self._read(self.groups) if answers is None else answers
        return frame_votes(found.question, found.person, found.code, self.many)

    def _read(self, groups: list[Questions]) -> Answers:
        return read_answers(self.work.answers, groups, self.work.people.excluded())

    def judged(self) -> JudgedFrames:
        return judged_frames(self.votes(), self.many, self.rule)

    def needed(self, answers: Answers, /) -> Needed:
        votes = self.votes(answers)
        is_joint = joint_pairs(votes, self.many, self.rule)
        is_open = judged_frames(votes, self.many, self.rule).state == OPEN
        return Needed(np.concatenate([is_open & ~is_joint, is_joint]))

    def context(self, question: Question, /) -> dict[str, Any]:
        place = self.groups[1].texts.index(question.text)
        found = self._read([self.groups[0].at(place)])  # of this pair alone: there may be many
        return {"votes": first_votes(frame_votes(found.question, found.person, found.code, 1), 0)}

    def material(self, _question: Question, shown: dict[str, Any], /) -> dict[str, Any]:
        return {"votes": shown["votes"]}


class ServedFrames(Served):
    """The review of these pairs in a thread of this process."""

    def __init__(self, folder: Path, pairs: Sequence[Mapping[str, Any]], rule: FrameRule, people: int) -> None:
        self.pairs, self.rule, self.people = pairs, rule, people
        super().__init__(folder)

    def review(self) -> FrameReview:
        return self._review(Study(self.folder)._task.work)

    def _review(self, work: Any) -> FrameReview:
        return FrameReview(work, self.pairs, self.rule, self.folder.parent / "pool")

    def _serve(self) -> None:
        try:
            study = self.open_study(self.folder)
            study._serve({}, self._opened, self.port, None, partial(self._backing, study))
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()

    def _backing(self, study: Study, tell: Any, settings: Settings) -> StudyBacking:
        judge = settings.judge.model_copy(update={"min_answers": self.people})
        serve = settings.serve.model_copy(update={"repeat_rate": 0.0})
        work = study._task_with(settings.model_copy(update={"judge": judge, "serve": serve})).work
        return StudyBacking(work, lambda: self._review(work), tell)


def judge_frames(
    study: Study, client: Client, how: Callable[[dict[str, Any]], Judgement], most: int = 1 << 20
) -> list[dict[str, Any]]:
    """Answer the `frames` questions that wait for a person: `how(body)` is what they think. What they were sent.

    Joint reviews come up shortly after the last vote, not at once: see `eventually`.
    """
    seen: list[dict[str, Any]] = []
    while len(seen) < most and (found := client.next()):
        told = found[0]
        assert told["kind"] == "frames"
        assignment = study._task.work.answers.assignment(told["ticket"])
        assert assignment is not None
        body = assignment.question.body
        assert not any(body[name] in json.dumps(told) for name in ("anchor", "frame"))
        label, similar = how(body)
        client.answer(told["ticket"], {"label": label, "similar": similar})
        seen.append(told)
    return seen
