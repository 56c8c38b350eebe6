"""What each model fails on, as records and in words: only what its numbers support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.failures.contrasts import PERMUTATIONS, Comparisons, contrasts
from dissensus.proportions import clopper_pearson, p_text
from dissensus.records import Confusion, Contrast, Failure, Failures, ModelFailures

LEVEL = 0.95
OFTEN = 5
"""A confusion is put into words if it occurs at least this often."""


@dataclass(frozen=True)
class Trials:
    """Which models failed on which judged items (or images, or pairs); this counts only where `known`.

    `groups` are items that have something in common, such as their true class.
    """

    models: Sequence[str]
    failed: Bool[Array, "I M"]
    known: Bool[Array, "I M"]
    groups: Mapping[str, Bool[Array, " I"]]
    comparable: Bool[Array, " I"] | None = None
    """The items that could be in a group, all by default. If nobody is right about an item, its class stays unknown:
    compared with such items, a model that is often right would seem to stand out in every class."""


@dataclass(frozen=True)
class Terms:
    """How a task speaks about failures."""

    unit: str
    """What is judged, such as 'item'."""
    failed: str
    """What failing is, such as 'is wrong on'."""
    where: str
    """Items of a group, such as 'items of the class {}'."""
    caveat: str
    """What the shares do not say."""
    counts: str = "times"
    """What confusions count, such as 'pixels'."""


def failures_of(
    task: str,
    trials: Trials,
    cases: Iterable[Failure],
    confusions: Sequence[Confusion],
    terms: Terms,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Failures:
    """Everything about the failures of every model; `cases` are sorted here, worst first."""
    names = list(trials.groups)
    member = np.zeros((len(trials.failed), len(names)), bool)
    for column, name in enumerate(names):
        member[:, column] = trials.groups[name]
    rows = np.ones(len(trials.failed), bool) if trials.comparable is None else trials.comparable
    compared = contrasts(trials.failed[rows], trials.known[rows], member[rows], permutations=permutations, seed=seed)
    found = _contrasts(trials, names, member, compared)
    place = {name: number for number, name in enumerate(trials.models)}
    ordered = sorted(cases, key=lambda one: (place[one.model], -one.severity, one.item))
    models = tuple(
        _summary(trials, number, [one for one in found if one.model == name], confusions, terms)
        for number, name in enumerate(trials.models)
    )
    return Failures(
        task=task,
        models=models,
        failures=tuple(ordered),
        confusions=tuple(confusions),
        contrasts=tuple(found),
        words=(*_overall(found, terms), terms.caveat),
        level=LEVEL,
        permutations=permutations,
        seed=seed,
    )


def confusions_of(model: str, pairs: Mapping[tuple[str, str], int]) -> list[Confusion]:
    """A model's confusions, as (predicted, true) with their numbers, the most frequent first."""
    total = sum(pairs.values())
    ordered = sorted(pairs.items(), key=lambda one: (-one[1], one[0]))
    return [
        Confusion(model=model, predicted=predicted, true=true, count=count, share=count / total)
        for (predicted, true), count in ordered
        if count
    ]


