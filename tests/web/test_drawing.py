"""While people answer, the service draws the next questions by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from served import Served, eventually

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
