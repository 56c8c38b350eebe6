"""Output about a laconic test: how little of an image is enough for each classifier."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.demo import LaconicDemoResult
    from dissensus.laconic.pooling import ReducedPool
    from dissensus.records import LaconicResult


def show_laconic(study: Path, result: LaconicResult, as_json: bool) -> None:
    """Who needs least, the main answer first; then all means, and what holds of the paper."""
    with document(as_json, laconic_json(result)):
        for sentence in result.words:
            say(sentence)
        _show_means(result)
        _show_observations(result)
        if any(result.unused.values()):
            each = ", ".join(f"{name} {count:,}" for name, count in result.unused.items() if count)
            say(f"not used, because not recognised unreduced: {each} of {counted(result.images, 'image')}")
        if result.is_naive:
            say("naive MEPIs: there may be no unbroken path of right answers from the original")
        say_next(_next(study, result))


def show_laconic_report(path: Path, result: LaconicResult, as_json: bool) -> None:
    """Where the page is, and its main answer."""
    with document(as_json, {"report": str(path)}, laconic_json(result)):
        say(result.words[0])
        say(f"report: {path}")


def show_reduced_pool(written: ReducedPool, as_json: bool) -> None:
    """How many images there are, and what to do with them."""
    with document(as_json, written):
        say(f"{counted(written.images, 'reduced image')}: {written.manifest}")
        say_next(f"dissensus init STUDY, then dissensus pool STUDY {written.manifest}")


def show_laconic_demo(result: LaconicDemoResult, as_json: bool) -> None:
    """What was found, and where the page is."""
    with document(as_json, result):
        for sentence in result.results.words:
            say(sentence)
        _show_means(result.results)
        say(f"report: {result.report}")
        study = shlex.quote(str(result.study))
        say(f"Play it yourself: dissensus annotators add {study} you, then dissensus laconic serve {study}")


def laconic_json(result: LaconicResult) -> dict[str, Any]:
    """Everything but the ratios of single images."""
    return result.model_dump(mode="json")


def _show_means(result: LaconicResult) -> None:
    table = Table(
        "classifier", *(Column(escape(name), justify="right") for name in result.reductions),
        title=f"% of an image's bytes that are left, with {100 * result.level:g} % intervals", title_justify="left",
    )  # fmt: skip
    for row in result.rows():
        table.add_row(*map(escape, row))
    show_table(table)


def _show_observations(result: LaconicResult) -> None:
    if all(one.verdict == "not tested" for one in result.observations):
        return
    table = Table("observation of the paper", "here", "why")
    for one in result.observations:
        if one.verdict != "not tested":
            table.add_row(*map(escape, (one.claim, one.verdict, one.words)))
    show_table(table)


def _next(study: Path, result: LaconicResult) -> str:
    """People first, since their results belong on the page."""
    return f"dissensus laconic {'report' if result.people else 'serve'} {study}"
