"""The page about models that give scores: who falsifies whom, and on which pairs of items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dissensus.plots import Plot, Shade, bars, curve
from dissensus.report.causes import causes_section
from dissensus.report.failures import failures_section
from dissensus.report.galleries import Album
from dissensus.report.heatmaps import Grid, apart, defending, margin_shade
from dissensus.report.opening import attack_plot, leader_words, opening, opening_notes
from dissensus.report.page import Page, Section, settings_section
from dissensus.report.scores.data import ScoresReport
from dissensus.report.scores.figures import FIRST, figures
from dissensus.report.scores.pairs import (
    FILLS,
    OUTCOMES,
    SHORT,
    UNCERTAIN,
    outcome,
    outcome_words,
    outcomes,
    pair_galleries,
    pair_shape,
    pairs_by_failure,
    span_of,
    striking,
    tally_words,
)
from dissensus.report.scores.screening import screening_section
from dissensus.report.stability import LEVEL, STABLE, limits, settled_from
from dissensus.report.standings import provenances, two_orders_section
from dissensus.report.wording import number

ROLES = "Attackers find pairs on which others fail; defenders withstand such attacks."
ATTACK_MARGIN = "How much better the row’s model attacks the column’s than vice versa."
DEFENCE_MARGIN = "How much better the row’s model withstands the column’s than vice versa."
ATTACK = (
    "The row’s model attacks the column’s: annotators’ mean preference for the item that the attacker scores higher."
)
DEFENCE = "The row’s model defends against the column’s: 1 if annotators see no difference in any pair."
BOTH = "it falsifies others best and is the hardest to falsify"


def scores_page(report: ScoresReport) -> Page:
    """The opening and the sections of the report.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap.
    """
    album = Album()
    galleries = pair_galleries(report, album)
    linked = frozenset(gallery.places for gallery in galleries)
    drawn = figures(report.figures, report.duels, report.order, linked, album)
    view = {
        "report": report,
        "numbers": album.numbers,
        "galleries": galleries,
        "models": dict(enumerate(report.order)),
        "levels": report.levels,
        "outcomes": OUTCOMES,
        "question": report.question,
        "short": SHORT,
        "uncertain": UNCERTAIN,
        "outcome": outcome,
        "outcome_words": outcome_words,
        "shape": partial(pair_shape, album=album),
        "span_of": span_of,
    }
    return Page(
        opening(
            report.title, "scores/opening.html", opening_words(report), opening_notes(report),
            (attack_plot(report, ROLES),), striking(galleries), **view,
        ),
        (
            two_orders_section(report, "scores/ranking.html"),
            *failures_section(
                report.failures, report.order, "scores/failures.html", pairs_by_failure(report, album), view,
                "Contradiction",
            ),
            *causes_section(report.failures, report.causes, report.order, {}, album),
            matrices_section(report, linked),
            Section(
                "figures", "Duels", "Duels", "scores/figures.html",
                view | {"figures": drawn, "first_figures": FIRST, "scale": report.scale},
                plots=tuple(figure.plot for figure in drawn),
            ),
            Section("pairs", "Pairs", "Pairs", "scores/pairs.html", view),
            screening_section(report.screenings),
            levels_section(report),
            settings_section(report, provenances(report)),
        ),
        rules=album.rules,
        styles=("attacks.css", "scores/scores.css", "failures.css"),
        scripts=("failures.js",),
    )  # fmt: skip


def opening_words(report: ScoresReport) -> tuple[str, ...]:
    """Findings, the leaders first; a sentence is empty if there is nothing to say."""
    pairs = [pair for duel in report.duels for pair in duel.shown]
    return (*leader_words(report, BOTH), tally_words(outcomes(pairs)), *report.words[:1])


def matrices_section(report: ScoresReport, linked: frozenset[tuple[int, int]]) -> Section:
    """A − Aᵀ and R − Rᵀ (Fig. 6), and the matrices themselves; cells are empty unless both sides were judged."""
    grid, order, found = Grid(report.models, report.order, linked), report.order, report.matrices
    attack, defence = grid.sorted(found.aggressiveness), grid.sorted(found.resistance)
    attacked, defended = grid.sorted(found.attacked), grid.sorted(found.defended)
    negative = attack < 0

    def attacks(i: int, j: int) -> str:
        opposite = ": annotators contradicted it" if negative[i, j] else ""
        return f"{order[i]} attacks {order[j]} with {number(float(attack[i, j]), 2)}{opposite}"

    def attacks_back(i: int, j: int) -> str:
        return f"{attacks(i, j)}; {order[j]} attacks back with {number(float(attack[j, i]), 2)}"

    def resists(i: int, j: int) -> str:
        return f"{order[i]} resists {order[j]} with {number(float(defence[i, j]), 2)}"

    def resist_both(i: int, j: int) -> str:
        return f"{resists(i, j)}; {resists(j, i)}"

    (better, met), (firmer, withstood) = (
        (values - values.T, known & known.T) for values, known in ((attack, attacked), (defence, defended))
    )
    of_attack = Shade(_written, float, ("−1 all contradict", "1 all agree with the attacker"))
    of_defence = Shade(_written, float, ("0", "1 never falsified"), is_diverging=False)
    corner = " A red corner: contradicted by annotators." if (negative & apart(attacked)).any() else ""
    plots = (
        grid.heat(
            ("attack-margins", "Aggressiveness, A − Aᵀ", ATTACK_MARGIN + corner), better, met,
            margin_shade(better[apart(met)]), attacks_back, marked=negative,
        ),
        grid.heat(
            ("defence-margins", "Resistance, R − Rᵀ", DEFENCE_MARGIN), firmer, withstood,
            margin_shade(firmer[apart(withstood)]), resist_both, defending,
        ),
        grid.heat(
            ("attacks", "Aggressiveness, A", ATTACK + corner), attack, attacked, of_attack, attacks, marked=negative
        ),
        grid.heat(("defences", "Resistance, R", DEFENCE), defence, defended, of_defence, resists, defending),
    )  # fmt: skip
    view = {"marked": int((negative & apart(attacked)).sum())}
    return Section("matrices", "Matrices", "Pairwise matrices", "scores/matrices.html", view, "", plots)


def _written(value: float) -> str:
    return number(value, 2)


def levels_section(report: ScoresReport) -> Section:
    """How much the result depends on the number of levels (Table 1), and the outcomes of the pairs per level."""
    pairs = [pair for duel in report.duels for pair in duel.shown]
    rows = [(words, outcomes(p for p in pairs if p.level == level)) for level, words in enumerate(report.levels)]
    drawn = level_curves(report.stability)
    plots = tuple(plot for plot in (drawn, _outcomes_by_level(rows)) if plot is not None)
    view = {"drawn": drawn, "by_level": plots[-1] if rows else None}
    return Section("levels", "Levels", "Levels and stability", "scores/levels.html", view, "", plots)


def _outcomes_by_level(rows: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> Plot | None:
    """The outcomes of the pairs of every level; None without levels."""
    if not rows:
        return None
    names = [f"{level}\u2002{words}" for level, (words, _) in enumerate(rows, start=1)]
    occurring = {outcome for _, found in rows for outcome, _ in found}
    drawn = {outcome: fill for outcome, fill in zip(SHORT, FILLS, strict=True) if outcome in occurring}
    parts = [[dict(found).get(outcome, 0) for outcome in drawn] for _, found in rows]
    caption = "Levels of the defender’s scale, lowest first, over all attacks."
    title = "Outcomes level by level"
    series = [SHORT[outcome] for outcome in drawn]
    return bars("level-outcomes", title, names, parts, series, "pairs", caption, list(drawn.values()))


def level_curves(stability: Sequence[tuple[int, float, float]]) -> Plot | None:
    """Both measures over the number of levels; None if there are fewer than two numbers to compare."""
    if len(stability) < 2:
        return None
    last, enough = stability[-1][0], settled_from(stability, lambda correlation: correlation >= STABLE)
    if enough == last:
        words = f"The orders still change when the last level is added, so all {last} levels are needed."
    else:
        start = "A single level gives" if enough == 1 else f"{enough} levels give"
        words = f"{start} nearly the same orders as all {last} (correlation of at least {STABLE} for both measures)."
    counts, attack, defence = zip(*stability, strict=True)
    lines, titles = {"aggressiveness": attack, "resistance": defence}, ("number of levels", "SRCC with all levels")
    return curve("levels", "Stability over levels", counts, lines, titles, words, limits((*attack, *defence)), LEVEL)
