"""Pools, predictions, scales and rounds."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from dissensus.competition.status import Status
from dissensus.printing.console import out, say, show_json
from dissensus.steps.distorting import DistortResult
from dissensus.tasks import TASKS
from dissensus.tasks.scores.scaling import ScaleFit

NARROW = 25
"""Part of the scale that ratings should at least use; fewer are probably of another scale."""


def show_pool(status: Status, as_json: bool) -> None:
    """The size of the pool."""
    if as_json:
        return show_json({"items": status.pool, "identical_files": status.identical_files})
    say(f"{status.pool:,} items in the pool")
    if status.identical_files:
        say(f"{status.identical_files:,} of them are byte for byte copies of others: a duel may show a picture twice")
    return say(f"Next: {status.next}")


def show_distort(result: DistortResult, as_json: bool) -> None:
    """What was made of the photos, and those that could not be used."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    for path, reason in result.skipped:
        say(f"left out: {path}: {reason}")
    photos = "one photo" if result.photos == 1 else f"{result.photos:,} photos"
    say(f"{result.images:,} images of {photos}, {result.written:,} of them new")
    if result.skipped:
        say(f"{len(result.skipped):,} left out")
    return say(f"Next: dissensus pool STUDY {shlex.quote(str(result.manifest))}")


def show_models(status: Status, as_json: bool) -> None:
    """What the models have predicted."""
    if as_json:
        return show_json([model.model_dump() for model in status.models])
    table = Table("model", "source", "predicted", "unreadable items")
    for model in status.models:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in model.reasons.items())
        unreadable = f"{model.unreadable:,}" + (f" ({reasons})" if reasons else "")
        table.add_row(*map(escape, (model.model, model.source, "yes" if model.predicted else "no", unreadable)))
    out.print(table)
    return say(f"Next: {status.next}")


def show_scale(fits: Sequence[ScaleFit], as_json: bool) -> None:
    """How the scores of every model came on the common scale."""
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
        say(
            f"Ratings lie between {low:.0f} and {high:.0f} of 0 to 100: are --worst and --best the ends of their scale?"
        )
    return say("Scores are on one scale from 0 to 100 now, higher is better.")


def show_round(status: Status, number: int, as_json: bool) -> None:
    """What a round selected."""
    found = next(one for one in status.rounds if one.round == number)
    if as_json:
        return show_json(found.model_dump() | {"open_questions": status.open_questions})
    task = TASKS[status.task]
    say(f"round {found.round}: {found.items:,} {task.noun} for {found.duels:,} duels, {found.reserves:,} in reserve")
    if found.short:
        say(task.short.format(short=found.short, **found.settings))
    for sentence in found.words:
        say(sentence)
    say(f"{status.open_questions:,} questions wait for answers (the pool has {status.pool:,} items)")
    return say(f"Next: {status.next}")
