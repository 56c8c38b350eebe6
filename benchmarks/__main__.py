"""Run every benchmark whose figures the documentation quotes, or those of some pages, with one command.

    python -m benchmarks docs/scale.md docs/methods/ranking.md     # all commands that these pages quote
    python -m benchmarks --list                                    # what would be run, for all pages
    python -m benchmarks                                           # all of them: many hours

The pages are the list: a figure in them stands beside the command that prints it. What a command prints goes to the
screen and to a file in artifacts/benchmarks. The exit code is 1 if any of them failed or missed a bar. Commands that
read public data find it in the folder that `--kit` or the environment variable DISSENSUS_KIT names.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUOTED = re.compile(r"python (benchmarks/\w+\.py(?: [^`#\n]*)?)")
KIT = ("FOLDER", "KIT")
"""What pages write for the folder of public data."""


def quoted(pages: Sequence[Path]) -> list[str]:
    """The commands that pages quote, each once, in the order in which they occur."""
    found = [found[1] for page in pages for found in QUOTED.finditer(page.read_text())]
    return list(dict.fromkeys(" ".join(command.split()) for command in found))


def run(command: str, kit: str, kept: Path) -> int:
    """Run one command; its output goes to the screen and to a file."""
    arguments = [kit if part in KIT else part for part in shlex.split(command)]
    name = re.sub(r"\W+", "-", command.removeprefix("benchmarks/")).strip("-")
    environment = os.environ | {"DISSENSUS_KIT": kit, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with (
        (kept / f"{name}.txt").open("w") as file,
        subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            file.write(line)
    return process.returncode


def main() -> int:
    """Run the commands, and say which of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="pages of the documentation (all)")
    parser.add_argument("--list", action="store_true", help="print the commands, run nothing")
    parser.add_argument("--kit", default=os.environ.get("DISSENSUS_KIT", "../shared/data"), help="public data")
    options = parser.parse_args()
    commands = quoted(options.pages or sorted((ROOT / "docs").rglob("*.md")))
    if options.list or not commands:
        print("\n".join(commands) or "these pages quote no benchmark")
        return int(not commands)
    kept = ROOT / "artifacts" / "benchmarks"
    kept.mkdir(parents=True, exist_ok=True)
    failed = []
    for number, command in enumerate(commands, start=1):
        print(f"\n[{number} of {len(commands)}] python {command}", flush=True)
        start = time.perf_counter()
        code = run(command, str(Path(options.kit).resolve()), kept)
        print(f"exit code {code} after {(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
        failed += [command] if code else []
    for command in failed:
        print(f"failed, or missed a bar: python {command}")
    if failed and not Path(options.kit).is_dir():
        print(f"there is no public data in {options.kit}, so commands that read it fail: see --kit")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
