"""Random damage to small studies of all tasks: every command is right, or says in one line what is damaged.

python benchmarks/damage.py --count 1000 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.cli import main
from dissensus.study import Study

SPARED = (".lock", ".serving")
"""Empty files that only processes use."""
EDITED = "study.toml"
"""People edit this file, so that damage to it may be a valid edit: it only has to end without a traceback."""

Outcome = tuple[int, str, str]
"""Exit code, what a command printed or wrote, and its error."""


def make_labels(root: Path) -> None:
    """Four classifiers, two rounds, 84 answers by three people, one excluded, and a benchmark."""
    items, names = [f"item-{number:03}" for number in range(200)], ["cat", "dog", "owl", "fox"]
    draw = random.Random(1)
    truth = [draw.choice(names) for _ in items]
    study = Study.init(root, classes=names)
    study.change("rank", {"resamples": 100})  # a report takes a quarter of the time
    study.pool(items=items)

    def predicted(error: float) -> list[str]:
        return [draw.choice(names) if draw.random() < error else label for label in truth]

    study.predict(one=predicted(0.2), two=predicted(0.35), three=predicted(0.5))
    eligible = root.parent / "eligible.csv"
    eligible.write_text("item\n" + "\n".join(items[:180]))
    study.select(k=6, reserves=2, confidence=0, eligible=eligible)
    study.join(four=predicted(0.6))
    right = dict(zip(items, truth, strict=True))
    questions = [question.model_dump() for question in study.questions()]
    for person, care in (("ann", 0.95), ("ben", 0.9), ("cat", 0.3)):
        study.answer(
            [
                {
                    "item": one["item"],
                    "label": one["name"],
                    "answer": "yes" if (one["name"] == right[one["item"]]) == (draw.random() < care) else "no",
                }
                for one in questions
            ],
            person,
        )
    study.exclude("cat", "answers at random")
    known = root.parent / "benchmark.csv"
    known.write_text("model,accuracy\none,0.8\ntwo,0.7\nthree,0.6\nfour,0.5\n")
    study.report(benchmark=known)
    study.rank()
    study.consensus()


def make_scores(root: Path) -> None:
    """Three quality models, and the sliders of three people."""
    items, draw = [f"item-{number:03}" for number in range(120)], np.random.default_rng(1)
    quality = dict(zip(items, draw.uniform(0, 100, len(items)), strict=True))
    study = Study.init(root, task="scores")
    study.pool(items=items)
    seen = np.array([*quality.values()])
    scores: dict[str, Any] = {name: seen + draw.normal(0, noise, len(items)) for name, noise in NOISE.items()}
    study.predict(**scores)
    study.select(levels=3)
    asked = [(one.first, one.second) for one in study.questions()]
    for person in ("ann", "ben", "cat"):
        said = [np.clip(quality[two] - quality[one] + draw.normal(0, 8), -100, 100) for one, two in asked]
        rows = [{"first": one, "second": two, "answer": round(a)} for (one, two), a in zip(asked, said, strict=True)]
        study.answer(rows, person)


def make_masks(root: Path) -> None:
    """Three segmenters, and the maps that one person drew."""
    items, draw = [f"scene-{number:02}.png" for number in range(30)], np.random.default_rng(1)
    truth = draw.integers(0, 3, (len(items), 6, 6)).repeat(4, axis=1).repeat(4, axis=2)
    pictures, drawn = root.parent / "pictures", root.parent / "drawn"
    for folder, values in ((pictures, 100 * truth), (drawn, truth)):
        folder.mkdir()
        for item, value in zip(items, values, strict=True):
            Image.fromarray(value.astype(np.uint8)).save(folder / item)
    study = Study.init(root, task="masks", classes=["background", "circle", "square"])
    study.pool([pictures])
    wrong = {name: draw.random(truth.shape) < noise / 100 for name, noise in NOISE.items()}
    maps: dict[str, Any] = {name: np.where(where, (truth + 1) % 3, truth) for name, where in wrong.items()}
    study.predict(**maps)
    study.select(k=2, scales="none")
    for item in {*items} - {item for (item,) in study.asked()}:
        (drawn / item).unlink()
    study.judgements_import(drawn, "png", "ann")


NOISE = {"good": 5.0, "fair": 15.0, "poor": 40.0}
"""How wrong the models of scores and masks are, in percent."""
STUDIES = {"labels": make_labels, "scores": make_scores, "masks": make_masks}


def commands(root: Path) -> dict[str, list[str]]:
    """The commands by name, in the order in which they run."""
    answers = str(root.parent / "answers.jsonl")
    return {
        "check": ["check", str(root)],
        "status": ["status", str(root)],
        "rank": ["rank", str(root), "--json"],
        "report": ["report", str(root)],
        "select": ["select", str(root)],
        "export": ["judgements", "export", str(root), answers],
        "screen": ["screen", str(root), "--json"],
        "annotators": ["annotators", "list", str(root), "--json"],
    }


def run(name: str, line: list[str], root: Path) -> Outcome:
    """Run a command in this process; a traceback counts as exit code 1."""
    out, error, code = io.StringIO(), io.StringIO(), 0
    written = {"report": root / "results" / "report.html", "export": root.parent / "answers.jsonl"}.get(name)
    if written is not None:
        written.unlink(missing_ok=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main(line)
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            code = 70
            traceback.print_exc()
    said = out.getvalue() if written is None or not written.exists() else written.read_text(encoding="utf-8")
    return code, _timeless(said), error.getvalue()


def _timeless(text: str) -> str:
    """The text without what differs between two runs: identifiers that figures draw at random."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)?|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "TIME", text)


