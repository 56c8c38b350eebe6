"""Writing a page with its figures and tables to files."""

from __future__ import annotations

from pathlib import Path

from dissensus.errors import StudyError
from dissensus.progress import Progress, silent
from dissensus.report.page import Page, Rendered, rendered
from dissensus.store.files import write_text


def page_path(path: str | Path) -> Path:
    """Where to write a page.

    Raises:
        StudyError: it is a folder.
    """
    if Path(path).is_dir():
        raise StudyError(f"{path} is a folder: give the name of an HTML file")
    return Path(path)


def write_page(
    page: Page, path: str | Path | None, figures: str | Path | None = None, progress: Progress = silent
) -> Path | None:
    """Write a page; every figure of it as SVG, PDF and CSV, and every table as CSV, to a folder; return its path.

    Raises:
        StudyError: the path of the page is a folder.
    """
    target = None if path is None else page_path(path)
    if target is None and figures is None:
        return None
    made = rendered(page)
    if target is not None:
        write_text(target, made.html)
    if figures is not None:
        write_figures(page, made, Path(figures), progress)
    return target


def write_figures(page: Page, made: Rendered, folder: Path, progress: Progress = silent) -> None:
    """Write every figure of a page as SVG, PDF and CSV, and every table as CSV, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, plot in enumerate(page.plots, start=1):
        plot.write(folder)
        progress("figures", number, len(page.plots))
    for table in made.tables:
        write_text(folder / f"{table.name}.csv", table.csv())
