"""The command line: parse, call one Study method, print. `--help` lists commands in the order of these imports."""

from dissensus.cli import making, asking, browsing, people, finding, failing, laconic, shift, replica, human  # noqa: I001
from dissensus.cli import video, kernel, sequences, suite
from dissensus.cli.app import app, main

__all__ = [
    "app",
    "asking",
    "browsing",
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
