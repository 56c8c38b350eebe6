"""Bad input to a study of scores ends in one line that says what to do, exit code 2, and nothing is damaged."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scores_made import ITEMS, QUALITY, begun, done, refused, run, sheet, snapshot, write_csv

from dissensus.study import Study

SCORES = [3 * QUALITY[item] for item in ITEMS]
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def study(judged):
    """Selected and answered."""
    return judged


def refuses(study, arguments, *words):
    """A command that is refused and leaves every byte as it was."""
    before = snapshot(study)
    refused(run(*arguments), *words)
    after = snapshot(study)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


def scores_file(path, scores, items=ITEMS):
    pq.write_table(pa.table({"item": items, "score": scores}), path)
    return path


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([*SCORES[:-1], NAN], ("NaN", "item-239", "leave the cell empty")),
        ([INF, *SCORES[1:]], ("infinite", "item-000")),
        ([-INF, *SCORES[1:]], ("infinite",)),
        ([7.5] * 240, ("every item has the score 7.5",)),
        ([None] * 240, ("no item has a score",)),
        ([None] * 239 + [1.0], ("every item has the score 1",)),
        (["high"] * 240, ("one number per item",)),
    ],
)
def test_scores_that_are_none(fresh, tmp_path, scores, words):
    path = scores_file(tmp_path / "bad.parquet", scores)
    refuses(fresh, ("predict", fresh, f"bad=file:{path}"), "bad", *words)


def test_score_files_of_other_items_or_columns(fresh, tmp_path):
    whole = scores_file(tmp_path / "whole.parquet", SCORES).read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(pa.table({"item": ITEMS, "label": SCORES}), tmp_path / "label.parquet")
    for path, word in (
        (scores_file(tmp_path / "short.parquet", SCORES[:200], ITEMS[:200]), "item-200"),
        (scores_file(tmp_path / "twice.parquet", SCORES, [*ITEMS[:-1], ITEMS[0]]), "item-000"),
        (tmp_path / "label.parquet", "score"),
        (tmp_path / "half.parquet", "half.parquet"),
        (tmp_path / "nowhere.csv", "nowhere.csv"),
    ):
        refuses(fresh, ("predict", fresh, f"bad=file:{path}"), word)


def test_models_of_other_names_or_backends(fresh, scores_folder):
    for arguments, word in (
        (("x=file:a.csv", "--lower", "y"), "--lower"),
        ((f"good=file:{scores_folder / 'files' / 'poor.csv'}",), "another name"),
        (("x=tensorflow:a",), "tensorflow"),
        (("x=python:nowhere:score",), "nowhere"),
    ):
        refuses(fresh, ("predict", fresh, *arguments), word)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(ITEMS[0], 6)], ("row 2", "6", "1 (worst) to 5 (best)", "--worst")),
        ([(ITEMS[0], 3), (ITEMS[1], 0.5)], ("row 3", "0.5")),
        ([("elsewhere", 3)], ("elsewhere", "not in the pool")),
        ([(ITEMS[0], 3), (ITEMS[1], 4), (ITEMS[0], 3)], ("rates item-000 twice",)),
        ([(ITEMS[0], "good")], ("row 2", "'good'", "not a finite number")),
        ([(ITEMS[0], "nan")], ("row 2", "not a finite number")),
        ([(ITEMS[0],)], ("row 2", "not a finite number")),
        ([], ("no ratings",)),
        ([(item, 3) for item in ITEMS[:30]], ("same quality",)),
        ([(item, 1 + QUALITY[item] / 25) for item in ITEMS[:3]], ("rate more",)),
        ([(item, 5 - QUALITY[item] / 25) for item in ITEMS[:30]], ("good", "does not rise", "lower is better")),
    ],
)
def test_ratings_that_are_none_leave_the_old_ones_in_their_place(fresh, tmp_path, rows, words):
    path = write_csv(tmp_path / "bad.csv", ("item", "rating"), rows)
    refuses(fresh, ("scale", fresh, path), *words)


def test_files_of_ratings_that_cannot_be_read(fresh, tmp_path):
    write_csv(tmp_path / "columns.csv", ("image", "mos"), [(ITEMS[0], 3)])
    (tmp_path / "latin.csv").write_bytes("item,rating\nitem-000,3\ncafé,2\n".encode("latin-1"))
    extra = [(item, 1 + QUALITY[item] / 25, 0.5) for item in ITEMS[:30]]
    write_csv(tmp_path / "extra.csv", ("item", "rating", "std"), extra)
    for name, word in (
        ("columns.csv", "columns 'item' and 'rating'"),
        ("latin.csv", "latin.csv"),
        ("extra.csv", "columns besides item and rating (std) are model scores"),
        ("nowhere.csv", "nowhere.csv"),
    ):
        refuses(fresh, ("scale", fresh, tmp_path / name), word)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--worst", 5), ("scale", "must differ")),
        (("--worst", "nan"), ("worst",)),
        (("--best", "inf"), ("best",)),
        (("--worst", 2), ("row", "2 (worst)")),
        (("--worst", 5, "--best", 1), ("good", "does not rise")),
    ],
)
def test_ends_of_the_scale_that_cannot_be(fresh, scores_folder, arguments, words):
    refuses(fresh, ("scale", fresh, *arguments), *words)
    refuses(fresh, ("scale", fresh, scores_folder / "files" / "ratings.csv", *arguments), *words)


def test_new_ratings_are_held_against_the_ends_that_the_study_has(fresh, tmp_path):
    rows = [(item, QUALITY[item] / 10 - 5) for item in ITEMS[::2]]
    path = write_csv(tmp_path / "signed.csv", ("item", "rating"), rows)
    refuses(fresh, ("scale", fresh, path), "1 (worst) to 5 (best)")
    done("scale", fresh, path, "--worst", -5, "--best", 5)
    done("scale", fresh, path)
    assert Study(fresh).settings.scale.worst == -5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--levels", 0), ("levels",)),
        (("--levels", 101), ("levels",)),
        (("--width", 0), ("width",)),
        (("--width", 200), ("width",)),
        (("--spacing", "odd"), ("spacing", "even")),
        (("--case", "some"), ("case", "most")),
        (("--jnd", 0.01), ("jnd",)),
        (("--jnd", 1, "--spacing", "quantile"), ("--spacing even",)),
        (("--reserves", -1), ("reserves",)),
        (("--width", 0.01), ("no level of good has two items", "--width")),
        (("--k", 30), ("scores", "'k'")),
        (("--cap", 3), ("scores", "'cap'")),
        (("--confidence", 0.5), ("scores", "'confidence'")),
        (("--distance", "hops"), ("scores", "'distance'")),
        (("--eligible", "some.csv"), ("scores", "'eligible'")),
    ],
)
def test_settings_that_make_no_sense_are_not_kept(fresh, arguments, words):
    refuses(fresh, ("select", fresh, *arguments), *words)


def test_a_level_that_is_empty_is_said_and_skipped(fresh, tmp_path):
    # a model that never gives the middle of its scale
    torn = [50 * (QUALITY[item] > 50) + 0.5 * QUALITY[item] for item in ITEMS]
    done("predict", fresh, f"torn=file:{scores_file(tmp_path / 'torn.parquet', torn)}")
    printed = done("select", fresh, "--width", 6, "--levels", 12)
    assert "torn: skipped levels" in printed
    assert "(fewer than two items)." in printed
    assert any("torn: skipped levels" in word for word in Study(fresh).status().rounds[0].words)


def test_study_toml_with_wrong_settings(study):
    path = study / "study.toml"
    good = path.read_text()
    for old, new, words in (
        ('method = "bt500"', 'method = "bt600"', ("judge.method", "bt600", "bt500, p910, mean")),
        ('question = "slider"', 'question = "pick"', ("judge.question", "slider")),
        ('method = "thurstone"', 'method = "elo"', ("elo", "thurstone, bradley-terry")),
        ("smoothing = 0.01", "smoothing = -1", ("rank.smoothing",)),
        ("smoothing = 0.01", "smoothing = nan", ("rank.smoothing",)),
        ("levels = 6", "level = 6", ("select.level",)),
        ("# low = 0.0", "low = 60.0\nhigh = 50.0\n#", ("select", "low must be below high")),
        ('task = "scores"', 'task = "ranks"', ("ranks", "labels, scores")),
    ):
        assert old in good
        path.write_text(good.replace(old, new))
        refuses(study, ("rank", study), *words)


def test_one_model_none_and_two_that_are_the_same(tmp_path):
    study = begun(tmp_path, models=("good",), ratings=False)
    refuses(study, ("select", study), "two models", "good")
    done("predict", study, f"twin=file:{tmp_path / 'files' / 'good.csv'}")
    refuses(study, ("select", study), "good and twin", "told apart")
    done("init", tmp_path / "empty", "--task", "scores")
    refuses(tmp_path / "empty", ("select", tmp_path / "empty"), "two models")
    refuses(tmp_path / "empty", ("scale", tmp_path / "empty"), "predict")


def test_the_same_scores_the_other_way_round_are_another_model(tmp_path):
    study = begun(tmp_path, models=("good",), ratings=False)
    done("predict", study, f"upside-down=file:{tmp_path / 'files' / 'good.csv'}", "--lower", "upside-down")
    assert "for 2 duels" in done("select", study)


def test_what_belongs_to_the_other_task(study, tmp_path):
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    labels = tmp_path / "labels"
    done("init", labels, "--classes", tmp_path / "classes.txt")
    done("pool", labels, write_csv(tmp_path / "pool.csv", ("item",), [("a",), ("b",)]))
    for arguments, word in (
        (("select", labels, "--levels", 3), "'levels'"),
        (("select", labels, "--jnd", 1), "'jnd'"),
        (("select", labels, "--case", "most"), "'case'"),
        (("scale", labels), "study of labels"),
        (("predict", labels, f"m=file:{tmp_path / 'm.csv'}", "--lower", "m"), "--lower"),
        (("pool", labels, "python:numpy:array"), "--task scores"),
    ):
        refuses(labels, arguments, word)
    refuses(study, ("rank", study, "--method", "elo"), "thurstone, bradley-terry, hodgerank, perron")
    refuses(study, ("questions", study, tmp_path / "sheet.html"), "there are no open questions")
    refused(run("init", tmp_path / "third", "--task", "pictures"), "labels, scores")


def test_verbs_that_come_too_early(fresh, tmp_path):
    for arguments, word in (
        (("rank", fresh), "dissensus select"),
        (("report", fresh), "dissensus select"),
        (("questions", fresh), "dissensus select"),
        (("screen", fresh), "dissensus select"),
        (("join", fresh, "x=file:x.csv"), "nothing has been selected yet"),
    ):
        refuses(fresh, arguments, word)
    done("select", fresh)
    refuses(fresh, ("rank", fresh), "nobody has answered yet")
    refuses(fresh, ("report", fresh), "nobody has answered yet")
    refuses(fresh, ("questions", fresh, tmp_path / "sheet.html"), ".csv or .jsonl", "dissensus serve")
    refuses(fresh, ("questions", fresh, tmp_path / "s.csv", "--image-url", "https://x"), "dissensus serve")


def test_answers_that_are_none_store_nothing(study, tmp_path):
    pair = Study(study).asked()[0]
    good = ["slider", *pair, "ann", 40]
    for at, value, word in (
        (4, 150, "-100"),
        (4, "nan", "nan"),
        (4, "perhaps", "perhaps"),
        (1, "elsewhere", "elsewhere"),
        (3, "", "annotator"),
        (0, "slide", "slide"),
    ):
        bad = [*good[:at], value, *good[at + 1 :]]
        found = run("judgements", "import", study, sheet(tmp_path / "bad.csv", [good, bad]))
        refused(found, "row 3", word.replace("-100", "−100"))
    assert Study(study).status().judgements == 90


def test_one_answer_of_a_person_is_fine_but_for_p910_which_names_the_person(study, tmp_path):
    pair = Study(study).asked()[0]
    done("judgements", "import", study, sheet(tmp_path / "one.csv", [["slider", *pair, "dora", 10]]))
    assert "is first" in done("rank", study)
    Study(study).change("judge", {"method": "p910"})
    refuses(study, ("rank", study), "dora")
    refuses(study, ("report", study), "dora")
    done("annotators", "exclude", study, "dora", "--reason", "gave one answer")
    assert "is first" in done("rank", study)


def test_predictions_that_changed_after_the_selection(study, tmp_path):
    path = study / "predictions" / "poor.parquet"
    whole = path.read_bytes()
    path.write_bytes((study / "predictions" / "good.parquet").read_bytes())
    for arguments in (("rank", study), ("report", study), ("select", study, "--again")):
        refuses(study, arguments, "poor", "damaged", "backup")
    path.write_bytes(whole[:200])
    for arguments in (("rank", study), ("status", study), ("select", study, "--again")):
        refuses(study, arguments, "poor.parquet", "damaged")
    path.unlink()
    refuses(study, ("rank", study), "poor.parquet", "missing")
    path.write_bytes(whole)
    done("rank", study)
    other = scores_file(tmp_path / "other.parquet", SCORES)
    refuses(study, ("predict", study, f"poor=file:{other}"), "another name")


def test_a_joining_model_does_not_hide_that_another_changed(study, scores_folder):
    path = study / "predictions" / "poor.parquet"
    path.write_bytes((study / "predictions" / "good.parquet").read_bytes())
    refused(run("join", study, f"new=file:{scores_folder / 'files' / 'new.csv'}"), "poor", "damaged")
    assert Study(study).folder.rounds() == [1]


def test_better_scores_that_became_worse_ones_after_the_selection(study):
    text = (study / "study.toml").read_text()
    assert 'better = "lower"' in text
    (study / "study.toml").write_text(text.replace('better = "lower"', 'better = "higher"'))
    for arguments in (("rank", study), ("report", study), ("select", study, "--again")):
        refuses(study, arguments, "fair", "round 1", 'better = "lower"')


def test_a_model_that_was_taken_out_of_study_toml(study):
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text[: text.index("[models.poor]")])
    for arguments in (("rank", study), ("report", study), ("select", study, "--again")):
        refuses(study, arguments, "poor", "[models.poor]")


def test_a_damaged_round_and_lost_ratings(study):
    path = study / "rounds" / "001" / "selection.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    for verb in ("rank", "status", "questions", "report", "select"):
        refuses(study, (verb, study), "selection.parquet", "damaged")
    path.write_bytes(whole)
    (study / "ratings.csv").unlink()
    refuses(study, ("select", study, "--again"), "ratings.csv")
    refuses(study, ("scale", study), "ratings.csv")
    done("rank", study)


def test_other_settings_after_a_round(study, tmp_path):
    for arguments, word in ((("--levels", 3), "levels 6 → 3"), (("--case", "most"), "case all → most")):
        refuses(study, ("select", study, *arguments), word, "--again")
    rows = [(item, 1 + QUALITY[item] / 25) for item in ITEMS[::2]]
    done("scale", study, write_csv(tmp_path / "others.csv", ("item", "rating"), rows))
    refuses(study, ("select", study), "scale", "--again")


def test_what_a_person_wrote_into_study_toml_comes_back_byte_for_byte(fresh):
    path = fresh / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    refuses(fresh, ("select", fresh, "--width", 0.01), "no level of good")
    refuses(fresh, ("scale", fresh, "--worst", 5, "--best", 1), "does not rise")


def test_by_the_real_command_too(study, command):
    refused(command("select", study, "--k", 5), "'k'")


def test_models_that_order_all_items_alike(fresh, tmp_path):
    lines = done("status", fresh, "--json")
    first = json.loads(lines)["models"][0]["model"]
    alike = pa.table(Study(fresh).predictions(first))["score"].to_numpy() ** 3  # another scale, the same order
    path = scores_file(tmp_path / "cubed.parquet", alike)
    done("predict", fresh, f"cubed=file:{path}")
    refuses(fresh, ("select", fresh), first, "cubed", "rank all items in the same order", "[models.cubed]")


def test_a_quality_model_knows_which_way_is_better(fresh):
    refuses(fresh, ("predict", fresh, "s=quality:ssim", "--lower", "s"), "higher scores of ssim are better")


def test_an_item_is_not_compared_with_itself(study, tmp_path):
    path = write_csv(
        tmp_path / "self.csv", ("first", "second", "annotator", "answer"), [(ITEMS[0], ITEMS[0], "ann", 5)]
    )
    refuses(study, ("judgements", "import", study, path), "give two different ones")


def test_ratings_of_another_scale_are_wondered_about(fresh, tmp_path):
    rows = [(item, 1 + QUALITY[item] / 25) for item in ITEMS]
    path = write_csv(tmp_path / "five.csv", ("item", "rating"), rows)
    settings = fresh / "study.toml"
    settings.write_text(settings.read_text().replace("worst = ", "# worst = ").replace("best = ", "# best = "))
    assert "do --worst and --best match" in done("scale", fresh, path, "--worst", "0", "--best", "100")
