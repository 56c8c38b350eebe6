"""The newcomer's path, walked and timed: from a fresh clone to a report that names each model's failures.

    python benchmarks/first_hour.py CLASSIFIERS PHOTOS [--keep FOLDER]

CLASSIFIERS is a folder with the seven networks of examples/photos, PHOTOS one with photos of the Oxford-IIIT Pet data
set, of which two per breed are used. The script clones this repository, installs it into a fresh virtual environment
as the README says, and types what a newcomer would type. SqueezeNet 1.0 is first predicted with the default settings,
which are wrong for it; the command that `predict` prints corrects it. Three people then answer in real browsers, with
the keyboard. They know the breed from the photo's file name, and press the wrong key in one of twenty answers. Finally
the report is opened.

Prints each command with its seconds, how many answers people gave, and what the report says about each model. Exits
with an error if the warning does not appear, the correction does not remove it, or a model's failures are missing.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = "/usr/bin/chromium"
PEOPLE = ("ann", "bob", "cleo")
SLIPS = 0.05
"""Share of answers in which people press the wrong key."""
SIDE = 16
"""Pixels along each side of the small copies by which photos are recognised."""
QUIET = 40.0
"""Seconds without a question after which everybody is done: pages without one ask again every half minute."""
PATIENCE = 120.0
"""Seconds to wait for a page or a line."""
PIXELS = """(image, side) => {
  const pen = new OffscreenCanvas(side, side).getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, side, side);
  return [...pen.getImageData(0, 0, side, side).data];
}"""
IS_PAST = """(before) => document.body.dataset.screen !== "question"
  || document.querySelector("[data-role=question]").dataset.ticket !== before"""

LITERT = {
    "mobilenet_v1_0.25": "mobilenet_v1_0.25_128_quant.tflite",
    "mobilenet_v1_0.5": "mobilenet_v1_0.5_160_quant.tflite",
    "mobilenet_v1_0.75": "mobilenet_v1_0.75_192_quant.tflite",
    "mobilenet_v2": "mobilenet_v2_1.0_224_quant.tflite",
}
ONNX = {
    "squeezenet1.1": "squeezenet1.1_gluon_fp16w.onnx",
    "squeezenet1.0": "squeezenet1.0_deepcompression_fp16w.onnx",
    "efficientnet_lite0": "efficientnet_lite0_fp16w.onnx",
}
WRONG = "squeezenet1.0"
"""The network whose default settings are wrong."""

SAME = {
    "american_pit_bull_terrier": "American Staffordshire terrier",
    "basset_hound": "basset",
    "english_cocker_spaniel": "cocker spaniel",
    "german_shorthaired": "German short-haired pointer",
    "great_pyrenees": "Great Pyrenees",
    "japanese_chin": "Japanese spaniel",
    "leonberger": "Leonberg",
    "miniature_pinscher": "miniature pinscher",
    "saint_bernard": "Saint Bernard",
    "scottish_terrier": "Scotch terrier",
    "staffordshire_bull_terrier": "Staffordshire bullterrier",
    "wheaten_terrier": "soft-coated wheaten terrier",
    "yorkshire_terrier": "Yorkshire terrier",
    "Egyptian_Mau": "Egyptian cat",
    "Persian": "Persian cat",
    "Siamese": "Siamese cat",
}
"""Breeds whose class has another name in ImageNet; those without a class are never shown, people say."""


@dataclass
class Walk:
    """A newcomer at a shell: every command with its seconds."""

    folder: Path
    shown: dict[str, str] = field(default_factory=lambda: dict(os.environ) | {"COLUMNS": "100", "NO_COLOR": "1"})
    typed: list[tuple[str, float]] = field(default_factory=list)

    def type(self, line: str, cwd: Path | None = None) -> str:
        """What a command prints; it must succeed."""
        began = time.perf_counter()
        done = subprocess.run(
            ["bash", "-c", line], cwd=cwd or self.folder, env=self.shown, text=True, capture_output=True, check=False
        )
        self.count(line, time.perf_counter() - began)
        if done.returncode:
            raise SystemExit(f"{line}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def count(self, line: str, seconds: float) -> None:
        self.typed.append((line, seconds))
        print(f"{seconds:7.1f} s  {line if len(line) <= 110 else line[:107] + '...'}", flush=True)

    @contextmanager
    def running(self, line: str) -> Iterator[list[str]]:
        """A command that runs until Ctrl-C; the lines that it has printed once it is open."""
        began = time.perf_counter()
        process = subprocess.Popen(
            shlex.split(line), cwd=self.folder, env=self.shown, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        printed: list[str] = []
        for text in process.stdout:
            printed.append(text)
            if "#" in text:  # the owner's link comes last
                break
        self.count(line, time.perf_counter() - began)
        try:
            yield printed
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)


@dataclass
class Person:
    """Somebody who knows pets, in front of a browser."""

    name: str
    page: Page
    album: dict[str, Any]
    slips: random.Random
    answers: int = 0

    def start(self, link: str) -> None:
        self.page.goto(link)
        self.page.click("[data-role=start]")

    def is_asked(self) -> bool:
        return self.page.locator("body").get_attribute("data-screen") == "question"

    def answer(self) -> None:
        """Answer the question on the screen, and wait for the next one."""
        self.page.wait_for_selector("[data-role=question][data-ready=true]", timeout=1000 * PATIENCE)
        before = self.page.locator("[data-role=question]").get_attribute("data-ticket")
        item = self._photo()
        name = self.page.locator(".name").inner_text().strip().removesuffix("?")
        is_shown = _class_of(item) == name.lower()
        if self.slips.random() < SLIPS:
            is_shown = not is_shown
        self.page.keyboard.press("y" if is_shown else "n")
        self.page.wait_for_function(IS_PAST, arg=before, timeout=1000 * PATIENCE)
        self.answers += 1

    def _photo(self) -> str:
        shown = np.reshape(self.page.locator(".frame img").evaluate(PIXELS, SIDE), (SIDE, SIDE, 4))[..., :3]
        return min(self.album, key=lambda name: float(np.abs(self.album[name] - shown).sum()))


def main() -> None:
    """Walk the path in a temporary folder, or in one that is kept."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("classifiers", type=Path)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--keep", type=Path, help="a new folder in which everything stays")
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        walk_in(folder.resolve(), given.classifiers, given.photos)
    finally:
        if given.keep is None:
            shutil.rmtree(folder)


