"""Output of the demos."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from dissensus.printing.console import document, number_words, say, say_next, show_table
from dissensus.printing.finding import place
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.demo import DemoResult, MasksDemoResult, SlidersReady
    from dissensus.records import Rankings


def show_demo(result: DemoResult, as_json: bool) -> None:
    """The ranking and how many questions it took, or how to answer them by hand."""
    with document(as_json, result):
        if result.ranking is None:
            asked = counted(result.questions, "open question")
            say(f"{asked} about {result.pool:,} digits. Open the answer sheet in a browser:")
            say(f"  {result.sheet}")
            study = shlex.quote(str(result.study))
            say(f"Then run: dissensus judgements import {study} FILE and dissensus report {study}")
            say(f"Or let several people answer in their browsers: dissensus serve {study}")
            return
        show_table(_both_rankings(result))
        for sentence in result.words:
            say(sentence)
        asked = counted(result.questions, "yes/no question")
        say(f"All this took {asked}; labelling the whole pool takes {counted(result.pool, 'label')}.")
        agree = " and ".join(f"{srcc:.3f}" for srcc in (result.srcc_of_estimates, result.srcc) if srcc is not None)
        say(f"Spearman correlation of the two rankings with the accuracies if all is labelled: {agree}")
        say("The answers are the data set's own labels, not human judgements (use --by-hand to answer yourself).")
        say(f"report: {result.report}")


def _both_rankings(result: DemoResult) -> Table:
    """The ranks that both rankings leave to each model, its estimated accuracy, and what labelling everything gives."""
    assert result.ranking is not None
    assert result.estimates is not None
    table = Table("model", "right most often", "hardest to falsify", "accuracy", "if all is labelled")
    falsified = {one.model: place(one) for one in result.ranking.standings}
    for one in result.estimates.models:
        first, last = result.estimates.ranks()[one.model]
        ranks = str(first) if first == last else f"{first}–{last}"
        both = f"{one.accuracy:.3f}", f"{result.accuracy[one.model]:.3f}"
        table.add_row(escape(one.model), ranks, falsified[one.model], *both)
    return table


def show_masks_demo(result: MasksDemoResult, as_json: bool) -> None:
    """Both rankings and how many masks they took, or how to draw the masks by hand."""
    with document(as_json, result):
        if result.rankings is None:
            study = shlex.quote(str(result.study))
            say(f"Three models compete on {result.pool:,} scenes; {result.images:,} of them are for you to draw:")
            say(
                f"  dissensus annotators add {study} you     creates your link; add a second person to check your masks"
            )
            say(f"  dissensus serve {study}                  serves the drawing pages")
            say(f"Then run: dissensus report {study}")
            return
        show_table(_both_orders(result.rankings, result.miou))
        for sentence, names in _told(result.rankings).items():
            say(f"{names}: {sentence}")
        for sentence in result.rankings.words:
            say(sentence)
        agree = ", ".join(f"{name} {srcc:.2f}" for name, srcc in result.srcc.items() if srcc is not None)
        say(f"Spearman correlation with mIoU over all scenes: {agree}")
        drawn = counted(result.images, "scene")
        say(f"The competition took masks of {drawn}; the mIoU column took masks of all {result.pool:,}.")
        say("The masks are the known ground truth, not drawn by people (use --by-hand to draw them yourself).")
        say(f"report: {result.report}")


def _both_orders(rankings: Rankings, miou: Mapping[str, float]) -> Table:
    """One row per model, the most aggressive first, with its rank and strength in both rankings."""
    table = Table("model", "rank", "aggressiveness", "rank", "resistance", "mIoU, all scenes")
    defending = {standing.model: standing for standing in rankings.resistance.standings}
    for standing in rankings.aggressiveness.standings:
        row = [standing.model]
        for one in (standing, defending[standing.model]):
            row += [place(one), number_words(one.strength)]
        table.add_row(*map(escape, (*row, f"{miou[standing.model]:.3f}")))
    return table


def _told(rankings: Rankings) -> dict[str, str]:
    """The sentences about the rankings, each once, with the names of the rankings that it is about."""
    told: dict[str, list[str]] = {}
    for name, ranking in rankings.measures.items():
        for sentence in ranking.words:
            told.setdefault(sentence, []).append(name)
    return {sentence: " and ".join(names) for sentence, names in told.items()}


def show_sliders(ready: SlidersReady, is_served: bool, as_json: bool) -> None:
    """The size of the study and its open pairs."""
    with document(as_json, ready):
        say(f"{ready.study}: four quality models compete on {ready.pool:,} photos; {ready.pairs:,} pairs are open.")
        return None if is_served else say_next(f"dissensus serve {shlex.quote(str(ready.study))}")


def show_sliders_open(link: str, dashboard: str) -> None:
    """Links to the slider pages and the dashboard."""
    say(f"  compare     {link}")
    say(f"  dashboard   {dashboard}")
    say("Press Ctrl-C to stop; no answer is lost, and the same command resumes.")
