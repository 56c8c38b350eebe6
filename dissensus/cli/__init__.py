"""The command line: parse, call one Study method, print. `--help` lists commands in the order of these imports."""

from dissensus.cli import making, asking, people, finding, failing, laconic, shift, replica, human, video  # noqa: I001
from dissensus.cli import kernel, sequences, suite
from dissensus.cli.app import app, main

__all__ = [
    "app",
    "asking",
    "failing",
    "finding",
    "human",
    "kernel",
    "laconic",
    "main",
    "making",
    "people",
    "replica",
    "sequences",
    "shift",
    "suite",
    "video",
]
