"""Everything that accuracies on two test sets say, as one record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from dissensus.arrays import Array, Float
from dissensus.errors import TransferError, as_sentence, some
from dissensus.proportions import LEVEL, Ends, at_once
from dissensus.records import (
    BandPoint,
    DropDifference,
    DuplicateEffect,
    FamilyShift,
    Fit,
    GapSplit,
    ModelShift,
    ShiftResult,
    StratifiedDrop,
    Stratum,
)
from dissensus.transfer.difficulty import difficulty_of
from dissensus.transfer.fits import RESAMPLES, Line, Lines, check_draws, fitted, inner
from dissensus.transfer.gaps import split
from dissensus.transfer.intervals import drop_differences
from dissensus.transfer.items import counted_items, item_errors, nested_items
from dissensus.transfer.near_duplicates import counted_effects, without_duplicates
from dissensus.transfer.ranks import ranks
from dissensus.transfer.robustness import Distances, distances, families
from dissensus.transfer.sides import Side, TwoSets, accuracy_ends, drop_interval, mean_of
from dissensus.transfer.strata import matched, strata
from dissensus.transfer.words import CLEAR, difficulty_in_words, main_answer

RELIABLE = 0.9
"""Below this reliability, a note says that chance flattens the line."""


def result_of(found: TwoSets, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> ShiftResult:
    """All estimates about models on two test sets; those that are impossible are missing, and the words say why.

    Raises:
        TransferError: there is no model, the level is not between 0 and 1, or resamples or the seed are impossible.
    """
    if not found.models:
        raise TransferError("no model has an accuracy on both test sets: there is nothing to compare")
    if not 0 < level < 1:
        raise TransferError(f"a confidence level of {level:g} is impossible: give one between 0 and 1, such as 0.95")
    check_draws(resamples, seed)
    original, new = found.original, found.new
    ends, new_ends = accuracy_ends(original, level), accuracy_ends(new, level)
    drop_ends = drop_interval(original, new, level)
    lines, no_fit, notes = _lines(found, level, resamples, seed)
    if lines is not None:
        lines = replace(lines, lines=tuple(_with_items(found, one, level) for one in lines.lines))
    best = None if lines is None else lines.best
    far = None if best is None else distances(best, original.accuracy, ends, new.accuracy, new_ends, level)
    models = _models(found, ends, new_ends, drop_ends, far)
    kin = () if best is None or far is None else _families(found, best, far, level)
    gaps = _gaps(found, drop_ends, new_ends, lines, level)
    probit = None if lines is None else lines.on("probit")
    try:
        difficulty = None if probit is None else difficulty_in_words(difficulty_of(probit))
    except TransferError as error:
        difficulty, notes = None, (*notes, as_sentence(error))
    bins, stratified, said = _strata(found, level)
    if lines is not None and lines.better == "probit" and (lines.share or 0) >= CLEAR:
        said = (*said, "As models follow a curve on the linear scale, intervals of the linear fit are too narrow.")
    if lines is not None:
        said = (*said, *_reliability(lines.lines[0]))
    return ShiftResult(
        words=main_answer(models, gaps, lines, no_fit, kin, found.missing, found.names),
        original_name=found.names[0],
        new_name=found.names[1],
        models=models,
        missing=found.missing,
        fits=() if lines is None else tuple(_fit(one, resamples, seed) for one in lines.lines),
        better=None if lines is None else lines.better,
        better_share=None if lines is None else lines.share,
        no_fit=no_fit,
        families=kin,
        is_family_guessed=found.is_family_guessed,
        gaps=gaps,
        difficulty=difficulty,
        differences=_differences(found, level),
        strata=bins,
        stratified=stratified,
        duplicates=_duplicates(found, level),
        notes=(*found.notes, *notes, *said),
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _lines(found: TwoSets, level: float, resamples: int, seed: int) -> tuple[Lines | None, str, tuple[str, ...]]:
    """The fits, why one is missing, and which accuracies were moved for the probit scale."""
    original, new = found.original, found.new
    x, is_moved = inner(original.accuracy, original.count)
    y, is_moved_too = inner(new.accuracy, new.count)
    moved = [found.models[place] for place in np.flatnonzero(is_moved | is_moved_too).tolist()]
    try:
        if not moved:
            return fitted(x, y, resamples=resamples, seed=seed, level=level, names=found.models), "", ()
    except TransferError:
        pass  # without probits, a line on the linear scale may still be possible
    try:
        linear = fitted(original.accuracy, new.accuracy, ("linear",), resamples, seed, level)
    except TransferError as error:
        return None, str(error), ()
    try:
        both = fitted(x, y, resamples=resamples, seed=seed, level=level, names=found.models)
    except TransferError as error:
        return linear, f"there is no probit fit: {error}", ()
    note = f"An accuracy of 0 or 1 has no probit: on that scale, {some(moved)} stand at (right + ½) / (items + 1)."
    return Lines((linear.lines[0], both.lines[1]), both.better, both.share), "", (note,)


def _reliability(line: Line) -> tuple[str, ...]:
    if line.item_errors is None or line.item_errors.reliability >= RELIABLE:
        return ()
    chance = f"{100 * (1 - line.item_errors.reliability):.0f} %"
    return (
        f"Accuracies on the original set differ so little that chance may be {chance} of their variance; the slope may "
        "be too small by as much.",
    )


def _with_items(found: TwoSets, line: Line, level: float) -> Line:
    """The line with what other items would do to it, if predictions, counts or intervals are known."""
    original, new = found.original, found.new
    sides = [inner(side.accuracy, side.count)[0] for side in (original, new)]
    if original.right is not None and new.right is not None:
        items = counted_items(original.right, new.right)
    else:
        errors = [_standard_errors(side, level) for side in (original, new)]
        if any(np.isnan(one).any() for one in errors) or any(((one <= 0) | (one >= 1)).any() for one in sides):
            return line
        items = nested_items((sides[0], sides[1]), (errors[0], errors[1]))
    if line.scale == "linear":
        sides = [original.accuracy, new.accuracy]
    return replace(line, item_errors=item_errors(line.scale, sides[0], sides[1], items, level))


def _standard_errors(side: Side, level: float) -> Float[Array, " M"]:
    """Standard errors of accuracies from their counts, else from the intervals that were given; NaN if unknown."""
    given = (side.high - side.low) / (2 * norm.ppf((1 + level) / 2))
    share = inner(side.accuracy, side.count)[0]
    counted = np.sqrt(share * (1 - share) / np.maximum(side.count, 1))
    errors: Float[Array, " M"] = np.where(side.count > 0, counted, given)
    return errors


def _fit(line: Line, resamples: int, seed: int) -> Fit:
    return Fit(
        scale=line.scale,
        slope=line.slope,
        slope_low=line.slope_ends[0],
        slope_high=line.slope_ends[1],
        slope_low_with_items=None if line.item_errors is None else line.slope_ends_with_items[0],
        slope_high_with_items=None if line.item_errors is None else line.slope_ends_with_items[1],
        reliability=None if line.item_errors is None else line.item_errors.reliability,
        offset=line.offset,
        offset_low=line.offset_ends[0],
        offset_high=line.offset_ends[1],
        r2=line.r2,
        r2_accuracy=line.r2_accuracy,
        error=line.error,
        band=tuple(BandPoint(x=x, low=low, middle=middle, high=high) for x, low, middle, high in line.band.tolist()),
        resamples=resamples,
        seed=seed,
    )


def _models(
    found: TwoSets, ends: Ends, new_ends: Ends, drop_ends: Ends, far: Distances | None
) -> tuple[ModelShift, ...]:
    original, new = found.original, found.new
    places, new_places = ranks(original.accuracy), ranks(new.accuracy)
    order = sorted(range(len(found.models)), key=lambda one: (places[one], new_places[one], one))
    return tuple(
        ModelShift(
            model=found.models[one],
            family=found.families[one],
            original=float(original.accuracy[one]),
            original_low=_known(ends[0][one]),
            original_high=_known(ends[1][one]),
            new=float(new.accuracy[one]),
            new_low=_known(new_ends[0][one]),
            new_high=_known(new_ends[1][one]),
            n_original=int(original.count[one]) or None,
            n_new=int(new.count[one]) or None,
            drop=float(original.accuracy[one] - new.accuracy[one]),
            drop_low=_known(drop_ends[0][one]),
            drop_high=_known(drop_ends[1][one]),
            rank_original=int(places[one]),
            rank_new=int(new_places[one]),
            rank_change=int(places[one] - new_places[one]),
            expected=None if far is None else _known(far.expected[one]),
            robustness=None if far is None else _known(far.value[one]),
            robustness_low=None if far is None else _known(far.low[one]),
            robustness_high=None if far is None else _known(far.high[one]),
            is_off=far is not None and bool(far.is_off[one]),
            extra=found.extra[one] if found.extra else {},
        )
        for one in order
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _families(found: TwoSets, line: Line, far: Distances, level: float) -> tuple[FamilyShift, ...]:
    names, number = np.unique(np.array(found.families), return_inverse=True)
    low, high = line.ends_at(found.original.accuracy)
    kin = families(number, far.value, (high - low) / 2, level)
    return tuple(
        FamilyShift(
            family=str(names[one]),
            models=int(kin.models[one]),
            robustness=float(kin.value[one]),
            low=_known(kin.low[one]),
            high=_known(kin.high[one]),
            low_at_once=_known(kin.low_at_once[one]),
            high_at_once=_known(kin.high_at_once[one]),
            is_off=bool(kin.is_off[one]),
        )
        for one in np.argsort(-kin.value, kind="stable").tolist()
    )


def _gaps(found: TwoSets, drop_ends: Ends, new_ends: Ends, lines: Lines | None, level: float) -> GapSplit:
    original, new, fresh = found.original, found.new, found.fresh
    low, high = at_once(original.accuracy - new.accuracy, drop_ends, level)
    beyond = None if np.isnan(low).any() else int(((low > 0) | (high < 0)).sum())
    half = (new_ends[1] - new_ends[0]) / 2
    chance = None if np.isnan(half).any() else float(half.max())
    adaptivity = distribution = None
    if fresh is not None:
        adaptivity, distribution = mean_of(original, fresh, level), mean_of(fresh, new, level)
    return split(mean_of(original, new, level), chance, lines, beyond, adaptivity, distribution)


def _differences(found: TwoSets, level: float) -> tuple[DropDifference, ...]:
    right, new_right = found.original.right, found.new.right
    if right is None or new_right is None or len(found.models) < 2:
        return ()
    pairs, value, ends = drop_differences(right, new_right, level)
    _, _, strict = drop_differences(right, new_right, 1 - (1 - level) / len(pairs))
    return tuple(
        DropDifference(
            model=found.models[one],
            other=found.models[other],
            value=float(value[place]),
            low=float(ends[0][place]),
            high=float(ends[1][place]),
            low_at_once=float(strict[0][place]),
            high_at_once=float(strict[1][place]),
        )
        for place, (one, other) in enumerate(pairs.tolist())
    )


def _strata(found: TwoSets, level: float) -> tuple[tuple[Stratum, ...], tuple[StratifiedDrop, ...], tuple[str, ...]]:
    original, new = found.original, found.new
    if original.frequency is None or new.frequency is None or original.right is None or new.right is None:
        return (), (), ()
    by_bin = strata(original.right, original.frequency, new.right, new.frequency)
    bins = []
    for place in range(len(by_bin.counts)):
        counts = int(by_bin.counts[place]), int(by_bin.new_counts[place])
        hits = by_bin.right[:, place], by_bin.new_right[:, place]
        one, other = (float(hit.mean()) / count if count else None for hit, count in zip(hits, counts, strict=True))
        bins.append(
            Stratum(
                low=by_bin.edges[place],
                high=by_bin.edges[place + 1],
                n_original=counts[0],
                n_new=counts[1],
                original=one,
                new=other,
                drop=None if one is None or other is None else one - other,
            )
        )
    try:
        same = matched(by_bin, level)
    except TransferError as error:
        return tuple(bins), (), (as_sentence(error),)
    drops = tuple(
        StratifiedDrop(
            model=name,
            drop=float(same.drop[one]),
            matched=float(same.matched[one]),
            matched_low=float(same.matched[one] - same.matched_half[one]),
            matched_high=float(same.matched[one] + same.matched_half[one]),
            explained=float(same.explained[one]),
            explained_low=float(same.explained[one] - same.explained_half[one]),
            explained_high=float(same.explained[one] + same.explained_half[one]),
        )
        for one, name in enumerate(found.models)
    )
    return tuple(bins), drops, ()


def _duplicates(found: TwoSets, level: float) -> tuple[DuplicateEffect, ...]:
    original, new = found.original, found.new
    if original.right is not None and original.is_duplicate is not None:
        share = float(original.is_duplicate.mean())
        on, without, effect, (low, high) = counted_effects(original.right, original.is_duplicate, level)
        ends = [(float(one), float(other)) for one, other in zip(low, high, strict=True)]
    elif found.duplicates is not None:
        share, accuracy = found.duplicates
        on, without = np.full(len(found.models), accuracy), without_duplicates(original.accuracy, share, accuracy)
        effect, ends = original.accuracy - without, [(None, None)] * len(found.models)  # type: ignore[list-item]
    else:
        return ()
    return tuple(
        DuplicateEffect(
            model=name,
            share=share,
            on_duplicates=float(on[one]),
            without=float(without[one]),
            effect=float(effect[one]),
            effect_low=ends[one][0],
            effect_high=ends[one][1],
            drop_left=float(without[one] - new.accuracy[one]),
            is_direct=original.right is not None and original.is_duplicate is not None,
        )
        for one, name in enumerate(found.models)
    )
