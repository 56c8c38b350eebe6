"""A complete copy of a study, even while people are answering."""

from __future__ import annotations

import shutil
from contextlib import closing
from functools import partial
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.store.durable import flush_folder, make_folder, replace_file
from dissensus.store.folder import Folder


def back_up(folder: Folder, database: Database, target: Path) -> int:
    """Copy a study to a new folder, and return the number of its answers; the copy is a study like any other.

    Checksums are copied, too, so that damage is noticed in the copy as well.
    The answers are those of one moment during the call, so all that were acknowledged before it are included.

    Raises:
        StudyError: the folder exists, or is part of the study, or the answers are on a server.
    """
    if database.path is None:
        raise StudyError(
            f"the answers are in {database.name}: back them up with pg_dump, and copy {folder.root} as it is "
            f"(pg_dump --format=custom --file=answers.dump {database.name})"
        )
    if target.exists():
        raise StudyError(f"{target} already exists: choose a new folder for the backup")
    if target.resolve().is_relative_to(folder.root.resolve()):
        raise StudyError(f"{target} is inside the study: choose a folder outside it for the backup")
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)  # left by a backup that was killed
        make_folder(unfinished.parent)
        unfinished.mkdir(mode=0o700)
        for path in folder.lasting_files():
            replace_file(unfinished / path.relative_to(folder.root), partial(shutil.copyfile, path))
        copied = Folder(unfinished).judgements
        if database.path.exists():
            replace_file(copied, database.copy)
        with closing(Database(f"sqlite:///{copied}")) as opened:
            answers = AnswerLog(opened).counts()[0]
        unfinished.rename(target)
        flush_folder(target.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return answers
