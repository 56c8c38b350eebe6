"""serve: a study's files and database, as the annotation service uses them."""

from __future__ import annotations

import asyncio
import json
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import some
from dissensus.inquiry import Inquiry
from dissensus.labeling import QUESTIONS, is_prediction_key
from dissensus.records import Assignment, CustomQuestion, Question, Response
from dissensus.report.wording import counted
from dissensus.steps.answers import refuse_to_leave_behind
from dissensus.steps.classes import with_articles
from dissensus.steps.examples import Example, read_examples, shown_examples
from dissensus.steps.pooling import earlier_pools, pool_stamp
from dissensus.steps.pools import DrawnPool, open_pool
from dissensus.steps.presence import note_missing, recorded_missing
from dissensus.steps.public_title import public_title
from dissensus.steps.workspace import Workspace
from dissensus.store.answers import AnswerLog
from dissensus.store.exchange import write_responses
from dissensus.store.files import fingerprint
from dissensus.store.folder import Folder
from dissensus.store.people import People
from dissensus.store.set_questions import CustomQuestions
from dissensus.store.tables import open_table
from dissensus.web.backing import Browser, Changes, LatestComments, Terms
from dissensus.web.desk import Desk
from dissensus.web.overview import Overview

PAUSED = "paused"
REST = 4
"""After adding questions, wait this many times as long as it took: people's answers go first."""


