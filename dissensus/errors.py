"""Errors that the user can fix; the message is one line that says what is wrong and what to do.

The command line prints that line and exits with code 2; any other exception that escapes is a bug.
"""

from __future__ import annotations

from pathlib import Path


class DissensusError(Exception):
    """Base class: an error that the user can fix; the message is one line and names the fix."""


class StudyError(DissensusError):
    """A problem with the study folder or its settings, or a step whose inputs have changed since it ran."""


class UnavailableError(StudyError):
    """The database cannot be reached or written to right now; nothing was stored, and a retry may work."""


class PoolError(DissensusError):
    """A problem with the items in the pool."""


class ClassesError(DissensusError):
    """A problem with the classes or their taxonomy."""


class PredictionError(DissensusError):
    """A problem with a model's predictions."""


class BackendError(DissensusError):
    """A model cannot be loaded or run."""


class SelectionError(DissensusError):
    """Nothing can be selected, at least not with these settings."""


class JudgementError(DissensusError):
    """Answers are invalid and cannot be imported."""


class RankingError(DissensusError):
    """The judgements do not allow a ranking estimate."""


class ScreeningError(DissensusError):
    """The answers do not allow an estimate about annotators."""


def refuse_pipe(path: Path, kind: type[DissensusError]) -> None:
    """Raise an error if a path is a pipe, a device or a socket, whose reading may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise kind(f"{path} is a pipe or a device, not a file: save its contents in a file first")
