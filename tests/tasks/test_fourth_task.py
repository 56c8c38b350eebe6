"""A task in one file goes all the way, from a pool to a report, and through the service."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbers_task import Numbers

from dissensus import Study
from dissensus.errors import BackendError, SelectionError, StudyError
from dissensus.tasks import TASKS
from dissensus.web.desk import Desk, Given

TRUTH = np.random.default_rng(0).integers(0, 10, 60)
NOISE = {"good": 0.1, "fair": 0.4, "poor": 0.8}


def written(path: Path, header: tuple[str, ...], rows: list[tuple]) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def model(root: Path, name: str, noise: float) -> str:
    rng = np.random.default_rng(len(name))
    numbers = np.where(rng.random(60) < noise, rng.integers(0, 10, 60), TRUTH)
    rows = [(f"item-{item:02}", int(number)) for item, number in enumerate(numbers)]
    return f"{name}=file:{written(root / f'{name}.csv', ('item', 'number'), rows)}"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setitem(TASKS, "numbers", Numbers)
    (tmp_path / "digits.txt").write_text("\n".join(map(str, range(10))))
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(f"item-{item:02}" for item in range(60)))
    study = Study.init(tmp_path / "study", task="numbers", classes=str(tmp_path / "digits.txt"), title="Numbers")
    study.pool([tmp_path / "pool.csv"])
    study.predict([model(tmp_path, name, noise) for name, noise in NOISE.items()])
    return study


def answers(study: Study, path: Path) -> Path:
    """What people say of every open question: the truth."""
    rows = [
        {
            "kind": one.kind,
            "question": one.question,
            "annotator": "ann",
            "answer": int(TRUTH[int(one.question["item"][-2:])]),
        }
        for one in study.questions()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_from_pool_to_report(study: Study, tmp_path: Path, command: Callable[..., Any]) -> None:
    assert study.select(k=4) == 1
    chosen = [row for row in study.selection() if not row["reserve"]]
    assert len(chosen) == 12
    assert study.status().open_questions == len({row["item"] for row in chosen})
    study.judgements_import(answers(study, tmp_path / "answers.jsonl"))
    assert study.questions() == []
    assert [standing.model for standing in study.rank().standings] == ["good", "fair", "poor"]
    assert "good" in command("rank", study.folder.root).stdout
    study.change("judge", {"unfit": 0.3})
    (said,) = study.rule_changes()
    assert said == "[judge] in study.toml has changed since the last ranking: unfit 0.5 → 0.3."
    page = study.report().read_text()
    assert "<h1>Numbers</h1>" in page
    assert page.index("good is first." if "good is first." in page else "Tied for first") < page.index('id="ranking"')
    study.join([model(tmp_path, "newcomer", 0.6)])
    assert {row["second"] for row in study.selection() if row["first"] == "good"} == {"fair", "poor", "newcomer"}


def test_the_largest_differences_come_first(study: Study) -> None:
    study.select(k=3)
    rows = [row for row in study.selection() if (row["first"], row["second"]) == ("good", "poor")]
    distances = [row["discrepancy"] for row in rows]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0


def test_the_service_asks_the_same_questions(study: Study) -> None:
    study.select(k=4)
    waiting = [one.question["item"] for one in study.questions()]
    study.people.add("ann")
    (person,) = study.people.all()

    async def work() -> None:
        desk = Desk(study._backing())
        await desk.open()
        asked = []
        while given := await desk.given(person, 4):
            for number, (assignment, _) in enumerate(given):
                item = assignment.question.body["item"]
                asked.append(item)
                said = Given(f"{len(asked):010}-{number}", assignment.ticket, int(TRUTH[int(item[-2:])]), 1.0, "")
                assert (await desk.hear(person, [said])).stored
            await desk.look()
        await desk.log.close()
        assert sorted(set(asked)) == sorted(waiting)

    asyncio.run(work())
    assert study.questions() == []
    assert study.rank().standings[0].model == "good"


def test_what_it_shares_with_all_tasks(study: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="nothing has been selected yet"):
        study.rank()
    study.select()
    with pytest.raises(StudyError, match=r"written as \.jsonl"):
        study.questions(tmp_path / "sheet.csv")
    study.questions(tmp_path / "sheet.jsonl")
    assert len((tmp_path / "sheet.jsonl").read_text().splitlines()) == len(study.questions())
    assert study.select(k=6) == 1  # nobody has been asked yet
    study.answer([{"kind": "pick", "question": one.question, "answer": 3} for one in study.questions()[:1]], "ann")
    with pytest.raises(StudyError, match="selected with other settings \\(k 6 → 5\\)"):
        study.select(k=5)
    assert study.select(again=True) == 2


def test_models_that_say_the_same_are_refused(study: Study, tmp_path: Path) -> None:
    twin = Study.init(tmp_path / "twin", task="numbers", classes=str(tmp_path / "digits.txt"))
    twin.pool([tmp_path / "pool.csv"])
    twin.predict([f"{name}=file:{tmp_path / 'good.csv'}" for name in ("one", "other")])
    with pytest.raises(SelectionError, match="the same numbers"):
        twin.select()


def test_models_that_it_cannot_run_are_refused(study: Study, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"")
    with pytest.raises(BackendError, match="takes predictions as file:PATH, not as onnx:"):
        study.predict([f"net=onnx:{tmp_path / 'net.onnx'}"])


def test_the_example_stays_short() -> None:
    assert len((Path(__file__).parent / "numbers_task.py").read_text().splitlines()) <= 150
