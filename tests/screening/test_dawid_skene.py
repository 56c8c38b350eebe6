from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import ScreeningError
from dissensus.screening import NO_MAYBE_YES, DawidSkene, dawid_skene


def simulated(
    rng: np.random.Generator, items: int, prior: np.ndarray, confusion: np.ndarray, per_item: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The truth, and answers (item, rater, answer) of `per_item` different raters to every item."""
    truth = rng.choice(len(prior), size=items, p=prior)
    item = np.repeat(np.arange(items), per_item)
    rater = np.concatenate([rng.permutation(len(confusion))[:per_item] for _ in range(items)])
    chances = confusion[rater, truth[item]].cumsum(axis=1)
    answer = (rng.random((len(item), 1)) > chances).sum(axis=1)
    return truth, (item, rater, answer)


def confusions(rng: np.random.Generator, raters: int, answers: int, sharpness: float = 4) -> np.ndarray:
    weights = rng.gamma(1, 1, (raters, answers, answers)) + sharpness * np.eye(answers)
    return weights / weights.sum(axis=2, keepdims=True)


def plainly(answers, items, raters, meaning, smoothing, steps=3000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three formulas, one answer after the other; posterior, prior and confusion."""
    item, rater, answer = answers
    said, truths = meaning.shape
    guess = 0.5 / said + 0.5 * meaning.T / meaning.T.sum(axis=1, keepdims=True)
    posterior = np.zeros((items, truths))
    for i, a in zip(item, answer, strict=True):
        posterior[i] += meaning[a]
    posterior /= posterior.sum(axis=1, keepdims=True)
    for _ in range(steps):
        prior = posterior.sum(axis=0) + smoothing / truths
        prior /= prior.sum()
        confusion = np.repeat(smoothing * guess[None], raters, axis=0)
        np.add.at(confusion, (rater, slice(None), answer), posterior[item])
        confusion /= confusion.sum(axis=2, keepdims=True)
        joint = np.repeat(np.log(prior)[None], items, axis=0)
        np.add.at(joint, item, np.log(confusion)[rater, :, answer])
        new = np.exp(joint - joint.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        if np.abs(new - posterior).max() < 1e-10:
            break
        posterior = new
    return new, prior, confusion


def require_probabilities(found: DawidSkene) -> None:
    for table in (found.posterior, found.prior, found.confusion):
        assert np.all(table >= 0)
        assert np.allclose(table.sum(axis=-1), 1)
    assert np.all(found.confusion > 0)
    assert np.all((found.skill >= 0) & (found.skill <= 1))
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize("answers", [2, 3, 4])
def test_known_confusion_matrices_and_truths_are_recovered(answers: int) -> None:
    rng = np.random.default_rng(answers)
    confusion = confusions(rng, 6, answers, sharpness=2)
    prior = rng.dirichlet(np.full(answers, 20))
    truth, said = simulated(rng, 6000, prior, confusion, 5)
    found = dawid_skene(*said, 6000, 6, np.eye(answers))
    require_probabilities(found)
    assert np.abs(found.confusion - confusion).max() < 0.08
    assert np.abs(found.prior - prior).max() < 0.03
    votes = np.stack([np.bincount(said[0], weights=said[2] == a) for a in range(answers)], axis=1)
    assert (found.posterior.argmax(axis=1) == truth).mean() > (votes.argmax(axis=1) == truth).mean()
    right = np.einsum("k,rkk->r", prior, confusion)
    assert np.abs(found.skill - right).max() < 0.04


def test_posteriors_are_calibrated_where_the_model_holds() -> None:
    rng = np.random.default_rng(5)
    truth, said = simulated(rng, 8000, np.array([0.6, 0.4]), confusions(rng, 8, 2, 1.5), 4)
    posterior = dawid_skene(*said, 8000, 8, np.eye(2)).posterior[:, 1]
    for low in np.arange(0, 1, 0.2):
        chosen = (posterior >= low) & (posterior < low + 0.2)
        assert abs(truth[chosen].mean() - posterior[chosen].mean()) < 0.06


def test_maybe_is_an_answer_and_no_truth() -> None:
    rng = np.random.default_rng(2)
    confusion = np.array([[[0.8, 0.15, 0.05], [0.1, 0.3, 0.6]]] * 5)
    truth, said = simulated(rng, 4000, np.array([0.7, 0.3]), confusion, 5)
    found = dawid_skene(*said, 4000, 5, NO_MAYBE_YES)
    assert np.abs(found.confusion - confusion).max() < 0.05
    assert (found.posterior.argmax(axis=1) == truth).mean() > 0.93
    assert found.skill == pytest.approx(np.full(5, 0.7 * (0.8 + 0.075) + 0.3 * (0.15 + 0.6)), abs=0.03)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("meaning", [np.eye(2), np.eye(3), np.eye(4), NO_MAYBE_YES], ids=["2", "3", "4", "maybe"])
def test_as_the_formulas_one_answer_after_the_other(meaning: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, said = simulated(rng, 40, np.full(len(meaning), 1 / len(meaning)), confusions(rng, 6, len(meaning)), 4)
    found = dawid_skene(*said, 40, 6, meaning, smoothing=1.0, tolerance=1e-10)
    for ours, plain in zip(
        (found.posterior, found.prior, found.confusion), plainly(said, 40, 6, meaning, 1.0), strict=True
    ):
        assert np.abs(ours - plain).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("answers", [2, 3])
def test_as_crowd_kit_where_nothing_is_smoothed(answers: int, seed: int) -> None:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as CrowdKit

    rng = np.random.default_rng(seed)
    _, said = simulated(rng, 80, np.full(answers, 1 / answers), confusions(rng, 5, answers), 4)
    found = dawid_skene(*said, 80, 5, np.eye(answers), smoothing=1e-9, tolerance=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = CrowdKit(n_iter=found.iterations, tol=-1.0).fit_predict_proba(
            pd.DataFrame(dict(zip(("task", "worker", "label"), said, strict=True)))
        )
    assert np.abs(theirs.sort_index()[list(range(answers))].to_numpy() - found.posterior).max() < 1e-3


def test_the_result_is_a_maximum_of_the_smoothed_likelihood() -> None:
    rng = np.random.default_rng(8)
    _, (item, rater, answer) = simulated(rng, 50, np.array([0.5, 0.3, 0.2]), confusions(rng, 4, 3), 4)
    found = dawid_skene(item, rater, answer, 50, 4, np.eye(3), smoothing=2.0, tolerance=1e-9)

    def objective(prior: np.ndarray, confusion: np.ndarray) -> tuple[float, float]:
        joint = np.repeat(prior[None], 50, axis=0)
        np.multiply.at(joint, item, confusion[rater, :, answer])
        imagined = 2.0 * (0.5 / 3 + 0.5 * np.eye(3))
        likelihood = float(np.log(joint.sum(axis=1)).sum())
        return likelihood, likelihood + float((imagined * np.log(confusion)).sum() + 2 / 3 * np.log(prior).sum())

    likelihood, best = objective(found.prior, found.confusion)
    assert likelihood == pytest.approx(found.log_likelihood, rel=1e-6)
    for _ in range(100):
        confusion = found.confusion * np.exp(0.05 * rng.normal(size=found.confusion.shape))
        prior = found.prior * np.exp(0.05 * rng.normal(size=3))
        assert objective(prior / prior.sum(), confusion / confusion.sum(axis=2, keepdims=True))[1] <= best


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_names_and_order_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, (item, rater, answer) = simulated(rng, 30, np.full(3, 1 / 3), confusions(rng, 5, 3), 3)
    fine = {"tolerance": 1e-9}
    before = dawid_skene(item, rater, answer, 30, 5, np.eye(3), **fine)
    items, raters, answers, order = (rng.permutation(n) for n in (30, 5, 3, len(item)))
    after = dawid_skene(items[item][order], raters[rater][order], answers[answer][order], 30, 5, np.eye(3), **fine)
    assert np.abs(after.posterior[items][:, answers] - before.posterior).max() < 1e-5
    assert np.abs(after.skill[raters] - before.skill).max() < 1e-5


def test_a_study_asked_twice_over_has_the_same_truths_under_twice_the_smoothing() -> None:
    rng = np.random.default_rng(1)
    _, (item, rater, answer) = simulated(rng, 40, np.array([0.5, 0.5]), confusions(rng, 4, 2), 3)
    once = dawid_skene(item, rater, answer, 40, 4, np.eye(2), smoothing=1.0, tolerance=1e-9)
    twice = dawid_skene(
        np.concatenate([item, item + 40]), np.tile(rater, 2), np.tile(answer, 2), 80, 4, np.eye(2), 2.0, 1e-9
    )
    assert np.abs(twice.posterior - np.tile(once.posterior, (2, 1))).max() < 1e-6
    assert np.abs(twice.confusion - once.confusion).max() < 1e-6


def test_somebody_who_is_always_wrong_is_understood_and_somebody_at_random_is_passed_over() -> None:
    rng = np.random.default_rng(0)
    good, wrong, lost = [[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]
    truth, said = simulated(rng, 3000, np.array([0.5, 0.5]), np.array([good, good, good, wrong, lost]), 5)
    found = dawid_skene(*said, 3000, 5, np.eye(2))
    assert found.skill == pytest.approx([0.9, 0.9, 0.9, 0.1, 0.5], abs=0.04)
    only_wrong_knows = dawid_skene(*(column[said[1] != 0] for column in said), 3000, 5, np.eye(2))
    assert (only_wrong_knows.posterior.argmax(axis=1) == truth).mean() > 0.9


def test_one_answer_of_one_person_leans_to_what_was_said() -> None:
    found = dawid_skene(np.array([0]), np.array([0]), np.array([1]), 1, 1, np.eye(2))
    require_probabilities(found)
    assert found.posterior[0, 1] > 0.5
    assert (found.answers.tolist(), found.compared.tolist()) == ([1], [0])


def test_one_person_alone_is_believed_and_marked_as_never_compared() -> None:
    answer = np.array([0, 1, 2, 0, 1, 2, 0, 0])
    found = dawid_skene(np.arange(8), np.zeros(8, int), answer, 8, 1, np.eye(3))
    require_probabilities(found)
    assert found.posterior.argmax(axis=1).tolist() == answer.tolist()
    assert found.compared.tolist() == [0]


def test_where_all_always_say_the_same_that_is_the_truth() -> None:
    item, rater = (grid.ravel() for grid in np.mgrid[:20, :4])
    found = dawid_skene(item, rater, np.ones(80, int), 20, 4, np.eye(3))
    require_probabilities(found)
    assert found.posterior[:, 1].min() > 0.99
    assert found.skill.min() > 0.8


def test_an_item_without_answers_has_the_prior_and_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    _, said = simulated(rng, 30, np.array([0.7, 0.3]), confusions(rng, 4, 2), 3)
    found, with_more = (dawid_skene(*said, items, raters, np.eye(2)) for items, raters in ((30, 4), (50, 6)))
    assert np.array_equal(with_more.posterior[:30], found.posterior)
    assert np.array_equal(with_more.posterior[30:], np.tile(found.prior, (20, 1)))
    assert with_more.answers[4:].tolist() == [0, 0]
    require_probabilities(with_more)


def test_a_rater_of_one_answer_is_not_taken_for_infallible() -> None:
    rng = np.random.default_rng(4)
    _, said = simulated(rng, 30, np.array([0.5, 0.5]), confusions(rng, 4, 2), 4)
    item, rater, answer = (np.append(column, more) for column, more in zip(said, (0, 4, 1), strict=True))
    found = dawid_skene(item, rater, answer, 30, 5, np.eye(2))
    assert found.answers[4] == 1
    assert found.confusion[4].max() < 0.9


@given(st.data())
@settings(max_examples=60)
def test_whatever_people_say_the_result_is_made_of_probabilities(data: st.DataObject) -> None:
    items, raters = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    meaning = data.draw(st.sampled_from([np.eye(2), np.eye(3), NO_MAYBE_YES]))
    row = st.tuples(st.integers(0, items - 1), st.integers(0, raters - 1), st.integers(0, len(meaning) - 1))
    rows = data.draw(st.lists(row, min_size=1, max_size=25, unique_by=lambda row: row[:2]))
    require_probabilities(dawid_skene(*np.array(rows).T, items, raters, meaning))


def test_small_integers_do_not_overflow() -> None:
    rng = np.random.default_rng(6)
    _, said = simulated(rng, 200, np.array([0.5, 0.5]), confusions(rng, 4, 2), 3)
    small = [column.astype(np.uint8) for column in said]
    assert np.array_equal(
        dawid_skene(*small, 200, 4, np.eye(2)).posterior, dawid_skene(*said, 200, 4, np.eye(2)).posterior
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item": [], "rater": [], "answer": []}, "no answers"),
        ({"item": [0, 9]}, "items are out of range: they must lie between 0 and 1"),
        ({"rater": [0, -1]}, "raters are out of range"),
        ({"answer": [0, 2]}, "answers are out of range: they must lie between 0 and 1"),
        ({"rater": [0]}, "different lengths"),
        ({"smoothing": 0.0}, "positive"),
        ({"smoothing": np.inf}, "positive"),
        ({"meaning": np.array([[1.0, 0.5], [0, 1]])}, "each row must sum to 1"),
        ({"meaning": np.array([[1.0, 0], [1, 0]])}, "no column may be zero"),
        ({"max_iterations": 1, "tolerance": 0.0}, "in 1 steps"),
    ],
)
def test_what_cannot_be_estimated_is_said_in_words(change: dict, words: str) -> None:
    given = {"item": [0, 1], "rater": [0, 1], "answer": [0, 1], "items": 2, "raters": 2, "meaning": np.eye(2)} | change
    for column in ("item", "rater", "answer"):
        given[column] = np.array(given[column], dtype=int)
    with pytest.raises(ScreeningError, match=words):
        dawid_skene(**given)


def test_arguments_are_left_as_they_are() -> None:
    item, rater, answer, meaning = np.array([1, 0]), np.array([0, 1]), np.array([0, 1]), np.eye(2)
    for array in (item, rater, answer, meaning):
        array.setflags(write=False)
    dawid_skene(item, rater, answer, 2, 2, meaning)


def test_agrees_with_the_authors_of_the_reassessed_imagenet_labels(kit: Path) -> None:
    with np.load(kit / "imagenet" / "raters_sparse.npz") as stored:
        item, rater, answer, score = (stored[name] for name in ("item", "rater", "answer", "item_score"))
    assert len(answer) == 924_810
    found = dawid_skene(item, rater, answer, len(score), 85, NO_MAYBE_YES)
    require_probabilities(found)
    assert np.corrcoef(found.posterior[:, 1], score)[0, 1] >= 0.95
