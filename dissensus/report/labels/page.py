"""The page about classifiers: who is right where two of them disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.plots import Plot, Shade, bars, curve
from dissensus.records import Estimates, Ranking
from dissensus.report.beside import beside_section
from dissensus.report.causes import causes_section
from dissensus.report.failures import failures_section
from dissensus.report.galleries import Album, Gallery, duel_id, most_each
from dissensus.report.heatmaps import Grid, apart, ratio_shade
from dissensus.report.labels.data import LabelDuel, LabelsReport, Shown
from dissensus.report.labels.orders import orders
from dissensus.report.labels.paths import paths_section
from dissensus.report.opening import opening, ranks_of, ranks_plot
from dissensus.report.page import Page, Section, settings_section
from dissensus.report.stability import LEVEL, STABLE, limits, settled_from
from dissensus.report.wording import counted, percent, ratio

CARDS = 6_000
"""Cards on one page; larger studies show only the first of every duel, and say so."""

PAPER = (0.329, 0.535, 0.136)
"""Shares of Cases I, II and III among eleven ImageNet classifiers (Section 3.1)."""


def labels_page(report: LabelsReport) -> Page:
    """The opening and the sections of the report."""
    album = Album()
    made = galleries(report, album)
    linked = frozenset(gallery.places for gallery in made)
    view = {"numbers": album.numbers, "galleries": made, "models": dict(enumerate(report.order))}
    provenance = report.ranking.provenance
    for item, (image, _) in report.failed_pictures.items():
        album.add(item, image)
    failed = failures_section(
        report.failures, report.order, "labels/failures.html",
        lambda one: report.failed_pictures.get(one.item, (None, False)), view,
    )  # fmt: skip
    pictures = {item: image for item, (image, _) in report.failed_pictures.items()}
    pictures |= {card.item: card.image for duel in report.duels for card in duel.shown}
    found = findings(report.ranking, report.estimates)
    return Page(
        opening(
            report.title, "labels/opening.html", found, report.notes, (ranks(report),), example(made), report=report,
            **view,
        ),
        (
            *accuracy_section(report),
            ranking_section(report),
            *failed,
            *causes_section(report.failures, report.causes, report.order, pictures, album),
            matrices_section(report, linked),
            cases_section(report, linked),
            stability_section(report),
            *paths_section(report, made, album.numbers),
            *classes_section(report, made, album),
            Section("galleries", "Galleries", "Galleries", "labels/galleries.html", view),
            settings_section(report, {"Ranking": provenance}, f" --method {provenance.method}"),
        ),
        rules=album.rules,
        styles=("failures.css",),
        scripts=("failures.js",),
    )  # fmt: skip


def ranking_section(report: LabelsReport) -> Section:
    """Strengths with bars and rank sets, how fragile first place is, and the same models in other orders."""
    view = {"report": report, "columns": orders(report)}
    drawn = (report.ranking.plot(), *_costs(report))
    title = "Ranking" if report.estimates is None else "Hardest to falsify"
    return Section("ranking", title, title, "labels/ranking.html", view, "", drawn)


def findings(ranking: Ranking, found: Estimates | None) -> tuple[str, ...]:
    """What the ranking says; with draws, first how it compares with how often the models are right."""
    if found is None:
        return ranking.words
    early = [one for one in ranking.words[:1] if one.startswith("Preliminary")]
    said, *more = ranking.words[len(early) :]
    said = said[0].lower() + said[1:] if said.startswith(("Tied for", "Not enough")) else said
    more = [f"By falsification, {one[0].lower()}{one[1:]}" if one.startswith("Rank sets") else one for one in more]
    return (*early, two_rankings(ranking, found), *found.words, f"By falsification, {said}", *more)


def two_rankings(ranking: Ranking, found: Estimates) -> str:
    """Which models lead the two rankings, in a sentence."""
    hardest, most_often = ranking.standings[0].model, found.models[0].model
    if hardest == most_often:
        return _one_leader(ranking, found)
    worse = {other for _, other in found.decided}
    may_be_hardest = {one.model for one in ranking.standings if one.may_be_first}
    if most_often in may_be_hardest and hardest not in worse:
        return (
            f"No clear winner: {most_often} is right most often and {hardest} is hardest to falsify, but the answers "
            "separate the two in neither ranking."
        )
    return (
        f"The two rankings differ: {most_often} seems to be right most often on this pool, {hardest} is the hardest "
        "to falsify."
    )


def _one_leader(ranking: Ranking, found: Estimates) -> str:
    """The model that leads both rankings, and in which of them others may be as good."""
    model = ranking.standings[0].model
    alone = [one.model for one in ranking.standings if one.may_be_first] == [model]
    open_in = [] if alone else ["hardest to falsify"]
    open_in += [] if found.best == model else ["most often right"]
    said = f"{model} leads both rankings: hardest to falsify, and most often right on this pool"
    if not open_in:
        return f"{said}."
    return f"{said}; but the answers do not make sure that it is {' or '.join(open_in)}."


def ranks(report: LabelsReport) -> Plot:
    """The models' ranks: how hard they are to falsify and, if questions were drawn for it, how often they are right."""
    orders = {"hardest to falsify": ranks_of(report.ranking.standings)}
    if (found := report.estimates) is not None:
        sets = found.ranks()
        orders["most often right"] = {
            one.model: (place, *sets[one.model]) for place, one in enumerate(found.models, start=1)
        }
    return ranks_plot(report.order, orders)


