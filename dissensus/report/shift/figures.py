"""Figures about models on two test sets: accuracies, effective robustness, families and selection frequencies."""

from __future__ import annotations

from dataclasses import replace

from dissensus.plots import Plot, curve, dots, dots_over
from dissensus.plots.paired import FEW, Scale
from dissensus.plots.text import Table, cut
from dissensus.records import Fit, ShiftResult
from dissensus.report.wording import in_percent, number

MOST_ROWS = 40
"""Models in the figure of effective robustness."""
SPACE = "\N{NO-BREAK SPACE}"
WIDEST = 2.0
"""How far the axis of families reaches, in terms of the family that lies furthest off: two models say little."""
TITLES = {"linear": "Linear axes", "probit": "Probit axes"}


def accuracy_plots(result: ShiftResult) -> tuple[Plot, Plot]:
    """New against original accuracy with y = x, the fit and its band, on linear and on probit axes."""
    return _accuracies(result, "linear"), _accuracies(result, "probit")


def _accuracies(result: ShiftResult, scale: Scale) -> Plot:
    caption = _caption(result, result.fit(scale), scale)
    return replace(result.plot(scale), caption=caption, table=result.model_columns())


def _caption(result: ShiftResult, fit: Fit | None, scale: Scale) -> str:
    said = ["Each mark is a model."]
    if any(one.new_low is not None for one in result.models):
        level = f"{100 * result.level:g} %"
        said.append(f"Bars: {level} intervals{'' if len(result.models) <= FEW else ', of the named models only'}.")
    if fit is not None:
        said.append(f"Line: {equation(fit).replace(' ', SPACE).replace('=' + SPACE, '= ')}; shaded: where it may lie.")
        if len(result.fits) > 1 and fit == result.best_fit:
            said.append("Effective robustness is the distance from this line.")
    if scale == "probit" and any(share in (0, 1) for one in result.models for share in (one.original, one.new)):
        said.append("Accuracies of 0 or 100 % lie on the edge.")
    return " ".join(said)


def equation(fit: Fit) -> str:
    """The line in a formula: 'new = 1.70 · original − 73.1 (R² 0.995)'."""
    offset = 100 * fit.offset if fit.scale == "linear" else fit.offset
    digits = 1 if fit.scale == "linear" else 2
    sign, size = "−" if offset < 0 else "+", number(abs(offset), digits)
    left, right = ("new", "original") if fit.scale == "linear" else ("Φ⁻¹(new)", "Φ⁻¹(original)")
    return f"{left} = {number(fit.slope, 2)} · {right} {sign} {size} (R² {number(fit.r2, 3)})"


def robustness_plot(result: ShiftResult) -> Plot | None:
    """How far every model lies off the line, most robust first; with many models, the furthest of them."""
    far = result.furthest
    if not far:
        return None
    known = sorted(far, key=lambda one: (-(one.robustness or 0), one.model))
    chosen = {one.model for one in far[:MOST_ROWS]}
    drawn = [one for one in known if one.model in chosen]
    caption = "New accuracy minus what the line predicts. Blue: off the line, all models looked at together."
    if left := len(known) - len(drawn):
        caption += f" {left:,} models that lie closer to the line are not drawn."
    plot = dots(
        "robustness",
        "Effective robustness of models",
        [one.model for one in drawn],
        [in_percent(one.robustness) for one in drawn],
        [in_percent(one.robustness_low) for one in drawn],
        [in_percent(one.robustness_high) for one in drawn],
        "Effective robustness, points",
        caption,
        highlighted=[one.is_off for one in drawn],
        decimals=1,
    )
    table: Table = {
        "name": [one.model for one in known],
        "family": [one.family for one in known],
        "value": [in_percent(one.robustness) for one in known],
        "low": [in_percent(one.robustness_low) for one in known],
        "high": [in_percent(one.robustness_high) for one in known],
        "off the line": [_yes(one.is_off) for one in known],
    }
    return replace(plot, table=table)


def family_plot(result: ShiftResult) -> Plot | None:
    """How far every family lies off the line on average; None unless some family has several models."""
    known = result.families
    if len(known) < 2 or max(one.models for one in known) < 2:
        return None
    far = sorted(known, key=lambda one: (not one.is_off, one.models == 1, -abs(one.robustness), one.family))
    chosen = {one.family for one in far[:MOST_ROWS]}
    drawn = [one for one in known if one.family in chosen]
    caption = (
        "Mean over the models of a family, with intervals that hold for all families together. Blue: off the line."
    )
    if any(one.low_at_once is None for one in drawn):
        caption += " A single model has no interval here."
    if left := len(known) - len(drawn):
        caption += f" {left:,} families are not drawn: they lie closer to the line or have one model."
    reach = WIDEST * max(abs(one.robustness) for one in drawn) or 1.0
    ends = [abs(end) for one in drawn for end in (one.low_at_once, one.high_at_once) if end is not None]
    is_cut = max(ends, default=0.0) > reach
    if is_cut:
        caption += " Intervals that reach the edge go on."
    plot = dots(
        "families",
        "Effective robustness of families",
        [f"{one.family} ({one.models:,})" for one in drawn],
        [in_percent(one.robustness) for one in drawn],
        [in_percent(one.low_at_once) for one in drawn],
        [in_percent(one.high_at_once) for one in drawn],
        "Effective robustness, points",
        caption,
        highlighted=[one.is_off for one in drawn],
        decimals=1,
        limits=(-100 * reach, 100 * reach) if is_cut else None,
    )
    table: Table = {
        "family": [one.family for one in known],
        "models": [one.models for one in known],
        "value": [in_percent(one.robustness) for one in known],
        "low": [in_percent(one.low_at_once) for one in known],
        "high": [in_percent(one.high_at_once) for one in known],
        "off the line": [_yes(one.is_off) for one in known],
    }
    return replace(plot, table=table)


def strata_plot(result: ShiftResult) -> Plot | None:
    """Mean accuracy on both sets by selection frequency, where both have items."""
    known = [(one, one.original, one.new) for one in result.strata if one.original is not None and one.new is not None]
    if len(known) < 2:
        return None
    return curve(
        "strata",
        "Accuracy by selection frequency",
        [(one.low + one.high) / 2 for one, _, _ in known],
        {
            f"{cut(result.original_name)} set": [100 * original for _, original, _ in known],
            f"{cut(result.new_name)} set": [100 * new for _, _, new in known],
        },
        ("Selection frequency", "Mean accuracy, %"),
        "Images that more people selected are easier for models.",
    )


def stratified_plot(result: ShiftResult) -> Plot | None:
    """Every model's drop as it is, and with the selection frequencies of the original set."""
    rows = result.stratified[:MOST_ROWS]
    if not rows:
        return None
    ends = {one.model: (one.drop_low, one.drop_high) for one in result.models}

    def whole(model: str, drop: float) -> tuple[float, float, float]:
        low, high = (drop if end is None else end for end in ends.get(model, (None, None)))
        return 100 * drop, 100 * low, 100 * high

    return dots_over(
        "matched",
        "Drops with the same selection frequencies",
        [one.model for one in rows],
        {
            "as it is": [whole(one.model, one.drop) for one in rows],
            "same frequencies": [(100 * one.matched, 100 * one.matched_low, 100 * one.matched_high) for one in rows],
        },
        "Drop in accuracy, points",
        "Grey: the whole drop. Blue: the drop that is left if the new set is weighted to the old one’s frequencies.",
    )


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"
