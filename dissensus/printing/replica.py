"""Output about a test set that is collected again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.printing.lines import MOST_LINES, show_lines, show_problems
from dissensus.report.wording import counted, percent

if TYPE_CHECKING:
    from dissensus.records.replica import (
        Collected,
        Exported,
        FoundPairs,
        ReplicaStatus,
        Sampled,
        ShortClass,
    )


def show_collected(study: Path, found: Collected, as_json: bool) -> None:
    """How many images there are, which cannot be used, and what to do next."""
    with document(as_json, found):
        say(
            f"{counted(found.originals, 'original')} and {counted(found.candidates, 'candidate')} "
            f"({found.added:,} new) of {counted(found.classes, 'class', 'classes')}"
        )
        if found.without_candidates:
            say(f"no candidates, so these classes stay empty: {_some(found.without_candidates)}")
        show_problems(found.problems, "not used")
        say(f"{counted(found.grids, 'task')} for people; {found.questions:,} answers are wanted")
        say_next(f"dissensus shift duplicates {_quoted(study)}, then dissensus shift serve {_quoted(study)}")


def show_found_pairs(study: Path, found: FoundPairs, as_json: bool) -> None:
    """How many pairs there are to look at."""
    with document(as_json, found):
        pages = counted(found.pages, "page")
        say(f"{counted(found.pairs, 'pair')} ({found.added:,} new) of {found.images:,} images look alike, on {pages}")
        if not found.pairs:
            return
        say_next(f"dissensus shift serve {_quoted(study)} --page pairs")


def show_sampled(study: Path, made: Sampled, as_json: bool) -> None:
    """What is in the revision, what changed, and what is still to be done."""
    with document(as_json, made):
        where = f"{made.strategy}, revision {made.revision}"
        if made.is_new:
            changes = f"{made.added:,} added, {len(made.removed):,} removed"
            say(f"{where}: {made.images:,} of {counted(made.wanted, 'image')} ({changes})")
        else:
            size = f"{made.images:,} of {counted(made.wanted, 'image')}"
            say(f"{where}: nothing has changed since, so it stays the latest ({size})")
        _show_frequencies(made)
        _show_short(made.short)
        show_problems(made.removed, "removed")
        if made.excluded:
            say(f"{len(made.excluded):,} of {counted(made.workers, 'worker')} do not count:")
            show_lines(made.excluded)
        if made.unready:
            few = counted(made.votes, "worker")
            say(f"{counted(made.unready, 'candidate')} could not be drawn: seen by fewer than {few} who count")
        if made.outdated:
            say(
                f"{made.outdated:,} of its images have other votes by now, and keep their places; to draw all again: "
                f"dissensus shift sample {_quoted(study)} --strategy {made.strategy} --anew"
            )
        if not made.is_searched:
            say("not all images have been compared to find near-duplicates")
        if made.open_pairs:
            say(f"nobody has looked at {counted(made.open_pairs, 'pair')} of near-duplicates yet")
        say_next(_next(study, made))


def show_exported(written: Exported, as_json: bool) -> None:
    """Where the test set is."""
    with document(as_json, written):
        classes = counted(written.classes, "class", "classes")
        say(f"{counted(written.images, 'image')} of {classes}: {written.folder}; how they got in: DATA_CARD.md")


def show_replica(study: Path, status: ReplicaStatus, as_json: bool) -> None:
    """Classes, workers, near-duplicates and revisions."""
    with document(as_json, status):
        say(f"{status.answers:,} of {counted(status.wanted, 'answer')} to grids")
        _show_classes(status)
        _show_workers(status)
        if status.pairs is None:
            say(f"near-duplicates have not been looked for: dissensus shift duplicates {_quoted(study)}")
        else:
            pairs = counted(status.pairs, "pair looks alike", "pairs look alike")
            say(f"{pairs}: {status.confirmed:,} confirmed, {status.open_pairs:,} open")
            if not status.is_searched:
                say(f"candidates added since have not been compared: dissensus shift duplicates {_quoted(study)}")
        for one in status.revisions:
            say(
                f"{one.strategy}, revision {one.revision}: {counted(one.images, 'image')}, {one.missing:,} missing; "
                f"{one.reviewed:,} of {counted(one.classes, 'class', 'classes')} reviewed"
            )
            for problem in one.problematic:
                say(f"  problematic: {problem}")


def _show_frequencies(made: Sampled) -> None:
    if made.frequency is not None:
        beside = "" if made.original_frequency is None else f" (annotated originals: {made.original_frequency:.3f})"
        say(f"mean selection frequency {made.frequency:.3f}{beside}")
    if made.expected_frequency is not None:
        say(f"about {made.expected_frequency:.3f} can be expected from new workers, as these votes chose the images")
    if made.higher:
        say(f"{percent(made.higher / made.images, 1)} of the images come from a higher bin than the one they fill")


def _show_short(short: tuple[ShortClass, ...]) -> None:
    if short:
        say(f"{counted(len(short), 'class', 'classes')} short of images:")
        show_lines([f"{one.name}: {one.missing:,} missing, because {one.reason}" for one in short])


def _show_classes(status: ReplicaStatus) -> None:
    heads = ("originals", "annotated", "candidates", "not usable", "tasks", "ready")
    table = Table("class", *(Column(head, justify="right") for head in heads))
    for one in status.classes:
        counts = (one.originals, one.annotated, one.candidates, one.unusable, one.grids, one.ready)
        table.add_row(escape(one.name), *(f"{count:,}" for count in counts))
    show_table(table)


def _show_workers(status: ReplicaStatus) -> None:
    if not status.workers:
        return
    heads = ("tasks", "hits", "false ticks", "ticked")
    table = Table("worker", *(Column(head, justify="right") for head in heads), "counts")
    for one in status.workers:
        counts = (str(one.grids), f"{one.hits}/{one.same}", f"{one.false_ticks}/{one.nearby}")
        table.add_row(escape(one.name), *counts, f"{one.ticked}/{one.seen}", "no" if one.reason else "yes")
    show_table(table)
    for one in status.workers:
        if one.reason:
            say(f"{one.name} does not count: {one.reason}")


def _next(study: Path, made: Sampled) -> str:
    place, strategy = _quoted(study), f"--strategy {made.strategy}"
    if not made.is_searched:
        return f"dissensus shift duplicates {place}"
    if made.open_pairs:
        return f"dissensus shift serve {place} --page pairs"
    if made.unreviewed:
        classes = counted(made.unreviewed, "class", "classes")
        return f"dissensus shift serve {place} --page review ({classes} not reviewed yet)"
    if made.is_new:
        return f"dissensus shift sample {place} {strategy}"
    return f"dissensus shift export {place} DIR {strategy}"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_LINES:,} more" if len(names) > MOST_LINES else ""
    return ", ".join(names[:MOST_LINES]) + more


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
