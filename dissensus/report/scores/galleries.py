"""The pairs of every attack, the lowest level first, and every distinct picture once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.report.attacks.heatmaps import duel_id
from dissensus.report.galleries import picture_number
from dissensus.report.pictures import width_over_height
from dissensus.report.scores.data import DuelPairs, ShownPair, Side
from dissensus.report.scores.figures import figure_id
from dissensus.report.scores.outcomes import OUTCOMES, Outcomes, outcome, outcomes
from dissensus.report.wording import number

PAIRS = 3_000
"""Pairs on one page, of two pictures each; studies with more show the first of every attack, and say so."""

WIDE = 2.2
"""Pictures this many times as wide as high are shown one above the other, so that they can be seen."""


@dataclass(frozen=True)
class Shot:
    """One of the two items: `picture` is the number of its style rule, None where there is no picture."""

    item: str
    picture: int | None
    pixelated: bool
    attacker: str
    defender: str


@dataclass(frozen=True)
class Track:
    """A model's two scores on the common scale: ends of a bar in percent, and the distance in words."""

    left: float
    width: float
    low: str
    high: str
    apart: str


@dataclass(frozen=True)
class Pairing:
    """One pair; `at` is where people stand between low (0) and high (100), None before anybody said so."""

    level: int
    level_words: str
    weight: int
    shots: tuple[Shot, Shot]
    ratio: float
    is_wide: bool
    attacker: Track
    defender: Track
    outcome: str
    words: str
    at: float | None
    preference: str
    answers: str
    strength: float
    """How striking the pair is: what people say times what the attacker says."""


@dataclass(frozen=True)
class AttackGallery:
    """One attack; `figure` is the anchor of the two models' figure, empty where there is none."""

    id: str
    places: tuple[int, int]
    attacker: str
    defender: str
    aggressiveness: str
    resistance: str
    pairings: tuple[Pairing, ...]
    outcomes: Outcomes
    left_out: int
    figure: str


@dataclass(frozen=True)
class AttackGalleries:
    """All galleries, and the pictures that their pairs number."""

    galleries: tuple[AttackGallery, ...]
    pictures: tuple[str, ...]


class _Album:
    """Pictures of the page with their numbers and their width over height."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.ratios: dict[str, float] = {}

    def shot(self, side: Side) -> Shot:
        place = picture_number(side.item, side.image, self.numbers)
        return Shot(side.item, place, side.pixelated, number(side.attacker, 1), number(side.defender, 1))

    def ratio(self, sides: Sequence[Side]) -> float:
        """The common shape of a pair's pictures, held between narrow portraits and long strips."""
        known = [self._ratio(side.image) for side in sides if side.image is not None]
        return round(min(12.0, max(0.7, sum(known) / len(known))), 2) if known else 2.0

    def _ratio(self, image: str) -> float:
        if image not in self.ratios:
            self.ratios[image] = width_over_height(image)
        return self.ratios[image]


def attack_galleries(
    duels: Sequence[DuelPairs],
    order: Sequence[str],
    levels: Sequence[str],
    drawn: frozenset[frozenset[str]],
    pairs: int = PAIRS,
) -> AttackGalleries:
    """Galleries sorted by attacker and defender; at most `pairs` pairs in all, but one per attack.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap, so it must not enter the page's style sheet.
    """
    place = {name: i for i, name in enumerate(order)}
    most = pairs if sum(len(duel.pairs) for duel in duels) <= pairs else max(1, pairs // max(1, len(duels)))
    album = _Album()

    def gallery(duel: DuelPairs) -> AttackGallery:
        one, other = place[duel.attacker], place[duel.defender]
        return AttackGallery(
            duel_id(one, other),
            (one, other),
            duel.attacker,
            duel.defender,
            _written(duel.aggressiveness),
            _written(duel.resistance),
            pairings=tuple(_pairing(pair, levels, album) for pair in duel.pairs[:most]),
            outcomes=outcomes(duel.pairs),
            left_out=max(0, len(duel.pairs) - most),
            figure=figure_id(one, other) if frozenset((duel.attacker, duel.defender)) in drawn else "",
        )

    made = [gallery(duel) for duel in sorted(duels, key=lambda duel: (place[duel.attacker], place[duel.defender]))]
    return AttackGalleries(tuple(made), tuple(album.numbers))


def striking(galleries: Sequence[AttackGallery]) -> tuple[tuple[AttackGallery, Pairing], ...]:
    """Up to two pairs with pictures for the opening: the best attack, and the attack that went most wrong."""
    seen = [(g, p) for g in galleries for p in g.pairings if all(shot.picture is not None for shot in p.shots)]
    hits = [both for both in seen if both[1].outcome == "falsified"]
    opposite = [both for both in seen if both[1].outcome == "opposite"]
    held = [both for both in seen if both[1].outcome == "holds"]
    best = [max(hits, key=lambda both: both[1].strength)] if hits else []
    worst = [min(opposite, key=lambda both: both[1].strength)] if opposite else []
    calm = [max(held, key=lambda both: both[1].attacker.width)] if held else []
    return tuple((best + worst + calm)[:2])


def _pairing(pair: ShownPair, levels: Sequence[str], album: _Album) -> Pairing:
    sides, kind, said = (pair.low, pair.high), outcome(pair.preference), pair.preference
    ratio = album.ratio(sides)
    return Pairing(
        level=pair.level + 1,
        level_words=pair.level_words or (levels[pair.level] if pair.level < len(levels) else ""),
        weight=pair.weight,
        shots=(album.shot(pair.low), album.shot(pair.high)),
        ratio=ratio,
        is_wide=ratio >= WIDE and any(side.image is not None for side in sides),
        attacker=_track(pair.low.attacker, pair.high.attacker),
        defender=_track(pair.low.defender, pair.high.defender),
        outcome=kind,
        words=OUTCOMES[kind],
        at=None if said is None else round(50 + 50 * min(1.0, max(-1.0, said)), 1),
        preference="" if said is None else f"{said:+z.2f}".replace("-", "−"),
        answers=pair.answers,
        strength=0.0 if said is None else said * (pair.high.attacker - pair.low.attacker),
    )


def _track(low: float, high: float) -> Track:
    left, right = (min(100.0, max(0.0, value)) for value in sorted((low, high)))
    return Track(round(left, 1), round(right - left, 1), *(number(v, 1) for v in (low, high, abs(high - low))))


def _written(value: float | None) -> str:
    return "" if value is None else number(value, 2)
