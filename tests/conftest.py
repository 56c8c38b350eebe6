"""What tests share: the data kit beside the project, and the command run as a person runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the first call of many a library is slow, and examples of one test may share a folder: neither is a failure
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.load_profile("unhurried")

KIT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def kit() -> Path:
    """The data kit; tests that need it skip where it is missing."""
    if not KIT.is_dir():
        pytest.skip("the data kit is not beside the project")
    return KIT


@pytest.fixture(scope="session")
def command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `dissensus …` in a process of its own."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "dissensus", *map(str, arguments)]
        environment = os.environ | {"COLUMNS": "140"}
        return subprocess.run(
            line, capture_output=True, text=True, timeout=300, env=environment, check=False, **options
        )  # type: ignore[call-overload,no-any-return]

    return run
