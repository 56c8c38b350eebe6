"""What people's rounds say: their MEPIs, how they got there, and how well they name the MEPIs of machines."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.inquiry import Answers
from dissensus.laconic.asking import READ, Play
from dissensus.records import Control, Manner, Mepis, Readings
from dissensus.records.columns import Columns
from dissensus.reductions.pictures import Levels

PEOPLE = "people"
PAUSE = 2.0
"""Seconds without a step after which somebody has looked at the picture."""
SPREAD = 2.0
"""Sessions further below the control group's mean than this many standard deviations are dropped."""


@dataclass(frozen=True)
class Rounds(Columns):
    """Rounds in which people uncovered an image, right or wrong, a row each; `mode` is a number in `PlayerMepis.modes`.

    `undone` counts the steps that were taken back. `burst` counts those since the last pause: some of them may not have
    been needed. `per_step` is the median time between two steps in seconds, 0 if there are fewer than two.
    """

    image: Int[Array, " r"]
    reduction: Int[Array, " r"]
    mode: Int[Array, " r"]
    person: Int[Array, " r"]
    is_right: Bool[Array, " r"]
    is_given_up: Bool[Array, " r"]
    steps: Int[Array, " r"]
    undone: Int[Array, " r"]
    burst: Int[Array, " r"]
    per_step: Float[Array, " r"]
    seconds: Float[Array, " r"]


@dataclass(frozen=True)
class PlayerMepis:
    """People's MEPIs: `mepis.classifier` is a number in `classifiers`, one for each mode; images are the truth's.

    Only rounds that ended in the right name gave one; `rounds` has all of them. `levels` and `rows` say what each MEPI
    looks like and which round it comes from.
    """

    classifiers: tuple[str, ...]
    modes: tuple[str, ...]
    people: tuple[str, ...]
    mepis: Mepis
    levels: tuple[Levels, ...]
    rows: Int[Array, " m"]
    rounds: Rounds


@dataclass(frozen=True)
class PlayerReadings:
    """How people named the MEPIs of machines: `readings.reader` is 0 for people, `readings.source` one of `models`."""

    readers: tuple[str, ...]
    models: tuple[str, ...]
    readings: Readings
    control: Control
    precision: dict[str, float]
    """Of every session, whether it counts or not."""


def player_mepis(play: Play, answers: Answers) -> PlayerMepis:
    """People's MEPIs, from everybody's answers: the image as it was when they named it rightly."""
    rows = [row for row, place in enumerate(answers.question.tolist()) if play.rounds[place].mode != READ]
    said = [json.loads(answers.rows[row][3]) for row in rows]
    about = [play.rounds[place] for place in answers.question[rows].tolist()]
    rounds = _rounds(play, answers, rows, said)
    right = np.flatnonzero(rounds.is_right)
    levels = _levels(play, [about[row] for row in right.tolist()], [said[row] for row in right.tolist()])
    asked = [(play.truth.ids[about[row].image], about[row].reduction) for row in right.tolist()]
    with ThreadPoolExecutor() as threads:  # compression runs outside Python's lock
        sizes = list(threads.map(lambda one, at: play.gallery.size(one[0], one[1], at), asked, levels))
    modes = play.settings.modes
    bytes_ = np.array(sizes, np.int64)
    mepis = Mepis(rounds.mode[right], rounds.reduction[right], rounds.image[right], bytes_)
    named = tuple(f"{PEOPLE} ({mode})" for mode in modes)
    return PlayerMepis(named, modes, tuple(answers.people), mepis, levels, right, rounds)


def _levels(play: Play, about: Sequence[Any], said: Sequence[Any]) -> tuple[Levels, ...]:
    each = zip(about, said, strict=True)
    return tuple(
        play.gallery.levels(play.truth.ids[one.image], one.reduction, told["steps"][-1][1]) for one, told in each
    )


def _rounds(play: Play, answers: Answers, rows: Sequence[int], said: Sequence[Any]) -> Rounds:
    about = [play.rounds[place] for place in answers.question[list(rows)].tolist()]
    label = play.truth.group[[one.image for one in about]]
    name = np.array([-1 if one["name"] is None else one["name"] for one in said], np.int64)
    paces = [pace_of(one["steps"]) for one in said]
    steps, undone, burst, per_step, seconds = np.array(paces, np.float64).reshape(-1, 5).T
    return Rounds(
        image=np.array([one.image for one in about], np.int64),
        reduction=np.array([play.settings.reductions.index(one.reduction) for one in about], np.int64),
        mode=np.array([play.settings.modes.index(one.mode) for one in about], np.int64),
        person=answers.person[list(rows)],
        is_right=name == label,
        is_given_up=name < 0,
        steps=steps.astype(np.int64),
        undone=undone.astype(np.int64),
        burst=burst.astype(np.int64),
        per_step=per_step,
        seconds=seconds,
    )


