"""The Typer app and its exit codes: an error that the user can fix prints one line and exits with code 2."""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from dissensus.errors import DissensusError, Interrupted, own_line
from dissensus.printing import kept_for_document
from dissensus.study import Study
from dissensus.version import __version__

STOPS = (signal.SIGINT, signal.SIGTERM)
DEBUG = "--debug"
UsageError: Any = typer.BadParameter.__base__
"""Wrong words of a command; typer may bring a click of its own."""

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
causes = typer.Typer(no_args_is_help=True, help="Tag the models' failures with their causes.")
app.add_typer(causes, name="causes")
annotators = typer.Typer(no_args_is_help=True, help="Manage annotators: their personal links, and whose answers count.")
app.add_typer(annotators, name="annotators")


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Print the whole traceback of an error.")] = False,  # noqa: ARG001
) -> None:
    if version:
        print(f"dissensus {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command; an error that the user can fix prints one line and exits with code 2.

    `--debug` may stand anywhere, since people add it to the line that failed.
    """
    for stop in STOPS:
        signal.signal(stop, _interrupted)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with kept_for_document("--json" in words and "--help" not in words):
            code = app([word for word in words if word != DEBUG], prog_name="dissensus", standalone_mode=False)
    except UsageError as error:
        _refuse_usage(error)
    except DissensusError as error:
        _refuse(error, str(error), DEBUG in words)
    except OSError as error:
        if error.errno is None:
            raise
        line = f"{error.filename or 'input or output'}: {error.strerror}"
        if error.errno == errno.ENOSPC:
            line = f"the disk is full ({error.filename or error}): free some space and run the command again"
        _refuse(error, line, DEBUG in words)
    except typer.Abort:
        sys.exit("dissensus: stopped; nothing was done")
    else:
        sys.exit(code) if isinstance(code, int) and code else None


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


class Stopped(Interrupted):
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
    raise Interrupted(128 + signal_number)


def _refuse(error: Exception, line: str, is_debugged: bool = False) -> None:
    if is_debugged:
        traceback.print_exception(error)
    elif error.__cause__ is not None and own_line(error.__cause__):
        line += f"; {DEBUG} shows the whole traceback"
    print("dissensus: " + " ".join(line.split()), file=sys.stderr)
    sys.exit(2)


def _refuse_usage(error: Any) -> None:
    """Say what is wrong with the words of a command; without any words, its help says what it can do."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(2)
    where = "dissensus" if error.ctx is None else error.ctx.command_path
    _refuse(error, f"{error.format_message().rstrip('.')}: see {where} --help")
