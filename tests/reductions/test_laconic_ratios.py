"""Ratios of MEPIs: closed forms, scipy, permutations, and results with almost nothing in them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from made_laconic import ACCURACY, CLASSES, PAPER, made, unrecognised, without
from scipy.stats import spearmanr, ttest_1samp, ttest_rel

from dissensus.errors import ReductionError
from dissensus.records import Laconic, Mepis, Readings
from dissensus.reductions.intervals import spearman, stratified
from dissensus.reductions.ratios import class_means, correlations, differences, mean_ratios, precisions, ratios_of

FEW = 500
"""Resamples, where their number does not matter."""


def tiny(rows: list[tuple[int, int, int, int]], readings: list[tuple[int, ...]] = ()) -> Laconic:
    """Two models and one reduction on four images of two classes; every original has 1,000 bytes."""
    return Laconic(
        classes=("cat", "dog"),
        reductions=("colour",),
        classifiers=("a", "b"),
        is_person=np.array([False, False]),
        accuracy=np.array([0.5, 0.75]),
        images=("i", "j", "k", "l"),
        label=np.array([0, 0, 1, 1]),
        original=np.full(4, 1000),
        mepis=Mepis(*np.array(rows, np.int64).reshape(-1, 4).T),
        readings=Readings(*np.array(readings, np.int64).reshape(-1, 6).T),
        encoder="PNG",
        side=224,
    )


def test_means_by_hand():
    # classifier, reduction, image, bytes: `a` has image 0 twice, and no image 3
    laconic = tiny([(0, 0, 0, 100), (0, 0, 0, 300), (0, 0, 1, 400), (0, 0, 2, 600), (1, 0, 3, 50)])
    found, per_class = mean_ratios(laconic, resamples=FEW)
    assert [(one.classifier, one.label, one.value, one.images) for one in per_class] == [
        ("a", "cat", pytest.approx(0.3), 2), ("a", "dog", 0.6, 1), ("b", "dog", 0.05, 1)
    ]  # fmt: skip
    a, b = found
    assert (a.value, a.images, a.classes) == (pytest.approx(0.45), 3, 2)  # 0.3 and 0.6, not the mean of three images
    assert a.five == pytest.approx((0.3, 0.375, 0.45, 0.525, 0.6))
    assert 0 <= a.low < 0.45 < a.high <= 1
    assert (b.value, b.low, b.high, b.images, b.classes) == (0.05, None, None, 1, 1)


def test_means_of_the_paper_come_back():
    found, per_class = mean_ratios(made(per_class=60), resamples=FEW)
    means = {(one.classifier, one.reduction): one for one in found}
    for name, shares in PAPER.items():
        for reduction, share in zip(("colour", "resolution", "crop", "combined"), shares, strict=True):
            # every class has its own level, so that the mean over classes differs from the one that was asked for
            assert means[name, reduction].value == pytest.approx(share, rel=0.2)
    assert len(per_class) == len(PAPER) * 4 * len(CLASSES)
    table = {(one.classifier, one.reduction, one.label): one.value for one in per_class}
    of_classes = [table["ResNet50", "crop", label] for label in CLASSES]
    assert means["ResNet50", "crop"].value == pytest.approx(np.mean(of_classes))
    assert means["ResNet50", "crop"].five == pytest.approx(np.percentile(of_classes, [0, 25, 50, 75, 100]))


def test_one_class_gives_at_least_students_interval():
    rng = np.random.default_rng(3)
    one, other = rng.gamma(2, 0.1, (2, 9))
    estimate, apart = stratified(np.column_stack([one, one - other]), np.zeros(9, int))
    for found, test in ((estimate, ttest_1samp(one, 0)), (apart, ttest_rel(one, other))):
        wanted = test.confidence_interval(0.95)
        low, high = found.intervals[0]
        assert low <= wanted.low + 1e-12
        assert high >= wanted.high - 1e-12
        assert high - low < 1.5 * (wanted.high - wanted.low)
    assert (estimate.value, apart.value) == pytest.approx((one.mean(), (one - other).mean()))


def test_resampled_means_vary_as_means_do():
    """The variance of the resamples is that of the mean, not (n − 1)/n of it, even with two images per class."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(200), 2)
    values = rng.standard_normal((400, 1))
    estimate = stratified(values, label, levels=(0.95,), resamples=4000)[0]
    parts = values.reshape(200, 2)
    error = (parts.var(axis=1, ddof=1) / 2).sum() ** 0.5 / 200
    low, high = estimate.intervals[0]
    assert (high - low) / 2 == pytest.approx(1.97 * error, rel=0.06)


