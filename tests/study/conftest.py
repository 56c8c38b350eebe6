"""A finished demo, and small studies made from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.demo import PREPROCESS, DemoResult, run_demo
from dissensus.engines.local import silent
from dissensus.study import Study


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoResult]:
    """The demo, run once for all tests; copy what you change."""
    folder = tmp_path_factory.mktemp("demo") / "digits"
    return folder, run_demo(folder, by_hand=False, progress=silent)


@pytest.fixture
def finished(demo: tuple[Path, DemoResult], tmp_path: Path) -> Study:
    """A copy of the demo's study, all answered."""
    shutil.copytree(demo[0] / "study", tmp_path / "study")
    return Study(tmp_path / "study")


@pytest.fixture
def digits(demo: tuple[Path, DemoResult], tmp_path: Path) -> Callable[..., Study]:
    """A new study of the demo's digits, with some of its models predicted."""

    def make(*models: str, name: str = "new") -> Study:
        study = Study.init(tmp_path / name, classes=str(demo[0] / "digits.txt"))
        study.pool([demo[0] / "pool"])
        if models:
            study.predict([f"{model}=sklearn:{demo[0] / 'models' / model}.joblib" for model in models], PREPROCESS)
        return study

    return make
