"""One class in the reports: selected items beside ordinary ones of the pool, or beside the study's own examples."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from masks_made import NAMES, SCENES, item_of, scene, seen, write_maps, write_photos
from PIL import Image

from dissensus.study import Study

CLASSES = ["cat", "dog", "owl"]
ITEMS = [f"item-{number:03}.png" for number in range(90)]
LEFT = 'Item ([^"]+)"'
"""How a picture of a classified item is described."""
MAP = 'Prediction for ([^ "]+) by good'
PHOTO = 'Photo of ([^"]+)"'


def predicted(model: int, number: int) -> str:
    """Two in three labels are right, and every model errs elsewhere."""
    return CLASSES[(number + (number // 3 % 3 == model)) % 3]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> Path:
    """Three classifiers on pictures of one colour each, with all answers."""
    folder = tmp_path_factory.mktemp("labels")
    (folder / "photos").mkdir()
    for number, item in enumerate(ITEMS):
        Image.new("RGB", (80, 80), (number, 2 * number, 9)).save(folder / "photos" / item)
    study = Study.init(folder / "study", classes=CLASSES)
    study.pool([folder / "photos"])
    order = [ITEMS.index(item) for item in study.items()]
    study.predict(**{f"m{model}": [predicted(model, number) for number in order] for model in range(3)})
    study.select(k=4, confidence=0, reserves=0)
    right = {item: CLASSES[number % 3] for number, item in enumerate(ITEMS)}
    study.answer(
        [
            {"item": one.item, "label": one.name, "answer": "yes" if right[one.item] == one.name else "no"}
            for one in study.questions()
        ],
        "ann",
    )
    return study.folder.root


@pytest.fixture(scope="module")
def masked(tmp_path_factory) -> Path:
    """Three models of maps, with the truth of all images."""
    folder = tmp_path_factory.mktemp("masks")
    study = Study.init(folder / "study", task="masks", classes=list(NAMES))
    study.pool([write_photos(folder / "photos")])
    study.predict([f"{name}=file:{write_maps(folder / name, name)}" for name in ("good", "fair", "poor")])
    study.select(k=2, reserves=0, scales="pool")
    (folder / "truth").mkdir()
    for one in study.questions():
        Image.fromarray(scene(int(one.item[6:9]))).save(folder / "truth" / one.item)
    study.judgements_import(folder / "truth", format="png", annotator="ann")
    return study.folder.root


def panels(study: Path) -> dict[str, tuple[str, str, str]]:
    """By class: the HTML of the selected items, where the others come from, and the HTML of these."""
    page = Study(study).report().read_text(encoding="utf-8")
    (section,) = re.findall(r'<section class="section" id="classes".*?</section>', page, re.DOTALL)
    found = re.findall(
        r"<h3>(\w+)</h3>(.*?)<b>Not selected</b>: (.*?)</p>(.*?)(?=<div class=\"block\">|\Z)", section, re.DOTALL
    )
    return {name: tuple(rest) for name, *rest in found}


def leader(study: Path, *path: str) -> str:
    found = json.loads(Study(study).folder.ranking.read_text(encoding="utf-8"))
    for key in path:
        found = found[key]
    return found["standings"][0]["model"]


def copied(study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(study, tmp_path / "study"))


def test_ordinary_items_are_those_of_the_pool_that_the_leader_puts_in_the_class(labelled: Path) -> None:
    found, best = panels(labelled), int(leader(labelled)[1:])
    asked = {item for item, _ in Study(labelled).asked()}
    assert set(found) == set(CLASSES)
    for name, (selected, source, ordinary) in found.items():
        of_class = {item for number, item in enumerate(ITEMS) if predicted(best, number) == name}
        assert source == f"at random from {len(of_class - asked)} items that m{best} puts in this class"
        shown = re.findall(LEFT, ordinary)
        assert len(set(shown)) == len(shown) == min(12, len(of_class - asked))
        assert set(shown) <= of_class - asked
        items = set(re.findall(LEFT, selected))
        assert 3 <= len(items) <= 12
        assert items <= asked
        assert all(name in {predicted(model, ITEMS.index(item)) for model in range(3)} for item in items)
    assert panels(labelled) == found  # the draw is always the same


def test_examples_of_the_study_come_first_but_never_copies_of_what_is_asked(labelled: Path, tmp_path: Path) -> None:
    study, examples = Study(copied(labelled, tmp_path)), tmp_path / "examples"
    for name in ("a.png", "b.png"):
        (examples / "dog").mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (70, 90), "red" if name == "a.png" else "blue").save(examples / "dog" / name)
    shutil.copy(labelled.parent / "photos" / study.asked()[0][0], examples / "dog" / "copy.png")
    (examples / "dog" / "broken.png").write_bytes(b"no picture")
    study.configure(examples=examples)
    found = panels(study.folder.root)
    _, source, ordinary = found["dog"]
    assert source == "2 pictures of this class in the folder of examples"
    assert re.findall(LEFT, ordinary) == ["a.png", "b.png"]
    assert found["cat"][1].startswith("at random from ")
    shutil.rmtree(examples)
    assert panels(study.folder.root)["dog"][1].startswith("at random from ")


def test_ordinary_images_are_those_in_which_the_leader_sees_the_category(masked: Path) -> None:
    found = panels(masked)
    assert leader(masked, "aggressiveness") == "good"
    asked, ranges = {item for (item,) in Study(masked).asked()}, shares_allowed(masked)
    assert set(found) == set(NAMES[1:])
    for name, (selected, source, ordinary) in found.items():
        low, high = ranges[name]
        share = {item_of(n): float((seen("good", n) == NAMES.index(name)).mean()) for n in range(SCENES)}
        of_class = {item for item, part in share.items() if part and low <= part <= high}
        count = f"{len(of_class - asked)} {'image' if len(of_class - asked) == 1 else 'images'}"
        assert source.startswith(f"at random from {count} in which good sees this category, in a share of the pixels")
        shown = re.findall(MAP, ordinary)
        assert len(set(shown)) == len(shown) == min(12, len(of_class - asked))
        assert set(shown) <= of_class - asked
        assert name in ordinary
        items = set(re.findall(r"Prediction for ([^ \"]+) by", selected))
        assert items <= asked
        assert selected.count("the defender") == selected.count("the attacker") == len(items) > 2


def shares_allowed(study: Path) -> dict[str, tuple[float, float]]:
    """The quartiles of the shares of each class over all predictions that have it, as `--scales pool` takes them."""
    from dissensus.steps.workspace import Workspace
    from dissensus.tasks.masks.columns import MapColumn
    from dissensus.tasks.masks.scales import ranges_of

    opened = Study(study)
    work = Workspace(opened.folder, opened.settings, opened.classes)
    found = ranges_of(work, [MapColumn(opened.folder, name) for name in ("good", "fair", "poor")])
    return dict(zip(NAMES, map(tuple, found.ends.tolist()), strict=True))


def test_examples_of_a_category_are_photos_without_a_map(masked: Path, tmp_path: Path) -> None:
    study, examples = Study(copied(masked, tmp_path)), tmp_path / "examples"
    (examples / "disc").mkdir(parents=True)
    Image.fromarray(np.full((90, 120, 3), 130, np.uint8)).save(examples / "disc" / "round.png")
    study.configure(examples=examples)
    _, source, ordinary = panels(study.folder.root)["disc"]
    assert source == "1 picture of this class in the folder of examples"
    assert re.findall(PHOTO, ordinary) == ["round.png"]
    assert "Prediction for" not in ordinary
