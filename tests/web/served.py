"""The real service in a thread or a process, people who talk to it over HTTP, and small studies to serve."""

from __future__ import annotations

import gc
import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.csv
import uvicorn
from PIL import Image, ImageDraw

from dissensus.study import Study

CLASSES = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay")
MODELS = ("aurora", "borealis", "cumulus")
SERVE = [sys.executable, "-u", "-m", "dissensus", "serve"]
PATIENCE = 60
"""Seconds to wait for a process, on a machine that is busy with other tests."""


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One person's browser, as far as HTTP goes: one connection that is kept, and a cookie."""

    def __init__(self, address: str, token: str | None = None) -> None:
        """Come in by a personal link's token; without one, as a stranger."""
        self.address, self.token = address, token
        self.cookie = ""
        self.connection: http.client.HTTPConnection | None = None
        if token is not None:
            self.sign_in()

    def sign_in(self) -> None:
        """Open the personal link, as a reload of the page does."""
        entered = self.post("/api/enter", {"token": self.token})
        assert entered.status == 200, entered.body
        self.cookie = entered.headers["set-cookie"].partition(";")[0]

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        """One request; raises OSError or HTTPException where the service is gone."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)
        sent = ({"cookie": self.cookie} if self.cookie else {}) | headers
        try:
            self.connection.request(method, path, body, sent)
            answer = self.connection.getresponse()
            return Reply(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        except BaseException:
            self.connection.close()
            self.connection = None
            raise

    def get(self, path: str) -> Reply:
        return self.request("GET", path)

    def post(self, path: str, value: Any) -> Reply:
        return self.request("POST", path, json.dumps(value).encode(), **{"content-type": "application/json"})

    def next(self, ahead: int = 1) -> list[dict[str, Any]]:
        """The questions that wait for this person."""
        reply = self.get(f"/api/next?ahead={ahead}")
        assert reply.status == 200, reply.body
        return list(reply.json["questions"])

    def answer(self, ticket: str, answer: Any = "yes", **more: Any) -> Any:
        """Answer one question; what the service said, which must have stored it."""
        reply = self.post("/api/answers", {"answers": [answer_to(ticket, answer, **more)]})
        assert reply.status == 200, reply.body
        assert not reply.json["refused"], reply.body
        return reply.json

    def answer_next(self, answer: Any = "yes") -> str | None:
        """Answer the next question; its ticket, or None where there is none."""
        waiting = self.next()
        if waiting:
            self.answer(waiting[0]["ticket"], answer)
        return waiting[0]["ticket"] if waiting else None


def answer_to(ticket: str, answer: Any = "yes", **more: Any) -> dict[str, Any]:
    """An answer as the page sends it, with an id of its own."""
    return {"id": uuid.uuid4().hex, "ticket": ticket, "answer": answer, "seconds": 1.5, "comment": ""} | more


class Lines:
    """What a process prints, as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed: list[str] = []
        self._waiting: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def after(self, word: str) -> str:
        """The rest of the next line that has a word in it."""
        with suppress(queue.Empty):
            while (line := self._waiting.get(timeout=PATIENCE)) is not None:
                if word in line:
                    return line.partition(word)[2].strip()
        raise AssertionError(f"the process ended, or takes too long: {''.join(self.printed[-20:])}")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line)
            self._waiting.put(line)
        self._waiting.put(None)


def let_one_person_answer(folder: Path) -> None:
    """One answer per question is enough, unless the study says otherwise: what a test is about rarely needs three."""
    study = Study(folder)
    if "min_answers" not in study.settings.judge.model_fields_set:
        study.change("judge", {"min_answers": 1})