def walk_in(folder: Path, classifiers: Path, photos: Path) -> None:
    """The whole path."""
    walk = Walk(folder)
    own_files(folder, classifiers, photos)
    began = time.perf_counter()
    installed(walk)
    predicted(walk)
    walk.type("dissensus plan pets")
    print(indented(walk.type("dissensus select pets"), "round|open questions"))
    links = walk.type("dissensus annotators add pets " + " ".join(PEOPLE))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with walk.running("dissensus browse pets") as printed:
            browsed(browser, link_in(printed))
        with walk.running("dissensus serve pets"):
            answers = answered(browser, folder / "photos", dict(re.findall(r"(\w+)\s+(http\S+)", links)))
        walk.type("dissensus rank pets")
        walk.type("dissensus report pets")
        reported(browser, folder)
    machine = sum(seconds for _, seconds in walk.typed)
    print(
        f"\n{len(walk.typed)} commands, {machine:.0f} s of waiting for them; {time.perf_counter() - began:.0f} s in all"
    )
    print(f"{answers} answers by {len(PEOPLE)} people")


def own_files(folder: Path, classifiers: Path, photos: Path) -> None:
    """The newcomer's own networks and photos, and one file that only looks like a photo."""
    (folder / "photos").mkdir()
    (folder / "networks").mkdir()
    breeds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(photos.glob("*.jpg")):
        breeds[breed_of(path.name)].append(path)
    for path in [path for paths in breeds.values() for path in paths[:2]]:
        shutil.copy(path, folder / "photos")
    (folder / "photos" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not a photo")
    for name in (*LITERT.values(), *ONNX.values()):
        shutil.copy(classifiers / name, folder / "networks")


def installed(walk: Walk) -> None:
    """Clone and install; afterwards the command is on the path."""
    walk.type(f"git clone --quiet {shlex.quote(str(ROOT))} dissensus")
    clone = walk.folder / "dissensus"
    walk.type("python3 -m venv .venv", clone)
    walk.type(".venv/bin/pip install --quiet '.[onnx,litert]'", clone)
    walk.shown["PATH"] = f"{clone}/.venv/bin:{walk.shown['PATH']}"  # . .venv/bin/activate
    walk.shown["VIRTUAL_ENV"] = f"{clone}/.venv"


def predicted(walk: Walk) -> None:
    """Create the study and predict; one network is wrong at first, and corrected as `predict` says."""
    walk.type("dissensus init pets --classes imagenet")
    walk.type("dissensus pool pets photos/")
    walk.type(f"dissensus predict pets {specs('litert', LITERT)} -p class_offset=1")
    doubted = walk.type(f"dissensus predict pets {specs('onnx', ONNX)}")
    said = " ".join(doubted.split())
    found = re.search(r"Correct it: (dissensus predict pets --again .*?)(?= (?:Next:|⚠)|$)", said)
    if found is None or f"⚠ {WRONG}:" not in doubted:
        raise SystemExit(f"no warning about {WRONG}, or no command that corrects it:\n{doubted}")
    print(indented(doubted, "⚠"))
    if "⚠" in (corrected := walk.type(found[1])):
        raise SystemExit(f"still a warning after the correction:\n{corrected}")


def specs(backend: str, files: dict[str, str]) -> str:
    return " ".join(f"{name}={backend}:networks/{file}" for name, file in files.items())


def indented(text: str, pattern: str) -> str:
    """The lines of a command's output that match, as a quotation."""
    return "\n".join(f"             {line}" for line in text.splitlines() if re.search(pattern, line))


def link_in(printed: list[str]) -> str:
    found = re.search(r"http\S+#\S+", "".join(printed))
    assert found is not None, printed
    return found[0]


def browsed(browser: Browser, link: str) -> None:
    """Look at the predictions once."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(link)
    page.wait_for_selector("img")
    page.close()


def answered(browser: Browser, photos: Path, links: dict[str, str]) -> int:
    """Let everybody answer in turn until nobody is asked any more; how many answers they gave."""
    album = {path.name: _look(path) for path in sorted(photos.glob("*.jpg")) if path.name != "broken.jpg"}
    people = []
    for number, name in enumerate(PEOPLE):
        width, height = (390, 844) if name == PEOPLE[-1] else (1440, 900)
        page = browser.new_page(viewport={"width": width, "height": height})
        people.append(Person(name, page, album, random.Random(number)))
        people[-1].start(links[name])
    began = last = time.perf_counter()
    while time.perf_counter() - last < QUIET:
        for person in people:
            if person.is_asked():
                person.answer()
                last = time.perf_counter()
        time.sleep(0.01)
    answers = sum(person.answers for person in people)
    print(f"             {answers} answers in {last - began:.0f} s of real browsers")
    for person in people:
        person.page.close()
    return answers


def reported(browser: Browser, folder: Path) -> None:
    """Open the report: its first sentence, and what it says about each model's failures."""
    report = folder / "pets" / "results" / "report.html"
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(report.as_uri())
    print("\n" + page.locator(".headline").first.inner_text())
    failures = page.locator("#failures")
    said = " ".join(failures.inner_text().split())
    for name in (*LITERT, *ONNX):
        found = re.search(rf"{re.escape(name)} is wrong on [^.]*?\.", said)
        if found is None:
            raise SystemExit(f"the report does not say where {name} fails")
        print(f"  {found[0]}")
    assert "broken.jpg" not in said
    page.close()


def _look(path: Path) -> Any:
    return np.asarray(Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=float)


def breed_of(name: str) -> str:
    return name.rpartition("_")[0]


def _class_of(item: str) -> str:
    """ImageNet's name of the breed, in lower case."""
    breed = breed_of(item)
    return SAME.get(breed, breed.replace("_", " ")).lower()


if __name__ == "__main__":
    main()
