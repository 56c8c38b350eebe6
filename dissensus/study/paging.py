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
        is_for_everybody: bool = False,
    ) -> None:
        """Serve what `read` asks until the process is stopped.

        `people` are the section and the name of the setting that says how many people answer each question; `answers`
        changes it; if the page `is_for_everybody`, it is at least as many as have links by then. Nobody gets a
        question twice: an answer may take minutes.
        """
        read(self._task.work)  # says in words if there is nothing to ask, before anything is changed
        values = self._service(None, database, host, port, None, None)
        if answers is not None:
            values[people[0]] = {people[1]: answers}
        self._serve(values, ready, port, tell, partial(self._paged, read, people, is_for_everybody))

    def _paged(
        self,
        read: Callable[[Workspace[Any]], Inquiry],
        people: tuple[str, str],
        is_for_everybody: bool,
        tell: Callable[[str], None] | None,
        settings: Settings,
    ) -> StudyBacking:
        """A page behind the service."""
        from dissensus.steps.serving import StudyBacking

        count: int = getattr(getattr(settings, people[0]), people[1])
        if is_for_everybody:
            everybody = self._task_with(settings).work.people.all()
            count = max(count, sum(one.revoked is None and not one.is_owner for one in everybody))
        judge = settings.judge.model_copy(update={"min_answers": count})
        serve = settings.serve.model_copy(update={"repeat_rate": 0.0})
        work = self._task_with(settings.model_copy(update={"judge": judge, "serve": serve})).work
        return StudyBacking(work, lambda: read(work), tell)
