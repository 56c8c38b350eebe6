"""The data card of a new test set: how it was made, what was left out, and how each image got in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dissensus.proportions import clopper_pearson
from dissensus.replicas.strategies import NAMES, Place, interval_words
from dissensus.report.wording import counted, percent
from dissensus.shift.replicate.collection import CANDIDATE, Collection
from dissensus.shift.replicate.revisions import KeptRevision, PairCounts
from dissensus.version import __version__

States = Mapping[int, tuple[str, str] | None]
"""By class: 'reviewed' or 'problematic' with the reviewers' notes, or None if nobody has reviewed it."""


def data_card(
    title: str, collection: Collection, revisions: Sequence[KeptRevision], files: Mapping[str, str], states: States
) -> str:
    """The card of the last of these revisions, in Markdown."""
    made = revisions[-1]
    sections = (
        [f"# {_text(title)}: {NAMES[made.strategy]}, revision {made.number}"],
        _head(collection, made, states),
        _revisions(revisions),
        _short(collection, made),
        _workers(made),
        _left_out(collection, made),
        _images(collection, made, files),
    )
    return "\n".join(line for section in sections for line in (*section, "") if section)


def frequency_of(place: Place) -> tuple[float, float, float]:
    """Selection frequency with its 95 % interval."""
    low, high = clopper_pearson(place.selected, place.votes)
    return place.selected / place.votes, float(low), float(high)


def how_it_got_in(place: Place, strategy: str, bins: int = 5) -> str:
    """In a few words: '9 of 10 workers; bin [0.8, 1], drawn for [0.6, 0.8); revision 2'."""
    seen = f"selected by {place.selected} of {place.votes} workers"
    if place.bin is not None and place.wanted is not None:
        drawn = f", drawn for {interval_words(place.wanted, bins)}" if place.is_from_higher_bin else ""
        seen += f"; bin {interval_words(place.bin, bins)}{drawn}"
    return f"{NAMES[strategy]}: {seen}; since revision {place.revision}"


def _head(collection: Collection, made: KeptRevision, states: States) -> list[str]:
    settings = made.settings
    usable = len(collection.candidates)
    filled = sum(bool(places) for places in made.places.values())
    lines = [
        f"* {counted(len(made.items), 'image')} of {counted(filled, 'class', 'classes')}, "
        f"{settings['per_class']} wanted of each of {len(made.places):,}",
        f"* drawn from {counted(usable, 'candidate')} beside {counted(len(collection.originals), 'original')}",
        f"* strategy: {_strategy(made)}",
        f"* seed {settings['seed']}; images seen by at least {counted(settings['votes'], 'worker')}",
    ]
    if made.frequency is not None:
        beside = (
            "; no original has been annotated"
            if made.original_frequency is None
            else f", that of {counted(made.annotated, 'annotated original')} is {made.original_frequency:.3f}"
        )
        lines.append(f"* mean selection frequency {made.frequency:.3f}{beside}")
    if made.expected_frequency is not None:
        lines.append(
            f"* about {made.expected_frequency:.3f} can be expected from new workers, since images were chosen by "
            "these votes and the originals were not"
        )
    if made.higher is not None:
        share = percent(made.higher / len(made.items), 1)
        lines.append(f"* {counted(made.higher, 'image')} ({share}) drawn from a higher bin than the one they fill")
    not_counted = f"of whom {len(made.excluded):,} do not count" if made.excluded else "all of whom count"
    lines.append(f"* {counted(made.workers, 'worker')}, {not_counted}")
    lines.append(f"* near-duplicates: {_pairs(made.pairs)}")
    lines.append(f"* {_reviewed(collection, states)}")
    lines.append(f"* made with dissensus {__version__}")
    return lines


def _pairs(pairs: PairCounts) -> str:
    if not pairs.is_searched and not pairs.found:
        return "not looked for"
    same = f"{pairs.confirmed:,} show the same picture according to people"
    seen = f"{counted(pairs.found, 'pair')} looked alike, of which {same}, and nobody has looked at {pairs.open:,}"
    return seen + ("" if pairs.is_searched else "; candidates that were added later have not been compared")


def _reviewed(collection: Collection, states: States) -> str:
    known = {label: state for label, state in states.items() if state is not None}
    names = collection.classes.names
    bad = [f"{_text(names[label])}{f' ({_text(note)})' if note else ''}"
           for label, (state, note) in sorted(known.items()) if state == "problematic"]  # fmt: skip
    words = f"people have reviewed {len(known):,} of {counted(len(states), 'class', 'classes')} of this revision"
    return words + (f"; problematic: {', '.join(bad)}" if bad else "")


def _strategy(made: KeptRevision) -> str:
    settings = made.settings
    words = {
        "matched": f"the histogram of the originals' selection frequencies in {settings['bins']} bins, class by class",
        "threshold": f"uniformly at random among candidates with a selection frequency of {settings['threshold']:g}"
        " or more",
        "top": "the candidates with the highest selection frequencies, ties broken by the seed",
    }
    also = "; keywords in the proportions of the originals" if settings["keywords"] else ""
    return f"{NAMES[made.strategy]} ({words[made.strategy]}{also})"


def _revisions(revisions: Sequence[KeptRevision]) -> list[str]:
    lines = ["## Revisions", "", "| revision | images | added | removed |", "| ---: | ---: | ---: | ---: |"]
    before: set[str] = set()
    for one in revisions:
        now = {*one.items}
        lines.append(f"| {one.number} | {len(now):,} | {len(now - before):,} | {len(before - now):,} |")
        before = now
    return lines


def _short(collection: Collection, made: KeptRevision) -> list[str]:
    if not made.short:
        return ["Every class has as many images as it should."]
    short = made.short_classes(collection.classes.names)
    lines = [f"* {_text(one.name)}: {one.missing:,} missing, because {_text(one.reason)}" for one in short]
    return ["## Classes that are short of images", "", *lines]


def _workers(made: KeptRevision) -> list[str]:
    if not made.excluded:
        return ["## Workers", "", "All of them count."]
    return ["## Workers who do not count", "", *(f"* one {_text(reason)}" for reason in made.excluded)]


def _left_out(collection: Collection, made: KeptRevision) -> list[str]:
    unusable = [one for one in collection.images if one.side == CANDIDATE and one.problem]
    lines = [f"| {_text(item)} | {_text(reason)} |" for item, reason in sorted(made.removed.items())]
    lines += [f"| {_text(one.item)} | {_text(one.problem)} |" for one in unusable]
    if not lines:
        return ["## Removed", "", "Nothing was removed."]
    return ["## Removed", "", "| candidate | why |", "| --- | --- |", *lines]


def _images(collection: Collection, made: KeptRevision, files: Mapping[str, str]) -> list[str]:
    lines = ["## Images", "", "| file | class | candidate | frequency (95 %) | how it got in |", "|" + " --- |" * 5]
    for label, places in sorted(made.places.items()):
        for place in sorted(places, key=lambda one: files[one.item]):
            share, low, high = frequency_of(place)
            how = how_it_got_in(place, made.strategy, made.settings["bins"])
            name = _text(collection.classes.names[label])
            seen = f"{share:.2f} ({low:.2f}–{high:.2f})"
            lines.append(f"| {files[place.item]} | {name} | {_text(place.item)} | {seen} | {how} |")
    return lines


def _text(words: str) -> str:
    """Words that somebody gave, in one line, in which nothing is markup."""
    plain = " ".join(words.split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in plain)
