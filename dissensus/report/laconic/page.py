"""The page about a laconic test: how little of an image is enough, for machines and for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.records import LaconicResult
from dissensus.report.galleries import Album
from dissensus.report.laconic.data import LaconicReport
from dissensus.report.laconic.figures import accuracy_plots, precision_plots
from dissensus.report.laconic.gallery import Card, cards
from dissensus.report.opening import opening
from dissensus.report.page import Page, Section

MOST_CLASSES = 60
"""Rows of a table by class; `to_frame("classes")` has all of them."""
MOST_NAMES = 60
"""Unused images that are listed by name, for each model."""
MARKS = {"holds": "✓", "does not hold": "✗", "undecided": "?", "not tested": "–"}


def laconic_page(report: LaconicReport) -> Page:
    """The opening and the sections of the page."""
    album, result = Album(), report.result
    made, left_out = cards(report, album)
    view = {"report": report, "result": result, "marks": MARKS}
    gallery = {"cards": made, "left_out": left_out, "reductions": result.reductions}
    return Page(
        opening(
            report.title, "laconic/opening.html", result.words, report.notes, (), _example(made, result), result=result
        ),
        (
            Section("ratios", "Ratios", "How much is needed", "laconic/ratios.html", view, plots=(result.plot(),)),
            Section("observations", "The paper", "What the paper observed", "laconic/observations.html", view),
            accuracy_section(result),
            *precision_section(result),
            *playing_section(result),
            classes_section(result),
            Section("gallery", "Gallery", "What is left", "laconic/gallery.html", gallery),
            unused_section(result),
            settings_section(report),
        ),
        rules=album.rules,
        styles=("laconic/laconic.css",),
        start="ratios",
    )


def _example(made: Sequence[Card], result: LaconicResult) -> Card | None:
    """The first image that has every reduction of some classifier, reduced for that one alone."""
    order = sorted(result.classifiers, key=lambda name: (result.mean(name, result.main_reduction).value or 2.0, name))
    for name in order:
        for card in made:
            row = dict(card.rows).get(name)
            if row is not None and all(row):
                return Card(card.image, card.label, card.original, ((name, row),))
    return None


def accuracy_section(result: LaconicResult) -> Section:
    """The mean ratio of every model against its accuracy."""
    view = {"correlations": result.correlations, "level": result.level}
    title = "Do accurate models need less?"
    return Section("accuracy", "Accuracy", title, "laconic/accuracy.html", view, plots=accuracy_plots(result))


def precision_section(result: LaconicResult) -> tuple[Section, ...]:
    """Who can read whose MEPIs; empty if nobody has read any."""
    plots = precision_plots(result)
    view = {"result": result}
    return (
        (Section("precision", "Precision", "Who recognises whose MEPIs", "laconic/precision.html", view, plots=plots),)
        if plots
        else ()
    )


def playing_section(result: LaconicResult) -> tuple[Section, ...]:
    """How people played, and whose readings count; empty if nobody has played."""
    if not result.manners and result.control is None:
        return ()
    return (Section("playing", "Players", "How people played", "laconic/playing.html", {"result": result}),)


@dataclass(frozen=True)
class ClassTable:
    """Mean ratios by class for one reduction: a row per class, with None where a classifier has no image."""

    reduction: str
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    means: tuple[float | None, ...]
    """Over the classes, for each classifier."""
    left_out: int

    def is_least(self, row: tuple[float | None, ...], place: int) -> bool:
        known = [value for value in row if value is not None]
        return len(known) > 1 and row[place] == min(known)


def classes_section(result: LaconicResult) -> Section:
    """The mean ratios of the classes (Table 1), a table for every reduction."""
    value = {(one.reduction, one.label, one.classifier): one.value for one in result.per_class}
    tables = tuple(
        ClassTable(
            reduction,
            tuple(
                (label, tuple(value.get((reduction, label, name)) for name in result.measured))
                for label in result.classes[:MOST_CLASSES]
            ),
            tuple(result.mean(name, reduction).value for name in result.measured),
            max(0, len(result.classes) - MOST_CLASSES),
        )
        for reduction in result.reductions
    )
    view = {"tables": tables, "result": result}
    return Section("classes", "Classes", "Class by class", "laconic/classes.html", view)


@dataclass(frozen=True)
class Unused:
    """The images that a model gets wrong before they are reduced, by class; the first ones are listed by name."""

    model: str
    count: int
    accuracy: float
    images: tuple[str, ...]


def unused_section(result: LaconicResult) -> Section:
    """Images that are not used, because a model gets them wrong before they are reduced."""
    rows, found = [], result.found
    for model, count in result.unused.items():
        names: tuple[str, ...] = ()
        if found is not None:
            used = np.zeros(len(found.images), bool)
            used[found.mepis.image[found.mepis.classifier == found.classifiers.index(model)]] = True
            names = tuple(found.images[place] for place in np.flatnonzero(~used)[:MOST_NAMES].tolist())
        rows.append(Unused(model, count, result.accuracy[model], names))
    view = {"rows": rows, "result": result}
    return Section("unused", "Not used", "Images that are not used", "laconic/unused.html", view)


def settings_section(report: LaconicReport) -> Section:
    """Everything the numbers depend on."""
    result = report.result
    how = (
        "naive: any reduced image that is still recognised"
        if result.is_naive
        else "continuous: recognised at every step from the original to the MEPI"
    )
    computed = {
        "size of an image": result.encoder,
        "originals": f"{result.side} × {result.side} pixels",
        "search": how,
        "images": f"{result.images:,} of {len(result.classes):,} classes",
        "intervals": f"{100 * result.level:g} %, {result.resamples:,} resamples, seed {result.seed}",
    }
    view = {"computed": computed, "report": report}
    return Section("settings", "Settings", "Settings and provenance", "laconic/settings.html", view)
