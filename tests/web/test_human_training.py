"""Training: for everybody, however many there are and however late they come."""

from __future__ import annotations

from pathlib import Path

from human_pages import ServedHuman, let_answer
from planted_labellers import planted_study

ANSWER = {"labels": [1], "alternative": None}


def test_people_who_come_late_are_trained_too(tmp_path: Path) -> None:
    study, _ = planted_study(tmp_path, 60)
    study.human_sample(tmp_path / "truth.csv", images=5, training=6)
    study.change("human", {"people": 1})
    with ServedHuman(study.folder.root, "train") as page:
        for name in ("ann", "ben", "cat"):
            assert len(let_answer(study, page.add(name), lambda _: (ANSWER, 2.0))) == 6
            page.owner.post(f"/api/owner/annotators/{name}/revoke", {})
    assert {one.name: one.trained for one in study.human_status().people} == {"ann": 6, "ben": 6, "cat": 6}
    with ServedHuman(study.folder.root, "label") as page:
        assert len(let_answer(study, page.add("dan"), lambda _: (ANSWER, 2.0))) == 10
        assert page.add("eve").next() == []  # one person is enough
