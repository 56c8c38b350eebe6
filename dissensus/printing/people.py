"""Output about annotators and their screening."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, show_rows, show_table
from dissensus.report.wording import counted
from dissensus.screening.controls import MIN_CONTROLS

if TYPE_CHECKING:
    from dissensus.report.scores.data import Screenings

BIASES = {"slider": "prefer the second items of pairs more often", "rating": "rate higher"}
"""What people with a positive bias do, by kind of question."""


def show_links(tokens: Mapping[str, str], address: str, is_owner: bool, as_json: bool) -> None:
    """Personal links, which can be shown only now."""
    page = f"{address.rstrip('/')}/{'owner' if is_owner else ''}#"
    links = {name: page + token for name, token in tokens.items()}
    with document(as_json, {"links": links}):
        for name, link in links.items():
            say(f"{name}  {link}")
        say("Send each person their own link; links are not stored and cannot be shown again.")


def show_overview(overview: dict[str, Any], as_json: bool) -> None:
    """One row per annotator, and what is special about their links and answers."""
    people = overview["annotators"]
    with document(as_json, {"annotators": people}):
        if people:
            _show_people(people)
            given = sum(one["answers"] for one in people)
            say(f"{counted(len(people), 'annotator')}, {counted(given, 'answer')}")
        else:
            say("There are no annotators yet: dissensus annotators add")


def _show_people(people: Sequence[Mapping[str, Any]]) -> None:
    """What nobody has done has no column, so that the table fits a terminal."""
    columns = {
        "seconds": ["" if one["seconds"] is None else f"{one['seconds']:g}" for one in people],
        "agrees": [_share(one["agreement"]) for one in people],
        "of": [f"{one['compared']:,}" if one["compared"] else "" for one in people],
        "controls": [_of(one["controls"], "right") for one in people],
        "repeats": [_of(one["repeats"], "same") for one in people],
        "skill": [_share(one["skill"]) for one in people],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    rows = [
        (one["name"], f"{one['answers']:,}", *(cells[place] or "–" for cells in shown.values()))
        for place, one in enumerate(people)
    ]
    show_rows(("annotator", "answers", *shown), rows)
    for one in people:
        if states := _states(one):
            say(f"{one['name']}: {', '.join(states)}")


def show_screening(overview: dict[str, Any], excluded: list[str], as_json: bool) -> None:
    """How annotators perform, and whom to exclude and why."""
    suggested = {one["name"]: one["suggestion"] for one in overview["annotators"] if one["suggestion"]}
    known = {name: overview[name] for name in ("annotators", "alpha")}
    with document(as_json, known | {"suggested": suggested, "excluded": excluded}):
        show_overview(overview, as_json=False)
        for sentence in (*overview["words"], *_exclusions(overview["annotators"], suggested)):
            say(sentence)
        if suggested or excluded:
            return
        if all(one["controls"]["of"] < MIN_CONTROLS for one in overview["annotators"]):
            say(f"Nobody has answered {MIN_CONTROLS} control questions, so nobody can be assessed yet.")
        else:
            say("The control questions give no reason to exclude anyone.")


def _exclusions(people: Sequence[Mapping[str, Any]], suggested: Mapping[str, str]) -> Iterator[str]:
    for one in people:
        if one["exclusion"]:
            yield f"{one['name']} is excluded: {one['exclusion']['reason']} (by {one['exclusion']['by']})"
    for name, reason in suggested.items():
        yield f"Suggestion: exclude {name}: {reason}"


def show_screenings(found: Screenings | None, as_json: bool) -> None:
    """BT.500 and P.910 on the same answers, side by side."""
    with document(as_json, {} if found is None else asdict(found)):
        if found is None:
            say("Nobody has given any answers to screen yet.")
        else:
            _show_subjects(found)


def _show_subjects(found: Screenings) -> None:
    numbers = (Column(head, justify="right", no_wrap=True) for head in ("answers", "outliers"))
    of_p910 = (Column(head, justify="right", no_wrap=True) for head in ("bias\n(P.910)", "scatter\n(P.910)"))
    table = Table(Column("person", overflow="fold"), *numbers, Column("BT.500", no_wrap=True), *of_p910)
    for one in found.subjects:
        bias = "–" if one.bias is None else f"{one.bias:+.1f}"
        scatter = "–" if one.inconsistency is None else f"{one.inconsistency:.1f}"
        outliers, kept = ("–", "no result") if one.outliers is None else (f"{one.outliers:,}", "keeps")
        kept = kept if one.rejected is None else "rejects"
        table.add_row(escape(one.name), f"{one.answers:,}", outliers, kept, bias, scatter)
    show_table(table)
    for one in found.subjects:
        if one.rejected is not None:
            say(f"BT.500 rejects {one.name}: {one.rejected}")
    if any(one.bias is not None for one in found.subjects):
        say(f"People with a positive bias {BIASES[found.question]} than others.")
    for sentence in found.words:
        say(sentence)
    if found.correlation is not None:
        say(f"Over the {found.noun}, the two correlate at {found.correlation:.3f}; the ranking uses {found.used}.")


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _of(result: Mapping[str, int], hits: str) -> str:
    return f"{result[hits]:,} of {result['of']:,}" if result["of"] else ""


def _states(one: Mapping[str, Any]) -> list[str]:
    states = {
        "trusted": one["is_trusted"],
        "excluded": one["exclusion"],
        "link revoked": one["is_revoked"],
        "no link": not one["has_link"],
    }
    return [name for name, holds in states.items() if holds]
