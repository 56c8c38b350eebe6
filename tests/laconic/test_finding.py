"""laconic find: what a user meets, with models whose answers are known."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus import Study
from dissensus.errors import BackendError, ClassesError, PoolError, StudyError
from dissensus.laconic.finding import opened
from dissensus.laconic.found import found_mepis, kept_mepis
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import kept_truth
from dissensus.laconic.truth import groups_of, read_groups
from dissensus.records import Classes
from dissensus.reductions.entropy import png_bytes
from dissensus.reductions.pictures import REDUCTIONS
from dissensus.reductions.search import Prober, broken_at
from dissensus.store.tables import write_table

MODELS = '''
"""Classifiers that look at the middle of an image: bright or dark?"""
import time
import numpy as np

def _middle(image):
    pixels = np.asarray(image.convert("L"), float)
    h, w = pixels.shape
    return pixels[h // 3 : max(h // 3 + 1, 2 * h // 3), w // 3 : max(w // 3 + 1, 2 * w // 3)].mean()

def easy(images):
    means = np.array([_middle(image) for image in images]) / 255
    return np.stack([means, 1 - means, np.full(len(means), 0.1)], axis=1)

def strict(images):
    means = np.array([_middle(image) for image in images])
    return np.array([0 if mean > 190 else 1 if mean < 60 else 2 for mean in means])

def slow(images):
    time.sleep(0.001 * len(images))
    return easy(images)

def picky(images):
    if min(min(image.size) for image in images) < 8:
        raise ValueError("kernel larger than input")
    return easy(images)
'''


def images(folder: Path, count: int = 4) -> list[tuple[str, str]]:
    """Noisy images with a bright or a dark middle, and what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(count):
        rng = np.random.default_rng(number)
        pixels = rng.integers(60, 200, (30, 36, 3)).astype(np.uint8)
        pixels[8:22, 10:26] = 230 if number % 2 == 0 else 20
        Image.fromarray(pixels).save(folder / f"{number}.png")
        rows.append((f"{number}.png", "bright" if number % 2 == 0 else "dark"))
    return rows


def made(folder: Path, *models: str, count: int = 4, more: Sequence[str] = ()) -> tuple[Study, Path]:
    (folder / "planted.py").write_text(MODELS)
    rows = images(folder / "pool", count)
    truth = folder / "truth.csv"
    truth.write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in rows))
    study = Study.init(folder / "study", classes=["bright", "dark", "neither", *more])
    study.pool([folder / "pool"])
    study.predict([f"{name}=python:{folder / 'planted.py'}:{name}" for name in models])
    study.change("laconic", {"side": 12, "crop": 1.0})
    return study, truth


def test_a_whole_test(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    result = study.laconic(truth)
    assert result.classifiers == ("easy", "strict")
    assert result.images == 4
    assert result.unused == {"easy": 0, "strict": 0}
    for model in result.classifiers:
        singles = [result.mean(model, one).value for one in ("colour", "resolution", "crop")]
        assert result.mean(model, "combined").value <= min(singles)  # type: ignore[type-var, operator]
    assert result.mean("easy", "combined").value < result.mean("strict", "combined").value  # type: ignore[operator]
    own = [one.value for one in result.precision if one.reader == one.source]
    assert own == [1.0] * 8
    page = study.laconic_report(figures=tmp_path / "figures").read_text()
    assert "How much is needed" in page
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} >= {".svg", ".csv"}
    assert study.laconic_result().model_dump() == result.model_dump()