@pytest.mark.parametrize(("classes", "images"), [(20, 15), (5, 3), (1, 8)])
def test_intervals_contain_the_truth(classes, images):
    """`benchmarks/laconic_intervals.py` does this for more sizes and more skewed ratios."""
    rng = np.random.default_rng(classes)
    hits = 0
    for study in range(300):
        label = np.repeat(np.arange(classes), images)
        centres = rng.uniform(0.05, 0.5, classes)
        values = centres[label] * np.exp(0.5 * rng.standard_normal(len(label)) - 0.125)
        (found,) = stratified(values[:, None], label, resamples=FEW, seed=study, is_positive=True)
        low, high = found.intervals[0]
        hits += low <= centres.mean() <= high
    assert 0.91 < hits / 300 <= 1


def test_a_class_with_one_image_borrows_its_variation():
    rng = np.random.default_rng(0)
    label = np.array([0] * 10 + [1] * 10 + [2])
    values = rng.standard_normal((21, 1))
    wide = stratified(values, label, resamples=4000)[0].intervals[0]
    known = stratified(values[:20], label[:20], resamples=4000)[0].intervals[0]
    assert wide[1] - wide[0] > 1.2 * (known[1] - known[0])
    several = stratified(rng.standard_normal((6, 1)), np.arange(6))[0]
    assert several.intervals is not None


@pytest.mark.parametrize("sizes", [(2, *(1,) * 9), (3, 3, *(1,) * 8), (4, 4, 1)])
def test_a_few_classes_with_several_images_do_not_vouch_for_many_with_one(sizes):
    rng = np.random.default_rng(0)
    label, hits = np.repeat(np.arange(len(sizes)), sizes), 0
    for study in range(300):
        (found,) = stratified(rng.standard_normal((len(label), 1)), label, resamples=FEW, seed=study)
        low, high = found.intervals[0]
        hits += low <= 0 <= high
    assert hits / 300 > 0.91


def test_equal_values_have_no_width():
    (found,) = stratified(np.full((6, 1), 0.25), np.array([0, 0, 0, 1, 1, 1]), is_positive=True)
    assert found.intervals == ((0.25, 0.25),)


def test_the_order_of_rows_and_classifiers_does_not_matter():
    laconic, rng = made(per_class=4), np.random.default_rng(1)
    mixed = replace(laconic, mepis=laconic.mepis.take(rng.permutation(len(laconic.mepis))))
    first, second = mean_ratios(laconic, resamples=FEW)[0], mean_ratios(mixed, resamples=FEW)[0]
    assert all(
        (a.low, a.value, a.high) == pytest.approx((b.low, b.value, b.high)) for a, b in zip(first, second, strict=True)
    )
    order = [4, 2, 0, 1, 3]
    place = np.argsort(order)
    turned = replace(
        laconic,
        classifiers=tuple(laconic.classifiers[one] for one in order),
        is_person=laconic.is_person[order],
        accuracy=laconic.accuracy[order],
        mepis=replace(laconic.mepis, classifier=place[laconic.mepis.classifier]),
    )
    again = {(one.classifier, one.reduction): one for one in mean_ratios(turned, resamples=FEW)[0]}
    assert all(again[one.classifier, one.reduction] == one for one in first)


def test_differences_use_the_images_that_both_have():
    laconic = tiny(
        [(0, 0, 0, 100), (0, 0, 1, 400), (0, 0, 2, 600), (1, 0, 0, 50), (1, 0, 1, 300), (1, 0, 2, 400), (1, 0, 3, 999)]
    )
    (found,), within = differences(laconic, resamples=FEW)
    assert within == []  # there is only one reduction
    assert (found.classifier, found.other_classifier, found.images) == ("a", "b", 3)
    assert found.value == pytest.approx((0.075 + 0.2) / 2)  # classes: (50 + 100) / 2, and 200
    assert found.low_at_once == found.low  # there is only one pair
    assert found.turned.value == -found.value
    assert (found.turned.low, found.turned.high_at_once) == (-found.high, -found.low_at_once)
    assert found.turned.turned == found


def test_differences_of_a_study():
    laconic = made(per_class=5)
    between, within = differences(laconic, resamples=FEW)
    assert (len(between), len(within)) == (4 * 10, 5 * 6)
    means = class_means(ratios_of(laconic))[0]
    for one in between + within:
        assert one.low_at_once <= one.low <= one.value <= one.high <= one.high_at_once
    crop, combined = (laconic.reductions.index(name) for name in ("crop", "combined"))
    found = next(
        d for d in within if (d.classifier, d.reduction, d.other_reduction) == ("GoogLeNet", "crop", "combined")
    )
    assert found.value == pytest.approx((means[1, crop] - means[1, combined]).mean())  # the same images in both
    apart = without(laconic, "GoogLeNet")
    assert len(differences(apart, resamples=FEW)[0]) == 4 * 6


