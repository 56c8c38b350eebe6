"""What changes while people work: links, imports, rounds, reserves, leases, pauses, restarts. On the real service."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from served import (
    CLASSES,
    Client,
    Served,
    ServedProcess,
    answer_to,
    eventually,
    make_study_without_pictures,
    predictions,
)

from dissensus.records import Response
from dissensus.store.answers import AnswerLog
from dissensus.study import Study
from dissensus.web.group_commit import GroupCommit

Command = Callable[..., Any]


def settings(folder: Path, section: str, **values: Any) -> None:
    Study(folder).change(section, values)


@pytest.fixture
def plain(study_folder: Path) -> Path:
    """The small study without repeats: every question is asked for the study."""
    settings(study_folder, "serve", control_rate=0.0, repeat_rate=0.0)
    return study_folder


@pytest.fixture
def service(plain: Path, serve: Callable[..., Served]) -> Served:
    """It, served."""
    return serve(plain)


def stored(folder: Path) -> list[Response]:
    """All answers, in the order in which they came."""
    return [response for _, response in AnswerLog(Study(folder)._database).all()]


def answer_all(client: Client, answer: str = "yes") -> int:
    """Answer until there is nothing left; how many."""
    count = 0
    while client.answer_next(answer) is not None:
        count += 1
    return count


def summary(service: Served) -> dict[str, Any]:
    return dict(service.owner.get("/api/owner/summary").json)


def test_links_made_by_the_command_line_hold_at_once_and_revoked_ones_end_soon(
    service: Served, command: Command
) -> None:
    added = command("annotators", "add", service.folder, "zoe", "--json")
    zoe = Client(service.address, json.loads(added.stdout)["links"]["zoe"].partition("#")[2])
    assert zoe.answer_next() is not None
    ticket = zoe.next()[0]["ticket"]
    command("annotators", "revoke", service.folder, "zoe")
    eventually(lambda: zoe.get("/api/me").status == 401)
    assert zoe.post("/api/answers", {"answers": [answer_to(ticket)]}).status == 401
    again = command("annotators", "add", service.folder, "zoe", "--json")
    zoe = Client(service.address, json.loads(again.stdout)["links"]["zoe"].partition("#")[2])
    assert zoe.next()[0]["ticket"] != ticket  # others may have been given it meanwhile
    zoe.answer(ticket)  # what waited in the browser is taken all the same
    assert zoe.get("/api/me").json["answered"] == 2


def test_imported_answers_are_not_asked_for_again(service: Served, command: Command, tmp_path: Path) -> None:
    ada = service.add("ada")
    questions = Study(service.folder).asked()
    assert ada.get("/api/me").json["left"] == len(questions)
    rows = [{"item": item, "label": label, "annotator": "ada", "answer": "no"} for item, label in questions[:-5]]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert command("judgements", "import", service.folder, tmp_path / "answers.jsonl").returncode == 0
    eventually(lambda: ada.get("/api/next?ahead=1").json["left"] == 5)
    assert answer_all(ada) == 5
    eventually(lambda: summary(service)["left"] == 0)


def test_a_joined_model_brings_its_questions(service: Served, command: Command, tmp_path: Path) -> None:
    ada = service.add("ada")
    before = answer_all(ada)
    assert ada.get("/api/next?ahead=4").json == {"questions": [], "answered": before, "left": 0, "paused": False}
    joined = command("join", service.folder, predictions(tmp_path, "delta", Study(service.folder).items()))
    assert joined.returncode == 0, joined.stderr
    eventually(ada.next)
    assert answer_all(ada) > 0
    asked = [(response.question.text, response.annotator) for response in stored(service.folder)]
    assert len(set(asked)) == len(asked)
    assert {response.question.text for response in stored(service.folder)} == {
        json.dumps({"item": item, "label": label}, separators=(",", ":"))
        for item, label in Study(service.folder).asked()
    }


def test_reserves_take_the_place_of_unfit_items_while_people_work(service: Served) -> None:
    selected = {row["item"] for row in Study(service.folder).selection() if not row["reserve"]}
    ada = service.add("ada")
    for _ in range(4):
        ada.answer_next("unfit")
    eventually(lambda: answer_all(ada) == 0 and not Study(service.folder).questions())
    given = [(one.question.body["item"], one.answer) for one in stored(service.folder)]
    unfit = {item for item, answer in given if answer == "unfit"}
    assert len(unfit) > 1
    assert {item for item, _ in given} - selected


def test_what_is_held_too_long_goes_to_somebody_else(plain: Path, serve: Callable[..., Served]) -> None:
    study_folder = plain
    settings(study_folder, "serve", lease_minutes=0.1)  # long enough for one person's answers on a busy machine
    questions = len(Study(study_folder).asked())
    service = serve(study_folder)
    ada, ben = service.add("ada"), service.add("ben")
    held = [one["ticket"] for one in ada.next(4)]
    assert answer_all(ben) == questions - 4
    eventually(lambda: answer_all(ben))
    eventually(lambda: answer_all(ben) == 0 and len(stored(study_folder)) == questions)
    assert ada.next(4) == []
    late = ada.answer(held[0], "no")  # she may still have it on her screen
    assert late["answered"] == 1
    counts = Counter(one.question.text for one in stored(study_folder))
    assert sorted(counts.values()) == [1] * (questions - 1) + [2]


def test_r_answers_of_r_different_people_and_nothing_twice(plain: Path, serve: Callable[..., Served]) -> None:
    service = serve(plain, "--answers", "3")
    people = [service.add(name) for name in ("ada", "ben", "cem", "dia")]
    while sum(client.answer_next() is not None for client in people):
        pass
    who = defaultdict(list)
    for one in stored(plain):
        who[one.question.text].append(one.annotator)
    assert len(who) == len(Study(plain).asked())
    assert all(len(names) == len(set(names)) == 3 for names in who.values())


def test_controls_and_repeats_come_at_their_rates_in_random_places(
    tmp_path: Path, serve: Callable[..., Served], command: Command
) -> None:
    study = make_study_without_pictures(tmp_path / "new", 1500, k=120, reserves=10, cap=120)
    folder = study.folder.root
    settings(folder, "serve", control_rate=0.1, repeat_rate=0.15)
    spare = sorted({*study.items()} - {row["item"] for row in study.selection()})[:80]
    rows = [{"kind": "contains", "item": item, "label": CLASSES[0], "expected": "no"} for item in spare]
    (tmp_path / "controls.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert command("ask", folder, tmp_path / "controls.jsonl", "--as", "control").returncode == 0
    service = serve(folder)
    answer_all(service.add("ada"))
    given = [(one.role, one.question.text) for one in stored(folder)]
    number = Counter(role for role, _ in given)
    for role, rate in (("control", 0.1), ("repeat", 0.15)):
        spread = math.sqrt(number["asked"] / 2 * rate * (1 - rate))  # of pictures with two or three questions each
        assert abs(number[role] - rate * number["asked"]) < 5 * 2 * spread, number
        places = [place for place, (what, _) in enumerate(given) if what == role]
        gaps = [later - earlier for earlier, later in pairwise(places)]
        assert len(set(gaps)) > 5, gaps
    asked = {text: place for place, (role, text) in enumerate(given) if role == "asked"}
    repeats = {text: place for place, (role, text) in enumerate(given) if role == "repeat"}
    assert len(asked) == number["asked"]
    assert len(repeats) == number["repeat"]
    assert all(place - asked[text] > 10 for text, place in repeats.items())
    assert not asked.keys() & {text for role, text in given if role == "control"}
    counts: dict[str, set[int]] = defaultdict(set)
    for (role, _), run in groupby(given, key=lambda one: (one[0], json.loads(one[1])["item"])):
        counts[role].add(len([*run]))
    assert counts["control"] <= counts["asked"], "a control's picture has as many questions as any other"
    assert min(counts["asked"]) == 2
    known = sum(json.loads(text)["label"] == 0 for role, text in given if role == "control")
    assert 0 < known < number["control"], "the others make up the number, and count neither as right nor as wrong"
    shown = summary(service)["annotators"][0]
    assert shown["controls"] == {"right": 0, "of": known}
    assert shown["repeats"] == {"same": number["repeat"], "of": number["repeat"]}


def test_a_paused_service_asks_nothing_and_takes_answers(service: Served) -> None:
    ada, owner = service.add("ada"), service.owner
    held = ada.next(3)
    assert owner.post("/api/owner/pause", {"paused": True}).status == 204
    paused = ada.get("/api/next?ahead=3").json
    assert paused["questions"] == []
    assert paused["paused"]
    assert ada.answer(held[0]["ticket"])["answered"] == 1
    assert owner.post("/api/owner/pause", {"paused": False}).status == 204
    assert ada.next(2) == held[1:]


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_after_a_restart_everybody_goes_on_where_they_were(
    how: str, study_folder: Path, serve: Callable[..., Served], serve_process: Callable[..., ServedProcess]
) -> None:
    service = serve(study_folder) if how == "stopped" else serve_process(study_folder)
    ada = service.add("ada")
    for _ in range(5):
        ada.answer_next()
    held = ada.next(3)
    me = ada.get("/api/me").json
    service.kill() if isinstance(service, ServedProcess) else service.stop()
    service = serve(study_folder)
    again = Client(service.address, ada.token)
    assert again.next(3) == held
    assert again.get("/api/me").json == me
    undone = again.answer(held[0]["ticket"], "yes") and again.answer(held[0]["ticket"], "no")
    assert undone["answered"] == 6
    answer_all(again)
    last = {one.question.text: one.answer for one in stored(study_folder)}
    assert len(last) == len(Study(study_folder).asked())


def test_what_was_put_to_somebody_twice_is_asked_once_after_a_restart(
    plain: Path, serve: Callable[..., Served], command: Command
) -> None:
    service = serve(plain)
    service.add("ada").next(3)
    command("annotators", "revoke", plain, "ada")
    added = command("annotators", "add", plain, "ada", "--json")
    ada = Client(service.address, json.loads(added.stdout)["links"]["ada"].partition("#")[2])
    held = ada.next(3)  # a new link: the same questions, put anew
    service.stop()
    service = serve(plain)
    ada = Client(service.address, ada.token)
    assert ada.next(3) == held
    assert answer_all(ada) == len(Study(plain).asked())


def test_excluded_people_hold_nothing_and_are_asked_nothing(service: Served, command: Command) -> None:
    carl, dana = service.add("carl"), service.add("dana")
    kept = carl.next(10)
    reason = {"is_excluded": True, "reason": "asleep"}
    assert service.owner.post("/api/owner/annotators/carl/exclusion", reason).status == 204
    assert carl.next(10) == []
    carl.answer(kept[0]["ticket"])  # stored, and counts for nothing
    assert answer_all(dana) == len(Study(service.folder).asked())
    eventually(lambda: summary(service)["left"] == 0)
    assert service.owner.post("/api/owner/annotators/carl/exclusion", reason | {"is_excluded": False}).status == 204


def test_what_somebody_cannot_answer_goes_to_others(service: Served) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    skipped = [question["ticket"] for question in ada.next(10)]
    assert ben.post("/api/skip", {"ticket": skipped[0]}).status == 204  # not theirs: nothing happens
    assert [question["ticket"] for question in ada.next(10)] == skipped
    for ticket in skipped:
        assert ada.post("/api/skip", {"ticket": ticket}).status == 204
    assert not {question["ticket"] for question in ada.next(10)} & set(skipped)
    assert answer_all(ada) + answer_all(ben) == len(Study(service.folder).asked())
    assert any("skipped 10 questions" in words for words in summary(service)["words"])


def test_others_hold_what_is_left(service: Served) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    held = ada.next(5)
    answer_all(ben)
    reply = ben.get("/api/next?ahead=1").json
    assert (reply["questions"], reply["left"]) == ([], len(held))


def test_the_last_word_is_the_last_to_arrive_for_the_service_as_for_the_ranking(
    service: Served, command: Command, tmp_path: Path
) -> None:
    asked = Study(service.folder).asked()
    for name, answer, time in [
        ("later", "yes", "2030-01-01T00:00:00+00:00"),
        ("sooner", "unfit", "2020-01-01T00:00:00"),
    ]:
        rows = [{"item": i, "label": n, "annotator": "ann", "answer": answer, "time": time} for i, n in asked[:4]]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        assert command("judgements", "import", service.folder, tmp_path / f"{name}.jsonl").returncode == 0
    wanted = len(Study(service.folder).questions())
    assert wanted > len(asked) - 4, "reserves take the place of what is unfit"
    eventually(lambda: summary(service)["left"] == wanted)


def test_a_changed_mind_counts_even_if_the_clock_went_back(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = service.add("ada")
    question = ada.next()[0]
    ada.answer(question["ticket"], "yes")
    monkeypatch.setattr("dissensus.web.desk._now", lambda: "2020-01-01T00:00:00.000+00:00")
    ada.answer(question["ticket"], "no")
    assert [one.answer for one in stored(service.folder)] == ["yes", "no"]
    study = Study(service.folder)
    assert [json.loads(row[3]) for row in study.evaluation().answers.rows] == ["no"]
    service.stop()
    monkeypatch.undo()
    assert [json.loads(row[3]) for row in Study(service.folder).evaluation().answers.rows] == ["no"]


@pytest.mark.parametrize("pause", [0, 2])
def test_what_an_import_stored_before_an_answer_does_not_undo_it(
    service: Served, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """The service sees the import at its next look: when it has the answer already, or before its request went on."""
    store = GroupCommit.store

    async def stored_some_time_ago(log: GroupCommit, *what: Any) -> set[str]:
        refused = await store(log, *what)
        await asyncio.sleep(pause)
        return refused

    monkeypatch.setattr(GroupCommit, "store", stored_some_time_ago)
    ada = service.add("ada")
    ticket = ada.next()[0]["ticket"]
    study = Study(service.folder)
    asked = AnswerLog(study._database).assignment(ticket)
    fields = {"question": asked.question, "annotator": "ada", "time": "2026-01-01T00:00:00+00:00"}
    AnswerLog(study._database).append([Response(id="elsewhere", answer="unfit", **fields)])
    ada.answer(ticket, "yes")
    left = len(Study(service.folder).questions())
    eventually(lambda: summary(service)["annotators"][0]["answers"] == 1 and summary(service)["left"] == left)
    AnswerLog(study._database).append([Response(id="elsewhere again", answer="unfit", **fields)])
    now_left = Study(service.folder).questions()
    item = asked.question.body["item"]
    assert all(one.item != item for one in now_left)  # a reserve takes its place
    eventually(lambda: summary(service)["left"] == len(now_left))


def test_a_corrected_control_is_seen_without_a_restart(service: Served, command: Command, tmp_path: Path) -> None:
    asked = set(Study(service.folder).asked())
    free = next((item, label) for item, _ in asked for label in range(10) if (item, label) not in asked)
    training = tmp_path / "training.csv"
    for expected in ("yes", "no"):
        training.write_text(f"item,label,expected,note\n{free[0]},{free[1]},{expected},look\n")
        assert command("ask", service.folder, training, "--as", "training").returncode == 0
        ada = service.add(f"ada-{expected}")
        eventually(lambda ada=ada: ada.get("/api/me").json["training"]["total"] == 1)
        question = ada.next()[0]
        assert question["training"]

        def told(ada=ada, question=question):
            return ada.answer(question["ticket"], "yes")["feedback"][question["ticket"]]["right"]

        eventually(lambda told=told, expected=expected: told() == (expected == "yes"))


def test_stopping_is_no_error(plain: Path, serve_process: Callable[..., ServedProcess]) -> None:
    service = serve_process(plain)
    service.process.send_signal(2)
    assert service.process.wait(60) == 0
    eventually(lambda: any("stopped; every acknowledged answer" in line for line in service.printed))
