"""Models on two test sets, from a table, from two studies, or from predictions in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import TransferError

if TYPE_CHECKING:
    from dissensus.records import ShiftResult

FROM_PREDICTIONS = ("original", "new", "truth_original", "truth_new")


def compare_test_sets(
    table: Any = None,
    *,
    original: str | Path | Mapping[str, Any] | None = None,
    new: str | Path | Mapping[str, Any] | None = None,
    truth_original: Any = None,
    truth_new: Any = None,
    near_duplicates: tuple[float, float] | None = None,
    names: tuple[str, str] = ("original", "new"),
    level: float = 0.95,
    resamples: int = 100_000,
    seed: int = 0,
) -> ShiftResult:
    """Whether the scores of models survive a new test set: drops, ranks, fits, and what explains the drops.

    Give either a table, or the predictions of the models on both sets with the true labels.

    Args:
        table: A path to a CSV or Parquet file, a frame, a dict of columns or a list of dicts, with a row per model and
            the columns model, original and new. Accuracies are fractions if all of them are at most 1 and none has a
            per cent sign, otherwise per cent. Optional: n_original and n_new (numbers of items), original_low to
            new_high (intervals, if there are no counts), family, fresh and n_fresh (a fresh set of the original
            distribution); other columns are kept.
        original: A study of labels, or a dict of every model's predicted labels.
        new: The same for the new test set. Models are matched by name.
        truth_original: A file with the columns item and label, for a study; the true labels in order, for a dict. A
            file may also have selection_frequency and near_duplicate.
        truth_new: The same for the new test set.
        near_duplicates: Share of the original set that are near-duplicates of training items, and the accuracy on
            them, to see what they may explain at most.
        names: What to call the two sets.
        level: Confidence level of all intervals.
        resamples: Bootstrap samples of the models.
        seed: Of the bootstrap.

    Raises:
        TransferError: the accuracies cannot be read or compared.

    Example:
        >>> compare_test_sets({"model": ["a", "b"], "original": [93.1, 90.0], "new": [85.3, 81.2]}).words[0]
        'Accuracy is 8.3 points lower on the new set than on the original one, on average over 2 models; how much of \\
it is chance is unknown without the numbers of items.'
    """
    from dissensus.shift.compare.comparing import compared, predicted_sets
    from dissensus.shift.compare.table import read_accuracies

    given = dict(zip(FROM_PREDICTIONS, (original, new, truth_original, truth_new), strict=True))
    if table is not None:
        surplus = [name for name, value in given.items() if value is not None]
        if surplus:
            raise TransferError(f"give either a table or predictions, not both: leave out {' and '.join(surplus)}")
        found = read_accuracies(table, names)
    elif original is None or new is None:
        raise TransferError("give a table of accuracies, or original and new with their true labels")
    else:
        sides = _opened(original), _opened(new)
        found = predicted_sets(sides[0], truth_original, sides[1], truth_new, names)
    return compared(found, near_duplicates, level, resamples, seed)


def _opened(side: str | Path | Mapping[str, Any]) -> Any:
    """Predictions as they are, or the study at a path."""
    if isinstance(side, Mapping):
        return side
    from dissensus.study import Study

    return Study(side)._labels("accuracies").work


def write_shift_page(
    result: ShiftResult, path: str | Path | None = None, figures: str | Path | None = None
) -> Path | None:
    """Write the page about models on two test sets, and every figure (SVG, PDF, CSV) and table (CSV) to a folder."""
    from dissensus.report.shift.page import shift_page
    from dissensus.steps.writing import write_page

    return write_page(shift_page(result), path, figures)
