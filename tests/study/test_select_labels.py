"""What `select` does for labels: caps that rise where classes are few, and files of eligible items and classes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from small import CLASSES, ITEMS, labels, one_line, predicted, snapshot

from dissensus.study import Study


@pytest.fixture
def study(tmp_path):
    return predicted(tmp_path / "study", "one", "two", "three")


def labels_of(study: Study) -> set[tuple[str, str]]:
    """The two predicted labels of every selected row."""
    return {(row["first_label"], row["second_label"]) for row in study.selection()}


def test_two_classes_fill_their_duels_and_the_round_says_so(tmp_path, command):
    rng = np.random.default_rng(0)
    study = Study.init(tmp_path / "two", classes=["cat", "dog"])
    study.pool(items=[f"{number:04}" for number in range(200)])
    study.predict(**{name: rng.choice(["cat", "dog"], 200).tolist() for name in ("one", "two")})
    done = command("select", study.folder.root, "--cap", 3, "--k", 30)
    assert done.returncode == 0
    assert "duel has fewer than" not in done.stdout + done.stderr
    (found,) = study.evaluation().rounds
    assert (~found.selection.is_reserve).sum() == 30
    assert found.about["raised"] == {"duels": 1, "cap": 15}


def test_there_is_a_cap_unless_all_classes_are_equally_far_apart(tmp_path):
    taxonomy = tmp_path / "taxonomy.csv"
    taxonomy.write_text("child,parent\ncat,mammal\ndog,mammal\nmammal,animal\nowl,animal\n")
    for given, expected in (({}, 3), ({"distance": "zero-one"}, None), ({"cap": 2, "distance": "zero-one"}, 2)):
        study = Study.init(tmp_path / f"cap {expected}", classes=CLASSES, taxonomy=taxonomy)
        study.pool(items=ITEMS)
        study.predict(one=labels(0), two=labels(1))
        study.select(k=12, **given)
        (found,) = study.evaluation().rounds
        assert found.settings["cap"] == expected
        assert (~found.selection.is_reserve).sum() == 12
        raised = {"duels": 0, "cap": None} if expected is None else {"duels": 1, "cap": 4}
        assert found.about["raised"] == raised


def test_a_duel_that_is_short_says_why_and_it_is_never_the_cap(study, command):
    done = command("select", study.folder.root, "--k", 20, "--confidence", 0.5, "--cap", 3)
    assert done.returncode == 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "3 duels have fewer than 20 items: the models disagree on fewer." in said  # the cap rises
    raised = "In 3 of 3 duels, cap = 3 would have left fewer than 20 items, so it was raised: up to 4 items share a"
    assert raised in said
    (found,) = study.evaluation().rounds
    one, two = labels(0), labels(1)
    of_duel = found.selection.take((found.selection.first == 0) & (found.selection.second == 1))
    assert sorted(found.item_ids[item] for item in of_duel.item.tolist()) == [
        item for item, first, second in zip(ITEMS, one, two, strict=True) if first != second
    ]


@pytest.mark.parametrize("listed", [["cat", "owl"], ["owl", " cat"], ["0", "2", "2"]])
def test_a_file_of_labels_restricts_both_labels_of_every_item(study, tmp_path, command, listed):
    (tmp_path / "labels.csv").write_text("label\n" + "\n".join(listed))
    assert command("select", study.folder.root, "--eligible", tmp_path / "labels.csv").returncode == 0
    assert labels_of(study) == {("cat", "owl"), ("owl", "cat")}


def test_a_file_of_labels_is_the_same_as_all_items_with_these_labels(tmp_path):
    (tmp_path / "labels.csv").write_text("label\ndog\nowl\n")
    rows = [f"{item},{label}" for item, label in product(ITEMS, ["dog", "owl"])]
    (tmp_path / "both.csv").write_text("item,label\n" + "\n".join(rows))
    chosen = []
    for name in ("labels", "both"):
        study = predicted(tmp_path / name, "one", "two", "three")
        study.select(eligible=tmp_path / f"{name}.csv")
        chosen.append(study.selection())
    assert chosen[0] == chosen[1]
    assert chosen[0]


def test_a_model_that_joins_is_restricted_too(study, tmp_path):
    (tmp_path / "labels.csv").write_text("label\ncat\nowl\n")
    study.select(eligible=tmp_path / "labels.csv")
    study.join(four=labels(3))
    assert labels_of(study) == {("cat", "owl"), ("owl", "cat")}
    assert {row["second"] for row in study.selection()} == {"two", "three", "four"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("label\ncat\nyeti\n", "no such class 'yeti'"),
        ("label\ncat\ncat\n", "lists only one class"),
        ("label\n", "no rows"),
        ("class\ncat\nowl\n", "no column 'item' or 'label'"),
        ("label,label\ncat,owl\n", "duplicate column"),
    ],
)
def test_files_of_labels_that_are_refused(study, tmp_path, command, content, words):
    (tmp_path / "bad.csv").write_text(content)
    before = snapshot(study.folder.root)
    assert words in one_line(command("select", study.folder.root, "--eligible", tmp_path / "bad.csv"))
    assert snapshot(study.folder.root) == before


def test_distances_between_twenty_thousand_classes_wait_for_a_selection(tmp_path, monkeypatch):
    def computed(*_):
        raise AssertionError("nothing but a selection needs distances")

    monkeypatch.setattr("dissensus.discrepancy.taxonomy.path_lengths", computed)
    names = [f"class {number}" for number in range(20_000)]
    (tmp_path / "classes.txt").write_text("\n".join(names))
    rows = [f"{name},group {place % 100}\n" for place, name in enumerate(names)]
    rows += [f"group {place},everything\n" for place in range(100)]
    (tmp_path / "taxonomy.csv").write_text("child,parent\n" + "".join(rows))
    study = Study.init(tmp_path / "study", classes=tmp_path / "classes.txt", taxonomy=tmp_path / "taxonomy.csv")
    study.pool(items=["a", "b"])
    study.predict(one=["class 7", "class 19999"])
    assert study.labels("one").tolist() == [7, 19_999]
