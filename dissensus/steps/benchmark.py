"""Known scores, provided by the user, to compare the ranking with (Table 1)."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path

from dissensus.errors import StudyError, refuse_pipe, some
from dissensus.records import Ranking
from dissensus.report.data import Benchmark
from dissensus.separated import as_number, dict_reader
from dissensus.store.files import exists, read_text
from dissensus.store.folder import Folder

LONGEST_NUMBER = 16
"""Digits of a number of labels."""


def read_benchmark(path: Path) -> tuple[str, dict[str, float], int | None]:
    """Name of the score, scores by model, and how many labels they took, from a CSV with model, a score and labels.

    The column labels is optional. Higher scores are better.

    Raises:
        StudyError: the file cannot be read, or a score is not a number.
    """
    refuse_pipe(path, StudyError)
    try:
        reader = dict_reader(read_text(path))
        names = [name for name in reader.fieldnames or [] if name not in ("model", "labels")]
        rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} cannot be read: {error}") from None
    if not rows or not names or "model" not in rows[0]:
        raise StudyError(f"{path} is not a benchmark: it needs a column 'model', a column of scores and some rows")
    if twice := sorted(str(name) for name, times in Counter(row["model"] for row in rows).items() if times > 1):
        raise StudyError(f"{path}: several rows are about {some(twice)}: give every model one row")
    try:
        scores = {row["model"]: as_number(row[names[0]]) for row in rows}
    except (TypeError, ValueError):
        raise StudyError(f"{path}: a score in column {names[0]} is not a number: correct it") from None
    if not all(map(math.isfinite, scores.values())):
        raise StudyError(f"{path}: a score in column {names[0]} is NaN or infinite: correct it")
    cost = rows[0].get("labels") or ""
    return names[0], scores, int(cost) if cost.isdecimal() and len(cost) < LONGEST_NUMBER else None


def against(ranking: Ranking, name: str, scores: dict[str, float], labels_used: int | None) -> Benchmark:
    """The ranking compared with the benchmark, over the models that have both a strength and a score."""
    from scipy.stats import spearmanr  # takes half a second to import, and few commands need it

    shared = [s.model for s in ranking.standings if s.strength is not None and s.model in scores]
    if not shared:
        raise StudyError(f"the benchmark '{name}' has none of the competing models: it has {', '.join(scores)}")
    strengths = {s.model: s.strength for s in ranking.standings if s.strength is not None}
    rank = _ranks([scores[model] for model in shared])
    place = _ranks([strengths[model] for model in shared])
    varied = len(shared) > 2 and len(set(rank)) > 1 and len(set(place)) > 1
    return Benchmark(
        name=name,
        scores={model: scores[model] for model in shared},
        rank=dict(zip(shared, rank, strict=True)),
        difference={model: a - b for model, a, b in zip(shared, rank, place, strict=True)},
        srcc=float(spearmanr(rank, place).statistic) if varied else None,
        labels_used=labels_used,
    )


def known_benchmark(folder: Folder, ranking: Ranking) -> Benchmark | None:
    """The ranking compared with the benchmark stored in the study, if there is one."""
    return against(ranking, *read_benchmark(folder.benchmark)) if exists(folder.benchmark) else None


def _ranks(scores: list[float]) -> list[int]:
    """1 for the largest; equal scores share the better rank."""
    return [1 + sum(other > score for other in scores) for score in scores]
