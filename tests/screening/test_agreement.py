from __future__ import annotations

from importlib import import_module

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dissensus.errors import ScreeningError
from dissensus.screening import METRICS, Agreement, agreement, krippendorff_alpha

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: 4 observers, 12 units, missing data
OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
FIVE = np.arange(1.0, 6.0)


def columns(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Item and answer of a table of raters and items in which NaN is missing."""
    rater, item = np.nonzero(~np.isnan(table))
    return item, table[rater, item].astype(int)


def published() -> tuple[np.ndarray, np.ndarray]:
    return columns(
        np.array([[float(cell) - 1 if cell != "." else np.nan for cell in row.split()] for row in OBSERVERS])
    )


def random_table(rng: np.random.Generator, raters: int = 4, items: int = 15, answers: int = 4) -> np.ndarray:
    truth = rng.integers(0, answers, items)
    table = np.where(rng.random((raters, items)) < 0.6, truth, rng.integers(0, answers, (raters, items))).astype(float)
    table[rng.random((raters, items)) < 0.3] = np.nan
    return table


def record(value: float, low: float, high: float) -> Agreement:
    return Agreement(value, low, high, 0.95, 10, 30, 1000)


@pytest.mark.parametrize(("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_as_in_krippendorffs_own_example(metric: str, alpha: float) -> None:
    assert krippendorff_alpha(*published(), 12, FIVE, metric) == pytest.approx(alpha, abs=5e-4)


def test_two_people_and_two_answers_by_hand() -> None:
    # units 00 00 11 01: 4 + 2 matching and 2 mixed coincidences, totals 5 and 3, n = 8; 1 − 7 · 2 / (2 · 5 · 3)
    item, answer = np.repeat(np.arange(4), 2), np.array([0, 0, 0, 0, 1, 1, 0, 1])
    assert krippendorff_alpha(item, answer, 4, np.arange(2.0)) == pytest.approx(1 - 7 * 2 / 30)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(20))
def test_as_the_package_of_that_name_with_missing_answers(seed: int, metric: str) -> None:
    table = random_table(np.random.default_rng(seed))
    theirs = krippendorff.alpha(table, level_of_measurement=metric)
    assert krippendorff_alpha(*columns(table), 15, np.arange(4.0), metric) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_as_the_package_with_more_people_than_a_number_can_hold(metric: str) -> None:
    table = random_table(np.random.default_rng(0), raters=60, items=12)
    theirs = krippendorff.alpha(table, level_of_measurement=metric)
    assert krippendorff_alpha(*columns(table), 12, np.arange(4.0), metric) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_large_table_of_patterns_gives_the_same_without_its_zeros(metric: str, monkeypatch) -> None:
    item, answer = columns(random_table(np.random.default_rng(0), items=60))
    plain, sparse = [], []
    for found, limit in ((plain, 10**6), (sparse, 0)):
        monkeypatch.setattr(import_module("dissensus.screening.agreement"), "DENSE", limit)
        found.append(agreement(item, answer, 60, np.arange(4.0), np.random.default_rng(0), metric, resamples=50))
    assert (plain[0].value, plain[0].low, plain[0].high) == pytest.approx(
        (sparse[0].value, sparse[0].low, sparse[0].high), abs=1e-12
    )


@given(st.integers(0, 10_000), st.sampled_from(list(METRICS)))
@settings(max_examples=40)
def test_order_and_names_of_items_and_raters_do_not_matter(seed: int, metric: str) -> None:
    rng = np.random.default_rng(seed)
    item, answer = columns(random_table(rng))
    names, order = rng.permutation(15), rng.permutation(len(item))
    values = np.arange(4.0)
    before = krippendorff_alpha(item, answer, 15, values, metric)
    assert krippendorff_alpha(names[item][order], answer[order], 15, values, metric) == pytest.approx(before)
    # answers renamed together with their values
    renamed = rng.permutation(4)
    moved = np.empty(4)
    moved[renamed] = values
    assert krippendorff_alpha(item, renamed[answer], 15, moved, metric) == pytest.approx(before)


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
@settings(max_examples=30)
def test_unit_and_origin_of_a_slider_do_not_matter(seed: int, unit: float, origin: float) -> None:
    item, answer = columns(random_table(np.random.default_rng(seed)))
    before = krippendorff_alpha(item, answer, 15, np.arange(4.0), "interval")
    assert krippendorff_alpha(item, answer, 15, unit * np.arange(4.0) + origin, "interval") == pytest.approx(before)


def test_all_metrics_are_one_for_two_answers() -> None:
    item, answer = columns(random_table(np.random.default_rng(0), answers=2))
    found = [krippendorff_alpha(item, answer, 15, np.arange(2.0), metric) for metric in METRICS]
    assert found == pytest.approx([found[0]] * 3)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2, 4)), min_size=2, max_size=8))
def test_full_agreement_is_one_and_items_of_one_answer_change_nothing(units: list[tuple[int, int]]) -> None:
    assume(len({answer for answer, _ in units}) > 1)
    item = np.concatenate([np.full(people, place) for place, (_, people) in enumerate(units)])
    answer = np.concatenate([np.full(people, answer) for answer, people in units])
    assert krippendorff_alpha(item, answer, len(units), np.arange(4.0)) == pytest.approx(1)
    more_items, more_answers = np.append(item, len(units)), np.append(answer, 3)
    assert krippendorff_alpha(more_items, more_answers, len(units) + 1, np.arange(4.0)) == pytest.approx(1)


def test_answers_by_lot_agree_as_chance_does() -> None:
    rng = np.random.default_rng(0)
    item, answer = np.repeat(np.arange(400), 5), rng.choice(3, 2000, p=[0.7, 0.2, 0.1])
    found = agreement(item, answer, 400, np.arange(3.0), rng)
    assert found.low < 0 < found.high
    assert abs(found.value) < 0.05
    assert found.words.startswith("There is not enough evidence yet")


def test_more_items_give_a_narrower_interval_around_the_value() -> None:
    widths = []
    for items in (30, 300):
        rng = np.random.default_rng(1)
        found = agreement(*columns(random_table(rng, items=items)), items, np.arange(4.0), rng)
        assert -1 <= found.low < found.value < found.high <= 1
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2


def test_the_interval_is_that_of_resampling_whole_items() -> None:
    table = random_table(np.random.default_rng(3), items=40)
    found = agreement(*columns(table), 40, np.arange(4.0), np.random.default_rng(0), resamples=2000)
    paired = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    rng = np.random.default_rng(1)
    drawn = [
        krippendorff.alpha(paired[:, rng.integers(0, paired.shape[1], paired.shape[1])], level_of_measurement="nominal")
        for _ in range(1000)
    ]
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)
    assert found.items == paired.shape[1]
    assert found.answers == (~np.isnan(paired)).sum()


def test_the_same_seed_gives_the_same_interval() -> None:
    first, second = (agreement(*published(), 12, FIVE, np.random.default_rng(7)) for _ in range(2))
    assert first == second
    assert (first.items, first.answers) == (11, 40)


@pytest.mark.parametrize(
    ("item", "answer", "words"),
    [
        ([], [], "no item has two answers"),
        ([0, 1, 2], [0, 1, 0], "no item has two answers"),
        ([0, 0, 1, 1], [1, 1, 1, 1], "all answers are the same"),
        ([0, 0, 1], [1, 1, 0], "all answers are the same"),
        ([0, 0, 1], [0, 1, 0], "only one item"),
        ([0, 0], [0, 7], "between 0 and 1"),
    ],
)
def test_what_is_not_defined_is_said_in_words(item: list[int], answer: list[int], words: str) -> None:
    with pytest.raises(ScreeningError, match=words):
        agreement(np.array(item, int), np.array(answer, int), 3, np.arange(2.0), np.random.default_rng(0))


def test_resamples_in_which_all_say_the_same_are_left_out_and_counted() -> None:
    item, answer = np.repeat(np.arange(6), 2), np.array([0] * 10 + [1, 1])
    found = agreement(item, answer, 6, np.arange(2.0), np.random.default_rng(0), resamples=500)
    assert found.value == 1
    assert 250 < found.resamples < 400
    assert np.isfinite([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("found", "beginning"),
    [
        (
            record(0.9, 0.85, 0.95),
            "People agree far more than expected by chance (alpha 0.90, 95 % interval 0.85 to 0.95).",
        ),
        (record(0.7, 0.5, 0.8), "People agree well above chance"),
        (record(0.5, 0.3, 0.6), "People agree more than expected by chance, but often differ"),
        (record(0.2, 0.1, 0.3), "People agree only a little more than expected by chance"),
        (record(0.3, -0.1, 0.6), "There is not enough evidence yet"),
        (
            record(-0.001, -0.2, 0.2),
            "There is not enough evidence yet that people agree more than expected by chance (alpha 0.00,",
        ),
        (record(-0.3, -0.5, -0.1), "People disagree more than expected by chance: check whether they all understand "),
    ],
)
def test_the_words_follow_value_and_interval(found: Agreement, beginning: str) -> None:
    assert found.words.startswith(beginning)
    assert "-" not in found.words
