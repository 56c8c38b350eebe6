"""What all parts of a study share: its folder, settings, classes, task and database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from dissensus.errors import StudyError
from dissensus.store.folder import Folder
from dissensus.store.lock import Lock

# Everything else is imported where it is used: numerical libraries take a second to load, and a notebook should not
# have to wait for those it does not need.
if TYPE_CHECKING:
    from dissensus.competition.task import Evaluation, Task
    from dissensus.progress import Progress
    from dissensus.records import Classes
    from dissensus.store.database import Database
    from dissensus.store.settings import Settings
    from dissensus.tasks.labels import Labels
    from dissensus.tasks.scores import Scores


T = TypeVar("T", bound="Task[Any, Any]")
PATIENCE = 5.0
"""Seconds to wait for another command, such as a service that is drawing questions."""


class Base:
    """A study's folder, opened."""

    def __init__(self, path: str | Path, progress: Progress | None = None, engine: str = "local") -> None:
        """Open a study.

        Args:
            path: The study's folder.
            progress: Called as `progress(what, done, total)` during long steps.
            engine: Where passes over the pool run, and models: `local` (all cores of this machine), `ray` (the cluster
                at $RAY_ADDRESS, or one on this machine), or `ray:ADDRESS`.

        Raises:
            StudyError: there is no study, or its settings are invalid.
            EngineError: the engine is unknown or cannot be reached.
        """
        from dissensus.engines import engine_named
        from dissensus.progress import silent

        self.folder = Folder(Path(path))
        self.progress: Progress = progress or silent
        self._lock = Lock(self.folder.lock, patience=PATIENCE)
        self.settings  # noqa: B018  (reports errors in study.toml right away)
        self.engine = engine_named(engine, self.folder.root)

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
        from dissensus.store.classes import classes_of
        from dissensus.store.files import read_text
        from dissensus.tasks import TASKS

        if TASKS[self.settings.task].usual_classes is None:
            return Classes(())
        try:
            return classes_of(json.loads(read_text(self.folder.classes)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{self.folder.classes} is missing or damaged ({error}): start a new study") from None

    def change(self, section: str, values: Mapping[str, Any]) -> None:
        """Write settings of a section into study.toml, leaving everything else unchanged; values of None are skipped.

        Example: `study.change("judge", {"min_answers": 3})`

        Raises:
            StudyError: a value is invalid; nothing was changed.
        """
        from dissensus.store.settings import change_settings

        with self._lock:
            change_settings(self.folder.settings, type(self.settings), section, dict(values))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock, and remove what killed commands left behind."""
        from dissensus.store.parts import clear_finished

        with self._lock:
            if self._lock.held == 1:
                clear_finished(self.folder)
            yield

    @property
    def _task(self) -> Task[Any, Any]:
        """The study's competition, with its current settings."""
        return self._task_with(self.settings)

    def _task_with(self, settings: Settings) -> Task[Any, Any]:
        from dissensus.steps.workspace import Workspace
        from dissensus.tasks import TASKS

        return TASKS[settings.task](Workspace(self.folder, settings, self.classes, self.progress, self.engine))

    def _unweighed(self) -> Evaluation[Any, Any]:
        """All rounds with the answers so far, without what only a ranking needs: see `evaluation`."""
        from dissensus.competition.evaluation import Competition

        return Competition(self._task).evaluation()

    @property
    def _scores(self) -> Scores:
        """The competition of models that predict scores.

        Raises:
            StudyError: the study has another task.
        """
        from dissensus.tasks.scores import Scores

        return self._task_of(Scores, "scales and sliders")

    def _labels(self, what: str) -> Labels:
        """The competition of classifiers.

        Raises:
            StudyError: the study has another task.
        """
        from dissensus.tasks.labels import Labels

        return self._task_of(Labels, f"{what}, because only their questions have right and wrong answers")

    def _task_of(self, kind: type[T], what: str) -> T:
        """The competition, of a kind that alone has `what`."""
        task = self._task
        if not isinstance(task, kind):
            raise StudyError(f"this is a study of {task.name}: only studies of {kind.name} have {what}")
        return task

    @cached_property
    def _database(self) -> Database:
        from dissensus.steps.answers import study_database

        return study_database(self.folder, self.settings)

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


@contextmanager
def file_of(answers: Any) -> Iterator[Path]:
    """The file of answers at a path, or a temporary one of answers in memory: a frame, columns or a list of dicts."""
    if isinstance(answers, (str, Path)):
        yield Path(answers)
        return
    import pyarrow.parquet as pq

    from dissensus.frames import table_of

    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.parquet"
        pq.write_table(table_of(answers), path)
        yield path