def counted_pairs(cases: Iterable[Failure]) -> dict[str, Counter[tuple[str, str]]]:
    """For each model, how often it predicted one class where another was true; unknown true classes do not count."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    for one in cases:
        if one.true:
            found.setdefault(one.model, Counter())[one.predicted, one.true] += 1
    return found


def other_models(
    models: Sequence[str], known: Bool[Array, " M"], failed: Bool[Array, " M"], own: int
) -> dict[str, tuple[str, ...]]:
    """The other judged models that are right about one item, and those that fail too: two fields of `Failure`."""
    others = [number for number in np.flatnonzero(known).tolist() if number != own]
    return {
        "right": tuple(models[number] for number in others if not failed[number]),
        "wrong": tuple(models[number] for number in others if failed[number]),
    }


def _contrasts(trials: Trials, names: Sequence[str], member: Bool[Array, "I G"], found: Comparisons) -> list[Contrast]:
    """The comparisons that were made, the clearest first."""
    failed = member.T.astype(np.int64) @ (trials.failed & trials.known)
    low, high = clopper_pearson(failed, found.items, LEVEL)
    made = [
        Contrast(
            model=trials.models[model],
            group=names[group],
            items=int(found.items[group, model]),
            failed=int(failed[group, model]),
            low=float(low[group, model]),
            high=float(high[group, model]),
            inside=float(found.inside[group, model]),
            outside=float(found.outside[group, model]),
            others_inside=float(found.others_inside[group, model]),
            others_outside=float(found.others_outside[group, model]),
            difference=float(found.difference[group, model]),
            p=float(found.p[group, model]),
            is_clear=bool(found.p[group, model] < 1 - LEVEL),
        )
        for group, model in zip(*np.nonzero(found.is_tested), strict=True)
    ]
    return sorted(made, key=lambda one: (one.p, -abs(one.difference), one.model, one.group))


def _summary(
    trials: Trials, number: int, found: Sequence[Contrast], confusions: Sequence[Confusion], terms: Terms
) -> ModelFailures:
    name, known = trials.models[number], trials.known[:, number]
    failed = trials.failed[:, number] & known
    others = np.delete(trials.known, number, axis=1)
    is_right = (others & ~np.delete(trials.failed, number, axis=1)).sum(axis=1)
    alone = failed & (is_right == others.sum(axis=1)) & (is_right > 0)
    judged, many = int(known.sum()), int(failed.sum())
    low, high = (float(end) for end in np.ravel(clopper_pearson(many, judged, LEVEL)))
    one = ModelFailures(
        model=name, judged=judged, failed=many, share=many / judged if judged else 0.0, low=low, high=high,
        alone=int(alone.sum()),
    )  # fmt: skip
    words = (_share_words(one, terms), *_confusion_words(name, confusions, terms), *_contrast_words(found, terms))
    return one.model_copy(update={"words": words})


def _share_words(one: ModelFailures, terms: Terms) -> str:
    if not one.judged:
        return f"{one.model} has not been judged on any {terms.unit} yet."
    percent = f"{100 * one.share:.0f} % ({100 * one.low:.0f}–{100 * one.high:.0f})"
    alone = f"; on {one.alone:,} of these, every other judged model is right" if one.alone else ""
    return f"{one.model} {terms.failed} {one.failed:,} of {one.judged:,} judged {terms.unit}s, {percent}{alone}."


def _confusion_words(model: str, confusions: Sequence[Confusion], terms: Terms) -> list[str]:
    mine = [one for one in confusions if one.model == model and one.count >= OFTEN][:3]
    if not mine:
        return []
    listed = ", ".join(
        f"{one.predicted} where it is {one.true} ({100 * one.share:.0f} % of its errors, {one.count:,} {terms.counts})"
        for one in mine
    )
    return [f"Its most frequent confusions: {listed}."]


def _contrast_words(found: Sequence[Contrast], terms: Terms) -> list[str]:
    return [_contrast_sentence(one, terms) for one in [one for one in found if one.is_clear][:3]]


def _contrast_sentence(one: Contrast, terms: Terms) -> str:
    inside, outside, others, others_outside = (
        f"{100 * share:.0f}" for share in (one.inside, one.outside, one.others_inside, one.others_outside)
    )
    more = "more" if one.difference > 0 else "less"
    return (
        f"Compared with the others, it fails {more} on {terms.where.format(one.group)}: on {inside} % "
        f"({100 * one.low:.0f}–{100 * one.high:.0f}) of these {one.items:,} and {outside} % elsewhere, "
        f"the others on {others} % and {others_outside} % ({p_text(one.p)}, adjusted for all comparisons)."
    )


def _overall(found: Sequence[Contrast], terms: Terms) -> list[str]:
    """How many comparisons were made, and how many are significant."""
    if not found:
        return [f"There are too few judged {terms.unit}s to say what sets one model’s failures apart from the others’."]
    clear = sum(one.is_clear for one in found)
    many = "1 comparison" if len(found) == 1 else f"{len(found):,} comparisons"
    if not clear:
        return [f"No model’s failures are clearly different from the others’: none of {many} is significant."]
    are = "is" if clear == 1 else "are"
    return [f"{clear:,} of {many} between a model and the others {are} significant, adjusted for all of them."]
