"""The Typer app and its exit codes: an error that the user can fix prints one line and exits with code 2."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from dissensus.errors import DissensusError
from dissensus.study import Study
from dissensus.version import __version__

STOPS = (signal.SIGINT, signal.SIGTERM)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Which of these models is better, and where does each one fail? Compare them on an unlabelled pool.\n\n"
    "Start with `dissensus demo`, or with `init`, `pool`, `predict`, `select`, `serve` and `report`.",
)
judgements = typer.Typer(no_args_is_help=True, help="Import and export annotators' answers.")
app.add_typer(judgements, name="judgements")
annotators = typer.Typer(no_args_is_help=True, help="Manage annotators: their personal links, and whose answers count.")
app.add_typer(annotators, name="annotators")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(f"dissensus {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; an error that the user can fix prints one line and exits with code 2."""
    for stop in STOPS:
        signal.signal(stop, _interrupted)
    try:
        return app(arguments)
    except DissensusError as error:
        return _refuse(str(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return _refuse(f"the disk is full ({error.filename or error}): free some space and run the command again")
        if error.errno is None:
            raise
        return _refuse(f"{error.filename or 'input or output'}: {error.strerror}")


def agreed(study: Study, trust: bool, models: bool = False, again: Sequence[str] = ()) -> Study:
    """The study, once its user has agreed to the code of its pool (and models); without an answer, it refuses to run.

    Somebody at a terminal is asked; `trust` is a yes. `again` are finished models that are predicted again.
    """
    found = study.untrusted(models, again)
    if found and not trust and sys.stdin.isatty() and sys.stderr.isatty():
        for target in found:
            print(f"{study.folder.root} would run code on this machine: {target}", file=sys.stderr)
        trust = typer.confirm("Run this code, now and in the future?", err=True)
    if found and trust:
        study.trust(models, again)
    return study


class Stopped(SystemExit):
    """A signal came before the service handled signals itself."""


@contextmanager
def serving() -> Iterator[None]:
    """Let the first SIGINT or SIGTERM end a service, whether it is open or still starting."""

    def stop(_: int, __: object) -> None:
        raise Stopped

    for number in STOPS:
        signal.signal(number, stop)
    with suppress(Stopped):
        yield
    for number in STOPS:  # the service has ended: a second Ctrl-C must not look like an error
        signal.signal(number, signal.SIG_IGN)


def _interrupted(signal_number: int, _: object) -> None:
    print("dissensus: interrupted; run the same command again, which resumes where it can", file=sys.stderr)
    sys.exit(128 + signal_number)


def _refuse(line: str) -> None:
    print("dissensus: " + " ".join(line.split()), file=sys.stderr)
    sys.exit(2)
