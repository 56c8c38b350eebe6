"""Writing a page and its figures to files."""

from __future__ import annotations

from pathlib import Path

from dissensus.errors import StudyError
from dissensus.report.page import Page, render
from dissensus.store.files import write_text


def page_path(path: str | Path) -> Path:
    """Where to write a page.

    Raises:
        StudyError: it is a folder.
    """
    if Path(path).is_dir():
        raise StudyError(f"{path} is a folder: give the name of an HTML file")
    return Path(path)


def write_page(page: Page, path: str | Path | None, figures: str | Path | None = None) -> Path | None:
    """Write a page, and every figure of it as SVG, PDF and CSV to a folder; return the path of the page.

    Raises:
        StudyError: the path of the page is a folder.
    """
    target = None if path is None else page_path(path)
    if target is not None:
        write_text(target, render(page))
    if figures is not None:
        for plot in page.plots:
            plot.write(Path(figures))
    return target
