"""browse: the predictions of all models, as the owner's page of the service shows, filters and sorts them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunningError
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.engines.reduction import Reduction
from dissensus.errors import DissensusError, PoolError, StudyError, one_line
from dissensus.pool import is_video
from dissensus.predictions.browsing import Facts, Filter, Matches, considered, matches
from dissensus.progress import Progress
from dissensus.records import shown_colours
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.pools import EnumeratedPool, open_source
from dissensus.steps.predicting import predicted
from dissensus.steps.workspace import Workspace
from dissensus.store.durable import file_state
from dissensus.web.backing import NamedFilter

if TYPE_CHECKING:
    from dissensus.competition.task import Task

PATIENCE = 2.0
"""Seconds that a request waits for a search; then it says how far the search is."""
KEPT = 8
"""Searches whose results are kept."""


class Catalogue(ABC):
    """The predictions of all models, as a task reads, compares and shows them."""

    level: ClassVar[str]
    """What is between 0 and 1 about a prediction: confidence, rank or share."""
    chunk: ClassVar[int]
    """Items that are filtered at once."""
    has_maps: ClassVar[bool] = False
    """Whether predictions are maps, which are laid over the pictures and compared by the study's `measure`."""

    def __init__(self, work: Workspace[Any], models: Sequence[str]) -> None:
        self.work, self.models = work, list(models)

    def prepare(self, progress: Progress) -> None:  # noqa: B027
        """Compute what filters need and files do not hold; called once, before anything else."""

    @abstractmethod
    def load(self, rows: range) -> Any:
        """What filters need to know about a chunk of items."""

    @abstractmethod
    def facts(self, loaded: Any, wanted: Filter) -> Facts:
        """The same as one filter sees it."""

    @abstractmethod
    def labels(self, loaded: Any, counted: Bool[Array, "M n"]) -> Int[Array, " C"]:
        """How many items have a counted prediction of each class; empty if there are no classes."""

    @abstractmethod
    def shown(self, items: Int[Array, " n"]) -> list[list[dict[str, Any]]]:
        """The predictions of every item and model, with those fields of the service's `PredictionOut` that apply."""

    def overlay(self, _item: int, _model: int, /) -> bytes | None:
        """A model's map of an item as a PNG with a transparent background; None if it has none."""
        return None


class Search(Reduction[Any, Matches]):
    """The items that match a filter."""

    def __init__(self, catalogue: Catalogue, wanted: Filter) -> None:
        self.catalogue, self.wanted, self.chunk = catalogue, wanted, catalogue.chunk

    def load(self, rows: range) -> Any:
        return self.catalogue.load(rows)

    def scan(self, loaded: Any, first_item: int, known: Matches | None) -> Matches:  # noqa: ARG002
        facts = self.catalogue.facts(loaded, self.wanted)
        counts = self.catalogue.labels(loaded, considered(facts, self.wanted))
        return matches(facts, self.wanted, first_item, counts)

    def merge(self, one: Matches, other: Matches) -> Matches:
        return one.merged(other)


class PredictionBrowser:
    """The predictions of a study behind the interface of the service; it reads files and changes none.

    Searches run in a thread, one at a time, so that a large pool is in memory only once, chunk by chunk.
    """

    def __init__(self, read_task: Callable[[], Task[Any, Any]]) -> None:
        """`read_task` gives the study's task with its current settings: models may join while the page is open."""
        self.read_task = read_task
        self.thread = ThreadPoolExecutor(1)
        self.door = threading.Lock()
        self.opened: tuple[object, Catalogue] | None = None
        self.found: OrderedDict[tuple[object, Filter], Future[tuple[Catalogue, Matches]]] = OrderedDict()
        self.progress = ""
        """How far the search in the thread is, in words."""

    def about(self) -> dict[str, Any]:
        """The study, its models and classes, and what there is to filter by.

        Raises:
            StudyError: there are no predictions.
        """
        task = self.read_task()
        work = task.work
        models = _predicted(task)
        kind, names = _kind(task), list(work.classes.names)
        return {
            "title": work.title,
            "task": task.name,
            "size": work.size,
            "models": models,
            "better": [work.settings.models[name].better for name in models] if task.gives_numbers else [],
            "classes": names,
            "colours": shown_colours(len(names)) if kind.has_maps else [],
            "level": kind.level,
            "measure": work.settings.select.measure if kind.has_maps else None,
        }

    def page(self, wanted: NamedFilter, start: int, count: int) -> dict[str, Any]:
        """Some of the items that match, in order; or, while they are searched for, how far that is.

        Raises:
            StudyError: there is no such model or class.
        """
        task = self.read_task()
        search = self._search(task, _filter_of(wanted, _predicted(task), task.work.classes.names))
        try:
            catalogue, found = search.result(PATIENCE)
        except (StillRunningError, CancelledError):  # cancelled by a later search: the page asks again
            nothing = {"total": 0, "differing": 0, "reachable": 0, "start": start, "items": [], "labels": []}
            return nothing | {"progress": self.progress}
        places = found.item[start : start + count]
        most = np.argsort(-found.labels, kind="stable")
        return {
            "total": found.total,
            "differing": found.differing,
            "reachable": len(found.item),
            "start": start,
            "items": _items(catalogue, places, found.distance[start : start + count]),
            "labels": [(label, int(found.labels[label])) for label in most.tolist() if found.labels[label]],
            "progress": None,
        }

    def picture(self, number: int) -> str | bytes | None:
        """The picture or clip of an item: its file, or a PNG for an item that is generated; None without one."""
        work = self.read_task().work
        _require_item(work, number)
        pool = open_source(work.folder)
        if isinstance(pool, EnumeratedPool):
            return _drawn(pool, number)
        (uri,) = pool.uris([number])
        return uri

    def overlay(self, number: int, model: str) -> bytes | None:
        """A model's map of an item as a PNG with a transparent background; None if it has none."""
        task = self.read_task()
        _require_item(task.work, number)
        models = _predicted(task)
        place = _place("model", model, models)
        return None if place is None else _kind(task)(task.work, models).overlay(number, place)

    def _search(self, task: Task[Any, Any], wanted: Filter) -> Future[tuple[Catalogue, Matches]]:
        """The search for a filter, which may be under way or over; searches that nobody waits for are given up."""
        key = (_version(task), wanted)
        with self.door:
            known = self.found.pop(key, None)
            if known is None or known.cancelled() or (known.done() and known.exception() is not None):
                for other in self.found.values():
                    other.cancel()
                known = self.thread.submit(self._matches, wanted)
            self.found[key] = known
            while len(self.found) > KEPT:
                self.found.popitem(last=False)
            return known

    def _matches(self, wanted: Filter) -> tuple[Catalogue, Matches]:
        catalogue = self._catalogue()
        work = catalogue.work
        return catalogue, work.engine.reduce(Search(catalogue, wanted), work.size, "searching", self._note, None)

    def _note(self, what: str, done: int, total: int) -> None:
        self.progress = f"{what}: {done:,} of {total:,}" if total else f"{what}: {done:,}"

    def _catalogue(self) -> Catalogue:
        """The predictions as they are now; opened again if they have changed. Called in the thread alone."""
        task = self.read_task()
        version = _version(task)
        opened = self.opened
        if opened is None or opened[0] != version:
            catalogue = _kind(task)(task.work, _predicted(task))
            catalogue.prepare(self._note)
            opened = self.opened = version, catalogue
        return opened[1]


