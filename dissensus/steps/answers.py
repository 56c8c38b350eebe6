"""The database that holds a study's answers."""

from __future__ import annotations

from dissensus.errors import StudyError
from dissensus.steps.pooling import earlier_pools, has_items, pool_stamp
from dissensus.store.answers import AnswerLog
from dissensus.store.checksums import begin, read_checksums
from dissensus.store.database import Database
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings


def study_database(folder: Folder, settings: Settings) -> Database:
    """The study's database; one outside the study folder is claimed first, since another study could use it too.

    Raises:
        StudyError: the database holds the answers of another study, or the study's own file of answers is lost.
    """
    database = Database.of(folder, settings)
    if database.path == folder.judgements:
        if folder.judgements.exists() and folder.judgements.stat().st_size:
            begin(folder.judgements)
        else:
            _refuse_if_lost(folder)
    elif has_items(folder):
        database.claim(pool_stamp(folder), settings.title or folder.root.resolve().name, earlier_pools(folder))
    return database


def _refuse_if_lost(folder: Folder) -> None:
    """Raise StudyError if the file of answers, which is missing or empty, was there before."""
    path, known = folder.judgements, read_checksums(folder.root)
    if known is not None and path.name in known.begun:
        raise StudyError(
            f"{path} is {'empty' if path.exists() else 'missing'}: restore it from a backup; to continue without its "
            f"answers, run dissensus check {folder.root} --record"
        )


def refuse_to_leave_behind(folder: Folder, database: Database) -> None:
    """Refuse to use another database while the study's own file holds answers that are missing there.

    Raises:
        StudyError: says how to move the answers.
    """
    if database.path is None and folder.judgements.exists():
        here = AnswerLog(Database(f"sqlite:///{folder.judgements}")).counts()[0]
        there = AnswerLog(database).counts()[0]
        if here > there:
            raise StudyError(
                f"{folder.judgements} holds {here:,} answers but {database.name} only {there:,}: export them from the "
                "old database (dissensus judgements export), then import them into the new one"
            )
