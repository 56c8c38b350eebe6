"""failures: where each segmentation model fails: its worst images, and which classes it takes for which."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.failures import Terms, Trials, confusions_of, failures_of, other_models
from dissensus.predictions.maps import map_at, resized
from dissensus.records import BACKGROUND, JUDGED, VOID, Failure, Failures
from dissensus.report.masks.names import FAILS_BELOW, class_name, measure_words
from dissensus.steps.workspace import Workspace
from dissensus.tasks.masks.columns import MapColumn
from dissensus.tasks.masks.judging import MaskEvaluation, truth_at
from dissensus.tasks.masks.settings import MaskSettings

CAVEAT = (
    "The judged images were chosen because models disagree on them, so these shares say nothing about other images."
)
CHOSEN = Terms("image", "is not chosen on", "images selected for {}", CAVEAT)


def mask_failures(work: Workspace[MaskSettings], evaluation: MaskEvaluation) -> Failures:
    """Images on which a model's map scores below the threshold, or on which people preferred the other map."""
    states = evaluation.states
    is_choice = states.truths is None
    is_whole = states.known.any(axis=1) if is_choice else states.known.all(axis=1)
    rows = np.flatnonzero((states.state == JUDGED) & is_whole)
    known, scores = states.known[rows], states.scores[rows]
    failed = known & (scores < (0.5 if is_choice else FAILS_BELOW))
    if is_choice:
        groups, terms, confused = _categories(evaluation, rows, work), CHOSEN, {}
    else:
        groups = _present(evaluation, rows, work)
        measure, _ = measure_words(evaluation.rounds[-1].settings["measure"])
        terms = Terms("image", f"scores below {FAILS_BELOW} ({measure}) on", "images that show {}", CAVEAT, "pixels")
        confused = _confused(work, evaluation, rows)
    cases = []
    for model, name in enumerate(evaluation.models):
        for row in np.flatnonzero(failed[:, model]).tolist():
            most = confused[row, model].most_common(1) if (row, model) in confused else []
            predicted, true = most[0][0] if most else ("", "")
            cases.append(
                Failure(
                    model=name,
                    item=evaluation.item_ids[int(evaluation.keys[rows[row], 0])],
                    severity=float(1 - scores[row, model]),
                    predicted=predicted,
                    true=true,
                    **other_models(evaluation.models, known[row], failed[row], model),
                )
            )
    confusions = []
    for model, name in enumerate(evaluation.models):
        total: Counter[tuple[str, str]] = Counter()
        for (_, column), pairs in confused.items():
            if column == model:
                total.update(pairs)
        confusions += confusions_of(name, total)
    return failures_of("masks", Trials(evaluation.models, failed, known, groups), cases, confusions, terms)


def _present(
    evaluation: MaskEvaluation, rows: Int[Array, " I"], work: Workspace[MaskSettings]
) -> dict[str, Bool[Array, " I"]]:
    """The images whose ground truth shows each class."""
    truths = (truth_at(evaluation.states, row) for row in rows.tolist())
    shown = [set() if truth is None else set(np.unique(truth).tolist()) for truth in truths]
    labels = sorted(set().union(*shown) - {BACKGROUND, VOID})
    return {class_name(label, work.classes.names): np.array([label in one for one in shown], bool) for label in labels}


def _categories(
    evaluation: MaskEvaluation, rows: Int[Array, " I"], work: Workspace[MaskSettings]
) -> dict[str, Bool[Array, " I"]]:
    """The images selected for each category."""
    found: dict[int, set[int]] = {}
    for one in evaluation.judged:
        questions = one.round_questions.questions[one.active, 0]
        for question, category in zip(questions.tolist(), one.selection.category[one.active].tolist(), strict=True):
            found.setdefault(category, set()).add(question)
    return {
        class_name(category, work.classes.names): np.isin(rows, list(numbers))
        for category, numbers in sorted(found.items())
    }


def _confused(
    work: Workspace[MaskSettings], evaluation: MaskEvaluation, rows: Int[Array, " I"]
) -> dict[tuple[int, int], Counter[tuple[str, str]]]:
    """For every image and model, how many pixels have one class in the prediction and another in the ground truth."""
    items, names = evaluation.keys[rows, 0], work.classes.names
    found = {}
    for column, model in enumerate(evaluation.models):
        maps = MapColumn(work.folder, model).at(items)
        for place, row in enumerate(rows.tolist()):
            truth = truth_at(evaluation.states, row)
            if truth is not None and maps.heights[place]:
                found[place, column] = _pairs(map_at(maps, place), truth, names)
    return found


def _pairs(labels: Array, truth: Array, names: tuple[str, ...]) -> Counter[tuple[str, str]]:
    labels = resized(labels, *truth.shape)
    is_wrong = (labels != truth) & (truth != VOID) & (labels != VOID)
    both, count = np.unique(np.stack([labels[is_wrong], truth[is_wrong]]), axis=1, return_counts=True)
    return Counter(
        {
            (class_name(predicted, names), class_name(true, names)): number
            for (predicted, true), number in zip(both.T.tolist(), count.tolist(), strict=True)
        }
    )
