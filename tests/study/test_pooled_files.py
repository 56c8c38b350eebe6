"""Where the pictures of a pool are, also in the order in which archives store them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from dissensus.backends import parse_spec
from dissensus.errors import BackendError
from dissensus.processors import cores
from dissensus.steps import pooled_files
from dissensus.steps.pooled_files import PooledFiles, list_path, listed, listed_as_given, listed_rows
from dissensus.steps.pooled_images import PooledImages
from dissensus.store import tables
from dissensus.store.folder import Folder
from dissensus.store.tables import write_table
from dissensus.study import Study

COUNT = 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A pool of pictures in archives; rows are in row groups of 64 and sorted in windows of 150."""
    for module in (tables, pooled_files):
        monkeypatch.setattr(module, "ROW_GROUP", 64)
    monkeypatch.setattr(tables.write_pieces, "__defaults__", (64, (), ()))
    monkeypatch.setattr(pooled_files, "WINDOW", 150)
    made = Study.init(tmp_path / "study", classes=["cat", "dog"]).folder
    order = np.random.default_rng(0).permutation(COUNT)
    columns = {
        "id": [str(place) for place in order],
        "uri": [None if place == 7 else f"tar:512+9:/a.tar#{place}" for place in order],
        "size": np.full(COUNT, 9),
        "fingerprint": [f"print {place}" for place in order],
        "place": order.astype(np.uint64),
        "reference": [f"tar:512+9:/a.tar#{place - 1}" if place % 2 else None for place in order],
    }
    write_table(made.pool, pa.table(columns), {"pool": "p"})
    return made


def test_every_item_has_its_file_in_either_order(folder: Folder) -> None:
    order = [int(place) for place in tables.read_table(folder.pool, ["place"])["place"].to_numpy()]
    expected = [None if place == 7 else f"tar:512+9:/a.tar#{place}" for place in order]
    plain = PooledFiles(folder)
    assert [plain.of(row, "uri") for row in range(COUNT)] == expected
    with listed_as_given(folder):
        stored = PooledFiles(folder)
        assert stored.places is not None
        rows = np.argsort(order)
        assert [stored.of(int(row), "uri") for row in rows] == [expected[row] for row in rows]
        assert [stored.of(int(row), "fingerprint") for row in rows] == [f"print {place}" for place in range(COUNT)]
        assert [stored.of(int(row), "reference") for row in rows[:2]] == [None, expected[order.index(0)]]
        assert listed_rows(listed(folder).path, range(128, 192))["fingerprint"].to_pylist() == [
            f"print {n}" for n in range(128, 192)
        ]
        references = {f"tar:512+9:/a.tar#{place}": f"print {place}" for place in range(0, COUNT, 2)}
        assert stored.fingerprints() == plain.fingerprints() == references
        assert stored._group.cache_info().misses <= 3 * -(-COUNT // 64)  # each row group once for each pass above
    assert listed(folder).path == folder.pool
    assert not (folder.root / ".unfinished").exists()


def test_a_list_that_a_kill_has_left_behind_is_not_used_for_another_pool(folder: Folder) -> None:
    path = list_path(folder)
    with listed_as_given(folder):
        assert listed(folder).path == path
        write_table(folder.pool, tables.read_table(folder.pool).slice(1), {"pool": "another"})
        assert listed(folder).path == folder.pool


def test_a_model_called_pool_leaves_the_list_alone(folder: Folder) -> None:
    with listed_as_given(folder):
        assert folder.parts("pool.parquet") != list_path(folder)  # where its predictions are staged
        with pytest.raises(BackendError, match="not a valid model name"):
            parse_spec(f"{list_path(folder).stem}=onnx:a.onnx")


def test_files_that_are_not_in_archives_need_no_second_list(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item\na\nb\n")
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool([tmp_path / "items.csv"])
    with listed_as_given(study.folder):
        assert listed(study.folder).path == study.folder.pool


def test_a_reference_is_decoded_for_all_its_neighbours_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, references, each = np.random.default_rng(0), 30, 10
    manifest = ["item,path,reference"]
    for number in range(references):
        Image.fromarray(noise.integers(0, 255, (24, 24, 3), np.uint8)).save(tmp_path / f"r{number}.png")
        for copy in range(each):
            Image.fromarray(noise.integers(0, 255, (24, 24, 3), np.uint8)).save(tmp_path / f"i{number}-{copy}.png")
            manifest.append(f"i{number}-{copy},i{number}-{copy}.png,r{number}.png")
    (tmp_path / "pool.csv").write_text("\n".join(manifest))
    decoded: Counter[str] = Counter()
    decode = PooledImages._reference

    def counting(images: PooledImages, uri: str) -> object:
        decoded[uri] += 1
        return decode(images, uri)

    monkeypatch.setattr(PooledImages, "_reference", counting)
    study = Study.init(tmp_path / "study", task="scores")
    study.pool([tmp_path / "pool.csv"])
    study.predict(["psnr=quality:psnr"])
    assert len(decoded) == references
    assert max(decoded.values()) <= cores()  # threads that want it at the same moment
    scores = tables.read_table(study.folder.predictions("psnr"))["score"].to_pylist()
    ids = tables.read_table(study.folder.pool, ["id"])["id"].to_pylist()
    number = ids.index("i7-3")
    one, other = (np.asarray(Image.open(tmp_path / name), float) for name in ("i7-3.png", "r7.png"))
    grey = [image @ [0.299, 0.587, 0.114] for image in (one, other)]
    expected = 10 * np.log10(255**2 / np.mean((grey[0] - grey[1]) ** 2))
    assert scores[number] == pytest.approx(expected, abs=0.1)
