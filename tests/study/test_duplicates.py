"""`dissensus duplicates`: near-duplicates within a pool, in any order and division, resumed, and as a list to keep."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageEnhance
from scores_made import done, refused, run

from dissensus.duplicates.codes import NearCodes
from dissensus.duplicates.descriptors import UNIT
from dissensus.duplicates.within import Within
from dissensus.engines.local import reduce
from dissensus.errors import PoolError
from dissensus.records import Duplicates
from dissensus.steps import describing, duplicates, pooled_images
from dissensus.steps.describing import Describing
from dissensus.steps.duplicates import Grouping
from dissensus.store.parts import Parts
from dissensus.study import Study


def scene(seed: int) -> Image.Image:
    """Coloured discs on a gradient."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:90, 0:120] / 90.0
    pixels = np.stack([rows * random.random() + columns * random.random() / 2 for _ in range(3)], axis=2) * 120
    for _ in range(9):
        y, x, size = random.random(), 1.33 * random.random(), 0.08 + 0.2 * random.random()
        pixels[(rows - y) ** 2 + (columns - x) ** 2 < size**2] = random.integers(0, 256, 3)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pictures, copies of four, five empty pages, two broken files and one that is not a picture, twice."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(12):
        scene(number).save(folder / f"{number:02}.png")
    scene(0).resize((60, 45)).save(folder / "small.png")
    scene(0).save(folder / "coded.jpg", quality=40)
    ImageEnhance.Brightness(scene(1)).enhance(1.2).save(folder / "bright.png")
    scene(2).crop((2, 2, 118, 88)).save(folder / "cropped.png")
    shutil.copy(folder / "03.png", folder / "same.png")
    for number in range(5):
        Image.new("RGB", (30, 40 + number), "white").save(folder / f"page{number}.png")
    Image.new("RGB", (30, 40), "red").save(folder / "red.png")
    (folder / "half.jpg").write_bytes((folder / "coded.jpg").read_bytes()[:900])
    for name in ("text.png", "text2.png"):
        (folder / name).write_text("not a picture")
    return folder


EXPECTED = {
    ("00.png", "coded.jpg", "small.png"),
    ("01.png", "bright.png"),
    ("02.png", "cropped.png"),
    ("03.png", "same.png"),
    ("page0.png", "page1.png", "page2.png", "page3.png", "page4.png"),
    ("text.png", "text2.png"),
}


def sets(found: Duplicates) -> set[tuple[str, ...]]:
    return {tuple(sorted([group.kept, *(copy.item for copy in group.copies)])) for group in found.groups}


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Study:
    opened = Study.init(tmp_path / "study", classes=["cat", "dog"])
    opened.pool([made])
    return opened


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts, so that there are several."""
    monkeypatch.setattr(Describing, "chunk", 4)
    monkeypatch.setattr(duplicates, "LEAST", 3)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read."""
    seen: list[str] = []
    plain = pooled_images.read_image

    def read(path: str, at_least: int = 0) -> object:
        seen.append(Path(path).name)
        return plain(path, at_least)

    monkeypatch.setattr(pooled_images, "read_image", read)
    return seen


@pytest.mark.parametrize("exact", [True, False, None])
def test_planted_copies_are_found_and_the_largest_is_kept(study: Study, exact: bool | None) -> None:
    found = study.duplicates(exact=exact)
    assert sets(found) == EXPECTED
    assert len(found.groups[0]) == 5
    kept = {group.kept: group for group in found.groups}
    assert "page4.png" in kept
    assert {copy.item for copy in kept["00.png"].copies} == {"coded.jpg", "small.png"}
    assert (kept.get("03.png") or kept["same.png"]).copies[0].is_identical
    assert all(0 <= copy.distance <= found.radius for group in found.groups for copy in group.copies)
    assert (found.items, found.pictures, found.copies, found.identical) == (26, 23, 10, 2)
    assert [(one.item, one.problem.partition(" (")[0]) for one in found.broken] == [
        ("half.jpg", "damaged image"), ("text.png", "not an image in a known format"),
        ("text2.png", "not an image in a known format"),
    ]  # fmt: skip
    assert (found.method, found.bits) == (("approximate", 11) if exact is False else ("exact", None))


@pytest.mark.usefixtures("few")
def test_parts_make_no_difference(study: Study) -> None:
    assert sets(study.duplicates()) == sets(study.duplicates(exact=False)) == EXPECTED
    assert not (study.folder.root / ".unfinished").exists()


def test_pictures_are_read_once_and_only_new_ones_later(study: Study, made: Path, tmp_path: Path, reads: list) -> None:
    first = study.duplicates()
    assert len(reads) == 26
    assert study.duplicates() == first
    assert sorted(reads[26:]) == ["half.jpg", "text.png", "text2.png"]  # broken ones are tried again
    more = tmp_path / "more"
    more.mkdir()
    scene(5).save(more / "05.webp", lossless=True)
    shutil.copy(made / "07.png", more / "07-again.png")
    scene(99).save(more / "99.png")
    study.pool([made, more])
    reads.clear()
    assert sets(study.duplicates()) == EXPECTED | {("05.png", "05.webp"), ("07-again.png", "07.png")}
    assert sorted(reads) == ["05.webp", "99.png", "half.jpg", "text.png", "text2.png"]


