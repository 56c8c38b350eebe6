from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mask_cases import MANY, SMALL, answer, checked, drew, every_label, label_maps, labels
from PIL import Image

from dissensus.errors import JudgementError
from dissensus.records import Question, Response, class_colours
from dissensus.store.exchange import read_responses, write_responses
from dissensus.store.files import fingerprint

ITEMS = ["a.jpg", "cats/a.jpg", "cats/b.jpeg", "dogs/b.png"]


def png(pixels: Any, mode: str | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(np.asarray(pixels))
    (image.convert(mode) if mode else image).save(file, "PNG", **options)
    return file.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def raw_png(width: int, height: int, bits: int, colours: int, rows: bytes) -> bytes:
    """A PNG file made by hand, of the kinds that Pillow would rather change."""
    head = struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(range(48))) if colours == 3 else b""
    parts = chunk(b"IHDR", head) + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def stored(path: Path, files: dict[str, bytes]) -> Path:
    """The files in a folder, or in a .zip."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path
    path.mkdir(exist_ok=True)
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def read_all(path: Path, items: list[str] = ITEMS, annotator: str | None = "bob", **options: Any) -> list[Response]:
    options = {"task": "masks", "items": lambda: items} | options
    return list(read_responses(path, MANY, items.__contains__, annotator=annotator, **options))


def write_all(path: Path, responses: list[Response], items: list[str] | None = ITEMS) -> tuple[int, list[str]]:
    told: list[str] = []
    known = None if items is None else lambda: items
    count = write_responses(path, responses, MANY, "png", items=known, tell=told.append)
    return count, told


@pytest.mark.parametrize("ending", ["", ".zip"])
@given(st.lists(label_maps | every_label, min_size=1, max_size=3))
@settings(max_examples=40)
def test_masks_come_back_pixel_for_pixel(tmp_path_factory: Any, ending: str, maps: list[np.ndarray]) -> None:
    path = tmp_path_factory.mktemp("png") / f"masks{ending}"
    drawn = {item: answer(one) for item, one in zip(ITEMS, maps, strict=False)}
    answers = [drew(number, item, one) for number, (item, one) in enumerate(drawn.items())]
    assert write_all(path, answers) == (len(answers), [])
    found = read_all(path)
    assert {one.question.body["item"]: one.answer for one in found} == drawn
    assert {(one.question.kind, one.annotator, one.role) for one in found} == {("mask", "bob", "asked")}
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_any_reader_of_indexed_files_sees_the_labels_and_the_colours(tmp_path: Path) -> None:
    write_all(tmp_path / "out", [drew(1, "cats/a.jpg", SMALL)])
    data = (tmp_path / "out" / "cats" / "a.png").read_bytes()
    width, height, bits, colours = struct.unpack_from(">IIBB", data, 16)
    assert (width, height, bits, colours) == (3, 2, 8, 3)
    with Image.open(tmp_path / "out" / "cats" / "a.png") as image:
        assert np.array(image).tolist() == SMALL.tolist()
        shown = np.array(image.convert("RGB"))
    assert [[tuple(pixel) for pixel in row] for row in shown.tolist()] == [
        [class_colours()[label] for label in row] for row in SMALL.tolist()
    ]


@pytest.mark.parametrize("name", ["folder", "files.zip"])
def test_files_of_other_tools(tmp_path: Path, name: str) -> None:
    """Grey or indexed with any palette, also of fewer bits, in the items' subfolders."""
    four_bits = raw_png(3, 2, 4, 3, b"\x00\x12\x30\x00\x40\x00")
    files = {
        "a.png": png(SMALL),
        "cats/a.PNG": png(Image.fromarray(SMALL), "P"),
        "dogs/b.png": four_bits,
        "cats/notes.txt": b"no picture",
        "__MACOSX/cats/._a.png": b"\0",
    }
    path = stored(tmp_path / name, files)
    os.utime(path / "a.png" if path.is_dir() else path, (1_700_000_000, 1_700_000_000))
    if path.is_dir():
        (path / "cats" / "._b.png").write_bytes(b"\0")
        os.renames(path / "__MACOSX" / "cats" / "._a.png", tmp_path / "elsewhere" / "._a.png")
    found = {one.question.body["item"]: one for one in read_all(path, format=None)}
    assert found["a.jpg"].answer == {"height": 2, "width": 3, "runs": [0, 1, 1, 2, 255, 1, 2, 1, 1, 1]}
    assert found["a.jpg"].time == "2023-11-14T22:13:20+00:00"
    assert labels(found["dogs/b.png"].answer) == [[1, 2, 3], [4, 0, 0]]
    assert set(found) == {"a.jpg", "cats/a.jpg", "dogs/b.png"}
    assert [one.id for one in read_all(path)] == [one.id for one in found.values()]


