"""Pages of a study that are served on their own, beside the competition."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dissensus.study.asking import Asking

if TYPE_CHECKING:
    from dissensus.inquiry import Inquiry
    from dissensus.steps.serving import StudyBacking
    from dissensus.steps.workspace import Workspace
    from dissensus.store.settings import Settings


class Paging(Asking):
    """Serves one page at a time."""

    def _serve_page(
        self,
        read: Callable[[Workspace[Any]], Inquiry],
        people: tuple[str, str],
        ready: Callable[[str, str], None],
        host: str | None,
        port: int | None,
        tell: Callable[[str], None] | None,
        answers: int | None,
        database: str | None,
        *,
        at_least: Callable[[Settings], int] | None = None,
    ) -> None:
        """Serve what `read` asks until the process is stopped.

        `people` are the section and the name of the setting that says how many people answer each question; `answers`
        changes it, and there are `at_least` so many, whatever it says. Nobody gets a question twice: an answer may take
        minutes.
        """
        read(self._task.work)  # says in words if there is nothing to ask, before anything is changed
        values = self._service(database=database, host=host, port=port)
        if answers is not None:
            values[people[0]] = {people[1]: answers}
        self._serve(values, ready, port, tell, partial(self._paged, read, people, at_least))

    def _paged(
        self,
        read: Callable[[Workspace[Any]], Inquiry],
        people: tuple[str, str],
        at_least: Callable[[Settings], int] | None,
        tell: Callable[[str], None] | None,
        settings: Settings,
    ) -> StudyBacking:
        """A page behind the service."""
        from dissensus.steps.serving import StudyBacking

        count: int = getattr(getattr(settings, people[0]), people[1])
        if at_least is not None:
            count = max(count, at_least(settings))
        judge = settings.judge.model_copy(update={"min_answers": count})
        serve = settings.serve.model_copy(update={"repeat_rate": 0.0})
        work = self._task_with(settings.model_copy(update={"judge": judge, "serve": serve})).work
        return StudyBacking(work, lambda: read(work), tell)
