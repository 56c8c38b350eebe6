"""Kernel machines in files: what is written is read again, and nothing else is; predictions in a study's classes."""

from __future__ import annotations

import json
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from dissensus.arrays import MISSING
from dissensus.backends import Preprocess, open_model, target_fingerprint
from dissensus.backends.kernel import AGAIN, HEAD, is_machine, read_machine
from dissensus.errors import BackendError, KernelError
from dissensus.records import Classes
from dissensus.study.kernels import fit_kernel

LAYERS = "conv3 gaussian pool2 conv3 gaussian mean gaussian"
NAMES = ("dark", "light", "striped")


def pictures(count=30, channels=3, seed=0):
    """Dark, light and striped squares with noise."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    stripes = 255 * (np.arange(8) % 2)
    base = np.stack([np.full((8, 8), 40), np.full((8, 8), 200), np.broadcast_to(stripes, (8, 8))])[labels]
    noisy = base[..., None] + random.normal(0, 20, (count, 8, 8, channels))
    return noisy.clip(0, 255).astype(np.uint8), [NAMES[label] for label in labels]


@pytest.fixture(scope="module")
def fitted():
    return fit_kernel(*pictures(), LAYERS)


@pytest.fixture
def path(fitted, tmp_path):
    return fitted.save(tmp_path / "machine.npz")


def classes_of(*names):
    return Classes(names=names, ids=names, synonyms=((),) * len(names))


def test_what_is_read_predicts_what_was_written(fitted, path):
    images, labels = pictures(12, seed=1)
    model = open_model("kernel", str(path), Preprocess(), classes_of(*NAMES))
    found = model.predict([Image.fromarray(one) for one in images])
    assert [NAMES[label] for label in found.labels] == fitted.predict(images) == labels
    assert np.isnan(found.confidence).all()
    order = np.argsort(-fitted.scores(images), axis=1)
    np.testing.assert_array_equal(found.further[:, :2], order[:, 1:])
    assert (found.further[:, 2:] == MISSING).all()
    read = read_machine(path)
    np.testing.assert_array_equal(read.scores(read.machine.items_[:5]), fitted.trained.scores(read.machine.items_[:5]))


def test_classes_are_matched_by_name(path):
    images, labels = pictures(6, seed=2)
    study = classes_of("unknown", "Striped", "dark", "other", "light")
    found = open_model("kernel", str(path), Preprocess(), study).predict([Image.fromarray(one) for one in images])
    assert [study.names[label].lower() for label in found.labels] == labels
    assert set(found.further[:, 0].tolist()) <= {1, 2, 4}
    with pytest.raises(BackendError, match="no such class 'striped'"):
        open_model("kernel", str(path), Preprocess(), classes_of("dark", "light"))


def test_two_classes_that_are_one_in_the_study_are_refused(tmp_path):
    images, labels = pictures()
    path = fit_kernel(images, [name.replace("striped", "LIGHT") for name in labels], LAYERS).save(tmp_path / "m.npz")
    with pytest.raises(BackendError, match="are one class of the study"):
        open_model("kernel", str(path), Preprocess(), classes_of("dark", "Light"))


def test_it_resizes_and_converts_images_itself(tmp_path):
    images, labels = pictures(channels=1)
    path = fit_kernel(images, labels, LAYERS).save(tmp_path / "gray.npz")
    model = open_model("kernel", str(path), Preprocess(size=99, channels="bgr"), classes_of(*NAMES))
    large = [Image.fromarray(one[..., 0]).resize((40, 40), Image.Resampling.NEAREST).convert("RGB") for one in images]
    assert np.mean([NAMES[label] for label in model.predict(large).labels] == np.array(labels)) > 0.9


@pytest.mark.parametrize(("whiten", "flips", "tilt"), [(True, False, 0.0), (False, True, 0.3), (True, True, 0.0)])
def test_every_kind_of_machine_survives_its_file(tmp_path, whiten, flips, tilt):
    images, labels = pictures()
    made = fit_kernel(images, labels, LAYERS, whiten=whiten, flips=flips, tilt=tilt, path=tmp_path / "m.npz")
    read, given = read_machine(tmp_path / "m.npz"), made.trained.machine.items_[:4]
    assert read.classes == NAMES
    again = read.machine.state()
    for name, value in made.trained.machine.state().items():
        np.testing.assert_array_equal(again[name], value)
    np.testing.assert_array_equal(read.scores(given), made.trained.scores(given))


def test_the_same_machine_gives_the_same_bytes(path, tmp_path):
    again = fit_kernel(*pictures(), LAYERS, path=tmp_path / "again.npz").result.path
    assert again.read_bytes() == path.read_bytes()
    assert target_fingerprint("kernel", str(path)) == target_fingerprint("kernel", str(again))


def test_a_machine_that_is_cut_off_anywhere_is_refused(path, tmp_path):
    content = path.read_bytes()
    for length in (0, 1, 50, len(content) // 2, len(content) - 100, len(content) - 1):
        cut = tmp_path / "cut.npz"
        cut.write_bytes(content[:length])
        with pytest.raises(KernelError, match="not a kernel machine, or is damaged"):
            read_machine(cut)
        assert not is_machine(cut)


def test_flipped_bytes_never_give_another_prediction(fitted, path, tmp_path):
    content, images = path.read_bytes(), fitted.trained.machine.items_[:2]
    expected = fitted.trained.scores(images)
    for place in np.linspace(0, len(content) - 1, 150).astype(int):
        bad = bytearray(content)
        bad[place] ^= 0x41
        (tmp_path / "bad.npz").write_bytes(bad)
        with suppress(KernelError):
            read = read_machine(tmp_path / "bad.npz")
            np.testing.assert_array_equal(read.scores(images), expected)


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def test_other_files_are_refused_and_no_pickle_is_run(tmp_path):
    files = {"other.npz": {"x": np.ones(3)}, "objects.npz": {HEAD: np.array([Bomb()], object)}}
    for name, arrays in files.items():
        np.savez(tmp_path / name, allow_pickle=True, **arrays)
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "array.npz").write_bytes((tmp_path / "array.npy").read_bytes())
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Bomb()))
    (tmp_path / "text.npz").write_text("what")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as file:
        file.writestr(f"{HEAD}.npy", "what")
    np.savez(tmp_path / "numbers.npz", **{HEAD: np.array("[1]")})
    np.savez(tmp_path / "words.npz", **{HEAD: np.array("{")})
    (tmp_path / "folder.npz").mkdir()
    for other in sorted(tmp_path.glob("*.npz")):
        with pytest.raises(KernelError, match=AGAIN) as caught:
            read_machine(other)
        assert "\n" not in str(caught.value)
        assert "allow_pickle" not in str(caught.value)


TEXTS = [
    {"version": 99},
    {"classes": ["dark", "light"]},
    {"classes": ["dark"] * 3},
    {"classes": 7},
    {"preprocess": {}},
    {"preprocess": {"size": 4, "channels": "gray"}},
    {"state": {}},
    {"state": {"machine": "KernelRidgeClassifier", "parameters": "{}}"}},
    {"state": {"machine": "os", "parameters": "{}"}},
    {"state": {"machine": "KernelRidgeClassifier", "parameters": "[" * 100_000}},
    *(
        {"state": {"machine": "KernelRidgeClassifier", "parameters": json.dumps({"kernel": LAYERS} | one)}}
        for one in ({"kernel": "nonsense"}, {"kernel": "precomputed"}, {"kernel": "conv3"}, {"precision": "float16"})
    ),
]
ARRAYS = [
    {"state.coefficients": None},
    {"state.coefficients": np.full((30, 3), np.nan)},
    {"state.items": np.ones((2, 8, 8, 3))},
    {"state.items": np.array(["a"])},
    {"state.items": np.full((30, 8, 8, 3), "a")},
    {"state.items": np.full((30, 8, 8, 3), np.inf)},
    {"state.intercept": np.full(3, np.nan)},
]


@pytest.mark.parametrize(("texts", "arrays"), [*((one, {}) for one in TEXTS), *(({}, one) for one in ARRAYS)])
def test_contents_that_do_not_fit_are_refused(path, texts, arrays):
    with np.load(path) as file:
        kept = dict(file) | arrays
    about = json.loads(str(kept.pop(HEAD))) | texts
    kept = {name: value for name, value in kept.items() if value is not None}
    np.savez(path, **{HEAD: np.array(json.dumps(about))}, **kept)
    with pytest.raises(KernelError, match=AGAIN):
        read_machine(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mean", lambda a: a[1:]),
        ("vectors", lambda a: a[1:]),
        ("gains", lambda a: a[1:]),
        ("gains", lambda a: a * np.nan),
    ],
)
def test_whitening_that_does_not_fit_is_refused_when_the_file_is_read(tmp_path, name, change):
    images = np.random.default_rng(0).random((6, 4, 4, 1))
    made = fit_kernel(images, [0, 1] * 3, "conv3 relu mean", penalty=1, whiten=True).save(tmp_path / "machine.npz")
    with np.load(made) as file:
        kept = dict(file)
    kept[f"state.whitening_{name}"] = change(kept[f"state.whitening_{name}"])
    np.savez(made, **kept)
    with pytest.raises(KernelError, match=AGAIN):
        read_machine(made)


def test_missing_files_and_pipes_are_named(tmp_path):
    with pytest.raises(BackendError, match="no such file"):
        open_model("kernel", str(tmp_path / "nowhere.npz"), Preprocess(), classes_of(*NAMES))
    with pytest.raises(KernelError, match="no such file"):
        read_machine(tmp_path / "nowhere.npz")
