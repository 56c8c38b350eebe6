"""The command: parse, call one method of Study, print. Commands stand in its help in the order of these imports."""

from dissensus.cli import making, asking, people, finding  # noqa: I001
from dissensus.cli.app import app, main

__all__ = ["app", "asking", "finding", "main", "making", "people"]