def test_precision_adds_up_the_classes():
    laconic = tiny([], [(0, 1, 0, 0, 3, 4), (0, 1, 0, 1, 1, 4), (1, 1, 0, 0, 2, 2)])
    own, other = sorted(precisions(laconic), key=lambda one: one.reader, reverse=True)
    assert (other.reader, other.source, other.right, other.count, other.value) == ("a", "b", 4, 8, 0.5)
    assert (own.value, own.high) == (1, 1)
    assert own.low < 1
    assert precisions(tiny([])) == []


def test_rank_correlation_is_scipys():
    rng = np.random.default_rng(0)
    for many in (3, 4, 9):
        one, other = rng.integers(0, 6, (2, many)).tolist()
        if len(set(one)) > 1 and len(set(other)) > 1:
            assert spearman(one, other)[0] == pytest.approx(spearmanr(one, other).statistic)


def test_a_perfect_order_of_few_models_proves_little():
    """An interval excludes 0 exactly if the permutation test does: 1 of 24 orders is too many, 1 of 120 is not."""
    for many, is_sure in ((3, False), (4, False), (5, True), (8, True)):
        value, low, high = spearman(range(many), range(many))
        assert (value, high) == pytest.approx((1, 1))
        assert (low > 0) is is_sure
        assert (low > 0) is (1 / len(list(permutations(range(many)))) < 0.025)
    value, low, high = spearman(range(6), range(5, -1, -1))
    assert (value, low) == pytest.approx((-1, -1))
    assert high < 0
    _, low, high = spearman([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5])
    assert -1 < low < 0.83 < high < 1


def test_impossible_correlations_say_why():
    with pytest.raises(ReductionError, match="at least 3 models, here are 2"):
        spearman([1, 2], [1, 2])
    with pytest.raises(ReductionError, match="the same value"):
        spearman([1, 1, 1], [1, 2, 3])
    laconic = made(per_class=2)
    found = correlations(laconic, mean_ratios(laconic, resamples=FEW)[0])
    assert {one.models for one in found} == {4}  # people have no accuracy
    alike = replace(laconic, accuracy=np.array([0.5, 0.5, 0.5, 0.5, 0]))
    found = correlations(alike, mean_ratios(alike, resamples=FEW)[0])
    assert all(one.value is None and "the same value" in one.reason for one in found)


@pytest.mark.parametrize(
    "laconic",
    [
        without(made(per_class=2), "GoogLeNet"),
        without(made(per_class=2), *PAPER),
        made(classes=("cat",)),
        made(classes=("cat",), per_class=1),
        made({"only": (0.2, 0.5, 0.1, 0.05)}, {"only": 0.9}, per_class=3),
        made({k: v for k, v in PAPER.items() if k != "people"}, per_class=3),
        made({"people": PAPER["people"]}, {}, per_class=3),
        unrecognised(made(per_class=2), range(0, 40, 3)),
        unrecognised(made(per_class=2), range(40)),
    ],
    ids=[
        "one without", "all without", "one class", "one image", "one model", "no people", "only people",
        "some images unrecognised", "none recognised",
    ],
)  # fmt: skip
def test_nothing_is_nan(laconic):
    found, per_class = mean_ratios(laconic, resamples=FEW)
    between, within = differences(laconic, resamples=FEW)
    numbers = [
        value
        for one in [*found, *per_class, *between, *within, *precisions(laconic), *correlations(laconic, found)]
        for value in one.model_dump().values()
        if isinstance(value, float)
    ]
    assert np.isfinite(numbers).all()
    for one in found:
        assert (one.value is None) is (one.images == 0) is (one.five is None)
        if one.low is not None:
            assert 0 <= one.low <= one.value <= one.high <= 1


def test_nothing_to_compare_is_an_error():
    laconic = made(per_class=1)
    with pytest.raises(ReductionError, match="nothing to compare"):
        ratios_of(replace(laconic, classifiers=()))
    with pytest.raises(ReductionError, match="has no bytes"):
        ratios_of(replace(laconic, original=np.zeros(len(laconic.images), int)))


def test_accuracies_of_the_made_up_models_are_about_right():
    laconic = made()
    for number, name in enumerate(laconic.classifiers[:4]):
        seen = np.unique(laconic.mepis.image[laconic.mepis.classifier == number])
        assert len(seen) / 300 == pytest.approx(ACCURACY[name], abs=0.06)
