"""What tests share: the data kit, the command as a person runs it, a browser, both databases; and which are slow."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import chromium_or_skip
from commands import COLUMNS, Done, run, run_process
from data_kit import KIT, WHY_SKIPPED, files_that_look_for_it
from databases import Postgres, postgres_or_skip
from hypothesis import HealthCheck, settings

from dissensus.store.database import Database

IS_CI = os.environ.get("CI") == "true"
MAY_BE_MISSING = (WHY_SKIPPED, "needs root", "needs an NVIDIA GPU")
"""Why tests may skip in CI, too: data, the right to mount a disk, a GPU. Whatever can be installed must be there."""
HEAVY = {"browser", "demo", "kit", "own_postgres", "postgres", "process", "serve", "serve_process", "small_study"}
"""Fixtures that take long: the tests that use them are slow. `demo` and `small_study` are whole studies, made first."""
WHOLE = {"study", "web"}
"""Folders of tests that run whole commands and services: slow, too."""

os.environ["COLUMNS"] = COLUMNS
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="dissensus-config-")  # no agreement of a test is the user's

# The first call of many libraries is slow, and examples of one test may share a folder: neither is a failure. Everybody
# gets the same examples, so that no change fails for another's reason; `--hypothesis-profile=random` draws new ones.
UNHURRIED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
settings.register_profile("few", max_examples=20, derandomize=True, database=None, **UNHURRIED)
settings.register_profile("all", max_examples=50, derandomize=True, database=None, **UNHURRIED)
settings.register_profile("random", max_examples=100, **UNHURRIED)
settings.load_profile("all" if IS_CI else "few")


def pytest_xdist_auto_num_workers() -> int:
    """More workers than cores: much of the time, tests wait for a browser, a disk or another process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that look for the data kit and those that are slow; under `few`, no test draws more examples."""
    most = settings().max_examples
    looking = files_that_look_for_it()
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        database = item.callspec.params.get("database_url") if hasattr(item, "callspec") else None
        if "kit" in fixtures or item.path in looking:
            item.add_marker(pytest.mark.kit)
        if fixtures & HEAVY or database == "postgresql" or item.path.parent.name in WHOLE:
            item.add_marker(pytest.mark.slow)
        function = getattr(item, "obj", None)
        wanted = getattr(function, "_hypothesis_internal_use_settings", None)
        if most < 50 and wanted and wanted.max_examples > most:
            function._hypothesis_internal_use_settings = settings(wanted, max_examples=most)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, a test that skips for want of a tool has failed."""
    return _refuse_to_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for files that skip as a whole."""
    return _refuse_to_skip((yield))


def _refuse_to_skip(report: Any) -> Any:
    if IS_CI and report.skipped and not hasattr(report, "wasxfail"):
        why = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(reason in why for reason in MAY_BE_MISSING):
            report.outcome, report.longrepr = "failed", f"in CI nothing may skip: {why}"
    return report


@pytest.fixture(scope="session")
def kit() -> Path:
    """The data kit; tests that need it skip where it is missing."""
    if not KIT.is_dir():
        pytest.skip(f"{WHY_SKIPPED} at {KIT}: set DISSENSUS_KIT")
    return KIT


@pytest.fixture(scope="session")
def command() -> Callable[..., Done]:
    """Run `dissensus …` in this process."""
    return run


@pytest.fixture(scope="session")
def process() -> Callable[..., Done]:
    """Run `dissensus …` in a process of its own, for the few tests that are about that."""
    return run_process


@pytest.fixture
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A real file system of 900 kB, or of the size that a test asks for as the fixture's parameter."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={getattr(request, 'param', '900k')}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, closed after each file: while it is driven, nothing else can run an event loop in this thread."""
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