def accuracy_section(report: LabelsReport) -> tuple[Section, ...]:
    """How often each model is right on the pool; empty if no question was drawn for it."""
    if (found := report.estimates) is None:
        return ()
    title, drawn = "Most often right on this pool", (found.plot_ranks(), found.plot())
    return (Section("accuracy", "Most often right", title, "labels/accuracy.html", {"found": found}, "", drawn),)


def _costs(report: LabelsReport) -> Iterator[Plot]:
    """How many questions the competition asked, next to how many labels the benchmark needed, if that is known."""
    if (known := report.benchmark) is not None and known.labels_used is not None:
        names, answers = ("this competition", known.name), [[report.questions], [known.labels_used]]
        yield bars("costs", "Annotation cost", names, answers, ["answers"], "questions asked or labels needed")


def matrices_section(report: LabelsReport, linked: frozenset[tuple[int, int]]) -> Section:
    """Pairwise accuracy and dominance; cells without judged items are empty."""
    grid, order = Grid(report.models, report.order, linked, "no judged items"), report.order
    accuracy, dominance, items = (grid.sorted(m) for m in (report.accuracy, report.dominance, report.tally.items))
    met = apart(items > 0)

    def right(i: int, j: int) -> str:
        one, other = (percent(float(accuracy[cell])) for cell in ((i, j), (j, i)))
        many = counted(round(float(items[i, j])), "item")
        return f"{order[i]} against {order[j]}: right on {one} of their {many}; {order[j]} on {other}"

    def dominates(i: int, j: int) -> str:
        times = float(dominance[i, j])
        if abs(times - 1) < 0.005:
            return f"{order[i]} and {order[j]} were right equally often"
        better, worse, factor = (i, j, times) if times > 1 else (j, i, 1 / times)
        return f"{order[better]} was right {ratio(factor)} times as often as {order[worse]}"

    shares = Shade(lambda share: f"{100 * share:.0f}", lambda share: share, ("0 %", "100 % right"), is_diverging=False)
    percentage = "Percentage of the duel’s items that the row’s model got right, smoothed."
    times = "How many times as often the row’s model was right as the column’s, on a logarithmic scale."
    plots = (
        grid.heat(("accuracy", "Accuracy", percentage), accuracy, met, shares, right, _higher_first),
        grid.heat(
            ("dominance", "Dominance", times), dominance, met, ratio_shade(dominance[met]), dominates, _higher_first
        ),
    )
    view = {"judged": _judged(items[met])}
    return Section("matrices", "Matrices", "Pairwise matrices", "labels/matrices.html", view, "", plots)


def _higher_first(row: int, column: int) -> tuple[int, int]:
    return min(row, column), max(row, column)


def _judged(items: Float[Array, " D"]) -> str:
    """How many judged items the duels have; `items` contains every duel twice."""
    if items.size == 0:
        return "No duel has been judged."
    low, high = round(float(items.min())), round(float(items.max()))
    many = counted(low, "judged item") if low == high else f"{low:,} to {high:,} judged items"
    return f"{counted(items.size // 2, 'duel')} with {many} each."


def cases_section(report: LabelsReport, linked: frozenset[tuple[int, int]]) -> Section:
    """Both right (I), one right (II), neither right (III): overall shares next to the paper's, and duel by duel.

    There are no shares if nothing was judged. In each bar the higher-ranked model comes first.
    """
    tally, order = report.tally, report.order
    grid = Grid(report.models, order, linked)
    counts = np.stack([grid.sorted(m) for m in (tally.only, tally.both, tally.neither, tally.only.T)], axis=-1)
    found = [
        ((order[i], order[j]), tuple(round(float(n)) for n in counts[i, j]), duel_id(i, j) if (i, j) in linked else "")
        for i in range(len(order))
        for j in range(i + 1, len(order))
        if counts[i, j].sum()
    ]
    judged = sum(sum(parts) for _, parts, _ in found)
    shares = None
    if judged:
        one, three = (sum(parts[place] for _, parts, _ in found) / judged for place in (1, 2))
        shares = one, 1 - one - three, three
    view = {"judged": judged}
    plots = () if shares is None else (_shares(shares), _cases(found))
    return Section("cases", "Three cases", "Three cases", "labels/cases.html", view, "", plots)


