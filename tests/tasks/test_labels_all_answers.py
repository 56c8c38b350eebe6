from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.all_answers import alike_ahead
from dissensus.arrays import MISSING
from dissensus.competition.one_order import USUAL, strengths
from dissensus.pairwise import tally
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES, Outcomes, Ranking
from dissensus.study import Study
from dissensus.tasks.labels import all_outcomes
from dissensus.tasks.labels.all_answers import decided_outcomes

STATES = (YES, NO, OPEN, UNSURE, UNFIT)
Made = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def made(seed: int, models: int = 4, items: int = 15) -> Made:
    """Labels of some items of a pool, and questions about some of these labels with verdicts of every kind."""
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.permutation(100)[:items])
    labels = rng.integers(0, 3, (models, items)).astype(np.uint16)
    labels[rng.random(labels.shape) < 0.1] = MISSING
    every = np.array([(item, label) for item in numbers for label in range(3)])
    keys = every[rng.random(len(every)) < 0.8]
    return labels, numbers, keys, rng.choice(STATES, len(keys), p=[0.4, 0.4, 0.1, 0.07, 0.03])


def rows_of(found: Outcomes) -> set[tuple[int, int, int, bool, bool]]:
    columns = (found.first, found.second, found.item, found.first_right, found.second_right)
    rows = set(zip(*(column.tolist() for column in columns), strict=True))
    assert len(rows) == len(found)
    return rows


def one_by_one(labels: np.ndarray, items: np.ndarray, keys: np.ndarray, verdicts: np.ndarray) -> set[tuple]:
    """The same by looking up every prediction of every pair of models."""
    verdict = {tuple(key): state for key, state in zip(keys.tolist(), verdicts.tolist(), strict=True)}
    unfit = {item for (item, _), state in verdict.items() if state == UNFIT}
    rows = set()
    for place, item in enumerate(items.tolist()):
        for one, other in combinations(range(len(labels)), 2):
            both = [int(labels[model, place]) for model in (one, other)]
            states = [verdict.get((item, label)) for label in both]
            if item not in unfit and both[0] != both[1] and all(state in (YES, NO) for state in states):
                rows.add((one, other, item, states[0] == YES, states[1] == YES))
    return rows


@given(st.integers(0, 10_000))
def test_outcomes_are_those_that_a_plain_loop_finds(seed: int) -> None:
    labels, items, keys, verdicts = made(seed)
    assert rows_of(decided_outcomes(labels, items, keys, verdicts)) == one_by_one(labels, items, keys, verdicts)


@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_the_numbering_of_models_and_the_order_of_items_do_not_matter(seed: int, number: list[int]) -> None:
    labels, items, keys, verdicts = made(seed)
    plain = decided_outcomes(labels, items, keys, verdicts)
    renamed = decided_outcomes(labels[number][:, ::-1], items[::-1], keys, verdicts)
    before, after = tally(plain, 4), tally(renamed, 4)
    for name in ("only", "both", "neither"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name)[np.ix_(number, number)])


def test_what_is_not_judged_yes_or_no_decides_nothing() -> None:
    labels, keys = np.array([[0], [1], [2]], np.uint16), np.array([[7, 0], [7, 1], [7, 2]])

    def duels(*verdicts: int) -> list[tuple[int, int]]:
        return sorted(row[:2] for row in rows_of(decided_outcomes(labels, np.array([7]), keys, np.array(verdicts))))

    assert duels(YES, NO, NO) == [(0, 1), (0, 2), (1, 2)]
    assert duels(YES, UNSURE, NO) == duels(YES, OPEN, NO) == [(0, 2)]
    assert duels(YES, UNFIT, NO) == []


def test_models_that_are_alike_lose_by_all_answers_but_not_in_the_ranking() -> None:
    """Why this order has no rank sets: all models are equally accurate, and six share most of their mistakes."""
    ranking, every = alike_ahead(studies=30, k=10).mean(axis=0)
    assert abs(ranking) < 0.15
    assert every < -0.25


