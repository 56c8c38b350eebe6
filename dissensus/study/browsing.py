"""What the models predict, for the owner to look through, before anybody is asked anything."""

from __future__ import annotations

from collections.abc import Callable

from dissensus.study.base import Base


class Browsing(Base):
    """A page that shows the predictions."""

    def browse(self, ready: Callable[[str, str], None], host: str = "127.0.0.1", port: int | None = None) -> None:
        """Serve a page that shows what every model predicts, for the owner only, until the process is stopped.

        It filters items by class, model, disagreement and confidence, needs no questions, and changes nothing, so that
        it can run beside any other command. `ready` is called with the address and the owner's token. Without `port`,
        it listens at that of study.toml, or at a free one if the study is being served.

        Raises:
            StudyError: there are no predictions yet.

        Example:
            >>> study.browse(lambda address, token: print(f"{address}/browse#{token}"))  # doctest: +SKIP
        """
        from dissensus.competition.browsing import PredictionBrowser
        from dissensus.steps.serving import study_key
        from dissensus.web.app import Viewer
        from dissensus.web.running import is_free, run

        browser = PredictionBrowser(lambda: self._task)
        browser.about()  # says in words if there is nothing to see
        if port is None:
            usual = self.settings.serve.port
            port = usual if is_free(host, usual) else 0
        viewer = Viewer(browser, study_key(self.folder))
        run(lambda: viewer, host, port, lambda address, opened: ready(address, opened.owner_token))