def _kind(task: Task[Any, Any]) -> type[Catalogue]:
    if task.catalogue is None:
        raise StudyError(f"the predictions of a study of {task.name} cannot be browsed")
    return task.catalogue


def _predicted(task: Task[Any, Any]) -> list[str]:
    """The models that have predictions on this pool.

    Raises:
        StudyError: there are none.
    """
    folder = task.work.folder
    models = predicted(folder, task.work.settings)
    if not models:
        raise StudyError(f"there are no predictions yet: dissensus predict {folder.root} NAME=BACKEND:TARGET …")
    check_same_pool(folder, models)
    return models


def _version(task: Task[Any, Any]) -> object:
    """Changes when predictions do, or how they are compared."""
    folder, settings = task.work.folder, task.work.settings
    models = predicted(folder, settings)
    files = [(name, file_state(folder.predictions(name)), settings.models[name].better) for name in models]
    return tuple(files), getattr(settings.select, "measure", None)


def _filter_of(wanted: NamedFilter, models: Sequence[str], classes: Sequence[str]) -> Filter:
    """The filter with numbers instead of names."""
    if wanted.model is not None and wanted.model == wanted.other:
        raise StudyError(f"a model cannot be compared with itself: choose a model other than {wanted.model}")
    return Filter(
        model=_place("model", wanted.model, models),
        other=_place("model", wanted.other, models),
        label=_place("class", wanted.label, classes),
        least=wanted.least,
        most=wanted.most,
        low=wanted.low,
        high=wanted.high,
        sort=wanted.sort,
    )


def _place(what: str, name: str | None, known: Sequence[str]) -> int | None:
    if name is not None and name not in known:
        raise StudyError(_unknown(what, name, known))
    return None if name is None else known.index(name)


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    return f"there is no {what} '{name[:80]}'" + (f": choose one of {', '.join(known)}" if len(known) <= 40 else "")


def _items(catalogue: Catalogue, places: Int[Array, " n"], distance: Array) -> list[dict[str, Any]]:
    """Items as the page shows them."""
    if len(places) == 0:
        return []
    pool, numbers = open_source(catalogue.work.folder), places.tolist()
    is_generated = isinstance(pool, EnumeratedPool)
    uris = [""] * len(numbers) if is_generated else pool.uris(numbers)
    return [
        {
            "number": number,
            "item": name,
            "picture": "image" if is_generated else _picture_kind(uri),
            "distance": float(apart),
            "predictions": predictions,
        }
        for number, name, uri, apart, predictions in zip(
            numbers, pool.ids(numbers), uris, distance.tolist(), catalogue.shown(places), strict=True
        )
    ]


def _picture_kind(uri: str | None) -> str | None:
    return None if uri is None else "clip" if is_video(uri) else "image"


def _require_item(work: Workspace[Any], number: int) -> None:
    if not 0 <= number < work.size:
        raise StudyError(f"there is no item {number:,}: the pool has {work.size:,}, numbered from 0")


def _drawn(pool: EnumeratedPool, number: int) -> bytes:
    buffer = BytesIO()
    try:
        pool.enumeration.draw(number).save(buffer, "PNG")
    except DissensusError:
        raise
    except Exception as error:
        raise PoolError(f"item {number:,} cannot be drawn: {one_line(error)}") from error
    return buffer.getvalue()
