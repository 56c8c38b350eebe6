"""A study as every step sees it: its folder, current settings, classes and database."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from dissensus.engines.local import LocalEngine
from dissensus.engines.reduction import Engine, Partial, Parts, Reduction
from dissensus.progress import Progress, silent
from dissensus.records import Classes
from dissensus.steps.answers import study_database
from dissensus.steps.pooling import pool_size
from dissensus.steps.pools import Pool, open_pool
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.store.folder import Folder
from dissensus.store.people import People
from dissensus.store.settings import Settings

T = TypeVar("T", bound=Settings)


@dataclass(frozen=True)
class Workspace(Generic[T]):
    """What a step needs from a study; every command makes its own, with the current settings."""

    folder: Folder
    settings: T
    classes: Classes
    progress: Progress = silent
    engine: Engine = field(default_factory=LocalEngine)
    """Where passes over the pool run."""

    def bare(self) -> Workspace[T]:
        """The same study for another process."""
        return Workspace(self.folder, self.settings, self.classes)

    @property
    def title(self) -> str:
        """The study's title, or the name of its folder."""
        return self.settings.title or self.folder.root.resolve().name

    @cached_property
    def database(self) -> Database:
        """The database that holds the answers."""
        return study_database(self.folder, self.settings)

    @property
    def answers(self) -> AnswerLog:
        return AnswerLog(self.database)

    @property
    def people(self) -> People:
        return People(self.database)

    @property
    def pool(self) -> Pool:
        return open_pool(self.folder)

    def reduce(
        self, reduction: Reduction[Any, Partial], what: str, parts: Parts | None = None, size: int | None = None
    ) -> Partial:
        """Run a reduction over the whole pool, or over something else that has `size` items."""
        return self.engine.reduce(reduction, self.size if size is None else size, what, self.progress, parts)

    @property
    def size(self) -> int:
        """Number of items in the pool."""
        return pool_size(self.folder)
