"""Maps that lie in a folder: what is taken as a map, what is refused, and whether a changed file is noticed."""

import hashlib
import os
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dissensus.backends import MapFolder, Unreadable, target_fingerprint
from dissensus.errors import BackendError, PredictionError
from dissensus.records import VOID, Classes

THREE = Classes(("background", "cat", "dog"))
LABELS = np.array([[0, 1, 2, VOID], [2, 2, 0, 0], [1, 1, 1, 0]], np.uint8)


def saved(path, labels=LABELS, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".npy":
        with path.open("wb") as file:
            np.save(file, labels)
    elif mode == "P":
        image = Image.fromarray(labels, "L")
        image.putpalette([value for i in range(256) for value in (255 - i, 7, i // 2)])
        assert image.mode == "P"
        image.save(path)
    else:
        Image.fromarray(labels).save(path, "PNG")
    return path


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def small_png(labels, depth, colour):
    """A PNG of fewer than 8 bits per pixel, written from the format's definition."""
    height, width = labels.shape
    rows = b""
    for row in labels:
        bits = "".join(f"{label:0{depth}b}" for label in row)
        bits += "0" * (-len(bits) % 8)
        rows += b"\0" + bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    palette = chunk(b"PLTE", bytes(3 * 2**depth)) if colour == 3 else b""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "labels", "mode"),
    [
        ("a.png", LABELS, None),
        ("a.png", LABELS, "P"),
        ("a.PNG", LABELS, None),
        ("a.png", LABELS.astype(np.uint16), None),
        ("a.jpg.png", LABELS, None),
        ("a.npy", LABELS, None),
        ("a.npy", LABELS.astype(np.int64), None),
        ("a.npy", np.asfortranarray(LABELS.astype(">i4")), None),
        ("a.npy", LABELS.astype(np.float32), None),
        ("a.jpg.npy", LABELS, None),
    ],
)
def test_pixels_are_labels(tmp_path, name, labels, mode):
    saved(tmp_path / "cats" / name, labels, mode)
    found = MapFolder(tmp_path, THREE).get("cats/a.jpg")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, LABELS)


@pytest.mark.parametrize("colour", [0, 3])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_files_of_few_bits(tmp_path, depth, colour):
    labels = np.random.default_rng(0).integers(0, min(3, 2**depth), (5, 7))
    (tmp_path / "a.png").write_bytes(small_png(labels, depth, colour))
    np.testing.assert_array_equal(MapFolder(tmp_path, THREE).get("a.jpg"), labels)


def test_true_and_false_are_labels_too(tmp_path):
    saved(tmp_path / "a.npy", LABELS == 2)
    saved(tmp_path / "b.png", LABELS == 2)
    for item in ("a.jpg", "b.jpg"):
        np.testing.assert_array_equal(MapFolder(tmp_path, THREE).get(item), (LABELS == 2).astype(np.uint8))


def test_items_without_a_map_say_so(tmp_path):
    saved(tmp_path / "cats/a.png")
    folder = MapFolder(tmp_path, THREE)
    for item in ("cats/b.jpg", "a.jpg", "../cats/a.jpg", "", "cats", str(tmp_path / "cats/a.jpg")):
        assert folder.get(item) == Unreadable("no map in the folder")
    folder.check_covers(["cats/b.jpg", "cats/a.jpg"])


def test_ids_may_have_dots_or_no_ending(tmp_path):
    for number, name in enumerate(("scene.1", "scene.2", "007")):
        saved(tmp_path / f"{name}.png", np.full((2, 2), number, np.uint8))
    folder = MapFolder(tmp_path, THREE)
    folder.check_covers(["scene.1", "scene.2", "007"])
    assert [int(folder.get(item)[0, 0]) for item in ("scene.1", "scene.2", "007")] == [0, 1, 2]


def test_other_files_are_ignored(tmp_path):
    saved(tmp_path / "a.png")
    (tmp_path / "notes.txt").write_text("no map")
    (tmp_path / "._a.npy").write_bytes(b"what a file manager left")
    saved(tmp_path / "of-nobody.png")
    folder = MapFolder(tmp_path, THREE)
    folder.check_covers(["a.jpg"])
    np.testing.assert_array_equal(folder.get("a.jpg"), LABELS)


def test_whose_map_is_it(tmp_path):
    saved(tmp_path / "a.png")
    folder = MapFolder(tmp_path, THREE)
    with pytest.raises(PredictionError, match=r"a\.png is the map of both a\.jpg and a\.gif: use a\.jpg\.png"):
        folder.check_covers(["a.jpg", "a.gif"])
    with pytest.raises(PredictionError, match=r"no map of any item, only files such as a\.png: name each file after"):
        folder.check_covers(["b.jpg", "cats/a.jpg"])
    saved(tmp_path / "a.npy")
    both = MapFolder(tmp_path, THREE)
    for asked in (both.get, lambda item: both.check_covers([item])):
        with pytest.raises(PredictionError, match=r"a\.jpg has two maps, a\.png and a\.npy: keep one"):
            asked("a.jpg")
    (tmp_path / "a.npy").unlink()
    saved(tmp_path / "a.PNG")
    if len(list(tmp_path.iterdir())) == 2:  # where names differ by case
        with pytest.raises(PredictionError, match="are two maps of the same item"):
            MapFolder(tmp_path, THREE)


def test_folders_without_maps(tmp_path):
    (tmp_path / "file.csv").write_text("item,label")
    for path, message in (
        (tmp_path / "absent", "is not a folder: give one with"),
        (tmp_path / "file.csv", "is not a folder"),
        (tmp_path, "contains no maps"),
    ):
        with pytest.raises(PredictionError, match=message):
            MapFolder(path, THREE)


COLOUR = np.zeros((3, 4, 3), np.uint8)


@pytest.mark.parametrize(
    ("name", "labels", "message"),
    [
        ("a.png", COLOUR, "the image is RGB, not labels: save the class numbers as an 8-bit greyscale"),
        ("a.png", np.zeros((3, 4, 4), np.uint8), "the image is RGBA"),
        ("a.png", np.zeros((3, 4, 2), np.uint8), "the image is LA"),
        ("a.png", LABELS + 1, "label 3 is not a class: there are 3, 0 to 2; use 255 for 'ignore'"),
        ("a.png", np.full((2, 2), 65_535, np.uint16), "label 65535 is not a class"),
        ("a.png", np.full((2, 2), 256, np.uint16), "label 256 is not a class"),
        ("a.npy", np.full((2, 2), -1), "label -1 is not a class"),
        ("a.npy", np.full((2, 2), 256), "label 256 is not a class"),
        ("a.npy", np.full((2, 2), 0.25), "0.25 is not a label"),
        ("a.npy", np.full((2, 2), np.nan), "nan is not a label"),
        ("a.npy", np.zeros((3, 2, 2)), r"shape \(3, 2, 2\) is not a map: store labels H×W"),
        ("a.npy", np.zeros((0, 2), np.uint8), r"shape \(0, 2\)"),
        ("a.npy", np.full((2, 2), "cat"), "an array of <U3"),
        ("a.npy", np.array([[None, 1]]), "is damaged or missing: write it again"),
    ],
)
def test_what_is_no_map(tmp_path, name, labels, message):
    path = saved(tmp_path / name, labels)
    with pytest.raises(PredictionError, match=message) as caught:
        MapFolder(tmp_path, THREE).get("a.jpg")
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.png", "a.npy"])
def test_damaged_files(tmp_path, name):
    path = saved(tmp_path / name, np.random.default_rng(0).integers(0, 3, (50, 50), dtype=np.uint8))
    whole = path.read_bytes()
    for data in (b"", whole[:20], whole[: len(whole) // 2], b"GIF89a" + whole[6:]):
        path.write_bytes(data)
        with pytest.raises(PredictionError, match="is damaged or missing: write it again") as caught:
            MapFolder(tmp_path, THREE).get("a.jpg")
        assert " at 0x" not in str(caught.value)  # of an object: nothing that anybody can use


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_any_wrong_byte_ends_in_a_map_or_is_told(tmp_path, place, value):
    data = bytearray(saved(tmp_path / "a.png", np.tile(LABELS, (5, 5))).read_bytes())
    data[place % len(data)] = value
    (tmp_path / "a.png").write_bytes(data)
    with suppress(PredictionError):
        assert np.isin(MapFolder(tmp_path, THREE).get("a.jpg"), [0, 1, 2, VOID]).all()


def test_too_many_pixels(tmp_path, monkeypatch):
    saved(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 11)
    with pytest.warns(Image.DecompressionBombWarning), pytest.raises(PredictionError, match="4×3 pixels exceed"):
        MapFolder(tmp_path, THREE).get("a.jpg")


def test_numbers_of_another_list(tmp_path):
    saved(tmp_path / "a.png", np.array([[0, 8, 12, 20, VOID]], np.uint8))
    assert MapFolder(tmp_path, THREE, "voc").get("a.jpg").tolist() == [[0, 1, 2, 0, VOID]]
    saved(tmp_path / "a.png", np.array([[0, 21]], np.uint8))
    with pytest.raises(PredictionError, match="label 21 is not a class: there are 21"):
        MapFolder(tmp_path, THREE, "voc").get("a.jpg")
    with pytest.raises(BackendError, match="none of its 2 labels"):
        MapFolder(tmp_path, THREE, ("sea", "sky"))


def test_fingerprints_follow_names_and_bytes(tmp_path):
    path = saved(tmp_path / "cats/a.png")
    saved(tmp_path / "b.npy")
    before = MapFolder(tmp_path, THREE).fingerprint
    whole = hashlib.sha256()
    for name in ("b.npy", "cats/a.png"):
        whole.update(name.encode() + b"\0" + hashlib.sha256((tmp_path / name).read_bytes()).digest())
    assert before == whole.hexdigest()[:16]
    assert target_fingerprint("file", str(tmp_path)) == before
    (tmp_path / "notes.txt").write_text("ignored")
    assert target_fingerprint("file", str(tmp_path)) == before

    stat, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    assert target_fingerprint("file", str(tmp_path)) != before
    path.write_bytes(data)
    assert target_fingerprint("file", str(tmp_path)) == before
    path.rename(tmp_path / "cats/c.png")
    assert target_fingerprint("file", str(tmp_path)) != before


def test_files_are_read_once_where_possible(tmp_path):
    paths = [saved(tmp_path / name) for name in ("a.png", "b.png")]
    expected = target_fingerprint("file", str(tmp_path))
    folder = MapFolder(tmp_path, THREE)
    folder.get("a.jpg")
    paths[0].unlink()  # it was read, so its bytes are known
    assert folder.fingerprint == expected


def test_a_file_that_changes_meanwhile(tmp_path):
    saved(tmp_path / "a.png")
    folder = MapFolder(tmp_path, THREE)
    folder.get("a.jpg")
    saved(tmp_path / "a.png", LABELS[::-1])
    with pytest.raises(PredictionError, match="changed while the folder was being read"):
        folder.get("a.jpg")
    (tmp_path / "a.png").unlink()
    with pytest.raises(PredictionError, match="FileNotFoundError"):
        folder.get("a.jpg")
    with pytest.raises(BackendError, match="no such file"):
        target_fingerprint("file", str(tmp_path / "absent"))
    with pytest.raises(BackendError, match="no such file"):
        target_fingerprint("onnx", str(tmp_path))
