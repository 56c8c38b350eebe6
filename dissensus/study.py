"""The Study class: a whole comparison in one folder, with the verbs of the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from dissensus.arrays import Array, UInt16
from dissensus.backends import Preprocess, parse_spec
from dissensus.competitions.standings import matrices
from dissensus.discrepancy.labels import class_distances
from dissensus.engines.local import Progress, counted, silent
from dissensus.errors import DissensusError, StudyError
from dissensus.records import Classes, Ranking
from dissensus.report.data import Benchmark
from dissensus.report.page import render
from dissensus.steps.benchmark import against, read_benchmark
from dissensus.steps.eligible import keep_eligible
from dissensus.steps.judging import Hearing, hear
from dissensus.steps.pooling import make_pool, pool_ids
from dissensus.steps.predicting import has_begun, predict, resolved_target
from dissensus.steps.questions import Question, open_questions, write_questions
from dissensus.steps.ranking import consensus, make_ranking, method_of, with_fragility, write_results
from dissensus.steps.reporting import report_data
from dissensus.steps.selecting import select
from dissensus.steps.status import Status, status_of
from dissensus.store.classes import classes_of, read_classes
from dissensus.store.exchange import read_judgements, write_judgements
from dissensus.store.files import write_text
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.lock import Lock
from dissensus.store.settings import (
    ModelSettings,
    Settings,
    add_models,
    change_select,
    read_settings,
    remove_models,
    write_new,
)
from dissensus.store.tables import read_table


class Study:
    """One comparison of models: a folder that holds everything, and nothing outside it matters.

    Example:
        study = Study.init("birds", task="labels", classes="imagenet")
        study.pool(["photos/"])
        study.predict(["a=onnx:a.onnx", "b=litert:b.tflite"])
        study.select(k=30)
        study.judgements_import("answers.csv")
        print(study.rank().words)
    """

    def __init__(self, path: str | Path, progress: Progress = silent) -> None:
        """Open a study.

        Raises:
            StudyError: there is none, or its settings are wrong.
        """
        self.folder = Folder(Path(path))
        self.progress = progress
        self._lock = Lock(self.folder.lock)
        self.settings  # noqa: B018  (says now what is wrong with study.toml)

    @classmethod
    def init(
        cls,
        path: str | Path,
        task: str = "labels",
        classes: str = "imagenet",
        taxonomy: str | Path | None = None,
        title: str = "",
        notes: Sequence[str] = (),
    ) -> Self:
        """Begin a study in a folder that is new or empty. `notes`: what a reader of its report must see first."""
        folder = Folder(Path(path))
        left_over = {folder.classes}  # of a beginning that was interrupted; study.toml is written last
        if folder.root.exists() and (not folder.root.is_dir() or {*folder.root.iterdir()} - left_over):
            raise StudyError(f"{path} is there already and not empty: choose another folder")
        if task != "labels":
            raise StudyError(f"there is no task '{task}': the task of this version is labels")
        document = read_classes(classes, None if taxonomy is None else Path(taxonomy))
        found = classes_of(document)
        if found.taxonomy is not None:
            class_distances(found, "weighted")  # says now if the taxonomy has a cycle or two roots
        write_text(folder.classes, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
        write_new(folder.settings, task, "imagenet" if classes == "imagenet" else Path(classes).name, title, notes)
        return cls(path)

    @property
    def settings(self) -> Settings:
        """study.toml as it is now."""
        return read_settings(self.folder.settings)

    @cached_property
    def classes(self) -> Classes:
        """What the labels mean."""
        try:
            return classes_of(json.loads(self.folder.classes.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{self.folder.classes} is missing or damaged ({error}): begin the study anew") from None

    def pool(self, sources: Sequence[str | Path]) -> None:
        """Take the items of image folders, globs and manifests as the pool."""
        with self._lock:
            make_pool(self.folder, [str(source) for source in sources], self.progress)

    def predict(self, models: Sequence[str] = (), preprocess: Mapping[str, Any] | None = None) -> dict[str, bool]:
        """Predict with new models (NAME=BACKEND:TARGET) and with those of study.toml that have not ended.

        Returns, by model, whether anything was left to do.
        """
        with self._lock:
            added = self._add(models, preprocess or {})
            settings = self.settings
            if not settings.models:
                raise StudyError("the study has no models yet: name them as NAME=BACKEND:TARGET")
            named = {parse_spec(spec)[0] for spec in models}
            # what has ended needs its model no more, so only models that are named again are looked at again
            todo = [name for name in settings.models if name in named or not self.folder.predictions(name).exists()]
            try:
                return {name: predict(self.folder, settings, self.classes, name, self.progress) for name in todo}
            except DissensusError:
                # a model that was refused outright is not in the study; one that has begun is, so that it can resume
                remove_models(self.folder.settings, [name for name in added if not has_begun(self.folder, name)])
                raise

    def items(self) -> list[str]:
        """Ids of the pool, in its order."""
        return list(pool_ids(self.folder).to_pylist())

    def labels(self, model: str) -> UInt16[Array, " N"]:
        """What a model said about every item, in the order of the pool; MISSING where it could not read one."""
        return read_table(self.folder.predictions(model), ["label"])["label"].to_numpy()

    def select(self, *, again: bool = False, eligible: str | Path | None = None, **settings: Any) -> int:
        """Select the items on which models disagree most; the number of the round that holds them.

        Settings (k, reserves, cap, confidence, distance, eligible) that are given here are kept in study.toml.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        self.settings.select.changed(given)
        with self._lock:
            before = self.folder.settings.read_text(encoding="utf-8-sig")
            if eligible is not None:
                given["eligible"] = keep_eligible(self.folder, Path(eligible))
            change_select(self.folder.settings, given)
            try:
                return select(self.folder, self.settings, self.classes, again, self.progress)
            except DissensusError:
                write_text(self.folder.settings, before)  # what was refused is no setting of the study
                raise

    def join(self, models: Sequence[str], preprocess: Mapping[str, Any] | None = None) -> int:
        """Let new models join: predict, and select for their duels only (Algorithm 2); the number of the round.

        The newcomers' duels are selected by the settings in study.toml. Earlier rounds and judgements stay as they are.
        """
        if not self.folder.rounds():
            raise StudyError("nothing is selected yet: predict with all models, then select")
        with self._lock:
            self.predict(models, preprocess)
            return self.select()

    def questions(self, path: str | Path | None = None) -> list[Question]:
        """Questions that wait for answers; with a path (.html, .csv, .jsonl) also as a sheet to answer them on."""
        found = open_questions(self.folder, self.settings, self.classes)
        if path is not None:
            write_questions(self.folder, self.settings, Path(path), found, self.progress)
        return found

    def selection(self) -> list[dict[str, Any]]:
        """What every round selected, row by row, with class names: duel, item, rank, labels, confidences, reserve."""
        named = {"first_label": self.classes.names, "second_label": self.classes.names}
        tables = [read_table(self.folder.selection(number)) for number in self.folder.rounds()]
        rows = [row for table in tables for row in table.to_pylist()]
        return [{key: named[key][value] if key in named else value for key, value in row.items()} for row in rows]

    def asked(self) -> list[tuple[str, int]]:
        """Every (item, label) question that the study needed so far, answered or not."""
        hearing = hear(self.folder, self.settings)
        return [(hearing.item_ids[item], label) for item, label in hearing.asked]

    def judgements_import(self, path: str | Path) -> int:
        """Store the answers of a JSON Lines, CSV or Parquet file, all or none; the number of new ones."""
        if not Path(path).is_file():
            raise StudyError(f"there is no file {path}")
        known = set(pool_ids(self.folder).to_pylist())
        read = read_judgements(Path(path), self.classes, known.__contains__)
        return Judgements(self.folder.judgements).append(counted("import", read, self.progress))

    def judgements_export(self, path: str | Path) -> int:
        """Write all answers, in the order in which they came, and return how many."""
        return write_judgements(Path(path), Judgements(self.folder.judgements).all(), self.classes)

    def rank(self, method: str | None = None) -> Ranking:
        """Rank the models by what people said, and keep the result under results/."""
        return self._ranked(hear(self.folder, self.settings), method)

    def consensus(self) -> Mapping[str, float]:
        """Agreement of every model with the plurality vote over the pool: the order that needs no people."""
        return consensus(self.folder, hear(self.folder, self.settings).models, self.progress)

    def benchmark(self, ranking: Ranking) -> Benchmark | None:
        """The ranking beside the benchmark that the user gave, if any."""
        if not self.folder.benchmark.exists():
            return None
        return against(ranking, *read_benchmark(self.folder.benchmark))

    def report(self, method: str | None = None, benchmark: str | Path | None = None) -> Path:
        """Rank, and write the report; its path. `benchmark`: a CSV of model and score, kept with the study."""
        if benchmark is not None:
            read_benchmark(Path(benchmark))
            write_text(self.folder.benchmark, Path(benchmark).read_text(encoding="utf-8-sig"))
        settings, hearing = self.settings, hear(self.folder, self.settings)
        ranking = self._ranked(hearing, method)
        agreement, known = consensus(self.folder, hearing.models, self.progress), self.benchmark(ranking)
        data = report_data(self.folder, settings, self.classes, hearing, ranking, agreement, known, self.progress)
        write_text(self.folder.report, render(data))
        return self.folder.report

    def status(self) -> Status:
        """How far the study has come, and what to do next."""
        return status_of(self.folder, self.settings, self.classes)

    def _ranked(self, hearing: Hearing, method: str | None) -> Ranking:
        chosen = method_of(self.settings.rank, method)
        ranking = make_ranking(self.folder, hearing, chosen)
        ranking = with_fragility(ranking, self.settings, hearing, chosen, self.progress)
        write_results(self.folder, ranking, hearing.models, matrices(hearing.outcomes, len(hearing.models), chosen))
        return ranking

    def _add(self, specs: Sequence[str], preprocess: Mapping[str, Any]) -> list[str]:
        """Write new models into study.toml and return their names; one that is there already must be the same."""
        known = self.settings.models
        added: dict[str, ModelSettings] = {}
        Preprocess.read(preprocess)
        for spec in specs:
            name, backend, target = parse_spec(spec)
            model = ModelSettings(backend=backend, target=resolved_target(backend, target), preprocess=dict(preprocess))
            if name in added or (name in known and not _same(known[name], model)):
                raise StudyError(f"there is a model {name} already: give this one another name")
            if name not in known:
                added[name] = model
        if added:
            add_models(self.folder.settings, added)
        return list(added)


def _same(known: ModelSettings, given: ModelSettings) -> bool:
    """True where the same model is named again; preprocessing that the person wrote into study.toml stays."""
    same_source = (known.backend, known.target) == (given.backend, given.target)
    return same_source and (not given.preprocess or known.preprocess == given.preprocess)
