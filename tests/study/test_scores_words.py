"""What a study of scores says of itself holds: pairs that count for nothing, few people, other levels, choices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scores_made import begun, done, refused, run, waiting, write_csv

from dissensus import Study
from dissensus.competition.judged import RoundQuestions
from dissensus.competition.task import States
from dissensus.inquiry import NumericAnswers
from dissensus.records import JUDGED, OPEN, SCREENED_OUT, UNFIT
from dissensus.screening import WeightedAnswers
from dissensus.tasks.scores.comparing import preferred

HEADER = ("kind", "first", "second", "annotator", "answer")


@pytest.fixture
def study(tmp_path):
    made = begun(tmp_path)
    done("select", made, "--levels", "3")
    return made


def say(study, kind, answer, *people):
    """Everybody says the same of every open pair."""
    rows = [(kind, pair["first"], pair["second"], person, answer) for pair in waiting(study) for person in people]
    done("judgements", "import", study, write_csv(study.parent / "said.csv", HEADER, rows))


def test_a_pair_of_which_no_answer_counts_is_neither_open_nor_judged():
    question, value = np.array([0, 1, 1]), np.array([50.0, -20.0, 40.0])
    compared = NumericAnswers(question, np.array([0, 0, 1]), value, ("a", "b"))
    states = States(np.array([JUDGED, JUDGED, UNFIT, OPEN]))
    rows = RoundQuestions(selection=None, questions=np.arange(4)[:, None], subject=np.arange(4), k=1)
    found = preferred([rows], states, compared, WeightedAnswers(value, np.array([0.0, 0.0, 1.0])))
    assert found.state.tolist() == [SCREENED_OUT, JUDGED, UNFIT, OPEN]
    assert found.pairs.is_known.tolist() == [False, True, False, False]
    assert found.pairs.value[1] == pytest.approx(0.4)


def test_no_difference_and_one_person_are_said(study):
    say(study, "slider", 0, "ann")
    words = " ".join(json.loads((ranked(study) / "ranking.json").read_text())["aggressiveness"]["words"])
    assert "Annotators saw no difference in any pair" in words
    assert "Only one person answered" in words


def test_pairs_of_rounds_with_other_levels_keep_their_own(study):
    say(study, "slider", 30, "ann", "ben")
    done("select", study, "--again", "--levels", "2")
    say(study, "slider", 30, "ann", "ben")
    done("report", study)
    page = (study / "results" / "report.html").read_text()
    assert "differ between rounds" in page


def test_choices_are_not_screened_and_that_is_recorded(study):
    Study(study).change("judge", {"question": "choice"})
    say(study, "choice", "first", "ann")
    parameters = json.loads((ranked(study) / "ranking.json").read_text())["resistance"]["provenance"]["parameters"]
    assert parameters["screening"] == "mean"
    refused(run("screen", study), "asks for choices")


def ranked(study):
    done("rank", study)
    return study / "results"
