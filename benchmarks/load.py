"""What simulated annotators saw of a service: requests a second, latencies, and whether every answer was kept."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.serving import Served
from dissensus.arrays import Array
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database

ANNOTATORS = Path(__file__).with_name("annotators.py")
NEXT, ANSWER = 0, 1


@dataclass(frozen=True)
class Load:
    """Requests of all annotators: `kind` (next or answer), when each was sent and how long it took, in seconds."""

    seconds: float
    kind: Array
    sent: Array
    took: Array
    is_first: Array
    stored: list[str]
    problems: list[str]

    @property
    def requests(self) -> float:
        """Per second."""
        return len(self.took) / self.seconds

    @property
    def answers(self) -> float:
        """Acknowledged per second."""
        return len(self.stored) / self.seconds

    def quantile(self, share: float, kind: int | None = None) -> float:
        """Milliseconds that so large a share of the requests took at most."""
        took = self.took if kind is None else self.took[self.kind == kind]
        return float(1e3 * np.quantile(took, share)) if len(took) else float("inf")

    def first(self) -> float:
        """Milliseconds of the slowest first question of anybody."""
        return float(1e3 * self.took[self.is_first].max())


def put_under_load(service: Served, tokens: list[str], seconds: float, pace: float = 0.0) -> Load:
    """Let annotators, in a process of their own, answer for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder) / "tokens.json", Path(folder) / "found.json"
        given.write_text(json.dumps(tokens))
        line = [sys.executable, ANNOTATORS, service.address, given, written, "--seconds", seconds, "--pace", pace]
        subprocess.run([str(word) for word in line], check=True)
        found = json.loads(written.read_text())
    columns = {name: np.array(found[name]) for name in ("kind", "sent", "took", "is_first")}
    return Load(found["seconds"], **columns, stored=found["stored"], problems=found["problems"])


def kept(url: str, acknowledged: list[str]) -> dict[str, int]:
    """How the answers in a database stand to those that were acknowledged."""
    stored = [row[1] for row in AnswerLog(Database(url)).raw()]
    found, wanted = set(stored), set(acknowledged)
    return {
        "acknowledged": len(wanted),
        "found": len(found & wanted),
        "lost": len(wanted - found),
        "twice": len(stored) - len(found),
        "invented": len(found - wanted),
    }
