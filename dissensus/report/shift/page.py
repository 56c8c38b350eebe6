"""The page about models on two test sets: does a score survive a new test set?"""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.records import ModelShift, ShiftResult
from dissensus.report.opening import opening
from dissensus.report.page import Page, Section
from dissensus.report.shift.figures import (
    TITLES,
    accuracy_plots,
    equation,
    family_plot,
    robustness_plot,
    strata_plot,
    stratified_plot,
)

MOST_MODELS = 100
"""Rows of the table of models; `accuracies-linear.csv` has all of them."""
MOST_ROWS = 60
"""Rows of further tables, and missing models that are listed by name."""
TITLE = "Does the score survive a new test set?"
RETURNS = {
    "growing": "A point gained on the old set brings more than a point on the new one.",
    "diminishing": "A point gained on the old set brings less than a point on the new one.",
    "undecided": "The slope may be above or below 1.",
    "not tested": "There is no slope to compare with 1.",
}


def shift_page(result: ShiftResult, title: str = TITLE, notes: Sequence[str] = ()) -> Page:
    """The opening and the sections of the page; `notes` are sentences that readers must see first."""
    plots, view = accuracy_plots(result), {"result": result, "returns": RETURNS}
    return Page(
        opening(title, "shift/opening.html", result.words, notes, plots, result=result, titles=TITLES),
        (
            models_section(result),
            *robustness_section(result),
            Section("causes", "Causes", "What can be concluded", "shift/causes.html", view),
            *fits_section(result),
            *frequencies_section(result),
            *duplicates_section(result),
            *pairs_section(result),
            settings_section(result),
        ),
        styles=("shift/shift.css",),
        scripts=("shift/sorting.js",),
        start="models",
    )


def models_section(result: ShiftResult) -> Section:
    """Both accuracies, drop, ranks and effective robustness of every model; with very many, of the most telling."""
    rows = shown(result)
    view = {"result": result, "rows": rows, "left_out": len(result.models) - len(rows), "most_names": MOST_ROWS}
    return Section("models", "Models", "Model by model", "shift/models.html", view)


def shown(result: ShiftResult) -> tuple[ModelShift, ...]:
    """The rows of the table of models: all if there is room, else the best and those furthest off the line."""
    if len(result.models) <= MOST_MODELS:
        return result.models
    chosen = {one.model for one in result.furthest[: MOST_MODELS // 2]}
    for one in result.models:
        if len(chosen) == MOST_MODELS:
            break
        chosen.add(one.model)
    return tuple(one for one in result.models if one.model in chosen)


def robustness_section(result: ShiftResult) -> tuple[Section, ...]:
    """How far models and families lie off the line; empty without a fit."""
    plots = tuple(plot for plot in (family_plot(result), robustness_plot(result)) if plot is not None)
    if not plots:
        return ()
    title = "Who lies off the line"
    return (Section("robustness", "Off the line", title, "shift/robustness.html", {"result": result}, plots=plots),)


def fits_section(result: ShiftResult) -> tuple[Section, ...]:
    """Both fits side by side, and the difficulty model read off one of them; empty without a fit."""
    if not result.fits:
        return ()
    view = {"result": result, "equations": {fit.scale: equation(fit) for fit in result.fits}}
    return (Section("fits", "The line", "Which line fits", "shift/fits.html", view),)


def frequencies_section(result: ShiftResult) -> tuple[Section, ...]:
    """Accuracies by selection frequency, and what frequencies explain; empty without them."""
    if not result.strata and not result.stratified:
        return ()
    plots = tuple(plot for plot in (strata_plot(result), stratified_plot(result)) if plot is not None)
    title = "How often people selected the images"
    return (Section("frequencies", "Frequencies", title, "shift/frequencies.html", {"result": result}, plots=plots),)


def duplicates_section(result: ShiftResult) -> tuple[Section, ...]:
    """What near-duplicates add to accuracies; empty without them."""
    if not result.duplicates:
        return ()
    view = {"result": result, "rows": result.duplicates[:MOST_ROWS]}
    return (Section("duplicates", "Duplicates", "Near-duplicates", "shift/duplicates.html", view),)


def pairs_section(result: ShiftResult) -> tuple[Section, ...]:
    """Which models drop more than others; empty unless both predict the same items."""
    if not result.differences:
        return ()
    rows = sorted(result.differences, key=lambda one: (one.low_at_once <= 0 <= one.high_at_once, -abs(one.value)))
    decided = sum(not one.low_at_once <= 0 <= one.high_at_once for one in rows)
    view = {"result": result, "rows": rows[:MOST_ROWS], "decided": decided}
    return (Section("pairs", "Pairs", "Who drops more than whom", "shift/pairs.html", view),)


def settings_section(result: ShiftResult) -> Section:
    """Everything the numbers depend on."""
    computed = {
        "test sets": f"{result.original_name}, {result.new_name}",
        "models": f"{len(result.models):,} compared, {len(result.missing):,} on one set only",
        "intervals of accuracies": f"{100 * result.level:g} %, Clopper–Pearson where the numbers of items are known",
        "bootstrap": f"{result.resamples:,} resamples of the models, seed {result.seed}",
        "effective robustness": "measured from no line"
        if result.best_fit is None
        else f"measured from the {result.best_fit.scale} fit",
        "families": "read off the models’ names" if result.is_family_guessed else "as given",
    }
    view = {"computed": computed, "result": result}
    return Section("settings", "Settings", "Settings and provenance", "shift/settings.html", view)
