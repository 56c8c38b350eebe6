"""What the demos made."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from dissensus.demo import DemoResult, MasksDemoResult, SlidersReady
from dissensus.printing.console import number_words, out, say, show_json
from dissensus.printing.finding import place, show_ranking
from dissensus.records import Rankings
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


def show_masks_demo(result: MasksDemoResult, as_json: bool) -> None:
    """What the demo of maps found, and what it cost."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    if result.rankings is None:
        study = shlex.quote(str(result.study))
        say(f"Three models compete on {result.pool:,} scenes; {result.images:,} of them wait to be drawn by you:")
        say(f"  dissensus annotators add {study} you     a personal link; another person's may check what you drew")
        say(f"  dissensus serve {study}                  the pages to draw on")
        say(f"then: dissensus report {study}")
        return None
    out.print(_both_orders(result.rankings, result.miou))
    for sentence, names in _told(result.rankings).items():
        say(f"{names}: {sentence}")
    for sentence in result.rankings.words:
        say(sentence)
    agree = ", ".join(f"{name} {srcc:.2f}" for name, srcc in result.srcc.items() if srcc is not None)
    say(f"Spearman correlation with the mIoU over all scenes: {agree}")
    say(f"The competition asked for masks of {result.images:,} scenes; the column mIoU took those of {result.pool:,}.")
    say("The true maps are known, nobody drew them (use --by-hand to draw them yourself).")
    say(f"report: {result.report}")
    return None


def _both_orders(rankings: Rankings, miou: Mapping[str, float]) -> Table:
    """Every model once, the most aggressive first, with its ranks and strengths in both orders."""
    table = Table("model", "rank", "aggressiveness", "rank", "resistance", "mIoU, all scenes")
    defending = {standing.model: standing for standing in rankings.resistance.standings}
    for standing in rankings.aggressiveness.standings:
        row = [standing.model]
        for one in (standing, defending[standing.model]):
            row += [place(one), number_words(one.strength)]
        table.add_row(*map(escape, (*row, f"{miou[standing.model]:.3f}")))
    return table


def _told(rankings: Rankings) -> dict[str, str]:
    """What is said of the orders, each sentence once, and of which."""
    told: dict[str, list[str]] = {}
    for name, ranking in rankings.measures.items():
        for sentence in ranking.words:
            told.setdefault(sentence, []).append(name)
    return {sentence: " and ".join(names) for sentence, names in told.items()}


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
