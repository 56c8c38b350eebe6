"""Output about robustness along video."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.printing.lines import show_lines, show_problems
from dissensus.records.shift import percent
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.demo import VideoDemoResult
    from dissensus.records import DetectionResult, VideoResult
    from dissensus.records.video_steps import VideoCollected, VideoStatus

MOST_ROWS = 40
LEAST = 8
"""Letters of a model's name in a row; longer names go on in the next one."""


def show_video_collected(study: Path, found: VideoCollected, as_json: bool) -> None:
    """How many anchors and frames there are, what is missing or unusual, and what to do next."""
    with document(as_json, found):
        _show_frames(found)
        show_problems(found.problems, "not used", "clip or anchor", "clips and anchors")
        where = shlex.quote(str(study))
        say_next(f"dissensus shift video predict {where} NAME=…, and dissensus shift video serve {where}")


def _show_frames(found: VideoCollected) -> None:
    say(
        f"{counted(found.anchors, 'anchor')} of {counted(found.clips, 'clip')}, labelled with "
        f"{counted(found.classes, 'class', 'classes')}; {counted(found.pairs, 'neighbour')} within {found.k} of them; "
        f"{counted(found.frames, 'frame')} in all"
    )
    if found.short:
        fewer = f"fewer than {2 * found.k} neighbours"
        say(f"{counted(found.short, 'anchor')} with {fewer}: near the ends of clips, or frames are missing")
    if found.farthest is not None:
        say(f"neighbours are at most {found.farthest:.3g} s away from their anchors")
    if found.variable:
        say(
            f"warning: the frames of {counted(len(found.variable), 'clip')} are not equally far apart in time; "
            "neighbours are counted in frames:"
        )
        show_lines(found.variable)
    show_problems(found.ended, "end early", "clip")
    if found.missing:
        say(f"{counted(len(found.missing), 'frame')} not on disk; predictions for them can be given as files:")
        show_lines(found.missing)
    if found.uncovered:
        say(f"{found.uncovered:,} classes of the study belong to no class of the labels: predictions of them are wrong")


def show_video_status(status: VideoStatus, as_json: bool) -> None:
    """What was collected, and how far the review is."""
    with document(as_json, status):
        _show_frames(status.collected)
        pairs = status.collected.pairs
        say(f"{status.answers:,} of {status.wanted:,} answers, by {counted(len(status.people), 'person', 'people')}")
        say(
            f"{status.reviewed:,} of {counted(pairs, 'pair')} decided: {status.accepted:,} accepted; "
            f"{status.disputed:,} disputed, of which {status.joint:,} wait for the joint review"
        )
        if status.reasons:
            say("rejected: " + ", ".join(f"{count:,} {reason}" for reason, count in status.reasons.items()))
        if status.people:
            kept = f"{status.kept_anchors:,} of {counted(status.collected.anchors, 'anchor')} kept"
            say(f"{kept}; agreement: {status.agreement}")
        else:
            say("nobody has reviewed anything: all frames count as similar")
        say(f"models: {', '.join(status.models) or 'none yet'}")


def show_video(result: VideoResult, page: Path | None, as_json: bool) -> None:
    """The main answer in words, and all models."""
    with document(as_json, result, ({} if page is None else {"page": str(page)})):
        for sentence in (*result.words, *result.notes):
            say(sentence)
        heads = ("anchors", f"within {result.k}", "drop", "same frame", "changes")
        rows = [
            (
                one.model, percent(one.original), percent(one.perturbed),
                percent(one.drop, one.drop_low, one.drop_high),
                percent(one.static), "–" if one.changes is None else f"{one.changes:.1f}",
            )
            for one in result.models
        ]  # fmt: skip
        _show_table(heads, rows, f"% right on anchors and on worst frames, with {100 * result.level:g} % intervals")
        return say(f"page: {page}") if page is not None else None


def show_detection(result: DetectionResult, page: Path | None, as_json: bool) -> None:
    """The main answer in words, and all detectors."""
    with document(as_json, result, ({} if page is None else {"page": str(page)})):
        for sentence in (*result.words, *result.notes):
            say(sentence)
        heads = ("anchors", f"within {result.k}", "drop", "boxes", "drop")
        rows = [
            (
                one.model, percent(one.original), percent(one.perturbed),
                percent(one.drop, one.drop_low, one.drop_high),
                percent(one.located), percent(one.located_drop),
            )
            for one in result.models
        ]  # fmt: skip
        _show_table(heads, rows, f"mAP in %, with {100 * result.level:g} % intervals; boxes: in any category")
        return say(f"page: {page}") if page is not None else None


def show_video_demo(made: VideoDemoResult, as_json: bool) -> None:
    """The result, what review changed, and where everything is."""
    with document(as_json, made):
        show_video(made.result, None, as_json=False)
        before, after = (one.mean[-1].drop for one in (made.unreviewed, made.result))
        say(f"Mean drop before anybody had looked at the frames: {percent(before)} points, afterwards {percent(after)}")
        say("The reviewers are simulated: they see when the camera has turned away.")
        say(f"page: {made.report}")


def _show_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    columns = (Column(head, justify="right", no_wrap=True) for head in heads)
    table = Table(Column("model", overflow="fold", min_width=LEAST), *columns, title=title, title_justify="left")
    for name, *cells in rows[:MOST_ROWS]:
        table.add_row(escape(name), *cells)
    show_table(table)
    if len(rows) > MOST_ROWS:
        say(f"and {len(rows) - MOST_ROWS:,} more: --json lists all of them")
