"""Annotators, controls and screening of a study, through the command and through the class, on both databases."""

from __future__ import annotations

import csv
import json
import sqlite3

import pytest
from small import labels, one_line, selected

from dissensus.errors import StudyError
from dissensus.records import Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.study import Study

TIME = "2026-11-15T09:{:02}:{:02}+00:00"


@pytest.fixture
def study(digits, database_url):
    """Three models' duels, nothing answered, with its answers in one of the databases."""
    made = digits("knn", "lda", "tree")
    made.select(k=5, confidence=0.0)
    if not database_url.startswith("sqlite"):
        made.configure(database=database_url)
    return Study(made.folder.root)


def told(study, annotator, answer_of, role="asked", number=0):
    """Answers of one person to all open questions, as the service would store them."""
    questions = study.questions()
    AnswerLog(study._database).append(
        Response(
            id=f"{annotator}-{role}-{place}",
            question=Question(kind="contains", body={"item": q.item, "label": q.label}),
            annotator=annotator,
            answer=answer_of(place),
            role=role,
            seconds=1.0 + place,
            time=TIME.format(number, place % 60),
        )
        for place, q in enumerate(questions)
    )
    return questions


def test_links_are_made_listed_and_revoked(command, study):
    folder = study.folder.root
    made = command("annotators", "add", folder, "ann", "bob", "--trusted", "--url", "https://x.example", "--json")
    links = json.loads(made.stdout)["links"]
    assert list(links) == ["ann", "bob"]
    assert links["ann"].startswith("https://x.example/#")
    again = command("annotators", "add", folder, "ann")
    assert (again.returncode, again.stdout) == (2, "")
    assert "an annotator called 'ann' already exists" in again.stderr
    assert command("annotators", "revoke", folder, "bob").returncode == 0
    assert command("annotators", "revoke", folder, "cyd").returncode == 2
    people = {
        one["name"]: one for one in json.loads(command("annotators", "list", folder, "--json").stdout)["annotators"]
    }
    assert [people[name]["is_revoked"] for name in ("ann", "bob")] == [False, True]
    assert people["ann"]["is_trusted"]
    token = links["ann"].split("#")[1]
    assert study.people.with_token(token).name == "ann"
    assert study.people.with_token(links["bob"].split("#")[1]) is None


def test_only_the_hash_of_a_link_is_stored(command, digits):
    folder = digits("knn", "lda").folder.root
    token = json.loads(command("annotators", "add", folder, "ann", "--json").stdout)["links"]["ann"].split("#")[1]
    stored = b"".join(path.read_bytes() for path in folder.glob("judgements.sqlite*"))
    assert b"ann" in stored
    assert token.encode() not in stored


def test_excluded_people_do_not_count_and_can_be_taken_back(command, study):
    asked = told(study, "ann", lambda place: "yes" if place % 2 else "no")
    assert study.questions() == []
    folder = study.folder.root
    done = command("annotators", "exclude", folder, "ann", "--reason", "asleep")
    assert done.returncode == 0, done.stderr
    assert len(Study(folder).questions()) == len(asked)
    told(study, "bob", lambda place: "yes" if place % 2 else "no", number=1)
    report = Study(folder).report()
    assert "The answers of ann are excluded: asleep" in report.read_text()
    command("annotators", "include", folder, "ann")
    assert "are excluded" not in Study(folder).report().read_text()
    assert [one.is_excluded for one in study.people.exclusions()] == [True, False]


def test_a_changed_mind_counts_and_repeats_controls_and_training_do_not(study):
    told(study, "ann", lambda _: "yes")
    before = study.asked()
    told_again = [
        Response(**(r.model_dump() | {"id": f"x{r.id}", "role": role, "answer": "no"}))
        for role in ("control", "repeat", "training")
        for _, r in list(AnswerLog(study._database).all())[:3]
    ]
    AnswerLog(study._database).append(
        [Response(**(r.model_dump() | {"id": f"{r.id}-{n}"})) for n, r in enumerate(told_again)]
    )
    assert study.asked() == before
    hearing_says = {tuple(q): [j.answer for j in given] for q, given in _heard(study).items()}
    assert all(given == ["yes"] for given in hearing_says.values())
    first = next(r for _, r in AnswerLog(study._database).all())
    changed = Response(**(first.model_dump() | {"id": "changed", "answer": "no", "time": TIME.format(9, 0)}))
    AnswerLog(study._database).append([changed])
    assert sorted(given[0] for given in ([j.answer for j in g] for g in _heard(study).values())).count("no") == 1


