"""Time and memory of a piece of work in a fresh process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Measured:
    """Seconds on the wall and of all cores, growth of resident memory at its peak in MB, and what the work gave."""

    seconds: float
    cpu: float
    growth: float
    result: list[list[int]]


def measured(work: Callable[[], list[tuple[int, int, int, int, bool]]]) -> Measured:
    """Do the work in this process.

    The growth is the peak of the resident set during the work (VmHWM, set back just before it) less the resident set
    before it, so imports and warming up do not count; mapped file pages that were touched do. Where there is no
    /proc it is the growth of ru_maxrss, which cannot be set back.
    """
    before = _settled()
    start, start_of_cpu = time.perf_counter(), time.process_time()
    result = work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_of_cpu
    return Measured(seconds, cpu, _peak() - before, [list(map(int, row)) for row in result])


def in_fresh_process(script: str, arguments: list[str]) -> Measured:
    """Run a script that prints a measurement by `show`."""
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def verdict(holds: bool, bar: str) -> str:
    """A line that says whether a bar is met; see `missed`."""
    return f"{'PASS' if holds else 'FAIL'}  {bar}"


def missed(line: str) -> bool:
    """Whether a line says that a bar is not met."""
    return line.startswith("FAIL")


def show(measurement: Measured) -> None:
    """Print a measurement for the process that started this one."""
    print(json.dumps(asdict(measurement)))


def _settled() -> float:
    """Resident MB now, from which on the peak counts."""
    if not STATUS.exists():
        return _peak()
    Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM back to VmRSS
    return _status("VmRSS")


def _peak() -> float:
    if STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _status(name: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6
