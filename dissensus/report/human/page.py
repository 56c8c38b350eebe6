"""The page about people and models on the same images: are people better, where, and are they more robust?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dissensus.records import HumanResult, MissedImage, SubsetTest
from dissensus.report.galleries import Album
from dissensus.report.human.figures import metric_plot, opening_plots, order_plot, subset_plots, time_plot
from dissensus.report.opening import opening
from dissensus.report.page import Page, Section

MOST_ROWS = 60
"""Rows of a table; the frames of the result have all."""
MOST_CARDS = 60
"""Images of each gallery."""
TITLE = "Are people better than models?"
MODELS_ONLY = "Which model is really better?"
GALLERIES = (
    ("everybody", "Everybody is wrong"),
    ("all people", "All people are wrong"),
    ("all models", "All models are wrong"),
)


@dataclass(frozen=True)
class Card:
    """A missed image and the number of its picture in the album; None without a picture."""

    image: MissedImage
    picture: int | None
    shape: float


def human_page(
    result: HumanResult, title: str = "", notes: Sequence[str] = (), pictures: Mapping[str, str] | None = None
) -> Page:
    """The opening and the sections of the page.

    `notes` are sentences that readers must see first, `pictures` data URIs of missed images by item.
    """
    album = Album()
    has_people = any(one.kind == "person" for one in result.standings())
    title = title or (TITLE if has_people else MODELS_ONLY)
    missed = missed_section(result, pictures or {}, album)
    return Page(
        opening(
            title, "human/opening.html", result.words, notes, opening_plots(result), _example(missed), result=result
        ),
        (
            participants_section(result),
            *subsets_section(result),
            *order_section(result),
            *pairs_section(result),
            *people_section(result),
            *missed,
            settings_section(result),
        ),
        rules=album.rules,
        styles=("shift/shift.css", "human/human.css"),
        scripts=("shift/sorting.js",),
        start="participants",
    )


def participants_section(result: HumanResult) -> Section:
    """Everybody's accuracies by all metrics, the gap between test sets, and the ranks left open."""
    metrics = list(dict.fromkeys(one.metric for one in result.accuracies))
    ranks = {
        one.participant: one for one in result.ranks if (one.metric, one.test_set) == (result.metric, result.main_set)
    }
    gaps = {one.participant: one for one in result.gaps if one.metric == result.metric}
    rows = [
        (
            one,
            [result.accuracy(one.participant, metric) for metric in metrics],
            ranks.get(one.participant),
            gaps.get(one.participant),
        )
        for one in result.standings()[:MOST_ROWS]
    ]
    means = [one for one in result.gaps if one.metric == result.metric and one.kind in ("mean", "difference")]
    view = {
        "result": result, "rows": rows, "metrics": metrics, "has_gaps": bool(gaps), "means": means,
        "left_out": len(result.standings()) - len(rows),
    }  # fmt: skip
    return Section("participants", "Everybody", "Everybody’s accuracy", "human/participants.html", view)


def subsets_section(result: HumanResult) -> tuple[Section, ...]:
    """Accuracies on subsets, and the test of those made of classes."""
    if len(result.subsets) < 2:
        return ()
    means = [one for one in result.subset_tests if one.kind in ("mean", "difference")]
    each = sorted((one for one in result.subset_tests if one.kind not in ("mean", "difference")), key=_clearest)
    view = {
        "result": result, "means": means, "each": each[:MOST_ROWS], "left_out": max(len(each) - MOST_ROWS, 0),
        "marked": any(one.p_adjusted < 1 - result.level for one in means),
    }  # fmt: skip
    kinds = {one.kind for one in result.standings()}
    title = "Where people are better" if {"person", "model"} <= kinds else "Parts of the images"
    return (Section("subsets", "Subsets", title, "human/subsets.html", view, plots=subset_plots(result)),)


def _clearest(one: SubsetTest) -> tuple[float, float]:
    return one.p, -abs(one.change)


def order_section(result: HumanResult) -> tuple[Section, ...]:
    """Multi-label against top-1 accuracy, and what that does to the order."""
    plots = tuple(plot for plot in (order_plot(result), metric_plot(result)) if plot is not None)
    if not plots:
        return ()
    view = {"result": result, "reversals": result.reversals[:MOST_ROWS]}
    return (Section("order", "The order", "One right label or several", "human/order.html", view, plots=plots),)


def pairs_section(result: HumanResult) -> tuple[Section, ...]:
    """McNemar's test between neighbours, and between every person and every model if there are people."""
    mine = [one for one in result.pairs if (one.metric, one.test_set) == (result.metric, result.main_set)]
    if not mine:
        return ()
    place = {one.participant: number for number, one in enumerate(result.standings())}
    near = sorted((one for one in mine if one.is_neighbour), key=lambda one: place[one.first])
    kinds = {one.participant: one.kind for one in result.standings()}
    across = [one for one in mine if {kinds.get(one.first), kinds.get(one.second)} == {"person", "model"}]
    across.sort(key=lambda one: (place[one.first], place[one.second]))
    view = {
        "result": result, "near": near[:MOST_ROWS], "across": across[:MOST_ROWS],
        "more": max(len(across) - MOST_ROWS, 0),
        "pairs": len(mine), "decided": sum(one.is_decided for one in mine),
    }  # fmt: skip
    return (Section("pairs", "Who is above whom", "Who is really above whom", "human/pairs.html", view),)


def people_section(result: HumanResult) -> tuple[Section, ...]:
    """How long people take, and who is fast and careless."""
    if not result.people:
        return ()
    plot = time_plot(result)
    plots = () if plot is None else (plot,)
    return (Section("people", "Time", "How long people take", "human/people.html", {"result": result}, plots=plots),)


def missed_section(result: HumanResult, pictures: Mapping[str, str], album: Album) -> tuple[Section, ...]:
    """Galleries of the images that everybody, all people or all models get wrong."""
    galleries = []
    has_both = len({one.kind for one in result.standings()} & {"person", "model"}) == 2
    for who, title in GALLERIES:
        found = [one for one in result.missed if one.missed_by == who]
        shown = sorted(found, key=lambda one: one.item not in pictures)[:MOST_CARDS]
        if found and (has_both or who != "everybody"):
            cards = [_card(one, pictures.get(one.item), album) for one in shown]
            galleries.append((title, cards, len(found)))
    if not galleries:
        return ()
    view = {"result": result, "galleries": galleries}
    return (Section("missed", "Missed", "What all of them miss", "human/missed.html", view),)


def _example(missed: Sequence[Section]) -> Card | None:
    """The first missed image that has a picture."""
    cards = [card for section in missed for _, cards, _ in section.view["galleries"] for card in cards]
    return next((card for card in cards if card.picture is not None), None)


def _card(image: MissedImage, picture: str | None, album: Album) -> Card:
    return Card(image, album.add(image.item, picture), 1.0 if picture is None else album.shape(picture))


def settings_section(result: HumanResult) -> Section:
    """Everything the numbers depend on."""
    families = dict(result.provenance.parameters["multiplicity"])
    computed = {
        "images that count": f"{result.images:,}",
        "test sets": ", ".join(result.test_sets),
        "main metric": result.metric,
        "level": f"{100 * result.level:g} %",
        "intervals": "Clopper–Pearson; of gaps Newcombe; of paired differences Bonett–Price",
        "draws of classes": f"{result.provenance.parameters['draws of classes']:,}, seed {result.provenance.seed}",
        "made with": result.provenance.package,
    }
    view = {"computed": computed, "families": families, "result": result}
    return Section("settings", "Settings", "Settings and provenance", "human/settings.html", view)