def test_one_file_alone(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(SMALL))
    assert [one.question.body["item"] for one in read_all(tmp_path / "a.png")] == ["a.jpg"]


@pytest.mark.parametrize("name", ["folder", "files.zip"])
@pytest.mark.parametrize(
    ("file", "data", "complaint"),
    [
        ("cats/c.png", png(SMALL), "matches no item of the pool: name files like their items"),
        ("a.png", b"GIF89a and so on", "is not a PNG file"),
        ("a.png", b"", "is not a PNG file"),
        ("a.png", png(SMALL)[:40], "is a damaged PNG file"),
        ("a.png", png(SMALL)[:-20], "is a damaged PNG file"),
        ("a.png", png(np.zeros((9, 9, 3), np.uint8)), "is RGB, and colours do not identify classes"),
        ("a.png", png(np.zeros((9, 9, 4), np.uint8)), "is RGBA, and colours"),
        ("a.png", png(SMALL, "LA"), "is greyscale with transparency"),
        (
            "a.png",
            png(SMALL.astype(np.uint16)),
            "has 16 bits per pixel: save labels as an 8-bit indexed or greyscale PNG",
        ),
        ("a.png", png(SMALL, "1"), "has 1 bits per pixel"),
        ("a.png", raw_png(2, 1, 4, 0, b"\x00\x12"), "has 4 bits per pixel"),
        ("a.png", png(SMALL + 252), "label 254 is not a class: there are 254, 0 to 253; use 255 for 'ignore'"),
        ("a.png", raw_png(60_000, 60_000, 8, 0, b""), "60000×60000 pixels exceed Pillow's limit"),
        ("a.png", raw_png(0, 3, 8, 0, b""), "is a damaged PNG file"),
        ("a.png", png(np.zeros((1, 20_001), np.uint8)), "the width of a mask is 20001"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, name: str, file: str, data: bytes, complaint: str) -> None:
    path = stored(tmp_path / name, {"cats/b.png": png(SMALL), file: data})
    with pytest.raises(JudgementError) as refused:
        read_all(path)
    assert str(refused.value).startswith(f"{path / file}: " if path.is_dir() else f"{path}, {file!r}: ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)
    assert " at 0x" not in str(refused.value)


@pytest.mark.parametrize("file", ["/etc/a.png", "../a.png", "C:\\a.png", "x/../a.png"])
def test_names_that_lead_out_of_a_zip_are_no_items(tmp_path: Path, file: str) -> None:
    with pytest.raises(JudgementError, match="matches no item"):
        read_all(stored(tmp_path / "a.zip", {file: png(SMALL)}))


@given(st.data())
@settings(max_examples=100)
def test_a_file_with_any_damage_is_read_or_refused(tmp_path_factory: Any, data: st.DataObject) -> None:
    """No damage passes for another mask: the checksums are looked at."""
    path = tmp_path_factory.mktemp("damaged")
    whole = png(SMALL)
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    (path / "a.png").write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        found = [one.answer for one in read_all(path)]
    except JudgementError as error:
        found = [answer(SMALL)]
        refused = str(error)
    else:
        refused = ""
    assert found == [answer(SMALL)]
    assert "\n" not in refused


def test_names_that_can_be_several_items_or_the_same_one_twice(tmp_path: Path) -> None:
    items = ["a.jpg", "a.png", "b", "b.tif"]
    with pytest.raises(JudgementError, match=r"could be any of a.jpg, a.png: name it by the full id"):
        read_all(stored(tmp_path / "one", {"a.png": png(SMALL)}), items)
    with pytest.raises(JudgementError, match=r"could be any of b, b.tif"):
        read_all(stored(tmp_path / "two", {"b.png": png(SMALL)}), items)
    path = stored(tmp_path / "three", {"a.jpg.png": png(SMALL), "a.png.png": png(SMALL), "b.tif.png": png(SMALL)})
    assert [one.question.body["item"] for one in read_all(path, items)] == ["a.jpg", "a.png", "b.tif"]
    with pytest.raises(JudgementError, match=r"a.png: is a second mask of a.jpg, in addition to a.jpg.png"):
        read_all(stored(tmp_path / "four", {"a.png": png(SMALL), "a.jpg.png": png(SMALL)}), ["a.jpg"])


def test_somebody_has_to_have_drawn_them_for_a_study_of_masks(tmp_path: Path) -> None:
    path = stored(tmp_path / "masks", {"a.png": png(SMALL)})
    with pytest.raises(JudgementError, match="do not say who drew them: add --annotator NAME"):
        read_all(path, annotator=None)
    with pytest.raises(JudgementError, match="PNG files are masks, but this is a study of labels"):
        read_all(path, task="labels")
    with pytest.raises(JudgementError, match="pass `items`"):
        list(read_responses(path, MANY, ITEMS.__contains__, annotator="bob"))
    with pytest.raises(JudgementError, match=r"contains no .png file"):
        read_all(stored(tmp_path / "empty", {"a.jpg": b""}), format="png")


def test_links_and_pipes(tmp_path: Path) -> None:
    """A file may be a link; what is behind linked folders is not read, and nobody waits for a pipe."""
    path = stored(tmp_path / "masks", {"a.png": png(SMALL)})
    elsewhere = stored(tmp_path / "elsewhere", {"b.png": png(SMALL), "a.png": png(SMALL)})
    (path / "dogs").mkdir()
    (path / "dogs" / "b.png").symlink_to(elsewhere / "b.png")
    (path / "cats").symlink_to(elsewhere)
    os.mkfifo(path / "pipe.png")
    assert [one.question.body["item"] for one in read_all(path)] == ["a.jpg", "dogs/b.png"]
    (path / "dogs" / "b.png").unlink()
    (path / "dogs" / "b.png").symlink_to(tmp_path / "nothing")
    with pytest.raises(JudgementError, match="cannot read"):
        read_all(path)


def test_a_damaged_or_enormous_zip_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path / "a.zip", {"a.png": png(SMALL)})
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(JudgementError, match=r"is not a readable .zip"):
        read_all(path, format="png")
    path.write_bytes(whole)
    monkeypatch.setattr("dissensus.store.exchange.files.LARGEST_MEMBER", 50)
    with pytest.raises(JudgementError, match="is larger than 256 MiB"):
        read_all(path)
    with pytest.raises(JudgementError, match="is larger than 256 MiB"):
        read_all(stored(tmp_path / "folder", {"a.png": png(SMALL)}))


def test_the_last_mask_of_an_item_is_written_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    corrected = np.flipud(SMALL)
    choice = Question(kind="choice", body={"first": "a.jpg", "second": "cats/a.jpg"})
    answers = [
        drew(1, "a.jpg", SMALL),
        drew(2, "cats/a.jpg", SMALL),
        checked(3, "a.jpg"),
        drew(4, "a.jpg", corrected, again=True),
        drew(5, "cats/a.jpg", "unfit"),
        drew(6, "cats/b.jpeg", SMALL, role="training"),
        drew(7, "dogs/b.png", "unfit"),
        drew(8, "dogs/b.png", SMALL),
        Response(id="9", question=choice, annotator="ann", answer="first", time="2026-11-15T09:30:00+00:00"),
    ]
    count, told = write_all(tmp_path / "out", answers)
    assert count == 2
    assert {one.question.body["item"]: one.answer for one in read_all(tmp_path / "out")} == {
        "a.jpg": answer(corrected),
        "dogs/b.png": answer(SMALL),
    }
    assert told == [
        "left out, as a PNG file holds a single mask: 1 of kind 'check', 2 earlier masks, 2 unfit, 1 from training, "
        "1 of kind 'choice'"
    ]


def test_several_people_have_a_folder_each(tmp_path: Path) -> None:
    people = ["ann", "ANN", "../eva", "Zoë"]
    answers = [drew(number, "cats/a.jpg", SMALL, person) for number, person in enumerate(people)]
    write_all(tmp_path / "out", [*answers, drew(9, "a.jpg", SMALL, "Zoë")])
    folders = {folder.name for folder in (tmp_path / "out").iterdir()}
    assert folders == {"ann", f"ANN-{fingerprint('ANN')}", f"_eva-{fingerprint('../eva')}", "Zoë"}
    assert [one.question.body["item"] for one in read_all(tmp_path / "out" / "Zoë")] == ["a.jpg", "cats/a.jpg"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_ids_that_are_no_names_of_files_and_names_that_several_could_have(tmp_path: Path) -> None:
    items = ["a.jpg", "a.png", "A.jpg", "../../x.jpg", "/etc/passwd", "..", "a\0b", "x" * 300, ".hidden", "é 1.jpg"]
    items += ["d/a.png/c.jpg", "d/a.jpg", "b", "b.jpg", "b.jpg.tif", "http://host/i?d=1", "back\\slash.jpg", "", "-"]
    items = [item for item in items if item]
    maps = {item: answer(np.full((1, number + 1), 1, np.uint8)) for number, item in enumerate(items)}
    write_all(tmp_path / "out", [drew(number, item, one) for number, (item, one) in enumerate(maps.items())], items)
    assert {one.question.body["item"]: one.answer for one in read_all(tmp_path / "out", items)} == maps
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    files = [file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.png")]
    assert {"a.jpg.png", "d/a.jpg", "-.png"} & set(files) == {"a.jpg.png", "-.png"}
    assert len({file.casefold() for file in files}) == len(files)


@given(st.lists(st.text(st.sampled_from("aA./\\-é "), min_size=1, max_size=6), min_size=1, max_size=6, unique=True))
@settings(max_examples=100)
def test_any_ids_come_back_from_the_names_of_their_files(tmp_path_factory: Any, items: list[str]) -> None:
    path = tmp_path_factory.mktemp("names") / "out.zip"
    maps = {item: answer(np.full((1, number + 1), 1, np.uint8)) for number, item in enumerate(items)}
    write_all(path, [drew(number, item, one) for number, (item, one) in enumerate(maps.items())], items)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        archive.extractall(path.with_suffix(""))
    assert len({name.casefold() for name in names}) == len(names)
    assert {one.question.body["item"]: one.answer for one in read_all(path, items)} == maps
    assert {one.question.body["item"]: one.answer for one in read_all(path.with_suffix(""), items)} == maps


def test_without_the_pool_names_are_told_apart_among_themselves(tmp_path: Path) -> None:
    write_all(tmp_path / "out", [drew(1, "a.jpg", SMALL), drew(2, "a.gif", SMALL), drew(3, "b.gif", SMALL)], None)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"a.jpg.png", "a.gif.png", "b.png"}


def test_nothing_is_written_where_there_is_no_mask_or_no_room(tmp_path: Path) -> None:
    for answers in ([], [checked(1, "a.jpg")], [drew(1, "a.jpg", SMALL), drew(2, "a.jpg", "unfit")]):
        with pytest.raises(JudgementError, match="none of the answers is a mask"):
            write_all(tmp_path / "out", answers)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "photo.png").write_bytes(b"mine")
    with pytest.raises(JudgementError, match="is not empty: name a new folder"):
        write_all(tmp_path, [drew(1, "a.jpg", SMALL)])
    assert [file.name for file in tmp_path.iterdir()] == ["photo.png"]
