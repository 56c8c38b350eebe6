"""While people answer, the service draws the next questions by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from served import CLASSES, MODELS, Served, eventually

from dissensus.store.draws import read_batches
from dissensus.study import Study


def test_batches_are_drawn_while_three_people_answer(study_folder: Path, serve: Callable[..., Served]) -> None:
    Study(study_folder).change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})
    Study(study_folder).change("estimate", {"questions": 24, "batch": 6})
    service = serve(study_folder, "--answers", "1")
    people = [service.add(name) for name in ("ada", "bob", "cleo")]
    eventually(lambda: len(read_batches(Study(study_folder).folder)) > 0)

    def is_over() -> bool:
        while [one for person in people if (one := person.answer_next("yes")) is not None]:
            pass
        batches = read_batches(Study(study_folder).folder)
        return sum(int((one.draw >= 0).sum()) for one in batches) == 24 and not Study(study_folder).questions()

    eventually(is_over)
    found = Study(study_folder).estimates()
    assert found.draws == 24
    batches = read_batches(Study(study_folder).folder)
    assert len(batches) >= 4
    assert [one.about["answers"] for one in batches] == sorted(one.about["answers"] for one in batches)


def test_the_dashboard_says_when_the_owner_may_stop(study_folder: Path, serve: Callable[..., Served]) -> None:
    """Somebody for whom one model is always right: at first it says how much is missing, in the end who is best."""
    study = Study(study_folder)
    study.change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})
    service = serve(study_folder, "--answers", "1", "--until", "best")
    assert Study(study_folder).settings.estimate.until == "best"  # type: ignore[attr-defined]
    person, right = service.add("ada"), predicted_by(study, MODELS[0])
    outlook = lambda: service.owner.get("/api/owner/summary").json["outlook"]  # noqa: E731
    eventually(lambda: "until the best model is known" in outlook())

    def is_over() -> bool:
        for question in iter(lambda: next(iter(person.next()), None), None):
            item, label = asked(service, question)
            person.answer(question["ticket"], "yes" if right[item] == label else "no")
        return outlook() == f"{MODELS[0]} is the best model: you may stop."

    eventually(is_over)
    batches = read_batches(study.folder)
    eventually(lambda: not Study(study_folder).questions())
    assert len(read_batches(study.folder)) == len(batches)  # nothing more is drawn
    assert Study(study_folder).estimates().best == MODELS[0]
    assert outlook() in study.status().model_dump_json()


def test_studies_without_draws_have_no_outlook(study_folder: Path, serve: Callable[..., Served]) -> None:
    Study(study_folder).change("estimate", {"questions": 0})
    assert serve(study_folder).owner.get("/api/owner/summary").json["outlook"] == ""


def predicted_by(study: Study, model: str) -> dict[str, str]:
    return dict(zip(study.items(), study.predictions(model)["label"], strict=True))


def asked(service: Served, question: dict) -> tuple[str, str]:
    """What a question is about, which only the database knows."""
    assignment = Study(service.folder)._task.work.answers.assignment(question["ticket"])
    assert assignment is not None
    body = assignment.question.body
    return body["item"], CLASSES[body["label"]]
