"""What is right about an image: the file of truth, and coarser classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted_readers import made

from dissensus.errors import ClassesError, StudyError
from dissensus.records import Classes
from dissensus.steps.groups import groups_of, read_groups


@pytest.mark.parametrize("more", [[f"class {number}" for number in range(198)], ["Dark"]])
def test_machines_do_not_need_classes_that_people_can_choose_from(tmp_path: Path, more: list[str]) -> None:
    study, truth = made(tmp_path, "strict", count=2, more=more)
    assert study.laconic(truth).classifiers == ("strict",)
    study.laconic_report()
    with pytest.raises(StudyError, match=r"nobody can choose from these .* with `dissensus laconic find --classes"):
        study.laconic_serve(lambda *_: None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("item,label\n", "has no rows"),
        ("item,label\nx.png,bright\n", "'x.png' is not in the pool"),
        ("item,label\n0.png,bright\n0.png,dark\n", "lists '0.png' twice"),
        ("item,label\n0.png,blue\n", "no such class 'blue'"),
        ("thing,label\n0.png,bright\n", "item"),
    ],
)
def test_truth_that_cannot_be_used(tmp_path: Path, content: str, words: str) -> None:
    study, truth = made(tmp_path, "easy", count=2)
    truth.write_text(content)
    with pytest.raises(Exception, match=words):
        study.laconic(truth)
    assert not study.folder.laconic.exists()


def test_truth_is_needed_once(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", count=2)
    with pytest.raises(StudyError, match="give the class of every image: --truth FILE"):
        study.laconic()
    study.laconic(truth)
    study.laconic()
    truth.write_text("item,label\n0.png,dark\n")
    with pytest.raises(StudyError, match="images have been reduced with other classes"):
        study.laconic(truth)


FELINES = Classes(
    ("tabby", "lion", "wolf", "pug"),
)


def test_classes_map_through_names(tmp_path: Path) -> None:
    path = tmp_path / "coarse.csv"
    path.write_text("name,label\ncat,tabby\ncat,lion\ndog,wolf\n", encoding="utf-8-sig")
    groups = groups_of(FELINES, read_groups(path))
    assert groups.names == ("cat", "dog")
    assert groups.of_label.tolist() == [0, 0, 1, -1]
    assert groups.uncovered == 1
    assert groups.of(np.array([0, 3, 65535], np.uint16)).tolist() == [0, -1, -1]


def test_classes_map_through_the_taxonomy() -> None:
    from dissensus.store.classes import classes_of, read_classes

    classes = classes_of(read_classes("imagenet"))
    groups = groups_of(classes, {"bird": ["bird"], "dog": ["dog"], "terrier": ["terrier"]})
    named = {groups.names[group] for group in groups.of(np.array([classes.index_of("coucal")], np.uint16))}
    assert named == {"bird"}
    assert groups.names[groups.of_label[classes.index_of("Sealyham terrier")]] == "terrier"
    assert groups.names[groups.of_label[classes.index_of("pug")]] == "dog"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"cat": ["tabby"], "feline": ["tabby"]}, "'tabby' belongs to both 'cat' and 'feline'"),
        ({"cat": ["tabbby"], "dog": ["pug"]}, "'tabbby' is not a class of the study"),
    ],
)
def test_classes_that_make_no_sense(named: dict[str, list[str]], words: str) -> None:
    with pytest.raises(ClassesError, match=words):
        groups_of(FELINES, named)