def _heard(study):
    from dissensus.tasks.labels import judgements_of

    evaluation = study.evaluation()
    return {tuple(evaluation.keys[number].tolist()): given for number, given in judgements_of(evaluation).items()}


def test_questions_of_ones_own_are_checked(command, study, tmp_path):
    item = study.items()[0]
    good = tmp_path / "good.jsonl"
    rows = [
        {"kind": "choice", "first": item, "second": study.items()[1], "ask": "Which is neater?", "same": True},
        {"kind": "pick", "item": item, "options": ["3", "5"]},
        {"item": item, "label": "3"},
    ]
    good.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert command("ask", study.folder.root, good).stdout == "3 new questions (asked)\n"
    assert command("ask", study.folder.root, good).stdout.startswith("0 new questions (asked); 3 existing ones updated")
    bad = tmp_path / "bad.csv"
    for content, complaint in [
        (f"item,label,expected\n{item},3,\n", "row 2: a control question needs its correct answer in 'expected'"),
        ("item,label,expected\nnowhere.png,3,yes\n", "item 'nowhere.png' is not in the pool"),
        (f"item,label,expected\n{item},3,perhaps\n", "row 2: invalid answer 'perhaps': it must be one of yes"),
        (f"item,lable,expected\n{item},3,yes\n", "the question has an unknown field 'lable'"),
        (f"kind,item,expected\nriddle,{item},yes\n", "there is no kind 'riddle'"),
        ("item,label,expected\n", "has no questions"),
        (f"item,label,expected\n{item},3,yes,no\n", "more cells than the header"),
    ]:
        bad.write_text(content)
        refused = command("ask", study.folder.root, bad, "--as", "control")
        assert refused.returncode == 2
        assert complaint in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert len(study.overview()["kinds"]) == 3


def test_the_studys_own_questions_are_no_controls(command, study, tmp_path):
    question = study.questions()[0]
    (tmp_path / "controls.csv").write_text(f"item,label,expected\n{question.item},{question.name},yes\n")
    refused = command("ask", study.folder.root, tmp_path / "controls.csv", "--as", "control")
    assert refused.returncode == 2
    assert "the study itself asks this" in refused.stderr


def test_if_a_name_is_taken_nobody_gets_a_link(command, study):
    study.people.add("ann")
    done = command("annotators", "add", study.folder.root, "new", "ann")
    assert done.returncode == 2
    assert done.stdout == ""
    assert [person.name for person in study.people.all()] == ["ann"]


def test_nobody_is_excluded_by_a_mistyped_name(command, study):
    study.people.add("ann")
    refused = command("annotators", "exclude", study.folder.root, "anne", "--reason", "asleep")
    assert refused.returncode == 2
    assert "nobody is called 'anne'" in refused.stderr
    assert study.people.exclusions() == []


def test_screening_suggests_and_excludes_by_controls(command, study, tmp_path):
    controls = tmp_path / "controls.csv"
    items = study.items()[:8]
    with open(controls, "w", newline="") as file:
        csv.writer(file).writerows([["item", "label", "expected"], *([item, "3", "yes"] for item in items)])
    assert command("ask", study.folder.root, controls, "--as", "control").returncode == 0
    for name, right in [("ann", 8), ("bob", 7), ("cyd", 2)]:
        if name != "cyd":
            study.people.add(name, is_trusted=True)
        AnswerLog(study._database).append(
            Response(
                id=f"{name}-{place}",
                question=Question(kind="contains", body={"item": item, "label": 3}),
                annotator=name,
                answer="yes" if place < right else "no",
                role="control",
                time=TIME.format(0, place),
            )
            for place, item in enumerate(items)
        )
    seen = json.loads(command("screen", study.folder.root, "--json").stdout)
    assert list(seen["suggested"]) == ["cyd"]
    assert "2 of 8 control questions correct (25 %)" in seen["suggested"]["cyd"]
    done = command("screen", study.folder.root, "--exclude")
    assert "cyd is excluded: 2 of 8 control questions correct" in done.stdout
    assert [*study.people.excluded()] == ["cyd"]