def test_pictures_in_a_file_are_read_in_the_order_in_which_they_are_stored(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted(path.name for path in made.iterdir())
    stored = pa.table({"image": [(made / name).read_bytes() for name in names], "item": names})
    pq.write_table(stored, tmp_path / "pictures.parquet", row_group_size=2)
    study = Study.init(tmp_path / "stored", classes=["cat", "dog"])
    study.pool([tmp_path / "pictures.parquet"])
    seen: list[str] = []
    plain = pooled_images.read_content
    monkeypatch.setattr(pooled_images, "read_content", lambda uri: seen.append(uri) or plain(uri))
    found = study.duplicates()
    assert [int(uri.split(":")[1]) for uri in seen] == list(range(len(names)))
    assert len(sets(found)) == len(EXPECTED)


@pytest.mark.usefixtures("few")
def test_an_interrupted_pass_resumes(study: Study, reads: list, monkeypatch: pytest.MonkeyPatch) -> None:
    write, finished = Parts.write, []

    def stop(self: Parts, number: int, table: object) -> None:
        if len(finished) == 3:
            raise KeyboardInterrupt
        finished.append(number)
        write(self, number, table)

    monkeypatch.setattr(Parts, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        study.duplicates()
    monkeypatch.setattr(Parts, "write", write)
    before = len(reads)
    assert before >= 12
    assert sets(study.duplicates()) == EXPECTED
    assert len(reads) - before == 26 - 12
    assert not (study.folder.root / ".unfinished").exists()


def test_damaged_descriptors_are_made_again(study: Study, reads: list) -> None:
    first = study.duplicates()
    content = study.folder.descriptors.read_bytes()
    study.folder.descriptors.write_bytes(content[:-50] + bytes(50))
    assert not study.check().is_whole
    study.folder.descriptors.unlink()
    assert any("dissensus duplicates" in problem for problem in study.check().problems)
    assert study.duplicates() == first
    assert len(reads) == 52
    assert study.folder.descriptors.read_bytes() == content
    assert study.check().is_whole


def test_a_picture_that_changed_is_not_compared(study: Study, made: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(made, own)
    study.pool([own])
    scene(50).save(own / "same.png")
    (own / "01.png").unlink()
    found = study.duplicates()
    problems = {one.item: one.problem for one in found.broken}
    assert (problems["same.png"], problems["01.png"]) == ("changed since it was pooled", "missing file")
    assert ("01.png", "bright.png") not in sets(found)
    assert ("03.png", "same.png") in sets(found)  # as they were when they were pooled, byte for byte
    shutil.copy(made / "same.png", own / "same.png")
    shutil.copy(made / "01.png", own / "01.png")
    assert sets(study.duplicates()) == EXPECTED


@pytest.mark.parametrize("changed", ["03.png", "same.png"])
def test_a_copy_of_a_picture_that_changed_is_found_whichever_comes_first(
    made: Path, tmp_path: Path, changed: str
) -> None:
    own = tmp_path / "own"
    shutil.copytree(made, own)
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool([own])
    scene(50).save(own / changed)
    assert ("03.png", "same.png") in sets(study.duplicates())


def merged(reduction: object, size: int, order: list[int]) -> object:
    """The result of parts that are merged in this order."""
    parts = [range(start, min(start + reduction.chunk, size)) for start in range(0, size, reduction.chunk)]
    found = [reduction.scan(reduction.load(rows), rows.start, None) for rows in parts]
    found = [found[place] for place in order if place < len(found)]
    result = found[0]
    for one in found[1:]:
        result = reduction.merge(one, result)
    return reduction.restore(reduction.dump(result))


@pytest.mark.parametrize("chunk", [1, 5, 26])
def test_no_order_of_merging_makes_a_difference(study: Study, chunk: int) -> None:
    order = np.random.default_rng(chunk).permutation(26).tolist()
    whole = reduce(Describing(study.folder), 26, "x").sort_by("position")
    describe = Describing(study.folder)
    describe.chunk = chunk
    assert merged(describe, 26, order).sort_by("position").equals(whole)
    points = describing._opened(whole).descriptors
    for search in (Within(points, 0.45 * UNIT), NearCodes(points, 0.45 * UNIT)):
        expected = search.links(range(26))
        grouping = Grouping(search)
        grouping.chunk = chunk
        links = merged(grouping, 26, order)
        assert np.array_equal(links.point, expected.point)
        assert np.array_equal(links.first, expected.first)


def test_of_equal_files_the_one_that_was_given_first_is_kept(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["a", "b"])
    for number in (3, 1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in "abcd":
            Image.linear_gradient("L").rotate(90 * ord(name)).save(folder / f"{name}-{number}.png")
        study.pool([folder], add=number != 3)
    assert sorted(group.kept for group in study.duplicates().groups) == ["a-3.png", "b-3.png", "c-3.png", "d-3.png"]


def test_many_empty_pages_are_one_group(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    pages = np.full((300, 8, 8, 3), 255, np.uint8)
    pages[:, 0, 0, 0] = np.arange(300) % 250  # no two files of the first 250 are the same
    study.pool(items=pages)
    found = study.duplicates()
    assert [len(group) for group in found.groups] == [300]
    assert any("more than half of the pool" in words for words in found.words)
    assert len(repr(found)) < 1000


@pytest.mark.parametrize("count", [1, 2])
def test_hardly_any_pictures(tmp_path: Path, count: int) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=np.stack([np.asarray(scene(number)) for number in range(count)]))
    found = study.duplicates(out=tmp_path / "groups.JSONL")
    assert (tmp_path / "groups.JSONL").read_text() == ""  # JSON Lines, however it is spelled
    assert (found.groups, found.pictures) == ((), count)
    assert "No near-duplicates were found." in found.words
    assert len(found.to_frame()) == 0


def test_files_and_what_select_makes_of_them(study: Study, made: Path, tmp_path: Path) -> None:
    listing, keep = tmp_path / "groups.csv", tmp_path / "kept.csv"
    text = done("duplicates", study.folder.root, "--out", listing, "--keep", keep)
    assert f"dissensus pool NEW-STUDY {keep}    # without the copies" in text  # there are no models yet
    assert "6 groups of near-duplicates with 16 items: 10 could be left out, 2 of them byte-for-byte" in text
    assert "  2 items, such as " in text
    assert ": not an image in a known format" in text
    rows = list(csv.DictReader(listing.open()))
    assert len(rows) == 16
    assert [row["group"] for row in rows[:5]] == ["1"] * 5
    assert {(row["kept"], row["identical"]) for row in rows} == {("yes", "yes"), ("no", "no"), ("no", "yes")}
    items = {row["item"]: row["path"] for row in csv.DictReader(keep.open())}
    copies = {row["item"] for row in rows if row["kept"] == "no"}
    assert len(items) == 16
    assert not copies & {*items}
    assert items["00.png"] == str(made / "00.png")
    names = study.items()
    study.predict(one=["cat"] * 26, two=["dog"] * 26)
    text = done("duplicates", study.folder.root, "--keep", keep)
    assert f"dissensus select {study.folder.root} --eligible {keep}" in text
    study.select(k=26, cap=26, eligible=keep)
    assert {row["item"] for row in study.selection()} == {*items} <= {*names}
    other = Study.init(tmp_path / "other", classes=["cat", "dog"])
    other.pool([keep])
    assert {*other.items()} == {*items}
    assert [len(group) for group in other.duplicates().groups] == []


def test_json_has_everything(study: Study) -> None:
    found = json.loads(done("duplicates", study.folder.root, "--approximate", "--radius", "0", "--json"))
    assert (found["identical"], found["method"], found["radius"], found["bits"]) == (2, "approximate", 0, 11)
    assert 2 <= found["copies"] == sum(len(group["copies"]) for group in found["groups"]) < 10
    assert {one["item"] for one in found["broken"]} == {"half.jpg", "text.png", "text2.png"}
    assert any("so some may be missed" in sentence for sentence in found["words"])


def test_a_study_of_scores_gets_a_manifest(made: Path, tmp_path: Path) -> None:
    done("init", tmp_path / "study", "--task", "scores")
    done("pool", tmp_path / "study", made)
    text = done("duplicates", tmp_path / "study", "--keep", tmp_path / "kept.csv")
    assert "dissensus pool NEW-STUDY" in text
    assert "a selection of scores cannot leave items out" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--radius", "-1"), "a radius of -1 is not possible"),
        (("--radius", "nan"), "not possible"),
        (("--bits", "17"), "give 0 to 16"),
        (("--bits", "3", "--exact"), "leave out either --exact or --bits"),
        (("--out", "groups.txt"), "must end in .csv or .jsonl"),
        (("--keep", "kept.parquet"), "must end in .csv"),
        (("--keep", "nowhere/kept.csv"), "a folder that exists"),
        (("--out", "same.csv", "--keep", "./same.csv"), "cannot both be written to same.csv: give two files"),
    ],
)
def test_bad_input_is_refused_before_anything_is_read(study: Study, reads: list, words: tuple, message: str) -> None:
    refused(run("duplicates", study.folder.root, *words), message)
    assert reads == []
    assert not study.folder.descriptors.exists()


def test_a_pool_without_pictures_is_refused(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    refused(run("duplicates", tmp_path / "study"), "no pool yet")
    study.pool(items=["a", "b"])
    with pytest.raises(PoolError, match="only ids and no files"):
        study.duplicates()


def test_the_record_shows_itself(study: Study) -> None:
    found = study.duplicates()
    assert "page4.png" in str(found)
    assert "<td>page4.png</td>" in found._repr_html_()
    assert len(found.to_frame()) == 16
