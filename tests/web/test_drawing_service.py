"""Masks are drawn, checked by others and corrected: questions that answers make necessary, on the real service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from drawn import (
    CLASSES,
    DrawnRounds,
    ServedDrawings,
    ServedDrawingsProcess,
    blob,
    drawings,
    drawn_study,
    mask_of,
    of_kind,
    question,
)
from PIL import Image
from served import Client, eventually

from dissensus.errors import UnavailableError
from dissensus.records import Annotator, Response
from dissensus.steps.serving import StudyBacking
from dissensus.store.answers import AnswerLog
from dissensus.study import Study
from dissensus.web.desk import Desk, Given

SIZE = (40, 30)
MARKS = [{"x": 3, "y": 4, "kind": "missing"}, {"x": 39, "y": 29, "kind": "border"}]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = drawn_study(tmp_path, {f"photo{n}.png": Image.new("RGB", SIZE, (40 * n, 90, 120)) for n in range(3)})
    with open(made.folder.settings, "a") as file:
        file.write("\n[serve]\ncontrol_rate = 0.0\nrepeat_rate = 0.0\n")
    return made


@pytest.fixture
def service(study: Study) -> Iterator[ServedDrawings]:
    with drawings(study) as served:
        yield served


def mask(seed: int, label: int = 1) -> dict[str, Any]:
    return mask_of(blob(*SIZE, label, seed))


def stored(study: Study) -> list[Response]:
    return [response for _, response in AnswerLog(study._database).all()]


def draw_all(client: Client) -> list[dict[str, Any]]:
    """Draw what is to be drawn; the questions."""
    asked = of_kind(client, "mask")
    for number, one in enumerate(asked):
        client.answer(one["ticket"], mask(number))
    return asked


def test_a_mask_is_checked_by_somebody_else_and_corrected_where_errors_were_marked(
    study: Study, service: ServedDrawings
) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    assert ada.get("/api/me").json["kinds"] == ["mask", "check"], "instructions name what answers will bring"
    first = draw_all(ada)
    assert len(first) == 3
    assert all(set(one["payload"]) & {"mask", "marks"} == set() for one in first)
    checks = eventually(lambda: len(found := of_kind(ben, "check")) == 3 and found)
    drawn = {response.id: response for response in stored(study)}
    assert ada.next(10) == []
    assert ada.get("/api/me").json["left"] == 0
    assert ben.get("/api/me").json["left"] == 3
    assert [one["payload"]["mask"] in [response.answer for response in drawn.values()] for one in checks] == [True] * 3
    ben.answer(checks[0]["ticket"], [])
    ben.answer(checks[1]["ticket"], MARKS)
    about = {response.question.body["item"]: response for response in drawn.values()}
    said = [response for response in stored(study) if response.question.kind == "check"]
    assert [response.shown for response in said] == [
        {"mask": about[response.question.body["item"]].id} for response in said
    ]
    faulty = said[1].question.body["item"]
    correction = eventually(lambda: of_kind(ada, "mask") or of_kind(ben, "mask"))
    assert len(correction) == 1
    assert correction[0]["payload"]["mask"] == about[faulty].answer
    assert correction[0]["payload"]["marks"] == MARKS
    holder = ada if of_kind(ada, "mask") else ben
    holder.answer(correction[0]["ticket"], mask(9, 2))
    last = stored(study)[-1]
    assert last.question == question("mask", item=faulty, again=True)
    assert last.shown == {"mask": about[faulty].id, "check": said[1].id}
    ben.answer(checks[2]["ticket"], [])
    eventually(lambda: service.owner.get("/api/owner/summary").json["left"] == 0)
    assert [ada.next(10), ben.next(10)] == [[], []]
    kinds = {
        one["kind"]: (one["done"], one["questions"]) for one in service.owner.get("/api/owner/summary").json["kinds"]
    }
    assert kinds == {"mask": (4, 4), "check": (3, 3)}


def test_all_of_it_survives_restarts(study: Study) -> None:
    with ServedDrawingsProcess(study.folder.root) as killed:
        ada, ben = killed.add("ada"), killed.add("ben")
        draw_all(ada)
        held = eventually(lambda: len(found := ben.next(10)) == 3 and found)
        killed.kill()
    with drawings(study) as service:
        ada, ben = Client(service.address, ada.token), Client(service.address, ben.token)
        assert ada.next(10) == [], "whoever drew it still does not check it"
        assert ada.get("/api/me").json["left"] == 0
        assert ben.next(10) == held
        ben.answer(held[0]["ticket"], MARKS)
        (correction,) = eventually(lambda: of_kind(ada, "mask"))
    with drawings(study) as service:
        ada = Client(service.address, ada.token)
        assert ada.next(10) == [correction]
        ada.answer(correction["ticket"], mask(5))
        assert stored(study)[-1].shown.keys() == {"mask", "check"}


def test_a_check_is_about_the_mask_that_was_shown(study: Study, service: ServedDrawings) -> None:
    ada, ben = service.add("ada"), service.add("ben")
    asked = draw_all(ada)
    before = {response.question.body["item"]: response.id for response in stored(study)}
    check = eventually(lambda: of_kind(ben, "check"))[0]
    for one in asked:
        ada.answer(one["ticket"], mask(7, 2))  # she changed her mind
    assert of_kind(ben, "check")[0] == check, "what lies on the screen stays what it is"
    ben.answer(check["ticket"], MARKS)
    said = stored(study)[-1]
    assert said.shown == {"mask": before[said.question.body["item"]]}


def test_whoever_drew_it_elsewhere_loses_the_check_that_they_hold(study: Study, service: ServedDrawings) -> None:
    ada, ben, cem = (service.add(name) for name in ("ada", "ben", "cem"))
    draw_all(ada)
    held = eventually(lambda: len(found := of_kind(ben, "check")) == 3 and found)
    item = stored(study)[0].question.body["item"]
    time = datetime.now(UTC).isoformat()
    drawn = Response(id="elsewhere", question=question("mask", item=item), annotator="ben", answer=mask(3), time=time)
    AnswerLog(study._database).append([drawn])
    left = eventually(lambda: len(found := of_kind(ben, "check")) == 2 and found)
    assert all(one in held for one in left)
    assert ben.get("/api/me").json["left"] == 2
    (check,) = eventually(lambda: of_kind(cem, "check"))
    assert check["payload"]["mask"] == drawn.answer
    cem.answer(check["ticket"], [])
    assert stored(study)[-1].question.body == {"item": item}


def test_a_mask_without_its_picture_can_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("item\nonly-an-id\n")
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES))
    study = Study.init(tmp_path / "study", classes=str(tmp_path / "classes.txt"))
    study.pool([tmp_path / "pool.csv"])
    with drawings(study) as service:
        ada, ben = service.add("ada"), service.add("ben")
        (one,) = ada.next(1)
        assert (one["images"], one["payload"]["items"]) == ([], ["only-an-id"])
        ada.answer(one["ticket"], mask(1))
        (check,) = eventually(lambda: of_kind(ben, "check"))
        assert "items" not in check["payload"]
        assert [ben.get(image).status for image in check["images"]] == [404]
        assert ben.post("/api/skip", {"ticket": check["ticket"]}).status == 204
        assert ben.next(1) == []


def desk_of(study: Study, rounds: type[DrawnRounds] = DrawnRounds) -> Desk:
    return Desk(StudyBacking(study._task.work, lambda: rounds(study)))


def person_named(study: Study, name: str) -> Annotator:
    study.people.add(name)
    return next(one for one in study.people.all() if one.name == name)


def test_places_count_through_all_groups(study: Study) -> None:
    desk = desk_of(study)
    asyncio.run(desk.open())
    texts = [(group.kind, text) for group in desk.backing.inquiry.questions() for text in group.texts]
    numbers = desk.round_numbers.tolist()
    assert [(desk.questions.kinds[number], desk.questions.texts[number]) for number in numbers] == texts
    assert len(set(numbers)) == len(texts) == 9
    assert desk.kinds() == ["mask", "check"], "no choice can be asked"
    assert desk.queue.is_needed[numbers].tolist() == [True] * 3 + [False] * 6
    assert desk.queue.is_repeatable[numbers].tolist() == [True] * 3 + [False] * 6


class AwayRounds(DrawnRounds):
    """A study whose database is away when it is asked what a question is about."""

    times = 1

    def context(self, question: Any) -> dict[str, Any]:
        if self.times:
            self.times -= 1
            raise UnavailableError("the database is away")
        return super().context(question)


def test_what_could_not_be_put_is_put_later(study: Study) -> None:
    ada, ben = person_named(study, "ada"), person_named(study, "ben")

    async def work() -> None:
        desk = desk_of(study, AwayRounds)
        await desk.open()
        drawn = await desk.given(ada, 1)
        given = [Given("0123456789", drawn[0][0].ticket, mask(1), 1.0, "")]
        assert (await desk.hear(ada, given)).stored == ["0123456789"]
        await desk.look()
        with pytest.raises(UnavailableError):
            await desk.given(ben, 10)
        questions = await desk.given(ben, 10)
        assert len(questions) == 3
        checks = [one for one, _ in questions if one.question.kind == "check"]
        assert [one.shown for one in checks] == [{"mask": "0123456789"}]
        assert desk.queue.held.sum() == 3

    asyncio.run(work())


def test_the_page_says_which_classes_there_are(service: ServedDrawings) -> None:
    assert service.add("ada").get("/api/classes").json["names"] == list(CLASSES)
