"""What the service asks is what the ranking waits for, whatever people draw, check, correct, take back or are told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dissensus.store.exchange.map_answers import answer_of
from dissensus.study import Study
from dissensus.web.memory import Memory

PEOPLE = ("ada", "ben", "cy", "dee")
SIZE = (5, 6)
ITEMS = 14
STEPS = 10


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models of noise: enough duels, and reserves behind them."""
    folder, rng = tmp_path_factory.mktemp("open"), np.random.default_rng(1)
    (folder / "classes.txt").write_text("background\ndisc\nbox\n")
    for name in ("pool", "a", "b", "c"):
        (folder / name).mkdir()
    for number in range(ITEMS):
        Image.fromarray(rng.integers(0, 255, (*SIZE, 3)).astype(np.uint8)).save(folder / "pool" / f"i{number:02}.png")
        for name in ("a", "b", "c"):
            Image.fromarray(rng.integers(0, 3, SIZE).astype(np.uint8)).save(folder / name / f"i{number:02}.png")
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_both_agree_on_what_is_open(made: Path, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = Study.init(tmp_path / "study", task="masks", classes=str(made / "classes.txt"))
    study.pool([made / "pool"])
    study.predict([f"{name}=file:{made / name}" for name in ("a", "b", "c")])
    study.change("judge", {"prefill": str(rng.choice(["", "a"]))})
    study.select(scales="none", reserves=2)
    for name in PEOPLE:
        study.people.add(name)
    for step in range(STEPS):
        asked = asked_by_the_service(study)
        items = {json.loads(text)["item"] for kind, text in asked if kind == "mask"}
        assert items == {question.item for question in study.questions()}, f"step {step}"
        assert {one.item for one in study.questions()} == waiting_for(study), f"step {step}"
        tell(
            study, tmp_path / "answers.jsonl", [answer(rng, *one, step) for one in sorted(asked) if rng.random() < 0.7]
        )
        again = [("mask", json.dumps({"item": f"i{n:02}.png"})) for n in range(ITEMS) if rng.random() < 0.1]
        tell(study, tmp_path / "again.jsonl", [answer(rng, *one, step, late=30) for one in again])
        if rng.random() < 0.2:
            study.exclude(str(rng.choice(PEOPLE)), "a test")
        if rng.random() < 0.2:
            study.include(str(rng.choice(PEOPLE)), "a test")


def asked_by_the_service(study: Study) -> set[tuple[str, str]]:
    """Kinds and texts of the questions that need somebody."""

    async def opened() -> Memory:
        memory = Memory(study._backing())
        await memory.open()
        return memory

    memory = asyncio.run(opened())
    needed = np.flatnonzero(memory.queue.is_needed & (memory.queue.given < memory.queue.answers))
    return {(memory.questions.kinds[number], memory.questions.texts[number]) for number in needed.tolist()}


def waiting_for(study: Study) -> set[str]:
    """Images that the ranking waits for."""
    evaluation = study.evaluation()
    return {evaluation.item_ids[int(evaluation.keys[number, 0])] for number in evaluation.open}


def answer(rng: np.random.Generator, kind: str, text: str, step: int, late: int = 0) -> dict[str, Any]:
    """Somebody's answer, at some second of a step."""
    body, second = json.loads(text), int(rng.integers(0, 25)) + late
    given: Any = [] if rng.random() < 0.5 else [{"x": 0, "y": 0, "kind": "class"}]
    if kind == "mask":
        labels = rng.integers(0, 3, SIZE).astype(np.uint8)
        chance = rng.random()
        given = "unfit" if chance < 0.15 else answer_of(np.full(SIZE, 255, np.uint8) if chance < 0.25 else labels)
    time = f"2026-01-01T10:{step:02}:{second:02}+00:00"
    return {"kind": kind, "question": body, "annotator": str(rng.choice(PEOPLE)), "answer": given, "time": time}


def tell(study: Study, path: Path, rows: list[dict[str, Any]]) -> None:
    if rows:
        path.write_text("\n".join(map(json.dumps, rows)))
        study.judgements_import(path)
