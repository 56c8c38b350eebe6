"""Which observations of the paper hold for a laconic test (section 5).

An observation about several differences holds if each interval by itself lies on its side, and does not hold if one
lies on the other side even when all are looked at together; otherwise it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.errors import as_sentence
from dissensus.proportions import newcombe, points
from dissensus.records import (
    Correlation,
    Difference,
    Laconic,
    MeanRatio,
    Observation,
    Precision,
    Verdict,
)
from dissensus.reductions.ratios import correlations

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Facts:
    """Numbers that sentences and verdicts are made from."""

    laconic: Laconic
    means: Sequence[MeanRatio]
    differences: Sequence[Difference]
    precision: Sequence[Precision]
    level: float
    seed: int

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(
            n for n, is_person in zip(self.laconic.classifiers, self.laconic.is_person, strict=True) if not is_person
        )

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(
            n for n, is_person in zip(self.laconic.classifiers, self.laconic.is_person, strict=True) if is_person
        )

    def of(self, reduction: str) -> list[MeanRatio]:
        """The classifiers that have MEPIs under a reduction, the one that needs least first."""
        known = [one for one in self.means if one.reduction == reduction and one.value is not None]
        return sorted(known, key=lambda one: one.value or 0)

    def minus(self, one: tuple[str, str], other: tuple[str, str]) -> list[Difference]:
        """By how much the first (classifier, reduction) exceeds the second; empty if they share no image."""
        for found in self.differences:
            sides = (found.classifier, found.reduction), (found.other_classifier, found.other_reduction)
            if sides == (one, other):
                return [found]
            if sides == (other, one):
                return [found.turned]
        return []


def observations(facts: Facts) -> list[Observation]:
    """What the paper saw, and whether it holds here."""
    names = facts.laconic.reductions
    return [
        _differences(
            "combining needs least",
            "All reductions combined leave less of an image than any of them alone, for every model.",
            [(name, other, "combined") for name in facts.models for other in names if other != "combined"],
            facts,
        ),
        _differences(
            "resolution matters most",
            "Models are most sensitive to resolution: each needs more under it than under any other reduction.",
            [(name, "resolution", other) for name in facts.models for other in names if other != "resolution"],
            facts,
        ),
        _accuracy(facts),
        _transfer(facts),
        *_about_people(facts),
    ]


def _about_people(facts: Facts) -> list[Observation]:
    def against(reduction: str, turn: bool = False) -> list[Difference]:
        pairs = [((model, reduction), (person, reduction)) for model in facts.models for person in facts.people]
        return [d for one, other in pairs for d in (facts.minus(other, one) if turn else facts.minus(one, other))]

    missing = "" if facts.people else "No people have taken part."
    less = [
        _judged(
            f"people need less {reduction}",
            f"People need less than every model under {reduction}.",
            every_positive(against(reduction)),
            _every_words(against(reduction)),
            missing,
        )
        for reduction in ("colour", "resolution")
    ]
    more = against("crop", turn=True)
    clearest = max(more, key=lambda d: d.low_at_once if d.low_at_once is not None else -np.inf, default=None)
    crop = _judged(
        "people need more of a crop",
        "People need more than some model under crop.",
        some_positive(more),
        "" if clearest is None else f"{_written(clearest)}.",
        missing,
    )
    gained = [d for person in facts.people for d in facts.minus((person, "combined"), (person, "colour"))]
    combined = _judged(
        "people gain nothing by combining",
        "People need no less with all reductions combined than with colour alone.",
        every_positive(gained),
        _every_words(gained),
        missing,
    )
    return [*less, crop, combined, _reading(facts, missing)]


def _differences(name: str, claim: str, sides: Sequence[tuple[str, str, str]], facts: Facts) -> Observation:
    found = [d for who, one, other in sides for d in facts.minus((who, one), (who, other))]
    return _judged(name, claim, every_positive(found), _every_words(found))


def _judged(name: str, claim: str, verdict: Verdict, words: str, missing: str = "") -> Observation:
    if verdict == "not tested":
        words = missing or "The reductions it is about were not tried, or have no image in common."
    return Observation(name=name, claim=claim, verdict=verdict, words=words)


def every_positive(found: Sequence[Difference]) -> Verdict:
    """Whether all differences are positive: each by itself, or one surely is not."""
    return _every([(d.low, d.high) for d in found], [(d.low_at_once, d.high_at_once) for d in found])


def some_positive(found: Sequence[Difference]) -> Verdict:
    """Whether at least one difference is positive: one surely is, or none is, each by itself."""
    turned: dict[Verdict, Verdict] = {"holds": "does not hold", "does not hold": "holds"}
    verdict = every_positive([d.turned for d in found])
    return turned.get(verdict, verdict)


def _every(alone: Sequence[Bounds], at_once: Sequence[Bounds]) -> Verdict:
    if not alone:
        return "not tested"
    if all(low is not None and low > 0 for low, _ in alone):
        return "holds"
    return "does not hold" if any(high is not None and high < 0 for _, high in at_once) else "undecided"


def _every_words(found: Sequence[Difference]) -> str:
    """The difference that decides whether all are positive."""
    if not found:
        return ""
    least = min(found, key=lambda d: d.low if d.low is not None else -np.inf)
    if len(found) == 1:
        return f"{_written(least)}."
    verdict = every_positive(found)
    if verdict == "holds":
        return f"All {len(found)} differences are positive. The smallest: {_written(least)}."
    if verdict == "does not hold":
        against = [d for d in found if d.high_at_once is not None and d.high_at_once < 0]
        worst = min(against, key=lambda d: d.high_at_once or 0)
        return f"{len(against)} of {len(found)} differences are negative, most clearly {_written(worst)}."
    sure = sum(d.low is not None and d.low > 0 for d in found)
    return f"{sure} of {len(found)} differences are clearly positive. The least clear: {_written(least)}."


def _accuracy(facts: Facts) -> Observation:
    """Whether laconicity follows accuracy, under every reduction."""
    found = correlations(facts.laconic, facts.means, facts.level, facts.seed)
    strict = correlations(facts.laconic, facts.means, 1 - (1 - facts.level) / len(found), facts.seed)
    known = [one for one in found if one.value is not None]
    bounds = [(one.low, one.high) for one in known], [(one.low, one.high) for one in strict if one.value is not None]
    name, claim = "laconic models are accurate", "The more accurate a model, the less of an image it needs."
    if not known:
        reason = found[0].reason
        return Observation(name=name, claim=claim, verdict="not tested", words=as_sentence(reason))
    said = "; ".join(f"{one.reduction} {_correlation(one)}" for one in known)
    words = f"Rank correlation over {known[0].models} models: {said}."
    return Observation(name=name, claim=claim, verdict=_every(*bounds), words=words)


def _transfer(facts: Facts) -> Observation:
    """Whether models read each other's MEPIs better if these have one parameter than if they have several."""
    read = [p for p in facts.precision if p.reader != p.source and {p.reader, p.source} <= set(facts.models)]
    one, several = (
        [p for p in read if p.reduction in names] for names in (("colour", "resolution"), ("crop", "combined"))
    )
    name = "models read crops of others badly"
    claim = "Models recognise each other’s MEPIs more often under colour and resolution than under crop and combined."
    if not one or not several:
        words = "Models have not classified each other’s MEPIs under both kinds of reductions."
        return Observation(name=name, claim=claim, verdict="not tested", words=words)
    sums = [(sum(p.right for p in part), sum(p.count for p in part)) for part in (one, several)]
    low, high = map(float, newcombe(*sums[0], *sums[1], facts.level))
    shares = [right / count for right, count in sums]
    words = f"{100 * shares[0]:.0f} % against {100 * shares[1]:.0f} %, {points(shares[0] - shares[1], low, high)}."
    return Observation(name=name, claim=claim, verdict=_every([(low, high)], [(low, high)]), words=words)


