"""The Study class: a complete comparison of models in one folder, with methods named after the commands."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from dissensus.errors import StudyError
from dissensus.store.folder import Folder
from dissensus.store.lock import Lock

# Everything else is imported where it is used: numerical libraries take a second to load, and a notebook should not
# have to wait for those it does not need.
if TYPE_CHECKING:
    from dissensus.arrays import Array, UInt16
    from dissensus.competition.checking import Check
    from dissensus.competition.removing import Removal
    from dissensus.competition.status import Status
    from dissensus.competition.task import Evaluation, Task
    from dissensus.engines.local import Progress
    from dissensus.plots import Plot
    from dissensus.records import Classes, Ranking, Rankings
    from dissensus.report.data import Benchmark
    from dissensus.report.scores.data import Screenings
    from dissensus.steps.serving import StudyBacking
    from dissensus.store.consent import Code
    from dissensus.store.database import Database
    from dissensus.store.people import People
    from dissensus.store.settings import Settings
    from dissensus.tasks.scores import Scores
    from dissensus.tasks.scores.scaling import ScaleFit
    from dissensus.web.running import Ready


class Study:
    """One comparison of models, kept in one folder. Nothing outside the folder matters.

    Example:
        >>> import tempfile
        >>> study = Study.init(tempfile.mkdtemp(), classes=["cat", "dog"])
        >>> study.pool(items=["a", "b", "c", "d"])
        >>> study.predict(small=["cat", "cat", "dog", "dog"], large=["dog", "cat", "dog", "cat"])
        {'small': True, 'large': True}
        >>> study.select(k=2)
        1
        >>> study.questions()[0].item, study.questions()[0].name
        ('a', 'cat')
        >>> answers = [
        ...     {"item": q.item, "label": q.name, "annotator": "ann", "answer": "yes" if q.name == "dog" else "no"}
        ...     for q in study.questions()
        ... ]
        >>> study.answer(answers)
        4
        >>> study.rank().standings[0].rank_low
        1
    """

    def __init__(self, path: str | Path, progress: Progress | None = None) -> None:
        """Open a study.

        Args:
            path: The study's folder.
            progress: Called as `progress(what, done, total)` during long steps.

        Raises:
            StudyError: there is no study, or its settings are invalid.
        """
        from dissensus.engines.local import silent

        self.folder = Folder(Path(path))
        self.progress: Progress = progress or silent
        self._lock = Lock(self.folder.lock)
        self.settings  # noqa: B018  (reports errors in study.toml right away)

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
        """
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
            raise StudyError(f"{path} already exists and is not empty: choose another folder")
        if task not in TASKS:
            raise StudyError(f"there is no task '{task}': choose one of {', '.join(TASKS)}")
        kind, words = TASKS[task], {"title": title, "notes": list(notes)}
        found = None if kind.usual_classes is None else _chosen_classes(kind, classes, taxonomy)
        folder.root.mkdir(parents=True, exist_ok=True)
        remove_left_over(folder.root)
        record_all(folder.root)
        if found is not None:
            words["classes"], document = found
            write_text(folder.classes, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
        write_new(folder.settings, kind.settings, task, kind.template, kind.frame, words)
        return cls(path)

    @property
    def settings(self) -> Settings:
        """The current contents of study.toml."""
        from dissensus.store.settings import read_settings
        from dissensus.tasks import TASKS

        return read_settings(self.folder.settings, {name: task.settings for name, task in TASKS.items()})

    @cached_property
    def classes(self) -> Classes:
        """What the labels mean; empty if models do not predict classes."""
        from dissensus.records import Classes
        from dissensus.store.checksums import verify
        from dissensus.store.classes import classes_of
        from dissensus.tasks import TASKS

        if TASKS[self.settings.task].usual_classes is None:
            return Classes(())
        verify(self.folder.classes)
        try:
            return classes_of(json.loads(self.folder.classes.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{self.folder.classes} is missing or damaged ({error}): start a new study") from None

    def pool(self, sources: Sequence[str | Path] = (), *, items: Any = None, allow_missing: bool = False) -> None:
        """Set the pool: the items that all models predict.

        Args:
            sources: Image folders, globs and manifests (CSV or Parquet with the columns item and path).
            items: Instead of sources: a frame with the columns item and path, a list of ids or file paths, or an array
                of images (N×height×width or N×height×width×3, uint8).
            allow_missing: Accept items whose files are missing; no questions are asked about them.
        """
        from dissensus.steps.given import keep_pool
        from dissensus.steps.pooling import make_pool
        from dissensus.steps.pools import ENUMERATED, enumerate_pool, refuse_mixed
        from dissensus.store.files import restored
        from dissensus.tasks import TASKS

        given = self.folder.given
        with self._changing(), restored(given, given / "images", given / "pool.parquet"):
            self.__dict__.pop("_uris", None)
            named = [str(source) for source in sources]
            if items is not None:
                named.append(str(keep_pool(self.folder, items)))
            if not any(source.startswith(ENUMERATED) for source in named):
                refuse_mixed(self.folder)
                make_pool(self.folder, named, self.progress, allow_missing)
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
    ) -> dict[str, bool]:
        """Run new models, and those in study.toml that have not finished, on the whole pool.

        Args:
            models: New models, each as NAME=BACKEND:TARGET.
            preprocess: How images are prepared for these models.
            lower: Names of the models for which lower scores are better.
            again: Names of models to predict again, with the settings in study.toml or those given here. The new
                predictions replace the old ones once they are complete.
            **given: Models in memory, by name. Each is an array or a list of predictions in the order of the pool (for
                labels also a matrix of probabilities, or a pair of labels and confidences), a frame with a column label
                or score and optionally item, or a function. A function is called with up to 256 items at a time (file
                paths if the pool has them, otherwise ids) and returns their predictions. For masks, predictions are
                matrices of class numbers.

        Returns:
            For each model, whether anything was left to predict.

        Example:
            >>> study.predict(["a=onnx:a.onnx"], b=labels_of_b, c=model.predict)  # doctest: +SKIP
        """
        from dissensus.steps.code import model_code, pool_code
        from dissensus.steps.models import named_models
        from dissensus.steps.predicting import is_wanted, predict
        from dissensus.store.consent import agree_if_possible, require_agreement
        from dissensus.store.files import restored
        from dissensus.tasks import TASKS

        kind, kept = TASKS[self.settings.task], self.folder.given
        files = [kept, *(kept / name for name in given), *(kept / f"{name}.parquet" for name in given)]
        with self._changing(), restored(*files if given else ()):
            specs = [*models, *(f"{name}=file:{self._keep(name, one, name in again)}" for name, one in given.items())]
            more = (specs, preprocess or {}, lower, kind.preprocess, kind.gives_numbers, again)
            with named_models(self.folder, self.settings, *more) as named:
                settings, task = self.settings, self._task
                if not settings.models:
                    raise StudyError("the study has no models yet: add some as NAME=BACKEND:TARGET")
                # a finished model is no longer needed: it is opened again only if it is named again
                todo = [name for name in settings.models if name in named or not self.folder.predictions(name).exists()]
                unnamed = [name for name in todo if name not in named]  # a user who names a model agrees to its code
                require_agreement(self.folder, [*pool_code(self.folder), *model_code(settings, unnamed)])
                agree_if_possible(self.folder, model_code(settings, named))
                sources = {name: task.source(task.work, name) for name in todo}
                for name, source in sources.items():  # all are checked before any is run
                    is_wanted(source, name in again)
                return {name: predict(source, name in again) for name, source in sources.items()}

    def remove(self, model: str) -> Removal:
        """Remove a model with its predictions, and the rounds that were selected from them if nobody has answered.

        Raises:
            StudyError: there is no such model, or people have answered questions of its rounds: answers are never
                deleted.
        """
        from dissensus.competition.removing import remove

        with self._changing(), Lock(self.folder.serving, "this study is being served: stop the service first"):
            return remove(self._task, model)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock, and remove what killed commands left behind."""
        from dissensus.store.parts import clear_finished

        with self._lock:
            if self._lock.held == 1:
                clear_finished(self.folder)
            yield

    def _keep(self, name: str, given: Any, again: bool) -> Path:
        """Save predictions given in memory to a file in the study, and return its path."""
        from dissensus.backends import parse_spec
        from dissensus.steps.given import keep_predictions, kept_at
        from dissensus.tasks import TASKS

        parse_spec(f"{name}=file:given")  # rejects names that cannot be file names
        if callable(given) and self.folder.predictions(name).exists() and not again:
            return kept_at(self.folder, name)
        columns, items = TASKS[self.settings.task].source.columns, self.items()
        return keep_predictions(
            self.folder, name, given, items, [self._uri(item) for item in items], columns, self.progress, again
        )

    def items(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Ids of the items from `start` up to `stop`, in the order of the pool; all of them by default."""
        from dissensus.steps.pooling import pool_ids, pool_size
        from dissensus.steps.pools import open_source

        rows = range(pool_size(self.folder))[start:stop]
        if self.folder.enumeration.exists():
            return open_source(self.folder).ids(rows)
        return list(pool_ids(self.folder).slice(rows.start, len(rows)).to_pylist())

    def predictions(self, *models: str) -> Any:
        """The models' predictions for every item: a pandas or Polars frame if installed, otherwise an Arrow table.

        Args:
            models: Names of models; defaults to all that have predictions. For a single model, the frame also has its
                confidences and the reasons why items have no prediction.

        Example:
            >>> study.predictions("small", "large")  # doctest: +SKIP
        """
        from dissensus.frames import frame_of
        from dissensus.steps.predicting import predicted

        names = models or predicted(self.folder, self.settings)
        unknown = [name for name in names if not self.folder.predictions(name).exists()]
        if unknown or not names:
            raise StudyError(f"{unknown[0] if unknown else 'the study'} has no predictions yet: run predict first")
        task, items = self._task, {"item": self.items()}
        if len(models) == 1:
            return frame_of(items | dict(task.predictions(models[0])))
        return frame_of(items | {name: next(iter(task.predictions(name).values())) for name in names})

    def labels(self, model: str) -> UInt16[Array, " N"]:
        """The class numbers that a model predicts, in the order of the pool; MISSING where it has no prediction."""
        from dissensus.store.tables import read_table

        return read_table(self.folder.predictions(model), ["label"])["label"].to_numpy()

    def untrusted(self, models: bool = True) -> list[str]:
        """The code that the study would run but that nobody has agreed to on this machine: of its pool and its models.

        Only `pool`, `predict`, `join`, `select`, `scale` and `ask` run code, the last three only that of the pool
        (`models=False`). To name it in a call of `pool` or `predict` is to agree.
        """
        from dissensus.store.consent import unagreed

        return [code.target for code in unagreed(self.folder, self._code(models))]

    def trust(self, models: bool = True) -> None:
        """Agree to run what `untrusted` lists: on this machine, until it changes or the study moves."""
        from dissensus.store.consent import agree

        agree(self.folder, self._code(models))

    def _code(self, models: bool) -> list[Code]:
        from dissensus.steps.code import model_code, pool_code

        settings = self.settings
        todo = [name for name in settings.models if models and not self.folder.predictions(name).exists()]
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
        and scales (voc, voc-reordered, pool, none, a CSV, or a folder of a training set's maps).
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

    def questions(self, path: str | Path | None = None, image_url: str | None = None) -> Sequence[Any]:
        """The open questions; with a path (.html, .csv or .jsonl), they are also written to an answer sheet.

        `image_url`, the base URL of the images, adds a column of URLs to a .csv for crowdsourcing platforms.
        """
        task, evaluation = self._task, self._evaluation()
        found = task.open_questions(evaluation)
        if path is not None:
            task.write_questions(evaluation, found, Path(path), image_url)
        return found

    def selection(self) -> list[dict[str, Any]]:
        """What every round selected, row by row, with class names: duel, item, rank, labels, confidences, reserve."""
        from dissensus.store.tables import read_table

        named = {"first_label": self.classes.names, "second_label": self.classes.names}
        tables = [read_table(self.folder.selection(number)) for number in self.folder.rounds()]
        rows = [row for table in tables for row in table.to_pylist()]
        return [{key: named[key][value] if key in named else value for key, value in row.items()} for row in rows]

    def asked(self) -> list[tuple[Any, ...]]:
        """What every question that the study has needed so far, answered or not, is about.

        For labels: (item, label). For scores: (first, second), two items. For masks: (item,), or (item, first, second)
        if people choose between two models' maps of the item.
        """
        from dissensus.competition.evaluation import Competition

        about = [question.body for question in Competition(self._task).asked_so_far()]
        how = ("same", "again", "prefill")  # checks and corrections are about the same item as the drawing
        return list(dict.fromkeys(tuple(value for name, value in one.items() if name not in how) for one in about))

    def judgements_import(self, path: str | Path, format: str | None = None, annotator: str | None = None) -> int:
        """Import the answers in a file, all or none, and return how many were new.

        `format` is one of rows (JSON Lines, CSV, Parquet), label-studio, labelme, coco and png; it is detected by
        default. `annotator` is who answered, if the file does not say.
        """
        from dissensus.engines.local import counted
        from dissensus.steps.pools import open_pool
        from dissensus.store.exchange import read_responses

        is_item = open_pool(self.folder).__contains__
        task, database = self.settings.task, self._database
        read = partial(
            read_responses, Path(path), self.classes, is_item, format, annotator, task=task, items=self._items
        )
        if database.path is not None and not database.path.exists():
            for _ in read():  # an import that is refused makes no database
                pass
        return self._task.work.answers.append(counted("import", read(), self.progress))

    def answer(self, answers: Any, annotator: str | None = None) -> int:
        """Store answers given in memory, all or none, and return how many were new.

        Args:
            answers: A frame, a dict of columns or a list of dicts, with the same columns as a file of answers: item,
                label, answer (yes, no, unsure, unfit) and annotator for labels; first, second and answer for scores;
                and optionally time, seconds and comment.
            annotator: Who answered, if there is no such column.

        Example:
            >>> study.answer(frame, annotator="ann")  # doctest: +SKIP
        """
        import pyarrow.parquet as pq

        from dissensus.frames import table_of

        with TemporaryDirectory() as folder:
            path = Path(folder) / "answers.parquet"
            pq.write_table(table_of(answers), path)
            return self.judgements_import(path, "rows", annotator)

    def judgements_export(
        self, path: str | Path, format: str | None = None, tell: Callable[[str], None] | None = None
    ) -> int:
        """Write all answers of all kinds, in the order in which they were stored, and return how many.

        The format `png` holds only the latest masks; `tell` is called with one line about what that leaves out.
        """
        from dissensus.store.exchange import write_responses

        work = self._task.work
        work.database.verify()
        responses = (response for _, response in work.answers.all())
        return write_responses(Path(path), responses, self.classes, format, self._uri, self._items, tell)

    def ask(self, path: str | Path, role: str = "asked") -> tuple[int, int]:
        """Add questions from a JSON Lines or CSV file: to be asked, or with known answers as controls or for training.

        Returns how many are new, and how many are in the file.
        """
        from dissensus.competition.evaluation import Competition
        from dissensus.steps.pools import drawn, open_source
        from dissensus.steps.serving import items_shown
        from dissensus.steps.setting import read_set_questions, refuse_the_studys_own
        from dissensus.store.set_questions import CustomQuestions

        pool = open_source(self.folder)
        found = read_set_questions(Path(path), role, self.classes, pool.__contains__)
        if self.folder.rounds():
            refuse_the_studys_own(found, Competition(self._task).texts_so_far(), Path(path))
        if self.folder.enumeration.exists():
            drawn(
                self.folder,
                pool.places(sorted({item for one in found for item in items_shown(one.question)})),
                self.progress,
            )
        return CustomQuestions(self._database).add(found), len(found)

    def change(self, section: str, values: Mapping[str, Any]) -> None:
        """Write settings of a section into study.toml, leaving everything else unchanged; values of None are skipped.

        Example: `study.change("judge", {"min_answers": 3})`

        Raises:
            StudyError: a value is invalid; nothing was changed.
        """
        from dissensus.store.settings import change_settings

        with self._lock:
            change_settings(self.folder.settings, type(self.settings), section, dict(values))

    def configure(
        self,
        answers: int | None = None,
        database: str | None = None,
        host: str | None = None,
        port: int | None = None,
        instructions: Sequence[str] | None = None,
    ) -> None:
        """Save settings of the service in study.toml: people per question, where it listens, where answers are stored.

        `instructions` are paragraphs that people read before they start.

        Raises:
            StudyError: a value is invalid, or the database URL contains a password, which must not be saved in a file.
        """
        from dissensus.store.database import VARIABLE, has_password
        from dissensus.store.files import restored

        if database is not None and has_password(database):
            raise StudyError(
                f"the database URL contains a password, which must not be in {self.folder.settings}: "
                f"set {VARIABLE} to the URL instead"
            )
        with self._lock, restored(self.folder.settings):
            self.change("judge", {"min_answers": answers})
            reached = {"host": host, "port": port or None}  # port 0 is not saved: it picks a different port each time
            told = {"instructions": None if instructions is None else list(instructions)}
            self.change("serve", {"database": database} | reached | told)

    @property
    def address(self) -> str:
        """The URL at which people reach the service, according to study.toml."""
        serve = self.settings.serve
        host = socket.gethostname() if serve.host in ("0.0.0.0", "::") else serve.host
        return f"http://{host}:{serve.port}"

    def serve(
        self,
        ready: Ready,
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Serve the annotation pages until the process is stopped.

        `ready` is called with the addresses, and `tell` with one line if pictures are missing: reserves replace them.
        """
        from dissensus.web.app import Service  # takes half a second to import, and only this needs it
        from dissensus.web.running import run

        serve = self.settings.serve
        with Lock(self.folder.serving, "this study is already being served: stop that service first"):
            make = lambda: Service(self._backing(tell or (lambda _: None)))  # noqa: E731
            run(make, host or serve.host, serve.port if port is None else port, ready)

    def overview(self) -> dict[str, Any]:
        """Progress, annotators and suggested exclusions: what the owner's dashboard shows."""
        from dissensus.steps.serving import overview_of

        return overview_of(self._backing())

    def screen(self) -> list[str]:
        """Exclude everybody whom the overview suggests excluding, and return their names; `include` undoes this."""
        suggested = {one["name"]: one["suggestion"] for one in self.overview()["annotators"] if one["suggestion"]}
        for name, reason in suggested.items():
            self.people.exclude(name, reason, "screen")
        return list(suggested)

    def screenings(self) -> Screenings | None:
        """The results of BT.500 and P.910 for everybody who compared pairs, side by side; None if nobody has yet."""
        task = self._scores
        if task.kind != "slider":
            raise StudyError(
                "this study asks for choices, which cannot be screened as numbers: see dissensus annotators list"
            )
        return task.screenings(self._evaluation())

    def exclude(self, name: str, reason: str) -> None:
        """Stop counting a person's answers; `include` undoes this."""
        self.people.require(name)
        self.people.exclude(name, reason, "owner")

    def include(self, name: str, reason: str) -> None:
        """Count a person's answers again."""
        self.people.require(name)
        self.people.include(name, reason, "owner")

    @property
    def people(self) -> People:
        """The annotators: add and revoke links, exclude and include answers."""
        from dissensus.steps.pooling import pool_stamp
        from dissensus.store.people import People

        pool_stamp(self.folder)  # raises an error if there is no pool to ask about
        return People(self._database)

    def rank(self, method: str | None = None) -> Ranking | Rankings:
        """Rank the models by the annotators' answers, and save the result in results/.

        Returns a `Ranking` for labels, and a `Rankings` (by aggressiveness and by resistance) for scores and masks.
        """
        return self._task.rank(self.evaluation(), method)

    def evaluation(self) -> Evaluation[Any, Any]:
        """All rounds with their answers and what follows from them: the input of a ranking.

        Raises:
            StudyError: nothing has been selected yet.
            ScreeningError: the study's screening has no estimate for these answers.
        """
        from dissensus.competition.evaluation import Competition

        return Competition(self._task).weighed()

    def consensus(self) -> Mapping[str, float]:
        """Agreement of every classifier with the plurality vote over the pool: a ranking that needs no annotators."""
        from dissensus.tasks.labels import Labels

        task = self._task
        if not isinstance(task, Labels):
            raise StudyError("only studies of labels have a plurality vote, as other models do not predict classes")
        return task.consensus(self._evaluation().models)

    def benchmark(self, ranking: Ranking) -> Benchmark | None:
        """The ranking compared with the user's benchmark, if there is one."""
        from dissensus.steps.benchmark import known_benchmark

        return known_benchmark(self.folder, ranking)

    def report(
        self, method: str | None = None, benchmark: str | Path | None = None, figures: str | Path | None = None
    ) -> Path:
        """Rank the models, write the report, and return its path.

        Args:
            method: How judgements become a ranking; defaults to the method in study.toml.
            benchmark: A CSV with model and a score to compare with; copied into the study.
            figures: A folder for every figure of the report, as SVG and PDF with its numbers as CSV.
        """
        from dissensus.report.page import render
        from dissensus.steps.benchmark import read_benchmark
        from dissensus.store.files import restored, write_text

        with restored(self.folder.benchmark, self.folder.results, self.folder.ranking, self.folder.matrices):
            if benchmark is not None:
                read_benchmark(Path(benchmark))
                write_text(self.folder.benchmark, Path(benchmark).read_text(encoding="utf-8-sig"))
            page = self._task.page(self.evaluation(), method)
        write_text(self.folder.report, render(page))
        for number, plot in enumerate(page.plots if figures is not None else (), start=1):
            plot.write(Path(str(figures)))
            self.progress("figures", number, len(page.plots))
        return self.folder.report

    def plots(self, method: str | None = None) -> dict[str, Plot]:
        """The figures of the report by name: `study.plots()["ranking"].figure()` is a matplotlib figure."""
        return {plot.name: plot for plot in self._task.page(self.evaluation(), method).plots}

    def check(self, record: bool = False) -> Check:
        """Whether every file of the study is whole: all that is missing or damaged, and what to do about it.

        Args:
            record: First accept the files as they are now, for a study without checksums or after restoring files.
        """
        from dissensus.competition.checking import check
        from dissensus.store.checksums import record_all

        if record:
            with self._changing():
                record_all(self.folder.root)
        return check(self.folder, lambda: self._task)

    def status(self) -> Status:
        """The progress of the study, and what to do next."""
        from dissensus.competition.status import status_of

        return status_of(self._task)

    def backup(self, path: str | Path) -> int:
        """Copy the study to a new folder, also while it is served, and return the number of answers in the copy.

        The copy is a study of its own: it has every answer that was acknowledged before.

        Raises:
            StudyError: the folder exists already, or the answers are on a PostgreSQL server.
        """
        from dissensus.steps.backing_up import back_up

        with self._lock:
            return back_up(self.folder, self._database, Path(path))

    @property
    def _task(self) -> Task[Any, Any]:
        """The study's competition, with its current settings."""
        from dissensus.steps.workspace import Workspace
        from dissensus.tasks import TASKS

        settings = self.settings
        return TASKS[settings.task](Workspace(self.folder, settings, self.classes, self.progress))

    def _evaluation(self) -> Evaluation[Any, Any]:
        """All rounds with the answers so far."""
        from dissensus.competition.evaluation import Competition

        return Competition(self._task).evaluation()

    @property
    def _scores(self) -> Scores:
        """The competition of models that predict scores.

        Raises:
            StudyError: the study has another task.
        """
        from dissensus.tasks.scores import Scores

        task = self._task
        if not isinstance(task, Scores):
            raise StudyError(f"this is a study of {task.name}: only studies of scores have scales and sliders")
        return task

    @cached_property
    def _database(self) -> Database:
        from dissensus.steps.answers import study_database

        return study_database(self.folder, self.settings)

    def _backing(self, tell: Callable[[str], None] | None = None) -> StudyBacking:
        """The study behind the service; with `tell`, it first looks for pictures, and tells which are missing."""
        from dissensus.competition.evaluation import Competition
        from dissensus.steps.presence import some
        from dissensus.steps.serving import StudyBacking, pictures_by_hand

        task = self._task  # the settings stay the same for as long as it is served

        def checked() -> Competition[Any, Any]:
            competition = Competition(task)
            missing = [] if tell is None else competition.note_missing(pictures_by_hand(task.work))
            if tell is not None and missing:
                tell(
                    f"{len(missing):,} pictures are missing ({some(missing)}): reserves take their place; to ask about "
                    "them, restore them and start the service again"
                )
            return competition

        return StudyBacking(task.work, checked)

    def _items(self) -> list[str]:
        """Ids of all items."""
        from dissensus.steps.pooling import pool_ids

        return list(pool_ids(self.folder).to_pylist())

    def _uri(self, item: str) -> str | None:
        """The path of an item's picture."""
        return self._uris.get(item)

    @cached_property
    def _uris(self) -> dict[str, str | None]:
        from dissensus.store.tables import read_table

        if self.folder.enumeration.exists():  # its pictures do not exist until they are drawn
            return {}
        columns = read_table(self.folder.pool, ["id", "uri"]).to_pydict()
        return dict(zip(columns["id"], columns["uri"], strict=True))


def _chosen_classes(
    task: type[Task[Any, Any]],
    classes: str | Path | Sequence[str] | None,
    taxonomy: str | Path | None,
) -> tuple[str, dict[str, Any]]:
    """The name of the classes for study.toml, and their document."""
    from dissensus.discrepancy.labels import class_distances
    from dissensus.store.classes import SHIPPED, classes_of, read_classes

    edges = None if taxonomy is None else Path(taxonomy)
    if classes is None or isinstance(classes, str | Path):
        named = str(classes or task.usual_classes)
        document = read_classes(named, edges)
    else:
        named = "classes.txt"
        with TemporaryDirectory() as temporary:
            path = Path(temporary) / named
            path.write_text("\n".join(classes), encoding="utf-8", errors="surrogatepass")
            document = read_classes(str(path), edges)
    found = classes_of(document)
    if task.most_classes is not None and len(found) > task.most_classes:
        raise StudyError(
            f"there are {len(found):,} classes, but maps can have at most {task.most_classes}, including the "
            "background: leave some out"
        )
    if found.taxonomy is not None:
        class_distances(found, "weighted")  # raises an error now if the taxonomy has a cycle or two roots
    return (named if named in SHIPPED else Path(named).name), document
