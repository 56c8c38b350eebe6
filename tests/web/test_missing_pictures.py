"""Pictures that vanish after `pool`: `serve` names them, and people are asked about reserves instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from served import Served, make_study

from dissensus.errors import StudyError
from dissensus.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = make_study(tmp_path, models=("aurora", "borealis"))
    made.change("serve", {"control_rate": 0.0, "repeat_rate": 0.0})
    return made


def vanish(study: Study, count: int) -> list[str]:
    """Remove the pictures of some items that are asked about first."""
    items = list(dict.fromkeys(question.item for question in study.questions()))[:count]
    for item in items:
        Path(str(study._uri(item))).unlink()
    return items


def items_asked(served: Served) -> set[str]:
    """What a person is asked about, until nothing is left; every picture is there."""
    ada, found = served.add("ada"), set()
    while asked := ada.next(1):
        (one,) = asked
        assert all(ada.get(image).status == 200 for image in one["images"])
        found.add(one["ticket"])
        ada.answer(one["ticket"], "yes")
    return found


def test_reserves_take_the_place_of_missing_pictures(study: Study, serve: Callable[..., Served]) -> None:
    gone, before = vanish(study, 3), len(study.questions())
    served = serve(study.folder.root)
    asked = items_asked(served)
    served.stop()
    after = Study(study.folder.root)
    items = {item for item, _ in after.asked()}
    assert not items & {*gone}
    assert len(items) == 12, "as many items as without missing pictures"
    assert len(asked) == before
    assert after.questions() == []
    assert not after.rank().words[0].startswith("Preliminary")  # type: ignore[union-attr]


def test_serve_names_what_is_missing_and_asks_again_once_it_is_back(study: Study) -> None:
    gone = vanish(study, 4)
    told: list[str] = []
    study._backing(told.append)
    assert told[0].startswith("4 pictures are missing (")
    assert "and 1 more" in told[0]
    assert gone[0] not in {question.item for question in study.questions()}
    for item in gone:
        Path(str(study._uri(item))).touch()
    study._backing(told.append)
    assert len(told) == 1
    assert gone[0] in {question.item for question in study.questions()}


def test_looking_at_annotators_or_ranks_elsewhere_changes_nothing(study: Study) -> None:
    vanish(study, 3)
    before = study.questions()
    study.overview()
    assert study.questions() == before, "only the service knows whether pictures are there"


def test_an_answered_question_counts_without_its_picture(study: Study, tmp_path: Path) -> None:
    rows = [{"item": q.item, "label": q.name, "annotator": "ann", "answer": "yes"} for q in study.questions()]
    study.answer(rows)
    vanish_all = {row["item"] for row in rows}
    for item in sorted(vanish_all)[:6]:
        Path(str(study._uri(item))).unlink()
    before = study.rank()
    study._backing(lambda _: None)
    assert study.rank().standings == before.standings  # type: ignore[union-attr]


def test_all_pictures_missing_is_refused(study: Study) -> None:
    for path in (study.folder.root.parent / "pictures").iterdir():
        path.unlink()
    with pytest.raises(StudyError, match="none of the 24 pictures was found"):
        study._backing(lambda _: None)


def test_own_questions_about_missing_pictures_are_not_asked(
    study: Study, serve: Callable[..., Served], tmp_path: Path
) -> None:
    known = {name for row in study.selection() for name in [row["item"]]}
    other = next(item for item in study.items() if item not in known)
    Path(str(study._uri(other))).unlink()
    own = {"kind": "contains", "item": other, "label": "cat"}
    (tmp_path / "own.jsonl").write_text(json.dumps(own))
    study.ask(tmp_path / "own.jsonl")
    served = serve(study.folder.root)
    assert len(items_asked(served)) == 24
