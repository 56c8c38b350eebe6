"""The owner's routes to the models' predictions: what they show, and that nobody else gets any of it."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import combinations
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from served import CLASSES, MODELS, Client, Lines, Served, ServedProcess, make_study, predictions, started

from dissensus.competition.browsing import PredictionBrowser
from dissensus.study import Study
from dissensus.web.backing import NamedFilter

API = "/api/owner/predictions"
ROUTES = (
    f"{API}/about",
    f"{API}/items",
    f"{API}/0/thumbnail",
    f"{API}/0/picture",
    f"{API}/0/clip",
    f"{API}/0/map?model=aurora",
)


class Browsed(Served):
    """`dissensus browse` in a thread."""

    def _serve(self) -> None:
        try:
            Study(self.folder).browse(self._opened, port=self.port)
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with predictions, before anything was selected."""
    root = tmp_path_factory.mktemp("unasked")
    study = make_study(root / "asked", items=30)
    (root / "classes.txt").write_text("\n".join(CLASSES))
    bare = Study.init(root / "study", classes=str(root / "classes.txt"), title="Animals")
    bare.pool([root / "asked" / "pictures"])
    bare.predict([predictions(root, name, study.items()) for name in MODELS])
    return bare


@pytest.fixture(scope="module")
def browsed(unasked: Study) -> Iterator[Browsed]:
    with Browsed(unasked.folder.root) as served:
        yield served


def asked(owner: Client, **wanted: Any) -> Any:
    reply = owner.get(f"{API}/items?{urlencode(wanted)}")
    assert reply.status == 200, reply.body
    return reply.json


@pytest.mark.parametrize("path", ROUTES)
def test_annotators_and_strangers_get_nothing(service: Served, path: str) -> None:
    for person in (service.add("ada"), Client(service.address)):
        reply = person.get(path)
        assert reply.status == 401, path
        assert list(reply.json) == ["reason"]
    assert service.owner.get(path).status in (200, 404), path


def test_the_page_itself_says_nothing_about_the_study(service: Served) -> None:
    page = service.add("ada").get("/browse")
    assert page.status == 200
    assert not any(name in page.body.decode() for name in (*MODELS, "Animals", "picture0"))


def test_the_dashboard_says_that_there_are_predictions(service: Served) -> None:
    assert service.owner.get("/api/owner/summary").json["has_predictions"] is True
    assert service.owner.get(f"{API}/about").json["has_dashboard"] is True


def test_browse_works_before_anything_is_selected_and_changes_nothing(unasked: Study) -> None:
    before = {path: path.stat().st_mtime_ns for path in unasked.folder.root.rglob("*")}
    with Browsed(unasked.folder.root, "--port", "0") as browsed:
        found = asked(browsed.owner)
        assert found["total"] == 30
        assert browsed.owner.get(f"{API}/about").json["has_dashboard"] is False
        for path in ("/api/me", "/api/next", "/api/owner/summary", "/owner"):
            assert browsed.owner.get(path).status == 404, path
        assert Client(browsed.address).get(f"{API}/items").status == 401
    changed = {path.name for path in unasked.folder.root.rglob("*") if before.get(path) != path.stat().st_mtime_ns}
    assert changed <= {"study.toml", "study", ".lock"}, "only this test's own setting of the service"


def test_items_come_with_every_prediction_and_the_most_contested_first(browsed: Browsed, unasked: Study) -> None:
    labels = {name: unasked.predictions(name)["label"] for name in MODELS}
    place = {item: number for number, item in enumerate(unasked.items())}
    found = asked(browsed.owner, count=100)
    assert len(found["items"]) == found["total"] == found["reachable"] == 30
    shares = []
    for item in found["items"]:
        said = [labels[name][place[item["item"]]] for name in MODELS]
        assert [CLASSES[one["label"]] for one in item["predictions"]] == said
        assert all(one["level"] == pytest.approx(0.9) for one in item["predictions"])
        shares.append(np.mean([one != other for one, other in combinations(said, 2)]))
        assert item["distance"] == pytest.approx(shares[-1])
    assert shares == sorted(shares, reverse=True)
    assert found["differing"] == sum(share > 0 for share in shares)


