"""Samples for people: class-balanced, growing, disjoint from training, examples and guide; and what is refused."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_labellers import CLASSES, planted_study

from dissensus.errors import StudyError
from dissensus.shift.human.drawing import balanced
from dissensus.shift.human.kept import Sample, kept_sample
from dissensus.study import Study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    planted_study(root, 100)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A study with two models and no sample, that a test may change."""
    shutil.copytree(made / "study", tmp_path / "study")
    shutil.copyfile(made / "truth.csv", tmp_path / "truth.csv")
    return tmp_path


def sample_of(root: Path) -> Sample:
    return kept_sample(Study(root / "study")._task.work)


@given(
    st.dictionaries(st.text("abcdef0123456789", min_size=1, max_size=4), st.integers(0, 5), max_size=60),
    st.integers(0, 60),
    st.integers(0, 9),
)
def test_balanced_samples_are_as_equal_as_they_can_be(images: dict[str, int], wanted: int, seed: int) -> None:
    drawn = balanced(images, [], wanted, seed, "x")
    assert len(drawn) == min(wanted, len(images))
    assert len({item for item, _ in drawn}) == len(drawn)
    sizes, have = Counter(images.values()), Counter(label for _, label in drawn)
    most = max(have.values(), default=0)
    assert all(have[label] >= min(size, most - 1) for label, size in sizes.items())


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5))
def test_a_sample_that_grows_is_that_drawn_at_once(first: int, more: int, seed: int) -> None:
    images = {f"{number}": number % 4 for number in range(30)}
    at_once = balanced(images, [], first + more, seed, "x")
    begun = balanced(images, [], first, seed, "x")
    left = {item: label for item, label in images.items() if item not in dict(begun)}
    assert begun + balanced(left, [label for _, label in begun], first + more, seed, "x") == at_once


def test_every_class_gets_the_same_chance_of_one_more() -> None:
    images = {f"{number}": number % 3 for number in range(30)}
    extra = Counter(balanced(images, [], 1, seed, "x")[0][1] for seed in range(600))
    assert all(150 < extra[label] < 250 for label in range(3))  # 200 expected, 12 standard deviation


def test_both_sets_are_sampled_alike_and_training_is_apart(root: Path) -> None:
    study = Study(root / "study")
    found = study.human_sample(root / "truth.csv", images=30, training=10)
    assert [(one.name, one.images) for one in found.sets] == [("original", 30), ("new", 30)]
    kept = sample_of(root)
    for name in kept.sets:
        sizes = Counter(one.label for one in kept.evaluation if one.set == name)
        assert {*sizes.values()} <= {1, 2}
    assert {one.set for one in kept.training} == {"original"}  # people do not train on the new set
    assert {one.item for one in kept.training}.isdisjoint({one.item for one in kept.evaluation})
    assert "images = 30" in study.folder.settings.read_text()


def test_images_are_only_added(root: Path) -> None:
    study = Study(root / "study")
    study.human_sample(root / "truth.csv", images=10)
    before = sample_of(root)
    again = study.human_sample(images=20)
    assert again.added == 20
    assert sample_of(root).photos[: len(before.photos)] == before.photos
    assert study.human_sample(images=5).added == 0
    assert len(sample_of(root).evaluation) == 40


