"""What a laconic test says in words: who needs least, and which observations of the paper hold (laconic, section 5).

An observation about several differences holds if each interval by itself lies on its side, and does not hold if one
lies on the other side even when all are looked at together; otherwise it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.records import (
    Correlation,
    Difference,
    Laconic,
    LaconicResult,
    MeanRatio,
    Observation,
    Precision,
    Verdict,
    interval_words,
)
from dissensus.reductions.intervals import LEVEL, RESAMPLES, wilson
from dissensus.reductions.ratios import correlations, differences, mean_ratios, precisions

MOST_NAMED = 3
Bounds = tuple[float | None, float | None]


def result_of(laconic: Laconic, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> LaconicResult:
    """Everything that the MEPIs and readings of a laconic test say.

    Raises:
        ReductionError: there are no classifiers, reductions or images.
    """
    means, per_class = mean_ratios(laconic, level, resamples, seed)
    between, within = differences(laconic, level, resamples, seed)
    facts = Facts(laconic, means, [*between, *within], precisions(laconic, level), level, seed)
    observed = observations(facts)
    reached = np.zeros((len(laconic.classifiers), len(laconic.images)), bool)
    reached[laconic.mepis.classifier, laconic.mepis.image] = True
    return LaconicResult(
        classifiers=laconic.classifiers,
        people=facts.people,
        accuracy={name: float(laconic.accuracy[laconic.classifiers.index(name)]) for name in facts.models},
        reductions=laconic.reductions,
        classes=laconic.classes,
        images=len(laconic.images),
        means=tuple(means),
        per_class=tuple(per_class),
        differences=tuple(facts.differences),
        precision=tuple(facts.precision),
        correlations=tuple(correlations(laconic, means, level, seed)),
        observations=tuple(observed),
        words=tuple(findings(facts, observed)),
        unused={name: int((~reached[laconic.classifiers.index(name)]).sum()) for name in facts.models},
        unused_by_all=int((~reached.any(axis=0)).sum()),
        encoder=laconic.encoder,
        side=laconic.side,
        is_naive=laconic.is_naive,
        level=level,
        resamples=resamples,
        seed=seed,
        found=laconic,
    )


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


def findings(facts: Facts, observed: Sequence[Observation]) -> list[str]:
    """Who needs least under each reduction, all combined first; then how many of the paper's observations hold."""
    names = facts.laconic.reductions
    ordered = sorted(names, key=lambda name: name != "combined")
    words = [_least(facts, reduction) for reduction in ordered if facts.of(reduction)]
    if words:
        words[0] = words[0].replace(" % (", f" % ({100 * facts.level:g} % interval ", 1)
    else:
        return [
            f"No classifier recognises any of the {len(facts.laconic.images):,} images: there is nothing to reduce."
        ]
    without = [name for name in facts.models if not any(one.classifier == name and one.images for one in facts.means)]
    if without:
        verb = "recognises none of the images and has" if len(without) == 1 else "recognise none of the images and have"
        words.append(f"{_listed(without)} {verb} no result.")
    counted = {
        verdict: [one.name for one in observed if one.verdict == verdict]
        for verdict in ("holds", "does not hold", "undecided")
    }
    said = [
        f"{len(counted['holds'])} hold{'s' if len(counted['holds']) == 1 else ''} here",
        *([f"{_many(counted['does not hold'], 'does not', 'do not')}"] if counted["does not hold"] else []),
        *([f"{_many(counted['undecided'], 'is undecided', 'are undecided')}"] if counted["undecided"] else []),
    ]
    tested = sum(map(len, counted.values()))
    if tested:
        words.append(f"Of the {tested} observations of the paper that can be tested here, {', '.join(said)}.")
    return words


def _many(names: Sequence[str], one: str, several: str) -> str:
    return f"{len(names)} {one if len(names) == 1 else several} ({'; '.join(names)})"


def _least(facts: Facts, reduction: str) -> str:
    """Which classifier needs least under a reduction, and how sure that is."""
    found = facts.of(reduction)
    how = "with all reductions combined" if reduction == "combined" else f"by {reduction} alone"
    first = may_need_least(facts, reduction)
    who = (
        f"{first[0].classifier[0].upper()}{first[0].classifier[1:]} need"
        if first[0].is_person
        else (f"{first[0].classifier} needs")
    )
    if len(found) == 1:
        return f"{who} {_share(found[0])} of an image’s bytes {how}."
    if len(first) == 1:
        rest = [one for one in found if one.classifier != first[0].classifier]
        return (
            f"{who} least {how}: {_share(first[0])} of an image’s bytes; "
            f"next comes {rest[0].classifier} with {_share(rest[0])}."
        )
    if len(first) <= MOST_NAMED:
        shares = _listed([_share(one) for one in first])
        return (
            f"{_listed([one.classifier for one in first])} need least {how}: {shares} of an image’s bytes; the images "
            "cannot tell which of them needs less."
        )
    return (
        f"The lowest mean {how} is that of {first[0].classifier}, {_share(first[0])} of an image’s bytes, but "
        f"{len(first) - 1} others may need as little."
    )


def may_need_least(facts: Facts, reduction: str) -> list[MeanRatio]:
    """The classifiers that no other beats on the images that both recognise, all pairs looked at together."""
    found = facts.of(reduction)

    def is_beaten(one: MeanRatio) -> bool:
        others = (other.classifier for other in found if other.classifier != one.classifier)
        worse = (d for name in others for d in facts.minus((one.classifier, reduction), (name, reduction)))
        return any(d.low_at_once is not None and d.low_at_once > 0 for d in worse)

    return [one for one in found if not is_beaten(one)] or found


