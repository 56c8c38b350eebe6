from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.engines.local import LocalEngine, chunks, reduce
from dissensus.engines.reduction import Reduction
from dissensus.engines.speed import Pass, memory_bandwidth
from dissensus.processors import cores
from dissensus.progress import silent
from dissensus.store.parts import Parts
from tests.kept_parts import Kept


@dataclass(frozen=True)
class Found:
    """The largest numbers with where they stand, their sum, and how many were looked at."""

    numbers: np.ndarray
    places: np.ndarray
    halves: tuple[np.ndarray, np.ndarray]
    total: float
    looked_at: int


class Largest(Reduction[np.ndarray, Found]):
    """The `k` largest of some numbers; of equal ones the first."""

    partial = Found

    def __init__(self, numbers: list[int], chunk: int, kept: int = 1, k: int = 3, fails_at: int = -1) -> None:
        self.numbers, self.chunk, self.kept, self.k, self.fails_at = np.array(numbers), chunk, kept, k, fails_at
        self.loaded: list[range] = []
        self.scanned: list[int] = []

    def load(self, rows: range) -> np.ndarray:
        self.loaded.append(rows)
        return self.numbers[rows.start : rows.stop]

    def scan(self, loaded: np.ndarray, first_item: int, known: Found | None) -> Found:
        if first_item == self.fails_at:
            raise RuntimeError("the power failed")
        self.scanned.append(first_item)
        found = self._top(loaded, np.arange(first_item, first_item + len(loaded)), float(loaded.sum()), len(loaded))
        if known is None or len(known.numbers) < self.k:
            return found
        worth = found.numbers > known.numbers[-1]  # what cannot be among the largest of both is left out
        worth |= (found.numbers == known.numbers[-1]) & (found.places < known.places[-1])
        return self._top(found.numbers[worth], found.places[worth], found.total, found.looked_at)

    def merge(self, one: Found, other: Found) -> Found:
        numbers = np.concatenate([one.numbers, other.numbers])
        places = np.concatenate([one.places, other.places])
        return self._top(numbers, places, one.total + other.total, one.looked_at + other.looked_at)

    def _top(self, numbers: np.ndarray, places: np.ndarray, total: float, looked_at: int) -> Found:
        order = np.lexsort((places, -numbers))[: self.k]
        return Found(numbers[order], places[order], (numbers[order] // 2, places[order] // 2), total, looked_at)


class LargestByMerges(Largest):
    """Notes how many numbers the larger side of each merge stands for."""

    def merge(self, one: Found, other: Found) -> Found:
        self.merged = [*getattr(self, "merged", []), max(one.looked_at, other.looked_at)]
        return super().merge(one, other)


class LargestOfFew(Largest):
    """Numbers are at most 9, so that as many nines end the search; only the first of them count."""

    def is_settled(self, known: Found, first_item: int) -> bool:
        is_full = len(known.numbers) == self.k and known.numbers[-1] == 9
        return is_full and bool(known.places.max() < first_item)


def plainly(numbers: list[int], k: int = 3) -> tuple[list[int], list[int]]:
    order = sorted(range(len(numbers)), key=lambda at: (-numbers[at], at))[:k]
    return [numbers[at] for at in order], order


def top(found: Found) -> tuple[list[int], list[int]]:
    return found.numbers.tolist(), found.places.tolist()


few = st.lists(st.integers(0, 9), min_size=1, max_size=40)
sizes = st.integers(1, 12)


@given(few, sizes, st.integers(1, 4))
def test_the_same_result_for_every_chunk_size_with_parts_and_without(numbers: list[int], chunk: int, kept: int) -> None:
    for parts in (None, Kept()):
        found = reduce(Largest(numbers, chunk, kept), len(numbers), "x", parts=parts)
        assert top(found) == plainly(numbers)
        assert (found.total, found.looked_at) == (sum(numbers), len(numbers))
        if parts is not None:
            assert sorted(parts) == list(range(-(-len(numbers) // (chunk * kept))))
            whole = [part for _, part in sorted(parts.items())]
            assert sum(Largest(numbers, chunk).restore(part).looked_at for part in whole) == len(numbers)


@given(few, sizes, st.integers(1, 4), st.data())
def test_finished_parts_are_not_looked_at_again(numbers: list[int], chunk: int, kept: int, data: st.DataObject) -> None:
    parts = Kept()
    reduce(Largest(numbers, chunk, kept), len(numbers), "x", parts=parts)
    gone = data.draw(st.sets(st.sampled_from(sorted(parts))))
    for number in gone:
        del parts[number]
    again = Largest(numbers, chunk, kept)
    found = reduce(again, len(numbers), "x", parts=parts)
    assert (top(found), found.total, found.looked_at) == (plainly(numbers), sum(numbers), len(numbers))
    block = chunk * kept
    expected = [rows for rows in chunks(len(numbers), chunk) if rows.start // block in gone]
    assert sorted(again.loaded, key=lambda rows: rows.start) == expected
    assert sorted(again.scanned) == [rows.start for rows in expected]
    assert sorted(parts) == list(range(-(-len(numbers) // block)))


@given(few, sizes, st.integers(1, 4), st.data())
def test_a_pass_that_broke_off_goes_on(numbers: list[int], chunk: int, kept: int, data: st.DataObject) -> None:
    parts, starts = Kept(), [rows.start for rows in chunks(len(numbers), chunk)]
    fails_at = data.draw(st.sampled_from(starts))
    with pytest.raises(RuntimeError, match="the power failed"):
        reduce(Largest(numbers, chunk, kept, fails_at=fails_at), len(numbers), "x", parts=parts)
    assert sorted(parts) == list(range(fails_at // (chunk * kept)))  # whole blocks only
    again = Largest(numbers, chunk, kept)
    found = reduce(again, len(numbers), "x", parts=parts)
    assert (top(found), found.total, found.looked_at) == (plainly(numbers), sum(numbers), len(numbers))
    assert sorted(again.scanned) == [start for start in starts if start >= fails_at // (chunk * kept) * chunk * kept]


@given(st.lists(st.sampled_from([0, 8, 9]), min_size=1, max_size=40), sizes, st.integers(1, 4), st.data())
def test_it_stops_where_nothing_can_change_the_result(
    numbers: list[int], chunk: int, kept: int, data: st.DataObject
) -> None:
    nines = [at for at, number in enumerate(numbers) if number == 9]
    end = nines[2] + 1 if len(nines) > 2 else len(numbers)  # what has to be looked at
    reduction, parts = LargestOfFew(numbers, chunk, kept), Kept()
    assert top(reduce(reduction, len(numbers), "x", parts=parts)) == plainly(numbers)
    needed = [rows.start for rows in chunks(len(numbers), chunk) if rows.start < end]
    assert sorted(reduction.scanned)[: len(needed)] == needed
    assert len(reduction.scanned) <= len(needed) + cores()  # what was under way when nothing could change any more
    # one that broke off goes on as far as it has to; and so does one of which any parts are missing
    broken_off = Kept({number: part for number, part in parts.items() if number < data.draw(st.integers(0, 5))})
    again = LargestOfFew(numbers, chunk, kept)
    assert top(reduce(again, len(numbers), "x", parts=broken_off)) == plainly(numbers)
    for number in data.draw(st.sets(st.sampled_from(sorted(parts)))) if parts else ():
        del parts[number]
    assert top(reduce(LargestOfFew(numbers, chunk, kept), len(numbers), "x", parts=parts)) == plainly(numbers)
    # nothing is kept that is not whole
    whole = Largest(numbers, chunk, kept, k=1)
    for number, part in [*parts.items(), *broken_off.items()]:
        block = range(number * chunk * kept, min((number + 1) * chunk * kept, len(numbers)))
        assert whole.restore(part).looked_at == len(block)


def test_where_everything_is_finished_nothing_is_loaded() -> None:
    parts = Kept()
    reduce(Largest([5, 7, 1, 9], 2), 4, "x", parts=parts)
    again = Largest([5, 7, 1, 9], 2, fails_at=0)
    assert top(reduce(again, 4, "x", parts=parts)) == ([9, 7, 5], [3, 1, 0])
    assert again.loaded == []


def test_progress_is_told_of_every_chunk_and_ends_with_all() -> None:
    told: list[tuple[str, int, int]] = []
    reduce(Largest(list(range(7)), 3), 7, "look", lambda *said: told.append(said))
    assert told[:3] == [("look", 3, 7), ("look", 6, 7), ("look", 7, 7)]
    assert set(told[3:]) <= {("look", 7, 7)}
    told.clear()
    reduce(LargestOfFew([9] * 9, 3), 9, "look", lambda *said: told.append(said))
    assert told[0] == ("look", 3, 9)
    assert told[-1] == ("look", 9, 9)


def test_parts_on_disk_end_a_pass_that_broke_off(tmp_path) -> None:
    numbers = np.random.default_rng(0).integers(0, 1000, 100).tolist()
    parts = Parts(tmp_path / "step", "look", {"pool": "p"})
    with pytest.raises(RuntimeError):
        reduce(Largest(numbers, 10, 2, fails_at=70), 100, "x", parts=parts)
    resumed, reduction = Parts(tmp_path / "step", "look", {"pool": "p"}), Largest(numbers, 10, 2)
    assert top(reduce(reduction, 100, "x", parts=resumed)) == plainly(numbers)
    assert reduction.scanned == [60, 70, 80, 90]
    assert all(number in resumed for number in range(5))


@dataclass(frozen=True)
class Everything:
    """All that a part may hold."""

    column: np.ndarray
    table: np.ndarray
    several: tuple[np.ndarray, ...]
    number: int
    share: float
    is_so: bool


class Keeps(Reduction[Any, Everything]):
    partial = Everything
    load = scan = merge = None  # only what is kept is looked at


ARRAYS = [
    np.arange(5),
    np.zeros((0, 3), np.uint16),
    np.array([[1.5, np.nan], [-np.inf, 0.0]], np.float32),
    np.array([True, False]),
    np.zeros((2, 0, 4)),
    np.array([2**63 - 1, -(2**63)]),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
]


@pytest.mark.parametrize("several", [(), tuple(ARRAYS), tuple(ARRAYS[:1]), tuple(np.full(2, n) for n in range(12))])
@pytest.mark.parametrize("array", ARRAYS)
def test_what_was_kept_comes_back_as_it_was(tmp_path, array: np.ndarray, several: tuple[np.ndarray, ...]) -> None:
    before = Everything(array, array[:0], several, 2**53 + 1, 0.1, is_so=True)
    parts = Parts(tmp_path, "x", {})
    parts.write(7, Keeps().dump(before))
    for table in (Keeps().dump(before), parts.read(7)):
        after = Keeps().restore(table)
        assert [field.name for field in fields(after)] == table.column_names
        assert (after.number, after.share, after.is_so) == (2**53 + 1, 0.1, True)
        assert [type(value) for value in (after.number, after.share, after.is_so)] == [int, float, bool]
        assert isinstance(after.several, tuple)
        pairs = [(after.column, before.column), (after.table, before.table)]
        for one, other in [*pairs, *zip(after.several, before.several, strict=True)]:
            np.testing.assert_array_equal(one, other)
            assert (one.dtype, one.shape) == (other.dtype, other.shape)


def test_the_same_part_has_the_same_bytes(tmp_path) -> None:
    one = Everything(ARRAYS[0], ARRAYS[1], tuple(ARRAYS), 1, 2.0, is_so=False)
    for name in ("a", "b"):
        Parts(tmp_path / name / "select", "x", {}).write(0, Keeps().dump(one))
    assert (tmp_path / "a/select/000000.parquet").read_bytes() == (tmp_path / "b/select/000000.parquet").read_bytes()


def test_a_pass_counts_what_it_scanned_and_says_how_fast_it_was() -> None:
    engine = LocalEngine()
    engine.reduce(Largest(list(range(20)), 3), 20, "x", silent)
    (done,) = engine.passes
    assert (done.what, done.items, done.start_items, done.known, done.is_settled) == ("x", 20, 3, 0, False)
    assert 0 < done.start <= done.seconds
    said = Pass("select", 2_000_000, 160_000_000, 0.5)
    assert said.is_worth_saying
    rate = "Once begun, that was 4 million a second, or 0.3 GB/s: "
    assert said.words.startswith(f"2,000,000 items were compared in 0.50 s. {rate}")
    assert not Pass("select", 999_999, 1, 1.0).is_worth_saying
    assert said.document()["items_per_second"] == 4_000_000
    started = Pass("select", 2_000_000, 160_000_000, 0.5, start=0.3, start_items=200_000)
    assert started.rate == pytest.approx(9e6)
    slow = Pass("select", 2_000_000, 160_000_000, 4.5, start=4.4, start_items=200_000)
    assert slow.words == "2,000,000 items were compared in 4.50 s, most of it before the first results."
    settled = Pass("select", 65_536, 1, 0.1, known=65_536, is_settled=True)
    assert settled.is_worth_saying
    assert settled.words.startswith("131,072 items were enough: nothing in the rest of the pool")
    assert Pass("select", 0, 0, 0.1, is_settled=True).words.startswith("Nothing in the rest of the pool")
    assert memory_bandwidth() > 1e8


@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_are_merged_with_each_other_before_they_are_merged_with_everything(threads: int) -> None:
    numbers = np.random.default_rng(0).integers(0, 10_000, 4_000).tolist()
    reduction = LargestByMerges(numbers, 10)
    assert top(reduce(reduction, len(numbers), "x", threads=threads)) == plainly(numbers)
    assert len(reduction.merged) == 399
    assert sum(size >= len(numbers) // 2 for size in reduction.merged) <= 8  # an eighth more each time