def test_a_second_sample_with_the_same_seed_is_the_same(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(root / "study", other / "study")
    for folder in (root, other):
        Study(folder / "study").human_sample(root / "truth.csv", images=20, training=5, seed=3)
    assert sample_of(root).photos == sample_of(other).photos


def test_examples_never_show_an_image_that_is_asked_about(root: Path, made: Path) -> None:
    study = Study(root / "study")
    study.human_sample(root / "truth.csv", images=20)
    asked = sample_of(root).evaluation[0]
    folder = root / "examples" / CLASSES[asked.label]
    folder.mkdir(parents=True)
    shutil.copyfile(made / "photos" / asked.item, folder / "copy.png")
    spare = next(one for one in sorted((made / "photos").iterdir()) if one.name not in
                 {one.item for one in sample_of(root).photos})  # fmt: skip
    shutil.copyfile(spare, folder / "other.png")
    found = study.human_sample(examples=root / "examples")
    assert found.examples == 1
    assert [one.reason for one in found.left_out] == [f"people label it as {asked.item}"]
    assert [Path(one).name for one in sample_of(root).shown[asked.label]] == ["other.png"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("guide.csv", 'class,text\npug,"A flat face, and folds"\nharp,Strings\n'),
        ("guide.md", "Read this first.\n\n# pug\nA flat face, and folds\n\n## harp\n\nStrings\n"),
    ],
)
def test_the_guide_is_a_table_or_has_headings(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    found = Study(root / "study").human_sample(root / "truth.csv", images=5, guide=root / name)
    assert found.guided == 2
    assert sample_of(root).guide == {CLASSES.index("pug"): "A flat face, and folds", CLASSES.index("harp"): "Strings"}


def test_one_entry_of_the_guide_can_be_about_several_classes(root: Path) -> None:
    (root / "guide.md").write_text("# pug / boxer\nFlat faces\n")
    Study(root / "study").human_sample(root / "truth.csv", images=5, guide=root / "guide.md")
    assert {*(sample_of(root).guide or {})} == {CLASSES.index("pug"), CLASSES.index("boxer")}


def test_missing_pictures_and_copies_are_left_out_and_named(root: Path, made: Path) -> None:
    photos = root / "photos"
    shutil.copytree(made / "photos", photos)
    study = Study.init(root / "other", classes=list(CLASSES))
    study.pool([photos])
    (photos / "0000.png").unlink()
    shutil.copyfile(photos / "0021.png", photos / "0001.png")
    found = study.human_sample(root / "truth.csv", images=100)
    reasons = {one.item: one.reason for one in found.left_out}
    assert "missing" in reasons["0000.png"]
    assert any(reasons.get(one, "").startswith("the same file as") for one in ("0001.png", "0021.png"))
    assert found.images == 98


REFUSED = [
    ("item,label\nnowhere.png,pug\n", "is not in the pool"),
    ("item,label\n0000.png,unicorn\n", "no such class"),
    ("item,label\n0000.png,pug\n0000.png,pug\n", "twice"),
    ("item,label\n", "has no rows"),
    ("item,name\n0000.png,pug\n", "no column label"),
    ("item,label,set\n0000.png,pug,\n", "has no set"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_truth_that_cannot_be_used_is_refused_and_nothing_changes(root: Path, text: str, words: str) -> None:
    (root / "bad.csv").write_text(text)
    study = Study(root / "study")
    before = study.folder.settings.read_text()
    with pytest.raises(StudyError, match=words):
        study.human_sample(root / "bad.csv", images=7)
    assert not study.folder.human.exists()
    assert study.folder.settings.read_text() == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("guide.md", "# unicorn\nA horn\n", "no such class"),
        ("guide.csv", "class,text\npug,a\npug,b\n", "two entries about 'pug'"),
        ("guide.csv", "name,text\npug,a\n", "needs the columns class and text"),
        ("guide.md", "no headings\n", "says nothing"),
        ("guide.md", None, "cannot read"),
    ],
)
def test_a_guide_that_cannot_be_used_is_refused(root: Path, name: str, text: str | None, words: str) -> None:
    if text is not None:
        (root / name).write_text(text)
    with pytest.raises(StudyError, match=words):
        Study(root / "study").human_sample(root / "truth.csv", guide=root / name)
    assert not (root / "study" / "human").exists()


def test_examples_of_unknown_classes_are_refused(root: Path, made: Path) -> None:
    (root / "examples" / "unicorn").mkdir(parents=True)
    shutil.copyfile(made / "photos" / "0000.png", root / "examples" / "unicorn" / "a.png")
    with pytest.raises(StudyError, match="no such class"):
        Study(root / "study").human_sample(root / "truth.csv", examples=root / "examples")
    assert not (root / "study" / "human").exists()


def test_a_label_that_changes_after_sampling_is_refused(root: Path) -> None:
    study = Study(root / "study")
    study.human_sample(root / "truth.csv", images=60)
    item = sample_of(root).evaluation[0]
    lines = (root / "truth.csv").read_text().splitlines()
    other = CLASSES[(item.label + 1) % len(CLASSES)]
    changed = [f"{item.item},{other},{item.set}" if line.startswith(item.item) else line for line in lines]
    (root / "truth.csv").write_text("\n".join(changed))
    with pytest.raises(StudyError, match="was sampled with another label"):
        study.human_sample(root / "truth.csv")


def test_items_without_pictures_can_be_sampled_but_not_shown(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=["a", "b", "c", "d"])
    study.predict(small=["cat", "cat", "dog", "cat"])
    (tmp_path / "truth.csv").write_text("item,label,set\na,cat,0\nb,dog,0\nc,dog,1\nd,cat,1\n")
    found = study.human_sample(tmp_path / "truth.csv")
    assert [(one.name, one.images) for one in found.sets] == [("0", 2), ("1", 2)]
    assert study.human_result().accuracy("small").right == 3
    with pytest.raises(StudyError, match="no pictures to look at"):
        study.human_serve(lambda *_: None, "label")
