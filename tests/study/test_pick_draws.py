"""Draws that ask about all labels of an item at once: verdicts, probabilities, and both kinds of questions together."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.competition.evaluation import Competition
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES
from dissensus.store.draws import read_batches
from dissensus.study import Study
from dissensus.tasks.labels.drawing import LOOK, MEASURED, READ, drawing, price
from dissensus.tasks.labels.estimating import estimation
from dissensus.tasks.labels.picks import MOST

CLASSES = ["cat", "dog", "owl", "bee", "fox", "eel", "ape", "hen"]
ITEMS = [f"item-{number:03}" for number in range(120)]
RNG = np.random.default_rng(1)
TRUTH = dict(zip(ITEMS, RNG.choice(CLASSES, len(ITEMS)).tolist(), strict=True))
SHARES = {"good": 0.8, "fair": 0.6, "poor": 0.3, "late": 0.5}
MODELS = {
    name: [TRUTH[item] if RNG.random() < share else str(RNG.choice(CLASSES)) for item in ITEMS]
    for name, share in SHARES.items()
}
ACCURACY = {name: np.mean([a == TRUTH[i] for a, i in zip(said, ITEMS, strict=True)]) for name, said in MODELS.items()}


def begun(root: Path, *names: str, k: int = 2) -> Study:
    study = Study.init(root, classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(**{name: MODELS[name] for name in names or ("good", "fair", "poor")})
    study.select(k=k)
    return study


def picks(study: Study) -> list[dict[str, Any]]:
    """The picks of a study, as people are asked them."""
    groups = Competition(study._task).questions()[1:]
    return [json.loads(text) for group in groups for text in group.texts]


def truthfully(body: dict[str, Any]) -> list[int]:
    return [option for option in body["options"] if CLASSES[option] == TRUTH[body["item"]]]


def answer(study: Study, bodies: Sequence[dict[str, Any]], said: Callable[[dict[str, Any]], Any], who: str) -> None:
    names = {None: "cannot tell", "unfit": "unfit"}
    rows = []
    for body in bodies:
        given = said(body)
        written = [CLASSES[one] for one in given] if isinstance(given, list) else names[given]
        rows.append({"kind": "pick", "question": body, "answer": written})
    study.answer(rows, who)


def answer_labels(study: Study, who: str = "ann") -> None:
    """Answer everything that is open label by label."""
    rows = [
        {"item": one.item, "label": one.name, "answer": "yes" if TRUTH[one.item] == one.name else "no"}
        for one in study.questions()
    ]
    if rows:
        study.answer(rows, who)


def states(study: Study, body: dict[str, Any]) -> list[int]:
    """The state of every option of a pick."""
    evaluation = study._unweighed()
    (item,) = [number for number, name in evaluation.item_ids.items() if name == body["item"]]
    return [
        int(evaluation.states.state[(evaluation.keys == (item, option)).all(axis=1)][0]) for option in body["options"]
    ]


def test_picks_show_who_is_most_often_right(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    answer_labels(study)
    for _ in range(3):
        assert study.draw(20, question="pick") == 20
        answer(study, picks(study), truthfully, "ann")
    answer_labels(study)
    found = study.estimates()
    assert found.draws == 60
    assert [one.model for one in found.models] == ["good", "fair", "poor"]
    for one in found.models:
        assert one.accuracy == pytest.approx(ACCURACY[one.model], abs=0.08)
        assert one.low <= ACCURACY[one.model] <= one.high
    assert "good leads both rankings" in study.report().read_text()


def test_how_few_answers_decide_leaves_answers_about_several_labels_alone(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "fair", "late", k=20)
    study.draw(1000, question="pick")
    bodies = picks(study)[::8]
    answer(study, bodies, truthfully, "ann")
    answer_labels(study)
    found = study.rank().fragility
    assert found is not None
    assert not found.is_smallest
    ids = [one.id for one in found.judgements]
    assert len(set(ids)) == len(ids)
    assert not {one.item for one in found.judgements} & {body["item"] for body in bodies}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (lambda body: body["options"][:1], (YES, NO)),
        (lambda body: body["options"], (YES, YES)),
        (lambda _: [], (NO, NO)),
        (lambda _: None, (UNSURE, UNSURE)),
        (lambda _: "unfit", (UNFIT, UNFIT)),
    ],
    ids=["one", "several", "none", "cannot tell", "unfit"],
)
def test_one_answer_gives_a_verdict_on_every_label(tmp_path: Path, said: Any, wanted: tuple[int, int]) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    study.draw(5, question="pick")
    bodies = [one for one in picks(study) if states(study, one) == [OPEN, OPEN]]
    assert bodies
    answer(study, bodies, said, "ann")
    assert {tuple(states(study, one)) for one in bodies} == {wanted}


def test_people_who_disagree_are_counted_label_by_label(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.change("judge", {"min_answers": 3})
    study.draw(30, question="pick")
    body = next(one for one in picks(study) if len(one["options"]) == 3)
    first, second, third = body["options"]
    said = {"ann": [first, second], "bob": [first], "cleo": [second, third]}
    for count, (who, given) in enumerate(said.items()):
        assert states(study, body) == [OPEN] * 3, count
        answer(study, [body], lambda _, given=given: given, who)
    assert states(study, body) == [YES, YES, NO]
    answer(study, [body], lambda _: None, "ann")  # a change of mind: one for, one against
    assert states(study, body) == [UNSURE, UNSURE, UNSURE]


def test_the_latest_answer_about_a_label_counts_whichever_question_it_answers(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    study.draw(1000, question="pick")
    in_round = {(one.item, one.name) for one in begun(tmp_path / "other", "good", "poor").questions()}
    body = next(one for one in picks(study) if (one["item"], CLASSES[one["options"][0]]) in in_round)
    label = {"item": body["item"], "label": CLASSES[body["options"][0]]}
    answer(study, [body], lambda _: [], "ann")
    assert states(study, body)[0] == NO
    study.answer([label | {"answer": "yes"}], "ann")
    assert states(study, body)[0] == YES  # the same person: the later answer counts
    answer(study, [body], lambda _: [], "bob")
    assert states(study, body)[0] == UNSURE  # one for, one against
    answer(study, [body], lambda _: None, "ann")
    assert states(study, body)[0] == NO  # one against, one who cannot tell


def test_nothing_is_asked_twice_where_a_round_and_a_draw_share_a_label(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor", k=10)
    study.change("judge", {"min_answers": 2})
    study.draw(1000, question="pick")
    answer(study, picks(study), truthfully, "ann")
    competition = Competition(study._task)
    asked, labels = competition.question_set, len(competition.question_set)
    is_offered = np.isin(np.arange(labels), asked.drawn[~asked.is_apart])
    needed = competition.needed(competition_answers(competition))
    assert needed.is_needed[labels:].all()  # one answer of two
    np.testing.assert_array_equal(needed.is_needed[:labels][is_offered], in_rounds(competition)[is_offered])
    assert {question for question, _ in needed.barred} == set(
        np.flatnonzero(in_rounds(competition) & is_offered).tolist()
    )
    answer(study, picks(study), truthfully, "bob")
    needed = competition.needed(competition_answers(competition))
    assert not needed.is_needed[:labels][is_offered].any()
    assert needed.is_needed[labels:].all()  # as any other question: a third person may still be asked
    assert not set(needed.urgent) & set(asked.asked_as[~asked.is_apart].tolist())


def competition_answers(competition: Competition[Any, Any]) -> Any:
    from dissensus.competition.evaluation import read_answers

    return read_answers(competition.work.answers, competition.questions(), ())


def in_rounds(competition: Competition[Any, Any]) -> np.ndarray:
    found = np.zeros(len(competition.question_set), bool)
    _, judged = competition.judged(competition_answers(competition))
    for one in judged:
        found[one.round_questions.questions[one.active].ravel()] = True
    return found


@pytest.mark.parametrize("question", ["contains", "pick"])
def test_all_draws_together_say_exactly_what_the_belief_lacked(tmp_path: Path, question: Any) -> None:
    """Whatever was answered before: label by label in rounds, as draws of either kind, or not yet.

    The mean of a draw is the sum of all corrections, each of which has probability · (1 / probability) = 1.
    """
    study = begun(tmp_path / "study")
    rounds = [one for one in study.questions() if int(one.item[-3:]) % 3]
    study.answer(
        [{"item": o.item, "label": o.name, "answer": "yes" if TRUTH[o.item] == o.name else "no"} for o in rounds], "ann"
    )
    study.draw(15, question="contains")
    study.draw(15, question="pick")
    answer(study, picks(study)[:8], truthfully, "ann")
    study.draw(10_000, question=question)
    batch = read_batches(study.folder)[-1]
    assert (batch.draw == -1).any()
    answer_labels(study)
    order = [list(MODELS).index(name) for name in batch.about["models"]]
    said = np.array([list(MODELS.values())[one] for one in order])
    places = [ITEMS.index(name) for name in batch.ids]
    names = np.array([CLASSES[label] for label in batch.label])
    is_right = np.array([TRUTH[name] for name in batch.ids]) == names
    lacking = ((is_right - batch.predicted) * (said[:, places] == names)).sum(axis=1)
    expected = np.array([batch.about["expected"][name] for name in batch.about["models"]])
    truth = [ACCURACY[name] * len(ITEMS) for name in batch.about["models"]]
    np.testing.assert_allclose(expected + lacking, truth, atol=1e-9)
    np.testing.assert_allclose(batch.probability[batch.draw == batch.draw.max()], 1.0)  # the last one is sure


def test_items_with_too_many_labels_are_asked_about_label_by_label(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(**{name: [CLASSES[(n + i) % 8] for i in range(len(ITEMS))] for n, name in enumerate("abcdefg")})
    study.select(k=1)
    study.draw(10, question="pick")
    assert picks(study) == []
    assert len(study.questions()) >= 10
    assert MOST < 7


def test_a_study_that_asked_label_by_label_may_go_on_with_picks(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(10)
    answer_labels(study)
    study.draw(10, question="pick")
    answer(study, picks(study), truthfully, "ann")
    answer_labels(study)
    assert study.estimates().draws == 20
    assert [one.about["question"] for one in read_batches(study.folder)] == ["contains", "pick"]
    study.join(late=MODELS["late"])
    assert study.estimates().draws == 0
    study.draw(10, question="pick")
    answer(study, picks(study), truthfully, "ann")
    answer_labels(study)
    assert study.estimates().draws == 10


def test_open_picks_among_other_models_are_no_longer_asked(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    answer_labels(study)
    study.draw(20, question="pick")
    bodies = picks(study)
    answer(study, bodies[:8], truthfully, "ann")
    before = study.estimates().answers
    study.join(late=MODELS["late"])
    competition = Competition(study._task)
    needed = competition.needed(competition_answers(competition))
    assert not needed.is_needed[len(competition.question_set) :].any()
    assert needed.urgent == ()
    assert study.estimates().answers == before
    assert OPEN not in states(study, bodies[0])
    study.draw(10_000, question="pick")
    competition = Competition(study._task)
    needed = competition.needed(competition_answers(competition))
    asked = {one["item"] for one in bodies[8:]}
    texts = competition.questions()[1].texts
    offered = np.flatnonzero(needed.is_needed[len(competition.question_set) :]).tolist()
    assert asked <= {json.loads(texts[number])["item"] for number in offered}


def test_answers_go_out_and_come_back(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one"), begun(tmp_path / "other")
    for study in (one, other):
        study.draw(20, question="pick")
    bodies = picks(one)
    answer(one, bodies[:6], truthfully, "ann")
    answer(one, bodies[6:8], lambda body: body["options"], "ann")
    answer(one, bodies[8:9], lambda _: None, "ann")
    answer(one, bodies[9:], lambda _: "unfit", "ann")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        one.judgements_export(tmp_path / name)
    assert other.judgements_import(tmp_path / "a.csv") == len(bodies)
    assert [states(other, body) for body in bodies] == [states(one, body) for body in bodies]
    for name in ("a.jsonl", "a.parquet"):
        assert other.judgements_import(tmp_path / name) == 0  # all of them are known


def test_the_cheaper_question_follows_from_the_forecast_and_the_time(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    found = estimation(study._task.work, study._unweighed())
    one, whole = drawing(found, "contains"), drawing(found, "pick")
    assert whole.seconds(5.0, None) == pytest.approx(LOOK + 2 * READ, abs=0.5)  # nearly all draws have two labels
    assert one.seconds(5.0, None) == pytest.approx(5.0)
    cost = price(found)
    assert cost.questions == pytest.approx(one.variance / whole.variance)
    assert cost.questions > 1.2  # two labels say more than one
    assert cost.cheaper == ("pick" if cost.seconds < cost.questions else "contains")
    study.draw(5, question="auto")
    assert read_batches(study.folder)[0].about["question"] == cost.cheaper


@pytest.mark.parametrize(("times", "wanted"), [((4, 60), "contains"), ((4, 4.1), "pick")])
def test_measured_times_replace_assumed_ones(tmp_path: Path, times: tuple[float, float], wanted: str) -> None:
    study = begun(tmp_path / "study", "good", "poor", k=20)
    study.draw(40, question="pick")
    rows = [{"item": one.item, "label": one.name, "answer": "no", "seconds": times[0]} for one in study.questions()]
    study.answer(rows[:MEASURED], "ann")
    timed = [{"kind": "pick", "question": body, "answer": [], "seconds": times[1]} for body in picks(study)[:MEASURED]]
    study.answer(timed, "bob")
    found = estimation(study._task.work, study._unweighed())
    assert price(found).seconds == pytest.approx(times[1] / times[0], rel=0.05)
    assert price(found).cheaper == wanted


def test_the_option(tmp_path: Path, command: Any) -> None:
    study = begun(tmp_path / "study")
    done = command("draw", study.folder.root, "--count", 5, "--question", "pick", "--json")
    assert json.loads(done.stdout)["drawn"] == 5
    assert picks(study)
    assert command("draw", study.folder.root, "--question", "rating").returncode == 2
    study.change("estimate", {"question": "pick"})
    study.draw(5)
    assert read_batches(study.folder)[1].about["question"] == "pick"
    assert command("status", study.folder.root).returncode == 0
