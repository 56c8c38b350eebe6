"""The command itself, and how it ends: what a person can fix is one line and exit code 2."""

from __future__ import annotations

import errno
import signal
import sys
from typing import Annotated, Any

import typer

from dissensus.errors import DissensusError
from dissensus.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Which of these models is better, and where does each fail? Let them compete on an unlabelled pool.\n\n"
    "Begin with `dissensus demo`, or `init`, `pool`, `predict`, `select`, `serve`, `report`.",
)
judgements = typer.Typer(no_args_is_help=True, help="Import and export the answers of people.")
app.add_typer(judgements, name="judgements")
annotators = typer.Typer(no_args_is_help=True, help="Personal links for annotators, and whose answers count.")
app.add_typer(annotators, name="annotators")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(f"dissensus {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; what a person can fix ends in one line and exit code 2."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        return app(arguments)
    except DissensusError as error:
        return _refuse(str(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return _refuse(f"the disk is full ({error.filename or error}): make room and run this again")
        if error.errno is None:
            raise
        return _refuse(f"{error.filename or 'input or output'}: {error.strerror}")


def ignore_signals() -> None:
    """The service itself hears them, ends what it is doing, and returns."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)


def _interrupted(signal_number: int, _: object) -> None:
    print("dissensus: interrupted; give the same command again to go on", file=sys.stderr)
    sys.exit(128 + signal_number)


def _refuse(line: str) -> None:
    print("dissensus: " + " ".join(line.split()), file=sys.stderr)
    sys.exit(2)
