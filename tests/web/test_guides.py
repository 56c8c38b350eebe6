"""Guides and examples of classes over HTTP: for people who are signed in, and without anything about files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from guided import GUIDE, MANY, guided
from PIL import Image
from served import CLASSES, Client, Served

from dissensus.competition.evaluation import Competition
from dissensus.errors import StudyError


@pytest.fixture
def service(serve: Callable[..., Served], study_folder: Path, tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "secret-folder").mkdir()
    with guided(tmp_path / "secret-folder"):
        yield serve(study_folder)


def test_a_class_has_a_guide_and_examples_without_metadata(service: Served) -> None:
    ada = service.add("ada")
    assert ada.get("/api/me").json["guided"] is True
    about = ada.get("/api/classes/3").json
    assert about["examples"] == MANY
    assert about["guide"].startswith(GUIDE)
    for place in (0, MANY - 1):
        reply = ada.get(f"/example/3/{place}")
        assert reply.headers["content-type"] == "image/jpeg"
        assert Image.open(BytesIO(reply.body)).size == (200, 200)
        assert b"secret" not in reply.body
        assert "secret" not in str(reply.headers)


def test_strangers_see_none_of_it(service: Served) -> None:
    stranger = Client(service.address)
    assert [stranger.get(path).status for path in ("/api/classes/0", "/example/0/0")] == [401, 401]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/api/classes/{len(CLASSES)}", 404),
        (f"/example/{len(CLASSES)}/0", 404),
        (f"/example/0/{MANY}", 404),
        ("/api/classes/-1", 422),
        ("/api/classes/ant", 422),
        ("/api/classes/99999999999999999999", 422),
        ("/example/0/1000", 422),
        ("/example/0/..", 404),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(service: Served, path: str, status: int) -> None:
    reply = service.add("ada").get(path)
    assert reply.status == status or (path.endswith("..") and reply.status in (404, 422))
    assert "secret" not in reply.body.decode()
    assert "\n" not in reply.json["reason"]


def test_examples_that_are_gone_or_cannot_be_found_are_refused(
    service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = service.add("ada")
    for path in (tmp_path / "secret-folder").iterdir():
        path.unlink()
    gone = ada.get("/example/0/0")
    assert (gone.status, gone.json["reason"]) == (404, "this picture is gone")

    def broken(_self: Competition, _label: int) -> list[str]:
        raise StudyError("no folder secret-folder")

    monkeypatch.setattr(Competition, "examples", broken)
    assert ada.get("/api/classes/0").json == {"reason": "this class cannot be shown"}


def test_a_study_without_guides_says_so(serve: Callable[..., Served], study_folder: Path) -> None:
    ada = serve(study_folder).add("ada")
    assert ada.get("/api/me").json["guided"] is False
    assert ada.get("/api/classes/0").json == {"guide": "", "examples": 0}
    assert ada.get("/example/0/0").status == 404


def test_examples_are_not_kept_for_long_as_another_study_has_others_there(service: Served) -> None:
    assert service.add("ada").get("/example/3/0").headers["cache-control"] == "private, max-age=60"
