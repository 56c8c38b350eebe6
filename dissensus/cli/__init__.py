"""The command line: parse, call one Study method, print. `--help` lists commands in the order of these imports."""

from dissensus.cli import demo, making, duplicates, asking, browsing, people, finding, failing, laconic, shift  # noqa: I001
from dissensus.cli import replica, human, video, kernel, sequences, suite
from dissensus.cli.app import app, main

__all__ = [
    "app",
    "asking",
    "browsing",
    "demo",
    "duplicates",
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
