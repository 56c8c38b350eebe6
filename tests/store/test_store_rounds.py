"""Rounds of all three selections, written and read by the same two functions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, MaskSelection, PairSelection, Selected, Selection
from dissensus.store.folder import Folder
from dissensus.store.rounds import items_at, read_rounds, write_round
from dissensus.store.tables import ROW_GROUP, read_stamps, read_table, write_table

IDS = {number: f"item {number}" for number in range(20)} | {7: "=cmd|'é 東京'"}
SKIPPED = ["a: skipped level 1 of 2 (fewer than two items)."]


def labels_of(seed: int, models: int, size: int) -> Selection:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, models - 1, size)
    second = first + 1 + rng.integers(0, models, size) % (models - 1 - first)
    rank = rng.integers(1, 3, size)
    labels = rng.integers(0, 65_534, (2, size))
    return Selection(first, second, rng.integers(0, 20, size), rank, rank > 1, rng.random(size), *labels)


def pairs_of(seed: int, models: int, size: int) -> PairSelection:
    rng = np.random.default_rng(seed)
    attacker = rng.integers(0, models, size)
    defender = (attacker + rng.integers(1, models, size)) % models
    low = rng.integers(0, 20, size)
    high = (low + rng.integers(1, 20, size)) % 20
    rank = rng.integers(1, 3, size)
    scores = rng.uniform(0, 100, (4, size))
    weight = rng.integers(2, 10**9, size)
    return PairSelection(attacker, defender, rng.integers(0, 6, size), rank, rank > 1, low, high, weight, *scores)


def images_of(seed: int, models: int, size: int) -> MaskSelection:
    rng = np.random.default_rng(seed)
    attacker = rng.integers(0, models, size)
    defender = (attacker + rng.integers(1, models, size)) % models
    rank = rng.integers(1, 3, size)
    item, category = rng.integers(0, 20, size), rng.integers(1, 255, size)
    return MaskSelection(attacker, defender, category, rank, rank > 1, item, rng.random(size), rng.random(size))


@dataclass(frozen=True)
class Kind:
    """One of the selections: how it is made, and what its rounds say beside settings, duels and inputs."""

    of: type[Selected]
    made: Any
    about: dict[str, Any]

    def selection(self, seed: int = 0, models: int = 3, size: int = 9) -> Any:
        return self.made(seed, models, size)

    def more(self, selection: Any) -> dict[str, Any]:
        """Columns that only the table has."""
        if self.of is MaskSelection:
            return {"category": [f"class {label}" for label in selection.category.tolist()]}
        if self.of is Selection:
            sure = pa.array(np.full(len(selection), 0.875), pa.float32())
            ones = np.ones(len(selection))
            return {"inclusion_probability": ones, "first_confidence": sure, "second_confidence": sure}
        return {}

    def stamps(self, *models: str) -> dict[str, Any]:
        duels = [[one, other] for one in models for other in models if one != other]
        inputs = {"pool": "p", "predictions": dict.fromkeys(models, "x")}
        return {"settings": {"k": 1, "reserves": 1}, "duels": duels, "inputs": inputs} | self.about

    def write(self, folder: Folder, number: int, selection: Any, *models: str, **stamps: Any) -> None:
        about = self.stamps(*models) | stamps
        write_round(folder, number, selection, list(models), IDS, about, self.more(selection))


KINDS = {
    "labels": Kind(Selection, labels_of, {}),
    "scores": Kind(
        PairSelection,
        pairs_of,
        {"scales": {"a": {"method": "ranks"}}, "levels": [[0.0, 50.0], [50.0, 100.0]], "skipped": SKIPPED},
    ),
    "masks": Kind(MaskSelection, images_of, {"scales": {"bus": [0.1, 0.4]}, "words": ["No model predicts dog."]}),
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


def test_a_round_comes_back_as_it_was_written(folder: Folder, kind: Kind) -> None:
    selection = kind.selection()
    kind.write(folder, 1, selection, "b", "a", "c")
    models, (found,) = read_rounds(folder, kind.of)
    assert models == ["b", "a", "c"]
    same(found.selection, selection)
    assert (found.number, found.settings, found.duels[0]) == (1, {"k": 1, "reserves": 1}, ("b", "a"))
    assert len(found.duels) == 6
    assert found.predictions == {"a": "x", "b": "x", "c": "x"}
    assert found.about == kind.stamps("b", "a", "c") | {"format_version": FORMAT_VERSION}
    used = {item for side in kind.of.items for item in getattr(selection, side).tolist()}
    assert found.item_ids == {item: IDS[item] for item in used}


def test_what_could_not_be_selected_is_said(folder: Folder) -> None:
    said = {"labels": (), "scores": tuple(SKIPPED), "masks": ("No model predicts dog.",)}
    for name, kind in KINDS.items():
        other = Folder(folder.root / name)
        kind.write(other, 1, kind.selection(), "a", "b", "c")
        assert read_rounds(other, kind.of)[1][0].words == said[name]


def test_what_only_the_table_has_is_read_from_it(folder: Folder) -> None:
    kind, confidences = KINDS["labels"], [0.875, None, None, 0.5]
    selection = kind.selection(size=4)
    sure = pa.array([np.nan if one is None else one for one in confidences], pa.float32(), from_pandas=True)
    more = {"inclusion_probability": np.ones(4), "first_confidence": sure, "second_confidence": sure}
    write_round(folder, 1, selection, ["a", "b", "c"], IDS, kind.stamps("a", "b", "c"), more)
    (found,) = read_rounds(folder, Selection)[1]
    assert found.table["first_confidence"].to_pylist() == confidences
    assert found.table["inclusion_probability"].to_pylist() == [1] * 4
    masks, other = KINDS["masks"], Folder(folder.root / "masks")
    images = masks.selection()
    masks.write(other, 1, images, "a", "b", "c")
    (found,) = read_rounds(other, MaskSelection)[1]
    assert found.table["category"].to_pylist() == [f"class {label}" for label in images.category.tolist()]


def test_models_are_numbered_in_the_order_in_which_they_came(folder: Folder, kind: Kind) -> None:
    first, second = kind.selection(1, 2), kind.selection(2, 3)
    kind.write(folder, 1, first, "b", "a")
    # the newcomer's round numbers its models itself; a duel may have no row
    newcomer = [["b", "0 new"], ["a", "0 new"]]
    kind.write(folder, 2, second, "b", "a", "0 new", duels=newcomer)
    models, rounds = read_rounds(folder, kind.of)
    assert models == ["b", "a", "0 new"]
    same(rounds[0].selection, first)
    same(rounds[1].selection, second)
    assert [found.number for found in rounds] == [1, 2]
    # a round that numbers them in another way is read by their names
    kind.write(folder, 3, second, "0 new", "a", "b")
    third = read_rounds(folder, kind.of)[1][2].selection
    turned = np.array([2, 1, 0])
    for side in kind.of.sides:
        np.testing.assert_array_equal(getattr(third, side), turned[getattr(second, side)])


def test_the_same_round_has_the_same_bytes(folder: Folder, kind: Kind) -> None:
    for number in (1, 2):
        kind.write(folder, number, kind.selection(3), "a", "b", "c")
    assert folder.selection(1).read_bytes() == folder.selection(2).read_bytes()


def test_a_study_without_rounds_has_no_models(folder: Folder, kind: Kind) -> None:
    assert read_rounds(folder, kind.of) == ([], [])


def test_a_round_of_duels_without_rows_still_names_its_models(folder: Folder, kind: Kind) -> None:
    nothing = kind.selection().take(np.zeros(9, bool))
    kind.write(folder, 1, nothing, "a", "b")
    models, (found,) = read_rounds(folder, kind.of)
    assert models == ["a", "b"]
    assert len(found.selection) == 0
    assert found.item_ids == {}
    for field in fields(found.selection):
        values = getattr(found.selection, field.name)
        expected = getattr(nothing, field.name).dtype
        assert (values.dtype, len(values)) == (expected, 0), field.name


def test_the_file_can_be_read_by_anybody(folder: Folder, kind: Kind) -> None:
    selection = kind.selection(4)
    kind.write(folder, 1, selection, "a", "b", "c")
    table = read_table(folder.selection(1))
    assert table.column_names == list(kind.of.stored)
    for side in kind.of.sides:
        assert table[side].to_pylist() == ["abc"[model] for model in getattr(selection, side).tolist()]
    for column in kind.of.items:
        assert table[column].to_pylist() == [IDS[item] for item in getattr(selection, column).tolist()]
    assert table["reserve"].to_pylist() == selection.is_reserve.tolist()
    assert table["rank"].to_pylist() == selection.rank.tolist()


def test_columns_are_those_that_earlier_versions_wrote(folder: Folder) -> None:
    text, whole, small, real = pa.string(), pa.int64(), pa.int32(), pa.float64()
    number, short, yes = pa.uint16(), pa.float32(), pa.bool_()
    expected = {
        "labels": {
            "first": text, "second": text, "item": text, "position": whole, "rank": small, "discrepancy": real,
            "reserve": yes, "inclusion_probability": real, "first_label": number, "second_label": number,
            "first_confidence": short, "second_confidence": short,
        },
        "scores": {
            "attacker": text, "defender": text, "level": small, "rank": small, "reserve": yes, "low": text,
            "high": text, "low_position": whole, "high_position": whole, "weight": whole, "attacker_low": real,
            "attacker_high": real, "defender_low": real, "defender_high": real,
        },
        "masks": {
            "attacker": text, "defender": text, "category": text, "label": small, "rank": small, "reserve": yes,
            "item": text, "position": whole, "concordance": real, "share": real,
        },
    }  # fmt: skip
    for name, kind in KINDS.items():
        other = Folder(folder.root / name)
        kind.write(other, 1, kind.selection(), "a", "b", "c")
        schema = read_table(other.selection(1)).schema
        assert {field.name: field.type for field in schema} == expected[name], name
        assert read_stamps(other.selection(1))["format_version"] == FORMAT_VERSION


def test_a_damaged_round_is_named(folder: Folder, kind: Kind) -> None:
    kind.write(folder, 1, kind.selection(), "a", "b", "c")
    whole = folder.selection(1).read_bytes()
    for left in (whole[:-9], whole[: len(whole) // 2]):
        folder.selection(1).write_bytes(left)
        with pytest.raises(StudyError, match=r"001/selection\.parquet is damaged"):
            read_rounds(folder, kind.of)


def test_a_round_of_somebody_else_is_refused(folder: Folder, kind: Kind) -> None:
    folder.selection(1).parent.mkdir(parents=True)
    pq.write_table(pa.table({"item": ["a"]}), folder.selection(1))
    with pytest.raises(StudyError, match="not written by dissensus"):
        read_rounds(folder, kind.of)


def test_a_round_that_does_not_say_how_it_was_made_is_refused(folder: Folder, kind: Kind) -> None:
    selection = kind.selection()
    for missing in ("settings", "duels", "inputs", *kind.of.stamps):
        about = {name: value for name, value in kind.stamps("a", "b", "c").items() if name != missing}
        write_round(folder, 1, selection, ["a", "b", "c"], IDS, about, kind.more(selection))
        with pytest.raises(StudyError, match="was not written by dissensus"):
            read_rounds(folder, kind.of)


def test_items_are_looked_up_in_any_order_across_row_groups(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    ids = [f"i{number}" for number in range(ROW_GROUP + 10)]
    write_table(folder.pool, pa.table({"id": ids, "uri": [None] * len(ids)}), {})
    places = np.array([ROW_GROUP + 9, 0, ROW_GROUP, ROW_GROUP - 1, 0])
    assert items_at(folder, places).to_pylist() == [ids[place] for place in places]
    assert items_at(folder, np.array([], int)).to_pylist() == []


def test_a_round_of_another_task_is_refused_in_one_line(tmp_path: Path) -> None:
    about = {"settings": {}, "duels": [["a", "b"]], "inputs": {}, "scales": {}, "levels": []}
    write_round(Folder(tmp_path), 1, labels_of(0, 2, 4), ["a", "b"], IDS, about, {})
    for other in (PairSelection, MaskSelection):
        with pytest.raises(StudyError, match=r"001/selection\.parquet has no column .* a study of another task"):
            read_rounds(Folder(tmp_path), other)
