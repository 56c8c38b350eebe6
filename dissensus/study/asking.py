"""Questions and answers: the methods that involve people."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import StudyError
from dissensus.store.lock import Lock
from dissensus.study.base import Base, file_of

if TYPE_CHECKING:
    from dissensus.competition.task import Task
    from dissensus.report.scores.data import Screenings
    from dissensus.steps.serving import StudyBacking
    from dissensus.store.folder import Folder
    from dissensus.store.people import People
    from dissensus.store.settings import Settings


class Asking(Base):
    """Questions, answers, the service and the annotators."""

    def questions(self, path: str | Path | None = None, image_url: str | None = None) -> Sequence[Any]:
        """The open questions; with a path (.html, .csv or .jsonl), they are also written to an answer sheet.

        `image_url`, the base URL of the images, adds a column of URLs to a .csv for crowdsourcing platforms.
        """
        task, evaluation = self._task, self._unweighed()
        found = task.open_questions(evaluation)
        if path is not None:
            task.write_questions(evaluation, found, Path(path), image_url)
        return found

    def asked(self) -> list[tuple[Any, ...]]:
        """What every question that the study has needed so far, answered or not, is about.

        For labels: (item, label). For scores: (first, second), two items, or (item,) if people rate items. For masks:
        (item,), or (item, first, second) if people choose between two models' maps of the item.
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
        from dissensus.progress import reported
        from dissensus.shift.replicate.collection import collected_items
        from dissensus.steps.growing import require_current_rounds
        from dissensus.steps.pools import open_pool
        from dissensus.store.exchange import read_responses

        require_current_rounds(self.folder)
        pool, others = open_pool(self.folder), collected_items(self.folder)

        def is_item(item: object) -> bool:
            return item in pool or item in others

        task, database = self.settings.task, self._database
        read = partial(
            read_responses, Path(path), self.classes, is_item, format, annotator, task=task, items=self._items
        )
        if database.path is not None and not database.path.exists():
            for _ in read():  # a refused import must not create a database
                pass
        return self._task.work.answers.append(reported("import", read(), self.progress))

    def answer(self, answers: Any, annotator: str | None = None) -> int:
        """Store answers given in memory, all or none, and return how many were new.

        Args:
            answers: A frame, a dict of columns or a list of dicts, with the same columns as a file of answers: item,
                label, answer (yes, no, unsure, unfit) and annotator for labels; first, second and answer for scores
                (for ratings item and rating); and optionally time, seconds and comment.
            annotator: Who answered, if there is no such column.

        Example:
            >>> study.answer(frame, annotator="ann")  # doctest: +SKIP
        """
        if isinstance(answers, list) and not answers:
            return 0
        with file_of(answers) as path:
            return self.judgements_import(path, "rows", annotator)

    def judgements_export(
        self, path: str | Path, format: str | None = None, tell: Callable[[str], None] | None = None
    ) -> int:
        """Write all answers of all kinds, in the order in which they were stored, and return how many.

        The format `png` holds only the latest masks; `tell` is called with one line about what that leaves out.
        """
        from dissensus.store.exchange import write_responses

        responses = (response for _, response in self._task.work.answers.all())
        return write_responses(Path(path), responses, self.classes, format, self._uri, self._items, tell)

    def ask(self, path: str | Path, role: str = "asked") -> tuple[int, int]:
        """Add questions from a JSON Lines or CSV file: to be asked, or with known answers as controls or for training.

        Returns how many are new, and how many are in the file.
        """
        from dissensus.competition.evaluation import Competition
        from dissensus.steps.pools import drawn, open_source
        from dissensus.steps.serving import items_shown
        from dissensus.steps.setting import read_set_questions, refuse_the_studys_own
        from dissensus.store.files import restored
        from dissensus.store.set_questions import CustomQuestions

        with self._changing(), restored(self.folder.drawings, self.folder.drawn):
            pool = open_source(self.folder)
            found = read_set_questions(Path(path), role, self.classes, pool.__contains__)
            if self.folder.rounds():
                refuse_the_studys_own(found, Competition(self._task).texts_so_far(), Path(path))
            if self.folder.enumeration.exists():
                shown = sorted({item for one in found for item in items_shown(one.question)})
                drawn(self.folder, pool.places(shown), self.progress)
            return CustomQuestions(self._database).add(found), len(found)

    def configure(
        self,
        answers: int | None = None,
        database: str | None = None,
        host: str | None = None,
        port: int | None = None,
        instructions: Sequence[str] | None = None,
        until: str | None = None,
        public_title: str | None = None,
        examples: str | Path | None = None,
    ) -> None:
        """Save settings of the service in study.toml: people per question, where it listens, where answers are stored.

        `instructions` are paragraphs that people read before they start. `until` is what has to be decided about
        classifiers: the service draws questions by itself until it is. `public_title` is the heading that annotators
        see, and `examples` a folder of example pictures, with a subfolder or a picture for each class.

        Raises:
            StudyError: a value is invalid, or the database URL contains a password, which must not be saved in a file.
        """
        self._configure(
            self._service(
                answers=answers, database=database, host=host, port=port, instructions=instructions, until=until,
                public_title=public_title, examples=examples,
            )
        )  # fmt: skip

    def _service(self, until: str | None = None, **given: Any) -> dict[str, dict[str, Any]]:
        """What study.toml says about the service, by section; `until` is for labels only."""
        if until is not None:
            from dissensus.planning.decisions import Until

            self._labels("draws that decide something")
            Until.parsed(until)
        return _service_settings(self.folder, until=until, **given)

    def _configure(self, values: Mapping[str, dict[str, Any]]) -> None:
        self._with_service(values)  # all are checked before any is written
        with self._lock:
            for section, changed in values.items():
                self.change(section, changed)

    def _with_service(self, values: Mapping[str, dict[str, Any]]) -> Settings:
        """The current settings with some of the service changed; nothing is written."""
        from dissensus.store.settings import check_section

        settings = self.settings
        return settings.model_copy(update={name: check_section(settings, name, one) for name, one in values.items()})

    @property
    def address(self) -> str:
        """The URL at which people reach the service, according to study.toml."""
        serve = self.settings.serve
        host = socket.gethostname() if serve.host in ("0.0.0.0", "::") else serve.host
        return f"http://{host}:{serve.port}"

    def serve(
        self,
        ready: Callable[[str, str], None],
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        answers: int | None = None,
        database: str | None = None,
        until: str | None = None,
        public_title: str | None = None,
        examples: str | Path | None = None,
    ) -> None:
        """Serve the annotation pages until the process is stopped.

        `ready` is called with the address and the owner's token. `tell` is called with one line at a time: pictures
        that are missing, so that reserves replace them, and before `ready`, how many people answer each question and
        what that costs. The other arguments are those of `configure`, and are saved in study.toml once the service is
        ready. If neither `answers` nor study.toml says how many people answer each question, and nobody has answered
        yet, it is three (one for masks that are drawn).
        """
        from dissensus.competition.notices import unasked, uncounted
        from dissensus.steps.growing import require_current_rounds

        require_current_rounds(self.folder)
        values = self._service(
            answers=answers, database=database, host=host, port=port, until=until,
            public_title=public_title, examples=examples,
        )  # fmt: skip
        self._serve(values, ready, port, tell, self._backing, lambda task: (*uncounted(task), *unasked(task)))

    def _serve(
        self,
        values: dict[str, dict[str, Any]],
        ready: Callable[[str, str], None],
        port: int | None,
        tell: Callable[[str], None] | None,
        backing: Callable[[Callable[[str], None], Settings], StudyBacking],
        also: Callable[[Task[Any, Any]], Sequence[str]] = lambda _: (),
    ) -> None:
        """Serve whatever `backing` asks about; `values` are changed settings, `also` gives more lines for `tell`."""
        from dissensus.web.app import Service  # takes half a second to import, and only this needs it
        from dissensus.web.effort import effort_of
        from dissensus.web.running import run

        tell = tell or (lambda _: None)
        before, usual = self.settings.judge.min_answers, self.settings.judge.served_answers
        if "judge" not in values and usual != before and self._is_unanswered(values):
            values = values | {"judge": {"min_answers": usual}}
        settings = self._with_service(values)

        def started(address: str, service: Service) -> None:
            outlook = service.desk.backing.inquiry.outlook
            lines = (
                *effort_of(service.desk, before).words,
                *filter(None, [outlook]),
                *also(self._task_with(settings)),
            )
            if values:
                self._configure(values)
            for line in lines:
                tell(line)
            ready(address, service.owner_token)

        with Lock(
            self.folder.serving,
            "this study is already being served, or a round is being replaced: stop that command first",
            is_removed=True,
        ):
            port = settings.serve.port if port is None else port
            run(lambda: Service(backing(tell, settings)), settings.serve.host, port, started)

    def _is_unanswered(self, values: Mapping[str, dict[str, Any]]) -> bool:
        """Whether nobody has answered yet in the database that these settings of the service name."""
        return self._task_with(self._with_service(values)).work.answers.counts()[0] == 0

    def _backing(self, tell: Callable[[str], None] | None = None, settings: Settings | None = None) -> StudyBacking:
        """The study behind the service; with `tell`, it first checks for missing pictures and reports them."""
        from dissensus.competition.browsing import PredictionBrowser
        from dissensus.competition.evaluation import Competition
        from dissensus.steps.serving import StudyBacking

        task = self._task_with(settings or self.settings)  # they stay the same for as long as it is served
        browser = None if task.catalogue is None else PredictionBrowser(lambda: self._task)
        return StudyBacking(task.work, lambda: Competition(task), tell, browser)

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
        """The results of BT.500 and P.910 for everybody who answered, side by side; None if nobody has yet."""
        task = self._scores
        if task.kind == "choice":
            raise StudyError(
                "this study asks for choices, which cannot be screened as numbers: see dissensus annotators list"
            )
        return task.screenings(self._unweighed())

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


def _service_settings(
    folder: Folder,
    answers: int | None = None,
    database: str | None = None,
    host: str | None = None,
    port: int | None = None,
    instructions: Sequence[str] | None = None,
    until: str | None = None,
    public_title: str | None = None,
    examples: str | Path | None = None,
) -> dict[str, dict[str, Any]]:
    """What study.toml says about the service, by section, without what is not given.

    Raises:
        StudyError: the database URL contains a password.
    """
    from dissensus.store.database import VARIABLE, has_password

    if database is not None and has_password(database):
        raise StudyError(
            f"the database URL contains a password, which must not be in {folder.settings}: set {VARIABLE} to the URL "
            "instead"
        )
    serve = {
        "database": database,
        "host": host,
        "port": port or None,  # port 0 is not saved: it picks a different port each time
        "instructions": None if instructions is None else list(instructions),
        "public_title": public_title,
        "examples": None if examples is None else str(examples and Path(examples).resolve()),
    }
    sections: dict[str, dict[str, Any]] = {
        "judge": {"min_answers": answers},
        "serve": serve,
        "estimate": {"until": until},
    }
    given = {name: {key: value for key, value in one.items() if value is not None} for name, one in sections.items()}
    return {name: values for name, values in given.items() if values}
