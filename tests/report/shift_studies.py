"""Results about two test sets made by hand, with everything that the page can show."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from dissensus.records import (
    BandPoint,
    DifficultyModel,
    DropDifference,
    DuplicateEffect,
    FamilyShift,
    Fit,
    Gap,
    GapSplit,
    MissingModel,
    ModelShift,
    ShiftResult,
    StratifiedDrop,
    Stratum,
)

NORMAL = NormalDist()
PROBIT, PHI = np.vectorize(NORMAL.inv_cdf), np.vectorize(NORMAL.cdf)
Row = tuple[str, float, float]
"""A model with its accuracies on both sets."""


def rows(count: int, seed: int = 0) -> list[Row]:
    """Models around a line, the last of every eleven three points above it."""
    rng = np.random.default_rng(seed)
    original = np.sort(rng.uniform(0.6, 0.95, count))[::-1]
    new = 1.3 * original - 0.32 + rng.normal(0, 0.006, count)
    new[::11] += 0.03
    return [(f"family{place % 7}_model{place}", float(original[place]), float(new[place])) for place in range(count)]


def fit_of(original: Any, new: Any, scale: str) -> Fit:
    """Least squares on one scale, with intervals of made-up width."""
    to, back = (PROBIT, PHI) if scale == "probit" else (np.asarray, np.asarray)
    slope, offset = np.polyfit(to(original), to(new), 1)
    places = np.linspace(original.min(), original.max(), 20)
    middle = slope * to(places) + offset
    left = new - back(slope * to(original) + offset)
    return Fit(
        scale=scale, slope=slope, slope_low=slope - 0.1, slope_high=slope + 0.1, offset=offset,
        offset_low=offset - 0.05, offset_high=offset + 0.05, r2=0.987, r2_accuracy=0.985,
        error=float(np.sqrt(np.mean(left**2))), resamples=100_000, seed=0,
        band=tuple(
            BandPoint(x=x, low=low, middle=at, high=high)
            for x, low, at, high in zip(
                places.tolist(), back(middle - 0.01).tolist(), back(middle).tolist(), back(middle + 0.01).tolist(),
                strict=True,
            )
        ),
    )  # fmt: skip


def result(found: Sequence[Row] | None = None, has_ends: bool = True, **changes: Any) -> ShiftResult:
    """A result with its fits, families and causes; further parts are passed as `changes`."""
    found = sorted(rows(34) if found is None else found, key=lambda row: -row[1])
    original, new = (np.array([row[n] for row in found]) for n in (1, 2))
    inside = (original > 0) & (original < 1) & (new > 0) & (new < 1)
    is_fitted = len(found) > 2
    fits = [fit_of(original, new, "linear")] if is_fitted else []
    fits += [fit_of(original[inside], new[inside], "probit")] if is_fitted and inside.sum() > 2 else []
    expected = np.array([fits[0].slope * one + fits[0].offset for one in original]) if fits else original
    far = new - expected
    models = tuple(
        ModelShift(
            model=name, family=name.partition("_")[0], original=first, new=second,
            original_low=max(0.0, first - 0.004) if has_ends else None,
            original_high=min(1.0, first + 0.004) if has_ends else None,
            new_low=max(0.0, second - 0.012) if has_ends else None,
            new_high=min(1.0, second + 0.012) if has_ends else None,
            n_original=10_000 if has_ends else None, n_new=2_000 if has_ends else None, drop=first - second,
            drop_low=first - second - 0.013 if has_ends else None,
            drop_high=first - second + 0.013 if has_ends else None, rank_original=1 + int((original > first).sum()),
            rank_new=1 + int((new > second).sum()), rank_change=int((original > first).sum() - (new > second).sum()),
            expected=float(expected[place]) if fits else None, robustness=float(far[place]) if fits else None,
            robustness_low=float(far[place]) - 0.012 if fits and has_ends else None,
            robustness_high=float(far[place]) + 0.012 if fits and has_ends else None,
            is_off=bool(fits) and abs(float(far[place])) > 0.02,
        )
        for place, (name, first, second) in enumerate(found)
    )  # fmt: skip
    made = {
        "words": words(models, fits), "models": models, "fits": tuple(fits), "better": "linear" if fits else None,
        "better_share": 0.93 if fits else None, "no_fit": "" if fits else "a line needs three models",
        "families": families(models) if fits else (), "is_family_guessed": True,
        "gaps": gaps(models, bool(fits)), "level": 0.95, "resamples": 100_000, "seed": 0,
    }  # fmt: skip
    return ShiftResult(**(made | changes))


def words(models: Sequence[ModelShift], fits: Sequence[Fit]) -> tuple[str, ...]:
    drop = 100 * np.mean([one.drop for one in models])
    said = [
        f"Accuracy is {drop:.1f} points ({drop - 0.6:.1f} to {drop + 0.6:.1f}) lower on the new set than on the "
        f"original one, on average over {len(models):,} models; all of them differ by more than chance explains."
    ]
    if fits:
        said.append(f"A point of accuracy on the original set goes with {fits[0].slope:.2f} points on the new one.")
    said.append("The order of the models is nearly the same on both sets (rank correlation 0.98).")
    off = [f"{one.model} (+{100 * (one.robustness or 0):.1f})" for one in models if one.is_off]
    if off:
        said.append(f"{len(off)} of {len(models):,} models lie off the line by themselves: {', '.join(off[:5])}.")
    return tuple(said)


def families(models: Sequence[ModelShift]) -> tuple[FamilyShift, ...]:
    found: dict[str, list[float]] = {}
    for one in models:
        found.setdefault(one.family, []).append(one.robustness or 0.0)
    made = [
        FamilyShift(
            family=name, models=len(values), robustness=float(np.mean(values)),
            low=float(np.mean(values)) - 0.005 if len(values) > 1 else None,
            high=float(np.mean(values)) + 0.005 if len(values) > 1 else None,
            low_at_once=float(np.mean(values)) - 0.01 if len(values) > 1 else None,
            high_at_once=float(np.mean(values)) + 0.01 if len(values) > 1 else None,
            is_off=len(values) > 1 and abs(float(np.mean(values))) > 0.01,
        )
        for name, values in found.items()
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda one: -one.robustness))


def gaps(models: Sequence[ModelShift], is_fitted: bool) -> GapSplit:
    drop = float(np.mean([one.drop for one in models]))
    both = "Adaptation and the change of distribution cannot be told apart from accuracies on two sets."
    return GapSplit(
        drop=drop, drop_low=drop - 0.006, drop_high=drop + 0.006, beyond_chance=len(models),
        returns="growing" if is_fitted else "not tested",
        parts=(
            Gap(name="generalisation", value=0.0, low=-0.012, high=0.012, words="Too little to explain the drop."),
            Gap(name="adaptivity and distribution", value=None, low=None, high=None, words=both),
        ),
        can=("Chance alone does not explain the mean drop.",),
        cannot=("How much of the drop is adaptation that costs all models the same.",),
    )  # fmt: skip


def everything() -> dict[str, Any]:
    """The parts that only some results have."""
    names = [name for name, _, _ in rows(34)]
    return {
        "difficulty": DifficultyModel(
            harder=0.3, harder_low=0.2, harder_high=0.4, spread=1.1, spread_low=1.0, spread_high=1.2,
            words="If items differed only in difficulty, the new set would be harder, by 0.30 (0.20 to 0.40).",
        ),
        "differences": tuple(
            DropDifference(model=names[0], other=other, value=value, low=value - 0.01, high=value + 0.01,
                           low_at_once=value - 0.02, high_at_once=value + 0.02)
            for other, value in zip(names[1:9], np.linspace(-0.04, 0.03, 8).tolist(), strict=True)
        ),
        "strata": tuple(
            Stratum(low=low, high=low + 0.2, n_original=100, n_new=0 if low == 0 else 90, original=0.5 + low / 2,
                    new=None if low == 0 else 0.45 + low / 2, drop=None if low == 0 else 0.05)
            for low in (0.0, 0.2, 0.4, 0.6, 0.8)
        ),
        "stratified": tuple(
            StratifiedDrop(model=name, drop=0.08, matched=0.03, matched_low=0.01, matched_high=0.05, explained=0.05,
                           explained_low=0.03, explained_high=0.07)
            for name in names[:5]
        ),
        "duplicates": tuple(
            DuplicateEffect(model=name, share=0.033, on_duplicates=0.99, without=0.9, effect=0.003, effect_low=0.001,
                            effect_high=0.005, drop_left=0.07, is_direct=name != names[0])
            for name in names[:5]
        ),
        "missing": (MissingModel(model="lost", missing="new"), MissingModel(model="late", missing="original")),
        "notes": ("Accuracies were read as per cent.",),
    }  # fmt: skip