class StudyBacking:
    """One study's files and database behind the interface of the service."""

    def __init__(
        self,
        work: Workspace[Any],
        read_inquiry: Callable[[], Inquiry],
        tell: Callable[[str], None] | None = None,
        browser: Browser | None = None,
    ) -> None:
        """With `tell`, the study is served: questions are added while people answer, pictures are looked for whenever
        questions are read, and `tell` is called if some are missing. With `browser`, the owner can look through what
        the models predict."""
        folder, settings, database = work.folder, work.settings, work.database
        self.folder, self.settings, self.database = folder, settings, database
        self.classes = with_articles(work.classes)
        title, stamp = work.title, pool_stamp(folder)
        database.claim(stamp, title, earlier_pools(folder))
        refuse_to_leave_behind(folder, database)
        self.answers, self.people = AnswerLog(database), People(database)
        self.set_questions = CustomQuestions(database)
        self.read_inquiry, self.tell, self.browser = read_inquiry, tell, browser
        self.given_examples = self._given_examples()
        self.shown_examples: Mapping[int, tuple[str, ...]] = {}
        self.other_uris: dict[str, str | None] = {}
        self.inquiry, self.missing = self._opened_inquiry()
        self.looked_at = -1
        """The number of the last answer when the inquiry last advanced."""
        self.rests_until = 0.0
        self.known_set_questions: tuple[CustomQuestion, ...] = ()
        serve = settings.serve
        self.terms = Terms(
            title=title,
            key=study_key(folder),
            instructions=serve.instructions,
            answers=settings.judge.min_answers,
            lease_minutes=serve.lease_minutes,
            control_rate=serve.control_rate,
            repeat_rate=serve.repeat_rate,
            break_minutes=serve.break_minutes,
            sessions=serve.sessions,
            rest_minutes=serve.rest_minutes,
            heading=public_title(settings),
        )

    def keep(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Store assignments and responses durably."""
        return self.answers.keep(assignments, responses)

    def assignment(self, ticket: str) -> Assignment | None:
        """The question and the person that a ticket stands for."""
        return self.answers.assignment(ticket)

    def open_assignments(self, since: str) -> list[Assignment]:
        """Questions assigned since a given time that are not answered yet."""
        held = self.answers.open_assignments(since)
        return [one for one in held if not self.missing or self.missing.isdisjoint(items_shown(one.question))]

    def changes(self, after: int) -> Changes:
        """The current state of the study; slow reads happen here, where no request waits for them."""
        set_questions = tuple(self.set_questions.all())
        if set_questions != self.known_set_questions:
            self.other_uris, self.known_set_questions = _uris_of(self.folder, set_questions), set_questions
            self._choose_examples(self.inquiry)
        if self.tell is not None and after != self.looked_at:  # only the service itself adds questions
            self._advance(after)
        if not self.inquiry.is_current():
            self.inquiry, self.missing = self._opened_inquiry()
        return Changes(
            people=tuple(self.people.all()),
            exclusions=tuple(self.people.exclusions()),
            set_questions=set_questions,
            unseen=frozenset(
                one.question.text
                for one in (set_questions if self.missing else ())
                if not self.missing.isdisjoint(items_shown(one.question))
            ),
            is_paused=self.database.get(PAUSED) == "yes",
            version=self.inquiry.version,
            answers=self.answers.raw(after),
        )

    def _advance(self, after: int) -> None:
        """Let the inquiry add questions, unless the last time was so long that people would have to wait for it."""
        begun = time.monotonic()
        if begun >= self.rests_until:
            self.looked_at = after
            self.inquiry.advance()
            self.rests_until = time.monotonic() + REST * (time.monotonic() - begun)

    def _opened_inquiry(self) -> tuple[Inquiry, frozenset[str]]:
        """The questions with the paths of their pictures, and the items whose pictures are missing."""
        inquiry = self.read_inquiry()
        uris = inquiry.uris()  # computed here, where no request waits
        if self.tell is not None:
            others = _uris_of(self.folder, self.set_questions.all())
            note_missing(self.database, others | {name: uris[name] for name in _items_in(uris)}, self.tell)
        self._choose_examples(inquiry)
        return inquiry, recorded_missing(self.database)

    def _given_examples(self) -> Sequence[Example]:
        """The example pictures of the folder that study.toml names; the owner is told which cannot be used."""
        folder = self.settings.serve.examples
        if not folder:
            return ()
        found, problems = read_examples(self.folder.root / folder, self.classes)
        if problems and self.tell is not None:
            count = counted(len(problems), "example cannot", "examples cannot")
            self.tell(f"{count} be shown: {some([Path(one.item).name for one in problems])}")
        return found

    def _choose_examples(self, inquiry: Inquiry) -> None:
        """Leave out examples that are pictures of questions: they would tell what is right."""
        if self.given_examples:
            uris = inquiry.uris()
            asked = [*self.other_uris.values(), *(uris[name] for name in _items_in(uris))]
            self.shown_examples = shown_examples(self.given_examples, [uri for uri in asked if uri])

    @property
    def is_guided(self) -> bool:
        return self.inquiry.is_guided or bool(self.shown_examples)

    def examples(self, label: int) -> Sequence[str]:
        """Examples that belong to what is asked or, if it has none of this class, those of the study."""
        return self.inquiry.examples(label) or self.shown_examples.get(label, ())

    def picture(self, item: str) -> str | None:
        """Path or URI of a picture: of an item or a prediction in the rounds, or of an item in a user's questions."""
        return self.inquiry.uris().get(item) or self.other_uris.get(item)

    def add_person(self, name: str, is_trusted: bool) -> str:
        """Add a person and return their token."""
        return self.people.add(name, is_trusted=is_trusted)

    def revoke(self, name: str) -> None:
        self.people.revoke(name)

    def exclude(self, name: str, is_excluded: bool, reason: str) -> None:
        """Exclude a person's answers, or include them again."""
        change = self.people.exclude if is_excluded else self.people.include
        change(name, reason, "owner")

    def pause(self, is_paused: bool) -> None:
        """Pause the study, or resume it."""
        self.database.set(PAUSED, "yes" if is_paused else "no")

    def commented(self, most: int) -> LatestComments:
        """The latest answers that somebody wrote something beside."""
        found, total = self.answers.commented(most)
        return LatestComments(tuple(found), total)

    def called_unfit(self) -> list[tuple[int, Response]]:
        """People's latest answers that call what they were shown unsuitable."""
        return self.answers.called_unfit()

    def answer_numbered(self, number: int) -> Response | None:
        """The answer with a number."""
        return self.answers.numbered(number)

    def write_answers(self, path: Path) -> None:
        """Write all answers in the format of the suffix; a .zip has all formats, the people and the questions."""
        if path.suffix != ".zip":
            write_responses(path, (response for _, response in self.answers.all()), self.classes)
            return
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("answers.jsonl", "answers.csv", "answers.parquet"):
                beside = path.with_name(name)
                self.write_answers(beside)
                archive.write(beside, name)
                beside.unlink()
            for name, records in (
                ("people", [one.model_dump(exclude={"token_hash"}) for one in self.people.all()]),
                ("exclusions", [one.model_dump() for one in self.people.exclusions()]),
                ("assignments", [one.model_dump() for one in self.answers.assignments()]),
                ("set-questions", [one.model_dump() for one in self.set_questions.all()]),
            ):
                archive.writestr(f"{name}.json", json.dumps(records, ensure_ascii=False, indent=1))


def study_key(folder: Folder) -> str:
    """Identifies the study in a browser's storage without revealing anything about it."""
    return fingerprint("study", pool_stamp(folder))[:12]


async def _opened_overview(backing: StudyBacking) -> dict[str, Any]:
    desk = Desk(backing)
    await desk.open()
    overview: dict[str, Any] = json.loads(await Overview(desk).as_json(patience=None))
    return overview


def overview_of(backing: StudyBacking) -> dict[str, Any]:
    """The contents of the owner's dashboard without a running service: progress, people, suggested exclusions."""
    return asyncio.run(_opened_overview(backing))


def _uris_of(folder: Folder, set_questions: Sequence[CustomQuestion]) -> dict[str, str | None]:
    names = {name for one in set_questions for name in items_shown(one.question)}
    return uris_named(folder, names) if names else {}


def uris_named(folder: Folder, names: set[str]) -> dict[str, str | None]:
    """Paths of the pictures of some items, by id; items that are not in the pool are left out."""
    pool = open_pool(folder)
    if isinstance(pool, DrawnPool):
        drawn = [name for name in sorted(names) if name in pool]
        return dict(zip(drawn, pool.uris(pool.places(drawn)), strict=True))
    wanted = pa.array(sorted(names), pa.string())
    found: dict[str, str | None] = {}
    for batch in open_table(folder.pool).iter_batches(columns=["id", "uri"]):
        here = batch.filter(pc.is_in(batch["id"], wanted))
        found |= zip(here["id"].to_pylist(), here["uri"].to_pylist(), strict=True)
    return found


def items_shown(question: Question) -> tuple[str, ...]:
    """Items whose pictures a question shows."""
    return _items_in(QUESTIONS[question.kind].pictures(question.body, {}))


def _items_in(names: Iterable[str]) -> tuple[str, ...]:
    """The names of pictures that are items, not predictions."""
    return tuple(name for name in names if not is_prediction_key(name))
