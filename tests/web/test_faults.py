"""Whatever happens to process, disk or database: what was acknowledged is there, once, and nothing is invented."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from crowd import Crowd
from databases import Postgres
from served import PATIENCE, Client, Lines, Served, answer_to, eventually, make_study_without_pictures, started

from dissensus.study import Study

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("DISSENSUS_KILLS") or (25 if os.environ.get("CI") == "true" else 10))
PEOPLE = ("ada", "ben", "cem", "dia", "eva", "fay")
RESTARTING = Path(__file__).with_name("restarting.py")


@pytest.fixture
def many_questions(tmp_path: Path) -> Path:
    """A study with more questions than a few seconds can answer; every question is for everybody."""
    study = make_study_without_pictures(tmp_path / "many", 3000, k=800, reserves=100, cap=800)
    study.configure(answers=len(PEOPLE))
    return study.folder.root


def links(folder: Path) -> dict[str, str]:
    return {name: Study(folder).people.add(name) for name in PEOPLE}


def test_nothing_is_lost_when_the_service_is_killed_at_random_moments(
    many_questions: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISSENSUS_DATABASE", database_url)
    kills = KILLS if database_url.startswith("sqlite") else max(5, KILLS // 4)
    seed = random.SystemRandom().getrandbits(32)
    chance = random.Random(seed)
    tokens = links(many_questions)
    parent = started([sys.executable, "-u", str(RESTARTING), "serve", str(many_questions), "--port", "0"])
    lines = Lines(parent)
    try:
        child, address = start_again(parent, lines)
        crowd = Crowd({name: Client(address, token) for name, token in tokens.items()}, seed)
        with crowd:
            for _ in range(kills):
                before = crowd.acknowledged
                eventually(lambda before=before: crowd.acknowledged > before)
                time.sleep(chance.uniform(0, 0.3))
                end(child, signal.SIGKILL)
                child, address = start_again(parent, lines)
                crowd.move(address)
        end(child, signal.SIGKILL)
    finally:
        parent.kill()
        parent.wait(PATIENCE)
    figures = crowd.figures(database_url)
    words = ", ".join(f"{name} {n}" for name, n in figures.items())
    print(f"figures: {database_url.partition(':')[0]}, kills {kills}, seed {seed}, {words}")
    assert not crowd.problems, (seed, crowd.problems[:3])
    assert figures["acknowledged"] == figures["found"] == figures["sent"] > kills, (seed, figures)
    assert figures["lost"] == figures["twice"] == figures["invented"] == 0, (seed, figures)


def end(process: int, how: signal.Signals) -> None:
    """Send a signal that ends a process, and wait until it is gone, with its locks."""
    os.kill(process, how)
    eventually(lambda: not Path(f"/proc/{process}").exists())


def start_again(parent: subprocess.Popen[str], lines: Lines) -> tuple[int, str]:
    """The process id and the address of a new service."""
    assert parent.stdin is not None
    parent.stdin.write("again\n")
    parent.stdin.flush()
    return int(lines.after("process ")), lines.after("is open at")


def fill(path: Path) -> None:
    """Write until there is no room."""
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0" * 4096)


@pytest.mark.parametrize("small_disk", ["4m"], indirect=True)
def test_a_full_disk_stops_writing_and_nothing_else(
    small_disk: Path, study_folder: Path, serve: Callable[..., Served], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small_disk / "study"
    subprocess.run(["cp", "-r", str(study_folder), str(folder)], check=True)
    Study(folder).configure(answers=2)
    service = serve(folder)
    ada, ben, owner = service.add("ada"), service.add("ben"), service.owner
    acknowledged = set()
    first = ada.next(4)
    fill(small_disk / "filler")
    # the database's log may have some room of its own left
    for _ in range(2000):
        given = answer_to(first[0]["ticket"], "yes")
        reply = ada.post("/api/answers", {"answers": [given]})
        if reply.status != 200:
            break
        acknowledged.add(given["id"])
    assert reply.status == 503, reply.body
    assert "try again" in reply.json["reason"]
    waiting = [one["ticket"] for one in first if acknowledged == set() or one is not first[0]]
    assert [one["ticket"] for one in ada.next(4)] == waiting  # what was put to her before, and no more
    assert ada.get("/api/next?ahead=9").status == 200
    assert ada.get("/api/me").status == 200
    assert ada.get(first[1]["images"][0]).headers["content-type"] == "image/png"
    assert owner.get("/api/owner/summary").status == 200
    assert ben.get("/api/me").status == 200
    assert ben.get("/api/next?ahead=1").status == 503
    assert ada.post("/api/answers", {"answers": [answer_to(first[1]["ticket"], "no")]}).status == 503
    for _ in range(20):
        assert ada.post("/api/answers", {"answers": [answer_to(first[1]["ticket"], "no")]}).status == 503
    log = capsys.readouterr().err.splitlines()
    assert len(log) == len(set(log)) < 4, log  # the disk is told to be full once, not for every request
    assert "full" in log[0]
    (small_disk / "filler").unlink()
    again = ada.post("/api/answers", {"answers": [given]})
    assert again.json["stored"] == [given["id"]]
    assert "storing answers works again" in capsys.readouterr().err
    acknowledged.add(given["id"])
    while (ticket := ada.answer_next()) is not None:
        acknowledged.add(ticket)
    service.stop()
    export = small_disk.parent / "all.jsonl"
    stored = Study(folder).judgements_export(export)
    assert stored == len(acknowledged)
    assert all(given in export.read_text() for given in acknowledged)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_postgresql_may_be_restarted_under_the_service(
    how: signal.Signals,
    own_postgres: Postgres,
    many_questions: Path,
    serve: Callable[..., Served],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = own_postgres.new_database()
    monkeypatch.setenv("DISSENSUS_DATABASE", url)
    service = serve(many_questions)
    clients = {name: service.add(name) for name in PEOPLE}
    crowd = Crowd(clients, seed=1)
    with crowd:
        for _ in range(2):
            before = crowd.acknowledged
            eventually(lambda before=before: crowd.acknowledged > before + 20)
            end(own_postgres.server.get_pid(), how)  # SIGINT ends all sessions first, SIGQUIT leaves all as it is
            time.sleep(0.5)
            own_postgres.start()
        before = crowd.acknowledged
        eventually(lambda: crowd.acknowledged > before + 20)
    figures = crowd.figures(url)
    print(f"figures: PostgreSQL stopped ({how.name}) 2, " + ", ".join(f"{name} {n}" for name, n in figures.items()))
    assert not crowd.problems, crowd.problems[:3]
    assert figures["acknowledged"] == figures["found"] == figures["sent"] > 60, figures
    assert figures["lost"] == figures["twice"] == figures["invented"] == 0, figures
    assert service.owner.get("/api/owner/summary").status == 200
