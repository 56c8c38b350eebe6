"""Commands about two test sets."""

from __future__ import annotations

import typer

from dissensus.cli.app import app

shift = typer.Typer(
    no_args_is_help=True, help="Does a score survive a new test set? Build one, and compare models on both."
)
app.add_typer(shift, name="shift")