def _shares(shares: tuple[float, ...]) -> Plot:
    series = "Case I, both right", "Case II, one right", "Case III, neither right"
    parts = [[round(100 * share, 1) for share in row] for row in (shares, PAPER)]
    names, fills = ("this study", "the paper"), ("both", "blue", "neither")
    return bars("case-shares", "Over all duels", names, parts, series, "percent of the judged items", "", fills)


def _cases(found: Sequence[tuple[tuple[str, str], tuple[int, ...], str]]) -> Plot:
    series = ("only the left one right", "both right", "neither right", "only the right one right")
    first, second = zip(*(models for models, _, _ in found), strict=True)
    links, parts = [duel for _, _, duel in found], [parts for _, parts, _ in found]
    caption = "One bar for every duel; the higher-ranked model is on the left."
    return bars("cases", "Duel by duel", first, parts, series, "judged items", caption, opposite=second, links=links)


def classes_section(report: LabelsReport, galleries: Sequence[Gallery], album: Album) -> tuple[Section, ...]:
    """One class: items for which a model predicts it, beside ordinary pictures of it (Figs. 3 and 6)."""
    for one in (picture for about in report.beside for picture in about.ordinary):
        album.add(one.item, one.image)

    def item_of(card: Shown, label: str) -> str | None:
        return card.item if card.image is not None and label in (said.label for said in card.said) else None

    view = {"report": report, "numbers": album.numbers}
    return beside_section(report.beside, galleries, item_of, "labels/beside.html", view)


def stability_section(report: LabelsReport) -> Section:
    """The order from fewer items, against the final one."""
    drawn = stability(report.stability)
    plots = () if drawn is None else (drawn,)
    return Section("stability", "Stability", "Stability over k", "labels/stability.html", {"drawn": drawn}, "", plots)


def stability(rows: Sequence[tuple[int, float]]) -> Plot | None:
    """How the ranking settles over k; None if there is nothing to draw."""
    if len(rows) < 2:  # a single point is 1 by construction, and says nothing
        return None
    first, last, settled = rows[0][0], rows[-1][0], settled_from(rows, lambda srcc: srcc > STABLE)
    if settled == first:
        words = f"The order stays close to the final one (SRCC above {STABLE}) from the smallest k on."
    elif settled == last:
        words = f"The order still changes at k = {last}: judge more items per duel before trusting close ranks."
    else:
        words = f"From k = {settled} on, the order stays close to the final one (SRCC above {STABLE})."
    counts, values = zip(*rows, strict=True)
    titles = "k, judged items per duel", "SRCC with the final ranking"
    return curve("stability", "Stability over k", counts, {"SRCC": values}, titles, words, limits(values), LEVEL)


@dataclass(frozen=True)
class LabelGallery(Gallery):
    """One duel; the higher-ranked model comes first."""

    judged: int
    only: tuple[int, int]

    def number_of(self, case: str) -> int:
        """The number of cards with this case."""
        return sum(card.case == case for card in self.cards)


def galleries(report: LabelsReport, album: Album, most_cards: int = CARDS) -> tuple[LabelGallery, ...]:
    """Galleries sorted by the two models' positions; at most `most_cards` cards in total, but at least one per duel.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap and must not enter the style sheet.
    """
    most = most_each(most_cards, sum(len(duel.shown) for duel in report.duels), len(report.duels))
    made = []
    for duel in report.duels:
        first, second = (report.order.index(name) for name in duel.models)
        turned = duel if first < second else _turned(duel)
        cards = turned.shown[:most]
        for shown in cards:
            album.add(shown.item, shown.image)
        left_out = duel.judged - len(cards)
        places = _higher_first(first, second)
        made.append(LabelGallery(places, turned.models, cards, left_out, duel.judged, turned.only))
    return tuple(sorted(made, key=lambda gallery: gallery.places))


def _turned(duel: LabelDuel) -> LabelDuel:
    shown = tuple(replace(one, said=one.said[::-1]) for one in duel.shown)
    return replace(duel, models=duel.models[::-1], shown=shown, only=duel.only[::-1])


def example(galleries: Sequence[LabelGallery]) -> tuple[LabelGallery, Shown] | None:
    """The most confident error among the items with a picture that only one model got right, for the opening."""
    found = [
        (card.said[card.case == "first"].confidence or 0.0, gallery, card)
        for gallery in galleries
        for card in gallery.cards
        if card.case in ("first", "second") and card.image is not None
    ]
    return max(found, key=lambda one: one[0])[1:] if found else None