def test_sizes_and_paths_are_proved_again(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    work = study._labels("a test").work
    known, gallery = kept_truth(work), Gallery(work, work.settings.laconic)
    group = dict(zip(known.ids, known.group.tolist(), strict=True))
    kept = kept_mepis(work)
    assert len(kept) == 2 * 4 * 4
    for one in kept:
        reader = opened(work, known, one.model)
        reduction = REDUCTIONS[one.reduction]
        pixels = gallery.original(one.item)
        assert broken_at(Prober(pixels, reader.about(group[one.item])), reduction, one.mepi) is None
        assert png_bytes(reduction(pixels, one.levels)) == one.mepi.bytes


def test_models_that_are_added_later_are_searched_alone(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    before = study.folder.mepis("easy").read_bytes()
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    assert study.laconic().classifiers == ("easy", "strict")
    assert study.folder.mepis("easy").read_bytes() == before


def test_wrong_and_unreadable_images_are_reported_not_used(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    with truth.open() as file:
        rows = file.read().replace("1.png,dark", "1.png,bright")  # which the model gets wrong
    truth.write_text(rows)
    (tmp_path / "pool" / "2.png").write_bytes(b"not an image")
    result = study.laconic(truth)
    assert result.images == 3
    assert result.unused == {"easy": 1}


def test_one_model_was_searched_before_an_image_was_mended(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    whole = (tmp_path / "pool" / "2.png").read_bytes()
    (tmp_path / "pool" / "2.png").write_bytes(b"not an image")
    assert study.laconic(truth).images == 3
    (tmp_path / "pool" / "2.png").write_bytes(whole)
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    result = study.laconic()
    assert result.images == 4
    assert result.unused == {"easy": 1, "strict": 0}


def test_an_image_that_changes_between_two_searches(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    Image.new("RGB", (36, 30), (250, 250, 250)).save(tmp_path / "pool" / "2.png")
    study.predict([f"strict=python:{tmp_path / 'planted.py'}:strict"])
    with pytest.raises(StudyError, match=r"2\.png has changed between the searches of easy and strict: remove "):
        study.laconic()


@pytest.mark.parametrize("changed", [{"side": 16}, {"images": 1}, {"reductions": ["colour"]}, {"crop": 0.5}])
def test_settings_that_change_after_the_search(tmp_path: Path, changed: dict[str, object]) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth, models=["easy"])
    study.change("laconic", changed)
    calls = (
        study.laconic_result, study.laconic_report, lambda: study.laconic(models=["strict"]),
        lambda: study.laconic_pool(tmp_path / "reduced"), lambda: study.laconic_serve(lambda *_: None),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(StudyError, match="laconic find easy was started with different inputs"):
            call()


def test_another_function_of_the_same_file_is_another_model(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    settings = study.folder.settings
    settings.write_text(settings.read_text().replace("planted.py:strict", "planted.py:slow"))
    study.trust(again=["strict"])
    with pytest.raises(StudyError, match=r"target .*:strict\" → .*:slow"):
        study.laconic()


def test_a_removed_model_leaves_nothing(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    study.laconic_report()
    study.remove("strict")
    assert not study.folder.mepis("strict").exists()
    assert not study.folder.laconic_results.exists()
    assert study.laconic().classifiers == ("easy",)
    assert study.check().problems == ()


def test_check_finds_damage(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", count=2)
    study.laconic(truth)
    assert study.check().is_whole
    path = study.folder.mepis("easy")
    content = path.read_bytes()
    for place in (len(content) - 9, 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        (problem,) = study.check().problems
        assert problem.startswith(f"{path} is damaged")


def test_code_that_changed_is_not_run_as_a_reader_either(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    study.laconic(truth)
    (tmp_path / "other.py").write_text(MODELS)
    study.predict([f"strict=python:{tmp_path / 'other.py'}:strict"])
    (tmp_path / "planted.py").write_text(f"{MODELS}\nraise SystemExit")
    with pytest.raises(StudyError, match=r"code that you have not agreed to \(python:.*planted\.py:easy\)"):
        study.laconic(models=["strict"])


@pytest.mark.parametrize("more", [[f"class {number}" for number in range(198)], ["Dark"]])
def test_machines_do_not_need_classes_that_people_can_choose_from(tmp_path: Path, more: list[str]) -> None:
    study, truth = made(tmp_path, "strict", count=2, more=more)
    assert study.laconic(truth).classifiers == ("strict",)
    study.laconic_report()
    with pytest.raises(StudyError, match=r"nobody can choose from these .* with `dissensus laconic find --classes"):
        study.laconic_serve(lambda *_: None)


def test_nothing_is_listed_twice(tmp_path: Path) -> None:
    study, _ = made(tmp_path, "easy", count=2)
    with pytest.raises(StudyError, match="names something twice"):
        study.change("laconic", {"reductions": ["colour", "colour"]})


def test_naive_ones_are_marked(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", count=2)
    result = study.laconic(truth, naive=True)
    assert result.is_naive
    with pytest.raises(StudyError, match=r"laconic find easy was started with different inputs \(naive true → false\)"):
        study.laconic()


def test_a_pool_of_reduced_images(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy", "strict")
    study.laconic(truth)
    written = study.laconic_pool(tmp_path / "reduced", "combined")
    assert written.images <= 8
    other = Study.init(tmp_path / "other", classes=["bright", "dark", "neither"])
    other.pool([written.manifest])
    other.predict([f"{name}=python:{tmp_path / 'planted.py'}:{name}" for name in ("easy", "strict")])
    assert other.select(k=2, confidence=0.0) == 1
    with pytest.raises(PoolError, match="is not empty and holds no reduced images"):
        study.laconic_pool(tmp_path / "pool")


def kinds(folder: Path) -> None:
    """One image in every mode, and one of a single pixel."""
    pixels = np.random.default_rng(0).integers(60, 200, (30, 36, 3)).astype(np.uint8)
    pixels[8:22, 10:26] = 230
    photo = Image.fromarray(pixels)
    folder.mkdir()
    photo.convert("L").save(folder / "grey.png")
    photo.quantize(64).save(folder / "palette.png")
    photo.convert("RGBA").save(folder / "alpha.png")
    Image.fromarray(np.asarray(photo.convert("L")).astype(np.uint16) * 257).save(folder / "sixteen.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(folder / "turned.jpg", quality=95, exif=exif)
    Image.new("RGB", (1, 1), (240, 240, 240)).save(folder / "pixel.png")


def test_every_kind_of_image(tmp_path: Path) -> None:
    kinds(tmp_path / "pool")
    (tmp_path / "planted.py").write_text(MODELS)
    study = Study.init(tmp_path / "study", classes=["bright", "dark", "neither"])
    study.pool([tmp_path / "pool"])
    study.predict([f"easy=python:{tmp_path / 'planted.py'}:easy"])
    study.change("laconic", {"side": 12, "crop": 1.0})
    rows = "".join(f"{item},bright\n" for item in study.items())
    (tmp_path / "truth.csv").write_text(f"item,label\n{rows}")
    result = study.laconic(tmp_path / "truth.csv")
    assert result.images == 6
    assert result.unused == {"easy": 0}
    assert len(found_mepis(study._labels("a test").work)) == 24


def test_a_model_that_fails_on_small_images(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "picky")
    with pytest.raises(BackendError, match=r"kernel larger than input \(the smallest had .* pixels\): let the model"):
        study.laconic(truth)
    study.change("laconic", {"reductions": ["colour", "crop"]})
    (study.folder.parts("laconic-find")).mkdir(parents=True, exist_ok=True)
    for part in study.folder.parts("laconic-find").iterdir():
        part.unlink()
    assert study.laconic().reductions == ("colour", "crop")


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


def test_models_that_are_files_cannot_be_searched(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["bright", "dark"])
    images(tmp_path / "pool", 2)
    study.pool([tmp_path / "pool"])
    study.predict(known=["bright", "dark"])
    with pytest.raises(StudyError, match="no model of the study can be run on reduced images"):
        study.laconic(tmp_path / "truth.csv")


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


COMMAND = [sys.executable, "-m", "dissensus", "laconic", "find"]


@pytest.mark.slow
def test_a_killed_search_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    whole, truth = made(tmp_path, "slow", count=6)
    killed = Study(shutil.copytree(whole.folder.root, tmp_path / "killed"))
    whole.laconic(truth)
    command = [*COMMAND, str(killed.folder.root), "--truth", str(truth), "--trust", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    parts = killed.folder.parts("laconic-find")
    while len(list(parts.glob("*.parquet"))) < 2:
        time.sleep(0.02)
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(list(parts.glob("*.parquet"))) < 6
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["images"] == 6
    for path in (whole.folder.mepis("slow"), whole.folder.laconic_readings):
        assert (killed.folder.root / path.relative_to(whole.folder.root)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("writes", [1, 2])
def test_a_search_that_is_killed_at_its_end_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """After the file of the first model, or before the parts are removed."""
    from dissensus.laconic import finding

    study, truth = made(tmp_path, "easy", "strict", count=2)
    whole = Study(shutil.copytree(study.folder.root, tmp_path / "whole"))
    whole.trust(again=["easy", "strict"])
    whole.laconic(truth)
    left, clear = [None] * writes, finding.Parts.clear

    def written(*given: object) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        write_table(*given)  # type: ignore[arg-type]

    def cleared(parts: finding.Parts) -> None:
        if not left:
            raise KeyboardInterrupt
        clear(parts)

    with monkeypatch.context() as patched:
        patched.setattr(finding, "write_table", written)
        patched.setattr(finding.Parts, "clear", cleared)
        with pytest.raises(KeyboardInterrupt):
            study.laconic(truth)
    study.laconic()
    assert not study.folder.parts("laconic-find").exists()
    for name in ("easy", "strict"):
        assert study.folder.mepis(name).read_bytes() == whole.folder.mepis(name).read_bytes()


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    study, _ = made(tmp_path, "easy", count=2)
    done = subprocess.run([*COMMAND, str(study.folder.root)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr
        == "dissensus: give the class of every image: --truth FILE, a table with the columns item and label\n"
    )
