"""The game over HTTP: what a picture's address gives to whom, what is told when, and what never reaches a browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from blinded import Listener
from PIL import Image
from playing import ServedGame, let_machines_find, noise_game, play_of
from served import Client, Served, answer_to

from dissensus.errors import StudyError
from dissensus.laconic.found import FoundMepi
from dissensus.laconic.gallery import mepi_key
from dissensus.laconic.people import player_mepis
from dissensus.study import Study

MODEL = "zzmodel"
FOUND = [FoundMepi(MODEL, "colour", "secret-000.png", (200,)), FoundMepi("zzother", "colour", "secret-000.png", (200,))]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    made = noise_game(tmp_path, 12)
    more = [FoundMepi("zzother", reduction, item, levels) for item, reduction, levels in machine_pictures(made)]
    let_machines_find(monkeypatch, [*FOUND, *more])
    return made


def machine_pictures(study: Study) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(item, "resolution", (30,)) for item in sorted(study.items())]


@pytest.fixture
def game(study: Study) -> Iterator[ServedGame]:
    with ServedGame(study.folder.root, "--answers", "5") as served:
        yield served


def ask(person: Client, kind: str) -> dict[str, Any]:
    """The next question of a kind that waits for a person."""
    for _ in range(40):
        for question in person.next(10):
            if question["kind"] == kind:
                return question
        person.answer(person.next()[0]["ticket"], nothing(person.next()[0]))
    raise AssertionError(f"no {kind} question")


def nothing(question: dict[str, Any]) -> Any:
    """Give up at once."""
    if question["kind"] == "pick":
        return None
    return {"name": None, "steps": [[0, [0] * len(question["payload"]["axes"])]]}


def pixels_of(data: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(data)))


def test_a_picture_is_shown_to_its_player_in_every_state(study: Study, game: ServedGame) -> None:
    ada = game.add("ada")
    question = ask(ada, "reveal")
    assert question["told"] is True
    axes = question["payload"]["axes"]
    start = f"/reveal/{question['ticket']}/{'-'.join('0' for _ in axes)}"
    assert question["images"] == [start]
    full = "-".join("20" for _ in axes)
    for state in ("-".join("0" for _ in axes), full):
        reply = ada.get(f"/reveal/{question['ticket']}/{state}")
        assert reply.status == 200
        assert reply.headers["content-type"] == "image/png"
        assert "immutable" in reply.headers["cache-control"]
    whole = pixels_of(ada.get(f"/reveal/{question['ticket']}/{full}").body)
    assert any(np.array_equal(whole, play_of(study).gallery.original(item)) for item in study.items())


def test_bad_states_and_foreign_tickets_get_nothing(game: ServedGame) -> None:
    ada, ben = game.add("ada"), game.add("ben")
    question = ask(ada, "reveal")
    ticket, axes = question["ticket"], len(question["payload"]["axes"])
    state = "-".join("1" for _ in range(axes))
    assert ada.get(f"/reveal/{ticket}/{state}").status == 200
    assert ben.get(f"/reveal/{ticket}/{state}").status == 404
    assert Client(game.address).get(f"/reveal/{ticket}/{state}").status == 401
    assert ada.get(f"/reveal/unknown/{state}").status == 404
    for broken in ("21", "99", f"{state}-1", "1-" * 15 + "1"):
        assert ada.get(f"/reveal/{ticket}/{broken}").status == 404, broken
    for broken in ("100", "x", "-1", "1-", "1--1", "1.5", "..%2f", "Whole", "٣", "1" * 70):
        reply = ada.get(f"/reveal/{ticket}/{quote(broken, safe='.%')}")
        assert reply.status in (404, 422), broken
        assert list(reply.json) == ["reason"]
    assert ada.get(f"/image/{ticket}/0").status == 404, "the picture itself has no address"
    pick = ask(ada, "pick")
    assert ada.get(f"/reveal/{pick['ticket']}/1").status == 404


def test_the_whole_picture_and_what_is_right_come_after_the_answer(study: Study, game: ServedGame) -> None:
    for kind in ("reveal", "pick"):
        person = game.add(kind)
        question = ask(person, kind)
        ticket = question["ticket"]
        assert person.get(f"/reveal/{ticket}/whole").status == 404
        told = person.answer(ticket, nothing(question))["feedback"][ticket]
        assert told["right"] is False
        assert told["expected"] in ("ant", "bee", "cat")
        assert 0 < told["share"] < 1
        assert told["has_whole"]
        assert "zz" not in str(told)
        whole = pixels_of(person.get(f"/reveal/{ticket}/whole").body)
        (item,) = [one for one in study.items() if np.array_equal(whole, play_of(study).gallery.original(one))]
        truth = play_of(study).truth
        assert truth.names[truth.ids.index(item)] == told["expected"]
        assert game.add(f"not {kind}").get(f"/reveal/{ticket}/whole").status == 404


def test_nobody_can_change_an_answer_after_learning_what_is_right(game: ServedGame) -> None:
    ada = game.add("ada")
    question = ask(ada, "reveal")
    first = answer_to(question["ticket"], nothing(question))
    told = ada.post("/api/answers", {"answers": [first]}).json
    better = nothing(question) | {"name": told["feedback"][question["ticket"]]["answer"]}
    reply = ada.post("/api/answers", {"answers": [answer_to(question["ticket"], better)]}).json
    assert reply["stored"] == []
    assert "first answer counts" in reply["refused"][0]["reason"]
    again = ada.post("/api/answers", {"answers": [first]}).json
    assert again["stored"] == [first["id"]], "the same answer sent twice is acknowledged twice"
    assert again["feedback"] == told["feedback"]


def test_a_history_that_cannot_be_is_refused(game: ServedGame) -> None:
    ada = game.add("ada")
    question = ask(ada, "reveal")
    jumped = {"name": 0, "steps": [[0, [0] * len(question["payload"]["axes"])], [1, [7, 8, 9, 1, 2, 3]]]}
    reply = ada.post("/api/answers", {"answers": [answer_to(question["ticket"], jumped)]}).json
    assert reply["stored"] == []
    assert len(reply["refused"]) == 1


def test_no_item_and_no_model_reaches_the_browser(study: Study, game: ServedGame) -> None:
    person = Listener(game.address, str(game.add("ada").token))
    kinds = set()
    while questions := person.next():
        (question,) = questions
        kinds.add(question["kind"])
        for image in question["images"]:
            assert person.get(image).status == 200
        person.answer(question["ticket"], nothing(question))
        person.get(f"/reveal/{question['ticket']}/whole")
    assert kinds == {"reveal", "pick"}
    for path, reply in person.heard:
        for word in (b"secret", b"zzmodel", b"zzother"):
            forms = (word, word.hex().encode(), base64.b64encode(word)[:-2])
            assert not any(form in path.encode() + reply.body for form in forms), path


def test_pictures_that_break_do_not_tell_their_names(study: Study, game: ServedGame) -> None:
    person = game.add("ada")
    question = ask(person, "reveal")
    for path in (study.folder.root.parent / "pool").iterdir():
        path.write_bytes(b"not an image")
    for state in ("0", "whole"):
        reply = person.get(f"/reveal/{question['ticket']}/{'-'.join(state for _ in question['payload']['axes'])}")
        assert reply.status in (404, 422)
        assert b"secret" not in reply.body
    assert person.answer(question["ticket"], nothing(question))["feedback"] == {}
    reply = person.get(f"/reveal/{question['ticket']}/whole")
    assert (reply.status, reply.json) == (404, {"reason": "this picture cannot be shown"})


def test_machines_that_found_the_same_picture_are_asked_about_once(study: Study) -> None:
    play = play_of(study, FOUND)
    (question,) = [one for one in play.rounds if one.mode == "read"]
    assert question.models == (MODEL, "zzother")
    path = play.uris()[mepi_key("secret-000.png", "colour", (200,))]
    expected = play.gallery.reduced("secret-000.png", "colour", (200,))
    assert np.array_equal(np.asarray(Image.open(str(path))), expected)


def test_all_reductions_and_modes_take_turns_however_many_machines_there_are(study: Study) -> None:
    found = [FoundMepi(f"zz{n}", "resolution", item, (30 + n,)) for n in range(9) for item in study.items()]
    play = play_of(study, found)
    manners = [(one.reduction, one.mode) for one in play.rounds]
    first = play.needed(play.answers()).urgent[: len(set(manners))]
    assert {manners[question] for question in first} == set(manners)


def test_without_machines_there_are_only_reveals(study: Study) -> None:
    play = play_of(study)
    assert [len(group) for group in play.questions()] == [12 * 4 * 2, 0]
    assert play.is_current()


def test_a_competition_has_no_pictures_to_uncover(service: Served) -> None:
    ada = service.add("ada")
    (question,) = ada.next()
    assert question["told"] is False
    assert ada.get(f"/reveal/{question['ticket']}/1").status == 404
    assert ada.get(f"/reveal/{question['ticket']}/whole").status == 404
    assert ada.answer(question["ticket"])["feedback"] == {}


def test_the_dashboard_works_without_duels(game: ServedGame) -> None:
    summary = game.owner.get("/api/owner/summary").json
    assert summary["duels"] == []
    assert {one["kind"] for one in summary["kinds"]} == {"reveal", "pick"}


def test_a_study_without_classes_of_its_images_says_what_to_do(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["ant", "bee"])
    study.pool(items=["a", "b"])
    with pytest.raises(StudyError, match="give the class of every image"):
        study.laconic_serve(lambda *_: None)


def test_an_export_can_be_imported_again(study: Study, tmp_path: Path) -> None:
    with ServedGame(study.folder.root, "--answers", "5") as game:
        ada = game.add("ada")
        for _ in range(6):
            (question,) = ada.next()
            ada.answer(question["ticket"], nothing(question) if question["kind"] == "reveal" else 1)
    for name in ("answers.jsonl", "answers.csv", "answers.parquet"):
        assert study.judgements_export(tmp_path / name) == 6
        assert study.judgements_import(tmp_path / name) == 0, name


@pytest.mark.parametrize("changed", [{"spacing": "even"}, {"side": 24}, {"crop": 0.5}])
def test_steps_count_only_on_the_scale_they_were_taken_on(study: Study, changed: dict[str, Any]) -> None:
    with ServedGame(study.folder.root, "--answers", "5") as game:
        ada = game.add("ada")
        ada.answer(ask(ada, "reveal")["ticket"], nothing(ask(ada, "reveal")))
    before = study.settings.laconic.model_dump()
    assert len(player_mepis(play_of(study), play_of(study).answers()).rounds) == 1
    study.change("laconic", changed)
    assert len(player_mepis(play_of(study), play_of(study).answers()).rounds) == 0
    study.change("laconic", {name: before[name] for name in changed})
    assert len(player_mepis(play_of(study), play_of(study).answers()).rounds) == 1
