"""The models by all answers: every verdict counts in all duels that it decides, not only in those that asked for it.

This is another estimand than the paper's, whose duels have the items with *their own* largest distances. A model's
prediction counts where a duel could have asked about it:

* It has the confidence that a round asked for: otherwise a duel would be decided by predictions that the study set
  out to ignore. Where rounds differ, the lowest confidence is required.
* It is eligible. This needs no check: a label has a verdict only if some round, under its rules, asked about it.

`cap` does not apply: it spreads the questions, and all of them are already answered. Nor does `judge.share`, for no
duel is waiting for items of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dissensus.arrays import MISSING, Array, Int, UInt16
from dissensus.competition.judged import LABELS
from dissensus.competition.one_order import among, strengths
from dissensus.competition.standings import Method
from dissensus.competition.task import Evaluation
from dissensus.errors import RankingError
from dissensus.pairwise import tally
from dissensus.ranking import connected_groups, other_order
from dissensus.records import NO, OPEN, YES, AllAnswers, Outcomes, Selection
from dissensus.store.folder import Folder
from dissensus.store.tables import open_table, read_rows
from dissensus.tasks.labels.outcomes import LabelStates, lost_with_their_item


def by_all_answers(
    folder: Folder, evaluation: Evaluation[Selection, LabelStates], own: Outcomes, order: Sequence[str], method: Method
) -> AllAnswers | None:
    """The models by all answers, beside the ranking with outcomes `own` and this `order`.

    None if the answers decide nothing more than the duels that asked for them, if the method has no estimate, or if
    some duels have not reached their share: answers that only some duels asked for are about the mistakes of these
    models, and would put the others first.
    """
    names, verdicts = evaluation.models, evaluation.states.state
    for one in evaluation.judged:
        duel = one.selection.duel
        if not np.isin(duel[one.active], duel[one.decided]).all():
            return None
    items = np.unique(evaluation.keys[np.isin(verdicts, (YES, NO)), 0])
    confidence = min(found.settings["confidence"] for found in evaluation.rounds)
    labels = confident_labels(folder, names, items, confidence)
    found = decided_outcomes(labels, items, evaluation.keys, verdicts)
    if len(found) <= len(own):
        return None
    cases = tally(found, len(names))
    members = connected_groups(cases.items > 0)[0]
    try:
        strength = strengths(among(cases, np.array(members)), method)
    except RankingError:
        return None
    ordered = sorted(range(len(members)), key=lambda place: (-strength[place], members[place]))
    by_model = {names[members[place]]: float(strength[place]) for place in ordered}
    many, before = (counts[np.triu(counts) > 0].mean() for counts in (cases.items, tally(own, len(names)).items))
    words = other_order(order, [*by_model, *(name for name in order if name not in by_model)], many, before)
    return AllAnswers(strengths=by_model, items_per_duel=many, words=words)


def confident_labels(
    folder: Folder, models: Sequence[str], items: Int[Array, " n"], confidence: float
) -> UInt16[Array, "M n"]:
    """Every model's labels of some items in ascending order; MISSING where it could not read one, or is not confident.

    Models without confidences always count.
    """
    labels = np.empty((len(models), len(items)), np.uint16)
    for row, name in enumerate(models):
        read = read_rows(open_table(folder.predictions(name)), items, ["label", "confidence"])
        sure = read["confidence"] >= np.float32(confidence) if "confidence" in read else True
        labels[row] = np.where(sure, read["label"], MISSING)
    return labels


def decided_outcomes(
    labels: UInt16[Array, "M n"], items: Int[Array, " n"], keys: Int[Array, "q 2"], verdicts: Int[Array, " q"]
) -> Outcomes:
    """Which models were right wherever two of them predict different labels and both labels are judged yes or no.

    `labels` are those of the given items. `keys`, the items and labels with these verdicts, are sorted. Unfit items are
    left out, as in every duel. Ranks are zero: nothing was selected for these duels.
    """
    known, predicted = keys[:, 0] * LABELS + keys[:, 1], items * LABELS + labels
    place = np.minimum(np.searchsorted(known, predicted), len(known) - 1)
    state = np.where(lost_with_their_item(verdicts, keys), OPEN, verdicts)
    state = np.where(known[place] == predicted, state[place], OPEN)
    is_judged, is_right = np.isin(state, (YES, NO)), state == YES
    parts = []
    for one, other in combinations(range(len(labels)), 2):
        rows = np.flatnonzero(is_judged[one] & is_judged[other] & (labels[one] != labels[other]))
        first, second, rank = (np.full(len(rows), number) for number in (one, other, 0))
        parts.append(Outcomes(first, second, items[rows], rank, is_right[one, rows], is_right[other, rows]))
    return Outcomes.together(parts)
