"""Errors that the user can fix; the message is one line that says what is wrong and what to do.

The command line prints that line and exits with code 2; any other exception that escapes is a bug. The functions at the
end shorten what a message quotes: other libraries' errors, values and lists of names.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from pathlib import Path
from traceback import walk_tb
from typing import Any

NOT_OWN = (Path(__file__).parent, Path(sysconfig.get_path("stdlib")))
"""Folders whose code no user has written."""
LONGEST_REASON = 200
LONGEST_VALUE = 60
MOST_NAMES = 3


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


class EngineError(DissensusError):
    """The engine that should run a pass over the pool cannot be reached, or has no processors left."""


class SelectionError(DissensusError):
    """Nothing can be selected, at least not with these settings."""


class JudgementError(DissensusError):
    """Answers are invalid and cannot be imported."""


class RankingError(DissensusError):
    """The judgements do not allow a ranking estimate."""


class PlanningError(DissensusError):
    """There is nothing to plan, or nothing can be estimated from the answers so far."""


class ReductionError(DissensusError):
    """An image cannot be reduced in this way."""


class DuplicatesError(DissensusError):
    """Images or their features cannot be compared."""


class TransferError(DissensusError):
    """Accuracies on two test sets do not allow an estimate, or cannot be read."""


class ParticipantError(DissensusError):
    """Labels of people and models, or the images they are about, cannot be read or compared."""


class TemporalError(DissensusError):
    """Frames along a video, or boxes in them, do not allow an estimate, or cannot be read."""


class KernelError(DissensusError, ValueError):
    """Images, strings, layers or a matrix that no kernel machine can be made from."""


class SuiteError(DissensusError):
    """Accuracies of classifiers on many data sets do not allow a comparison, or cannot be read."""


class ScreeningError(DissensusError):
    """The answers do not allow an estimate about annotators."""


class Interrupted(SystemExit):
    """A signal ended the command; any other SystemExit comes from somebody's own code."""


def first_line(error: BaseException) -> str:
    """The first line of another library's message; the type of the error if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def one_line(error: BaseException) -> str:
    """Type and first line of an error in a user's code or model, short enough for a message, and where it arose."""
    line, kind = first_line(error).strip(), type(error).__name__
    text = line if line == kind else f"{kind}: {line}"
    text = text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
    place = own_line(error)
    return f"{text} ({place})" if place else text


def own_line(error: BaseException) -> str:
    """Where in somebody's own code an error arose: 'mine.py, line 12, in predict'; empty if only in libraries."""
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__) if _is_own(frame.f_code.co_filename)]
    if not frames:
        return ""
    frame, line = frames[-1]
    path, name = Path(frame.f_code.co_filename), frame.f_code.co_name
    path = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{path}, line {line}" + ("" if name == "<module>" else f", in {name}")


def _is_own(filename: str) -> bool:
    """Whether a file is neither ours, nor Python's, nor an installed library's."""
    path = Path(filename)
    libraries = {"site-packages", "dist-packages"} & {*path.parts}
    return path.is_file() and not libraries and not any(path.is_relative_to(folder) for folder in NOT_OWN)


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: '1 model', '1,035 duels'."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def quoted(value: Any) -> str:
    """A value that somebody gave, in one short line, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or deeply nested lists
        return "given"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def sides(shape: Sequence[int]) -> str:
    """The shape of an array as people write it: '2 × 32 × 32'."""
    return " × ".join(map(str, shape)) or "a single number"


def as_sentence(reason: object) -> str:
    """A reason that stands alone: 'the line falls' → 'The line falls.'"""
    text = str(reason)
    return f"{text[:1].upper()}{text[1:]}."


def refuse_pipe(path: Path, kind: type[DissensusError]) -> None:
    """Raise an error if a path is a pipe, a device or a socket, whose reading may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise kind(f"{path} is a pipe or a device, not a file: save its contents in a file first")
