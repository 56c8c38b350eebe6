"""Images are opened in one place, with a list of formats: no picture of a pool starts another program."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import EpsImagePlugin, Image

import dissensus
from dissensus.backends import Unreadable, read_image
from dissensus.errors import StudyError
from dissensus.images import FORMATS, open_image
from dissensus.steps.distorting import distort
from dissensus.study import Study
from dissensus.tasks.masks.sizes import image_size
from dissensus.web.pictures import clean_picture

PACKAGE = Path(dissensus.__file__).parent
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\nshowpage\n%%EOF\n"
GHOSTSCRIPT = "#!/bin/sh\necho started >> {log}\n"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Whether Ghostscript was started: one that only notes that it was."""
    log, programs = tmp_path / "started.txt", tmp_path / "programs"
    programs.mkdir()
    (programs / "gs").write_text(GHOSTSCRIPT.format(log=log))
    (programs / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)  # Pillow looks for it once
    return log.exists


@pytest.fixture
def disguised(tmp_path: Path) -> Path:
    """A folder with a picture, and an EPS that has a picture's name."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(EPS)
    Image.radial_gradient("L").save(folder / "b.png")
    Image.effect_noise((256, 256), 60).save(folder / "c.png")
    return folder


def test_pillow_alone_would_start_it(started, disguised):
    with Image.open(disguised / "a.png") as image, pytest.raises(OSError):  # noqa: PT011  (of any kind)
        image.load()
    assert started()


def test_predict_does_not_start_ghostscript(started, disguised, tmp_path):
    study = Study.init(tmp_path / "study", task="scores")
    study.pool([disguised])
    study.predict(["piqe=quality:piqe"])
    assert study.status().models[0].reasons["not an image in a known format"] == 1
    assert not started()


def test_distort_does_not_start_ghostscript(started, disguised, tmp_path):
    found = distort([str(disguised)], tmp_path / "out", ["jpeg"], [1])
    assert found.skipped[0][1] == "not an image in a known format"
    assert not started()


def _refused(path: Path) -> Any:
    with pytest.raises(StudyError, match="this picture"):
        clean_picture(path)
    return Unreadable("")


@pytest.mark.parametrize("read", [read_image, image_size, _refused], ids=["report", "masks", "service"])
def test_no_reader_starts_ghostscript(started, disguised, read):
    assert isinstance(read(disguised / "a.png"), Unreadable)
    assert not started()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_whatever_its_file_is_called(tmp_path, name):
    picture = Image.new("RGB", (32, 16), "red")
    picture.save(tmp_path / "a.png", name)
    found = read_image(tmp_path / "a.png")
    assert not isinstance(found, Unreadable)
    assert found.size == (32, 16) if name != "ICO" else True
    with open_image(BytesIO((tmp_path / "a.png").read_bytes())) as image:
        assert image.format in (name, "MPO")


@pytest.mark.parametrize("read", [read_image, image_size, _refused], ids=["report", "masks", "service"])
def test_a_pipe_is_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "a.png")
    assert isinstance(read(tmp_path / "a.png"), Unreadable)


def opened_elsewhere(tree: ast.AST) -> Iterator[int]:
    """Lines that open an image with Pillow: `Image.open`, `PIL.Image.open`, or `open` imported from PIL.Image."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "open":
            owner = node.value
            if (owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")) == "Image":
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module == "PIL.Image":
            yield from (node.lineno for name in node.names if name.name == "open")
        elif isinstance(node, ast.ImportFrom | ast.Import):  # another name for it would hide it
            yield from (
                node.lineno for name in node.names if name.asname and name.name in ("Image", "PIL.Image", "PIL")
            )


@pytest.mark.parametrize(
    "line", ["Image.open(x)", "PIL.Image.open(x)", "from PIL.Image import open", "from PIL import Image as I"]
)
def test_other_ways_to_open_are_noticed(line):
    assert [*opened_elsewhere(ast.parse(line))] == [1]


def test_nothing_else_in_the_package_opens_images():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in opened_elsewhere(ast.parse(path.read_text()))
    ]
    assert [place.partition(":")[0] for place in found] == ["images.py"], f"use open_image instead: {found}"
