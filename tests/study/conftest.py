"""A finished demo and small studies made from it; a study of scores before and after people have answered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scores_made import answer_all, begun, done

from dissensus.demo import PREPROCESS, DemoResult, run_demo
from dissensus.progress import silent
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


@pytest.fixture(scope="session")
def scores_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two studies of scores, which `fresh` and `judged` copy, and the `files` behind them.

    In both, three models are on a scale by ratings.
    """
    root = tmp_path_factory.mktemp("scores")
    fresh = begun(root).rename(root / "fresh")
    judged = shutil.copytree(fresh, root / "judged")
    done("select", judged)
    answer_all(judged, root / "answers.csv")
    return root


@pytest.fixture
def fresh(scores_folder: Path, tmp_path: Path) -> Path:
    """A copy of the study of scores in which nothing is selected."""
    return Path(shutil.copytree(scores_folder / "fresh", tmp_path / "fresh"))


@pytest.fixture
def judged(scores_folder: Path, tmp_path: Path) -> Path:
    """A copy of the study of scores in which three people have compared all pairs."""
    return Path(shutil.copytree(scores_folder / "judged", tmp_path / "judged"))
