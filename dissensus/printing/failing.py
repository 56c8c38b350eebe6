"""Output about failures and their causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, show_table
from dissensus.records import Cause, Failure, tagged_as
from dissensus.report.wording import counted


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
