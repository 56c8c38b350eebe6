"""From the pool to the selection: the methods that make a competition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dissensus.errors import StudyError
from dissensus.store.folder import Folder
from dissensus.store.lock import Lock
from dissensus.study.base import Base

if TYPE_CHECKING:
    from dissensus.arrays import Array, UInt16
    from dissensus.competition.examining import PredictionRun
    from dissensus.competition.removing import Removal
    from dissensus.records import Sanity
    from dissensus.store.consent import Code
    from dissensus.tasks.scores.scaling import ScaleFit


class Making(Base):
    """The pool, the models and the selection."""

    pool_notes: tuple[str, ...] = ()

    @classmethod
    def init(
        cls,
        path: str | Path,
        task: str = "labels",
        classes: str | Path | Sequence[str] | None = None,
        taxonomy: str | Path | None = None,
        title: str = "",
        notes: Sequence[str] = (),
        exist_ok: bool = False,
        public_title: str = "",
        answers_from: str = "",
    ) -> Self:
        """Start a study in a new or empty folder.

        Args:
            path: The study's folder.
            task: What the models predict: labels, scores or masks.
            classes: A list of names, a file of them, or `imagenet` or `voc`. Defaults to ImageNet's classes
                (PASCAL VOC's for masks).
            taxonomy: A CSV file with the columns child and parent.
            title: The heading of the report; defaults to the folder's name.
            notes: Sentences shown at the top of the report.
            exist_ok: Open the study if the folder already holds one, so that a notebook cell can be run again.
            public_title: The heading that annotators see, who must not know what is compared; defaults to 'Questions'.
            answers_from: What the answers are if no person is asked, such as 'mean opinion scores of TID2013'.
        """
        from dissensus.steps.classes import chosen_classes
        from dissensus.store.checksums import record_all
        from dissensus.store.durable import is_left_over, remove_left_over
        from dissensus.store.files import write_text
        from dissensus.store.settings import write_new
        from dissensus.tasks import TASKS

        folder = Folder(Path(path))
        if exist_ok and folder.settings.exists():
            return cls(path)
        left_over = {folder.classes, folder.checksums}  # from an interrupted `init`; study.toml is written last
        if folder.root.exists() and not (
            folder.root.is_dir() and all(path in left_over or is_left_over(path) for path in folder.root.iterdir())
        ):
            hint = "go on with dissensus status" if folder.settings.exists() else "choose another folder"
            what = "is a study already" if folder.settings.exists() else "already exists and is not empty"
            raise StudyError(f"{path} {what}: {hint}")
        if task not in TASKS:
            raise StudyError(f"unknown task '{task}': choose one of {', '.join(TASKS)}")
        kind, words = TASKS[task], {"title": title, "notes": list(notes), "answers_from": answers_from}
        document = None
        if kind.usual_classes is not None:
            source = classes if isinstance(classes, str | Path) else classes or kind.usual_classes
            words["classes"], document = chosen_classes(source, taxonomy, kind.most_classes)
        folder.root.mkdir(parents=True, exist_ok=True)
        remove_left_over(folder.root)
        record_all(folder.root)
        if document is not None:
            write_text(folder.classes, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
        write_new(folder.settings, kind.settings, task, kind.template, kind.frame, words)
        made = cls(path)
        if public_title:
            made.change("serve", {"public_title": public_title})
        return made

    def pool(
        self,
        sources: str | Path | Sequence[str | Path] = (),
        *,
        items: Any = None,
        allow_missing: bool = False,
        add: bool = False,
    ) -> None:
        """Set the pool: the items that all models predict.

        What there is to know about the sources, such as files that were ignored, is in `pool_notes` afterwards.

        Args:
            sources: One or several of these: image folders, globs, tar archives, Parquet files with pictures, and
                manifests (CSV or Parquet with the columns item and path); or the addresses of any of these, such as
                s3://bucket/photos.
            items: Instead of sources: a frame with the columns item and path, a list of ids or file paths, or an array
                of images (N×height×width or N×height×width×3, uint8).
            allow_missing: Accept items whose files are missing; no questions are asked about them.
            add: Keep the items that the pool has, and add these; models have to predict only the new ones. Rounds that
                nobody has been asked about are replaced by the next `select`.
        """
        from dissensus.competition.replacing import growing
        from dissensus.steps.given import keep_pool
        from dissensus.steps.pooling import make_pool
        from dissensus.steps.pools import ENUMERATED, enumerate_pool, refuse_mixed
        from dissensus.store.files import restored
        from dissensus.tasks import TASKS

        given = self.folder.given
        with self._changing(), restored(given, given / "images", given / "pool.parquet"):
            self.__dict__.pop("_uris", None)
            named = [str(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
            if items is not None:
                named.append(str(keep_pool(self.folder, items)))
            if not any(source.startswith(ENUMERATED) for source in named):
                refuse_mixed(self.folder)
                with growing(self._task) if add else nullcontext():
                    self.pool_notes = make_pool(self.folder, named, self.progress, allow_missing, add)
            elif not TASKS[self.settings.task].gives_numbers:
                raise StudyError(
                    "an enumerated pool needs models that predict scores: start a study with --task scores"
                )
            else:
                enumerate_pool(self.folder, named)

    def predict(
        self,
        models: Sequence[str] = (),
        preprocess: Mapping[str, Any] | None = None,
        lower: Sequence[str] = (),
        again: Sequence[str] = (),
        **given: Any,
    ) -> PredictionRun:
        """Run new models, and those in study.toml that have not finished, on the whole pool.

        Args:
            models: New models, each as NAME=BACKEND:TARGET.
            preprocess: How images are prepared for these models.
            lower: Names of the models for which lower scores are better.
            again: Names of models to run again, with the settings in study.toml or those given here. The new
                predictions replace the old ones once they are complete.
            **given: Models in memory, by name. Each is an array or a list of predictions in the order of `items` (for
                labels also a matrix of probabilities, or a pair of labels and confidences), a frame with a column label
                or score and optionally item, or a function. A function is called with up to 256 items at a time (file
                paths if the pool has them, otherwise ids) and returns their predictions. For masks, predictions are
                matrices of class numbers.

        Returns:
            For each model, whether anything was left to predict. In a notebook it shows what `sanity` says.

        Example:
            >>> study.predict(["a=onnx:a.onnx"], b=labels_of_b, c=model.predict)  # doctest: +SKIP
        """
        from dissensus.competition.examining import PredictionRun, sanity_of
        from dissensus.steps.models import Request, predict_models

        with self._changing():
            made = predict_models(self._task, Request(models, preprocess or {}, lower, again, given))
            try:
                return PredictionRun(made, sanity_of(self._task, is_trying=True))
            except StudyError:  # another model's file is damaged: the command that needs it says so
                return PredictionRun(made)

    def sanity(self) -> Sanity:
        """Are the predictions sane? What each model predicts, what looks wrong about it, and what to try.

        Every `predict` asks this. Where a network agrees with nobody, `predict` also tries the usual ways to normalise
        images on a few items, and `command` of the model says how to correct it. This method runs no model.

        Example:
            >>> study.sanity().words  # doctest: +SKIP
        """
        from dissensus.competition.examining import sanity_of

        return sanity_of(self._task)

    def join(
        self,
        models: Sequence[str] = (),
        preprocess: Mapping[str, Any] | None = None,
        lower: Sequence[str] = (),
        **given: Any,
    ) -> int:
        """Add new models: predict, select for their duels only (Algorithm 2), and return the number of the round.

        The settings in study.toml apply to their duels. Earlier rounds and judgements stay as they are.
        """
        from dissensus.competition.select import planned

        if not self.folder.rounds():
            raise StudyError("nothing has been selected yet: predict with all models, then select")
        with self._changing():
            planned(self._task, again=True)  # raises an error now if no round can be added to the others
            self.predict(models, preprocess, lower, **given)
            return self.select()

    def remove(self, model: str) -> Removal:
        """Remove a model with its predictions, and the rounds that were selected from them if nobody has answered.

        Raises:
            StudyError: no such model, or people have answered questions of its rounds: answers are never
                deleted.
        """
        from dissensus.competition.removing import remove

        served = Lock(self.folder.serving, "this study is being served: stop the service first", is_removed=True)
        with self._changing(), served:
            return remove(self._task, model)

    def items(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Ids of the items from `start` up to `stop`, in the order in which they were given; all of them by default."""
        from dissensus.steps.pooling import given_order
        from dissensus.steps.pools import open_source

        return open_source(self.folder).ids(given_order(self.folder)[start:stop].tolist())

    def predictions(self, *models: str) -> Any:
        """The models' predictions for every item: a pandas or Polars frame if installed, otherwise an Arrow table.

        Args:
            models: Names of models; defaults to all that have predictions. For a single model, the frame also has its
                confidences, the classes ranked 2 to 5 (if known), and the reasons why items have no prediction.

        Example:
            >>> study.predictions("small", "large")  # doctest: +SKIP
        """
        import pyarrow as pa

        from dissensus.frames import frame_of
        from dissensus.steps.pooling import given_order
        from dissensus.steps.predicting import predicted

        names = models or predicted(self.folder, self.settings)
        unknown = [name for name in names if not self.folder.predictions(name).exists()]
        if unknown or not names:
            raise StudyError(f"{unknown[0] if unknown else 'the study'} has no predictions yet: run predict first")
        task = self._task
        if len(models) == 1:
            columns = dict(task.predictions(models[0]))
        else:
            columns = {name: next(iter(task.predictions(name, only_first=True).values())) for name in names}
        table = pa.table(columns).take(pa.array(given_order(self.folder)))
        return frame_of(table.add_column(0, "item", pa.array(self.items(), pa.string())))

    def labels(self, model: str) -> UInt16[Array, " N"]:
        """The class numbers that a model predicts, in the order of `items`; MISSING where it has no prediction."""
        from dissensus.steps.pooling import given_order
        from dissensus.store.tables import read_table

        return read_table(self.folder.predictions(model), ["label"])["label"].to_numpy()[given_order(self.folder)]

    def untrusted(self, models: bool = True, again: Sequence[str] = ()) -> list[str]:
        """The code that the study would run but that nobody has agreed to on this machine: of its pool and its models.

        Only `pool`, `predict`, `join`, `select`, `scale` and `ask` run code, the last three only that of the pool
        (`models=False`). To name it in a call of `pool` or `predict` is to agree. `again` are finished models that
        `predict` would run again.
        """
        from dissensus.store.consent import unagreed

        return [code.target for code in unagreed(self.folder, self._code(models, again))]

    def trust(self, models: bool = True, again: Sequence[str] = ()) -> None:
        """Agree to run what `untrusted` lists: on this machine, until it changes or the study moves."""
        from dissensus.store.consent import agree

        agree(self.folder, self._code(models, again))

    def _code(self, models: bool, again: Sequence[str]) -> list[Code]:
        from dissensus.steps.code import model_code, pool_code
        from dissensus.steps.models import unfinished

        settings = self.settings
        todo = unfinished(self.folder, settings, again) if models else []
        return [*pool_code(self.folder), *model_code(settings, todo)]

    def scale(
        self, ratings: str | Path | None = None, worst: float | None = None, best: float | None = None
    ) -> list[ScaleFit]:
        """Map the scores of every model to one scale, 0 to 100.

        `ratings`, a CSV with item and rating, is copied into the study. `worst` and `best` are the ends of its scale;
        if lower ratings are better, `worst` is the larger number. Without ratings, scores become ranks within the pool.

        Raises:
            PredictionError: the scores of a model cannot be mapped to the scale; the message says which and why.
        """
        from dissensus.store.files import restored
        from dissensus.store.settings import change_settings, check_section
        from dissensus.tasks.scores.scaling import RATINGS, keep_ratings

        settings = self._scores.work.settings
        kept = {"ratings": None if ratings is None else RATINGS, "worst": worst, "best": best}
        given = {name: value for name, value in kept.items() if value is not None}
        check_section(settings, "scale", given)
        with self._changing(), restored(self.folder.settings, self.folder.root / RATINGS):
            if ratings is not None:
                keep_ratings(self.folder, Path(ratings), settings.scale.model_copy(update=given))
            change_settings(self.folder.settings, type(settings), "scale", given)
            return self._scores.scale()

    def select(
        self,
        *,
        again: bool = False,
        eligible: str | Path | None = None,
        scales: str | Path | None = None,
        **settings: Any,
    ) -> int:
        """Select the items on which models disagree most, and return the number of their round.

        Settings given here are saved in study.toml. For labels they are k, reserves, cap, confidence, distance and
        eligible; for scores levels, width, low, high, spacing, case, reserves and jnd; for masks k, reserves, measure
        and scales (voc, voc-reordered, pool, none, a CSV, or a folder of a training set's maps). If they differ from
        those of the last round and nobody has been asked about it, that round is replaced.

        `study.status().rounds[-1].funnel` lists what each rule left, and what other settings would give.
        """
        from dissensus.competition.select import select
        from dissensus.store.files import restored
        from dissensus.store.settings import change_settings, check_section
        from dissensus.tasks import TASKS

        given = {name: value for name, value in settings.items() if value is not None}
        kept = {"eligible": eligible, "scales": scales}
        given |= {name: str(value) for name, value in kept.items() if value is not None}
        current = self.settings
        check_section(current, "select", given)
        kept_files = [self.folder.root / name for name in TASKS[current.task].kept_files]
        with self._changing(), restored(self.folder.settings, *kept_files):
            given = self._task.keep_select(given)
            change_settings(self.folder.settings, type(current), "select", given)
            return select(self._task, again)

    def selection(self) -> list[dict[str, Any]]:
        """What every round selected, row by row, with class names: duel, item, rank, labels, confidences, reserve."""
        from dissensus.store.tables import read_table

        named = {"first_label": self.classes.names, "second_label": self.classes.names}
        tables = [read_table(self.folder.selection(number)) for number in self.folder.rounds()]
        rows = [row for table in tables for row in table.to_pylist()]
        return [{key: named[key][value] if key in named else value for key, value in row.items()} for row in rows]
