"""Mutated files of answers: each is refused in one line and stores nothing, or is imported as it reads.

    python benchmarks/mutations.py [--count 2000] [--seed 0] [--only rows,coco] [--keep FOLDER]

Valid files of every import format are damaged (`mutating.py`) and imported into a small study by
`Study.judgements_import`. If a file is accepted, every stored answer has to be readable by what the commands status,
judgements export, annotators list and screen use, and the answers have to be the ones that a second, independent reader
finds in the file (`readings.py`). Anything else is a finding: it is printed, the file is kept, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sqlite3
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.answer_files import CLASSES, FORMS, ITEMS, MODELS, Form
from benchmarks.mutating import mutated_file
from benchmarks.readings import answers_in
from benchmarks.said import UnknownError, odd_time, spoken
from dissensus.errors import DissensusError
from dissensus.study import Study

DATA = Path(__file__).parent / "data" / "mutations"
LIMIT = 30
"""Seconds for one file, with everything that is read afterwards."""
LONGEST_LINE = 1_500
BEFORE = {"id": "before", "item": ITEMS[0], "label": "cat", "annotator": "before", "answer": "yes"}
"""An answer that each study holds from the start."""
GIVEN = "someone"
COLUMNS = ("files", "refused", "accepted", "compared", "findings")


class TooLongError(BaseException):
    """Not an Exception, so that nobody takes it for a damaged file."""


class FindingError(Exception):
    """Something that should not happen; the message says what."""


def made_studies(folder: Path) -> dict[str, Path]:
    """A study of labels and one of masks, with a round of questions and one answer each."""
    photos = folder / "photos"
    for item in ITEMS:
        (photos / item).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (3, 2)).save(photos / item)
    first = folder / "before.jsonl"
    first.write_text(json.dumps(BEFORE), encoding="utf-8")
    half = len(ITEMS) // 2
    maps = [np.full((len(ITEMS), 2, 3), label, np.uint8) for label in (1, 2)]
    predicted: dict[str, Sequence[Any]] = {
        "labels": (["cat"] * len(ITEMS), ["cat"] * half + ["dog"] * half),
        "masks": [list(one) for one in maps],
    }
    studies = {}
    for task, predictions in predicted.items():
        study = Study.init(folder / task, task=task, classes=list(CLASSES.names))
        study.pool([photos])
        study.predict(**dict(zip(MODELS, predictions, strict=True)))
        study.select(k=2)
        study.judgements_import(first)
        studies[task] = folder / task
    return studies


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stored(study: Path) -> int:
    """How many answers the database holds, counted without our code."""
    with sqlite3.connect(study / "judgements.sqlite") as database:
        return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])


def outcome(study: Path, path: Path, form: Form, task: str, rng: random.Random) -> str:
    """Import a file and check what came of it: refused, accepted (not compared) or compared.

    Raises:
        FindingError: something is wrong.
    """
    format = form.format if rng.random() < 0.5 or form.name == "png" else None
    annotator = GIVEN if form.format == "png" or rng.random() < 0.5 else None
    before = stored(study)
    try:
        new = Study(study).judgements_import(path, format, annotator)
    except DissensusError as error:
        line = str(error)
        if stored(study) != before:
            raise FindingError(f"refused, but {stored(study) - before} answers are stored: {line}") from None
        if len(line.splitlines()) != 1 or len(line) > LONGEST_LINE:
            raise FindingError(f"refused, but not in one short line: {line[:LONGEST_LINE]!r}") from None
        return "refused"
    if stored(study) - before != new:
        raise FindingError(f"{new} answers are said to be new, but {stored(study) - before} are")
    rows = exported(study)
    if new != len(rows):
        raise FindingError(f"{new} answers are stored, but {len(rows)} are exported")
    find_odd(rows)
    read_all(study)
    return compared(rows, path, form, task, annotator)


def exported(study: Path) -> list[dict[str, Any]]:
    """All answers except the first, as `judgements export` writes them."""
    path = study.parent / "exported.jsonl"
    Study(study).judgements_export(path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [row for row in rows if row["id"] != BEFORE["id"]]


def read_all(study: Path) -> None:
    """Read the answers as status, annotators list, screen and the dashboard do."""
    opened = Study(study)
    opened.status()
    json.dumps(opened.overview(), allow_nan=False)
    opened.screen()


def find_odd(rows: list[dict[str, Any]]) -> None:
    """Times in another form than ours, and names that nobody can have.

    Raises:
        FindingError: there is one.
    """
    for row in rows:
        name = row["annotator"]
        if odd_time(row["time"]):
            raise FindingError(f"time {row['time']!r}")
        if not name.strip() or not name.isprintable() or len(name) > 100:
            raise FindingError(f"annotator {name[:40]!r}")


def compared(rows: list[dict[str, Any]], path: Path, form: Form, task: str, annotator: str | None) -> str:
    try:
        expected = Counter(answers_in(path, form, task, annotator).values())
    except UnknownError:
        return "accepted"
    except Exception as error:
        raise FindingError(f"accepted, but unreadable: {type(error).__name__}: {str(error)[:300]}") from None
    found = Counter(spoken(row) for row in rows)
    if found != expected:
        extra, absent = list((found - expected).elements()), list((expected - found).elements())
        raise FindingError(f"stored but not in the file: {extra[:2]}; in the file but not stored: {absent[:2]}")
    return "compared"


def examine(study: Path, form: Form, task: str, folder: Path, seed: str) -> tuple[str, str]:
    """The outcome for one mutated file, and what to say about it."""
    rng = random.Random(seed)
    path = mutated_file(form, task, folder, rng)
    try:
        with time_limit(LIMIT):
            return outcome(study, path, form, task, rng), ""
    except FindingError as error:
        return "findings", str(error)
    except TooLongError:
        return "findings", f"took longer than {LIMIT} seconds"
    except Exception as error:  # whatever reaches a person as a traceback
        return "findings", f"{type(error).__name__}: {str(error)[:300]}"


def run(count: int, seed: int = 0, only: Sequence[str] = (), keep: Path = DATA) -> dict[str, Counter[str]]:
    """Examine `count` files, spread over the chosen forms; prints and keeps findings, and returns counts by form."""
    forms = [form for form in FORMS if not only or form.name in only or form.format in only]
    table = {form.name: Counter[str]() for form in forms}
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as temporary:
        studies = made_studies(Path(temporary))
        for number in range(count):
            form = forms[number % len(forms)]
            task = list(form.kinds)[number // len(forms) % len(form.kinds)]
            folder = Path(temporary) / "one"
            folder.mkdir()
            shutil.copytree(studies[task], folder / "study")
            result, why = examine(folder / "study", form, task, folder, f"{seed} {form.name} {number}")
            table[form.name].update(["files", *(["accepted"] if result == "compared" else []), result])
            if why:
                print(f"{form.name}, file {number}, seed {seed} ({result}): {why}", flush=True)
            if result == "findings":
                kept = keep / f"{form.name.replace('.', '-')}-{seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
            shutil.rmtree(folder)
    return table


def show(table: dict[str, Counter[str]]) -> None:
    total = sum(table.values(), Counter())
    print(f"{'':14}" + "".join(f"{name:>10}" for name in COLUMNS))
    for form, counts in (*table.items(), ("all", total)):
        print(f"{form:14}" + "".join(f"{counts[name]:>10,}" for name in COLUMNS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2_000, help="files in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="formats (rows, coco …) or forms (csv, labelme.zip …)")
    parser.add_argument("--keep", type=Path, default=DATA, help="folder for files with findings")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    unknown = set(only) - {name for form in FORMS for name in (form.name, form.format)}
    if unknown:
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    table = run(given.count, given.seed, only, given.keep)
    show(table)
    sys.exit(any(counts["findings"] for counts in table.values()))


if __name__ == "__main__":
    main()
