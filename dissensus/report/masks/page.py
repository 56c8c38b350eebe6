"""The page about segmentation models: who falsifies whom, and on which images."""

from __future__ import annotations

from collections.abc import Mapping

from dissensus.records import class_colours
from dissensus.report.causes import causes_section
from dissensus.report.failures import failures_section
from dissensus.report.galleries import Album
from dissensus.report.heatmaps import Grid, apart, defending, ratio_shade
from dissensus.report.masks.beside import categories_section, ordinary_cards
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.galleries import attack_tally, failure_cards, mask_galleries, striking, transfer_cards
from dissensus.report.masks.names import CASES, CHOICES, FAILS_BELOW, class_name, measure_words, score_text
from dissensus.report.masks.regions import in_box, regions
from dissensus.report.masks.scored import scored_sections
from dissensus.report.masks.sensitivity import measures_section
from dissensus.report.opening import attack_plot, leader_words, opening, opening_notes
from dissensus.report.page import Page, Section, settings_section
from dissensus.report.standings import provenances, two_orders_section
from dissensus.report.wording import counted, ratio

MOST_PICTURES = 24_000_000
"""Total length of the pictures on one page, in characters; phones cannot cope with more."""

ROLES = (
    "Annotators side with a good attacker where it contradicts others, with a good defender where others contradict it."
)
BOTH = "annotators side with it both when it attacks others and when others attack it"


