"""The result: which frames models get right, how far frames are from their anchors, and the page about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import MISSING, Array, Float, Int, UInt8
from dissensus.backends import Unreadable, read_image
from dissensus.errors import StudyError, some
from dissensus.records import VideoResult
from dissensus.report.page import Page
from dissensus.report.video.page import TITLE, video_page
from dissensus.report.wording import counted
from dissensus.shift.video.frames import KeptFrames, Row, kept_frames
from dissensus.shift.video.reviewing import Review, review_of
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.groups import NO_GROUP
from dissensus.steps.pictures import thumbnails
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.predicting import predicted
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_stamps, read_table, write_table
from dissensus.temporal.anchors import UNKNOWN
from dissensus.temporal.distances import largest_difference
from dissensus.temporal.findings import Settings, result_of

UNKNOWN_DISTANCE = -1.0
READERS = 2
SIDE = 128
"""Pixels of a picture in a strip."""


def video_result(work: Workspace[Any], settings: Settings, with_distances: bool = False) -> VideoResult:
    """All models that have predictions, on the frames that people accepted.

    Raises:
        StudyError: there are no frames or predictions yet, or k is larger than what was collected.
    """
    kept = kept_frames(work)
    if settings.k is not None and settings.k < 0:
        raise StudyError(f"--k {settings.k}: it cannot be negative")
    if settings.k is not None and settings.k > kept.k:
        raise StudyError(f"--k {settings.k}: only {kept.k} frames before and after each anchor have been collected")
    models = predicted(work.folder, work.settings)
    if not models:
        raise StudyError(f"no model has predictions yet: dissensus shift video predict {work.folder.root} NAME=…")
    stamps = check_same_pool(work.folder, models)
    review = review_of(work, kept)
    distance = frame_distances(work, kept) if with_distances else None
    anchors, rows = kept.as_anchors(review.is_similar, distance, settings.k)
    codes = predicted_classes(work, kept, models)[:, rows]
    names = [*kept.groups.names, *work.classes.names]
    inputs = {"pool": pool_stamp(work.folder)} | {name: str(one["content"]) for name, one in stamps.items()}
    said = (*notes(work, kept, review), *unpredicted(models, codes, anchors.frames))
    return result_of(models, anchors, codes, names, settings, inputs, said)


def page(work: Workspace[Any], result: VideoResult) -> Page:
    """The page about a result, with pictures of the frames of its strips."""
    shown = list(dict.fromkeys(frame for strip in result.strips for frame in strip.frames))
    title = f"{work.title}: {TITLE[0].lower()}{TITLE[1:]}" if work.settings.title else TITLE
    pictures = thumbnails(work.pool, shown, SIDE, work.progress)
    return video_page(result, thumbnails=pictures, title=title, notes=work.settings.notes)


def predicted_classes(work: Workspace[Any], kept: KeptFrames, models: Sequence[str]) -> Int[Array, "M F"]:
    """The class that each model predicts for each row, as a number of the labels' classes.

    A prediction that belongs to none of them is a number above all of them, so that it has a name but is never right;
    no prediction is −1.
    """
    place = {item: number for number, item in enumerate(work.pool.ids(range(work.size)))}
    rows = np.array([place[row.item] for row in kept.rows], np.int64)
    found = np.empty((len(models), len(rows)), np.int64)
    for number, name in enumerate(models):
        labels = read_table(work.folder.predictions(name), ["label"])["label"].to_numpy()[rows]
        group = kept.groups.of(labels)
        is_other = (group == NO_GROUP) & (labels != MISSING)
        found[number] = np.where(is_other, len(kept.groups.names) + labels.astype(np.int64), group)
    return found


def unpredicted(models: Sequence[str], codes: Int[Array, "M F"], frames: Sequence[str]) -> list[str]:
    """Which frames count as wrong because there is no prediction; models that lack the same ones are named together."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for name, row in zip(models, codes, strict=True):
        absent = dict.fromkeys(frames[place] for place in np.flatnonzero(row == UNKNOWN).tolist())
        if absent:
            lacking.setdefault(tuple(absent), []).append(name)
    return [
        f"{counted(len(absent), 'frame')} ({some(absent)}) without a prediction by {some(names)} count as wrong."
        for absent, names in lacking.items()
    ]


