"""`dissensus kernel …`: matrices that are resumed, machines that compete, and whatever can be wrong with images."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from forking import started
from PIL import Image
from small import one_line, snapshot

import dissensus
from dissensus.errors import KernelError
from dissensus.kernels import gram
from dissensus.kernels.cpu import CpuEngine
from dissensus.kernels.machines import KernelRidgeClassifier
from dissensus.proportions import clopper_pearson
from dissensus.store.grams import GramFolder
from dissensus.study import Study

LAYERS = "conv3 gaussian pool2 conv3 gaussian mean gaussian"
NAMES = ("dark", "light", "striped")


def pictures(count=24, seed=0, side=8):
    """Dark, light and striped squares with noise, and what they are."""
    random, labels = np.random.default_rng(seed), np.arange(count) % 3
    stripes = np.broadcast_to(255 * (np.arange(side) % 2), (side, side))
    base = np.stack([np.full((side, side), 40), np.full((side, side), 200), stripes])[labels]
    noisy = base[..., None] + random.normal(0, 40, (count, side, side, 3))
    return noisy.clip(0, 255).astype(np.uint8), [NAMES[label] for label in labels]


@pytest.fixture
def here(tmp_path):
    """A folder with images and labels in every form."""
    images, labels = pictures()
    np.save(tmp_path / "images.npy", images)
    np.save(tmp_path / "labels.npy", np.array(labels))
    np.savez(tmp_path / "both.npz", images=images, labels=np.array(labels))
    rows = ["item,label"]
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        for place in (tmp_path / "classes" / label, tmp_path / "flat"):
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place / f"{number:02}.png")
        rows.append(f"{number:02}.png,{label}")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    return tmp_path


def test_the_matrix_is_that_of_the_library(here, command):
    done = command("kernel", "gram", "images.npy", "--kernel", LAYERS, "--tile", 5, "--to", "m", cwd=here)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("24 × 24 matrix, 300 pairs at ")
    assert "15 tiles" in done.stdout
    images = np.load(here / "images.npy")
    np.testing.assert_array_equal(np.load(here / "m" / "matrix.npy"), gram(images, kernel=LAYERS))
    done = command(
        "kernel",
        "gram",
        "flat",
        "--size",
        8,
        "--with",
        "both.npz",
        "--kernel",
        LAYERS,
        "--to",
        "two",
        "--json",
        cwd=here,
    )
    found = json.loads(done.stdout)
    assert (found["rows"], found["columns"], found["computed"]) == (24, 24, found["tiles"])
    assert found["estimate"]["matrix_bytes"] == 24 * 24 * 4
    np.testing.assert_array_equal(np.load(here / "two" / "matrix.npy"), gram(images, images, LAYERS))


def test_an_estimate_alone_writes_nothing(here, command):
    before = snapshot(here)
    done = command("kernel", "gram", "images.npy", "--kernel", LAYERS, "--to", "m", "--estimate", cwd=here)
    assert "of disk" in done.stdout
    done = command("kernel", "gram", "images.npy", "--kernel", LAYERS, "--to", "m", "--estimate", "--json", cwd=here)
    assert json.loads(done.stdout)["pairs"] == 300
    assert snapshot(here) == before


def test_a_command_that_is_killed_goes_on_where_it_stopped(tmp_path, command):
    np.save(tmp_path / "images.npy", pictures(90)[0])
    line = ("kernel", "gram", "images.npy", "--kernel", LAYERS, "--tile", "6", "--to")
    total, kept, endings = 120, 0, []
    for count in (1, 30, 70):
        process = started(*line, "m", cwd=tmp_path)
        journal = tmp_path / "m" / "tiles.txt"
        while process.poll() is None and (not journal.exists() or len(journal.read_text().splitlines()) < count):
            time.sleep(0.002)
        endings.append(process.kill())
        assert endings[-1] in (-signal.SIGKILL, 0), process.stderr
        found = len(GramFolder(tmp_path / "m").whole())
        assert found >= kept
        kept = found
    assert endings[0] == -signal.SIGKILL
    assert kept > 0
    done = command(*line, "m", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["computed"] == total - kept
    command(*line, "at-once", cwd=tmp_path)
    for name in ("matrix.npy", "inputs.json"):
        assert (tmp_path / "m" / name).read_bytes() == (tmp_path / "at-once" / name).read_bytes()
    other = command(*line, "m", "--precision", "float64", cwd=tmp_path)
    assert other.returncode == 2
    assert 'precision "float32" → "float64"' in one_line(other)
    assert "Nothing was left to compute, 120 tiles from an earlier run" in command(*line, "m", cwd=tmp_path).stdout
    other = command(*line, "m", "--with", "images.npy", cwd=tmp_path)
    assert 'fingerprint of the other images "none" → ' in one_line(other)


def test_a_matrix_or_a_machine_that_does_not_fit_on_the_disk(small_disk, here, command):
    np.save(here / "many.npy", np.random.default_rng(0).random((600, 2, 2, 1), np.float32))
    refused = command("kernel", "gram", "many.npy", "--kernel", "mean", "--to", small_disk / "m", cwd=here)
    assert refused.returncode == 2
    assert "the matrix takes 1.44 MB, but the disk" in one_line(refused)
    assert not (small_disk / "m").exists()
    for left, message in ((6 * 4096, "is full"), (4096, "the machine and its matrix take at least 20.7 kB, but")):
        with (small_disk / "filler").open("ab") as file:
            file.write(b"0" * (shutil.disk_usage(small_disk).free - left))
        refused = command("kernel", "fit", "both.npz", "--kernel", LAYERS, "--to", small_disk / "machine.npz", cwd=here)
        assert message in one_line(refused)
        assert {path.name for path in small_disk.iterdir()} <= {"filler", "machine.unfinished"}


def test_a_disk_that_is_full_in_the_middle_keeps_what_is_finished(small_disk, tmp_path, command):
    """A thousand tiny tiles: the list of their digests takes more space than the matrix, and more than there is."""
    np.save(tmp_path / "many.npy", np.random.default_rng(0).random((44, 2, 2, 1), np.float32))
    filler = small_disk / "filler"
    filler.write_bytes(b"0" * (shutil.disk_usage(small_disk).free - 50_000))
    line = ("kernel", "gram", "many.npy", "--kernel", "mean", "--tile", 1, "--json", "--to", small_disk / "m")
    full = command(*line, cwd=tmp_path)
    assert full.returncode == 2
    assert "tiles are finished and stay: free some space" in one_line(full)
    done = len(GramFolder(small_disk / "m").whole())
    assert 0 < done < 990
    filler.unlink()
    assert json.loads(command(*line, cwd=tmp_path).stdout)["computed"] == 990 - done
    expected = gram(np.load(tmp_path / "many.npy"), kernel="mean")
    np.testing.assert_array_equal(np.load(small_disk / "m" / "matrix.npy"), expected)


FORMS = ["classes", "flat labels.csv", "images.npy labels.npy", "both.npz", "images.npy both.npz"]


@pytest.mark.parametrize("given", FORMS)
def test_images_and_labels_in_every_form_give_the_same_machine(here, command, given):
    line = ("kernel", "fit", *given.split(), "--size", 8, "--kernel", LAYERS, "--to", "machine.npz", "--json")
    done = command(*line, cwd=here)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["name"] for one in found["classes"]] == list(NAMES)
    assert (found["images"], found["size"], found["channels"]) == (24, [8, 8], 3)
    low, high = clopper_pearson(found["right"], 24)
    assert (found["low"], found["high"]) == (pytest.approx(float(low)), pytest.approx(float(high)))
    machine = dissensus.fit_kernel(here / "both.npz", kernel=LAYERS)
    assert machine.result.right == found["right"]


def test_accuracy_is_that_of_machines_without_each_image():
    images, labels = pictures(18, seed=3)
    fitted = dissensus.fit_kernel(images, labels, LAYERS, penalty=0.5)
    prepared, codes = fitted.trained.machine.items_, np.array([NAMES.index(one) for one in labels])
    right = []
    for left_out in range(len(images)):
        rest = np.arange(len(images)) != left_out
        machine = KernelRidgeClassifier(LAYERS, 0.5).fit(prepared[rest], codes[rest])
        right.append(int(machine.predict(prepared[left_out : left_out + 1])[0] == codes[left_out]))
    assert fitted.result.right == sum(right)
    assert [one.right for one in fitted.result.classes] == np.bincount(codes, right).astype(int).tolist()


def test_words_say_why_leave_one_out_may_flatter():
    plain = dissensus.fit_kernel(IMAGES, LABELS, LAYERS, penalty=0.5).result
    assert len(plain.words) == 2
    twice = np.concatenate([IMAGES, IMAGES[:3]]), [*LABELS, *LABELS[:3]]
    found = dissensus.fit_kernel(*twice, LAYERS, penalty=[0.5, 5.0], tilt=0.3).result
    assert (found.penalties, found.repeated) == (2, 3)
    assert found.words[1:4] == (
        "The penalty is the best of 2 by this figure, which makes it a bit too good.",
        "It is the figure of the machine without the tilt.",
        "3 images are copies of another, which stays when one is left out: the figure is too good.",
    )


def test_a_machine_competes_in_a_study(here, command):
    assert (
        command("kernel", "fit", "classes", "--size", 8, "--kernel", LAYERS, "--to", "machine.npz", cwd=here).returncode
        == 0
    )
    (here / "names.txt").write_text("striped\nlight\ndark\nunseen\n")
    images, labels = pictures(30, seed=9)
    (here / "pool").mkdir()
    for number, image in enumerate(images):
        Image.fromarray(image).resize((16, 16), Image.Resampling.NEAREST).save(here / "pool" / f"{number:02}.png")
    for line in (("init", "study", "--classes", "names.txt"), ("pool", "study", "pool"),
                 ("predict", "study", "machine=kernel:machine.npz", "-p", "size=3")):  # fmt: skip
        done = command(*line, cwd=here)
        assert done.returncode == 0, done.stderr
    study = Study(here / "study")
    assert [study.classes.names[label] for label in study.labels("machine")] == labels
    stored = pq.read_table(here / "study" / "predictions" / "machine.parquet")
    assert "confidence" not in stored.column_names or stored["confidence"].null_count == 30
    assert stored["label2"].null_count == stored["label3"].null_count == 0
    assert "label4" not in stored.column_names
    (here / "machine.npz").write_bytes((here / "machine.npz").read_bytes()[:-50])
    refused = command("predict", "study", "--again", "machine", cwd=here)
    assert refused.returncode == 2
    assert "damaged" in one_line(refused)


def test_words_and_displays(here, command):
    fitted = dissensus.fit_kernel(here / "classes", kernel=LAYERS, size=8, path=here / "machine.npz")
    assert repr(fitted).startswith("Left out one at a time, ")
    assert "<table>" in fitted._repr_html_()
    done = command("kernel", "fit", "classes", "--size", 8, "--kernel", LAYERS, "--to", "machine.npz", cwd=here)
    assert fitted.result.words[0] in done.stdout
    assert "Next: dissensus predict STUDY machine=kernel:machine.npz" in done.stdout
    listed = command("kernel", "list").stdout
    assert "myrtle10-gaussian" in listed
    assert "CUDA:" in listed
    assert {one["name"] for one in json.loads(command("kernel", "list", "--json").stdout)["kernels"]} >= {"myrtle5"}


def test_matrices_in_memory_and_on_disk_are_the_same(here):
    images, seen = np.load(here / "images.npy"), []
    kept = dissensus.kernel_matrix(images, kernel=LAYERS, folder=here / "m", progress=lambda *done: seen.append(done))
    assert isinstance(kept, np.memmap)
    np.testing.assert_array_equal(kept, dissensus.kernel_matrix(here / "flat", kernel=LAYERS, size=8))
    assert seen[-1][0] == seen[-1][1]
    assert dissensus.kernel_matrix(images[..., 0], images[:3, ..., 0], kernel=LAYERS).shape == (24, 3)


IMAGES, LABELS = pictures()


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (IMAGES.reshape(24, -1), LABELS, "an array of 24 × 192 holds no images"),
        (IMAGES[:0], [], "holds no images"),
        (IMAGES[:, :, :6], LABELS, "images are 8×6: a machine takes squares"),
        (np.concatenate([IMAGES, IMAGES[..., :1]], -1), LABELS, "4 channels"),
        (np.full_like(IMAGES, 7), LABELS, "the same value"),
        (np.where(IMAGES > 250, np.nan, IMAGES / 255), LABELS, "NaN or infinite"),
        (IMAGES.astype(float), LABELS, "pixels from 0 to 255: give floats from 0"),
        (IMAGES.astype(int), LABELS, "images of int64"),
        (np.array([["a"]]), LABELS, "holds no images"),
        ([[1, 2], [3]], LABELS, "give images of one size"),
        (IMAGES, None, "the images have no labels"),
        (IMAGES, LABELS[:-1], "23 labels for 24 images"),
        (IMAGES, [LABELS], "labels of shape 1 × 24: give one per image"),
        (IMAGES, [["a", "b"], *LABELS[1:]], "give one per image"),
        (IMAGES, np.arange(24) * 1j, "labels of complex128: give names or whole numbers"),
        (IMAGES, ["cat"] * 24, "all images are of one class"),
        (IMAGES, [None, *LABELS[1:]], "image 1 has no label"),
        (IMAGES, np.where(np.arange(24) == 5, np.nan, 1.0), "image 6 has no label"),
        (IMAGES, ["", *LABELS[1:]], "image 1 has no label"),
        (IMAGES, [0.5, *[1.0] * 23], "image 1 has no label .found 0.5."),
        (np.concatenate([IMAGES, IMAGES[:1]]), [*LABELS, "light"], "image 0 and image 24 are the same"),
    ],
)
def test_images_and_labels_that_teach_nothing_are_refused(images, labels, message):
    with pytest.raises(KernelError, match=message):
        dissensus.fit_kernel(images, labels, LAYERS)


def test_flips_of_symmetric_or_mirrored_images_are_refused_by_name_at_once(here, command, monkeypatch):
    monkeypatch.setattr(KernelRidgeClassifier, "fit", lambda *_: pytest.fail("it was computed"))
    line = ("kernel", "fit", "classes", "--size", "8", "--kernel", LAYERS, "--flips", "--to", "machine.npz")
    odd = here / "classes" / "dark" / "odd.png"
    Image.fromarray(IMAGES[1][:, ::-1]).save(odd)
    assert "dark/odd.png and light/01.png are mirror images of each other" in one_line(command(*line, cwd=here))
    Image.new("RGB", (8, 8), (90, 10, 10)).save(odd)
    assert "dark/odd.png is its own mirror image" in one_line(command(*line, cwd=here))


def test_contradicting_copies_need_a_penalty(here, command):
    np.save(here / "twice.npy", np.concatenate([IMAGES, IMAGES]))
    np.save(here / "contradicting.npy", np.array([*LABELS, *reversed(LABELS)]))
    line = ("kernel", "fit", "twice.npy", "contradicting.npy", "--kernel", LAYERS, "--to", "machine.npz")
    refused = command(*line, cwd=here)
    assert refused.returncode == 2
    assert "are the same" in one_line(refused)
    assert not (here / "machine.npz").exists()
    assert command(*line, "--penalty", "1", cwd=here).returncode == 0


def test_images_that_only_become_singular_are_refused_with_a_remedy(command, tmp_path):
    shades = np.full((12, 8, 8, 1), 1, np.uint8) * np.arange(10, 250, 20, dtype=np.uint8)[:, None, None, None]
    with pytest.raises(KernelError, match=r"singular with a penalty of 0.*use a penalty of at least"):
        dissensus.fit_kernel(shades, [0, 1] * 6, LAYERS)


@pytest.mark.parametrize(("setting", "message"), [({"penalty": -1}, "penalty of -1"), ({"tilt": 2}, "tilt of 2"),
    ({"penalty": float("nan")}, "penalty of nan"), ({"size": 9}, "not 9×9"), ({"gray": True}, "3 channels"),
    ({"kernel": "conv3"}, "mean"), ({"precision": "float16"}, "float16"), ({"device": "tpu"}, "tpu")])  # fmt: skip
def test_settings_are_checked_before_anything_is_computed(monkeypatch, setting, message):
    monkeypatch.setattr(KernelRidgeClassifier, "fit", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(KernelError, match=message):
        dissensus.fit_kernel(IMAGES, LABELS, **{"kernel": LAYERS} | setting)


@pytest.mark.parametrize("labels", [np.array(3), np.eye(24)[:, :3], np.arange(24)[:, None]], ids=np.shape)
def test_labels_of_another_shape_are_refused_wherever_they_come_from(here, command, labels):
    np.savez(here / "odd.npz", images=IMAGES, labels=labels)
    np.save(here / "odd.npy", labels)
    for given in (("odd.npz",), ("images.npy", "odd.npy")):
        refused = command("kernel", "fit", *given, "--kernel", LAYERS, "--to", "machine.npz", cwd=here)
        assert refused.returncode == 2
        assert "give one per image" in one_line(refused)


def test_what_a_killed_command_was_writing_is_removed(here):
    left, others = here / ".machine.npz.99999999-1.unfinished", here / ".other.npz.99999999-1.unfinished"
    left.touch()
    others.touch()
    dissensus.fit_kernel(IMAGES, LABELS, LAYERS, path=here / "machine.npz")
    assert not left.exists()
    assert others.exists()


def test_a_fit_goes_on_where_it_stopped(here, monkeypatch):
    monkeypatch.setattr(CpuEngine, "side", 6)
    block, left = CpuEngine.block, [7]

    def stopping(self, rows, columns):
        if rows.stop - rows.start == 6:  # not those that are timed
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        return block(self, rows, columns)

    monkeypatch.setattr(CpuEngine, "block", stopping)
    fit = lambda name, images=IMAGES: dissensus.fit_kernel(images, LABELS, LAYERS, whiten=True, path=here / name)  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        fit("machine.npz")
    folder = GramFolder(here / "machine.unfinished")
    assert (len(folder.whole()), len(folder.tiles)) == (7, 10)
    left[0] = 3
    fit("machine.npz")
    assert left[0] == 0
    left[0] = 100
    fit("at-once.npz")
    assert (here / "machine.npz").read_bytes() == (here / "at-once.npz").read_bytes()
    assert not list(here.glob("*.unfinished"))

    left[0] = 2  # a matrix of other images is replaced
    with pytest.raises(KeyboardInterrupt):
        fit("machine.npz", IMAGES[::-1])
    left[0] = 10
    fit("machine.npz")
    assert (here / "machine.npz").read_bytes() == (here / "at-once.npz").read_bytes()


def test_a_folder_of_somebody_else_stays(here):
    theirs = here / "machine.unfinished" / "inputs.json"
    theirs.parent.mkdir()
    theirs.write_text("{}")
    with pytest.raises(KernelError, match="was not written by dissensus kernel gram"):
        dissensus.fit_kernel(IMAGES, LABELS, LAYERS, path=here / "machine.npz")
    assert theirs.read_text() == "{}"


def test_labels_in_bytes_are_names():
    assert dissensus.fit_kernel(IMAGES, np.array(LABELS, "S"), LAYERS).classes == NAMES


def test_objects_in_an_array_are_called_what_they_are(here, command):
    np.save(here / "objects.npy", np.array([["a"], None], object), allow_pickle=True)
    refused = command("kernel", "gram", "objects.npy", "--to", "m", cwd=here)
    assert "holds Python objects instead of arrays; write it again" in one_line(refused)


def test_a_machine_that_the_memory_cannot_hold_is_refused_after_its_estimate(here, command, monkeypatch):
    monkeypatch.setattr("dissensus.kernels.memory.memory_here", lambda: 24 * 24 * 11)
    monkeypatch.setattr(KernelRidgeClassifier, "fit", lambda *_: pytest.fail("it was computed"))
    refused = command("kernel", "fit", "both.npz", "--kernel", LAYERS, "--to", "machine.npz", cwd=here)
    assert refused.returncode == 2
    assert "24 × 24 matrix, 300 pairs" in refused.stdout
    assert "of memory, and this machine has" in one_line(refused)
    assert "use fewer images" in one_line(refused)


def test_a_place_that_cannot_be_written_to_is_noticed_before_anything_is_computed(here, command, monkeypatch):
    monkeypatch.setattr(KernelRidgeClassifier, "fit", lambda *_: pytest.fail("it was computed"))
    line = ("kernel", "fit", "both.npz", "--kernel", LAYERS, "--to")
    for target in ("labels.csv/machine.npz", "labels.csv/deep/er/machine.npz"):
        assert "labels.csv is not a folder" in one_line(command(*line, target, cwd=here))
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert "cannot be written to" in one_line(command(*line, "new/machine.npz", cwd=here))
    monkeypatch.undo()
    monkeypatch.setattr("dissensus.steps.kernel_fitting.free_bytes", lambda _: 1000)
    assert "the disk of machine.npz has 1 kB left" in one_line(command(*line, "machine.npz", cwd=here))


def test_tiles_so_small_that_their_list_would_not_end_are_refused(tmp_path, command):
    np.save(tmp_path / "many.npy", np.zeros((60_000, 1, 1, 1), np.uint8))
    np.save(tmp_path / "one.npy", np.ones((1, 1, 1, 1), np.uint8))
    line = ("kernel", "gram", "many.npy", "--kernel", "mean", "--to", "m", "--estimate", "--tile")
    refused = one_line(command(*line, 1, cwd=tmp_path))
    assert "--tile 1: that makes up to 3,600,000,000 tiles: give at least" in refused
    for other in ((), ("--with", "one.npy")):
        words = one_line(command(*line, 1, *other, cwd=tmp_path)).split()
        assert command(*line, words[words.index("least") + 1].rstrip(","), *other, cwd=tmp_path).returncode == 0
    assert not (tmp_path / "m").exists()


def test_files_that_are_not_machines_are_not_replaced(here, command):
    before = snapshot(here)
    for target, message in (("both.npz", "is not a kernel machine"), ("flat", "is a folder"), ("new.txt", ".npz")):
        refused = command("kernel", "fit", "both.npz", "--kernel", LAYERS, "--to", target, cwd=here)
        assert refused.returncode == 2
        assert message in one_line(refused)
    assert snapshot(here) == before


def test_folders_of_images_that_cannot_be_used(here, command):
    (here / "classes" / "light" / "broken.png").write_text("no image")
    (here / "flat" / "unlabelled.png").write_bytes((here / "flat" / "00.png").read_bytes())
    (here / "loose").mkdir()
    shutil.copy(here / "flat" / "00.png", here / "loose")
    (here / "empty").mkdir()
    (here / "images").mkdir()
    shutil.copy(here / "flat" / "00.png", here / "images" / "other.png")
    cases = {
        ("classes",): "broken.png: not an image in a known format",
        ("flat", "labels.csv"): "has no label for unlabelled.png",
        ("loose",): "outside the subfolders",
        ("empty",): "no subfolders with images",
        ("images", "labels.csv"): "is not in the folder of images",
        ("flat", "nowhere.csv"): "no such file",
        ("nowhere",): "does not exist",
        ("images.npy", "labels.csv"): "have no names",
    }
    for given, message in cases.items():
        refused = command("kernel", "fit", *given, "--size", 8, "--kernel", LAYERS, "--to", "machine.npz", cwd=here)
        assert refused.returncode == 2, given
        assert message in one_line(refused), given
