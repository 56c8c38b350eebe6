"""Cards with photo, ground truth and predictions: the attacks of every duel, and the images that fool others too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dissensus.records import Failure
from dissensus.report.data import AttackDuel
from dissensus.report.failures import shown_failures
from dissensus.report.galleries import Album, AttackGallery, most_each, tallied
from dissensus.report.masks.data import MasksReport, ShownAttack, ShownImage
from dissensus.report.masks.names import CASES, CHOICES, case, choice, class_name
from dissensus.report.masks.scored import most_transferable, transfer
from dissensus.report.wording import ratio

CARDS = 3_000
"""Attacks shown with pictures."""
LISTED = 10_000
"""Further attacks listed without pictures, shared equally among the duels; the others are only counted."""
TRANSFERRED = 6
"""Number of images shown that fool other models too."""
MODELS = 16
"""Predictions shown with each of them, those of the best models."""
NARROW, WIDE = 0.6, 2.2
"""Pictures with an aspect ratio (width over height) outside this range get margins."""


@dataclass(frozen=True)
class AttackCard:
    """One attack with its category and case by name, and the aspect ratio of its picture."""

    attack: ShownAttack
    image: ShownImage
    category: str
    case: str
    ratio: float

    @property
    def gap(self) -> float:
        """How far the attacker is ahead; zero until judged."""
        one, other = self.attack.attacker_score, self.attack.defender_score
        return 0.0 if one is None or other is None else one - other


@dataclass(frozen=True)
class ImageCard:
    """An image and the aspect ratio of its picture."""

    image: ShownImage
    ratio: float


@dataclass(frozen=True)
class TransferCard:
    """An image with predictions of many models, each as (model, role, score).

    The role is 'own' if the image was selected for a duel of the model, else 'other'.
    """

    image: ShownImage
    ratio: float
    maps: tuple[tuple[str, str, float], ...]
    left_out: int
    words: str


@dataclass(frozen=True)
class MaskGallery(AttackGallery):
    """One duel: cards with pictures, attacks listed without, and how many are only counted."""

    listed: tuple[AttackCard, ...]


def attack_tally(report: MasksReport) -> dict[str, int]:
    """How often each outcome occurred over all duels."""
    keys = [_case(report, attack) for duel in report.duels for attack in duel.shown]
    return dict(tallied(keys, CHOICES if report.is_choice else CASES))


def mask_galleries(
    report: MasksReport, album: Album, cards: int = CARDS, listed: int = LISTED
) -> tuple[MaskGallery, ...]:
    """Galleries sorted by attacker and defender.

    The first attack of every duel gets pictures, then the second, and so on while there is room.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    place = {name: i for i, name in enumerate(report.order)}
    duels = sorted(report.duels, key=lambda duel: (place[duel.attacker], place[duel.defender]))
    seen = _pictured(duels, report.images, album, cards)
    most = most_each(listed, sum(len(duel.shown) for duel in duels) - len(seen), len(duels))
    made = []
    for d, duel in enumerate(duels):
        every = [_card(attack, report, album) for attack in duel.shown]
        plain = [card for n, card in enumerate(every) if (d, n) not in seen]
        made.append(
            MaskGallery(
                places=(place[duel.attacker], place[duel.defender]),
                models=(duel.attacker, duel.defender),
                cards=tuple(card for n, card in enumerate(every) if (d, n) in seen),
                left_out=len(plain[most:]),
                aggressiveness="" if duel.aggressiveness is None else ratio(duel.aggressiveness),
                resistance="" if duel.resistance is None else ratio(duel.resistance),
                outcomes=tallied([card.case for card in every], CHOICES if report.is_choice else CASES),
                listed=tuple(plain[:most]),
            )
        )
    return tuple(made)


def striking(galleries: Sequence[MaskGallery]) -> tuple[MaskGallery, AttackCard] | None:
    """An attack with pictures for the opening: the clearest hit, or else an image on which both fail."""
    seen = [(g, c) for g in galleries for c in g.cards if c.image.photo is not None]
    hits = sorted((both for both in seen if both[1].case == "first"), key=lambda both: -both[1].gap)
    failed = [both for case in ("neither", "second") for both in seen if both[1].case == case]
    return next(iter(hits + failed + seen), None)