def study_of(root: Path, labels: np.ndarray, truth: np.ndarray, k: int, **select: object) -> Study:
    """A study of some models, judged by the truth as far as it asks."""
    study = Study.init(root, classes=["cat", "dog", "owl"])
    study.pool(items=[f"item-{number:02}" for number in range(len(truth))])
    study.predict(**{f"m{number}": given for number, given in enumerate(labels)})
    study.select(**{"k": k, "confidence": 0, "cap": 100, "reserves": 0} | select)
    names = study.classes.names
    right = {f"item-{number:02}": names[label] for number, label in enumerate(truth.tolist())}
    answers = [
        {"item": one.item, "label": one.name, "answer": "yes" if right[one.item] == one.name else "no"}
        for one in study.questions()
    ]
    study.answer(answers, "ann")
    return study


def in_the_pool(study: Study, labels: np.ndarray) -> np.ndarray:
    """What models predict for the items in the order of the pool, given in the order of their ids."""
    return labels[:, [int(item.removeprefix("item-")) for item in study._items()]].astype(np.uint16)


def three_models(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 60)
    wrong = rng.random((3, 60)) < np.array([[0.1], [0.3], [0.5]])
    return np.where(wrong, (truth + rng.integers(1, 3, (3, 60))) % 3, truth), truth


def test_a_study_is_ranked_by_all_its_answers_beside_its_own_ranking(tmp_path: Path) -> None:
    labels, truth = three_models()
    study = study_of(tmp_path / "s", labels, truth, k=4)
    ranking, evaluation = study.rank(), study.evaluation()
    verdicts = evaluation.states.state
    labels, items = in_the_pool(study, labels), np.arange(60)
    expected = one_by_one(labels, items, evaluation.keys, verdicts)
    assert {row[:3] for row in rows_of(all_outcomes(evaluation))} < {row[:3] for row in expected}
    found = ranking.from_all_answers
    assert found is not None
    assert found.items_per_duel == pytest.approx(len(expected) / 3)
    whole = decided_outcomes(labels, items, evaluation.keys, verdicts)
    strength = strengths(tally(whole, 3), USUAL)
    assert found.strengths == pytest.approx({f"m{model}": strength[model] for model in range(3)})
    assert list(found.strengths) == [f"m{model}" for model in np.argsort(-strength)]
    assert f"{len(expected) / 3:.3g} items per duel instead of 4)" in found.words
    assert str(ranking).endswith(found.words)
    assert found.words in ranking._repr_html_()
    assert study.folder.report.parent.joinpath("ranking.json").read_text().count(found.words) == 1


def test_one_duel_has_nothing_beside_it(tmp_path: Path) -> None:
    labels, truth = three_models()
    study = study_of(tmp_path / "s", labels[:2], truth, k=4)
    evaluation = study.evaluation()
    pooled = in_the_pool(study, labels[:2])
    every = decided_outcomes(pooled, np.arange(60), evaluation.keys, evaluation.states.state)
    assert rows_of(every) == rows_of(all_outcomes(evaluation))
    ranking = study.rank()
    assert ranking.from_all_answers is None
    assert "all answers" not in str(ranking)


def test_predictions_that_no_duel_could_ask_about_do_not_count(tmp_path: Path) -> None:
    """The third model is never confident, so that its predictions decide nothing, whoever else is right."""
    labels, truth = three_models()
    sure = np.array([[0.9], [0.9], [0.1]]).repeat(60, axis=1)
    pairs = list(zip(labels, sure, strict=True))
    study = study_of(tmp_path / "s", pairs, truth, k=4, confidence=0.8)  # type: ignore[arg-type]
    assert study.rank().from_all_answers is None
    free = study_of(tmp_path / "free", labels, truth, k=4).rank()
    assert "m2" in free.from_all_answers.strengths


def test_rankings_without_it_can_still_be_read(tmp_path: Path) -> None:
    labels, truth = three_models()
    ranking = study_of(tmp_path / "s", labels, truth, k=4).rank()
    older = Ranking.model_validate(ranking.model_dump(exclude={"from_all_answers"}))
    assert older.from_all_answers is None
    assert older.standings == ranking.standings
    assert Ranking.model_validate_json(ranking.model_dump_json()) == ranking


def test_nothing_is_beside_a_ranking_while_some_duels_wait(tmp_path: Path) -> None:
    """With the answers of one duel alone, only the mistakes of its two models are known, and the others would lead."""
    labels, truth = three_models()
    study = study_of(tmp_path / "s", labels[:2], truth, k=10)
    study.change("judge", {"share": 0.9})
    study.join(m2=labels[2])
    assert study.rank().from_all_answers is None
