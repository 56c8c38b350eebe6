"""collect: anchors and their neighbours become the pool of a study, with a table of which frame is which."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image

from dissensus.errors import StudyError, some
from dissensus.records.replica import Problem
from dissensus.records.video_steps import VideoCollected
from dissensus.shift.video.anchors import Choice, Frame, Outcome, from_film, from_folder
from dissensus.shift.video.clips import Clip, clips_in, full_names
from dissensus.shift.video.frames import Row, frame_folder, has_frames, kept_frames, write_frames
from dissensus.shift.video.listing import Labels, NamedAnchors, labels_named, read_anchors, read_labels
from dissensus.shift.video.public_sets import from_sets
from dissensus.steps.groups import Groups, chosen_groups
from dissensus.steps.pooling import has_items, make_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.files import csv_text, file_fingerprint, fingerprint, remove_file, write_text, write_whole
from dissensus.store.parts import Parts, changed_inputs, clear_parts, refuse_changes
from dissensus.store.tables import read_stamps

STEP = "video"
MOST_K = 1000


@dataclass(frozen=True)
class Request:
    """What a user asks `collect` to do; see `Study.video_collect`."""

    sources: Sequence[str] = ()
    labels: Path | None = None
    anchors: Path | None = None
    classes: str | Path | None = None
    k: int = 10
    per_clip: int = 1
    seed: int = 0

    def check(self) -> None:
        for name, value, least, most in (("k", self.k, 1, MOST_K), ("per-clip", self.per_clip, 1, 1 << 20)):
            if not least <= value <= most:
                raise StudyError(f"--{name} {value}: give a number from {least} to {most:,}")
        if self.labels is None and self.anchors is None:
            raise StudyError("give the classes of the clips: --labels FILE, a table with the columns clip and label")


@dataclass
class Found:
    """Everything that was found, before it is written."""

    rows: list[Row] = field(default_factory=list)
    uris: dict[str, str | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    ended: list[Problem] = field(default_factory=list)
    variable: list[str] = field(default_factory=list)

    def add(self, clip: str, anchor: int, frames: Sequence[Frame], labels: Labels, is_path: bool = False) -> None:
        """Add an anchor with its frames; without a label, it becomes a problem."""
        item_of = {one.number: one.name if is_path else f"{clip}/{one.name}" for one in frames}
        home = item_of[anchor]
        own = labels.of_frame(clip, home, anchor) or labels.of_clip(clip)
        if not own:
            self.problems.append(Problem(item=home, reason="no label"))
            return
        for one in frames:
            item = item_of[one.number]
            given = own if one.number == anchor else labels.of_frame(clip, item, one.number) or None
            self.rows.append(Row(item, clip, home, one.number - anchor, one.number, one.time, given))
            self.uris[item] = one.uri


def collect(work: Workspace[Any], request: Request) -> VideoCollected:
    """Collect frames once; the same call again changes nothing.

    Raises:
        StudyError: nothing can be used, the study has another pool, or other frames have been collected.
    """
    request.check()
    folder = work.folder
    if has_items(folder) and not has_frames(folder):
        raise StudyError("this study already has a pool of its own: start a new study for the frames")
    groups = chosen_groups(work.classes, request.classes)
    named = None if request.anchors is None else read_anchors(request.anchors)
    labels = Labels() if request.labels is None else read_labels(request.labels, groups)
    is_listing = named is not None and named.is_listing
    clips = [] if is_listing else clips_in(_required(request.sources))
    labels = labels.of_clips(clips)
    if named is not None and request.anchors is not None:
        more = Labels(labels_named(named.labels, groups, request.anchors))
        labels = labels.merged(more.of_clips(clips).known)
    inputs = _inputs(request, clips, groups)
    if has_frames(folder):
        before = read_stamps(folder.video_frames, "inputs")["inputs"]
        if has_items(folder):
            refuse_changes("shift video collect", before, inputs, "start a new study")
            return kept_frames(work).collected
        if not changed_inputs(before, inputs):
            _pool(work)
            return kept_frames(work).collected
    if is_listing and named is not None:
        found = _listed(work, request, named, labels)
    else:
        found = _from_clips(work, request, clips, named, labels, inputs)
    try:
        collected = _collected(found, request, groups, is_listing)
    except StudyError:
        clear_parts(folder.parts(STEP))
        raise
    write_text(folder.video / "pool.csv", _manifest(found.uris))
    write_frames(folder, found.rows, groups, collected, inputs, [str(one) for one in request.sources])
    clear_parts(folder.parts(STEP))
    _pool(work)
    return collected


def _required(sources: Sequence[str]) -> Sequence[str]:
    if not sources:
        raise StudyError("give video files, or folders of frames or clips")
    return sources


def _inputs(request: Request, clips: Sequence[Clip], groups: Groups) -> dict[str, Any]:
    """What the frames depend on, so that an interrupted `collect` resumes only if nothing has changed."""
    content = [
        f"{clip.name}\0{clip.film}\0{file_fingerprint(clip.film)}" if clip.film else
        "\0".join([clip.name, *map(str, clip.frames)])
        for clip in clips
    ]  # fmt: skip
    return {
        "clips": fingerprint(*content),
        "labels": None if request.labels is None else file_fingerprint(request.labels),
        "anchors": None if request.anchors is None else file_fingerprint(request.anchors),
        "classes": fingerprint(*groups.names, groups.of_label.tobytes()),
        "k": request.k,
        "per_clip": request.per_clip,
        "seed": request.seed,
    }


def _from_clips(
    work: Workspace[Any], request: Request, clips: Sequence[Clip], named: NamedAnchors | None, labels: Labels,
    inputs: Mapping[str, Any],
) -> Found:  # fmt: skip
    """Clip by clip; each that is finished is kept as a part."""
    found = Found()
    choice = Choice(request.k, request.per_clip, request.seed, None if named is None else _by_clip(named, clips, found))
    parts = Parts(work.folder.parts(STEP), "shift video collect", dict(inputs), replaces=True)
    for number, clip in enumerate(clips):
        if choice.named is not None and clip.name not in choice.named:
            continue
        if number not in parts:
            made = _outcome(work, clip, choice, labels)
            parts.write(number, pa.table({"outcome": [json.dumps(made.as_json())]}))
        made = Outcome.read(json.loads(parts.read(number)["outcome"][0].as_py()))
        _take(found, made, labels)
        work.progress("reading clips", number + 1, len(clips))
    return found


def _by_clip(named: NamedAnchors, clips: Sequence[Clip], found: Found) -> dict[str, tuple[str, ...]]:
    """The named anchors of every clip; those of clips that there are not are problems.

    A file may name a clip by its folder alone, as the public metadata do.
    """
    known = full_names(clips)
    chosen: dict[str, tuple[str, ...]] = {}
    for name, frame in named.frames:
        if name not in known:
            found.problems.append(Problem(item=f"{name}/{frame}", reason="no such clip"))
        else:
            chosen[known[name]] = (*chosen.get(known[name], ()), frame)
    found.problems += [Problem(item=item, reason=reason) for item, reason in named.left_out.items()]
    return chosen


def _outcome(work: Workspace[Any], clip: Clip, choice: Choice, labels: Labels) -> Outcome:
    if not labels.is_any(clip.name):
        longer = labels.with_ending(clip.name)
        hint = "" if longer is None else f"; the labels name '{longer}': leave out the ending"
        return Outcome(clip.name, problem=f"no label{hint}")

    def is_labelled(number: int, name: str) -> bool:
        return bool(labels.of_clip(clip.name) or labels.of_frame(clip.name, f"{clip.name}/{name}", number))

    if clip.film is None:
        return from_folder(clip, choice, is_labelled)
    here = frame_folder(work.folder, clip.name)
    made = from_film(clip, choice, is_labelled, partial(_keep, here))
    used = {one.name for frames in made.anchors.values() for one in frames}
    for path in here.glob("*.png"):  # of anchors that were drawn before the file turned out to be shorter
        if path.name not in used:
            remove_file(path)
    return made


def _keep(folder: Path, name: str, image: Image.Image) -> Path:
    """Write a frame without loss."""
    path = folder / name
    write_whole(path, lambda unfinished: image.save(unfinished, "PNG", compress_level=3))
    return path.absolute()


def _take(found: Found, made: Outcome, labels: Labels) -> None:
    if made.problem:
        found.problems.append(Problem(item=made.clip, reason=made.problem))
    if made.ended:
        found.ended.append(Problem(item=made.clip, reason=made.ended))
    if made.is_variable and made.anchors:
        found.variable.append(made.clip)
    found.problems += [Problem(item=item, reason="no such frame") for item in made.unknown]
    if not made.problem and not made.unknown and not made.anchors:
        found.problems.append(Problem(item=made.clip, reason="no frame has a label"))
    for anchor, frames in made.anchors.items():
        found.add(made.clip, anchor, frames, labels)


def _listed(work: Workspace[Any], request: Request, named: NamedAnchors, labels: Labels) -> Found:
    found = Found()
    roots = [Path(source) for source in request.sources]
    for root in roots:
        if not root.is_dir():
            raise StudyError(f"{root} is not a folder: give the folder that the names of the frames start from")
    total = len(named.sets)
    for place, (clip, anchor, frames) in enumerate(from_sets(named.sets, request.k, roots), start=1):
        found.add(clip, anchor, frames, labels, is_path=True)
        if place % 100 == 0 or place == total:
            work.progress("reading sets", place, total)
    return found


def _manifest(uris: Mapping[str, str | None]) -> str:
    return csv_text([("item", "path"), *((item, uri or "") for item, uri in uris.items())])


def _pool(work: Workspace[Any]) -> None:
    make_pool(work.folder, [str(work.folder.video / "pool.csv")], work.progress)


def _collected(found: Found, request: Request, groups: Groups, is_reviewed: bool) -> VideoCollected:
    """What was found, in numbers.

    Raises:
        StudyError: there is no anchor.
    """
    if not found.rows:
        why = some([f"{one.item}: {one.reason}" for one in found.problems]) or "there are no clips"
        raise StudyError(f"no anchor can be used ({why}): check the labels, the anchors and the clips")
    neighbours: dict[str, int] = {}
    times = {row.anchor: row.time for row in found.rows if row.offset == 0}
    for row in found.rows:
        neighbours[row.anchor] = neighbours.get(row.anchor, -1) + 1
    away = [
        abs(row.time - begin) for row in found.rows if row.time is not None and (begin := times[row.anchor]) is not None
    ]
    return VideoCollected(
        clips=len({row.clip for row in found.rows}),
        anchors=len(neighbours),
        frames=len(found.uris),
        pairs=sum(neighbours.values()),
        k=request.k,
        short=sum(count < 2 * request.k for count in neighbours.values()),
        classes=len({label for row in found.rows if row.offset == 0 for label in row.labels or ()}),
        uncovered=groups.uncovered,
        farthest=max(away) if away else None,
        variable=tuple(found.variable),
        ended=tuple(found.ended),
        missing=tuple(item for item, uri in found.uris.items() if uri is None),
        problems=tuple(found.problems),
        is_reviewed=is_reviewed,
    )
