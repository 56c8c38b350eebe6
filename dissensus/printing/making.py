"""Output about pools, predictions, scales and rounds."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import out, say, show_json

if TYPE_CHECKING:
    from dissensus.competition.removing import Removal
    from dissensus.competition.status import RoundStatus, Status
    from dissensus.steps.distorting import DistortResult
    from dissensus.tasks.scores.scaling import ScaleFit

NARROW = 25
"""Ratings that span less of the 0–100 scale than this were probably given on a different scale."""


def show_pool(status: Status, as_json: bool) -> None:
    if as_json:
        counts = {"identical_files": status.identical_files, "missing_files": status.missing_files}
        return show_json({"items": status.pool} | counts)
    say(f"{status.pool:,} items in the pool")
    if status.missing_files:
        say(f"{status.missing_files:,} of them have no file: no questions will be asked about them")
    if status.identical_files:
        say(f"{status.identical_files:,} of them are byte-for-byte duplicates: a duel may show the same picture twice")
    return say(f"Next: {status.next}")


def show_distort(result: DistortResult, as_json: bool) -> None:
    """How many images were made, and which photos were skipped and why."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    for path, reason in result.skipped:
        say(f"skipped: {path}: {reason}")
    photos = "one photo" if result.photos == 1 else f"{result.photos:,} photos"
    say(f"{result.images:,} images from {photos}, {result.written:,} of them new")
    if result.skipped:
        say(f"{len(result.skipped):,} skipped")
    return say(f"Next: dissensus pool STUDY {shlex.quote(str(result.manifest))}")


def show_models(status: Status, as_json: bool, then: str = "") -> None:
    """One row per model: its source, and whether it has predicted; then what to do next, if not what is usual."""
    if as_json:
        return show_json([model.model_dump() for model in status.models])
    table = Table("model", "source", "predicted", "unreadable items")
    for model in status.models:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in model.reasons.items())
        unreadable = f"{model.unreadable:,}" + (f" ({reasons})" if reasons else "")
        predicted = "with different settings" if model.changed else "yes" if model.predicted else "no"
        table.add_row(*map(escape, (model.model, model.source, predicted, unreadable)))
    out.print(table)
    show_outdated(status)
    return say(f"Next: {then or status.next}")


def show_outdated(status: Status) -> None:
    """One line per model whose settings have changed since its predictions were made."""
    for model in status.models:
        if model.changed:
            changed = ", ".join(model.changed)
            say(f"the predictions of {model.model} were made with different settings ({changed}): {model.remedy}")


def show_removal(removal: Removal, as_json: bool) -> None:
    if as_json:
        return show_json(removal.model_dump())
    rounds = [f"round {number}" for number in removal.rounds]
    say(f"{removal.model} and its predictions were removed; no answers were deleted")
    if rounds:
        say(f"also removed: {', '.join(rounds)}, which no answers decided yet. Run dissensus select again.")
    return None


def show_scale(fits: Sequence[ScaleFit], changes: Sequence[str], as_json: bool) -> None:
    """How each model's scores were mapped to the common scale, and what that changes for the study."""
    if as_json:
        return show_json([fit.model_dump() for fit in fits])
    table = Table("model", "better is", "scale", "R²", "Spearman", "items")
    for fit in fits:
        shares = ["–" if value is None else f"{value:.3f}" for value in (fit.r2, fit.srcc)]
        table.add_row(escape(fit.model), fit.better, fit.method, *shares, f"{fit.items:,}")
    out.print(table)
    spans = [fit.span for fit in fits if fit.span is not None]
    if spans and spans[0][1] - spans[0][0] < NARROW:
        low, high = spans[0]
        say(f"Ratings only span {low:.0f} to {high:.0f} of 0 to 100: do --worst and --best match the raters' scale?")
    say("All scores are now on one scale from 0 to 100; higher is better.")
    for sentence in changes:
        say(sentence)
    return None


def show_round(status: Status, number: int, as_json: bool) -> None:
    """What a round selected, why not more, and how many questions are open."""
    found = next(one for one in status.rounds if one.round == number)
    if as_json:
        return show_json(found.model_dump() | {"open_questions": status.open_questions})
    from dissensus.tasks import TASKS

    say(round_words(found, TASKS[status.task].noun))
    show_funnel(found)
    if found.short and TASKS[status.task].short:
        say(TASKS[status.task].short.format(short=found.short, **found.settings))
    for sentence in found.words:
        say(sentence)
    say(f"{status.open_questions:,} open questions (the pool has {status.pool:,} items)")
    return say(f"Next: {status.next}")


def round_words(found: RoundStatus, noun: str) -> str:
    """'round 1: 41 items for 15 duels (90 places), 37 more in reserve'."""
    places = "" if found.places == found.selected else f" ({found.places:,} places)"
    duels = "1 duel" if found.duels == 1 else f"{found.duels:,} duels"
    selected = f"{found.selected:,} {noun} for {duels}{places}"
    return f"round {found.round}: {selected}, {found.reserves:,} more in reserve"


def show_funnel(found: RoundStatus) -> None:
    """What each rule left, and what other settings would give."""
    if len(found.funnel) < 3:  # the pool and what was selected say nothing about the rules
        return
    table = Table("rule", Column("left", justify="right"), "with other settings")
    for step in found.funnel:
        table.add_row(*map(escape, (step.rule, f"{step.left:,} {step.unit}", step.others)))
    out.print(table)
