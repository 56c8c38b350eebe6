"""Errors that the person at the keyboard can fix: one line that says what is wrong and what to do.

The command line prints the line and ends with exit code 2; anything else that escapes is a bug of ours.
"""

from __future__ import annotations


class DissensusError(Exception):
    """Something a person can fix; the message is one line and names the fix."""


class StudyError(DissensusError):
    """The study folder, its settings, or a step whose inputs changed under it."""


class UnavailableError(StudyError):
    """A database that cannot be written or reached now; what was to be stored is not, and can be tried again."""


class PoolError(DissensusError):
    """The items of the pool."""


class ClassesError(DissensusError):
    """The classes or their taxonomy."""


class PredictionError(DissensusError):
    """What a model said about the pool."""


class BackendError(DissensusError):
    """A model that cannot be opened or run."""


class SelectionError(DissensusError):
    """Nothing can be selected, or not with these settings."""


class JudgementError(DissensusError):
    """Answers that cannot be taken as they are."""


class RankingError(DissensusError):
    """An estimate that does not exist for these judgements."""


class ScreeningError(DissensusError):
    """An estimate about answers and people that these answers do not allow."""
