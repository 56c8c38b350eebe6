"""Where the data kit lies (DISSENSUS_KIT, or beside the project), and which tests look for it."""

from __future__ import annotations

import ast
import os
from pathlib import Path

KIT = Path(os.environ.get("DISSENSUS_KIT") or Path(__file__).resolve().parents[2] / "shared" / "data")
WHY_SKIPPED = "the data kit is not"


def files_that_look_for_it() -> set[Path]:
    """The files that import this one, or import one that does: CI runs these without the kit, and with it."""
    files = {path.stem: path for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"}
    imported = {name: _imported(path) & files.keys() for name, path in files.items()}
    looking = {Path(__file__).stem}
    while more := {name for name, others in imported.items() if others & looking} - looking:
        looking |= more
    return {files[name] for name in looking}


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


def some_photos(folder: Path, some: Path) -> Path:
    """A folder of every third photo: networks take their time, and the examples run on all of them."""
    some.mkdir()
    for path in sorted(folder.iterdir())[::3]:
        (some / path.name).symlink_to(path)
    return some
