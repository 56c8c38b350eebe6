"""What people's answers say: votes on images, pairs that show the same picture, and images that reviewers removed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.inquiry import Answers
from dissensus.replicas.frequencies import Votes, frequencies
from dissensus.replicas.workers import CANDIDATE, NEARBY, SAME, Screened, counted, screen
from dissensus.shift.pages import answers_to
from dissensus.shift.replicate.collection import ORIGINAL, Collection
from dissensus.shift.replicate.grids import Task
from dissensus.shift.replicate.pairs import Pair, pair_questions
from dissensus.shift.replicate.revisions import ReviewedClass
from dissensus.steps.workspace import Workspace


def _each(answers: Answers) -> Iterator[tuple[int, int, Any]]:
    """Question, person and answer, in the order of arrival."""
    for row in np.argsort(answers.arrival, kind="stable").tolist():
        yield int(answers.question[row]), int(answers.person[row]), json.loads(answers.rows[row][3])


@dataclass(frozen=True)
class Annotations:
    """What the grids say: how many counting workers saw and selected each image of its class, and who counts."""

    people: tuple[str, ...]
    screened: tuple[Screened, ...]
    selected: Mapping[str, tuple[int, int]]
    """(selected, votes) of every candidate, and of every original in grids of its own class."""
    answers: tuple[int, ...]
    """Answers to each grid, whoever gave them."""
    grids: tuple[int, ...]
    """Grids that each person has answered."""

    @property
    def excluded(self) -> tuple[str, ...]:
        return tuple(one.reason for one in self.screened if one.reason)

    def share(self, item: str) -> float:
        """The selection frequency; −1 if it is not known, which is below all others."""
        selected, votes = self.selected.get(item, (0, 0))
        return selected / votes if votes else -1.0

    def votes(self, item: str) -> int:
        return self.selected.get(item, (0, 0))[1]


def annotated(work: Workspace[Any], tasks: Sequence[Task]) -> Annotations:
    """Votes and verdicts about workers from the answers so far."""
    answers = answers_to(work, "grid", [task.question(work) for task in tasks])
    cases: dict[tuple[int, str], int] = {}
    role: list[int] = []
    places: list[list[int]] = []
    for task in tasks:
        grid = task.grid
        for item in grid.items:
            if (grid.label, item) not in cases:
                cases[grid.label, item] = len(cases)
                role.append(SAME if item in grid.same else NEARBY if item in grid.nearby else CANDIDATE)
        places.append([cases[grid.label, item] for item in grid.items])
    image, worker, tick = _columns(answers, places)
    votes = Votes(image, worker, tick)
    roles = np.array(role, np.int64)
    screened = screen(votes, roles, len(answers.people))
    found = frequencies(votes, len(cases), counted(screened))
    selected = {
        item: (int(found.selected[case]), int(found.votes[case]))
        for (_, item), case in cases.items()
        if role[case] != NEARBY
    }
    grids = np.bincount(answers.person, minlength=len(answers.people)).tolist()
    return Annotations(
        tuple(answers.people), tuple(screened), selected, tuple(answers.counts(len(tasks)).tolist()), tuple(grids)
    )


def _columns(answers: Answers, places: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    images, workers, ticks = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for question, person, chosen in _each(answers):
        tick = np.zeros(len(places[question]), bool)
        tick[chosen] = True
        images.append(np.array(places[question], np.int64))
        workers.append(np.full(len(tick), person))
        ticks.append(tick)
    return np.concatenate(images), np.concatenate(workers), np.concatenate(ticks)


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs that people say show the same picture, and how many nobody has looked at."""

    confirmed: tuple[tuple[str, str], ...]
    open: int


def judged_pairs(work: Workspace[Any], pairs: Sequence[Pair] | None) -> JudgedPairs:
    """A pair counts as the same if at least half of those who looked at it say so: losing a candidate costs less than
    keeping a duplicate."""
    if not pairs:
        return JudgedPairs((), 0)
    questions = pair_questions(pairs)
    said: dict[tuple[str, str], list[bool]] = {}
    for number, _, chosen in _each(answers_to(work, "pairs", questions)):
        for place, (first, second) in enumerate(questions[number].body["pairs"]):
            said.setdefault((first, second), []).append(place in chosen)
    confirmed = tuple(pair for pair, votes in sorted(said.items()) if 2 * sum(votes) >= len(votes))
    return JudgedPairs(confirmed, len(pairs) - len(said))


@dataclass(frozen=True)
class Reviewed:
    """What reviewers said: images to remove, sets that show the same, and the state of each question."""

    blacklist: Mapping[str, str]
    """Why each image was blacklisted: where, with the reviewer's note."""
    sets: tuple[tuple[str, ...], ...]
    state: Mapping[str, tuple[str, str]]
    """By text of the question: 'reviewed' or 'problematic', and the notes. Problematic if one reviewer says so."""


def reviewed(work: Workspace[Any], asked: Sequence[ReviewedClass]) -> Reviewed:
    """The answers of all reviewers together: one blacklist is enough to remove an image."""
    about = {one.question.text: one for one in asked}
    texts = list(about)
    blacklist: dict[str, str] = {}
    sets: list[tuple[str, ...]] = []
    state: dict[str, tuple[str, str]] = {}
    for number, _, answer in _each(answers_to(work, "review", [one.question for one in about.values()])):
        one = about[texts[number]]
        pictures = (*one.items, *one.originals)
        note = f": {answer['note']}" if answer["note"] else ""
        revision = one.question.body["revision"]
        for place in answer["blacklist"]:
            blacklist.setdefault(pictures[place], f"blacklisted in the review of revision {revision}{note}")
        sets += [tuple(pictures[place] for place in group) for group in answer["duplicates"]]
        before, notes = state.get(texts[number], ("reviewed", ""))
        is_problem = "problematic" in (before, answer["state"])
        both = "; ".join(filter(None, (notes, answer["note"])))
        state[texts[number]] = ("problematic" if is_problem else "reviewed", both)
    return Reviewed(blacklist, tuple(sets), state)


def duplicates_to_remove(
    collection: Collection,
    sets: Iterable[Sequence[str]],
    heard: Annotations,
    removed: Mapping[str, str],
) -> dict[str, str]:
    """Which candidates of sets that show the same picture are dropped, and why.

    Candidates that show the same as an original are dropped. Of other sets, the candidate that people selected most
    often stays; of equal ones, that with the first id. Those that are removed already decide nothing.
    """
    known = collection.by_item
    alike: dict[str, set[str]] = {}
    gone: dict[str, str] = {}
    for group in sets:
        originals = [item for item in group if known[item].side == ORIGINAL]
        candidates = [item for item in group if known[item].side != ORIGINAL and item not in removed]
        if originals:
            gone |= dict.fromkeys(candidates, f"shows the same picture as the original {originals[0]}")
            continue
        for item in candidates:
            alike.setdefault(item, set()).update(other for other in candidates if other != item)
    kept: set[str] = set()
    for item in sorted(alike, key=lambda item: (-heard.share(item), item)):
        same = sorted(kept & alike[item])
        if item in gone:
            continue
        if same:
            gone[item] = f"shows the same picture as {same[0]}, which people selected at least as often"
        else:
            kept.add(item)
    return gone