class Served:
    """The service in a thread of this process, where everything is imported already."""

    open_study: Callable[[Path], Study] = Study

    def __init__(self, folder: Path, *options: str) -> None:
        """Start it with options of `dissensus serve`; returns once people can come."""
        self.folder = folder
        given = dict(zip(options[::2], options[1::2], strict=True))
        self.port = int(given.pop("--port", 0))
        let_one_person_answer(folder)
        texts = {name: given.pop(f"--{name.replace('_', '-')}", None) for name in ("until", "public_title", "examples")}
        Study(folder).configure(**{name.removeprefix("--"): int(value) for name, value in given.items()}, **texts)
        self._is_open, self._problem = threading.Event(), None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._is_open.wait(PATIENCE), "the service takes too long"
        if self._problem is not None:
            raise self._problem

    @property
    def owner(self) -> Client:
        """The owner, newly come in."""
        return Client(self.address, self.owner_token)

    def add(self, name: str, *, is_trusted: bool = False) -> Client:
        """A new annotator who has come in by their link."""
        added = self.owner.post("/api/owner/annotators", {"name": name, "is_trusted": is_trusted})
        assert added.status == 200, added.body
        return Client(self.address, added.json["link"].partition("#")[2])

    def stop(self) -> int:
        """Stop it as Ctrl-C does: requests under way are answered first. Its exit code."""
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the service does not stop"
        gc.unfreeze()  # what it kept for good is garbage now
        sys.setswitchinterval(0.005)
        if self._problem is not None:
            raise self._problem
        return 0

    def _serve(self) -> None:
        try:
            self.open_study(self.folder).serve(self._opened, "127.0.0.1", self.port)
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()

    def _opened(self, address: str, token: str) -> None:
        self.address, self.owner_token, self._server = address, token, _made.server
        self._is_open.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ServedProcess(Served):
    """`dissensus serve` as a process of its own, which can be killed, and whose lines can be read."""

    line = SERVE
    """What is run with the study's folder and options behind it."""

    def __init__(self, folder: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        """Start it; returns once people can come."""
        self.folder = folder
        let_one_person_answer(folder)
        self.process = started([*self.line, str(folder), "--port", "0", *options], environment)
        self.lines = Lines(self.process)
        self.printed = self.lines.printed
        """Every line that the process has printed."""
        self.address = self.lines.after("is open at")
        self.owner_token = self.lines.after("/owner#").split()[0]

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is written."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """Stop it as Ctrl-C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.kill()


_made = threading.local()
"""`server`: the one that was made last in a thread; where there are no signals, only it can be told to stop."""
_make_server = uvicorn.Server.__init__


def _make_and_remember(server: uvicorn.Server, config: uvicorn.Config) -> None:
    _make_server(server, config)
    _made.server = server


uvicorn.Server.__init__ = _make_and_remember  # type: ignore[method-assign]


def started(line: list[str], environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A process whose lines can be read and which can be written to."""
    return subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"COLUMNS": "300"} | (environment or {}),
    )


def eventually(claim: Any) -> Any:
    """What `claim()` gives once it is true; an AssertionError where that never comes."""
    until = time.monotonic() + PATIENCE
    while not (found := claim()):
        if time.monotonic() > until:
            raise AssertionError(f"still not true after {PATIENCE} s")
        time.sleep(0.05)
    return found


def make_study(root: Path, items: int = 60, models: Sequence[str] = MODELS, **select: Any) -> Study:
    """A study of small real pictures in `root`/study; models disagree about most of them."""
    pictures = root / "pictures"
    pictures.mkdir(parents=True)
    for number in range(items):
        draw_picture(pictures / f"picture{number:05}.png", number)
    return _study(root, sorted(path.stem + path.suffix for path in pictures.iterdir()), [pictures], models, select)


def make_study_without_pictures(root: Path, items: int, models: Sequence[str] = MODELS, **select: Any) -> Study:
    """The same with a pool of ids alone, for which thousands are made in no time."""
    root.mkdir(parents=True, exist_ok=True)
    names = [f"item{number:06}" for number in range(items)]
    pa.csv.write_csv(pa.table({"item": names}), root / "pool.csv")
    return _study(root, names, [root / "pool.csv"], models, select)


def predictions(root: Path, name: str, items: Sequence[str]) -> str:
    """A model's prediction file, as `NAME=file:PATH`."""
    random = np.random.default_rng([*name.encode()])
    labels = random.integers(len(CLASSES), size=len(items))
    columns = {"item": list(items), "label": [CLASSES[label] for label in labels], "confidence": [0.9] * len(items)}
    pa.csv.write_csv(pa.table(columns), root / f"{name}.csv")
    return f"{name}=file:{root / f'{name}.csv'}"


def draw_picture(path: Path, number: int) -> None:
    random = np.random.default_rng(number)
    image = Image.new("RGB", (96, 72), tuple(random.integers(60, 250, 3).tolist()))
    left, top = random.integers(5, 40, 2).tolist()
    ImageDraw.Draw(image).ellipse((left, top, left + 40, top + 25), fill=tuple(random.integers(0, 255, 3).tolist()))
    image.save(path)


def _study(root: Path, items: list[str], pool: Sequence[Path], models: Sequence[str], select: dict[str, Any]) -> Study:
    (root / "classes.txt").write_text("\n".join(CLASSES))
    study = Study.init(root / "study", classes=str(root / "classes.txt"), title="Animals")
    study.pool(pool)
    study.predict([predictions(root, name, study.items()) for name in models])
    study.change("estimate", {"questions": 0})
    study.select(**({"k": 12, "reserves": 12, "cap": 12, "confidence": 0.5} | select))
    assert sorted(study.items()) == sorted(items)
    return study