def observations(facts: Facts) -> list[Observation]:
    """What the paper saw, and whether it holds here."""
    names = facts.laconic.reductions
    return [
        _differences(
            "combining needs least",
            "Combined, the reductions leave less of an image than each of them alone, for every model.",
            [(name, other, "combined") for name in facts.models for other in names if other != "combined"],
            facts,
        ),
        _differences(
            "resolution matters most",
            "Models are most sensitive to resolution: of all reductions, it leaves most, for every model.",
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
        words = missing or "The reductions that it is about were not tried, or have no image in common."
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
    return f"{sure} of {len(found)} differences are surely positive. The least sure: {_written(least)}."


def _accuracy(facts: Facts) -> Observation:
    """Whether laconicity follows accuracy, under every reduction."""
    found = correlations(facts.laconic, facts.means, facts.level, facts.seed)
    strict = correlations(facts.laconic, facts.means, 1 - (1 - facts.level) / len(found), facts.seed)
    known = [one for one in found if one.value is not None]
    bounds = [(one.low, one.high) for one in known], [(one.low, one.high) for one in strict if one.value is not None]
    name, claim = "laconic models are accurate", "The more accurate a model, the less of an image it needs."
    if not known:
        reason = found[0].reason
        return Observation(name=name, claim=claim, verdict="not tested", words=f"{reason[0].upper()}{reason[1:]}.")
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
    claim = "Models read each other’s MEPIs more often under colour and resolution than under crop and combined."
    if not one or not several:
        words = "Models have not classified each other’s MEPIs under both kinds of reductions."
        return Observation(name=name, claim=claim, verdict="not tested", words=words)
    sums = [(sum(p.right for p in part), sum(p.count for p in part)) for part in (one, several)]
    low, high = newcombe(*sums[0], *sums[1], facts.level)
    shares = [right / count for right, count in sums]
    words = f"{100 * shares[0]:.0f} % against {100 * shares[1]:.0f} %, {_points(shares[0] - shares[1], low, high)}."
    return Observation(name=name, claim=claim, verdict=_every([(low, high)], [(low, high)]), words=words)


def _reading(facts: Facts, missing: str) -> Observation:
    """Whether people read models' MEPIs more often than models read people's, in whatever way these were made."""
    sums: dict[tuple[str, str, bool], tuple[int, int]] = {}
    for p in facts.precision:
        by_people = p.reader in facts.people
        if by_people != (p.source in facts.people):
            key = p.source if by_people else p.reader, p.reduction, by_people
            right, count = sums.get(key, (0, 0))
            sums[key] = right + p.right, count + p.count
    pairs = {
        (model, reduction): (*sums[model, reduction, True], *sums[model, reduction, False])
        for model, reduction, by_people in sums
        if by_people and (model, reduction, False) in sums
    }
    name = "people read models, not the other way round"
    claim = "People read every model’s MEPIs more often than that model reads people’s."
    if not pairs:
        words = missing or "People and models have not classified each other’s MEPIs."
        return Observation(name=name, claim=claim, verdict="not tested", words=words)
    strict = 1 - (1 - facts.level) / len(pairs)
    alone, at_once = ([newcombe(*counts, level) for counts in pairs.values()] for level in (facts.level, strict))
    least = min(range(len(pairs)), key=lambda place: alone[place][0])
    model, reduction = [*pairs][least]
    right, count, other_right, other_count = pairs[model, reduction]
    one, other = right / count, other_right / other_count
    words = (
        f"Smallest of {len(pairs)} differences: {model}, {reduction}: {100 * one:.0f} % against {100 * other:.0f} %, "
        f"{_points(one - other, *alone[least])}."
    )
    return Observation(name=name, claim=claim, verdict=_every(alone, at_once), words=words)


def newcombe(right: int, count: int, other_right: int, other_count: int, level: float = LEVEL) -> tuple[float, float]:
    """Newcombe's interval of the difference of two independent shares, from Wilson's intervals of both."""
    one, other = right / count, other_right / other_count
    (low, high), (other_low, other_high) = wilson(right, count, level), wilson(other_right, other_count, level)
    down = ((one - low) ** 2 + (other_high - other) ** 2) ** 0.5
    up = ((high - one) ** 2 + (other - other_low) ** 2) ** 0.5
    return one - other - down, one - other + up


def _share(one: MeanRatio) -> str:
    assert one.value is not None
    return f"{100 * one.value:.1f} %{interval_words(one.low, one.high)}"


def _written(d: Difference) -> str:
    """A difference in points, with its interval: 'resnet, crop − combined: 6.5 points (5.6 to 7.4)'."""
    if d.classifier == d.other_classifier:
        sides = f"{d.classifier}, {d.reduction} − {d.other_reduction}"
    else:
        sides = f"{d.classifier} − {d.other_classifier}"
    return f"{sides}: {_points(d.value, d.low, d.high)}"


def _points(value: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" ({100 * low:z.1f} to {100 * high:z.1f})"
    return f"{100 * value:z.1f} points{ends}".replace("-", "−")


def _correlation(one: Correlation) -> str:
    return f"{one.value:z.2f} ({one.low:z.2f} to {one.high:z.2f})".replace("-", "−")


def _listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
