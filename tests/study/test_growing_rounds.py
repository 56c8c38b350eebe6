"""A round that nobody has been asked about grows with its pool: what was added is scanned, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forking import killed_at_change
from growing import KINDS, SETTLED, Labels, Masks, Ranks, Scores, add, round_of, whole

from dissensus.engines.local import LocalEngine
from dissensus.errors import PredictionError
from dissensus.store.rounds import remove_round
from dissensus.store.tables import read_stamps
from dissensus.study import Study

SPLITS = ([100, 200, 300], [299, 300], [40, 41, 250, 300])


def scanned(study: Study, act: Callable[[], object]) -> dict[str, set[int]]:
    """How many items each pass of something scanned, by its name."""
    study.engine = LocalEngine()
    act()
    found: dict[str, set[int]] = {}
    for one in study.engine.passes:
        found.setdefault(one.what, set()).add(one.items)
    return found


@pytest.mark.parametrize("sizes", SPLITS, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_a_round_that_grew_is_that_of_the_whole_pool_and_only_what_was_added_is_scanned(
    name: str, sizes: list[int], tmp_path: Path
) -> None:
    kind = KINDS[name]
    every = len(kind.items)
    sizes = sorted({size * every // 300 for size in sizes})
    study = whole(kind, tmp_path / "grown", sizes[0])
    for start, stop in pairwise(sizes):
        before = round_of(study)
        add(study, kind, tmp_path / "grown", start, stop)
        assert round_of(study) == before
        passes = scanned(study, study.select)
        assert passes["select"] == {stop - start}
        for what, items in passes.items():  # a confidence may be chosen for the first time; some levels are quantiles
            is_new = what.startswith("select with") or (what == "try other settings" and name not in SETTLED)
            assert items <= ({stop - start, stop} if is_new else {stop - start}), what
        assert study.check().is_whole
    assert round_of(study) == round_of(whole(kind, tmp_path / "whole", every))


@pytest.mark.parametrize("kind", [Ranks(levels=4), Scores(levels=4, spacing="quantile"), Masks(k=2, scales="pool")])
def test_where_scales_follow_from_the_pool_everything_is_scanned_again(kind: Labels, tmp_path: Path) -> None:
    every = len(kind.items)
    study = whole(kind, tmp_path / "grown", every // 2)
    add(study, kind, tmp_path / "grown", every // 2, every)
    assert scanned(study, study.select)["select"] == {every}
    assert round_of(study) == round_of(whole(kind, tmp_path / "whole", every))


def grown(folder: Path, name: str = "confidence is set") -> Study:
    """A study with a round of 200 items, to which 100 were added and predicted."""
    study = whole(KINDS[name], folder, 200)
    add(study, KINDS[name], folder, 200, 300)
    return study


@pytest.fixture
def expected(tmp_path: Path) -> bytes:
    return round_of(whole(KINDS["confidence is set"], tmp_path / "whole", 300))


def damaged(path: Path, place: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= 0x55
    path.write_bytes(data)


@pytest.mark.parametrize("place", [None, 0.0, *np.linspace(0.02, 0.98, 13), 1.0])
def test_a_kept_result_that_is_lost_or_damaged_never_matters(
    place: float | None, tmp_path: Path, expected: bytes
) -> None:
    study = grown(tmp_path / "grown")
    kept = study.folder.candidates(1)
    kept.unlink() if place is None else damaged(kept, place)
    assert study.check().is_whole
    found = scanned(study, study.select)["select"]
    assert found in ({300}, {100})  # some bytes of a Parquet file mean nothing
    if place in (None, 1.0):
        assert found == {300}
    assert round_of(study) == expected


def test_predictions_of_earlier_items_that_changed_are_scanned_again(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 200)
    study.pool([kind.source(folder, 200, 300)], add=True)
    kind.write(folder, 300)
    text = (folder / "two.csv").read_text().replace("item-007,class 7", "item-007,class 8")
    other = text if "item-007,class 8" in text else text.replace("item-007,class", "item-007,class 1", 1)
    (folder / "two.csv").write_text(other)
    study.predict()
    stamps = {name: read_stamps(study.folder.predictions(name)) for name in kind.models}
    assert ["earlier" in stamps[name] for name in kind.models] == [True, False, True]
    assert scanned(study, study.select)["select"] == {300}


def test_items_added_twice_before_models_predict(tmp_path: Path, expected: bytes) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 120)
    study.pool([kind.source(folder, 120, 200)], add=True)
    add(study, kind, folder, 200, 300)
    assert scanned(study, study.select)["select"] == {180}
    assert round_of(study) == expected


def test_other_settings_and_a_larger_pool_at_once(tmp_path: Path) -> None:
    study = grown(tmp_path / "grown")
    assert scanned(study, lambda: study.select(k=5))["select"] == {300}
    other = Labels(**KINDS["confidence is set"].settings | {"k": 5})
    assert round_of(study) == round_of(whole(other, tmp_path / "whole", 300))


def test_one_round_replaces_all_rounds_of_a_smaller_pool(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 200)
    study.select(again=True)
    assert study.folder.rounds() == [1, 2]
    add(study, kind, folder, 200, 300)
    status = study.status()
    assert [one.round for one in status.rounds] == [1, 2]
    assert status.changes == (
        "Items have been added to the pool since rounds 1 and 2 were selected: dissensus select replaces them.",
    )
    assert study.select() == 1
    assert round_of(study) == round_of(whole(kind, tmp_path / "whole", 300))
    assert study.check().is_whole


def test_a_first_selection_that_was_interrupted_does_not_bind_a_larger_pool(
    tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("dissensus.competition.select.write_round", stop)
        with pytest.raises(KeyboardInterrupt):
            whole(kind, folder, 200)
    study = Study(folder / "study")
    assert list(study.folder.parts("select-001").glob("*.parquet"))
    add(study, kind, folder, 200, 300)
    study.select()
    assert round_of(study) == expected


@pytest.mark.parametrize("moment", range(1, 6))
def test_a_kill_leaves_a_study_whose_next_selection_is_the_same(moment: int, tmp_path: Path, expected: bytes) -> None:
    study = grown(tmp_path / "grown")
    killed_at_change(moment, study.select)
    again = Study(study.folder.root)
    assert again.check().is_whole
    assert again.select() == 1
    assert round_of(again) == expected
    assert not (study.folder.root / ".unfinished").exists()


@pytest.mark.parametrize("moment", range(1, 4))
@pytest.mark.parametrize("is_first", [True, False])
def test_a_kill_loses_nothing_that_is_kept_for_a_larger_pool(moment: int, is_first: bool, tmp_path: Path) -> None:
    folders = tmp_path / "killed", tmp_path / "undisturbed"
    killed, undisturbed = (grown(folder) for folder in folders)
    if is_first:
        for study in (killed, undisturbed):
            remove_round(study.folder, 1)
    killed_at_change(moment, killed.select)
    kept = []
    for study in (Study(killed.folder.root), undisturbed):
        assert study.select() == 1
        kept.append(study.folder.candidates(1).read_bytes())
    assert kept[0] == kept[1]


def test_one_file_of_predictions_may_cover_what_is_added_later(tmp_path: Path) -> None:
    kind = KINDS["confidence is set"]
    studies = [kind.init(tmp_path / name) for name in ("grown", "whole")]
    specs = kind.write(tmp_path, 300)
    studies[0].pool([kind.source(tmp_path, 0, 200)])
    studies[0].predict(specs)
    studies[0].pool([kind.source(tmp_path, 200, 300)], add=True)
    studies[0].predict()
    studies[1].pool([kind.source(tmp_path, 0, 300)])
    studies[1].predict(specs)
    rounds = []
    for study in studies:
        study.select(**kind.settings)
        rounds.append(study.folder.selection(1).read_bytes())
    assert rounds[0] == rounds[1]


def test_a_model_can_be_removed_before_the_larger_pool_is_selected_from(tmp_path: Path) -> None:
    study = grown(tmp_path / "grown")
    assert study.remove("three").rounds == (1,)
    assert study.folder.rounds() == []
    assert study.select() == 1


def test_predictions_in_memory_for_a_pool_that_has_grown(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    calls: list[list[str]] = []

    def lengths(items: list[str]) -> list[str]:
        calls.append(items)
        return ["cat" if item < "c" else "dog" for item in items]

    study.pool(items=["a", "b"])
    study.predict(listed=["cat", "dog"], called=lengths)
    study.pool(items=["c", "d"], add=True)
    with pytest.raises(PredictionError, match=r"called were given in memory, .* Study.predict\(called=…\)"):
        study.predict()
    with pytest.raises(PredictionError, match="2 predictions for 4 items"):
        study.predict(listed=["cat", "dog"], called=lengths)
    assert study.predict(listed=["cat", "dog", "dog", "cat"], called=lengths) == {"listed": True, "called": True}
    assert study.predict(listed=["cat", "dog", "dog", "cat"], called=lengths) == {"listed": False, "called": False}
    assert calls == [["a", "b"], ["a", "b", "c", "d"]]
    found = dict(zip(study.items(), zip(study.labels("listed"), study.labels("called"), strict=True), strict=True))
    assert found == {"a": (0, 0), "b": (1, 0), "c": (1, 1), "d": (0, 1)}
