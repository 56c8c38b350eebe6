"""rank: turn standings into the ranking that is stored, with its provenance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dissensus.competition.changes import mixed_rounds
from dissensus.competition.notices import uncounted
from dissensus.competition.standings import Method, Standings
from dissensus.competition.task import Evaluation, Task
from dissensus.errors import RankingError, counted
from dissensus.records import Provenance, Ranking, Rankings
from dissensus.store.files import file_fingerprint, fingerprint, write_text
from dissensus.store.folder import Folder
from dissensus.store.settings import MethodSettings
from dissensus.version import __version__

R = TypeVar("R")


def method_of(settings: MethodSettings, name: str | None = None) -> Method:
    """The named method, or the study's own by default, with the study's parameters."""
    return Method(name or settings.method, **settings.model_dump(exclude={"method"}))


def ranking_of(
    task: Task[Any, Any],
    evaluation: Evaluation[Any, Any],
    standings: Standings,
    method: Method,
    beside: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
) -> Ranking:
    """The standings with their sentences, more sentences (`beside`) and provenance.

    What every ranking records or mentions is added here: the rules in [judge], answers that do not count, and rounds by
    different rules.
    """
    folder, judge = task.work.folder, task.work.settings.judge
    inputs = {f"round {found.number}": file_fingerprint(folder.selection(found.number)) for found in evaluation.rounds}
    words = (*standings.words, *beside, *uncounted(task), *mixed_rounds(evaluation.rounds).values())
    if evaluation.open:
        are = "is" if len(evaluation.open) == 1 else "are"
        words = (
            f"Preliminary: {len(evaluation.open):,} of {counted(len(evaluation.asked), 'question')} {are} still open.",
            *words,
        )
    own: dict[str, Any] = {"smoothing": method.smoothing, "level": method.level, "judge": judge.model_dump()}
    if method.resamples:
        own["resamples"] = method.resamples
    return Ranking(
        standings=standings.standings,
        words=words,
        cyclic_share=standings.cyclic_share,
        degenerate_resamples=standings.degenerate_resamples,
        fragility=None,
        provenance=Provenance(
            method=method.name,
            parameters=own | dict(parameters or {}),
            inputs=inputs | {"judgements": fingerprint(*evaluation.answers.ids)},
            seed=method.seed,
            package=__version__,
        ),
    )


def other_rankings(ways: Mapping[str, Callable[[], R]]) -> tuple[dict[str, R], dict[str, str]]:
    """The same judgements ranked in other ways, by name; and why others have none, worded for the settings section."""
    found, refused = {}, {}
    for name, ranked in ways.items():
        try:
            found[name] = ranked()
        except RankingError as error:
            refused[f"rank by {name}"] = f"no estimate: {error}"
    return found, refused


def write_results(folder: Folder, ranking: Ranking | Rankings, models: list[str], matrices: Mapping[str, Any]) -> None:
    """Write results/ranking.json and results/matrices.json."""
    write_text(folder.ranking, ranking.model_dump_json(indent=1) + "\n")
    write_text(folder.matrices, json.dumps({"models": models} | dict(matrices), indent=1) + "\n")
