"""A pool that is worked out instead of listed, through the command: items are drawn when somebody has to see them."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scores_made import begun, done, refused, run, sheet, write_csv

from dissensus.errors import StudyError
from dissensus.store.set_questions import CustomQuestions
from dissensus.study import Study

pytestmark = pytest.mark.slow

TILES = 600
ASKED = ("tile-0300", "tile-0599")
ENUMERATION = f"""
import numpy as np
from PIL import Image


class Tiles:
    def __len__(self):
        return {TILES}

    def id_of(self, number):
        return f"tile-{{number:04}}"

    def number_of(self, item):
        if not item.startswith("tile-"):
            raise ValueError(item)
        return int(item.removeprefix("tile-"))

    def items(self, numbers):
        return np.arange(numbers.start, numbers.stop)

    def draw(self, number):
        return Image.new("RGB", (90, 30), (number % 256, number // 256, 77))


TILES = Tiles()


class Empty(Tiles):
    def __len__(self):
        return 0


class Shy(Tiles):
    def draw(self, number):
        raise RuntimeError("no canvas")


class Short(Tiles):
    def items(self, numbers):
        return np.arange(numbers.start, numbers.stop - 1)


class Broken(Tiles):
    def items(self, numbers):
        raise RuntimeError("no more")


EMPTY, SHY, SHORT, BROKEN, NOTHING = Empty(), Shy(), Short(), Broken(), 7
"""
MODELS = """
import numpy as np


def rising(numbers):
    return numbers.astype(np.float32)


def waves(numbers):
    return numbers + 200 * np.sin(numbers)


def other_waves(numbers):
    return numbers + 200 * np.cos(1.7 * numbers)


def constant(numbers):
    return np.ones(len(numbers))


def nothing(numbers):
    return np.full(len(numbers), np.nan)
"""
NAMES = ("rising", "waves", "other_waves")


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    (tmp_path / "tiles.py").write_text(ENUMERATION)
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def specs(folder: Path, *names: str) -> list[str]:
    return [f"{name}=python:{folder / 'models.py'}:{name}" for name in names]


def started(folder: Path, name: str = "TILES") -> Path:
    study = folder / "study"
    done("init", study, "--task", "scores")
    done("pool", study, f"python:{folder / 'tiles.py'}:{name}")
    return study


@pytest.fixture
def selected(modules: Path) -> Path:
    study = started(modules)
    done("predict", study, *specs(modules, *NAMES))
    done("select", study, "--levels", 3)
    return study


def test_from_an_enumeration_to_a_report(selected: Path, tmp_path: Path) -> None:
    status = json.loads(done("status", selected, "--json"))
    assert (status["pool"], status["identical_files"]) == (TILES, 0)
    assert not (selected / "pool.parquet").exists()
    pairs = json.loads(done("questions", selected, "--json"))["questions"]
    said = [
        ["slider", pair["first"], pair["second"], who, 50 * np.sign(place(pair["second"]) - place(pair["first"]))]
        for pair in pairs
        for who in ("simulated 1", "simulated 2")
    ]
    done("judgements", "import", selected, sheet(tmp_path / "simulated.csv", said))
    ranked = json.loads(done("rank", selected, "--json"))
    assert ranked["aggressiveness"][0]["model"] == "rising"
    done("report", selected)
    drawn = {int(path.stem) for path in (selected / "drawings").glob("*.png")}
    assert len(drawn) < TILES / 2, "only what was selected is drawn"
    assert {place(pair[side]) for pair in pairs for side in ("first", "second")} <= drawn
    page = (selected / "results" / "report.html").read_text()
    assert page.count("data:image/") >= len({place(pair["first"]) for pair in pairs})
    assert f">{TILES}<" in page
    assert pairs[0]["first"] in page


def place(item: str) -> int:
    return int(item.removeprefix("tile-"))


def test_scores_are_those_of_the_functions_and_stay_in_their_precision(selected: Path) -> None:
    rising, waves = (pq.read_table(selected / "predictions" / f"{name}.parquet")["score"] for name in NAMES[:2])
    assert rising.to_numpy().tolist() == list(range(TILES))
    assert str(rising.type) == "float"
    numbers = np.arange(TILES)
    np.testing.assert_array_equal(waves.to_numpy(), numbers + 200 * np.sin(numbers))


def test_the_service_shows_the_drawing_of_an_item(selected: Path, tmp_path: Path) -> None:
    first = json.loads(done("questions", selected, "--json"))["questions"][0]["first"]
    set_by_hand = write_csv(tmp_path / "q.csv", ("kind", "first", "second"), [("slider", "tile-0300", "tile-0599")])
    done("ask", selected, set_by_hand)
    backing = Study(selected)._backing()
    backing.changes(0)
    for item in (first, "tile-0300", "tile-0599"):
        path = backing.picture(item)
        assert path is not None
        number = place(item)
        assert Image.open(path).getpixel((3, 3)) == (number % 256, number // 256, 77)
    shown = {path.stem for path in (selected / "drawings").glob("*.png")}
    assert len(shown) < TILES / 2, "only what was selected or asked is drawn"


def test_all_ids_can_be_listed(selected: Path) -> None:
    assert Study(selected).items() == [f"tile-{number:04}" for number in range(TILES)]


def test_running_again_changes_nothing_and_further_models_join(selected: Path, modules: Path) -> None:
    before = (selected / "predictions" / "waves.parquet").read_bytes()
    done("pool", selected, f"python:{modules / 'tiles.py'}:TILES")
    done("predict", selected, *specs(modules, *NAMES))
    assert (selected / "predictions" / "waves.parquet").read_bytes() == before
    (modules / "more.py").write_text("def falling(numbers):\n    return -1.0 * numbers\n")
    done("join", selected, f"falling=python:{modules / 'more.py'}:falling")
    assert json.loads(done("status", selected, "--json"))["rounds"][1]["duels"] == 6


@pytest.mark.parametrize("item", ["tile-9999", "tile-1", "tile--001", "tile-0001 ", "tile-x", "another"])
def test_an_answer_about_an_unknown_item_is_refused(selected: Path, tmp_path: Path, item: str) -> None:
    answers = sheet(tmp_path / "a.csv", [["slider", item, "tile-0002", "ann", 3]])
    refused(run("judgements", "import", selected, answers), item.strip())
    assert json.loads(done("status", selected, "--json"))["judgements"] == 0


def test_answers_about_any_item_are_kept_and_come_back(selected: Path, tmp_path: Path) -> None:
    done("judgements", "import", selected, sheet(tmp_path / "a.csv", [["slider", "tile-0001", "tile-0002", "ann", 3]]))
    done("judgements", "export", selected, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        assert [json.loads(row["question"])["first"] for row in csv.DictReader(file)] == ["tile-0001"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NOTHING", ("not an enumeration", "__len__")),
        ("Tiles", ("not an enumeration",)),
        ("EMPTY", ("no items",)),
        ("ABSENT", ("has no ABSENT",)),
    ],
)
def test_what_enumerates_nothing_is_refused(modules: Path, name: str, words: tuple[str, ...]) -> None:
    done("init", modules / "study", "--task", "scores")
    refused(run("pool", modules / "study", f"python:{modules / 'tiles.py'}:{name}"), *words)
    assert not (modules / "study" / "pool.json").exists()


def test_a_missing_module_is_refused(modules: Path) -> None:
    done("init", modules / "study", "--task", "scores")
    refused(run("pool", modules / "study", f"python:{modules / 'gone.py'}:TILES"), "gone.py")


def test_an_enumeration_stands_alone(modules: Path, tmp_path: Path) -> None:
    study = modules / "study"
    done("init", study, "--task", "scores")
    target = f"python:{modules / 'tiles.py'}:TILES"
    manifest = write_csv(tmp_path / "pool.csv", ("item",), [("a",), ("b",)])
    refused(run("pool", study, target, manifest), "cannot be combined with other items")
    refused(run("pool", study, target, target), "cannot be combined with other items")
    done("pool", study, target)
    refused(run("pool", study, manifest), "cannot be combined with other items")
    listed = begun(tmp_path / "listed", ratings=False)
    refused(run("pool", listed, target), "cannot be combined with other items")


def test_a_study_of_labels_has_no_enumerated_pool(modules: Path, tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    done("init", modules / "study", "--classes", tmp_path / "classes.txt")
    refused(run("pool", modules / "study", f"python:{modules / 'tiles.py'}:TILES"), "--task scores")


def test_only_functions_can_score_items_that_are_worked_out(modules: Path, tmp_path: Path) -> None:
    study = started(modules)
    scores = write_csv(tmp_path / "s.csv", ("item", "score"), [("tile-0001", 1)])
    refused(run("predict", study, f"a=file:{scores}"), "use python:")
    refused(run("duplicates", study), "are computed, not read from files")
    refused(run("predict", study, "a=quality:piqe"), "only be scored by python:")
    refused(run("predict", study, f"a=python:{modules / 'models.py'}:absent"), "absent")
    refused(run("predict", study, *specs(modules, "constant")), "every item has the score 1")
    refused(run("predict", study, *specs(modules, "nothing")), "NaN")


@pytest.mark.parametrize(("name", "words"), [("SHORT", ("599 items for 600",)), ("BROKEN", ("no more", "0 to 599"))])
def test_items_that_do_not_come_are_a_line(modules: Path, name: str, words: tuple[str, ...]) -> None:
    refused(run("predict", started(modules, name), *specs(modules, "rising")), *words)


def test_a_drawing_that_fails_is_a_line(modules: Path) -> None:
    study = started(modules, "SHY")
    done("predict", study, *specs(modules, "rising", "waves"))
    assert not (study / "drawings").exists(), "nothing is drawn before somebody has to see it"
    refused(run("select", study, "--levels", 2), "tile-", "no canvas")
    assert not (study / "rounds").exists()


def test_lost_drawings_are_made_again_by_select(selected: Path) -> None:
    before = {path.name: path.read_bytes() for path in (selected / "drawings").iterdir()}
    shutil.rmtree(selected / "drawings")
    done("select", selected)
    assert {path.name: path.read_bytes() for path in (selected / "drawings").iterdir()} == before


def test_a_lost_list_of_drawings_is_missed_and_made_again_by_select(selected: Path, tmp_path: Path) -> None:
    done("ask", selected, write_csv(tmp_path / "q.csv", ("kind", "first", "second"), [("slider", *ASKED)]))
    kept = selected / "drawings" / "items.parquet"
    before = pq.read_table(kept)
    kept.unlink()
    answers = sheet(tmp_path / "a.csv", [["slider", *ASKED, "ann", 3]])
    refused(run("judgements", "import", selected, answers), "items.parquet is missing", "dissensus select")
    assert "items.parquet is missing" in Study(selected).check().problems[0]
    done("select", selected)
    assert pq.read_table(kept) == before
    done("judgements", "import", selected, answers)
    assert Study(selected).check().is_whole


def test_a_damaged_drawing_is_named_and_made_again(selected: Path) -> None:
    drawing = next((selected / "drawings").glob("*.png"))
    before = drawing.read_bytes()
    drawing.write_bytes(before + b"x")
    (problem,) = Study(selected).check().problems
    assert f"{drawing} is damaged" in problem
    assert "delete it, and dissensus select" in problem
    drawing.unlink()
    done("select", selected)
    assert drawing.read_bytes() == before
    assert Study(selected).check().is_whole


def test_a_refused_question_draws_nothing(selected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise StudyError("the disk is full")

    asked = write_csv(tmp_path / "q.csv", ("kind", "first", "second"), [("slider", *ASKED)])
    before = {path.name: path.read_bytes() for path in (selected / "drawings").iterdir()}
    monkeypatch.setattr(CustomQuestions, "add", full)
    with pytest.raises(StudyError, match="the disk is full"):
        Study(selected).ask(asked)
    assert {path.name: path.read_bytes() for path in (selected / "drawings").iterdir()} == before
    assert Study(selected).check().is_whole


def test_an_answer_about_an_item_that_was_never_asked_about_needs_a_question_first(
    selected: Path, tmp_path: Path
) -> None:
    drawn = {int(path.stem) for path in (selected / "drawings").glob("*.png")}
    other = f"tile-{next(number for number in range(TILES) if number not in drawn):04}"
    answers = sheet(tmp_path / "a.csv", [["slider", other, "tile-0599", "ann", 3]])
    refused(run("judgements", "import", selected, answers), other)
    done("ask", selected, write_csv(tmp_path / "q.csv", ("kind", "first", "second"), [("slider", other, "tile-0599")]))
    done("judgements", "import", selected, answers)


def test_a_changed_enumeration_is_refused_once_something_rests_on_it(selected: Path, modules: Path) -> None:
    path = modules / "tiles.py"
    path.write_text(path.read_text().replace("tile-{number:04}", "tile-{599 - number:04}"))
    refused(run("pool", selected, f"python:{path}:TILES"), "another pool")
    for verb in (["select", "--again"], ["join", "x=python:models:x"], ["report"]):
        found = run(verb[0], selected, *verb[1:])
        assert found.returncode == 2, verb
    refused(run("select", selected, "--again"), "tiles.py:TILES has changed", "restore it")


def test_a_changed_model_is_refused(modules: Path) -> None:
    study = started(modules)
    done("predict", study, *specs(modules, "rising"))
    (modules / "models.py").write_text(MODELS + "\n# edited\n")
    refused(run("predict", study, *specs(modules, "rising")), "rising was started with different inputs", "model")


def test_a_study_can_be_moved_with_its_drawings(selected: Path, tmp_path: Path) -> None:
    shutil.move(selected, tmp_path / "elsewhere")
    backing = Study(tmp_path / "elsewhere")._backing()
    item = json.loads(done("questions", tmp_path / "elsewhere", "--json"))["questions"][0]["first"]
    path = backing.picture(item)
    assert path is not None
    assert Path(path).is_relative_to(tmp_path / "elsewhere")
