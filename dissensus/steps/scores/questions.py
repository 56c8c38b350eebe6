"""questions: the pairs that wait to be compared, as a list or as a sheet that a person fills in."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.records import Record
from dissensus.steps.scores.judging import PairHearing
from dissensus.store.exchange import safe_cell
from dissensus.store.files import write_text, write_whole
from dissensus.store.folder import Folder


class OpenPair(Record):
    """'Which of FIRST and SECOND is better?', without a word of who said what about them."""

    kind: str
    first: str
    second: str
    answers: int


def open_pairs(hearing: PairHearing, kind: str) -> list[OpenPair]:
    """Pairs that wait for answers, each once, however many duels need it; in the order of the pool."""
    answered = hearing.compared.answered
    return [
        OpenPair(
            kind=kind,
            first=hearing.item_ids[int(hearing.pairs[number, 0])],
            second=hearing.item_ids[int(hearing.pairs[number, 1])],
            answers=int(answered[number]),
        )
        for number in hearing.open
    ]


def write_pairs(folder: Folder, path: Path, pairs: list[OpenPair]) -> None:
    """Write a sheet to fill in, .csv or .jsonl: the answer is how much better the second item is, −100 to 100.

    Of choices it is first, second or same.

    Raises:
        StudyError: nothing waits, or the sheet is of another kind.
    """
    if not pairs:
        raise StudyError("no pair waits for an answer")
    if path.suffix == ".csv":
        write_whole(path, lambda unfinished: _write_csv(unfinished, pairs))
    elif path.suffix == ".jsonl":
        write_text(path, "".join(json.dumps(_row(pair), ensure_ascii=False) + "\n" for pair in pairs))
    else:
        raise StudyError(f"{path}: pairs are written as .csv or .jsonl; to click, dissensus serve {folder.root}")


def _row(pair: OpenPair) -> dict[str, str]:
    row = {"kind": pair.kind, "first": pair.first, "second": pair.second, "annotator": "", "answer": "", "time": ""}
    if pair.kind == "choice":  # what two items do not say: that there is a third answer
        row["question"] = json.dumps({"first": pair.first, "same": True, "second": pair.second}, ensure_ascii=False)
    return row


def _write_csv(path: Path, pairs: list[OpenPair]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(_row(pairs[0])))
        writer.writeheader()
        writer.writerows({name: safe_cell(cell) for name, cell in _row(pair).items()} for pair in pairs)