def test_a_password_is_kept_out_of_the_settings(digits):
    study = digits("knn", "lda")
    with pytest.raises(StudyError, match="DISSENSUS_DATABASE"):
        study.configure(database="postgresql://ann:secret@host/birds")
    assert "secret" not in study.folder.settings.read_text()


def test_answers_are_not_left_behind_in_the_file(digits, postgres):
    study = digits("knn", "lda", "tree")
    study.select(k=5, confidence=0.0)
    told(study, "ann", lambda _: "yes")
    study.configure(database=postgres.new_database())
    with pytest.raises(StudyError, match="export them from the old database"):
        Study(study.folder.root).overview()


def test_settings_that_make_no_sense_change_nothing(command, study):
    before = study.folder.settings.read_text()
    refused = command("serve", study.folder.root, "--answers", 0)
    assert refused.returncode == 2
    assert "min_answers" in refused.stderr
    assert study.folder.settings.read_text() == before


def test_a_study_is_served_once(digits, command):
    study = digits("knn", "lda")
    from dissensus.store.lock import Lock

    with Lock(study.folder.serving):
        refused = command("serve", study.folder.root, "--port", 0)
    assert refused.returncode == 2
    assert "already being served" in refused.stderr


def test_an_unknown_way_to_a_verdict_is_an_error_in_words(command, study):
    text = study.folder.settings.read_text()
    study.folder.settings.write_text(text.replace('method = "majority"', 'method = "oracle"'))
    refused = command("rank", study.folder.root)
    assert refused.returncode == 2
    assert "judge.method is 'oracle' in study.toml: choose one of majority, dawid-skene" in refused.stderr


def test_verdicts_by_dawid_skene_rank_like_those_by_majority_where_all_agree(study):
    for name in ("ann", "bob", "cyd"):
        told(study, name, lambda place: "yes" if place % 3 else "no") if name == "ann" else None
    by_majority = study.rank()
    text = study.folder.settings.read_text()
    study.folder.settings.write_text(text.replace('method = "majority"', 'method = "dawid-skene"'))
    by_skill = study.rank()
    assert [s.model for s in by_skill.standings] == [s.model for s in by_majority.standings]
    assert by_skill.fragility is None


def test_the_answers_table_refuses_changes(digits):
    study = digits("knn", "lda", "tree")
    study.select(k=5, confidence=0.0)
    told(study, "ann", lambda _: "yes")
    with sqlite3.connect(study.folder.judgements) as connection:
        for change in ("UPDATE answers SET answer = '\"no\"'", "DELETE FROM answers"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                connection.execute(change)
    assert AnswerLog(Database(f"sqlite:///{study.folder.judgements}")).counts()[1] == 1


def test_a_service_that_does_not_start_leaves_the_settings_to_other_commands(tmp_path, command, monkeypatch):
    """Another command changes study.toml while the service is starting; what `serve` was given is not saved."""
    study = selected(tmp_path / "study")

    def start(self, *_):
        Study(study.folder.root).predict(three=labels(2))
        raise StudyError("the pictures are gone")

    monkeypatch.setattr(Study, "_backing", start)
    line = one_line(command("serve", study.folder.root, "--answers", 2, "--port", 0))
    assert "the pictures are gone" in line
    assert list(study.settings.models) == ["one", "two", "three"]
    assert study.settings.judge.min_answers == 1


def test_what_serve_is_given_counts_at_once_and_is_saved_when_it_is_ready(tmp_path, monkeypatch):
    study, seen = selected(tmp_path / "study"), []

    def run(make, host, port, ready):
        service = make()
        seen.append((service.desk.backing.terms.answers, study.settings.judge.min_answers, host, port))
        ready("http://here", service)

    monkeypatch.setattr("dissensus.web.running.run", run)
    study.serve(lambda *_: seen.append(study.settings.judge.min_answers), "127.0.0.2", 0, answers=2)
    assert seen == [(2, 1, "127.0.0.2", 0), 2]
    assert (study.settings.serve.host, study.settings.serve.port) == ("127.0.0.2", 8765)
