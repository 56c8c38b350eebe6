"""The database that holds a study's answers."""

from __future__ import annotations

from dissensus.errors import StudyError
from dissensus.steps.pooling import has_items, pool_stamp
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings


def study_database(folder: Folder, settings: Settings) -> Database:
    """The study's database; one outside its folder, which any study can name, is seen to be this one's.

    Raises:
        StudyError: it holds the answers of another study.
    """
    database = Database.of(folder, settings)
    if database.path != folder.judgements and has_items(folder):
        database.claim(pool_stamp(folder), settings.title or folder.root.resolve().name)
    return database


def refuse_to_leave_behind(folder: Folder, database: Database) -> None:
    """Refuse to ask people by another database while the study's own file holds answers that it has not.

    Raises:
        StudyError: says how to move them.
    """
    if database.path is None and folder.judgements.exists():
        here = AnswerLog(Database(f"sqlite:///{folder.judgements}")).counts()[0]
        there = AnswerLog(database).counts()[0]
        if here > there:
            raise StudyError(
                f"{folder.judgements} holds {here:,} answers, {database.name} only {there:,}: export them with the old "
                "database (dissensus judgements export), then import them with the new one"
            )
