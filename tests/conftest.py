"""What tests share: the data kit, the command as a person runs it, a browser, and both databases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import chromium_or_skip
from data_kit import KIT
from databases import Postgres, postgres_or_skip
from hypothesis import HealthCheck, settings

from dissensus.store.database import Database

# the first call of many a library is slow, and examples of one test may share a folder: neither is a failure
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def kit() -> Path:
    """The data kit; tests that need it skip where it is missing."""
    if not KIT.is_dir():
        pytest.skip(f"the data kit is not at {KIT}: set DISSENSUS_KIT")
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, closed after each file: while it is driven, nothing else can run an event loop of its own."""
    with chromium_or_skip() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server that all tests of a run share."""
    server = postgres_or_skip(os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid()))
    yield server
    server.end()


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server that a test may stop and start."""
    server = postgres_or_skip(f"own-{os.getpid()}")
    yield server
    server.end()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new database, once of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'judgements.sqlite'}"
    else:
        server: Postgres = request.getfixturevalue("postgres")
        url = server.new_database()
        yield url
        server.drop(url)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A new database, once of each kind."""
    opened = Database(database_url)
    yield opened
    opened.close()
