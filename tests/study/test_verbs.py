"""The verbs of a study, through the command and through the class."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from dissensus.demo import PREPROCESS
from dissensus.study import Study

MODELS = ("knn", "lda", "tree")


def answer_all(study, truth, path, annotators=("ann",)):
    """Answer every open question from the truth; the number of questions."""
    questions = study.questions()
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label", "annotator", "answer"])
        for question in questions:
            answer = "yes" if truth[question.item] == question.name else "no"
            writer.writerows([question.item, question.name, who, answer] for who in annotators)
    study.judgements_import(path)
    return len(questions)


@pytest.fixture(scope="session")
def truth():
    return {f"digit-{number:04}.png": str(digit) for number, digit in enumerate(load_digits().target)}


def test_a_whole_study_by_commands(command, demo, tmp_path, truth):
    study = tmp_path / "study"
    assert command("init", study, "--task", "labels", "--classes", demo[0] / "digits.txt").returncode == 0
    assert "899 items" in command("pool", study, demo[0] / "pool").stdout
    specs = [f"{name}=sklearn:{demo[0] / 'models' / name}.joblib" for name in MODELS]
    options = [part for key, value in PREPROCESS.items() for part in ("-p", f"{key}={value}")]
    predicted = command("predict", study, *specs, *options, "--json")
    assert [row["predicted"] for row in json.loads(predicted.stdout)["models"]] == [True] * 3
    selected = json.loads(command("select", study, "--k", 5, "--confidence", 0, "--json").stdout)
    assert selected["places"] == 15
    assert (
        selected["items"]
        == selected["selected"]
        == len({row["item"] for row in Study(study).selection() if not row["reserve"]})
    )
    assert selected["duels"] == 3
    sheet = command("questions", study, tmp_path / "sheet.csv")
    assert sheet.returncode == 0
    answer_all(Study(study), truth, tmp_path / "answers.csv")
    ranked = command("rank", study, "--json")
    standings = json.loads(ranked.stdout)["standings"]
    assert [set(row) for row in standings] == [
        {"model", "strength", "low", "high", "rank_low", "rank_high", "may_be_first", "strength_from_all_answers"}
    ] * 3
    assert [row["strength"] for row in standings] == sorted((row["strength"] for row in standings), reverse=True)
    exported = tmp_path / "out.jsonl"
    assert command("judgements", "export", study, exported).returncode == 0
    assert len(exported.read_text().splitlines()) == selected["open_questions"]
    report = command("report", study)
    assert report.stdout.strip() == f"report: {study / 'results' / 'report.html'}"
    status = json.loads(command("status", study, "--json").stdout)
    assert status["open_questions"] == 0
    assert status["next"].startswith("dissensus report")


def test_distance_prints_the_papers_two_numbers(command):
    assert "0.003662" in command("distance", "drake", "American coot", "--classes", "imagenet").stdout
    by_id = json.loads(command("distance", "n03388043", "497", "--json").stdout)
    assert (by_id["a"], by_id["b"]) == ("fountain", "church")
    assert by_id["value"] == 0.0859375
    lost = command("distance", "crane", "drake")
    assert lost.returncode == 2
    assert "could be 'crane (" in lost.stderr


def test_joining_asks_only_new_questions_and_touches_nothing(digits, truth, tmp_path, demo):
    study = digits(*MODELS)
    study.select(k=5, confidence=0.0)
    answer_all(study, truth, tmp_path / "first.csv")
    before = {
        path: path.read_bytes()
        for path in study.folder.root.rglob("*")
        if path.is_file() and path.parent.name in ("predictions", "001", "study")
    }
    export = tmp_path / "before.csv"
    study.judgements_export(export)
    asked = set(study.asked())
    number = study.join([f"svm=sklearn:{demo[0] / 'models' / 'svm'}.joblib"], PREPROCESS)
    assert number == 2
    rows = [row for row in study.selection() if "svm" in (row["first"], row["second"]) and not row["reserve"]]
    assert 0 < len(rows) <= len(MODELS) * 5
    assert asked <= set(study.asked())
    waiting = {(question.item, question.label) for question in study.questions()}
    assert waiting == set(study.asked()) - asked
    assert all(path.read_bytes() == content for path, content in before.items())
    after = tmp_path / "after.csv"
    study.judgements_export(after)
    assert after.read_bytes() == export.read_bytes()
    answer_all(study, truth, tmp_path / "second.csv")
    assert {standing.model for standing in study.rank().standings} == {*MODELS, "svm"}


def test_selecting_again_gives_new_items_for_the_same_duels(digits):
    study = digits(*MODELS)
    study.select(k=3, reserves=2, confidence=0.0)
    assert study.select(k=3, reserves=2, confidence=0.0) == 1
    assert study.select(k=3, reserves=2, confidence=0.0, again=True) == 2
    rows = [(row["first"], row["second"], row["item"]) for row in study.selection()]
    assert len(rows) == len(set(rows)) == 2 * 3 * 5


def test_a_discarded_item_makes_room_for_the_next_reserve(digits, truth, tmp_path):
    study = digits("knn", "tree")
    study.select(k=2, reserves=3, confidence=0.0)
    ranked = [row["item"] for row in study.selection()]
    asked = {question.item for question in study.questions()}
    assert asked == set(ranked[:2])
    path = tmp_path / "unfit.jsonl"
    label = next(question.name for question in study.questions() if question.item == ranked[0])
    path.write_text(json.dumps({"item": ranked[0], "label": label, "annotator": "ann", "answer": "unfit"}))
    study.judgements_import(path)
    assert {question.item for question in study.questions()} == set(ranked[1:3])
    assert study.status().discarded_items == 1


def test_an_unreadable_image_is_recorded_and_left_out_for_every_model(demo, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for path in sorted((demo[0] / "pool").iterdir())[:60]:
        (pictures / path.name).write_bytes(path.read_bytes())
    (pictures / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    (pictures / "empty.png").write_bytes(b"")
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(pictures / "black.png")
    study = Study.init(tmp_path / "study", classes=str(demo[0] / "digits.txt"))
    study.pool([pictures])
    study.predict([f"{name}=sklearn:{demo[0] / 'models' / name}.joblib" for name in ("knn", "tree")], PREPROCESS)
    status = study.status()
    assert status.pool == 63
    assert [model.unreadable for model in status.models] == [2, 2]
    assert "empty file" in status.models[0].reasons
    study.select(k=60, cap=60, confidence=0.0)
    assert not {row["item"] for row in study.selection()} & {"broken.png", "empty.png"}


def test_two_models_alike_among_others_are_named(digits, truth, tmp_path, demo):
    study = digits("knn", "tree")
    study.predict([f"twin=sklearn:{demo[0] / 'models' / 'knn'}.joblib"], PREPROCESS)
    study.select(k=4, confidence=0.0)
    answer_all(study, truth, tmp_path / "answers.csv")
    ranking = study.rank()
    assert "knn and twin gave every item the same label, so they cannot be told apart." in ranking.words
    strengths = {standing.model: standing.strength for standing in ranking.standings}
    assert strengths["knn"] == pytest.approx(strengths["twin"])


def test_the_order_without_people_stands_beside_the_ranking(finished):
    agreement = finished.consensus()
    labels = np.stack([finished.labels(name) for name in agreement])
    votes = (labels[:, None] == labels[None]).sum(axis=1)
    assert list(agreement.values()) == pytest.approx((votes == votes.max(axis=0)).mean(axis=1).tolist())


@pytest.mark.parametrize("method", ["perron", "hodgerank", "bradley-terry"])
def test_every_method_ranks_the_demo_and_is_recorded(finished, method):
    ranking = finished.rank(method)
    assert ranking.provenance.method == method
    assert json.loads(finished.folder.ranking.read_text())["provenance"]["method"] == method
    assert {ranking.standings[0].model, ranking.standings[1].model} == {"knn", "svm"}
    assert ranking == finished.rank(method)


def test_an_import_counts_all_answers_and_says_how_many_are_to_the_main_questions(digits, command, tmp_path):
    study = digits("knn", "lda", "tree")
    study.select(k=5, confidence=0.0)
    rows = [{"item": q.item, "label": q.name, "annotator": "ann", "answer": "yes"} for q in study.questions()[:6]]
    controls = [row | {"role": "control", "id": str(number)} for number, row in enumerate(rows[:4])]
    path = tmp_path / "answers.jsonl"

    def imported(given, *options):
        path.write_text("\n".join(map(json.dumps, given)))
        return command("judgements", "import", study.folder.root, path, *options).stdout

    assert imported(rows[:1]).startswith("1 new answer; the study now has 1 answer by one person\n")
    printed = imported(rows + controls)
    assert printed.startswith(
        "9 new answers; the study now has 10 answers (6 of them to its main questions, by one person)\n"
    )
    again = json.loads(imported(rows + controls, "--json"))
    assert (again["new"], again["answers"], again["judgements"], again["annotators"]) == (0, 10, 6, 1)
