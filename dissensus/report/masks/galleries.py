"""The attacks of every duel as cards: photo, truth and both maps, with what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dissensus.report.attacks.heatmaps import duel_id
from dissensus.report.masks.album import Album
from dissensus.report.masks.data import MaskDuel, MasksReportData, ShownAttack, ShownImage
from dissensus.report.masks.figures import case, choice, tallied
from dissensus.report.masks.names import CASES, CHOICES, class_name, score_text
from dissensus.report.wording import number, percent, ratio

CARDS = 3_000
"""Attacks that are shown with their pictures."""
LISTED = 10_000
"""Further attacks that are listed in words, each duel its part; the others are only counted."""
CHIPS = 8
"""Classes that a card names; the legend names them all."""


@dataclass(frozen=True)
class Panel:
    """A photo with a map over it; numbers of style rules, None where there is no picture."""

    role: str
    name: str
    photo: int | None
    over: int | None
    score: str
    is_chosen: bool
    words: str


@dataclass(frozen=True)
class AttackCard:
    """One attack; `panels` is empty where the page has no room for its pictures."""

    item: str
    category: int
    category_name: str
    case: str
    words: str
    panels: tuple[Panel, ...]
    ratio: float
    chips: tuple[tuple[int, str], ...]
    more_chips: int
    concordance: str
    share: str
    scores: tuple[str, str]
    answers: str
    gap: float
    """How far the attacker is ahead; zero before anybody judged."""


@dataclass(frozen=True)
class MaskGallery:
    """One duel: cards with pictures, attacks listed in words, and how many are only counted."""

    id: str
    places: tuple[int, int]
    attacker: str
    defender: str
    aggressiveness: str
    resistance: str
    cards: tuple[AttackCard, ...]
    listed: tuple[AttackCard, ...]
    left_out: int
    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class MaskGalleries:
    """All galleries, the pictures of the page, and how many attacks of all that there are have theirs."""

    galleries: tuple[MaskGallery, ...]
    pictures: tuple[str, ...]
    with_pictures: int
    attacks: int

    @property
    def categories(self) -> dict[str, str]:
        """Categories that occur, by label, for a select."""
        every = {card.category: card.category_name for g in self.galleries for card in (*g.cards, *g.listed)}
        return {str(label): every[label] for label in sorted(every)}

    @property
    def cases(self) -> frozenset[str]:
        """Cases that occur."""
        return frozenset(name for gallery in self.galleries for name, _ in gallery.parts)


def mask_galleries(
    data: MasksReportData, order: Sequence[str], album: Album, cards: int = CARDS, listed: int = LISTED
) -> MaskGalleries:
    """Galleries sorted by attacker and defender.

    Pictures are given to the first attack of every duel, then to the second, and so on while there is room.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    place = {name: i for i, name in enumerate(order)}
    duels = sorted(data.duels, key=lambda duel: (place[duel.attacker], place[duel.defender]))
    seen = _pictured(duels, data.images, album, cards)
    rest = max(0, sum(len(duel.attacks) for duel in duels) - len(seen))
    most = rest if rest <= listed else max(1, listed // max(1, len(duels)))
    made = []
    for d, duel in enumerate(duels):
        every = [_card(duel, attack, data, album, (d, n) in seen) for n, attack in enumerate(duel.attacks)]
        plain = [card for card in every if not card.panels]
        made.append(
            MaskGallery(
                duel_id(place[duel.attacker], place[duel.defender]),
                (place[duel.attacker], place[duel.defender]),
                duel.attacker,
                duel.defender,
                _ratio(duel.aggressiveness),
                _ratio(duel.resistance),
                cards=tuple(card for card in every if card.panels),
                listed=tuple(plain[:most]),
                left_out=len(plain[most:]),
                parts=tallied([card.case for card in every], tuple(_names(data.question))),
            )
        )
    return MaskGalleries(tuple(made), tuple(album.numbers), len(seen), len(seen) + rest)


def attack_tally(data: MasksReportData) -> dict[str, int]:
    """How many attacks of all duels had which outcome."""
    judge = choice if data.question == "choice" else case
    keys = [judge(a.attacker_score, a.defender_score) for duel in data.duels for a in duel.attacks]
    return dict(tallied(keys, tuple(_names(data.question))))


def striking(galleries: Sequence[MaskGallery]) -> tuple[tuple[MaskGallery, AttackCard], ...]:
    """Up to two attacks with pictures for the opening: the clearest hit, and an image on which both fail."""
    seen = [(g, c) for g in galleries for c in g.cards if c.panels[0].photo is not None]
    hits = sorted((both for both in seen if both[1].case == "first"), key=lambda both: -both[1].gap)[:1]
    failed = [both for both in seen if both[1].case == "neither"] or [both for both in seen if both[1].case == "second"]
    elsewhere = [both for both in failed if not {hit[0].id for hit in hits} & {both[0].id}]
    return tuple((hits + (elsewhere or failed)[:1]) or seen[:1])


def _pictured(
    duels: Sequence[MaskDuel], images: Sequence[ShownImage], album: Album, cards: int
) -> set[tuple[int, int]]:
    """Places of the attacks that have a picture and room for it; their pictures get numbers here."""
    seen: set[tuple[int, int]] = set()
    for n in range(max((len(duel.attacks) for duel in duels), default=0)):
        for d, duel in enumerate(duels):
            if n >= len(duel.attacks) or len(seen) >= cards:
                continue
            image = images[duel.attacks[n].image]
            pictures = (image.photo, image.truth, image.maps.get(duel.attacker), image.maps.get(duel.defender))
            if any(pictures) and album.has_room_for(pictures):
                for picture in pictures:
                    album.number(image.item, picture)
                seen.add((d, n))
    return seen


def _card(duel: MaskDuel, attack: ShownAttack, data: MasksReportData, album: Album, with_pictures: bool) -> AttackCard:
    image, names = data.images[attack.image], _names(data.question)
    scores = attack.attacker_score, attack.defender_score
    key = (choice if data.question == "choice" else case)(*scores)
    one, other = scores
    return AttackCard(
        item=image.item,
        category=attack.category,
        category_name=class_name(attack.category, data.classes),
        case=key,
        words=names[key],
        panels=_panels(duel, attack, image, album, data.question, key) if with_pictures else (),
        ratio=album.shape(image),
        chips=tuple((label, class_name(label, data.classes)) for label in image.labels[:CHIPS]),
        more_chips=max(0, len(image.labels) - CHIPS),
        concordance=number(attack.concordance, 2),
        share=percent(attack.share, 0 if attack.share >= 0.01 or attack.share == 0 else 1),
        scores=(score_text(one), score_text(other)),
        answers=attack.answers,
        gap=0.0 if one is None or other is None else one - other,
    )


def _panels(
    duel: MaskDuel, attack: ShownAttack, image: ShownImage, album: Album, question: str, key: str
) -> tuple[Panel, ...]:
    chosen = {"first": duel.attacker, "second": duel.defender}.get(key) if question == "choice" else None
    photo = album.number(image.item, image.photo)
    made = [Panel("photo", "photo", photo, None, "", False, f"Photo of {image.item}")]
    if question != "choice":
        words = f"Truth of {image.item}" if image.truth else "truth not drawn yet"
        made.append(Panel("truth", "truth", photo, album.number(image.item, image.truth), "", False, words))
    roles = (("attacker", duel.attacker, attack.attacker_score), ("defender", duel.defender, attack.defender_score))
    for role, model, score in roles:
        over = image.maps.get(model)
        words = f"Map of {image.item} by {model}, the {role}" if over else f"no map by {model}"
        said = "" if question == "choice" else score_text(score)
        made.append(Panel(role, model, photo, album.number(image.item, over), said, model == chosen, words))
    return tuple(made)


def _names(question: str) -> Mapping[str, str]:
    return CHOICES if question == "choice" else CASES


def _ratio(value: float | None) -> str:
    return "" if value is None else ratio(value)
