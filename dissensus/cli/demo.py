"""`dissensus demo`: complete studies, offline."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, serving
from dissensus.cli.options import Json
from dissensus.errors import StudyError
from dissensus.study import Study

if TYPE_CHECKING:
    from dissensus.demo import SlidersReady

DEMOS = {
    "labels": "dissensus-demo",
    "scores": "dissensus-demo-scores",
    "masks": "dissensus-demo-masks",
    "laconic": "dissensus-demo-laconic",
    "shift": "dissensus-demo-shift",
    "human": "dissensus-demo-human",
    "video": "dissensus-demo-video",
}
"""Default folder of each demo."""


@app.command()
def demo(
    task: Annotated[
        str,
        typer.Argument(
            metavar="labels|scores|masks|laconic|shift|human|video", help="Which demo to run.", show_default="labels"
        ),
    ] = "labels",
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder for the demo.", show_default="dissensus-demo")
    ] = None,
    by_hand: Annotated[bool, typer.Option("--by-hand", help="Answer the questions yourself (labels, masks).")] = False,
    serve: Annotated[bool, typer.Option(help="Open the slider pages (scores).")] = True,
    json: Json = False,
) -> None:
    """Run a complete study offline with real models: classifiers, image quality metrics or segmentation models.

    The labels and masks demos run from start to finish in seconds. The laconic demo (how little of a digit is enough?),
    the shift demo (does a score survive a new test set?), the human demo (are people better than models?) and the video
    demo (what is lost if the camera moves?) take up to a minute. The scores demo stops at the slider pages, where you
    give the answers.

    Example: `dissensus demo scores my-first-photos`
    """
    from dissensus import demo as demos

    if task not in DEMOS:  # `dissensus demo ./DIR`
        if folder is not None or not is_path(task):
            raise StudyError(f"unknown demo '{task}': choose {', '.join(DEMOS)}; for a folder, write ./{task}")
        task, folder = "labels", Path(task)
    if task != "scores" and not serve:
        raise StudyError(f"the {task} demo opens no pages: --no-serve only applies to dissensus demo scores")
    if task == "scores" and by_hand:
        raise StudyError(
            "you answer the scores demo yourself anyway: --by-hand only applies to the labels and masks demos"
        )
    if task in ("laconic", "shift", "human", "video") and by_hand:
        group = f"shift {task}" if task in ("human", "video") else task
        raise StudyError(f"the {task} demo asks nobody: take part afterwards with dissensus {group} serve")
    folder = folder or Path(DEMOS[task])
    demos.claim(folder, task)
    with printing.progress(quiet=json) as progress:
        finished: dict[str, Callable[[], None]] = {
            "labels": lambda: printing.show_demo(demos.run_demo(folder, by_hand, progress), json),
            "masks": lambda: printing.show_masks_demo(demos.run_masks_demo(folder, by_hand, progress), json),
            "laconic": lambda: printing.show_laconic_demo(demos.run_laconic_demo(folder, progress), json),
            "shift": lambda: printing.show_shift_demo(demos.run_shift_demo(folder, progress), json),
            "human": lambda: printing.show_human_demo(demos.run_human_demo(folder, progress), json),
            "video": lambda: printing.show_video_demo(demos.run_video_demo(folder, progress), json),
        }
        if task in finished:
            return finished[task]()
        ready = demos.prepare_sliders(folder, progress)
    printing.show_sliders(ready, serve, json)
    if serve and not json:
        with serving():
            Study(ready.study).serve(_open_sliders(ready), None, 0, answers=1)  # nobody else is asked
        printing.say("stopped; every answer is stored")
        printing.say_next(f"dissensus report {shlex.quote(str(ready.study))}")
    return None


def is_path(text: str) -> bool:
    """Whether somebody can only mean a folder; a bare word may be a misspelt name."""
    return Path(text).name != text


def _open_sliders(ready: SlidersReady) -> Callable[[str, str], None]:
    """Callback for when the slider pages are up: print their address and open them."""

    def opened(address: str, owner_token: str) -> None:
        link = f"{address}/#{ready.token}"
        printing.show_sliders_open(link, f"{address}/owner#{owner_token}")
        _browse(link)

    return opened


def _browse(link: str) -> None:
    """Open the link in a graphical browser; a text browser would take the terminal away from the service."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    # xdg-open and the like are subclasses of GenericBrowser; links, lynx and w3m are plain instances
    if type(browser) is not webbrowser.GenericBrowser and browser.name != "elinks":
        browser.open(link)