def test_filters_find_what_they_say(browsed: Browsed, unasked: Study) -> None:
    aurora, borealis = (np.array(unasked.predictions(name)["label"]) for name in MODELS[:2])
    owner, label = browsed.owner, str(aurora[0])
    assert asked(owner, model="aurora", **{"class": label})["total"] == int((aurora == label).sum())
    assert asked(owner, model="aurora", other="borealis", least=1)["total"] == int((aurora != borealis).sum())
    assert asked(owner, low=0.95)["total"] == 0
    assert asked(owner, high=0.95, low=0.85)["total"] == 30
    listed = dict(asked(owner, model="aurora")["labels"])
    assert listed == {CLASSES.index(name): int((aurora == name).sum()) for name in set(aurora.tolist())}
    pages = [asked(owner, sort="random", start=start, count=8)["items"] for start in range(0, 30, 8)]
    assert [one["number"] for page in pages for one in page] == list(range(30))
    assert asked(owner, start=1000)["items"] == []


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"model": "zephyr"}, "there is no model 'zephyr'"),
        ({"class": "unicorn"}, "there is no class 'unicorn'"),
        ({"model": "aurora", "other": "aurora"}, "cannot be compared with itself"),
    ],
)
def test_what_does_not_exist_is_refused_in_words(browsed: Browsed, wanted: dict[str, str], reason: str) -> None:
    reply = browsed.owner.get(f"{API}/items?{urlencode(wanted)}")
    assert reply.status == 400
    assert reason in reply.json["reason"]


def test_thumbnails_are_small_and_say_nothing_but_their_pixels(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(4):
        exif = Image.Exif()
        exif[0x010E] = "made by aurora"
        pixels = np.random.default_rng(number).integers(0, 255, (600, 900, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"p{number}.jpg", exif=exif)
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"no picture")
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool([tmp_path / "photos"])
    study.predict(small=["cat", "dog", "cat", "dog", "dog"])
    with Browsed(study.folder.root) as served:
        owner = served.owner
        numbers = {one["item"]: one["number"] for one in asked(owner)["items"]}
        small, whole = (owner.get(f"{API}/{numbers['p0.jpg']}/{what}") for what in ("thumbnail", "picture"))
        assert Image.open(BytesIO(small.body)).size == (320, 213)
        assert Image.open(BytesIO(whole.body)).size == (900, 600)
        assert b"aurora" not in small.body + whole.body
        assert owner.get(f"{API}/{numbers['broken.jpg']}/thumbnail").status == 404
        assert owner.get(f"{API}/5/picture").status == 404


def test_models_that_join_while_the_page_is_open_are_shown(unasked: Study, tmp_path: Path) -> None:
    shutil.copytree(unasked.folder.root, tmp_path / "study")
    study = Study(tmp_path / "study")
    with Browsed(study.folder.root) as served:
        assert len(asked(served.owner)["items"][0]["predictions"]) == 3
        study.predict([predictions(tmp_path, "dew", study.items())])
        assert served.owner.get(f"{API}/about").json["models"] == [*MODELS, "dew"]
        assert len(asked(served.owner)["items"][0]["predictions"]) == 4


def test_without_predictions_one_line_says_what_to_do(command: Callable[..., Any], tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool(items=["a", "b"])
    ended = command("browse", study.folder.root)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.strip().splitlines() == [
        f"dissensus: there are no predictions yet: dissensus predict {study.folder.root} NAME=BACKEND:TARGET …"
    ]


@pytest.mark.parametrize("where", [("--port", 99999999), ("--port", -1), ("--host", "a" * 70)])
def test_an_address_that_cannot_be_is_refused(command: Callable[..., Any], unasked: Study, where: Any) -> None:
    ended = command("browse", unasked.folder.root, *where)
    assert ended.returncode == 2
    assert "choose another --host or --port" in ended.stderr


class BrowseProcess(ServedProcess):
    """`dissensus browse` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = started([sys.executable, "-u", "-m", "dissensus", "browse", str(folder), "--port", "0"])
        self.lines = Lines(self.process)
        self.address, _, self.owner_token = self.lines.after("  ").partition("/browse#")


def test_the_command_prints_the_link_and_ends_when_told(unasked: Study) -> None:
    with BrowseProcess(unasked.folder.root) as served:
        assert asked(served.owner)["total"] == 30
        assert served.stop() == 0


def test_a_search_that_a_later_one_replaces_is_asked_for_again(unasked: Study) -> None:
    browser = PredictionBrowser(lambda: unasked._task)
    hold, replies = Event(), list[dict[str, Any]]()
    browser.thread.submit(hold.wait)
    first = Thread(target=lambda: replies.append(browser.page(NamedFilter(sort="high"), 0, 5)))
    first.start()
    while not browser.found:
        time.sleep(0.01)
    later = Thread(target=lambda: replies.append(browser.page(NamedFilter(sort="low"), 0, 5)))
    later.start()
    first.join()
    hold.set()
    later.join()
    assert [reply["progress"] is None for reply in replies] == [False, True]
    assert browser.page(NamedFilter(sort="high"), 0, 5)["total"] == 30
