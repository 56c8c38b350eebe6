"""A real `dissensus serve` in a process of its own, on studies of synthetic predictions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.counting import COUNTS, read_counts
from benchmarks.synthetic import make_study
from dissensus.store.database import Database
from dissensus.store.people import People
from dissensus.study import Study

COUNTING = Path(__file__).with_name("counting.py")
PATIENCE = 120.0


@dataclass
class Served:
    """A running service; `ready` are the seconds from the start of the process to its first line."""

    process: subprocess.Popen[str]
    study: Path
    address: str
    owner_token: str
    ready: float
    counts: Path

    def commits(self) -> tuple[int, int]:
        """Transactions so far, and answers and questions put in them."""
        return read_counts(self.counts)

    def memory(self, name: str = "VmRSS") -> float:
        """Resident MB now, or at its peak (VmHWM)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024 / 1e6

    def summary(self) -> tuple[float, dict[str, Any]]:
        """Seconds that the dashboard took, and what it says."""
        cookie = self._entered(self.owner_token)
        asked = urllib.request.Request(f"{self.address}/api/owner/summary", headers={"cookie": cookie})
        began = time.perf_counter()
        with urllib.request.urlopen(asked, timeout=PATIENCE) as reply:
            body = reply.read()
        return time.perf_counter() - began, json.loads(body)

    def _entered(self, token: str) -> str:
        body = json.dumps({"token": token}).encode()
        asked = urllib.request.Request(f"{self.address}/api/enter", body, {"content-type": "application/json"})
        with urllib.request.urlopen(asked, timeout=PATIENCE) as reply:
            return str(reply.headers["set-cookie"]).partition(";")[0]


@contextmanager
def served(study: Path, *, database: str | None = None) -> Iterator[Served]:
    """Serve a study until the block ends; answers go to a file in it, or to a server."""
    counts = study.with_name("counts")
    counts.write_bytes(bytes(COUNTS.size))
    line = [sys.executable, "-u", str(COUNTING), str(counts), "serve", str(study), "--port", "0"]
    environment = os.environ | ({"DISSENSUS_DATABASE": database} if database else {})
    began = time.perf_counter()
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = _line(process, "is open at").split()[-1]
            ready = time.perf_counter() - began
            token = _line(process, "/owner#").partition("#")[2].split()[0]
            yield Served(process, study, address, token, ready, counts)
        finally:
            process.kill()


def _line(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return line
    raise SystemExit("dissensus serve ended before it began")


@contextmanager
def fresh_study(folder: Path, items: int, models: int, k: int, answers: int) -> Iterator[Path]:
    """A copy without answers of a study that is selected once, with so many people per question; removed afterwards."""
    made = make_study(folder / "service", items, models)  # other benchmarks select otherwise
    if not made.rounds():
        Study(made.root).select(k=k, reserves=k // 10, cap=k, distance="weighted-exactly")
    place = Path(tempfile.mkdtemp(prefix="service-", dir=folder))
    try:
        shutil.copytree(made.root, place / "study", ignore=shutil.ignore_patterns("judgements.sqlite*", "predictions"))
        Study(place / "study").configure(answers=answers)
        yield place / "study"
    finally:
        shutil.rmtree(place, ignore_errors=True)


def add_people(study: Path, count: int, *, database: str | None = None) -> list[str]:
    """Tokens of so many new annotators, whose orders are the same in every run."""
    people = People(Database(database)) if database else Study(study).people
    return [people.add(f"annotator {number:03}", seed=number) for number in range(count)]
