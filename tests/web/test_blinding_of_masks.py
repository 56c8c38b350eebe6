"""Whoever checks a mask or chooses between predictions is told nothing of who drew it and which models there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blinded import Listener, telltales
from drawn import MODELS, PREDICTIONS, ServedDrawings, blob, drawings, drawn_study, mask_of, of_kind
from PIL import Image
from playwright.sync_api import Page
from served import Client, answer_to, eventually
from worded_pictures import colours

from dissensus.study import Study

SIZE = (64, 48)
DRAWER = "zzroot drawer"
ANSWERS: dict[str, Any] = {"choice": "left", "check": [{"x": 1, "y": 2, "kind": "class"}]}
COUNT = 3


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Files, folders, models and people with telling names."""
    pictures = {f"zzfile-{n}.png": colours(size=SIZE) for n in range(COUNT)}
    made = drawn_study(tmp_path_factory.mktemp("zzpool") / "zzroot", pictures, has_predictions=True)
    made.configure(answers=3)
    return made


@pytest.fixture(scope="module")
def service(study: Study) -> Iterator[ServedDrawings]:
    """It, served, with masks whose ids tell as well."""
    with drawings(study) as served:
        drawer = served.add(DRAWER)
        for number, one in enumerate(of_kind(drawer, "mask")):
            answer = answer_to(one["ticket"], mask_of(blob(*SIZE, 1, number)), id=f"zzroot-mask-{number}")
            assert drawer.post("/api/answers", {"answers": [answer]}).json["stored"] == [answer["id"]]
        yield served


def test_nothing_tells_over_http(service: ServedDrawings) -> None:
    person = Listener(service.address, str(service.add("ada").token))
    shapes: dict[str, set[Any]] = {}
    eventually(lambda: of_kind(person, "check"))
    work_through(person, shapes)
    eventually(lambda: of_kind(person, "mask"))  # she has marked errors, which somebody has to correct
    work_through(person, shapes)
    assert shapes["check"] == {(("colours", "mask", "unknown"), 1)}
    assert shapes["choice"] == {(("ask", "colours", "labels", "over", "same"), 3)}
    assert len(shapes["mask"]) == 2, "drawings, and corrections"
    for path, reply in person.heard:
        head = "".join(f"{name}: {value}\n" for name, value in reply.headers.items())
        assert not telltales(path.encode() + head.encode() + reply.body), path
        assert b"drawer" not in reply.body


def work_through(person: Client, shapes: dict[str, set[Any]]) -> None:
    """Answer everything; the forms of questions by kind."""
    while questions := person.next(1):
        (question,) = questions
        kind, payload = question["kind"], question["payload"]
        shapes.setdefault(kind, set()).add((tuple(sorted(payload)), len(question["images"])))
        for image in question["images"]:
            assert person.get(image).status == 200
        person.answer(question["ticket"], ANSWERS.get(kind) or mask_of(blob(*SIZE, 2, 7)))


def test_predictions_look_alike_but_for_what_they_show(service: ServedDrawings) -> None:
    ben = service.add("ben")
    for _ in range(3 * COUNT):
        (question,) = ben.next(1)
        if question["kind"] == "choice":
            break
        ben.post("/api/skip", {"ticket": question["ticket"]})
    left, right, photo = (ben.get(image) for image in question["images"])
    assert left.body != right.body
    assert photo.body not in (left.body, right.body)
    names = [{name: value for name, value in one.headers.items() if name != "content-length"} for one in (left, right)]
    assert names[0] == names[1]


def test_a_prediction_that_is_not_there_is_not_named(tmp_path: Path) -> None:
    pictures = {"zzfile.png": Image.new("RGB", SIZE)}
    gone = drawn_study(tmp_path / "zzroot", pictures, has_predictions=True)
    (gone.folder.root.parent / PREDICTIONS / MODELS[0] / "zzfile.png.png").unlink()
    with drawings(gone) as service:
        person = Listener(service.address, str(service.add("ada").token))
        question = of_kind(person, "choice")[0]
        assert sorted(person.get(image).status for image in question["images"]) == [200, 200, 404]
        assert person.post("/api/skip", {"ticket": question["ticket"]}).status == 204
        for path, reply in person.heard:
            assert not telltales(path.encode() + reply.body), path


def test_nothing_tells_in_a_browser(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/#{service.add('eva').token}")
    page.locator("[data-role=start]").click()
    page.wait_for_function("() => document.querySelector('[data-role=question]').dataset.ready === 'true'")
    kept = page.evaluate("() => document.documentElement.outerHTML + JSON.stringify({ ...localStorage })")
    assert not telltales(kept.encode())
