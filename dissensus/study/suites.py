"""Classifiers over many data sets, from a table of accuracies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissensus.records.suites import SuiteResult


def compare_classifiers(table: Any, *, level: float = 0.95, skip_incomplete: bool = False) -> SuiteResult:
    """Which classifier is better over many data sets: ranks, shares of the best accuracy, tests and profiles.

    Args:
        table: A path to a CSV or Parquet file, a frame, a dict of columns or a list of dicts: a row per data set with
            its name in the column dataset (or the first one) and a column per classifier; or a row per data set and
            classifier with the columns dataset, classifier and accuracy. Accuracies are fractions if all of them are
            at most 1 and none has a per cent sign, otherwise per cent.
        level: Confidence level of the tests and the critical difference.
        skip_incomplete: Leave out data sets on which an accuracy is missing, which is an error otherwise.

    Raises:
        SuiteError: the accuracies cannot be read or compared.

    Example:
        >>> compare_classifiers({"dataset": ["iris", "wine"], "svm": [96, 98], "tree": [94, 90]}).words[0]
        'svm has the best mean rank, 1.00, over 2 data sets; best possible is 1, and chance would give 1.5.'
    """
    from dissensus.steps.suites import read_suite
    from dissensus.suites.findings import compared

    found = read_suite(table, skip_incomplete)
    return compared(found.accuracies, found.classifiers, found.data_sets, level, found.left_out, found.notes)


def write_suite_figures(result: SuiteResult, folder: str | Path) -> list[Path]:
    """Write profiles and mean ranks as SVG, PDF and CSV, and classifiers and pairs as CSV; return the paths."""
    from dissensus.frames import columns_of
    from dissensus.records.suites import SuiteClassifier, SuitePair
    from dissensus.store.files import csv_text, write_text

    paths = [path for what in ("profiles", "critical difference") for path in result.plot(what).write(Path(folder))]
    for name, kind, found in (("classifiers", SuiteClassifier, result.classifiers), ("pairs", SuitePair, result.pairs)):
        columns = columns_of(kind, found)
        rows = zip(*columns.values(), strict=True)
        path = Path(folder) / f"{name}.csv"
        write_text(path, csv_text([list(columns), *([str(value) for value in row] for row in rows)]))
        paths.append(path)
    return paths
