"""laconic find: what a user meets, with models whose answers are known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from planted_readers import COMMAND, MODELS, images, made

from dissensus import Study
from dissensus.errors import BackendError, PoolError, StudyError
from dissensus.laconic.finding import opened
from dissensus.laconic.found import found_mepis, kept_mepis
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import kept_truth
from dissensus.reductions.entropy import png_bytes
from dissensus.reductions.pictures import REDUCTIONS
from dissensus.reductions.search import Prober, broken_at


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
    assert str(tmp_path) not in page
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


def test_wrong_and_unreadable_images_are_reported_not_used(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    with truth.open() as file:
        rows = file.read().replace("1.png,dark", "1.png,bright")  # which the model gets wrong
    truth.write_text(rows)
    (tmp_path / "pool" / "2.png").write_bytes(b"not an image")
    result = study.laconic(truth)
    assert result.images == 3
    assert result.unused == {"easy": 1}


def test_nothing_is_listed_twice(tmp_path: Path) -> None:
    study, _ = made(tmp_path, "easy", count=2)
    with pytest.raises(StudyError, match="names something twice"):
        study.change("laconic", {"reductions": ["colour", "colour"]})


def test_a_vanished_image_is_left_out_of_the_gallery_and_of_nothing_else(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    before = study.laconic(truth)
    (tmp_path / "pool" / "0.png").unlink()
    page = study.laconic_report().read_text()
    assert study.laconic_reported().means == before.means
    assert "1.png" in page


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
    with pytest.raises(
        BackendError, match=r"kernel larger than input \(.*\) \(the smallest had .* pixels\): let the model"
    ):
        study.laconic(truth)
    study.change("laconic", {"reductions": ["colour", "crop"]})
    (study.folder.parts("laconic-find")).mkdir(parents=True, exist_ok=True)
    for part in study.folder.parts("laconic-find").iterdir():
        part.unlink()
    assert study.laconic().reductions == ("colour", "crop")


def test_models_that_are_files_cannot_be_searched(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["bright", "dark"])
    images(tmp_path / "pool", 2)
    study.pool([tmp_path / "pool"])
    study.predict(known=["bright", "dark"])
    with pytest.raises(StudyError, match="no model of the study can be run on reduced images"):
        study.laconic(tmp_path / "truth.csv")


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    study, _ = made(tmp_path, "easy", count=2)
    done = subprocess.run([*COMMAND, str(study.folder.root)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr
        == "dissensus: give the class of every image: --truth FILE, a table with the columns item and label\n"
    )
