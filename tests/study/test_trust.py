"""What a study must not pretend: to be sure where it is not, or to be made from what it was not made from."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import command_line
from forking import started

from dissensus import Study
from dissensus.demo import PREPROCESS
from dissensus.errors import PredictionError, StudyError
from dissensus.tasks.labels import all_outcomes

CLASSES = ["cat", "dog", "owl", "fox", "emu"]
ITEMS = [f"item-{number:03}" for number in range(300)]


@pytest.fixture
def truth():
    return np.random.default_rng(3).integers(0, 5, len(ITEMS))


@pytest.fixture
def study(tmp_path, truth):
    """Three models, of falling accuracy, judged."""
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES))
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(ITEMS))
    made = Study.init(tmp_path / "study", classes=str(tmp_path / "classes.txt"))
    made.pool([tmp_path / "pool.csv"])
    made.predict([spec(tmp_path, truth, name, wrong) for name, wrong in (("a", 0.1), ("b", 0.3), ("c", 0.5))])
    made.select(k=12)
    answer(made, truth, tmp_path)
    return made


def spec(folder, truth, name, wrong, seed=None):
    """A prediction file that is wrong on a share of the items."""
    rng = np.random.default_rng(seed if seed is not None else ord(name[0]))
    labels = np.where(rng.random(len(truth)) < wrong, rng.integers(0, 5, len(truth)), truth)
    pq.write_table(pa.table({"item": ITEMS, "label": labels}), folder / f"{name}.parquet")
    return f"{name}=file:{folder / name}.parquet"


def answer(study, truth, folder, said="by truth"):
    """Answer what is open; the number of questions."""
    found = study.questions()
    rows = [
        {"item": q.item, "label": q.name, "annotator": "ann", "time": "2026-01-01T00:00:00+00:00"}
        | {"answer": ("yes" if truth[ITEMS.index(q.item)] == q.label else "no") if said == "by truth" else said}
        for q in found
    ]
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    if rows:
        study.judgements_import(path)
    return len(rows)


def test_a_newcomer_is_not_ranked_by_questions_that_others_happened_to_ask(study, tmp_path, truth):
    study.join([spec(tmp_path, truth, "worst", 0.9)])
    ranking = study.rank()
    assert ranking.words[0].startswith("Preliminary: ")
    by_name = {standing.model: standing for standing in ranking.standings}
    assert by_name["worst"].strength is None or by_name["worst"].rank_low > 1
    answer(study, truth, tmp_path)
    ranking = study.rank()
    assert not ranking.words[0].startswith("Preliminary")
    assert ranking.standings[-1].model == "worst"


def test_the_report_shows_what_the_ranking_counts_and_nothing_else(study, tmp_path, truth):
    study.join([spec(tmp_path, truth, "worst", 0.9)])
    data = study._task.report(study.evaluation(), None)
    assert {gallery.models for gallery in data.duels} == {("a", "b"), ("a", "c"), ("b", "c")}
    for gallery in data.duels:
        one, other = map(data.models.index, gallery.models)
        seen = [tuple(said.is_right for said in shown.said) for shown in gallery.shown]
        assert gallery.judged == data.tally.items[one, other] == len(seen)
        assert gallery.only[0] == data.tally.only[one, other] == seen.count((True, False))
        assert data.tally.neither[one, other] == seen.count((False, False))


def test_a_clean_sweep_separates_and_has_an_interval(tmp_path, truth):
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES))
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(ITEMS))
    study = Study.init(tmp_path / "sweep", classes=str(tmp_path / "classes.txt"))
    study.pool([tmp_path / "pool.csv"])
    study.predict([spec(tmp_path, truth, "right", 0.0), spec(tmp_path, truth, "wrong", 0.4)])
    study.select(k=15)
    answer(study, truth, tmp_path)
    first = study.rank().standings[0]
    assert (first.model, first.rank_low, first.rank_high) == ("right", 1, 1)
    assert first.low < first.strength < first.high


def test_predictions_that_were_replaced_are_not_ranked(study, tmp_path, truth):
    study.folder.predictions("a").unlink()
    spec(tmp_path, truth, "a", 0.8, seed=77)
    with pytest.raises(PredictionError, match="a takes part in round 1, which was selected from its predictions"):
        study.predict()
    with pytest.raises(StudyError, match="missing"):
        study.rank()


def test_an_unfit_item_is_not_shown_again_in_a_later_round(study, tmp_path, truth):
    study.select(again=True)
    item = study.questions()[0].item
    label = study.questions()[0].name
    path = tmp_path / "unfit.jsonl"
    path.write_text(json.dumps({"item": item, "label": label, "annotator": "ann", "answer": "unfit"}))
    study.judgements_import(path)
    study.join([spec(tmp_path, truth, "newcomer", 0.6)])
    assert item not in {question.item for question in study.questions()}


def test_a_newcomer_gets_as_many_items_as_the_others(study, tmp_path, truth):
    study.predict([spec(tmp_path, truth, "later", 0.6)])
    study.select()
    rows = [row for row in study.selection() if row["second"] == "later" and not row["reserve"]]
    assert len(rows) == 3 * 12
    assert study.settings.select.k == 12


def test_a_refused_selection_leaves_no_trace(study, tmp_path, truth):
    before = study.folder.settings.read_text()
    for bad in ({"distance": "hops"}, {"k": 3}):
        with pytest.raises(Exception, match=r"taxonomy|other settings"):
            study.select(**bad)
        assert study.folder.settings.read_text() == before
    study.join([spec(tmp_path, truth, "newcomer", 0.6)])
    assert study.folder.rounds() == [1, 2]


def test_places_count_on_from_round_to_round(study, tmp_path, truth):
    study.select(again=True)
    answer(study, truth, tmp_path)
    outcomes = all_outcomes(study.evaluation())
    duel = (outcomes.first == 0) & (outcomes.second == 1)
    assert sorted(outcomes.rank[duel].tolist()) == list(range(1, 25))


def test_a_benchmark_of_other_models_is_refused(study, tmp_path):
    (tmp_path / "other.csv").write_text("model,accuracy\nx,0.5\n")
    with pytest.raises(StudyError, match="none of the competing models"):
        study.report(benchmark=tmp_path / "other.csv")


def test_a_sheet_may_be_filled_in_and_imported_bit_by_bit(study, tmp_path, truth):
    study.join([spec(tmp_path, truth, "newcomer", 0.6)])
    sheet = tmp_path / "sheet.csv"
    study.questions(sheet)
    header, *lines = sheet.read_text().splitlines()
    filled = [line.replace(",,,", ",ann,yes,", 1) for line in lines]
    sheet.write_text("\n".join([header, *filled[:3], *lines[3:]]))
    assert study.judgements_import(sheet) == 3
    time.sleep(1.1)  # a file of another time
    sheet.write_text("\n".join([header, *filled[:5], *lines[5:]]))
    assert study.judgements_import(sheet) == 2


def test_a_changed_picture_is_noticed(demo, tmp_path):
    pictures = tmp_path / "pictures"
    shutil.copytree(demo[0] / "pool", pictures)
    study = Study.init(tmp_path / "other", classes=str(demo[0] / "digits.txt"))
    study.pool([pictures])
    first, second = sorted(pictures.iterdir())[:2]
    first.write_bytes(second.read_bytes())
    study.predict([f"knn=sklearn:{demo[0] / 'models' / 'knn'}.joblib"], PREPROCESS)
    assert study.status().models[0].reasons == {"changed since it was pooled": 1}


@pytest.mark.slow
def test_an_interrupted_demo_goes_on(tmp_path, command):
    process = started("demo", tmp_path / "demo", cwd=tmp_path)
    while process.poll() is None and not (tmp_path / "demo" / "study" / "predictions" / "knn.parquet").exists():
        time.sleep(0.02)
    assert process.kill() == -signal.SIGKILL
    done = command("demo", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "No clear winner: svm is right most often and knn is hardest to falsify" in done.stdout


def test_two_commands_at_once_do_not_mix(study, tmp_path, command):
    with study._lock:
        done = command("select", study.folder.root, "--again")
    assert done.returncode == 2
    assert "another command is using this study" in done.stderr
    assert command("select", study.folder.root, "--again").returncode == 0


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(tmp_path):
    process = subprocess.Popen(
        command_line("demo", tmp_path / "demo"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (tmp_path / "demo" / "study").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.strip() == "dissensus: interrupted; run the same command again, which resumes where it can"