def flip(path: Path, draw: random.Random, _: list[Path]) -> None:
    """Flip one bit."""
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, draw: random.Random, _: list[Path]) -> None:
    """Cut off the end."""
    os.truncate(path, draw.randrange(path.stat().st_size))


def delete(path: Path, _: random.Random, __: list[Path]) -> None:
    path.unlink()


def swap(path: Path, draw: random.Random, others: list[Path]) -> None:
    """Swap the file with another one, of the same kind if there is one."""
    alike = [other for other in others if other != path and other.suffix == path.suffix]
    other = draw.choice(alike or [other for other in others if other != path])
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


DAMAGES: dict[str, Callable[[Path, random.Random, list[Path]], None]] = {
    "flip": flip,
    "truncate": truncate,
    "delete": delete,
    "swap": swap,
}


def verdict(name: str, outcome: Outcome, right: Outcome, is_edited: bool) -> str:
    """'right', 'said', or what is wrong with the outcome of a command."""
    code, said, error = outcome
    if "Traceback" in error or code not in (0, 1, 2):
        return "traceback"
    if code == 2:
        return "said" if len(error.strip().splitlines()) == 1 else "more than one line"
    if name == "check":
        return "said" if code == 1 else "right"
    if code == 1:
        return "exit code 1"
    return "right" if said == right[1] or is_edited else "wrong"


def attack(count: int, seed: int, show: Callable[[str], None]) -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """Damage studies `count` times; how each command ended, by (command, damage, verdict), and lines about failures."""
    found: Counter[tuple[str, str, str]] = Counter()
    failures: list[str] = []
    for place, task in enumerate(STUDIES):
        numbers = range(place, count, len(STUDIES))
        with tempfile.TemporaryDirectory() as temporary:
            for number, name, damage, path, ended, said in _attacked(Path(temporary), task, numbers, seed):
                found[name, damage, ended] += 1
                if ended not in ("right", "said"):
                    failures.append(f"{number}: {task}, {damage} {path}, {name}: {ended}: {said.strip()[-300:]}")
        show(f"{task}: damaged {len(numbers):,} times, {len(failures):,} failures so far")
    return found, failures


def _attacked(folder: Path, task: str, numbers: range, seed: int) -> Iterator[tuple[int, str, str, str, str, str]]:
    """Number, command, damage, file, verdict and error of every command on every damaged copy of a study."""
    root, whole = folder / "study", folder / "whole"
    STUDIES[task](root)
    right = {name: run(name, line, root) for name, line in commands(root).items()}
    assert all(code == 0 for code, _, _ in right.values()), [(one[0], one[2]) for one in right.values()]
    shutil.copytree(root, whole)
    for number in numbers:
        for name, outcome, damage, path in _damaged(root, whole, random.Random(f"{seed} {number}")):
            yield number, name, damage, path, verdict(name, outcome, right[name], path == EDITED), outcome[2]


def _damaged(root: Path, whole: Path, draw: random.Random) -> Iterator[tuple[str, Outcome, str, str]]:
    """Restore the study, damage one of its files, and run every command on a copy of its own state."""
    damage = draw.choice(list(DAMAGES))
    shutil.rmtree(root)
    shutil.copytree(whole, root)
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.name not in SPARED]
    files = [path for path in files if path.stat().st_size]
    path = draw.choice(files)
    DAMAGES[damage](path, draw, files)
    for name, line in commands(root).items():
        yield name, run(name, line, root), damage, path.relative_to(root).as_posix()


def table(found: Counter[tuple[str, str, str]]) -> str:
    """One row per command: how often it was right, said what is damaged, or failed."""
    ends = ["right", "said", *sorted({ended for *_, ended in found} - {"right", "said"})]
    lines = ["| command | " + " | ".join(ends) + " |", "| --- |" + " ---: |" * len(ends)]
    for name in dict.fromkeys(name for name, *_ in found):
        counts = [sum(n for (one, _, end), n in found.items() if (one, end) == (name, ended)) for ended in ends]
        lines.append(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how often the studies are damaged, all together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    counted, failed = attack(given.count, given.seed, lambda line: print(line, file=sys.stderr))
    if given.json:
        print(json.dumps({"counts": {" ".join(key): n for key, n in counted.items()}, "failures": failed}, indent=1))
    else:
        print(table(counted))
        print("\n".join(failed) or f"no failures in {given.count:,} runs")
    sys.exit(1 if failed else 0)
