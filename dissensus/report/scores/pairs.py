"""The pairs of every attack, lowest level first, and what the preference means for attacker and defender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dissensus.records import Failure
from dissensus.report.galleries import Album, AttackGallery, most_each, tallied
from dissensus.report.scores.data import ScoresReport, ShownPair
from dissensus.report.scores.figures import figure_id
from dissensus.report.wording import counted, number

PAIRS = 3_000
"""Pairs on one page, with two pictures each; larger studies show only the first of every attack, and say so."""

WIDE = 2.2
"""Pictures at least this many times as wide as high are stacked, so that they stay large enough."""

UNCERTAIN = 0.2
"""Preferences closer to zero count as no difference, as on the annotators' slider (Section 3.3)."""

OUTCOMES = {
    "falsified": ("defender falsified", "Annotators agree with the attacker: the defender is falsified."),
    "holds": ("defender holds", "Annotators see no difference: the defender holds."),
    "opposite": (
        "attacker fails",
        "Annotators see the opposite: the attacker fails, and the defender missed it too.",
    ),
    "none": (
        "no attack",
        "No attack: the attacker tells the two items no further apart than the defender, so nobody is falsified.",
    ),
    "waiting": ("not judged", "Nobody has judged this pair yet."),
}
"""Outcomes of a pair, as a short label and as a sentence."""
FILLS = ("blue", "orange", "neither", "none", "both")
"""Their fills in figures, in the same order."""
SHORT = {name: short for name, (short, _) in OUTCOMES.items()}


@dataclass(frozen=True)
class PairGallery(AttackGallery):
    """One attack; `figure` is the anchor of the two models' figure, empty if there is none."""

    figure: str


def outcome(pair: ShownPair) -> str:
    """The key of `OUTCOMES` for a pair."""
    if not pair.is_attack:
        return "none"
    if pair.preference is None:
        return "waiting"
    if abs(pair.preference) < UNCERTAIN:
        return "holds"
    return "falsified" if pair.preference > 0 else "opposite"


def outcomes(pairs: Iterable[ShownPair]) -> tuple[tuple[str, int], ...]:
    """How often each outcome occurred, without those that did not."""
    return tallied([outcome(pair) for pair in pairs], OUTCOMES)


def outcome_words(counts: Iterable[tuple[str, int]]) -> str:
    """The outcomes with their counts: 'defender falsified 3, defender holds 2'."""
    return ", ".join(f"{SHORT[name]} {count}" for name, count in counts) or "no pairs"


def tally_words(counts: Iterable[tuple[str, int]]) -> str:
    """The outcomes of all judged attacks in one sentence; empty if nothing was judged. Attacks may share a pair."""
    found = dict(counts)
    falsified, holds, opposite = (found.get(name, 0) for name in ("falsified", "holds", "opposite"))
    judged = falsified + holds + opposite
    if not judged:
        return ""
    ends = [
        counted(falsified, "falsifies its defender", "falsify their defenders"),
        counted(holds, "shows no difference", "show no difference"),
    ]
    if opposite:
        ends.append(counted(opposite, "contradicts its attacker", "contradict their attackers"))
    said = f"Of {counted(judged, 'judged attack')}, {', '.join(ends[:-1])} and {ends[-1]}."
    if none := found.get("none", 0):
        more = counted(none, "more pair is no attack", "more pairs are no attacks")
        said += f" {more}: the defender tells the two items at least as far apart as the attacker."
    return said


def pair_galleries(report: ScoresReport, album: Album, pairs: int = PAIRS) -> tuple[PairGallery, ...]:
    """Galleries sorted by attacker and defender; at most `pairs` pairs in total, but at least one per attack.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap and must not enter the style sheet.
    """
    place = {name: i for i, name in enumerate(report.order)}
    drawn = {frozenset((figure.first, figure.second)) for figure in report.figures}
    most = most_each(pairs, sum(len(duel.shown) for duel in report.duels), len(report.duels))
    made = []
    for duel in sorted(report.duels, key=lambda duel: (place[duel.attacker], place[duel.defender])):
        one, other = place[duel.attacker], place[duel.defender]
        for side in (side for pair in duel.shown[:most] for side in (pair.low, pair.high)):
            album.add(side.item, side.image)
        made.append(
            PairGallery(
                places=(one, other),
                models=(duel.attacker, duel.defender),
                cards=duel.shown[:most],
                left_out=max(0, len(duel.shown) - most),
                aggressiveness="" if duel.aggressiveness is None else number(duel.aggressiveness, 2),
                resistance="" if duel.resistance is None else number(duel.resistance, 2),
                outcomes=outcomes(duel.shown),
                figure=figure_id(one, other) if frozenset((duel.attacker, duel.defender)) in drawn else "",
            )
        )
    return tuple(made)


def pairs_by_failure(
    report: ScoresReport, album: Album
) -> Callable[[Failure], tuple[tuple[str, str], ShownPair] | None]:
    """Finds the pair of a failure with its attacker and defender; adds its pictures to the album."""
    known = {
        (duel.attacker, duel.defender, pair.low.item, pair.high.item): pair
        for duel in report.duels
        for pair in duel.shown
    }

    def found(one: Failure) -> tuple[tuple[str, str], ShownPair] | None:
        models = (one.model, one.opponent) if one.role == "attacker" else (one.opponent, one.model)
        if (pair := known.get((*models, one.item, one.other))) is None:
            return None
        for side in (pair.low, pair.high):
            album.add(side.item, side.image)
        return models, pair

    return found


def striking(galleries: Sequence[PairGallery]) -> tuple[PairGallery, ShownPair] | None:
    """A pair with pictures for the opening: the best attack, or else the one that failed worst."""
    seen = [(g, p) for g in galleries for p in g.cards if p.low.image is not None and p.high.image is not None]
    hits, opposite, held = (
        [both for both in seen if outcome(both[1]) == name] for name in ("falsified", "opposite", "holds")
    )
    best = [max(hits, key=lambda both: _strength(both[1]))] if hits else []
    worst = [min(opposite, key=lambda both: _strength(both[1]))] if opposite else []
    calm = [max(held, key=lambda both: span_of(both[1].low.attacker, both[1].high.attacker)[1])] if held else []
    return next(iter(best + worst + calm), None)


def _strength(pair: ShownPair) -> float:
    """How striking a pair is: the preference times the attacker's score difference."""
    return (pair.preference or 0.0) * (pair.high.attacker - pair.low.attacker)


def span_of(low: float, high: float) -> tuple[float, float]:
    """Start and length of the bar between two scores, in percent of the common scale."""
    left, right = (min(100.0, max(0.0, value)) for value in sorted((low, high)))
    return round(left, 1), round(right - left, 1)


def pair_shape(pair: ShownPair, album: Album) -> tuple[float, bool]:
    """Aspect ratio of a pair's pictures, clipped to a sensible range, and whether they are wide."""
    shapes = [album.shape(side.image) for side in (pair.low, pair.high) if side.image is not None]
    ratio = round(min(12.0, max(0.7, sum(shapes) / len(shapes))), 2) if shapes else 2.0
    return ratio, ratio >= WIDE and bool(shapes)
