"""Output about failures and their causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, show_table
from dissensus.records import Cause, Failure, Failures, tagged_as
from dissensus.report.wording import counted


def show_failures(found: Failures, worst: int, as_json: bool) -> None:
    """Where each model fails: its numbers in words, then its worst errors."""
    with document(as_json, found):
        for sentence in found.words:
            say(sentence)
        for one in found.models:
            say("")
            for sentence in one.words:
                say(sentence)
            for case in [case for case in found.failures if case.model == one.model][:worst]:
                say(f"  {_failure_line(case)}")


def _failure_line(one: Failure) -> str:
    """An error in one line."""
    if one.other:
        return f"{one.item} | {one.other}: as {one.role}, {one.predicted}; people: {one.true} ({one.severity:.2f})"
    sure = "" if one.confidence is None else f" ({100 * one.confidence:.0f} %)"
    said = f"{one.predicted}{sure}, people see {one.true or 'none of the predicted classes'}" if one.predicted else ""
    score = f"score {1 - one.severity:.2f}" if one.confidence is None and not one.role else ""
    return f"{one.item}: " + (said or score)


def show_causes(failures: Sequence[Failure], causes: Mapping[tuple[str, str], Cause], as_json: bool) -> None:
    """How many failures of each model have which cause; those without one last."""
    tagged = {key: causes[key].cause if key in causes else "" for key in map(tagged_as, failures)}
    listed = [{"item": item, "model": model, "cause": cause} for (item, model), cause in tagged.items()]
    totals, each = Counter(tagged.values()), Counter((cause, model) for (_, model), cause in tagged.items())
    models = list(dict.fromkeys(model for _, model in tagged))
    table = Table("cause", Column("failures", justify="right"), "by model")
    for cause, total in sorted(totals.items(), key=lambda both: (not both[0], -both[1], both[0])):
        by_model = ", ".join(f"{model} {each[cause, model]:,}" for model in models if each[cause, model])
        table.add_row(escape(cause) or "not tagged", f"{total:,}", escape(by_model))
    with document(as_json, {"failures": listed}):
        if tagged:
            show_table(table)
        say(f"{counted(len(tagged), 'failure')}, {sum(map(bool, tagged.values())):,} with a cause")
