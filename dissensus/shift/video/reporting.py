"""The page about a study's models along video, with the pictures of its strips."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dissensus.backends import Unreadable, read_image
from dissensus.plots import Plot
from dissensus.records import VideoResult
from dissensus.report.page import render
from dissensus.report.pictures import data_uri
from dissensus.report.video.page import TITLE, video_page
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace

SIDE = 128
"""Pixels of a picture in a strip."""
READERS = 2


def video_page_of(work: Workspace[Any], result: VideoResult) -> tuple[str, Sequence[Plot]]:
    """The page and its figures."""
    shown = {frame for strip in result.strips for frame in strip.frames}
    title = f"{work.title}: {TITLE[0].lower()}{TITLE[1:]}" if work.settings.title else TITLE
    page = video_page(result, thumbnails=thumbnails(work, shown), title=title)
    return render(page), page.plots


def thumbnails(work: Workspace[Any], frames: set[str]) -> dict[str, str]:
    """Small pictures of frames as data URIs; those that cannot be read are left out."""
    uris = {item: uri for item, uri in uris_named(work.folder, frames).items() if uri}
    with ThreadPoolExecutor(READERS) as threads:
        made = dict(zip(uris, threads.map(_thumbnail, uris.values()), strict=True))
    return {item: picture for item, picture in made.items() if picture}


def _thumbnail(uri: str) -> str | None:
    image = read_image(Path(uri))
    return None if isinstance(image, Unreadable) else data_uri(image, SIDE)[0]
