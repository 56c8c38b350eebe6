"""rank: strengths, intervals, rank sets, their words, and how few judgements could change who is first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations, count

import numpy as np

from dissensus.competitions.fragile import fragility
from dissensus.competitions.standings import Method, Standings, rank
from dissensus.engines.local import Progress, chunks, counted, read_ahead
from dissensus.predictions.consensus import plurality_agreement
from dissensus.records import Comparisons, Provenance, Ranking
from dissensus.steps.labels.judging import Hearing, verdicts_of_counts
from dissensus.steps.labels.selecting import CHUNK
from dissensus.steps.pooling import pool_size
from dissensus.steps.predicting import check_same_pool, refuse_other_predictions
from dissensus.store.files import file_fingerprint, fingerprint, write_text
from dissensus.store.folder import Folder
from dissensus.store.settings import LabelSettings, RankSettings
from dissensus.store.tables import ROW_GROUP, open_table, read_groups
from dissensus.version import __version__


def method_of(settings: RankSettings, name: str | None = None) -> Method:
    """The method of that name, or the study's, with the study's parameters."""
    return Method(name or settings.method, settings.smoothing, settings.resamples, settings.level, settings.seed)


def make_ranking(folder: Folder, hearing: Hearing, method: Method) -> Ranking:
    """The ranking of all models that compete.

    Raises:
        RankingError: nothing is judged yet, or the method has no estimate.
        StudyError: a model's predictions are not those that its items were selected by.
    """
    names = hearing.models
    stamps = check_same_pool(folder, names)
    refuse_other_predictions(hearing.rounds, stamps)
    pairs = combinations(range(len(names)), 2)
    identical = [(i, j) for i, j in pairs if stamps[names[i]]["labels"] == stamps[names[j]]["labels"]]
    standings = rank(hearing.outcomes, names, method, identical)
    if hearing.open:
        waiting = f"Preliminary: {len(hearing.open):,} of {len(hearing.asked):,} questions wait for answers."
        standings = replace(standings, words=(waiting, *standings.words))
    return _record(standings, method, hearing, folder)


def with_fragility(
    ranking: Ranking, settings: LabelSettings, hearing: Hearing, method: Method, progress: Progress
) -> Ranking:
    """The ranking with the fewest judgements found that decide who is first.

    Looked for with verdicts by majority only: by Dawid–Skene one judgement moves the verdicts on many questions.
    """
    if settings.judge.method != "majority":
        return ranking
    by_settings = partial(verdicts_of_counts, settings=settings.judge)
    refits = counted("looking for judgements that decide", count(), progress, step=50)
    found = fragility(hearing.judged, hearing.answers, by_settings, hearing.models, method, refits.__next__)
    return ranking.model_copy(update={"fragility": found})


def write_results(folder: Folder, ranking: Ranking, models: list[str], compared: Comparisons) -> None:
    """Write results/ranking.json and results/matrices.json."""
    write_text(folder.ranking, ranking.model_dump_json(indent=1) + "\n")
    tables = {
        "models": models,
        "accuracy": compared.accuracy.tolist(),
        "dominance": compared.dominance.tolist(),
        "items": compared.tally.items.tolist(),
        "right_alone": compared.tally.only.tolist(),
        "both_right": compared.tally.both.tolist(),
        "neither_right": compared.tally.neither.tolist(),
    }
    write_text(folder.matrices, json.dumps(tables, indent=1) + "\n")


def consensus(folder: Folder, names: list[str], progress: Progress) -> Mapping[str, float]:
    """Share of the readable pool on which each model votes with the plurality: the order that needs no people."""
    stamps = check_same_pool(folder, names)
    key = fingerprint(json.dumps({name: stamps[name]["labels"] for name in names}))
    kept = folder.results / "consensus.json"
    with suppress(OSError, ValueError, KeyError, TypeError):  # not there, or damaged: it is made again
        if (found := json.loads(kept.read_text()))["key"] == key:
            return dict(found["agreement"])
    agreed, readable = np.zeros(len(names), np.int64), 0
    files = [open_table(folder.predictions(name)) for name in names]

    def load(rows: range) -> np.ndarray:
        groups = list(range(rows.start // ROW_GROUP, -(-rows.stop // ROW_GROUP)))
        return np.stack([read_groups(file, groups, ["label"])["label"].to_numpy() for file in files])

    size = pool_size(folder)
    for rows, labels in read_ahead(load, chunks(size, CHUNK)):
        here, items = plurality_agreement(labels)
        agreed, readable = agreed + here, readable + items
        progress("plurality vote", rows.stop, size)
    agreement = {name: float(votes) / max(readable, 1) for name, votes in zip(names, agreed, strict=True)}
    write_text(kept, json.dumps({"key": key, "agreement": agreement}, indent=1) + "\n")
    return agreement


def _record(standings: Standings, method: Method, hearing: Hearing, folder: Folder) -> Ranking:
    rounds = [found.number for found in hearing.rounds]
    selections = {f"round {number}": file_fingerprint(folder.selection(number)) for number in rounds}
    used = sorted(judgement.id for answers in hearing.answers.values() for judgement in answers)
    parameters = {"smoothing": method.smoothing, "resamples": method.resamples, "level": method.level}
    return Ranking(
        standings=standings.standings,
        words=standings.words,
        cyclic_share=standings.cyclic_share,
        degenerate_resamples=standings.degenerate_resamples,
        fragility=None,
        provenance=Provenance(
            method=method.name,
            parameters=parameters,
            inputs=selections | {"judgements": fingerprint(*used)},
            seed=method.seed,
            package=__version__,
        ),
    )
