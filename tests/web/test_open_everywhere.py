"""What is open is decided in one place: `status`, the service and the ranking agree, however answers were worded."""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Study
from dissensus.errors import JudgementError, UnavailableError
from dissensus.web.desk import Desk, Given
from dissensus.web.memory import Memory

ITEMS = [f"p{number:02}" for number in range(24)]
PEOPLE = ("ada", "ben", "cy")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Three models that score: enough duels, and reserves behind them."""
    rng = np.random.default_rng(3)
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(ITEMS))
    study = Study.init(tmp_path / "study", task="scores")
    study.pool([tmp_path / "pool.csv"])
    for name in ("a", "b", "c"):
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("item", "score"), *zip(ITEMS, rng.random(24).tolist(), strict=True)])
    study.predict([f"{name}=file:{tmp_path / name}.csv" for name in ("a", "b", "c")])
    study.select(levels=2, reserves=2)
    return study


async def opened(study: Study) -> Memory:
    memory = Memory(study._backing())
    await memory.open()
    return memory


def needed_by(memory: Memory) -> set[frozenset[str]]:
    """Pairs that need somebody."""
    numbers = np.flatnonzero(memory.queue.is_needed & (memory.queue.given < memory.queue.answers)).tolist()
    bodies = [json.loads(memory.questions.texts[number]) for number in numbers]
    return {frozenset((body["first"], body["second"])) for body in bodies}


def waiting(study: Study) -> set[frozenset[str]]:
    return {frozenset((pair.first, pair.second)) for pair in study.questions()}


def tell(study: Study, rows: list[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if rows:
        study.judgements_import(path)


def said(pair: Any, person: str, answer: Any, is_swapped: bool, **more: Any) -> dict[str, Any]:
    """An answer to a pair, which a person's own file may name the other way round."""
    first, second = (pair.second, pair.first) if is_swapped else (pair.first, pair.second)
    turned = -answer if is_swapped and not isinstance(answer, str) else answer
    return {
        "kind": "slider",
        "question": {"first": first, "second": second},
        "annotator": person,
        "answer": turned,
    } | more


def test_answers_with_the_two_items_swapped_count_for_everybody(study: Study, tmp_path: Path) -> None:
    tell(study, [said(pair, "ada", 40, is_swapped=True) for pair in study.questions()], tmp_path / "turned.jsonl")
    assert study.status().open_questions == 0
    assert needed_by(asyncio.run(opened(study))) == set()
    ranked = study.rank().aggressiveness.standings
    straight = Study(study.folder.root)
    assert straight.rank().aggressiveness.standings == ranked


def test_a_turned_answer_says_the_opposite_of_the_same_number(study: Study, tmp_path: Path) -> None:
    pairs = study.questions()
    tell(
        study,
        [said(pair, "ada", 60, is_swapped=number % 2 == 0) for number, pair in enumerate(pairs)],
        tmp_path / "a.jsonl",
    )
    states = study.evaluation().states
    assert set(states.compared.value.tolist()) == {60.0}


def test_swapped_answers_that_arrive_while_it_runs_close_their_questions(study: Study, tmp_path: Path) -> None:
    pairs = study.questions()

    async def work() -> None:
        memory = await opened(study)
        assert needed_by(memory) == waiting(study)
        tell(study, [said(pair, "ada", -20, is_swapped=True) for pair in pairs[:3]], tmp_path / "some.jsonl")
        await memory.look()
        assert needed_by(memory) == waiting(study)
        assert len(waiting(study)) == len(pairs) - 3

    asyncio.run(work())


def test_a_round_that_comes_later_counts_answers_that_were_there_before(study: Study, tmp_path: Path) -> None:
    """Also where they were taken for questions of their own, since nobody asked them then."""

    async def work() -> None:
        memory = await opened(study)
        before = waiting(study)
        again = Study(study.folder.root)
        chosen = [{pair.first, pair.second} for pair in again.questions()]
        other = [(one, two) for one in ITEMS for two in ITEMS if one > two and {one, two} not in chosen]
        rows = [
            {"kind": "slider", "question": {"first": one, "second": two}, "annotator": "ada", "answer": 30}
            for one, two in other
        ]
        tell(study, rows, tmp_path / "before.jsonl")
        await memory.look()
        assert needed_by(memory) == before
        again.select(again=True)
        await memory.look()
        assert needed_by(memory) == waiting(again)
        assert len(waiting(again)) < len(before) + 6

    asyncio.run(work())


