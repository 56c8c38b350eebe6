"""Output about annotators and their screening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import out, say, show_json
from dissensus.screening.controls import MIN_CONTROLS

if TYPE_CHECKING:
    from dissensus.report.scores.data import Screenings

BIASES = {"slider": "prefer the second items of pairs more often", "rating": "rate higher"}
"""What people with a positive bias do, by kind of question."""


def show_links(tokens: Mapping[str, str], address: str, is_owner: bool, as_json: bool) -> None:
    """Personal links, which can be shown only now."""
    page = f"{address.rstrip('/')}/{'owner' if is_owner else ''}#"
    links = {name: page + token for name, token in tokens.items()}
    if as_json:
        return show_json(links)
    for name, link in links.items():
        say(f"{name}  {link}")
    return say("Send each person their own link; links are not stored and cannot be shown again.")


def show_overview(overview: dict[str, Any], as_json: bool) -> None:
    """One row per annotator."""
    people = overview["annotators"]
    if as_json:
        return show_json(people)
    table = Table("annotator", "answers", "seconds", "agrees", "controls", "repeats", "skill", "state")
    for one in people:
        row = (
            one["name"] + (" (trusted)" if one["is_trusted"] else ""),
            f"{one['answers']:,}",
            "–" if one["seconds"] is None else f"{one['seconds']:g}",
            _share(one["agreement"]) + (f" of {one['compared']:,}" if one["compared"] else ""),
            _of(one["controls"], "right"),
            _of(one["repeats"], "same"),
            _share(one["skill"]),
            _state(one),
        )
        table.add_row(*map(escape, row))
    if not people:
        return say("There are no annotators yet: dissensus annotators add")
    return out.print(table)


def show_screening(overview: dict[str, Any], excluded: list[str], as_json: bool) -> None:
    """How annotators perform, and whom to exclude and why."""
    suggested = {one["name"]: one["suggestion"] for one in overview["annotators"] if one["suggestion"]}
    if as_json:
        known = {name: overview[name] for name in ("annotators", "alpha")}
        return show_json(known | {"suggested": suggested, "excluded": excluded})
    show_overview(overview, as_json=False)
    for sentence in overview["words"]:
        say(sentence)
    for one in overview["annotators"]:
        if one["exclusion"]:
            say(f"{one['name']} is excluded: {one['exclusion']['reason']} (by {one['exclusion']['by']})")
    for name, reason in suggested.items():
        say(f"Suggestion: exclude {name}: {reason}")
    if suggested or excluded:
        return None
    if all(one["controls"]["of"] < MIN_CONTROLS for one in overview["annotators"]):
        return say(f"Nobody has answered {MIN_CONTROLS} control questions, so nobody can be assessed yet.")
    return say("The control questions give no reason to exclude anyone.")


def show_screenings(found: Screenings | None, as_json: bool) -> None:
    """BT.500 and P.910 on the same answers, side by side."""
    if as_json:
        return show_json(None if found is None else asdict(found))
    if found is None:
        return say("Nobody has given any answers to screen yet.")
    numbers = (Column(name, justify="right") for name in ("bias (P.910)", "scatter (P.910)"))
    table = Table("person", Column("answers", justify="right"), Column("outliers", justify="right"), "BT.500", *numbers)
    for one in found.subjects:
        bias = "–" if one.bias is None else f"{one.bias:+.1f}"
        scatter = "–" if one.inconsistency is None else f"{one.inconsistency:.1f}"
        kept = "keeps" if one.rejected is None else f"rejects: {one.rejected}"
        outliers, kept = ("–", "no result") if one.outliers is None else (f"{one.outliers:,}", kept)
        table.add_row(escape(one.name), f"{one.answers:,}", outliers, escape(kept), bias, scatter)
    out.print(table)
    if any(one.bias is not None for one in found.subjects):
        say(f"People with a positive bias {BIASES[found.question]} than others.")
    for sentence in found.words:
        say(sentence)
    if found.correlation is not None:
        say(f"Over the {found.noun}, the two correlate at {found.correlation:.3f}; the ranking uses {found.used}.")
    return None


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _of(result: Mapping[str, int], hits: str) -> str:
    return f"{result[hits]:,} of {result['of']:,}" if result["of"] else "–"


def _state(one: Mapping[str, Any]) -> str:
    states = {"excluded": one["exclusion"], "link revoked": one["is_revoked"], "no link": not one["has_link"]}
    return ", ".join(name for name, holds in states.items() if holds)