def notes(work: Workspace[Any], kept: KeptFrames, review: Review) -> tuple[str, ...]:
    """What a reader of the result has to know about the frames."""
    known, lines = kept.collected, [review.words]
    if known.short:
        lines.append(
            f"{known.short:,} of {counted(known.anchors, 'anchor')} {'has' if known.short == 1 else 'have'} fewer than "
            f"{2 * known.k} neighbours, near the ends of clips or because frames are missing."
        )
    if known.farthest is not None:
        lines.append(f"Frames are at most {known.farthest:.3g} seconds away from their anchors.")
    if known.variable:
        clips = f"{counted(len(known.variable), 'clip')} ({some(known.variable)})"
        lines.append(f"The frames of {clips} are not equally far apart in time: k counts frames, not time.")
    if known.missing:
        lines.append(f"{counted(len(known.missing), 'frame')} of {known.frames:,} are not on disk.")
    if known.uncovered:
        lines.append(
            f"{known.uncovered:,} of the models' {len(work.classes):,} classes belong to none of the "
            f"{len(kept.groups.names):,} classes of the labels: predictions of them are wrong."
        )
    return tuple(lines)


def frame_distances(work: Workspace[Any], kept: KeptFrames) -> Float[Array, " F"]:
    """The ℓ∞ distance of every frame from its anchor; −1 where a picture cannot be read, or has another size.

    Every picture is decoded once. The distances are kept in the study.
    """
    path, stamp = work.folder.video_distances, pool_stamp(work.folder)
    if exists(path) and read_stamps(path).get("pool") == stamp:
        return read_table(path)["distance"].to_numpy()
    uris = uris_named(work.folder, {*kept.items})
    of_clip: dict[str, list[int]] = {}
    for number, row in enumerate(kept.rows):
        of_clip.setdefault(row.clip, []).append(number)
    found = np.full(len(kept.rows), UNKNOWN_DISTANCE)
    with ThreadPoolExecutor(READERS) as threads:
        clips = list(of_clip.values())
        jobs = threads.map(lambda rows: _clip_distances([kept.rows[row] for row in rows], uris), clips)
        for done, (rows, distances) in enumerate(zip(clips, jobs, strict=True), start=1):
            found[rows] = distances
            work.progress("comparing frames", done, len(clips))
    write_table(path, pa.table({"distance": found}), {"pool": stamp})
    return found


def _clip_distances(rows: Sequence[Row], uris: Mapping[str, str | None]) -> list[float]:
    """The distances of one clip's rows; only the anchors nearby and one more picture are in memory at a time."""
    found = [UNKNOWN_DISTANCE] * len(rows)
    homes: dict[str, UInt8[Array, "h w 3"] | None] = {}
    last = {row.anchor: max(row.number, row.number - row.offset) for row in sorted(rows, key=lambda row: row.number)}
    by_frame: dict[tuple[int, str], list[int]] = {}
    for number, row in enumerate(rows):
        by_frame.setdefault((row.number, row.item), []).append(number)
    for (now, item), numbers in sorted(by_frame.items()):
        for anchor in [one for one in homes if last[one] < now]:
            del homes[anchor]
        for anchor in {rows[number].anchor for number in numbers} - homes.keys():
            homes[anchor] = _pixels(uris.get(anchor))
        pixels = homes[item] if item in homes else _pixels(uris.get(item))
        for number in numbers:
            home = homes[rows[number].anchor]
            if pixels is not None and home is not None and pixels.shape == home.shape:
                found[number] = float(largest_difference(pixels, home))
    return found


def _pixels(uri: str | None) -> UInt8[Array, "h w 3"] | None:
    image = None if uri is None else read_image(uri)
    return None if image is None or isinstance(image, Unreadable) else np.asarray(image)
