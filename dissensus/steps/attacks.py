"""What all competitions of attackers and defenders do with their results: two rankings, matrices, words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dissensus.arrays import Array
from dissensus.competitions.standings import Standings
from dissensus.competitions.two_orders import AttackMethod
from dissensus.records import AttackMatrices, Exclusion, Provenance, Ranking, Rankings
from dissensus.report.data import Benchmark
from dissensus.steps.benchmark import known_benchmark
from dissensus.store.files import file_fingerprint, fingerprint, write_text
from dissensus.store.folder import Folder
from dissensus.store.settings import AttackRankSettings
from dissensus.version import __version__


class Heard(Protocol):
    """What people said, as far as every ranking tells of it."""

    @property
    def asked(self) -> list[int]:
        """What the study needed so far."""

    @property
    def open(self) -> list[int]:
        """What waits for answers."""

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """Ids of the answers that were used."""


def attack_method(settings: AttackRankSettings, name: str | None = None) -> AttackMethod:
    """The method of that name, or the study's, with the study's parameters."""
    chosen = name or settings.method
    return AttackMethod(chosen, settings.smoothing, settings.resamples, settings.level, settings.seed)


def attack_ranking(
    folder: Folder,
    heard: Heard,
    what: str,
    standings: Standings,
    beside: Sequence[str],
    method: AttackMethod,
    parameters: Mapping[str, Any],
) -> Ranking:
    """One of the two rankings with its words and how it was made; `what` people judge, such as pairs."""
    inputs = {f"round {number}": file_fingerprint(folder.selection(number)) for number in folder.rounds()}
    words = (*standings.words, *beside)
    if heard.open:
        words = (f"Preliminary: {len(heard.open):,} of {len(heard.asked):,} {what} wait for answers.", *words)
    own = {"smoothing": method.smoothing, "resamples": method.resamples, "level": method.level}
    return Ranking(
        standings=standings.standings,
        words=words,
        cyclic_share=standings.cyclic_share,
        degenerate_resamples=standings.degenerate_resamples,
        fragility=None,
        provenance=Provenance(
            method=method.name,
            parameters=own | dict(parameters),
            inputs=inputs | {"judgements": fingerprint(*heard.answer_ids)},
            seed=method.seed,
            package=__version__,
        ),
    )


def write_rankings(folder: Folder, models: list[str], rankings: Rankings, matrices: AttackMatrices) -> None:
    """Write results/ranking.json and results/matrices.json."""
    write_text(folder.ranking, rankings.model_dump_json(indent=1) + "\n")
    tables = {
        name: _known(getattr(matrices, name), where)
        for name, where in (("aggressiveness", matrices.attacked), ("resistance", matrices.defended))
    }
    write_text(folder.matrices, json.dumps({"models": models} | tables, indent=1) + "\n")


def benchmarks_of(folder: Folder, rankings: Rankings) -> dict[str, Benchmark] | None:
    """The benchmark that the user gave beside each ranking, if any."""
    found = {name: known_benchmark(folder, ranking) for name, ranking in rankings.measures.items()}
    return {name: known for name, known in found.items() if known is not None} or None


def left_out(exclusions: Mapping[str, Exclusion]) -> list[str]:
    """Whose answers do not count, each with the reason."""
    return [
        f"The answers of {name} do not count: {exclusion.reason} (decided by {exclusion.by}, {exclusion.time[:10]})."
        for name, exclusion in sorted(exclusions.items())
    ]


def known_cell(matrix: Array, known: Array, row: int, column: int) -> float | None:
    """An entry of a matrix; None where nothing was judged."""
    return float(matrix[row, column]) if known[row, column] else None


def _known(matrix: Array, where: Array) -> list[list[float | None]]:
    """The matrix as lists, with nothing where nothing was judged."""
    rows, columns = matrix.shape
    return [[known_cell(matrix, where, row, column) for column in range(columns)] for row in range(rows)]
