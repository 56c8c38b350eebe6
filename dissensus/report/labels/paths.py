"""Why two labels are far apart: their path in the taxonomy, beside an item that got both (Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.plots import Plot, path
from dissensus.report.galleries import Gallery
from dissensus.report.labels.data import LabelsReport, Shown
from dissensus.report.page import Section

FARTHEST = 3
"""How many of the farthest pairs of labels are drawn; then comes the nearest, if it is nearer."""


@dataclass(frozen=True)
class PathCard:
    """A card and the path between its two labels."""

    gallery: Gallery
    card: Shown
    plot: Plot


def paths_section(report: LabelsReport, galleries: Sequence[Gallery], numbers: dict[str, int]) -> tuple[Section, ...]:
    """The farthest labels that two models gave to one item, and the nearest; empty without a taxonomy."""
    made = path_cards(report, galleries)
    if not made:
        return ()
    view = {"paths": made, "numbers": numbers}
    plots = tuple(one.plot for one in made)
    return (Section("paths", "Distances", "How far apart are two labels?", "labels/paths.html", view, plots=plots),)


def path_cards(report: LabelsReport, galleries: Sequence[Gallery]) -> tuple[PathCard, ...]:
    """One card for each of the farthest pairs of labels and one for the nearest, those with pictures first."""
    best: dict[frozenset[str], tuple[Gallery, Shown]] = {}
    for gallery in galleries:
        for card in gallery.cards:
            key = frozenset(said.label for said in card.said)
            if key in report.paths and (key not in best or (best[key][1].image is None and card.image is not None)):
                best[key] = gallery, card
    ranked = sorted(best.items(), key=lambda both: (-both[1][1].discrepancy, sorted(both[0])))
    nearer = [both for both in ranked[FARTHEST:] if both[1][1].discrepancy < ranked[0][1][1].discrepancy]
    chosen = ranked[:FARTHEST] + nearer[-1:]
    return tuple(
        PathCard(gallery, card, _plot(report, card, number))
        for number, (_, (gallery, card)) in enumerate(chosen, start=1)
    )


def _plot(report: LabelsReport, card: Shown, number: int) -> Plot:
    first, second = (said.label for said in card.said)
    found = report.paths[frozenset((first, second))]
    found = found if found.nodes[0] == first else found.turned
    shared = found.nodes[min(range(len(found.nodes)), key=lambda place: found.depths[place])]
    is_capped = found.length > card.discrepancy * (1 + 1e-9)
    ceiling = f", which counts as {card.discrepancy:.3g}: more only says that two labels are unrelated" * is_capped
    caption = f"The two meet at ‘{shared}’. The weights add up to {found.length:.3g}{ceiling}."
    return path(f"path-{number}", f"{first} and {second}", found.nodes, found.depths, found.weights, caption)
