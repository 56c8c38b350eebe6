"""The demo of maps: the whole job on scenes whose truth is known, and what it says about itself."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from PIL import Image
from scipy.stats import spearmanr

from dissensus.demo.scenes import HEIGHT, NAMES, WIDTH, Material, drawn_scene

pytestmark = pytest.mark.slow

ORDERS = ("aggressiveness", "resistance")


@pytest.fixture(scope="module")
def demo(command, tmp_path_factory):
    """What the command says in JSON, and the folder from which it was given."""
    here = tmp_path_factory.mktemp("maps")
    done = command("demo", "masks", "--json", cwd=here)
    assert done.returncode == 0, done.stderr
    return here, json.loads(done.stdout)


@pytest.fixture(scope="module")
def by_hand(command, tmp_path_factory):
    """The same, with the masks left to a person, as people see it."""
    here = tmp_path_factory.mktemp("by-hand")
    done = command("demo", "masks", "mine", "--by-hand", cwd=here)
    assert done.returncode == 0, done.stderr
    return here, done.stdout


def test_both_orders_follow_what_drawing_everything_gives(demo):
    _, result = demo
    for order in ORDERS:
        standings = result["rankings"][order]["standings"]
        strengths = [one["strength"] for one in standings]
        drawn = [result["miou"][one["model"]] for one in standings]
        assert spearmanr(strengths, drawn).statistic >= 0.8
        assert result["srcc"][order] == pytest.approx(spearmanr(strengths, drawn).statistic)


def test_the_clearly_best_is_before_the_clearly_worst(demo):
    _, result = demo
    weak = sorted(result["miou"], key=result["miou"].__getitem__)[:2]
    best = max(result["miou"], key=result["miou"].__getitem__)
    for order in ORDERS:
        standings = {one["model"]: one for one in result["rankings"][order]["standings"]}
        assert standings[best]["rank_low"] == 1
        assert all(standings[best]["rank_high"] < standings[model]["rank_low"] for model in weak)


def test_few_scenes_are_asked_about_and_they_are_where_models_fail(demo):
    """Every model agrees less with the truth on them than over all scenes; reckoned here pixel by pixel."""
    here, result = demo
    folder = here / "dissensus-demo-masks"
    truths = {path.stem: np.asarray(Image.open(path)) for path in (folder / "answers").glob("*.png")}
    assert len(truths) == result["images"] < result["pool"] / 2
    means = {}
    for model in result["miou"]:
        maps = {name: np.asarray(Image.open(folder / "maps" / model / f"{name}.png")) for name in truths}
        means[model] = np.mean([plain_miou(truths[name], np.kron(maps[name], np.ones((2, 2)))) for name in truths])
    assert all(means[model] < result["miou"][model] - 0.05 for model in means)


def plain_miou(truth, other) -> float:
    """Mean over the classes that are in either map."""
    present = [label for label in range(len(NAMES)) if ((truth == label) | (other == label)).any()]
    return float(np.mean([((truth == y) & (other == y)).sum() / ((truth == y) | (other == y)).sum() for y in present]))


def test_its_report_says_where_the_masks_came_from(demo):
    here, result = demo
    page = (here / result["report"]).read_text(encoding="utf-8")
    assert "No person was asked" in page
    assert "NaN" not in re.sub(r"base64,[\w+/=]*", "", page)
    assert len(page) < 6_000_000


def test_it_leaves_nothing_outside_its_folder_and_does_not_begin_twice(demo, command):
    here, _ = demo
    assert [path.name for path in here.iterdir()] == ["dissensus-demo-masks"]
    again = command("demo", "masks", cwd=here)
    assert again.returncode == 2
    assert "already holds a demo" in again.stderr


def test_by_hand_leaves_the_masks_to_a_person(by_hand, command):
    here, printed = by_hand
    assert "dissensus serve mine/study" in printed
    waiting = json.loads(command("questions", "mine/study", "--json", cwd=here).stdout)["questions"]
    assert 10 < len(waiting) < 100
    assert {question["kind"] for question in waiting} == {"mask"}
    ranked = command("rank", "mine/study", cwd=here)
    assert ranked.returncode == 2
    assert "nobody has answered yet" in ranked.stderr
    other = command("demo", "masks", "mine", cwd=here)
    assert other.returncode == 2
    assert "started with --by-hand" in other.stderr


def test_pages_belong_to_the_demo_of_scores(command, tmp_path):
    refused = command("demo", "masks", tmp_path / "maps", "--no-serve")
    assert refused.returncode == 2
    assert "--no-serve" in refused.stderr
    assert not (tmp_path / "maps").exists()


def test_a_scene_shows_bright_digits_where_its_truth_says_so():
    digits = np.zeros((10, 8, 8))
    digits[:, 1:7, 1:7] = 16  # squares of ink
    dark = np.zeros((427, 640, 3), np.uint8)
    material = Material([dark], digits, np.arange(10))
    for seed in range(20):
        scene = drawn_scene(material, np.random.default_rng(seed))
        again = drawn_scene(material, np.random.default_rng(seed))
        np.testing.assert_array_equal(scene.picture, again.picture)
        assert scene.truth.shape == (HEIGHT, WIDTH)
        assert 1 <= len(set(np.unique(scene.truth)) - {0}) <= 4
        # the ink of a pixel of the truth is at least half of the faintest ink; far from it there is none
        assert scene.picture[scene.truth > 0].min() >= 0.45 * 170
        assert (scene.picture.max(axis=2) > 0).mean() < 1.3 * (scene.truth > 0).mean()