def pace_of(steps: Sequence[Any]) -> tuple[int, int, int, float, float]:
    """Of a history: steps at the end, steps taken back, steps added since the last pause, seconds per step and in all.

    Steps count along all axes. The wait for the first step is not the time of a step.
    """
    times = np.array([time for time, _ in steps], np.float64)
    total = np.array([sum(state) for _, state in steps], np.int64)
    change, gaps = np.diff(total), np.diff(times)
    undone = int(-change[change < 0].sum())
    pauses = np.flatnonzero(gaps >= PAUSE)
    since = int(pauses[-1]) if len(pauses) else 0
    burst = int(np.maximum(change[since:], 0).sum())
    per_step = float(np.median(gaps[1:])) if len(gaps) > 1 else 0.0
    return int(total[-1]), undone, burst, per_step, float(times[-1])


def manners(play: Play, found: PlayerMepis) -> list[Manner]:
    """How people played, by mode and reduction: to compare a button per direction with one control for all."""
    ratio = _ratios(play, found)
    rows = found.rounds
    listed = []
    for mode, mode_name in enumerate(found.modes):
        for reduction, name in enumerate(play.settings.reductions):
            mine = np.flatnonzero((rows.mode == mode) & (rows.reduction == reduction))
            if not len(mine):
                continue
            theirs = ratio[(found.mepis.classifier == mode) & (found.mepis.reduction == reduction)]
            listed.append(
                Manner(
                    mode=mode_name,
                    reduction=name,
                    rounds=len(mine),
                    right=float(rows.is_right[mine].mean()),
                    ratio=float(theirs.mean()) if len(theirs) else None,
                    steps=float(rows.steps[mine].mean()),
                    undone=float(rows.undone[mine].mean()),
                    burst=float(rows.burst[mine].mean()),
                    per_step=float(rows.per_step[mine].mean()),
                    seconds=float(rows.seconds[mine].mean()),
                )
            )
    return listed


def _ratios(play: Play, found: PlayerMepis) -> Float[Array, " m"]:
    reductions = [play.settings.reductions[number] for number in found.mepis.reduction.tolist()]
    items = [play.truth.ids[image] for image in found.mepis.image.tolist()]
    each = zip(items, reductions, found.levels, strict=True)
    return np.array([play.gallery.share(item, reduction, levels) for item, reduction, levels in each], np.float64)


def player_readings(play: Play, answers: Answers, trusted: Collection[str]) -> PlayerReadings:
    """How often people name MEPIs of machines rightly, without the sessions that a control group rules out.

    `trusted` are the people of the control group. 'Cannot tell' is wrong.
    """
    rounds = [play.rounds[place] for place in answers.question.tolist()]
    picks = np.array([one.mode == READ for one in rounds], bool)
    label = play.truth.group[[one.image for one in rounds]] if rounds else np.zeros(0, np.int64)
    is_right = answers.code == label
    precision = {
        name: float(is_right[mine].mean())
        for number, name in enumerate(answers.people)
        if (mine := picks & (answers.person == number)).any()
    }
    control = control_of(precision, trusted)
    kept = {number for number, name in enumerate(answers.people) if name in control.kept}
    counts: dict[tuple[int, int, int], list[int]] = {}
    models = tuple(sorted({model for one in rounds for model in one.models}))
    for row in np.flatnonzero(picks).tolist():
        if int(answers.person[row]) in kept:
            one, reduction = rounds[row], play.settings.reductions.index(rounds[row].reduction)
            for model in one.models:
                cell = counts.setdefault((models.index(model), reduction, int(label[row])), [0, 0])
                cell[0] += int(is_right[row])
                cell[1] += 1
    table = np.array([(*key, *cell) for key, cell in sorted(counts.items())], np.int64).reshape(-1, 5).T
    readings = Readings(np.zeros(table.shape[1], np.int64), *table)
    return PlayerReadings((PEOPLE,), models, readings, control, precision)


def control_of(precision: dict[str, float], trusted: Collection[str]) -> Control:
    """Which sessions count, given the precision of each: the control group, and everybody who is not far below it."""
    group = [value for name, value in precision.items() if name in trusted]
    if len(group) < 2:
        mean = group[0] if group else None
        return Control(trusted=len(group), mean=mean, spread=None, threshold=None, kept=tuple(precision), dropped=())
    mean, spread = float(np.mean(group)), float(np.std(group, ddof=1))
    threshold = mean - SPREAD * spread
    dropped = tuple(name for name, value in precision.items() if value < threshold and name not in trusted)
    kept = tuple(name for name in precision if name not in dropped)
    return Control(trusted=len(group), mean=mean, spread=spread, threshold=threshold, kept=kept, dropped=dropped)
