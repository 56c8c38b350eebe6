"""What the demos made."""

from __future__ import annotations

import shlex

from dissensus.demo import DemoResult, SlidersReady
from dissensus.printing.console import say, show_json
from dissensus.printing.finding import show_ranking
from dissensus.report.data import Benchmark
from dissensus.study import Study


def show_demo(result: DemoResult, as_json: bool) -> None:
    """What the demo found, and what it cost."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    if result.ranking is None:
        say(f"{result.questions:,} questions about {result.pool:,} digits wait for you. Open the sheet in a browser:")
        say(f"  {result.sheet}")
        study = shlex.quote(str(result.study))
        say(f"then: dissensus judgements import {study} FILE and dissensus report {study}")
        say(f"or let several people answer in their browsers: dissensus serve {study}")
        return None
    labelled = Benchmark("accuracy, all labelled", result.accuracy, {}, {}, result.srcc)
    show_ranking(result.ranking, Study(result.study).classes, result.consensus, labelled, as_json=False)
    say(f"The competition asked {result.questions:,} yes/no questions; full labelling took {result.pool:,} labels.")
    say("The answers came from the data set's own labels, not from people (use --by-hand to give them yourself).")
    say(f"report: {result.report}")
    return None


def show_sliders(ready: SlidersReady, is_served: bool, as_json: bool) -> None:
    """A study whose pairs wait to be compared."""
    if as_json:
        return show_json(ready.model_dump(mode="json"))
    say(f"{ready.study}: four quality models compete on {ready.pool:,} photos; {ready.pairs:,} pairs wait for you.")
    return None if is_served else say(f"Next: dissensus serve {shlex.quote(str(ready.study))}")


def show_sliders_open(link: str, dashboard: str) -> None:
    """Where the slider pages are."""
    say(f"  compare     {link}")
    say(f"  dashboard   {dashboard}")
    say("Ctrl-C stops it; nothing is lost, and the same command goes on.")
