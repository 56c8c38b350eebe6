"""Output about pools, predictions, scales and rounds."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.competition.removing import Removal
    from dissensus.competition.status import RoundStatus, Status
    from dissensus.engines.speed import Pass
    from dissensus.records import Classes
    from dissensus.steps.distorting import DistortResult
    from dissensus.tasks.scores.scaling import ScaleFit

MOST_CLASSES = 6
"""Classes that are named when a study is made; of more, the first and the last."""
DEFAULTS = {"labels": "ImageNet", "masks": "PASCAL VOC"}
NARROW = 25
"""Ratings that span less of the 0–100 scale than this were probably given on a different scale."""


def show_init(study: Path, task: str, classes: Classes, given: str | None, as_json: bool) -> None:
    """What was made, and which classes it has; `given` says where they come from."""
    names = list(classes.names)
    with document(as_json, {"study": str(study), "task": task, "classes": names}):
        say(f"{study}: new study (task {task})")
        if names:
            some = names if len(names) <= MOST_CLASSES else [*names[: MOST_CLASSES - 1], "…", names[-1]]
            source = f"from {given}" if given else f"of {DEFAULTS[task]}, by default (--classes takes others)"
            say(f"{counted(len(names), 'class', 'classes')} {source}: {', '.join(some)}")
            if classes.taxonomy is None and task == "labels":
                say("no taxonomy: all classes count as equally far apart (--taxonomy)")
        say_next(f"dissensus pool {shlex.quote(str(study))} SOURCE…")


def show_pool(status: Status, as_json: bool, notes: Sequence[str] = ()) -> None:
    counts = {"identical_files": status.identical_files, "missing_files": status.missing_files}
    with document(as_json, {"items": status.pool} | counts | {"notes": list(notes)}):
        say(f"{counted(status.pool, 'item')} in the pool")
        if status.missing_files:
            missing = counted(status.missing_files, "of them has", "of them have")
            say(f"{missing} no file: no questions will be asked about that")
        if status.identical_files:
            copies = counted(status.identical_files, "of them is a copy of another", "of them are copies of others")
            say(f"{copies}, byte for byte: a duel may show the same picture twice")
        for note in notes:
            say(note)
        say_next(status.next)


def show_distort(result: DistortResult, as_json: bool) -> None:
    """How many images were made, and which photos were skipped and why."""
    with document(as_json, result):
        for path, reason in result.skipped:
            say(f"skipped: {path}: {reason}")
        photos = "one photo" if result.photos == 1 else f"{result.photos:,} photos"
        say(f"{counted(result.images, 'image')} from {photos}, {result.written:,} of them new")
        if result.skipped:
            say(f"{len(result.skipped):,} skipped")
        say_next(f"dissensus pool STUDY {shlex.quote(str(result.manifest))}")


def show_models(status: Status, as_json: bool, then: str = "") -> None:
    """One row per model: its source, and whether it has predicted; then what to do next, if not what is usual."""
    with document(as_json, {"models": [model.model_dump(mode="json") for model in status.models]}):
        table = Table("model", "source", "predicted", "unreadable items")
        for model in status.models:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in model.reasons.items())
            unreadable = f"{model.unreadable:,}" + (f" ({reasons})" if reasons else "")
            some = f"{model.items:,} of {status.pool:,}" if model.items else "no"
            predicted = "with different settings" if model.changed else "yes" if model.predicted else some
            table.add_row(*map(escape, (model.model, model.source, predicted, unreadable)))
        show_table(table)
        show_sanity(status)
        show_doubts(status)
        show_outdated(status)
        say_next(then or correction(status) or status.next)


def correction(status: Status) -> str:
    """The command that corrects a model's settings, if one was tried and helps."""
    found = (model.sanity for model in status.models if model.sanity is not None)
    return next((one.command for one in found if one.recipe and one.warnings), "")


def show_sanity(status: Status) -> None:
    """What each model predicts, in a table."""
    known = [model.sanity for model in status.models if model.sanity is not None]
    if known:
        names, *numbers = known[0].heads if known[0].has_names else ("", *known[0].heads)
        columns = [Column(head, justify="right") for head in numbers]
        table = Table(Column("model", overflow="fold"), *([names] if names else []), *columns)
        for one in known:
            table.add_row(*map(escape, (one.model, *one.cells)))
        show_table(table)


