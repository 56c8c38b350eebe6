"""failures: where each classifier fails, from all verdicts and all models' predictions of the judged items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.judged import LABELS
from dissensus.competition.task import Evaluation
from dissensus.failures import Terms, Trials, confusions_of, counted_pairs, failures_of, other_models
from dissensus.records import NO, OPEN, YES, Failure, Failures, Selection
from dissensus.steps.workspace import Workspace
from dissensus.store.tables import open_table, read_rows
from dissensus.tasks.labels.outcomes import LabelStates, lost_with_their_item
from dissensus.tasks.labels.settings import LabelSettings

TERMS = Terms(
    "item",
    "is wrong on",
    "items that show the class {}",
    "The judged items were chosen because models disagree on them, so these shares are not error rates on the pool.",
)


def label_failures(work: Workspace[LabelSettings], evaluation: Evaluation[Selection, LabelStates]) -> Failures:
    """Every prediction that people judged to be wrong, for each model that made it, whoever was asked about it."""
    keys, verdicts = evaluation.keys, evaluation.states.state
    verdicts = np.where(lost_with_their_item(verdicts, keys), OPEN, verdicts)
    items = np.unique(keys[np.isin(verdicts, (YES, NO)), 0])
    labels, confidence = predictions_of(work, evaluation.models, items)
    state = judged_labels(keys, verdicts, items[:, None], labels)
    known, failed = np.isin(state, (YES, NO)), state == NO
    truths = true_classes(keys, verdicts, items, work.classes.names)
    shown = sorted({name for one in truths for name in one})
    groups = {name: np.array([name in one for one in truths], bool) for name in shown}
    is_shown = np.array([bool(one) for one in truths], bool)
    trials = Trials(evaluation.models, failed, known, groups, comparable=is_shown)
    cases = []
    for model, name in enumerate(evaluation.models):
        for row in np.flatnonzero(known[:, model] & failed[:, model]).tolist():
            sure = None if np.isnan(confidence[row, model]) else float(confidence[row, model])
            others = other_models(evaluation.models, known[row], failed[row], model)
            cases.append(
                Failure(
                    model=name,
                    item=evaluation.item_ids[int(items[row])],
                    severity=_right_share(others) if sure is None else sure,
                    predicted=work.classes.names[int(labels[row, model])],
                    true=" or ".join(truths[row]),
                    confidence=sure,
                    **others,
                )
            )
    pairs = counted_pairs(cases)
    confusions = [one for name in evaluation.models for one in confusions_of(name, pairs.get(name, {}))]
    return failures_of("labels", trials, cases, confusions, TERMS)


def _right_share(others: Mapping[str, Sequence[str]]) -> float:
    """The share of the other judged models that are right: what sorts the errors of a model without confidences."""
    return len(others["right"]) / max(len(others["right"]) + len(others["wrong"]), 1)


def predictions_of(
    work: Workspace[LabelSettings], models: Sequence[str], items: Int[Array, " n"]
) -> tuple[Array, Array]:
    """Every model's labels of some items in ascending order, and its confidences; NaN where a model gives none."""
    labels, confidence = np.zeros((len(items), len(models)), np.int64), np.full((len(items), len(models)), np.nan)
    for column, name in enumerate(models if len(items) else ()):
        read = read_rows(open_table(work.folder.predictions(name)), items, ["label", "confidence"])
        labels[:, column] = read["label"]
        if "confidence" in read:
            confidence[:, column] = read["confidence"]
    return labels, confidence


def judged_labels(
    keys: Int[Array, "q 2"], verdicts: Int[Array, " q"], items: Int[Array, "n 1"], labels: Int[Array, "n M"]
) -> Int[Array, "n M"]:
    """The verdict on every model's label of an item; OPEN where nobody was asked. `keys` are sorted."""
    asked, wanted = keys[:, 0] * LABELS + keys[:, 1], items * LABELS + labels
    place = np.minimum(np.searchsorted(asked, wanted), max(len(asked) - 1, 0))
    if not len(asked):
        return np.full(wanted.shape, OPEN)
    found: Int[Array, "n M"] = np.where(asked[place] == wanted, verdicts[place], OPEN)
    return found


def true_classes(
    keys: Int[Array, "q 2"], verdicts: Int[Array, " q"], items: Int[Array, " n"], names: Sequence[str]
) -> list[list[str]]:
    """The classes that people see in each item; empty where no predicted class is right."""
    found: dict[int, list[str]] = {int(item): [] for item in items}
    for item, label in keys[verdicts == YES].tolist():
        found[item].append(names[label])
    return list(found.values())
