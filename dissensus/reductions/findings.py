"""What a laconic test says in words: who needs least, and how many observations of the paper hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.proportions import LEVEL
from dissensus.records import Laconic, LaconicResult, MeanRatio, Observation, interval_words, may_need_least
from dissensus.reductions.intervals import RESAMPLES
from dissensus.reductions.observations import Facts, observations
from dissensus.reductions.ratios import correlations, differences, mean_ratios, precisions

MOST_NAMED = 3
UNDER = {
    "combined": "with all reductions combined",
    "colour": "if only the colours are reduced",
    "resolution": "if only the resolution is reduced",
    "crop": "if the image is only cropped",
}
"""How sentences name a reduction; others are 'under NAME'."""


def result_of(laconic: Laconic, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> LaconicResult:
    """Everything that the MEPIs and readings of a laconic test say.

    Raises:
        ReductionError: classifiers, reductions or images are missing.
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
        unreadable=laconic.unreadable,
        manners=laconic.manners,
        control=laconic.control,
        level=level,
        resamples=resamples,
        seed=seed,
        found=laconic,
    )


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
    under = UNDER.get(reduction, f"under {reduction}")
    found = facts.of(reduction)
    first = may_need_least(facts.means, facts.differences, reduction)
    verb = "need" if len(first) > 1 or first[0].is_person else "needs"
    who = _listed([one.classifier for one in first])
    who = f"{who[0].upper()}{who[1:]}" if first[0].is_person else who
    shares = _listed([_share(one) for one in first])
    if len(found) == 1:
        return f"{who} {verb} {shares} of an image’s bytes {under}."
    if len(first) == 1:
        second = next(one for one in found if one.classifier != first[0].classifier)
        return (
            f"{who} {verb} least {under}: {shares} of an image’s bytes; next comes {second.classifier} with "
            f"{_share(second)}."
        )
    if len(first) <= MOST_NAMED:
        return f"{who} {verb} least {under}: {shares} of an image’s bytes, too close to tell apart."
    return (
        f"{under[0].upper()}{under[1:]}, {first[0].classifier} {'need' if first[0].is_person else 'needs'} "
        f"{_share(first[0])} of an image’s bytes on average; {len(first) - 1} others may need as little."
    )


def _share(one: MeanRatio) -> str:
    assert one.value is not None
    return f"{100 * one.value:.1f} %{interval_words(one.low, one.high)}"


def _listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
