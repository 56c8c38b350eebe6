"""People together: what most of them say, as one more participant."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.participants.sample import NO_LABEL, Participants

TOGETHER = "people together"


def plurality(first: Int[Array, "R n"], further: Int[Array, "R n 5"] | None = None) -> Int[Array, " n"]:
    """The label that most people give first; NO_LABEL if nobody gives one.

    Ties go to the label that more people list at all, and then to the lowest class number: a rule that depends neither
    on the order of the people nor on what is right.
    """
    support = np.full(first.shape, NO_LABEL, np.int64)
    for row, labels in enumerate(first):
        votes = (first == labels).sum(axis=0)
        listed = 0 if further is None else (further == labels[:, None]).any(axis=2).sum(axis=0)
        support[row] = np.where(labels == NO_LABEL, NO_LABEL, votes * (len(first) + 1) + listed)
    most = support.max(axis=0, initial=NO_LABEL)
    highest = first.max(initial=NO_LABEL)
    found = np.where(support == most, first, highest).min(axis=0, initial=highest)
    return np.where(most == NO_LABEL, NO_LABEL, found)


def with_people_together(participants: Participants) -> tuple[Participants, bool]:
    """The participants and, if at least two people answer, what most people say; and whether it was added.

    People together count as asked where anybody was. Their alternative is what most people say without escape hatches.
    """
    people = participants.is_person
    asked = participants.asked[people]
    if asked.any(axis=1).sum() < 2:
        return participants, False
    first = np.where(asked, participants.first[people], NO_LABEL)
    further = None if participants.top5 is None else np.where(asked[..., None], participants.top5[people], NO_LABEL)
    label = plurality(first, further)
    alternative = None
    if participants.alternative is not None:
        imputed = plurality(np.where(asked, participants.imputed[people], NO_LABEL), further)
        alternative = np.where(imputed != label, imputed, NO_LABEL)

    def more(array: np.ndarray | None, row: np.ndarray | None) -> np.ndarray | None:
        return None if array is None or row is None else np.concatenate([array, row[None]])

    unknown = None if participants.top5 is None else np.full(participants.top5.shape[1:], NO_LABEL)
    silent = None if participants.seconds is None else np.full(len(label), np.nan)
    grown = Participants(
        (*participants.names, TOGETHER),
        np.append(people, False),
        np.concatenate([participants.label, label[None]]),
        more(participants.top5, unknown),
        more(participants.alternative, alternative),
        np.concatenate([participants.asked, asked.any(axis=0)[None]]),
        more(participants.seconds, silent),
    )
    return grown, True