@pytest.mark.parametrize("seed", range(4))
def test_all_agree_under_random_answers(study: Study, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    study.change("judge", {"min_answers": int(rng.integers(1, 3)), "method": "mean"})
    for name in PEOPLE:
        study.people.add(name)
    for step in range(6):
        memory = asyncio.run(opened(study))
        assert needed_by(memory) == waiting(study), f"step {step}"
        assert len(waiting(study)) == study.status().open_questions
        rows = []
        for number, pair in enumerate(study.questions()):
            for person in rng.choice(PEOPLE, rng.integers(0, 3), replace=False).tolist():
                answer = "unfit" if rng.random() < 0.3 else int(rng.integers(-100, 101))
                turned, day = bool(rng.integers(2)), int(rng.integers(1, 28))
                time = f"2026-01-{day:02}T00:00:00+00:00"
                rows.append(said(pair, person, answer, turned, id=f"{step}/{number}/{person}/{turned}", time=time))
        tell(study, rows, tmp_path / "rows.jsonl")
        if rng.random() < 0.3:
            study.exclude(str(rng.choice(PEOPLE)), "a test")


def desk_of(study: Study) -> Desk:
    return Desk(study._backing())


def by_hand(study: Study, path: Path, role: str, pair: tuple[str, str], **more: Any) -> None:
    path.write_text(json.dumps({"kind": "slider", "first": pair[0], "second": pair[1]} | more) + "\n")
    study.ask(path, role)


def test_answers_are_not_forgotten_where_reading_them_again_fails(study: Study, tmp_path: Path) -> None:
    chosen = {frozenset((pair.first, pair.second)) for pair in study.questions()}
    others = [(one, two) for one in ITEMS for two in ITEMS if one > two and frozenset((one, two)) not in chosen]
    rows = [
        {"kind": "slider", "question": {"first": one, "second": two}, "annotator": "ada", "answer": 30}
        for one, two in others
    ]
    tell(study, rows, tmp_path / "before.jsonl")

    async def work() -> None:
        memory = await opened(study)
        read, failures = memory.backing.changes, iter([False, True])

        def changes(after: int) -> Any:
            if next(failures, False):
                raise UnavailableError("the database is away")
            return read(after)

        memory.backing.changes = changes
        Study(study.folder.root).select(again=True)
        with pytest.raises(UnavailableError):
            await memory.look()
        assert len(memory.books) == len(rows)
        await memory.look()
        assert needed_by(memory) == waiting(study)

    asyncio.run(work())


@pytest.mark.parametrize("role", ["control", "training"])
def test_the_studys_own_question_is_none_of_ours_in_any_wording(study: Study, tmp_path: Path, role: str) -> None:
    pair = study.questions()[0]
    for sides in ((pair.first, pair.second), (pair.second, pair.first)):
        with pytest.raises(JudgementError, match="the study itself asks this"):
            by_hand(study, tmp_path / "hand.jsonl", role, sides, expected="first")


def test_training_in_the_words_of_a_later_round_is_still_training_after_a_restart(study: Study, tmp_path: Path) -> None:
    """It was written down before the study asked the same the other way round."""
    before = {frozenset((pair.first, pair.second)) for pair in study.questions()}
    later = Study(study.folder.root)
    copy = tmp_path / "copy"
    shutil.copytree(later.folder.root, copy)
    further = Study(copy)
    further.select(again=True)
    new = next(pair for pair in further.questions() if frozenset((pair.first, pair.second)) not in before)
    by_hand(study, tmp_path / "hand.jsonl", "training", (new.second, new.first), expected="second", note="see")
    later.select(again=True)
    study.people.add("ada")
    (ada,) = study.people.all()

    async def work() -> None:
        first = desk_of(study)
        await first.open()
        (held, _), *_ = await first.given(ada, 1)
        assert held.role == "training"
        await first.log.close()
        second = desk_of(study)
        await second.open()
        heard = await second.hear(ada, [Given("0123456789ab", held.ticket, 40, 1.0, "")])
        assert heard.stored == ["0123456789ab"]
        assert heard.feedback[held.ticket]["note"] == "see"
        await second.log.close()

    asyncio.run(work())


def test_an_id_that_was_refused_does_not_hide_an_answer_that_was_imported(study: Study, tmp_path: Path) -> None:
    study.people.add("ada")
    (ada,) = study.people.all()

    async def work() -> None:
        desk = desk_of(study)
        await desk.open()
        (held, _), *_ = await desk.given(ada, 1)
        other = next(pair for pair in study.questions() if pair.first != held.question.body["first"])
        tell(study, [said(other, "ben", 10, is_swapped=False, id="taken-already")], tmp_path / "imported.jsonl")
        heard = await desk.hear(ada, [Given("taken-already", held.ticket, 40, 1.0, "")])
        assert "taken-already" in heard.refused
        await desk.look()
        assert needed_by(desk) == waiting(study)
        await desk.log.close()

    asyncio.run(work())


def test_what_was_asked_by_hand_is_one_question_once_a_round_asks_it_too(study: Study, tmp_path: Path) -> None:
    shutil.copytree(study.folder.root, tmp_path / "copy")
    before, further = waiting(study), Study(tmp_path / "copy")
    further.select(again=True)
    new = next(pair for pair in further.questions() if frozenset((pair.first, pair.second)) not in before)
    by_hand(study, tmp_path / "hand.jsonl", "asked", (new.second, new.first))

    async def work() -> None:
        memory = await opened(study)
        Study(study.folder.root).select(again=True)
        await memory.look()
        tell(study, [said(new, "ada", 20, is_swapped=False)], tmp_path / "rows.jsonl")
        await memory.look()
        assert needed_by(memory) == waiting(study)

    asyncio.run(work())