def _reading(facts: Facts, missing: str) -> Observation:
    """Whether people read models' MEPIs more often than models read people's, however these people played."""

    def pooled(readers: Sequence[str], sources: Sequence[str], reduction: str) -> tuple[int, int]:
        read = [p for p in facts.precision if p.reduction == reduction and p.reader in readers and p.source in sources]
        return sum(p.right for p in read), sum(p.count for p in read)

    pairs = [
        (f"{model}, {reduction}", *pooled(facts.people, [model], reduction), *pooled([model], facts.people, reduction))
        for model in facts.models
        for reduction in facts.laconic.reductions
    ]
    pairs = [pair for pair in pairs if pair[2] and pair[4]]
    name = "people read models, not the other way round"
    claim = "People recognise every model’s MEPIs more often than that model recognises theirs."
    if not pairs:
        words = missing or "People and models have not classified each other’s MEPIs."
        return Observation(name=name, claim=claim, verdict="not tested", words=words)
    strict = 1 - (1 - facts.level) / len(pairs)
    right, count, other_right, other_count = np.array([pair[1:] for pair in pairs]).T
    alone, at_once = (
        np.stack(newcombe(right, count, other_right, other_count, level), axis=1).tolist()
        for level in (facts.level, strict)
    )
    least = min(range(len(pairs)), key=lambda place: alone[place][0])
    one, other = right[least] / count[least], other_right[least] / other_count[least]
    words = (
        f"Smallest of {len(pairs)} differences: {pairs[least][0]}: {100 * one:.0f} % against {100 * other:.0f} %, "
        f"{points(one - other, *alone[least])}."
    )
    return Observation(name=name, claim=claim, verdict=_every(alone, at_once), words=words)


def _written(d: Difference) -> str:
    """A difference in points, with its interval: 'resnet, crop − combined: 6.5 points (5.6 to 7.4)'."""
    if d.classifier == d.other_classifier:
        sides = f"{d.classifier}, {d.reduction} − {d.other_reduction}"
    else:
        sides = f"{d.classifier} − {d.other_classifier}"
    return f"{sides}: {points(d.value, d.low, d.high)}"


def _correlation(one: Correlation) -> str:
    return f"{one.value:z.2f} ({one.low:z.2f} to {one.high:z.2f})".replace("-", "−")