def show_doubts(status: Status) -> None:
    """One line for each thing that looks wrong about predictions, and one for what to try."""
    for model in status.models:
        if model.sanity is not None and model.sanity.warnings:
            for warning in model.sanity.warnings:
                say(f"⚠ {model.model}: {warning}")
            say(model.sanity.remedy)


def show_outdated(status: Status) -> None:
    """One line per model whose settings have changed since its predictions were made."""
    for model in status.models:
        if model.changed:
            changed = ", ".join(model.changed)
            say(f"the predictions of {model.model} were made with different settings ({changed}): {model.remedy}")


def show_removal(removal: Removal, as_json: bool) -> None:
    with document(as_json, removal):
        rounds = [f"round {number}" for number in removal.rounds]
        say(f"{removal.model} and its predictions were removed; no answers were deleted")
        if rounds:
            say(f"also removed: {', '.join(rounds)}, which no answers decided yet. Run dissensus select again.")


def show_scale(fits: Sequence[ScaleFit], status: Status, as_json: bool) -> None:
    """How each model's scores were mapped to the common scale, and which rounds are stale now."""
    with document(as_json, {"fits": [fit.model_dump(mode="json") for fit in fits]}):
        table = Table("model", "better is", "scale", "R²", "Spearman", "items")
        for fit in fits:
            shares = ["–" if value is None else f"{value:.3f}" for value in (fit.r2, fit.srcc)]
            table.add_row(escape(fit.model), fit.better, fit.method, *shares, f"{fit.items:,}")
        show_table(table)
        spans = [fit.span for fit in fits if fit.span is not None]
        if spans and spans[0][1] - spans[0][0] < NARROW:
            low, high = spans[0]
            say(
                f"Ratings only span {low:.0f} to {high:.0f} of 0 to 100: do --worst and --best match the raters' scale?"
            )
        say("All scores are now on one scale from 0 to 100; higher is better.")
        for sentence in status.changes:
            say(sentence)
        say_next(status.next)


def show_round(status: Status, number: int, as_json: bool, passes: Sequence[Pass] = ()) -> None:
    """What a round selected, why not more, and how many questions are open."""
    found = next(one for one in status.rounds if one.round == number)
    more = {"open_questions": status.open_questions, "doubts": list(status.doubts)} | speeds(passes)
    with document(as_json, found, more):
        from dissensus.tasks import TASKS

        say(round_words(found, TASKS[status.task].noun))
        show_funnel(found)
        duels = counted(found.short, "duel has", "duels have")
        if found.short and TASKS[status.task].short:
            say(TASKS[status.task].short.format(duels=duels, **found.settings))
        for sentence in found.words:
            say(sentence)
        say_speeds(passes)
        show_doubts(status)
        pool = counted(status.pool, "item")
        say(f"{counted(status.open_questions, 'open question')} (the pool has {pool})")
        if status.task != "scores" and 2 * status.open_questions > status.pool:
            say("A pool this small may be cheaper to label as a whole: larger pools hardly need more questions.")
        say_next(correction(status) or status.next)


def speeds(passes: Sequence[Pass]) -> dict[str, Any]:
    """The passes over the pool that a command has made, for JSON."""
    return {"passes": [one.document() for one in passes]} if passes else {}


def say_speeds(passes: Sequence[Pass]) -> None:
    """How fast the longest pass over a large pool was."""
    if told := [one for one in passes if one.is_worth_saying]:
        say(max(told, key=lambda one: one.seconds).words)


def round_words(found: RoundStatus, noun: str) -> str:
    """'round 1: 41 items for 15 duels (90 places), 37 more in reserve'."""
    places = "" if found.places == found.selected else f" ({counted(found.places, 'place')})"
    duels = counted(found.duels, "duel")
    selected = f"{counted(found.selected, noun.removesuffix('s'))} for {duels}{places}"
    return f"round {found.round}: {selected}, {found.reserves:,} more in reserve"


def show_funnel(found: RoundStatus) -> None:
    """What each rule left, and what other settings would give."""
    if len(found.funnel) < 3:  # the pool and what was selected say nothing about the rules
        return
    table = Table("rule", Column("left", justify="right"), "with other settings")
    for step in found.funnel:
        table.add_row(*map(escape, (step.rule, counted(step.left, step.unit.removesuffix("s")), step.others)))
    show_table(table)
