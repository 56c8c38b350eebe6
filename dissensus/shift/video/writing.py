"""The page about robustness along video, and its figures, as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dissensus.records import DetectionResult, VideoResult
from dissensus.report.page import render
from dissensus.report.video.page import video_page
from dissensus.store.durable import replace_file


def write_page(
    result: VideoResult | None, path: Path, detection: DetectionResult | None = None,
    thumbnails: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write the page about classifiers, detectors or both; `thumbnails` are data URIs by frame."""
    text = render(video_page(result, detection, thumbnails))
    replace_file(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def write_figures(result: VideoResult | None, folder: Path, detection: DetectionResult | None = None) -> None:
    """Write all figures of the page as SVG, PDF and CSV."""
    for plot in video_page(result, detection).plots:
        plot.write(folder)
