"""Which candidates get in: the three strategies of the thesis (2.3, 2.8.1.2), class by class.

A strategy fills the places of a class. Images that are kept from an earlier revision hold theirs; the gaps are filled
from the pool, in an order that depends on the seed and the image alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dissensus.replicas.chance import chance
from dissensus.replicas.rounding import largest_remainders

BINS = 5
THRESHOLD = 0.7


@dataclass(frozen=True)
class Candidate:
    """An image that may get in, and how many workers who count saw it and selected it."""

    item: str
    selected: int
    votes: int
    keyword: str = ""

    @property
    def frequency(self) -> Fraction:
        return Fraction(self.selected, self.votes)


@dataclass(frozen=True)
class Place:
    """An image that got in: `wanted` is the bin that it fills, `bin` its own; None for strategies without bins."""

    item: str
    selected: int
    votes: int
    keyword: str = ""
    bin: int | None = None
    wanted: int | None = None
    revision: int = 1
    """The revision in which it entered."""

    @property
    def is_from_higher_bin(self) -> bool:
        return self.bin is not None and self.bin != self.wanted


@dataclass(frozen=True)
class Filled:
    """The places of a class, and how many could not be filled, with the reason."""

    places: tuple[Place, ...]
    missing: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Wanted:
    """What a class needs: how many images, and how the originals were selected, as (selected, votes)."""

    count: int
    originals: Sequence[tuple[int, int]] = ()
    bins: int = BINS
    threshold: float = THRESHOLD


Strategy = Callable[[Sequence[Candidate], Wanted, Sequence[Place], int], Filled]
"""Candidates that are free, what is wanted, places that are kept, and the seed ↦ all places of the class."""


def bin_of(selected: int, votes: int, bins: int = BINS) -> int:
    """The bin of a frequency: [0, 1/5), [1/5, 2/5) … [4/5, 1]; computed with integers, so that 3 of 5 is in the
    fourth."""
    return min(selected * bins // votes, bins - 1)


def histogram(originals: Sequence[tuple[int, int]], bins: int = BINS) -> list[int]:
    """How many originals are in each bin."""
    found = [bin_of(selected, votes, bins) for selected, votes in originals]
    return [found.count(one) for one in range(bins)]


def matched_frequency(free: Sequence[Candidate], wanted: Wanted, kept: Sequence[Place], seed: int) -> Filled:
    """As many from each bin as the originals' histogram says, uniformly at random within a bin.

    When a bin runs dry, the next higher bin that still has images takes over, after all bins have served themselves;
    the highest dry bins choose first, because they have the fewest to choose from. If all higher bins are dry as well,
    the place stays empty: an image from a lower bin would make the set harder, which is what it is to find out.
    """
    if not wanted.originals:
        return Filled(tuple(kept), wanted.count - len(kept), "no original of this class has been annotated")
    targets = largest_remainders(histogram(wanted.originals, wanted.bins), wanted.count)
    return _from_bins(free, targets, kept, seed)


def _from_bins(free: Sequence[Candidate], targets: Sequence[int], kept: Sequence[Place], seed: int) -> Filled:
    bins = len(targets)
    stock: list[list[Candidate]] = [[] for _ in range(bins)]
    for one in _shuffled(free, seed, "matched"):
        stock[bin_of(one.selected, one.votes, bins)].append(one)
    gaps = _gaps(targets, kept)
    places = list(kept)
    for number, gap in enumerate(gaps):
        taken, stock[number] = stock[number][:gap], stock[number][gap:]
        gaps[number] -= len(taken)
        places += [_place(one, number, number) for one in taken]
    for number in reversed(range(bins)):
        for higher in range(number + 1, bins):
            taken, stock[higher] = stock[higher][: gaps[number]], stock[higher][gaps[number] :]
            gaps[number] -= len(taken)
            places += [_place(one, higher, number) for one in taken]
    missing = sum(gaps)
    dry = ", ".join(interval_words(number, bins) for number, gap in enumerate(gaps) if gap)
    reason = f"the candidates have run dry in {dry} and above" if missing else ""
    return Filled(tuple(places), missing, reason)


def _gaps(targets: Sequence[int], kept: Sequence[Place]) -> list[int]:
    """What each bin still lacks. If more is kept for a bin than it should have now, the others get less, so that the
    class does not grow."""
    gaps = [target - sum(one.wanted == number for one in kept) for number, target in enumerate(targets)]
    surplus = -sum(gap for gap in gaps if gap < 0)
    gaps = [max(gap, 0) for gap in gaps]
    for number in range(len(gaps)):
        less = min(surplus, gaps[number])
        gaps[number] -= less
        surplus -= less
    return gaps


def threshold(free: Sequence[Candidate], wanted: Wanted, kept: Sequence[Place], seed: int) -> Filled:
    """Uniformly at random among the candidates that at least this share of the workers selected."""
    least = Fraction(str(wanted.threshold))
    good = [one for one in _shuffled(free, seed, "threshold") if one.frequency >= least]
    return _first(good, wanted.count, kept, f"too few candidates have a frequency of {wanted.threshold:g} or more")


def top_images(free: Sequence[Candidate], wanted: Wanted, kept: Sequence[Place], seed: int) -> Filled:
    """The candidates with the highest frequencies; ties are broken by the seed, not by the number of votes."""
    best = sorted(_shuffled(free, seed, "top"), key=lambda one: -one.frequency)
    return _first(best, wanted.count, kept, "there are too few candidates")


def _first(order: Sequence[Candidate], count: int, kept: Sequence[Place], why: str) -> Filled:
    added = [_place(one, None, None) for one in order[: max(count - len(kept), 0)]]
    missing = max(count - len(kept) - len(added), 0)
    return Filled((*kept, *added), missing, why if missing else "")


STRATEGIES: dict[str, Strategy] = {"matched": matched_frequency, "threshold": threshold, "top": top_images}
NAMES = {"matched": "MatchedFrequency", "threshold": "Threshold", "top": "TopImages"}
"""The strategies as the thesis calls them."""


def matched_by_keywords(
    free: Sequence[Candidate], wanted: Wanted, kept: Sequence[Place], seed: int, targets: Mapping[str, int]
) -> Filled:
    """MatchedFrequency within every sub-class: each keyword gets its own number of images from each bin.

    What rounding takes from a bin in one sub-class is given back in the next, so that the class as a whole has its
    histogram, too.
    """
    if not wanted.originals:
        return matched_frequency(free, wanted, kept, seed)
    shares = histogram(wanted.originals, wanted.bins)
    owed = [Fraction(0)] * wanted.bins
    parts: list[Filled] = []
    for keyword in sorted(targets, key=lambda one: (-targets[one], one)):
        count = targets[keyword]
        exact = [Fraction(share * count, sum(shares)) + rest for share, rest in zip(shares, owed, strict=True)]
        given = largest_remainders([max(one, Fraction(0)) for one in exact], count)
        owed = [one - some for one, some in zip(exact, given, strict=True)]
        own = [one for one in free if one.keyword == keyword]
        part = _from_bins(own, given, [one for one in kept if one.keyword == keyword], seed)
        parts.append(replace(part, reason=f"'{keyword}': {part.reason}" if part.missing else ""))
    return together(parts)


def together(parts: Sequence[Filled]) -> Filled:
    """The places of several sub-classes as those of one class."""
    places = tuple(place for part in parts for place in part.places)
    return Filled(places, sum(part.missing for part in parts), "; ".join(filter(None, (one.reason for one in parts))))


def interval_words(number: int, bins: int = BINS) -> str:
    """A bin as an interval: '[0.2, 0.4)'."""
    end = "]" if number == bins - 1 else ")"
    return f"[{number / bins:.2g}, {(number + 1) / bins:.2g}{end}"


def _place(one: Candidate, bin_number: int | None, wanted: int | None) -> Place:
    return Place(one.item, one.selected, one.votes, one.keyword, bin_number, wanted)


def _shuffled(candidates: Sequence[Candidate], seed: int, strategy: str) -> list[Candidate]:
    return sorted(candidates, key=lambda one: (chance(seed, strategy, one.item), one.item))
