"""A study folder received from others runs no code before its user has agreed, and most commands never do."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import joblib
import pytest
import typer
from scores_made import done, refused, run, sheet, snapshot, write_csv
from sklearn.dummy import DummyClassifier
from test_enumerated_pool import ENUMERATION, MODELS

from dissensus.backends import BACKENDS, target_fingerprint
from dissensus.cli.app import agreed
from dissensus.store.consent import agreements_file
from dissensus.study import Study

MARK = "\nfrom pathlib import Path\nPath(__file__ + '.ran').touch()\n"
DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "tiles.py").write_text(ENUMERATION + MARK)
    (folder / "models.py").write_text(MODELS + MARK)
    return folder


def specs(folder: Path, *names: str) -> list[str]:
    return [f"{name}=python:{folder / 'models.py'}:{name}" for name in names]


@pytest.fixture
def selected(modules: Path, tmp_path: Path) -> Path:
    study = tmp_path / "study"
    done("init", study, "--task", "scores")
    done("pool", study, f"python:{modules / 'tiles.py'}:TILES")
    done("predict", study, *specs(modules, "rising", "waves"))
    done("select", study, "--levels", 2)
    return study


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, modules: Path) -> Callable[[], None]:
    """Go to another machine, where nobody has agreed to anything and nothing is imported yet."""

    def go() -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        for name in [name for name in sys.modules if name.startswith("dissensus_model_")]:
            monkeypatch.delitem(sys.modules, name)
        for path in modules.glob("*.ran"):
            path.unlink()

    return go


def ran(modules: Path) -> list[str]:
    return sorted(path.name for path in modules.glob("*.ran"))


def innocent(study: Path, tmp_path: Path) -> None:
    """Every command that looks at a study, lets people answer, or evaluates answers."""
    pairs = json.loads(done("questions", study, "--json"))["questions"]
    said = [["slider", pair["first"], pair["second"], who, 50] for pair in pairs for who in ("ann", "ben")]
    done("judgements", "import", study, sheet(tmp_path / "answers.csv", said))
    for words in (
        ["status"], ["questions"], ["annotators", "list"], ["screen"], ["rank"], ["report"],
        ["judgements", "export", str(tmp_path / "out.csv")],
    ):  # fmt: skip
        verbs = words[: 2 if words[0] in ("annotators", "judgements") else 1]
        done(*verbs, study, *words[len(verbs) :])
    done("annotators", "add", study, "cem")
    own = write_csv(
        tmp_path / "q.csv", ("kind", "first", "second"), [("slider", pairs[0]["second"], pairs[1]["first"])]
    )
    done("ask", study, own)
    backing = Study(study)._backing(lambda _: None)
    backing.changes(0)
    assert Path(backing.picture(pairs[0]["first"])).exists()


@pytest.mark.parametrize("has_agreed", [False, True])
def test_looking_serving_and_ranking_run_no_code(selected, modules, elsewhere, tmp_path, has_agreed):
    elsewhere()
    if has_agreed:
        Study(selected).trust()
    innocent(selected, tmp_path)
    assert ran(modules) == []


@pytest.mark.parametrize(
    "words",
    [["select", "--again"], ["predict"], ["join", "other_waves=python:{models}:other_waves"], ["ask", "{own}"],
     ["scale", "{ratings}"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_received_study_is_refused_until_its_user_agrees(selected, modules, elsewhere, tmp_path, words):
    own = write_csv(tmp_path / "q.csv", ("kind", "first", "second"), [("slider", "tile-0300", "tile-0301")])
    ratings = write_csv(tmp_path / "r.csv", ("item", "rating"), [(f"tile-{n:04}", n / 6) for n in range(0, 600, 10)])
    line = [word.format(models=modules / "models.py", own=own, ratings=ratings) for word in words]
    (selected / "predictions" / "waves.parquet").unlink()
    if words[0] != "predict":
        done("predict", selected)
    elsewhere()
    before = snapshot(selected)
    refused(run(line[0], selected, *line[1:]), "tiles.py:TILES", "--trust")
    assert ran(modules) == []
    assert snapshot(selected) == before, "a refused command writes nothing"
    done(line[0], selected, *line[1:], "--trust")
    assert "tiles.py.ran" in ran(modules)
    done("select", selected, "--again")


def test_a_model_in_the_settings_runs_only_if_it_is_named_or_trusted(selected, modules, elsewhere):
    (selected / "predictions" / "waves.parquet").unlink()
    elsewhere()
    refused(run("predict", selected), "models.py:waves", "tiles.py:TILES")
    Study(selected).trust(models=False)
    refused(run("predict", selected), "models.py:waves")
    assert ran(modules) == []
    done("predict", selected, *specs(modules, "waves"))
    assert ran(modules) == ["models.py.ran", "tiles.py.ran"]


def test_a_name_alone_agrees_to_nothing(selected, modules, elsewhere):
    """What it stands for is in study.toml, which came with the study."""
    elsewhere()
    Study(selected).trust(models=False)
    before = snapshot(selected)
    refused(run("predict", selected, "--again", "waves"), "models.py:waves", "--trust")
    assert (ran(modules), snapshot(selected)) == ([], before)
    assert Study(selected).untrusted() == []
    assert Study(selected).untrusted(again=["waves"]) == [f"python:{modules / 'models.py'}:waves"]
    done("predict", selected, "--again", "waves", "--trust")
    assert "models.py.ran" in ran(modules)
    assert Study(selected).untrusted(again=["waves"]) == []


def test_a_spec_agrees_only_to_what_it_names(selected, modules, elsewhere):
    elsewhere()
    Study(selected).trust(models=False)
    refused(run("predict", selected, *specs(modules, "waves"), "--again", "waves", "--again", "rising"), ":rising")
    assert ran(modules) == []
    done("predict", selected, *specs(modules, "waves"), "--again", "waves")
    assert ran(modules) == ["models.py.ran", "tiles.py.ran"]


def test_an_agreement_ends_when_the_code_changes_or_the_study_moves(modules, tmp_path):
    study = Study.init(tmp_path / "labels", classes=["cat", "dog"])
    study.pool(items=["a", "b"])
    with study.folder.settings.open("a") as settings:
        settings.write(f'\n[models.m]\nbackend = "python"\ntarget = "{modules / "models.py"}:rising"\n')
    assert study.untrusted() == [f"python:{modules / 'models.py'}:rising"]
    study.trust()
    assert study.untrusted() == []
    shutil.copytree(tmp_path / "labels", tmp_path / "moved")
    assert Study(tmp_path / "moved").untrusted() != []
    (modules / "models.py").write_text(MODELS + "\n# changed\n")
    assert study.untrusted() != []


def test_a_pickle_in_a_received_study_is_not_opened(tmp_path, elsewhere):
    path = tmp_path / "m.joblib"
    joblib.dump(DummyClassifier(), path)
    study = Study.init(tmp_path / "labels", classes=["cat", "dog"])
    study.pool(items=["a", "b"])
    with study.folder.settings.open("a") as settings:
        settings.write(f'\n[models.m]\nbackend = "sklearn"\ntarget = "{path}"\n')
    elsewhere()
    refused(run("predict", study.folder.root), f"sklearn:{path}", "--trust")


def test_agreements_that_cannot_be_stored(selected, modules, elsewhere, monkeypatch, tmp_path):
    elsewhere()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    refused(run("select", selected, "--again", "--trust"), "cannot be written", "XDG_CONFIG_HOME")
    done("init", tmp_path / "new", "--task", "scores")
    done("pool", tmp_path / "new", f"python:{modules / 'tiles.py'}:TILES")


@pytest.mark.parametrize("content", ["", "[]", '{"a": 3}', '{"a": [["b"]]}', "\0"])
def test_a_damaged_file_of_agreements_agrees_to_nothing(selected, elsewhere, content):
    elsewhere()
    agreements_file().parent.mkdir(parents=True)
    agreements_file().write_text(content)
    assert len(Study(selected).untrusted()) == 1
    Study(selected).trust()
    assert Study(selected).untrusted() == []


@pytest.mark.parametrize("says", [True, False])
def test_somebody_at_a_terminal_is_asked(selected, elsewhere, monkeypatch, capsys, says):
    elsewhere()
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: says)
    assert bool(agreed(Study(selected), trust=False).untrusted()) is not says
    assert "tiles.py:TILES" in capsys.readouterr().err
    assert bool(agreed(Study(selected), False, models=True, again=["waves"]).untrusted(again=["waves"])) is not says
    assert "models.py:waves" in capsys.readouterr().err


def test_a_fingerprint_runs_no_package(tmp_path, monkeypatch):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    for path in ("outer/__init__.py", "outer/inner/__init__.py", "outer/inner/model.py"):
        (tmp_path / path).write_text(MARK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert len(target_fingerprint("python", "outer.inner.model:f")) == 16
    assert not list(tmp_path.rglob("*.ran"))
    assert target_fingerprint("python", "importlib.util:f") == target_fingerprint(
        "python", f"{importlib.util.__file__}:f"
    )


def test_the_warning_names_every_backend_that_runs_code():
    (warning,) = (part for part in (DOCS / "backends.md").read_text().split("\n\n") if "*run code*" in part)
    assert [name for name, backend in BACKENDS.items() if backend.runs_code and f"`{name}`" not in warning] == []
    assert {name for name, backend in BACKENDS.items() if backend.runs_code} == {"python", "sklearn", "torch", "timm"}


def test_agreements_are_never_read_from_the_current_folder(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert agreements_file().is_absolute()
