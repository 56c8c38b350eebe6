"""A population that plays through the service: its thresholds come back exactly, and nobody gets an image twice."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_readers import made
from playing import ServedGame, let_machines_find, noise_game, play_of
from served import Client

from dissensus.laconic.found import FoundMepi
from dissensus.laconic.people import control_of, manners, pace_of, player_mepis, player_readings
from dissensus.reductions.pictures import REDUCTIONS
from dissensus.study import Study

STEPS = 20


class Player:
    """Somebody who recognises an image once enough of it is shown along every axis, and never before."""

    def __init__(self, study: Study, client: Client, name: str) -> None:
        self.client, self.name = client, name
        play = play_of(study)
        self.label = dict(zip(play.truth.ids, play.truth.group.tolist(), strict=True))

    @staticmethod
    def threshold(item: str, axes: list[str]) -> list[int]:
        """How many steps an image takes along each axis; the same for everybody."""
        return [random.Random(f"{item} {axis}").randint(1, STEPS) for axis in axes]

    def play(self, question: dict[str, Any], item: str) -> Any:
        """The history and the right name, by pressing what is missing."""
        payload = question["payload"]
        goal = self.threshold(item, payload["axes"])
        if payload["mode"] == "guided":
            goal = [max(goal)] * len(goal)
        state = [0] * len(goal)
        steps = [[0, list(state)]]
        while state != goal:
            if payload["mode"] == "guided" or all(step < wanted for step, wanted in zip(state, goal, strict=True)):
                state = [step + 1 for step in state]
            else:
                axis = next(place for place, step in enumerate(state) if step < goal[place])
                state[axis] += 1
            steps.append([len(steps) * 0.5, list(state)])
        return {"name": self.label[item], "steps": steps}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return noise_game(tmp_path, 9)


def item_of(study: Study, ticket: str) -> str:
    """What a ticket is about, as only the server knows."""
    assignment = study._task.work.answers.assignment(ticket)
    assert assignment is not None
    return str(assignment.question.body.get("source") or assignment.question.body["item"])


def test_known_thresholds_come_back_exactly(study: Study) -> None:
    people = 4 * 2 * 2  # every image × reduction × mode, twice
    with ServedGame(study.folder.root, "--answers", "2") as game:
        for number in range(people + 4):
            client = game.add(f"player {number}")
            player = Player(study, client, f"player {number}")
            while waiting := client.next():
                (question,) = waiting
                item = item_of(study, question["ticket"])
                told = client.answer(question["ticket"], player.play(question, item))
                assert told["feedback"][question["ticket"]]["right"]
    play = play_of(study)
    answers = play.answers()
    found = player_mepis(play, answers)
    assert answers.counts(len(play.rounds)).min() >= 1
    assert len(found.mepis) == len(answers)
    for row in range(len(found.mepis)):
        image, reduction = int(found.mepis.image[row]), play.settings.reductions[found.mepis.reduction[row]]
        item, axes = play.truth.ids[image], list(REDUCTIONS[reduction].axes)
        goal = Player.threshold(item, axes)
        if found.modes[found.mepis.classifier[row]] == "guided":
            goal = [max(goal)] * len(goal)
        levels = play.gallery.levels(item, reduction, goal)
        assert found.levels[row] == levels
        assert found.mepis.bytes[row] == play.gallery.size(item, reduction, levels)
    assert found.classifiers == ("people (free)", "people (guided)")
    compared = manners(play, found)
    assert {(one.mode, one.reduction) for one in compared} == {
        (mode, name) for mode in found.modes for name in play.settings.reductions
    }
    assert all(one.right == 1.0 for one in compared)


def test_wrong_answers_are_kept_in_the_record_and_give_no_mepi(study: Study) -> None:
    with ServedGame(study.folder.root, "--answers", "3") as game:
        client = game.add("ada")
        player = Player(study, client, "ada")
        for turn in range(6):
            (question,) = client.next()
            answer = player.play(question, item_of(study, question["ticket"]))
            answer["name"] = [answer["name"], (answer["name"] + 1) % 3, None][turn % 3]
            client.answer(question["ticket"], answer)
    play = play_of(study)
    found = player_mepis(play, play.answers())
    assert len(found.mepis) == 2
    assert len(found.rounds) == 6
    assert found.rounds.is_given_up.sum() == 2
    assert found.rounds.is_right[found.rows].all()


def test_nobody_gets_an_image_twice_over_reductions_modes_mepis_and_restarts(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = sorted(study.items())
    let_machines_find(monkeypatch, [FoundMepi("m", "colour", item, (level,)) for item in items for level in (100, 200)])
    seen: dict[str, dict[str, str]] = defaultdict(dict)  # by person and ticket, what was shown
    chance, tokens = random.Random(5), {}
    for turn in range(3):
        with ServedGame(study.folder.root, "--answers", "40") as game:
            for name in [f"person {number}" for number in range(8)]:
                client = Client(game.address, tokens[name]) if name in tokens else game.add(name)
                tokens[name] = str(client.token)
                for question in client.next(chance.randint(1, 5)):  # held ahead, and partly never answered
                    seen[name][question["ticket"]] = item_of(study, question["ticket"])
                    if chance.random() < 0.5:
                        blank = [0] * len(question["payload"].get("axes", []))
                        given = None if question["kind"] == "pick" else {"name": None, "steps": [[0, blank]]}
                        client.answer(question["ticket"], given)
                    elif chance.random() < 0.3:
                        client.post("/api/skip", {"ticket": question["ticket"]})
        if turn == 1:  # what was assigned long ago is remembered, too
            soon = time.time() + 10**6
            monkeypatch.setattr(time, "time", partial(float, soon))
    assert all(len(set(shown.values())) == len(shown) for shown in seen.values())
    assert any(len(shown) == len(items) for shown in seen.values()) or sum(map(len, seen.values())) > 40


def test_images_and_reductions_get_about_as_many_answers(study: Study) -> None:
    with ServedGame(study.folder.root, "--answers", "3") as game:
        for number in range(8):
            client = game.add(f"person {number}")
            for _ in range(4):
                (question,) = client.next()
                blank = [0] * len(question["payload"]["axes"])
                client.answer(question["ticket"], {"name": None, "steps": [[0, blank]]})
    play = play_of(study)
    count = play.answers().counts(len(play.rounds))
    by_image = np.bincount([one.image for one in play.rounds], count)
    assert by_image.sum() == 32
    assert by_image.max() - by_image.min() <= 5, by_image


def test_sessions_are_held_against_the_control_group(study: Study) -> None:
    found = [FoundMepi("m", "colour", item, (level,)) for item in sorted(study.items()) for level in (100,)]
    play = play_of(study, found)
    truth = play.truth
    people = {"control 1": 0, "control 2": 1, "control 3": 2, "online good": 2, "online bad": 7}
    rows = []
    for name, wrong in people.items():
        for number, (text, about) in enumerate(play._picks.items()):
            label = int(truth.group[about.image])
            rows.append((name, text, (label + 1) % 3 if number < wrong else label))
    study.judgements_import(_file_of(study, rows))
    trusted = {name for name in people if name.startswith("control")}
    result = player_readings(play, play.answers(), trusted)
    precision = [1.0, 8 / 9, 7 / 9]
    mean, spread = np.mean(precision), np.std(precision, ddof=1)
    assert result.control.threshold == pytest.approx(mean - 2 * spread)
    assert result.control.dropped in (("online good", "online bad"), ("online bad",))
    kept = [name for name in people if name not in result.control.dropped]
    assert result.readings.count.sum() == 9 * len(kept)
    assert result.readings.right.sum() == sum(9 - people[name] for name in kept)
    assert result.models == ("m",)


def _file_of(study: Study, rows: list[tuple[str, str, int]]) -> Path:
    path = study.folder.root.parent / "picks.jsonl"
    lines = [
        {"kind": "pick", "question": json.loads(text), "annotator": name, "answer": str(answer)}
        for name, text, answer in rows
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_the_papers_threshold() -> None:
    spread = 0.061 / np.sqrt(2)  # two people this far from the mean have a standard deviation of 0.061
    precision = {"a": 0.875 - spread, "b": 0.875 + spread, "good": 0.7531, "bad": 0.7529}
    control = control_of(precision, {"a", "b"})
    assert (control.mean, control.spread, control.threshold) == pytest.approx((0.875, 0.061, 0.753))
    assert control.dropped == ("bad",)
    alone = control_of(precision, {"a"})
    assert alone.threshold is None
    assert alone.kept == tuple(precision)


def test_the_paces_of_histories() -> None:
    assert pace_of([[0, [0, 0]]]) == (0, 0, 0, 0.0, 0.0)
    steps = [[0, [0]], [1, [1]], [1.5, [2]], [4.5, [3]], [5, [4]], [5.2, [5]]]
    assert pace_of(steps) == (5, 0, 3, 0.5, 5.2)
    back = [[0, [0, 0]], [1, [6, 6]], [2, [4, 4]], [3, [5, 5]]]
    assert pace_of(back)[:3] == (10, 4, 14)


def test_machines_and_people_in_one_result_and_on_one_page(tmp_path: Path) -> None:
    study, truth = made(tmp_path, "easy")
    machines = study.laconic(truth)
    assert (machines.manners, machines.control) == ((), None)
    with ServedGame(study.folder.root, "--answers", "2") as game:
        for number in range(6):
            client = game.add(f"player {number}")
            player = Player(study, client, f"player {number}")
            while waiting := client.next():
                (question,) = waiting
                item = item_of(study, question["ticket"])
                answer = player.label[item] if question["kind"] == "pick" else player.play(question, item)
                client.answer(question["ticket"], answer)
    result = study.laconic()
    assert sum(one.rounds for one in result.manners) == len(
        player_mepis(play_of(study), play_of(study).answers()).rounds
    )
    for one in result.manners:
        assert one.ratio is not None
        assert 0 < one.ratio <= 1
        assert (one.right, one.undone) == (1, 0)
    assert len(result.to_frame("manners")) == len(result.manners)
    assert result.control is not None
    assert (result.control.threshold, result.control.dropped) == (None, ())
    assert {one.reader for one in result.precision} == {"easy", "people"}
    text = study.laconic_report().read_text()
    assert "How people played" in text
    assert "no control group" in text
    assert study.laconic_reported().manners == result.manners
