"""What looks wrong about predictions, on planted cases and on models whose predictions are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus.arrays import MISSING
from dissensus.predictions.doubts import Doubt, are_alone, average_and_closest, peers
from dissensus.predictions.label_sanity import LabelTally, label_doubts
from dissensus.predictions.map_sanity import MapTally, map_doubts
from dissensus.predictions.score_sanity import score_doubts, score_summary

CLASSES = 20
NAMES = [f"class {number}" for number in range(CLASSES)]


def doubted(doubts: list[list[Doubt]]) -> list[int]:
    """The models that would be warned about, whatever else is found out about them."""
    return [number for number, found in enumerate(doubts) if any(doubt.is_certain for doubt in found)]


def kinds(doubts: list[list[Doubt]]) -> list[set[str]]:
    return [{doubt.kind for doubt in found} for found in doubts]


def noisy(truth: np.ndarray, right: float, rng: np.random.Generator) -> np.ndarray:
    """Labels of a model that is right on a share of the items, and otherwise predicts any class."""
    return np.where(rng.random(len(truth)) < right, truth, rng.integers(0, CLASSES, len(truth))).astype(np.uint16)


def tally_of(labels: list[np.ndarray], confidences: list[np.ndarray | None] | None = None) -> LabelTally:
    given = confidences or [None] * len(labels)
    return LabelTally.of(np.stack(labels).astype(np.uint16), given, CLASSES)


@pytest.fixture
def pool() -> tuple[list[np.ndarray], np.random.Generator]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, CLASSES, 400)
    return [noisy(truth, right, rng) for right in (0.8, 0.6, 0.4)], rng


class TestLabels:
    def test_models_that_are_right_to_different_degrees_are_not_doubted(self, pool):
        labels, rng = pool
        sure = [rng.uniform(0.2, 1, 400).astype(np.float32) for _ in labels]
        assert kinds(label_doubts(tally_of(labels, sure), NAMES)) == [set(), set(), set()]

    def test_a_model_that_predicts_at_random_agrees_with_nobody(self, pool):
        labels, rng = pool
        doubts = label_doubts(tally_of([*labels, rng.integers(0, CLASSES, 400)]), NAMES)
        assert kinds(doubts) == [set(), set(), set(), {"alone"}]
        assert "while the others agree with each other on" in doubts[3][0].words

    def test_of_two_models_that_do_not_agree_both_are_doubted(self, pool):
        labels, rng = pool
        assert kinds(label_doubts(tally_of([labels[0], rng.integers(0, CLASSES, 400)]), NAMES)) == [{"alone"}] * 2

    def test_a_constant_model_is_named_with_its_class(self, pool):
        labels, _ = pool
        fixed = np.full(400, 7)
        fixed[:8] = 3
        doubts = label_doubts(tally_of([*labels, fixed]), NAMES)
        assert {doubt.kind for doubt in doubts[3]} == {"constant", "alone"}
        assert doubts[3][0].words == "it predicts ‘class 7’ for 98% of the items; the other models do for 4%"

    def test_a_pool_of_mostly_one_class_makes_no_model_constant(self):
        rng = np.random.default_rng(5)
        truth = np.where(rng.random(1_000) < 0.95, 4, rng.integers(0, CLASSES, 1_000))
        labels = [np.where(rng.random(1_000) < 0.98, truth, 4) for _ in range(3)]
        assert kinds(label_doubts(tally_of(labels), NAMES)) == [set()] * 3

    @pytest.mark.parametrize(("classes", "most", "items"), [(2, 0.9, 60), (5, 0.8, 60), (2, 0.5, 20), (3, 0.34, 25)])
    def test_too_few_items_or_nearly_one_class_doubt_no_honest_model(self, classes, most, items):
        rng = np.random.default_rng(8)
        prior = np.r_[most, np.full(classes - 1, (1 - most) / (classes - 1))]
        alarms = 0
        for _ in range(100):
            truth = rng.choice(classes, items, p=prior)
            seen = rng.normal(size=(3, items, classes)) + (np.arange(classes) == truth[:, None])
            tally = LabelTally.of((seen + np.log(prior)).argmax(axis=2).astype(np.uint16), [None] * 3, classes)
            alarms += bool(doubted(label_doubts(tally, NAMES)))
        assert alarms <= 10

    def test_confidences_of_minus_zero_and_unknown_ones_are_counted_as_such(self):
        sure = np.array([-0.0, 0.5, np.nan, 0.5], np.float32)
        tally = tally_of([np.zeros(4)], [sure])
        assert tally.confidences.sum() == 3
        assert tally.confidence(0) == pytest.approx(0.5, rel=0.003)

    def test_confidences_of_one_over_the_classes_are_uniform(self, pool):
        labels, rng = pool
        sure = rng.uniform(0.3, 1, 400).astype(np.float32)
        flat = rng.uniform(0.0501, 0.058, 400).astype(np.float32)
        assert kinds(label_doubts(tally_of(labels, [sure, sure, flat]), NAMES)) == [set(), set(), {"uniform"}]

    def test_probabilities_that_went_through_a_softmax_are_recognised(self, pool):
        """exp(p) / Σ exp(p) is at most e / (e + classes − 1), reached by a certain prediction."""
        labels, rng = pool
        sure = rng.uniform(0.3, 1, 400).astype(np.float32)
        twice = (np.exp(sure) / (np.exp(sure) + CLASSES - 1)).astype(np.float32)
        (doubt,) = label_doubts(tally_of(labels, [sure, sure, twice]), NAMES)[2]
        assert "taken for logits" in doubt.words

    def test_few_items_raise_no_doubt(self, pool):
        labels, rng = pool
        few = [one[:15] for one in (*labels, rng.integers(0, CLASSES, 400), np.zeros(400, int))]
        assert kinds(label_doubts(tally_of(few), NAMES)) == [set()] * 5

    def test_counts_add_up_over_chunks_in_any_order(self, pool):
        labels, rng = pool
        every = np.stack(labels)
        every[1, ::7] = MISSING
        sure = [rng.random(400).astype(np.float32), None, rng.random(400).astype(np.float32)]
        whole = LabelTally.of(every, sure, CLASSES)
        cuts = [slice(0, 100), slice(100, 130), slice(130, 400)]
        parts = [LabelTally.of(every[:, cut], [None if s is None else s[cut] for s in sure], CLASSES) for cut in cuts]
        merged = parts[2].merged(parts[0]).merged(parts[1])
        for name in whole.__dataclass_fields__:
            assert np.array_equal(getattr(whole, name), getattr(merged, name))

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_quantiles_of_confidences_are_right_to_half_a_percent(self, pool, share):
        labels, rng = pool
        sure = (rng.random(400) ** 8).astype(np.float32)
        found = tally_of(labels[:1], [sure]).confidence(0, share)
        assert found == pytest.approx(np.quantile(sure, share, method="inverted_cdf"), rel=5e-3)

    def test_agreement_beyond_chance_is_cohens_kappa(self, pool):
        from sklearn.metrics import cohen_kappa_score

        labels, _ = pool
        assert tally_of(labels).beyond_chance[0, 2] == pytest.approx(cohen_kappa_score(labels[0], labels[2]))


@pytest.mark.parametrize("name", ["pacs", "emotion_detection", "domain_drift"])
def test_collections_of_real_classifiers_raise_no_alarm(kit: Path, name: str):
    found = np.load(kit / "collections" / f"{name}.npz")
    labels = found["predictions"].astype(np.uint16)
    names = [str(number) for number in range(int(max(labels.max(), found["truth"].max())) + 1)]
    tally = LabelTally.of(labels, [None] * len(labels), len(names))
    assert doubted(label_doubts(tally, names)) == []


def test_imagenet_classifiers_raise_no_alarm(kit: Path):
    """46 classifiers from AlexNet on, on 10,000 images; with those that someone shuffled, exactly these are doubted."""
    top1 = np.load(kit / "imagenet" / "validation_top1.npz", allow_pickle=True)["top1"][:, ::5].astype(np.uint16)
    names = [str(number) for number in range(1_000)]
    assert doubted(label_doubts(LabelTally.of(top1, [None] * len(top1), 1_000), names)) == []
    shuffled = np.random.default_rng(1).permutation(1_000).astype(np.uint16)[top1[:1]]
    both = np.concatenate([top1, shuffled])
    assert doubted(label_doubts(LabelTally.of(both, [None] * len(both), 1_000), names)) == [len(top1)]


def test_broken_classifiers_of_a_collection_are_found_and_good_ones_are_not(kit: Path):
    """97 published classifiers of sentiment: some always say the same, and one has its two classes swapped."""
    found = np.load(kit / "collections" / "sst2.npz")
    labels, accuracy = found["predictions"].astype(np.uint16), (found["predictions"] == found["truth"]).mean(axis=1)
    warned = doubted(label_doubts(LabelTally.of(labels, [None] * len(labels), 2), ["bad", "good"]))
    assert set(np.flatnonzero(accuracy < 0.53)) <= set(warned)
    assert accuracy[warned].max() < 0.75


class TestScores:
    def test_a_model_whose_scores_fall_where_others_rise_is_reversed(self):
        rng = np.random.default_rng(2)
        quality = rng.normal(size=300)
        scores = np.stack([quality + rng.normal(size=300) * spread for spread in (0.3, 0.6, 0.9)])
        scores = np.concatenate([scores, -scores[:1]])
        assert kinds(score_doubts(score_summary(scores, [False] * 4))) == [set(), set(), set(), {"reversed"}]
        assert kinds(score_doubts(score_summary(scores, [False, False, False, True]))) == [set()] * 4

    def test_scores_that_are_classes_or_nearly_constant_are_doubted(self):
        rng = np.random.default_rng(2)
        quality = rng.normal(size=300)
        classes = np.digitize(quality, [-1, 0, 1]).astype(float)
        fixed = np.where(np.arange(300) < 290, 1.0, quality)
        found = kinds(score_doubts(score_summary(np.stack([quality, classes, fixed]), [False] * 3)))
        assert found[0] == set()
        assert "few" in found[1]
        assert "constant" in found[2]

    def test_unlike_scores_of_few_items_are_rarely_called_reversed(self):
        rng = np.random.default_rng(6)
        found = [kinds(score_doubts(score_summary(rng.normal(size=(2, 20)), [False] * 2))) for _ in range(200)]
        assert sum({"reversed"} in one for one in found) <= 12  # about 5 are expected; with −0.2 alone, about 40

    def test_correlations_are_spearmans_on_the_items_that_both_score(self):
        from scipy.stats import spearmanr

        rng = np.random.default_rng(4)
        scores = rng.normal(size=(2, 90)).round(1)
        scores[0, :30] = np.nan
        found = score_summary(scores, [False, False])
        assert found.correlation[0, 1] == pytest.approx(spearmanr(scores[0, 30:], scores[1, 30:]).statistic)
        assert np.isfinite(found.spans).all()


def test_quality_models_of_tid2013_raise_no_alarm_unless_one_is_turned_around(kit: Path):
    scores = np.stack([np.loadtxt(path) for path in sorted((kit / "iqa" / "metrics_values").glob("*.txt"))])
    assert not any(score_doubts(score_summary(scores, [False] * len(scores))))
    scores[3] *= -1
    assert [number for number, one in enumerate(score_doubts(score_summary(scores, [False] * len(scores)))) if one] == [
        3
    ]


class TestMaps:
    @staticmethod
    def pixels(marks: list[list[tuple[int, ...]]], classes: int = 6) -> tuple[np.ndarray, np.ndarray]:
        """Pixels of each class in each map, from the classes that each model marks in each image."""
        found = np.zeros((len(marks), len(marks[0]), classes), np.int64)
        found[:, :, 0] = 100
        for model, images in enumerate(marks):
            for image, labels in enumerate(images):
                found[model, image, list(labels)] = 10
        return found, np.ones(found.shape[:2], bool)

    def test_shares_of_the_classes_that_both_mark(self):
        tally = MapTally.of(*self.pixels([[(1,), (2,), ()], [(1, 3), (), ()]]))
        assert tally.agreement[0, 1] == pytest.approx(1 / 3)  # class 1 is shared; 1, 3 and 2 are marked by either
        assert tally.both[0, 1] == 2
        assert tally.empty.tolist() == [1, 2]

    def test_a_model_that_marks_nothing_and_one_that_marks_other_things(self):
        rng = np.random.default_rng(6)
        truth = [(int(label),) for label in rng.integers(1, 4, 60)]
        wrong = [(int(label),) for label in rng.integers(4, 6, 60)]
        nothing = [() if number % 20 else (1,) for number in range(60)]
        doubts = map_doubts(MapTally.of(*self.pixels([truth, truth, wrong, nothing])))
        assert kinds(doubts) == [set(), set(), {"alone"}, {"empty"}]

    def test_counts_add_up_over_chunks(self):
        rng = np.random.default_rng(7)
        pixels = rng.integers(0, 2, (3, 50, 5))
        has_map = rng.random((3, 50)) < 0.9
        whole = MapTally.of(pixels, has_map)
        merged = MapTally.of(pixels[:, :20], has_map[:, :20]).merged(MapTally.of(pixels[:, 20:], has_map[:, 20:]))
        for name in whole.__dataclass_fields__:
            assert np.array_equal(getattr(whole, name), getattr(merged, name))


def test_nobody_is_alone_where_nothing_can_be_compared():
    assert not are_alone(np.zeros((3, 3)), np.zeros((3, 3), bool)).any()
    assert average_and_closest(np.zeros(1), np.zeros(1, bool), ["a"]) == (None, None)


def test_peers_are_models_that_nobody_doubts_for_certain():
    known, sure, unsure = ~np.eye(3, dtype=bool), Doubt("alone", ""), Doubt("low", "")
    found = [[False, True, False], [True, False, False], [True, True, False]]
    assert peers(known, [[], [unsure], [sure]]).tolist() == found
    assert peers(known, [[sure]] * 3).tolist() == known.tolist()
