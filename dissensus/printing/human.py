"""Output about people as a baseline for models."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.printing.lines import show_problems
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.demo import HumanDemoResult
    from dissensus.records import HumanResult
    from dissensus.records.human_steps import HumanExport, HumanSample, HumanStatus, JoinedPeople

MOST_ROWS = 40


def show_human_sample(study: Path, found: HumanSample, as_json: bool) -> None:
    """What people are going to label, and what to do next."""
    with document(as_json, found):
        say(f"{counted(found.images, 'image')} to label, and {found.training:,} for training ({found.added:,} new)")
        for one in found.sets:
            short = "" if one.images >= one.wanted else f", although {one.wanted:,} were wanted"
            say(f"  {one.name}: {counted(one.images, 'image')} of {counted(one.classes, 'class', 'classes')}{short}")
        if found.training < found.wanted_training:
            say(f"only {found.training:,} of {found.wanted_training:,} images are left for training")
        if found.examples:
            say(f"{counted(found.examples, 'example')} of {counted(found.example_classes, 'class', 'classes')}")
        if found.guided:
            say(f"the guide has entries about {counted(found.guided, 'class', 'classes')}")
        show_problems(found.left_out, "not used", "picture")
        page = "train" if found.training else "label"
        say_next(f"dissensus shift human serve {_quoted(study)} --page {page}")


def show_human_status(study: Path, status: HumanStatus, as_json: bool) -> None:
    """How far everybody is."""
    with document(as_json, status):
        say(f"{status.labels:,} of {status.wanted:,} labels of {counted(status.images, 'image')}")
        say(f"{counted(len(status.models), 'model')} to compare people with")
        if status.reviews:
            say(f"{status.review_answers:,} of {counted(status.wanted_reviews, 'answer')} to the review")
            say(f"{counted(status.decided, 'image')} with a right label, {status.problematic:,} problematic")
        if status.unreviewed:
            say(
                f"{counted(status.unreviewed, 'predicted label')} not put to reviewers yet: "
                f"dissensus shift human serve {_quoted(study)} --page review"
            )
        if status.people:
            _show_people(status)
        else:
            say(f"nobody has answered yet: dissensus shift human serve {_quoted(study)} --page label")


def _show_people(status: HumanStatus) -> None:
    """What everybody did; what nobody did has no column, so that the table fits a terminal."""
    columns = {
        "training": [f"{one.right:,}/{one.trained:,}" if one.trained else "" for one in status.people],
        "labelled": [f"{one.labelled:,}" for one in status.people],
        "skipped": [f"{one.skipped:,}" if one.skipped else "" for one in status.people],
        "twice": [f"{one.again:,}" if one.again else "" for one in status.people],
        "reviewed": [f"{one.reviewed:,}" if one.reviewed else "" for one in status.people],
        "median s": ["–" if one.median_seconds is None else f"{one.median_seconds:.1f}" for one in status.people],
        "< 0.5 s": [f"{one.instant:,}" if one.instant else "" for one in status.people],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    table = Table(Column("person", overflow="fold"), *(Column(head, justify="right", no_wrap=True) for head in shown))
    for place, one in enumerate(status.people):
        table.add_row(escape(one.name), *(cells[place] or "0" for cells in shown.values()))
    show_table(table)
    if "training" in shown:
        say("training: right of all answers")


def show_human(result: HumanResult, page: Path, as_json: bool) -> None:
    """The main answer in words, everybody's accuracies, and where the page is."""
    with document(as_json, result, {"page": str(page)}):
        _show_result(result)
        say(f"page: {page}")


def show_human_demo(made: HumanDemoResult, as_json: bool) -> None:
    """The same about the demo, and how to take part."""
    with document(as_json, made):
        _show_result(made.result)
        say("The people are simulated.")
        say(f"page: {made.report}")
        study = _quoted(made.study)
        return say(
            f"Take part: dissensus annotators add {study} you, then dissensus shift human serve {study} --answers 6"
        )


def _show_result(result: HumanResult) -> None:
    for sentence in (*result.words, *result.notes):
        say(sentence)
    metrics = list(dict.fromkeys(("top-1, %", f"{result.metric}, %")))
    columns = (Column(head, justify="right", no_wrap=True) for head in (*metrics, "ranks"))
    title = f"% right with {100 * result.level:g} % intervals, and the ranks that paired tests leave open"
    first = (Column("participant", overflow="fold"), Column("kind", no_wrap=True))
    table = Table(*first, *columns, title=title, title_justify="left")
    rows = result.rows()
    for name, kind, *cells, ranks in rows[:MOST_ROWS]:
        table.add_row(escape(name), kind.split()[0], *map(escape, cells[-len(metrics) :]), ranks)
    show_table(table)
    if len(rows) > MOST_ROWS:
        say(f"… and {len(rows) - MOST_ROWS:,} more: --json or the page shows all")
    for one in result.people:
        if one.is_careless:
            say(
                f"{one.person} is fast and careless; to leave these answers out: "
                f"dissensus annotators exclude STUDY {shlex.quote(one.person)} --reason WHY"
            )


def show_human_export(written: HumanExport, as_json: bool) -> None:
    """Where the files are."""
    with document(as_json, written):
        people = counted(written.people, "person", "people")
        say(f"labels of {people} on {counted(written.images, 'image')}: {written.folder}")


def show_joined_people(study: Path, joined: JoinedPeople, as_json: bool) -> None:
    """Who joined, and what to do next."""
    with document(as_json, joined):
        for name, count in zip(joined.people, joined.labelled, strict=True):
            say(f"{name} joined with labels of {counted(count, 'image')}")
        if joined.round is not None:
            say(f"round {joined.round}: their duels")
        say_next(f"dissensus {'select' if joined.round is None else 'serve'} {_quoted(study)}")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
