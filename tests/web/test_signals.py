"""The first SIGTERM or Ctrl-C ends the service, at whichever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from signalled import MOMENTS

pytestmark = pytest.mark.slow

SIGNALLED = Path(__file__).with_name("signalled.py")
WHILE_IMPORTING = """
import importlib.abc, os, runpy, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "{}":
            os.kill(os.getpid(), {})
sys.meta_path.insert(0, Finder())
sys.argv = ["dissensus", "--version"]
runpy.run_module("dissensus", run_name="__main__", alter_sys=True)
"""


def test_a_signal_during_the_start_ends_the_service(study_folder: Path) -> None:
    line = [sys.executable, str(SIGNALLED), str(study_folder)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=500, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    ends = [text for text in done.stdout.splitlines() if ": SIG" in text]
    assert ends == [f"{moment}: {what} 0" for moment in MOMENTS for what in ("SIGTERM", "SIGINT")]
    assert done.stdout.count("stopped; every acknowledged answer is stored") == len(ends)
    assert "is open at" not in done.stdout.partition("reviewing: SIGINT")[0]


@pytest.mark.parametrize("what", [signal.SIGTERM, signal.SIGINT], ids=lambda what: what.name)
@pytest.mark.parametrize("module", ["typer", "dissensus.study"])
def test_a_signal_while_python_is_importing_ends_any_command(module: str, what: signal.Signals) -> None:
    line = [sys.executable, "-c", WHILE_IMPORTING.format(module, int(what))]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + what, "", "")
