"""How little of an image is enough: the methods of the laconic test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dissensus.study.asking import Asking

if TYPE_CHECKING:
    from dissensus.steps.serving import StudyBacking
    from dissensus.store.settings import Settings


class LaconicPart(Asking):
    """The laconic test, for classifiers and for people."""

    def laconic_serve(
        self,
        ready: Callable[[str, str], None],
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        answers: int | None = None,
        database: str | None = None,
    ) -> None:
        """Let people play until the process is stopped: they uncover images, and name the MEPIs of machines.

        The arguments are those of `serve`, which cannot run at the same time.

        Raises:
            StudyError: the classes of the images are not known yet, or the study is not about labels.
        """
        self._labels("a laconic test")
        self._serve(self._service(answers, database, host, port, None, None), ready, port, tell, self._playing)

    def _playing(self, tell: Callable[[str], None] | None, settings: Settings) -> StudyBacking:
        """The game behind the service."""
        from dissensus.laconic.asking import Play
        from dissensus.laconic.found import found_mepis
        from dissensus.steps.serving import StudyBacking

        work = self._task_with(settings).work
        return StudyBacking(work, lambda: Play(work, found_mepis(work)), tell)