def masks_page(report: MasksReport, most_pictures: int = MOST_PICTURES) -> Page:
    """The opening and the sections of the report.

    Attacks whose pictures do not fit within `most_pictures` characters are listed without them.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    album = Album(most_pictures)
    failed_images = failure_cards(report, album)
    transferred = transfer_cards(report, album)
    ordinary = ordinary_cards(report, album)
    galleries = mask_galleries(report, album)
    linked = frozenset(gallery.places for gallery in galleries)
    images = (*report.images, *(image for one in report.beside for image in one.ordinary))
    labels = sorted({label for image in images for label in image.labels})
    outcomes = CHOICES if report.is_choice else CASES
    occurring = {name for gallery in galleries for name, _ in gallery.outcomes}
    cards = [card for gallery in galleries for card in (*gallery.cards, *gallery.listed)]
    measure, meaning = measure_words(report.measure)
    names = {label: class_name(label, report.classes) for label in labels}
    common = {
        "is_choice": report.is_choice,
        "measure": measure,
        "meaning": meaning,
        "fails_below": FAILS_BELOW,
        "score_text": score_text,
        "numbers": album.numbers,
        "class_names": names,
        "map_words": lambda over: _map_words(over, names),
        "named_regions": lambda over, ratio: [
            in_box(one, album.shape(over), ratio) for one in regions(over) if one.label in names
        ],
        "outcomes": outcomes,
    }
    attacks = common | {
        "galleries": galleries,
        "models": dict(enumerate(report.order)),
        "attacks": sum(len(duel.shown) for duel in report.duels),
        "categories": dict(sorted({card.attack.category: card.category for card in cards}.items())),
        "short": {name: short for name, (short, _) in outcomes.items() if name in occurring},
    }
    failed = failures_section(
        report.failures, report.order, "masks/failures.html", failed_images.get, common, "Severity"
    )
    scored = scored_sections(report, transferred, common)
    findings = (
        *leader_words(report, BOTH),
        tally_words(attack_tally(report), report.is_choice),
        *(section.finding for section in scored),
        *report.words[:1],
    )
    return Page(
        opening(
            report.title, "masks/opening.html", findings, opening_notes(report), (attack_plot(report, ROLES),),
            striking(galleries), report=report,
            images=len({attack.image for duel in report.duels for attack in duel.shown}), **common,
        ),
        (
            two_orders_section(report, "masks/ranking.html"),
            *failed,
            *causes_section(
                report.failures, report.causes, report.order, {one.item: one.photo for one in report.images}, album
            ),
            matrices_section(report, linked),
            *scored,
            *measures_section(report),
            *categories_section(ordinary, galleries, common),
            Section("attacks", "Attacks", "Attacks", "masks/attacks.html", attacks),
            settings_section(report, provenances(report)),
        ),
        rules=(*album.rules, *(f".c{label}{{background:{_colour(label)}}}" for label in labels)),
        styles=("attacks.css", "masks/masks.css", "failures.css"),
        scripts=("masks/masks.js", "masks/names.js", "failures.js"),
        data={"classes": {",".join(map(str, class_colours()[label])): name for label, name in names.items()}},
    )  # fmt: skip


def _map_words(over: str | None, names: Mapping[int, str]) -> str:
    """The classes on a map by name, for people who cannot see it."""
    found = [] if over is None else [names[one.label] for one in regions(over) if one.label in names]
    return f": {', '.join(found)}" if found else ""


def _colour(label: int) -> str:
    return "#{:02x}{:02x}{:02x}".format(*class_colours()[label])


def tally_words(tally: Mapping[str, int], is_choice: bool) -> str:
    """The outcomes of all judged attacks in one sentence; empty if nothing was judged."""
    judged = sum(number for name, number in tally.items() if name != "waiting")
    if not judged:
        return ""
    first, second = tally.get("first", 0), tally.get("second", 0)
    many = counted(judged, "judged attack")
    if is_choice:
        even = tally.get("even", 0)
        ties = f", with {counted(even, 'tie')}" if even else ""
        chosen = f"annotators chose the attacker’s prediction {first:,} times and the defender’s {second:,} times"
        return f"In {many}, {chosen}{ties}."
    both, neither = tally.get("both", 0), tally.get("neither", 0)
    return (
        f"Of {many}, {first:,} {'exposes' if first == 1 else 'expose'} the defender alone and {second:,} the attacker "
        f"alone (Case II); on {neither:,} both fail (Case III), on {both:,} both are good (Case I)."
    )


def matrices_section(report: MasksReport, linked: frozenset[tuple[int, int]]) -> Section:
    """Aggressiveness and resistance as ratios (Fig. 9 and 10), on a logarithmic scale centred on 1."""
    grid, order, found = Grid(report.models, report.order, linked), report.order, report.matrices
    attack, defence = grid.sorted(found.aggressiveness), grid.sorted(found.resistance)
    attacked, defended = grid.sorted(found.attacked), grid.sorted(found.defended)
    judged = attack[apart(attacked)]
    ahead = f"The attacker is ahead of the defender in {int((judged > 1).sum()):,} of {counted(judged.size, 'duel')}."

    def attacks(i: int, j: int) -> str:
        return f"{order[i]} attacks {order[j]}: {_side(float(attack[i, j]))}"

    def resists(i: int, j: int) -> str:
        return f"{order[i]} resists {order[j]}: {_side(float(defence[i, j]))}"

    attacker = "The row’s model as attacker, on the images with which it attacks the column’s; 1 is a tie."
    defender = "The row’s model as defender, on the images with which the column’s attacks it; 1 is a tie."
    plots = (
        grid.heat(("attacks", "Aggressiveness, A", attacker), attack, attacked, ratio_shade(judged), attacks),
        grid.heat(
            ("defences", "Resistance, R", defender), defence, defended, ratio_shade(defence[apart(defended)]), resists,
            defending,
        ),
    )  # fmt: skip
    view = {"words": ahead if judged.size else "No duel has been judged."}
    return Section("matrices", "Matrices", "Pairwise matrices", "masks/matrices.html", view, "", plots)


def _side(times: float) -> str:
    if abs(times - 1) < 0.005:
        return "both agree with annotators equally well"
    better = f"agrees with annotators {ratio(times)} times as well"
    return f"it {better} as the other" if times > 1 else f"it {better}, so the other is ahead"
