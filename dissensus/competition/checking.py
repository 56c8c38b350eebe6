"""check: whether every file of a study is intact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dissensus.competition.evaluation import Competition
from dissensus.competition.select import require_unchanged
from dissensus.competition.task import Task
from dissensus.errors import DissensusError, StudyError
from dissensus.records import Record
from dissensus.steps.growing import rounds_behind
from dissensus.store.checksums import LISTED, Checksums, present, read_checksums
from dissensus.store.folder import Folder
from dissensus.store.picture_checksums import check_pictures
from dissensus.store.tables import read_table


class Check(Record):
    """What is wrong with the files of a study, one sentence per problem; empty if they are intact."""

    study: str
    files: int
    """How many files match their checksums."""
    problems: tuple[str, ...]
    unlisted: tuple[str, ...]
    """Files without a checksum, which cannot be verified."""

    @property
    def is_whole(self) -> bool:
        return not self.problems and not self.unlisted


def check(folder: Folder, task: Callable[[], Task[Any, Any]]) -> Check:
    """Compare every file with its checksum; then, if all match, the files with each other and the database."""
    try:
        known = read_checksums(folder.root) or Checksums()
    except StudyError as error:
        return Check(study=str(folder.root), files=0, problems=(str(error),), unlisted=())
    found = [known.problem(folder.root, name) for name in sorted(known.names)]
    others = [name for name in _not_files(folder) if name not in known.names]
    found += [f"{folder.root / name} is not a file: move it elsewhere" for name in others]
    unlisted = [name for name in present(folder.root) if name not in known.names]
    pictures = check_pictures(folder.root)
    steps: list[Callable[[], object]] = [folder.rounds]
    tables = [folder.root / name for name in unlisted if name.endswith(".parquet")]
    # files of a laconic test have no checksums, since they may be deleted to search again
    steps += [lambda path=path: read_table(path) for path in (*tables, *sorted(folder.laconic.rglob("*.parquet")))]  # type: ignore[misc]
    problems = [line for line in found if line is not None]
    if not problems:  # those of pictures do not keep the files from being compared
        steps.append(lambda: _compare(task()))
    for step in steps:
        try:
            step()
        except DissensusError as error:
            problems.append(str(error))
    return Check(
        study=str(folder.root),
        files=found.count(None) + pictures.files,
        problems=tuple(dict.fromkeys([*problems, *pictures.problems])),
        unlisted=(*unlisted, *pictures.unlisted),
    )


def _not_files(folder: Folder) -> list[str]:
    """Folders, pipes and devices under names that only files of a study have."""
    paths = sorted(path for pattern in LISTED for path in folder.root.glob(pattern) if not path.name.startswith("."))
    return [path.relative_to(folder.root).as_posix() for path in paths if path.exists() and not path.is_file()]


def _compare(task: Task[Any, Any]) -> None:
    """Raise an error if rounds, predictions and the pool do not belong together, or the database is damaged."""
    competition = Competition(task, may_be_behind=True)
    if competition.rounds and not rounds_behind(task.work.folder):
        require_unchanged(task, competition.rounds)
    task.work.database.verify()