def failure_cards(report: MasksReport, album: Album) -> dict[Failure, ImageCard]:
    """The failures that the page shows, with their pictures as long as there is room; each model's worst come first."""
    if report.failures is None:
        return {}
    images = {one.item: one for one in report.images}
    by_model = shown_failures(report.failures, report.order).values()
    made = {}
    for one in (found for turn in zip_longest(*by_model) for found in turn if found is not None):
        image = images.get(one.item)
        pictures = () if image is None else (image.photo, image.truth, image.maps.get(one.model))
        if image is not None and any(pictures) and album.has_room_for(pictures):
            for picture in pictures:
                album.add(image.item, picture)
            made[one] = ImageCard(image, _shape(image, album))
    return made


def image_cards(images: Iterable[ShownImage], album: Album) -> Iterator[ImageCard]:
    """Images with their photo and maps; those without room for them are left out."""
    for image in images:
        pictures = (image.photo, image.truth, *image.maps.values())
        if any(pictures) and album.has_room_for(pictures):
            for picture in pictures:
                album.add(image.item, picture)
            yield ImageCard(image, _shape(image, album))


def transfer_cards(report: MasksReport, album: Album) -> tuple[TransferCard, ...]:
    """The images that falsify most models besides those they were selected for (Fig. 8), with predictions.

    Images without pictures, or without room for them, are left out. Empty without scores or other models.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    if report.is_choice or report.scores is None or report.associated is None or not report.scores.size:
        return ()
    made: list[TransferCard] = []
    for row in most_transferable(report.scores, report.associated, len(report.scores)):
        if len(made) < TRANSFERRED and (card := _transfer_card(report, row, album)) is not None:
            made.append(card)
    return tuple(made)


def _transfer_card(report: MasksReport, row: int, album: Album) -> TransferCard | None:
    assert report.scores is not None
    assert report.associated is not None
    image, shown = report.images[report.scored[row]], report.order[:MODELS]
    pictures = image.photo, image.truth, *(image.maps.get(model) for model in shown)
    if not any(pictures) or not album.has_room_for(pictures):
        return None
    scores = dict(zip(report.models, report.scores[row].tolist(), strict=True))
    own = {model for model, is_own in zip(report.models, report.associated[row], strict=True) if is_own}
    models = sorted(shown, key=lambda name: name not in own)
    for picture in (image.photo, image.truth, *(image.maps.get(model) for model in models)):
        album.add(image.item, picture)
    maps = tuple((model, "own" if model in own else "other", scores[model]) for model in models)
    found = transfer(report.scores[row : row + 1], report.associated[row : row + 1])
    words = f"falsifies {int(found.falsified[0])} of {int(found.outside[0])} others"
    return TransferCard(image, _shape(image, album), maps, len(report.order) - len(shown), words)


def _pictured(
    duels: Sequence[AttackDuel[ShownAttack]], images: Sequence[ShownImage], album: Album, cards: int
) -> set[tuple[int, int]]:
    """Which attacks, as (duel, attack), have pictures and room for them; adds the pictures to the album."""
    seen: set[tuple[int, int]] = set()
    for n in range(max((len(duel.shown) for duel in duels), default=0)):
        for d, duel in enumerate(duels):
            if n >= len(duel.shown) or len(seen) >= cards:
                continue
            image = images[duel.shown[n].image]
            pictures = (image.photo, image.truth, image.maps.get(duel.attacker), image.maps.get(duel.defender))
            if any(pictures) and album.has_room_for(pictures):
                for picture in pictures:
                    album.add(image.item, picture)
                seen.add((d, n))
    return seen


def _card(attack: ShownAttack, report: MasksReport, album: Album) -> AttackCard:
    image, category = report.images[attack.image], class_name(attack.category, report.classes)
    return AttackCard(attack, image, category, _case(report, attack), _shape(image, album))


def _case(report: MasksReport, attack: ShownAttack) -> str:
    return (choice if report.is_choice else case)(attack.attacker_score, attack.defender_score)


def _shape(image: ShownImage, album: Album) -> float:
    """Aspect ratio of an image, clipped to the range between `NARROW` and `WIDE`."""
    known = image.photo or image.truth or next(iter(image.maps.values()), None)
    return 1.5 if known is None else round(min(WIDE, max(NARROW, album.shape(known))), 2)
