"""The main answer about two test sets in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import spearmanr

from dissensus.errors import as_sentence, some
from dissensus.proportions import points
from dissensus.records import DifficultyModel, FamilyShift, GapSplit, MissingModel, ModelShift
from dissensus.transfer.difficulty import Difficulty
from dissensus.transfer.fits import Lines

CLEAR = 0.975
"""Share of resamples from which on one scale is said to fit better."""


def main_answer(
    models: Sequence[ModelShift],
    gaps: GapSplit,
    lines: Lines | None,
    no_fit: str,
    families: Sequence[FamilyShift],
    missing: Sequence[MissingModel],
    names: tuple[str, str],
) -> tuple[str, ...]:
    """What happens to accuracies, what the line says, what happens to the order, and who is off the line."""
    found = [_drop(models, gaps, names), _order(models)]
    if lines is not None:
        found.insert(1, _slope(lines, gaps, names))
        found += [scales_in_words(lines)] if len(lines.lines) > 1 else []
        found += _off(models, families)
    if no_fit:
        found.append(as_sentence(no_fit))
    if missing:
        found.append(_missing(missing, names))
    return tuple(found)


def scales_in_words(lines: Lines) -> str:
    """Which scale predicts unseen models better, and whether that is clear."""
    linear, probit = (100 * line.error for line in lines.lines)
    sizes = f"typical error for a model it has not seen: linear {linear:.2f} points, probit {probit:.2f}"
    share = lines.share or 0.0
    if share >= CLEAR:
        return f"The {lines.better} scale fits better ({sizes}; better in {_percent(share)} of resamples)."
    return f"Neither scale clearly fits better ({sizes}; {lines.better} is better in {_percent(share)} of resamples)."


def difficulty_in_words(found: Difficulty) -> DifficultyModel:
    """The Gaussian difficulty model as a record."""
    low, high = found.harder_ends
    is_clear = low > 0 or high < 0
    way = ("harder" if found.harder > 0 else "easier") if is_clear else "neither clearly harder nor easier"
    wide, narrow = found.spread_ends[0] > 1, found.spread_ends[1] < 1
    varied = "more varied" if wide else "less varied" if narrow else "about as varied"
    words = (
        f"If items differed only in difficulty, the new set would be {way}: its mean difficulty differs by "
        f"{found.harder:z.2f} ({low:z.2f} to {high:z.2f}) of the original’s spread, and difficulties would be {varied} "
        f"(spread × {found.spread:.2f}, {found.spread_ends[0]:.2f} to {found.spread_ends[1]:.2f})."
    ).replace("-", "−")
    if not found.has_items:
        words += " Chance in drawing the items is left out, since the numbers of items are unknown."
    return DifficultyModel(
        harder=found.harder,
        harder_low=low,
        harder_high=high,
        spread=found.spread,
        spread_low=found.spread_ends[0],
        spread_high=found.spread_ends[1],
        words=words,
    )


def _drop(models: Sequence[ModelShift], gaps: GapSplit, names: tuple[str, str]) -> str:
    many = len(models)
    said = points(abs(gaps.drop), *_sorted_ends(gaps))
    way = "lower" if gaps.drop >= 0 else "higher"
    beginning = (
        f"Accuracy is {said} {way} on the {names[1]} set than on the {names[0]} one"
        f"{f', on average over {many:,} models' if many > 1 else ''}"
    )
    if gaps.beyond_chance is None:
        return f"{beginning}; how much of it is chance is unknown without the numbers of items."
    if many == 1:
        return f"{beginning}; {'more than' if gaps.beyond_chance else 'no more than'} chance explains."
    each = {many: "all", 0: "none"}.get(gaps.beyond_chance, f"{gaps.beyond_chance:,}")
    verb = "differs" if gaps.beyond_chance in (0, 1) else "differ"
    return f"{beginning}; taken together, {each} of them {verb} by more than chance explains."


def _sorted_ends(gaps: GapSplit) -> tuple[float | None, float | None]:
    """The ends of the drop's interval, as those of its absolute value if it is negative."""
    if gaps.drop_low is None or gaps.drop_high is None:
        return None, None
    return (gaps.drop_low, gaps.drop_high) if gaps.drop >= 0 else (-gaps.drop_high, -gaps.drop_low)


def _slope(lines: Lines, gaps: GapSplit, names: tuple[str, str]) -> str:
    line = lines.lines[0]
    said = f"A point of accuracy on the {names[0]} set goes with {line.slope:.2f} points on the {names[1]} one"
    meaning = {
        "growing": "no sign of diminishing returns, as overfitting of the original set would cause",
        "diminishing": "returns diminish, which overfitting of the original set would cause, among other things",
        "undecided": "whether returns diminish is not decided",
    }[gaps.returns]
    low, high = line.slope_ends
    ends = f"{low:.2f} to {high:.2f} for other models like these"
    if line.item_errors is not None:
        low, high = line.slope_ends_with_items
        ends += f", {low:.2f} to {high:.2f} if the items were others, too"
    return f"{said} ({ends}; R² {line.r2:.2f}): {meaning}.".replace("-", "−")


def _order(models: Sequence[ModelShift]) -> str:
    if len(models) < 2:
        return "With one model, there is no order to compare."
    moved = max(models, key=lambda one: abs(one.rank_change))
    if not moved.rank_change:
        return "The order of the models is the same on both sets."
    way = "up" if moved.rank_change > 0 else "down"
    same = sum(not one.rank_change for one in models)
    said = (
        f"{same:,} of {len(models):,} models keep their rank; {moved.model} moves most, from {moved.rank_original} "
        f"{way} to {moved.rank_new}"
    )
    sides = [one.original for one in models], [one.new for one in models]
    if len(models) > 2 and all(len(set(side)) > 1 for side in sides):
        said += f" (rank correlation {float(spearmanr(*sides)[0]):z.2f})".replace("-", "−")
    return f"{said}."


def _off(models: Sequence[ModelShift], families: Sequence[FamilyShift]) -> list[str]:
    off = sorted((one for one in families if one.is_off), key=lambda one: -abs(one.robustness))
    found = []
    for is_above in (True, False):
        some_off = [one for one in off if (one.robustness > 0) == is_above]
        if some_off:
            each = ", ".join(f"{one.family} ({_signed(one.robustness)})" for one in some_off[:5])
            more = f" and {len(some_off) - 5} more" if len(some_off) > 5 else ""
            way = "above the line (more robust than their accuracy predicts)" if is_above else "below the line"
            found.append(f"Families {way}, in points: {each}{more}.")
    alone = [one for one in models if one.is_off]
    if alone:
        alone.sort(key=lambda one: -abs(one.robustness or 0))
        each = some([f"{one.model} ({_signed(one.robustness or 0)})" for one in alone])
        found.append(f"{len(alone):,} of {len(models):,} models lie off the line by themselves: {each}.")
    return found


def _missing(missing: Sequence[MissingModel], names: tuple[str, str]) -> str:
    each = []
    for side, name in (("original", names[0]), ("new", names[1]), ("both", "either")):
        some_missing = [one.model for one in missing if one.missing == side]
        if some_missing:
            each.append(f"{some(some_missing)} ({'no accuracy on' if side == 'both' else 'not on'} the {name} set)")
    count = f"{len(missing):,} model{'s are' if len(missing) > 1 else ' is'}"
    return f"{count} not compared: {'; '.join(each)}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.9995 else "all but a few" if share < 1 else "100 %"


def _signed(value: float) -> str:
    """A difference in points with its sign."""
    return f"{100 * value:+z.1f}".replace("-", "−")
