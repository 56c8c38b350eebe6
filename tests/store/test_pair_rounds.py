from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus.errors import StudyError
from dissensus.records import PairSelection
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import SCORES, read_pair_rounds, write_pair_round
from dissensus.store.tables import read_table

IDS = {number: f"item {number}" for number in range(20)} | {7: "=cmd|'é 東京'"}


def selection_of(seed: int, models: int, size: int = 9) -> PairSelection:
    rng = np.random.default_rng(seed)
    attacker = rng.integers(0, models, size)
    defender = (attacker + rng.integers(1, models, size)) % models
    low = rng.integers(0, 20, size)
    high = (low + rng.integers(1, 20, size)) % 20
    rank = rng.integers(1, 3, size)
    scores = rng.uniform(0, 100, (4, size))
    weight = rng.integers(2, 10**9, size)
    return PairSelection(attacker, defender, rng.integers(0, 6, size), rank, rank > 1, low, high, weight, *scores)


def stamps(models: list[str], **other) -> dict:
    return {
        "settings": {"levels": 6, "width": None, "scale": {"method": "ranks"}},
        "models": models,
        "duels": [[a, d] for a in models for d in models if a != d],
        "inputs": {"pool": "p", "predictions": dict.fromkeys(models, "x")},
        "scales": {name: {"method": "ranks", "parameters": {}} for name in models},
        "levels": [[0.0, 50.0], [50.0, 100.0]],
        "skipped": ["a: level 1 of 2 held fewer than two items, skipped."],
    } | other


def test_a_round_comes_back_as_it_was_written(tmp_path: Path) -> None:
    folder, selection = Folder(tmp_path), selection_of(0, 3)
    write_pair_round(folder, 1, selection, ["b", "a", "c"], IDS, stamps(["b", "a", "c"]))
    models, (found,) = read_pair_rounds(folder)
    assert models == ["b", "a", "c"]
    for name in PairSelection.__dataclass_fields__:
        assert getattr(found.selection, name).tolist() == getattr(selection, name).tolist(), name
    assert found.number == 1
    assert found.duels[0] == ("b", "a")
    assert found.levels == ((0.0, 50.0), (50.0, 100.0))
    assert found.skipped == ("a: level 1 of 2 held fewer than two items, skipped.",)
    assert found.settings["scale"] == {"method": "ranks"}
    used = {*selection.low.tolist(), *selection.high.tolist()}
    assert found.item_ids == {item: IDS[item] for item in used}


def test_models_keep_their_numbers_when_others_join(tmp_path: Path) -> None:
    folder, first, second = Folder(tmp_path), selection_of(1, 2), selection_of(2, 3)
    write_pair_round(folder, 1, first, ["b", "a"], IDS, stamps(["b", "a"]))
    write_pair_round(folder, 2, second, ["b", "a", "new"], IDS, stamps(["b", "a", "new"]))
    models, rounds = read_pair_rounds(folder)
    assert models == ["b", "a", "new"]
    assert rounds[0].selection.attacker.tolist() == first.attacker.tolist()
    assert rounds[1].selection.defender.tolist() == second.defender.tolist()


def test_the_same_round_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_pair_round(Folder(tmp_path / name), 1, selection_of(3, 2), ["a", "b"], IDS, stamps(["a", "b"]))
    assert len({Folder(tmp_path / name).selection(1).read_bytes() for name in ("one", "other")}) == 1


def test_without_rounds_there_are_no_models(tmp_path: Path) -> None:
    assert read_pair_rounds(Folder(tmp_path)) == ([], [])


def test_a_round_of_duels_without_pairs_still_names_its_models(tmp_path: Path) -> None:
    folder, nothing = Folder(tmp_path), selection_of(0, 2).take(np.zeros(9, bool))
    write_pair_round(folder, 1, nothing, ["a", "b"], IDS, stamps(["a", "b"]))
    models, (found,) = read_pair_rounds(folder)
    assert models == ["a", "b"]
    assert len(found.selection) == 0
    assert found.selection.attacker.dtype == np.int64
    assert found.item_ids == {}


def test_the_file_can_be_read_by_anybody(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    write_pair_round(folder, 1, selection_of(4, 2), ["a", "b"], IDS, stamps(["a", "b"]))
    table = read_table(folder.selection(1))
    assert {"attacker", "defender", "level", "rank", "reserve", "low", "high", "weight", *SCORES} <= {
        *table.column_names
    }
    assert set(table["attacker"].to_pylist()) <= {"a", "b"}


def test_damaged_and_foreign_files_are_said(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    write_pair_round(folder, 1, selection_of(5, 2), ["a", "b"], IDS, stamps(["a", "b"]))
    whole = folder.selection(1).read_bytes()
    folder.selection(1).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StudyError, match="damaged"):
        read_pair_rounds(folder)
    without = stamps(["a", "b"])
    del without["scales"]
    write_pair_round(folder, 1, selection_of(5, 2), ["a", "b"], IDS, without)
    with pytest.raises(StudyError, match="was not written by dissensus"):
        read_pair_rounds(folder)
