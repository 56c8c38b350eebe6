"""The result in sentences: are people better than the best model, where, and are they more robust?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import some
from dissensus.participants.sample import NO_LABEL, Images, Participants
from dissensus.participants.tables import BETWEEN, MODELS, PEOPLE
from dissensus.proportions import p_text, points
from dissensus.records import AccuracyGap, HumanResult, ParticipantAccuracy, PersonTime, SubsetTest


def main_answer(result: HumanResult) -> tuple[str, ...]:
    """What there is to say, the most important first."""
    people = [one for one in result.standings() if one.kind == "person"]
    models = [one for one in result.standings() if one.kind == "model"]
    found: list[str] = []
    if people and models:
        found += [_headline(result, len(people)), _best(result)]
        found += _robustness(result)
    elif people or models:
        found.append(_alone(result, people or models, "person" if people else "model"))
    else:
        found.append("Nobody has answered an image that counts yet.")
    found += _subsets(result)
    found += _order(result)
    found += [careless_words(one) for one in result.people if one.is_careless]
    found += _missed(result, bool(people), bool(models))
    return tuple(found)


def better_people(result: HumanResult, test_set: str) -> list[str]:
    """People who are really above every model on a test set, all pairs looked at together."""
    models = {one.participant for one in result.standings(test_set) if one.kind == "model"}
    people = {one.participant for one in result.standings(test_set) if one.kind == "person"}
    return sorted(_above_all(result, test_set, people, models))


def better_models(result: HumanResult, test_set: str) -> list[str]:
    """Models that are really above every person on a test set."""
    models = {one.participant for one in result.standings(test_set) if one.kind == "model"}
    people = {one.participant for one in result.standings(test_set) if one.kind == "person"}
    return sorted(_above_all(result, test_set, models, people))


def _above_all(result: HumanResult, test_set: str, these: set[str], those: set[str]) -> list[str]:
    won = dict.fromkeys(these, 0)
    for one in result.pairs:
        is_theirs = (one.metric, one.test_set) == (result.metric, test_set)
        if is_theirs and one.is_decided and one.first in these and one.second in those:
            won[one.first] += 1
    return [name for name, count in won.items() if those and count == len(those)]


def _headline(result: HumanResult, people: int) -> str:
    above = {name: len(better_people(result, name)) for name in result.test_sets}
    below = {name: len(better_models(result, name)) for name in result.test_sets}
    if not any(above.values()) and any(below.values()):
        each = _by_set({name: f"{count:,}" for name, count in below.items()})
        return f"People do not beat the models: models that are really better than everyone: {each}."
    if not any(above.values()):
        where = "on any of the test sets" if len(above) > 1 else "here"
        return f"Nobody is really better than the best model {where}, nor is any model really better than everyone."
    counts = {name: _of(count, people) for name, count in above.items()}
    most = max(above, key=lambda name: above[name])
    verb = "is" if above[most] == 1 else "are"
    if len(counts) == 1 or len(set(counts.values())) == 1:
        where = "" if len(counts) == 1 else " on every test set"
        return f"{_upper(counts[most])} {verb} really better than every model{where}."
    rest = ", ".join(f"{_of(above[name], people)} on the {name} set" for name in counts if name != most)
    return f"On the {most} set, {counts[most]} {verb} really better than every model; {rest}."


def _of(count: int, people: int) -> str:
    if people == 1:
        return "the one person" if count else "nobody"
    return {0: "nobody", people: f"all {people} people"}.get(count, f"{count} of {people} people")


def _by_set(said: dict[str, str]) -> str:
    if len(said) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{words} on the {name} set" for name, words in said.items())


def _best(result: HumanResult) -> str:
    each = []
    for name in result.test_sets:
        people = [one for one in result.standings(name) if one.kind == "person"]
        models = [one for one in result.standings(name) if one.kind == "model"]
        if not people or not models:
            continue
        middle = float(np.median([one.accuracy or 0 for one in people]))
        where = f"On the {name} set, the" if len(result.test_sets) > 1 else "The"
        person = f"{people[0].participant} gets {_share(people[0])} right"
        median = f", the median person {100 * middle:.1f} %" if len(people) > 2 else ""
        shared = _on_shared(result, name, people[0], models[0])
        each.append(
            f"{where} best model is {models[0].participant} with {_share(models[0])}; {person}{median}{shared}."
        )
    return " ".join(each)


def _on_shared(result: HumanResult, test_set: str, person: ParticipantAccuracy, model: ParticipantAccuracy) -> str:
    """How both compare on the images that both were asked about, if they were not asked about the same ones."""
    names = person.participant, model.participant
    for one in result.pairs:
        if (one.metric, one.test_set) == (result.metric, test_set) and {one.first, one.second} == set(names):
            if person.count == model.count == one.count:
                return ""
            apart = points(one.difference, one.low, one.high)
            more = (
                f", {one.first} gets {apart} more than {one.second}" if one.difference else ", both get as many right"
            )
            return f"; on the {one.count:,} images that both were asked about{more}"
    return "; they were not asked about the same images"


def _share(one: ParticipantAccuracy) -> str:
    low, high = one.low or 0, one.high or 0
    return f"{100 * (one.accuracy or 0):.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def _robustness(result: HumanResult) -> list[str]:
    found = []
    for one in result.gaps:
        if one.metric != result.metric or one.participant != BETWEEN:
            continue
        sides = {
            gap.participant: gap
            for gap in result.gaps
            if (gap.metric, gap.second_set) == (one.metric, one.second_set) and gap.kind == "mean"
        }
        gaps = [gap for gap in result.gaps if (gap.metric, gap.second_set) == (one.metric, one.second_set)]
        people, models = (sum(gap.kind == kind for gap in gaps) for kind in ("person", "model"))
        claim = "It is not decided which are more robust"
        if one.high < 0:
            claim = f"These {people:,} people are more robust" if people > 1 else "This person is more robust"
        elif one.low > 0:
            claim = f"These {models:,} models are more robust" if models > 1 else "This model is more robust"
        more, ends = ("people", (one.low, one.high)) if one.gap > 0 else ("models", (-one.high, -one.low))
        found.append(
            f"From the {one.first_set} to the {one.second_set} set, people {_lost(sides[PEOPLE])} on average and "
            f"models {_lost(sides[MODELS])}. {claim}: {more} lose {points(abs(one.gap), *ends)} more."
        )
    return found


def _lost(one: AccuracyGap) -> str:
    if one.gap >= 0:
        return f"lose {points(one.gap, one.low, one.high)}"
    return f"gain {points(-one.gap, -one.high, -one.low)}"


def _alone(result: HumanResult, standings: Sequence[ParticipantAccuracy], what: str) -> str:
    best = standings[0]
    if len(standings) == 1:
        return (
            f"{best.participant} gets {_share(best)} right by {result.metric} accuracy, with nobody to compare it to."
        )
    place = next(
        one
        for one in result.ranks
        if (one.participant, one.metric, one.test_set) == (best.participant, result.metric, result.main_set)
    )
    above = {
        one.second
        for one in result.pairs
        if (one.metric, one.test_set, one.first) == (result.metric, result.main_set, best.participant)
        and one.is_decided
    }
    start = f"The best {what} by {result.metric} accuracy is {best.participant} with {_share(best)}"
    if place.rank_high == 1:
        return f"{start}; it is really above all {len(standings) - 1:,} others, all pairs looked at together."
    like = [one.participant for one in standings[1:] if one.participant not in above]
    return f"{start}, but {some(like)} may be as good or better."


def _subsets(result: HumanResult) -> list[str]:
    found = []
    for subset in dict.fromkeys(one.subset for one in result.subset_tests):
        rows = {
            one.participant: one
            for one in result.subset_tests
            if (one.subset, one.test_set) == (subset, result.main_set) and one.kind in ("mean", "difference")
        }
        said = [
            f"{word} {_change(rows[name])}" for name, word in ((PEOPLE, "people"), (MODELS, "models")) if name in rows
        ]
        if not said or min(one.p_adjusted for one in rows.values()) >= 1 - result.level:
            continue
        end = ""
        if BETWEEN in rows:
            one = rows[BETWEEN]
            clear = one.p_adjusted < 1 - result.level
            way = "in favour of" if one.change > 0 else "against"
            end = f": it shifts by {points(abs(one.change))} {way} people" if clear else ""
        found.append(f"On {subset!r}, {' and '.join(said)}{end}.".replace("'", "‘", 1).replace("'", "’", 1))
    return found


def _change(one: SubsetTest) -> str:
    way = "gain" if one.change >= 0 else "lose"
    return f"{way} {points(abs(one.change))} ({p_text(one.p_adjusted)})"


def _order(result: HumanResult) -> list[str]:
    if len(result.order) < 2:
        return []
    moved = sum(one.rank_change != 0 for one in result.order)
    tau = "" if result.kendall_tau is None else f" (Kendall’s τ {result.kendall_tau:.2f})".replace("-", "−")
    if not moved:
        return [f"Multi-label accuracy leaves everybody’s rank as it is by top-1{tau}."]
    decided = sum(one.is_decided for one in result.reversals)
    said = (
        f"Multi-label accuracy changes the rank of {moved:,} of {len(result.order):,} participants against top-1{tau}"
    )
    end = f"; {_reversed(len(result.reversals), sum(one.is_clear for one in result.reversals), decided)}."
    favoured = sorted((one for one in result.order if one.is_favoured), key=lambda one: -abs(one.gain))
    if not favoured:
        return [said + end]
    sides = []
    for verb, is_up in (("favours", True), ("hurts", False)):
        some_moved = [f"{one.participant} ({points(one.gain)})" for one in favoured if (one.gain > 0) == is_up]
        if some_moved:
            sides.append(f"{verb} {some(some_moved)}")
    return [said + end, f"Against the mean of all participants, multi-label accuracy {' and '.join(sides)}."]


def _reversed(pairs: int, clear: int, decided: int) -> str:
    """How many pairs change order, and for how many that is more than chance."""
    if not pairs:
        return "they only tie with others, and no pair changes order"
    if not clear:
        return f"{'1 pair changes' if pairs == 1 else f'{pairs:,} pairs change'} order, no more than by chance"
    if pairs == 1:
        return f"1 pair changes order by more than chance{', and is decided both ways' if decided else ''}"
    end = f"{decided:,} {'is' if decided == 1 else 'are'} decided both ways" if decided else "none is decided both ways"
    return f"{pairs:,} pairs change order, {clear:,} of them by more than chance, and {end}"


def careless_words(one: PersonTime) -> str:
    """Who is fast and careless, and why we think so."""
    if one.accuracy_hasty is None or one.others_hasty is None:
        return f"{one.person} answered {one.hasty:,} of {one.timed:,} images implausibly fast."
    return (
        f"{one.person} looks fast and careless: {one.hasty:,} of {one.timed:,} answers took less than a quarter of the "
        f"others’ time or half a second, and on these images {one.person} is right in {100 * one.accuracy_hasty:.1f} % "
        f"and the others in {100 * one.others_hasty:.1f} % ({p_text(one.p_holm)}). "
        "Nobody is excluded automatically."
    )


def _many(number: int) -> str:
    return f"{number:,}" if number else "none"


def _missed(result: HumanResult, has_people: bool, has_models: bool) -> list[str]:
    count = {
        who: sum(one.missed_by == who for one in result.missed) for who in ("everybody", "all people", "all models")
    }
    both = count["everybody"] if has_people and has_models else 0
    said = []
    if has_models:
        said.append(f"all models miss {_many(count['all models'] + both)}")
    if has_people:
        said.append(f"all people miss {_many(count['all people'] + both)}")
    if has_people and has_models:
        said.append(f"everybody misses {_many(both)}")
    asked = max((one.count for one in result.standings() if one.kind in ("person", "people together")), default=0)
    part = f", {asked:,} of which people were asked about" if has_people and asked < result.images else ""
    images = "image" if result.images == 1 else "images"
    return [f"Of {result.images:,} {images}{part}, {', '.join(said)}."] if said else []


def notes_of(
    participants: Participants,
    images: Images,
    kept: Bool[Array, " n"],
    problematic: Bool[Array, " n"],
    rightless: int,
    unjudged: Bool[Array, "P n"],
    keeps_problematic: bool,
) -> tuple[str, ...]:
    """What was left out and what counts as wrong."""
    notes = []
    if rightless:
        notes.append(f"{rightless:,} of {len(images.items):,} images without a right label are left out of everything.")
    if problematic.any():
        wrong = int((images.is_mislabelled & problematic).sum())
        done = "are kept" if keeps_problematic else "are left out"
        notes.append(
            f"{int(problematic.sum()):,} problematic images {done}; {wrong:,} of them have a wrong original label."
        )
    counts = participants.asked & kept
    if (counts[counts.any(axis=1)] != counts.any(axis=0)).any():
        notes.append(
            "Not everybody was asked about the same images: an accuracy is of the participant’s own images, while "
            "pairs are compared on the images they share, so that the two may order participants differently."
        )
    silent = participants.asked & kept & (participants.first == NO_LABEL)
    if silent.any():
        notes.append(f"{int(silent.sum()):,} answers without any label (skipped, or ‘none of these’) count as wrong.")
    hatch = 0
    if participants.alternative is not None:
        has_none = participants.asked & kept & (participants.label == NO_LABEL)
        hatch = int((has_none & (participants.alternative >= 0)).sum())
    if hatch:
        notes.append(f"{hatch:,} answers of ‘none of these’ with a nearest class count as that class.")
    if (unjudged & kept).any():
        notes.append(f"{int((unjudged & kept).sum()):,} first labels that nobody reviewed count as wrong: review them.")
    return tuple(notes)


def _upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
