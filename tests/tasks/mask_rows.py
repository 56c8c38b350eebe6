"""Small rounds of images, made by hand or by chance, and what people said about them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.competition import judged
from dissensus.competition.judged import Judged
from dissensus.inquiry import NumericAnswers
from dissensus.records import JUDGED, MaskSelection
from dissensus.tasks.masks.judging import contests_in, mask_round
from dissensus.tasks.masks.standings import Choices, MaskEvidence

Row = tuple[int, int, int, int, int]
"""attacker, defender, category, rank, item"""


def images_of(rows: Iterable[Row], k: int = 1) -> MaskSelection:
    rows = list(rows)
    attacker, defender, category, rank, item = np.array(rows, np.int64).reshape(-1, 5).T
    nothing = np.zeros(len(rows))
    return MaskSelection(attacker, defender, category, rank, rank > k, item, nothing, nothing)


def full_round(models: int, categories: int, seed: int = 0, k: int = 1, reserves: int = 0, items: int = 1000):
    """So many different images in every category of every duel."""
    rng = np.random.default_rng(seed)
    rows = []
    for attacker in range(models):
        for defender in range(models):
            if attacker != defender:
                chosen = rng.choice(items, (categories, k + reserves), replace=False).tolist()
                rows += [
                    (attacker, defender, category, rank, item)
                    for category, group in enumerate(chosen, start=1)
                    for rank, item in enumerate(group, start=1)
                ]
    return images_of(rows, k)


def by_item(selection: MaskSelection) -> np.ndarray:
    """Questions about images: one number for each."""
    return np.unique(selection.item, return_inverse=True)[1]


def by_pair(selection: MaskSelection) -> np.ndarray:
    """Questions about two predictions of an image: one number for each."""
    low = np.minimum(selection.attacker, selection.defender)
    high = np.maximum(selection.attacker, selection.defender)
    return np.unique(np.stack([selection.item, low, high], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def judge(
    selection: MaskSelection, number: np.ndarray, state: np.ndarray, k: int, share: float = 0.0
) -> Judged[MaskSelection]:
    """What the states of a round's questions come to; `number` is the question of each row."""
    return judged.judge(mask_round(selection, number, k), state, share)


def scores_of(selection: MaskSelection, number: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """How well every model does on every question, from how attackers and defenders do on every row.

    Where several rows are about one question, the last of them counts.
    """
    models = int(max(selection.attacker.max(initial=0), selection.defender.max(initial=0))) + 1
    scores = np.zeros((int(number.max(initial=-1)) + 1, models))
    scores[number, selection.attacker], scores[number, selection.defender] = ours, theirs
    return scores


def items_of(selection: MaskSelection, number: np.ndarray) -> np.ndarray:
    """The item of every question."""
    items = np.zeros(int(number.max(initial=-1)) + 1, np.int64)
    items[number] = selection.item
    return items


def truth_evidence(selection: MaskSelection, ours: np.ndarray, theirs: np.ndarray, k: int = 1) -> MaskEvidence:
    """All rows judged, with these scores of the attacker and of the defender."""
    number = by_item(selection)
    found = judge(selection, number, np.full(int(number.max(initial=-1)) + 1, JUDGED), k)
    return MaskEvidence(contests_in(found, scores_of(selection, number, ours, theirs)), items_of(selection, number))


def choice_evidence(selection: MaskSelection, for_attacker: np.ndarray, people: int, seed: int = 1) -> MaskEvidence:
    """People who choose the attacker's map with these probabilities; one of two duels on the same image decides."""
    rng = np.random.default_rng(seed)
    number, is_first = by_pair(selection), selection.attacker < selection.defender
    likely = np.zeros(int(number.max()) + 1)
    likely[number] = np.where(is_first, for_attacker, 1 - for_attacker)
    question = np.repeat(np.arange(len(likely)), people)
    value = (rng.random(len(question)) < likely[question]).astype(float)
    share = np.bincount(question, value) / people
    ours = np.where(is_first, share[number], 1 - share[number])
    found = judge(selection, number, np.full(len(likely), JUDGED), int(selection.rank.max()))
    contests = contests_in(found, scores_of(selection, number, ours, 1 - ours))
    person = np.tile(np.arange(people), len(likely))
    told = NumericAnswers(question, person, value, tuple(map(str, range(people))))
    return MaskEvidence(contests, items_of(selection, number), Choices(told, is_first[found.decided]))
