"""The service draws questions about all labels of an item at once, while several people answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from blinded import ALIKE, Listener, telltale_study, telltales
from served import CLASSES, Client, Served, eventually, predictions

from dissensus.store.draws import read_batches
from dissensus.study import Study


def said(question: dict[str, Any]) -> Any:
    """A pick of the first label by number, or 'yes'."""
    return [min(question["payload"]["options"])] if question["kind"] == "pick" else "yes"


def answer_next(person: Client, kinds: Counter[str]) -> bool:
    waiting = person.next()
    for one in waiting[:1]:
        kinds[one["kind"]] += 1
        person.answer(one["ticket"], said(one))
    return bool(waiting)


@pytest.mark.parametrize("answers", [1, 2])
def test_picks_are_drawn_while_three_people_answer(
    study_folder: Path, serve: Callable[..., Served], answers: int
) -> None:
    Study(study_folder).change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})
    Study(study_folder).change("estimate", {"questions": 18, "batch": 6, "question": "pick"})
    service = serve(study_folder, "--answers", str(answers))
    people = [service.add(name) for name in ("ada", "bob", "cleo")]
    eventually(lambda: len(read_batches(Study(study_folder).folder)) > 0)
    kinds: Counter[str] = Counter()

    def is_over() -> bool:
        while sum(answer_next(person, kinds) for person in people):
            pass
        batches = read_batches(Study(study_folder).folder)
        return sum(int(one.draw.max() + 1) for one in batches) == 18 and not Study(study_folder).questions()

    eventually(is_over)
    study = Study(study_folder)
    assert kinds["pick"] > 0
    assert kinds["contains"] > 0
    found = study.estimates()
    assert found.draws == 18
    batches = read_batches(study.folder)
    assert len(batches) >= 3
    assert [one.about["answers"] for one in batches] == sorted(one.about["answers"] for one in batches)
    assert study.status().open_questions == 0
    assert "Most often right on this pool" in study.report().read_text()
    service.stop()
    assert serve(study_folder).add("dora").next() == []  # everything is known again after a restart


def test_a_drawn_pick_tells_nothing(serve: Callable[..., Served], tmp_path: Path) -> None:
    study = telltale_study(tmp_path)
    study.change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})
    study.draw(12, question="pick")
    service = serve(study.folder.root)
    person = Listener(service.address, str(service.add("ada").token))
    forms = set()
    usual: dict[str, Any] = {
        "choice": "left",
        "slider": 63,
        "rating": 63,
        "contains": "yes",
        "pick": 1,
        "label": {"labels": [1], "alternative": None},
        "frames": ALIKE,
    }
    while waiting := person.next():
        one = waiting[0]
        is_drawn = one["payload"].get("several", False)
        if is_drawn:
            forms.add((*sorted(one["payload"]), *sorted(one)))
        person.answer(one["ticket"], said(one) if is_drawn else usual[one["kind"]])
    assert len(forms) == 1
    for path, reply in person.heard:
        head = "".join(f"{name}: {value}\n" for name, value in reply.headers.items())
        assert not telltales(path.encode() + head.encode() + reply.body), path


def test_options_come_in_the_same_order_whoever_predicted_them(tmp_path: Path) -> None:
    """The models swap their predictions: people are asked exactly the same."""
    orders = []
    for names in (("one", "two"), ("two", "one")):
        root = tmp_path / names[0]
        root.mkdir()
        items = [f"item{number}" for number in range(40)]
        files = [predictions(tmp_path, word, items).partition(":")[2] for word in "ab"]
        given = dict(zip(names, files, strict=True))
        (root / "pool.csv").write_text("item\n" + "\n".join(items))
        (root / "classes.txt").write_text("\n".join(CLASSES))
        study = Study.init(root / "study", classes=str(root / "classes.txt"))
        study.pool([root / "pool.csv"])
        study.predict([f"one=file:{given['one']}", f"two=file:{given['two']}"])
        study.select(k=1, confidence=0.0)
        study.draw(1000, question="pick")
        with Served(study.folder.root, "--answers", "1") as service:
            person, shown = service.add("ada"), []
            while waiting := person.next():
                shown += waiting
                person.answer(waiting[0]["ticket"], said(waiting[0]))
        picks = [one["payload"] for one in shown if one["kind"] == "pick"]
        orders.append({one["items"][0]: one["options"] for one in picks})
    both = orders[0].keys() & orders[1].keys()  # some are not asked once the round has decided them
    assert len(both) > 20
    assert all(orders[0][item] == orders[1][item] for item in both)
    assert {orders[0][item].index(min(orders[0][item])) for item in both} == {0, 1}
