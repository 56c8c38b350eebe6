"""results/laconic.json: what a laconic test said when its page was made, for other reports to show."""

from __future__ import annotations

from pydantic import ValidationError

from dissensus.errors import StudyError
from dissensus.records import LaconicResult, first_problem
from dissensus.store.files import exists, read_text, write_text
from dissensus.store.folder import Folder


def write_laconic(folder: Folder, result: LaconicResult) -> None:
    """Write the result, without the ratios of single images."""
    write_text(folder.laconic_results, result.model_dump_json(indent=1) + "\n")


def read_laconic(folder: Folder) -> LaconicResult | None:
    """The result as it was last written; None if there is none.

    Raises:
        StudyError: the file was changed by hand, or written by another version.
    """
    if not exists(folder.laconic_results):
        return None
    try:
        return LaconicResult.model_validate_json(read_text(folder.laconic_results))
    except ValidationError as error:
        problem = first_problem(error.errors())
        raise StudyError(
            f"{folder.laconic_results} is not a result of this version ({problem}): "
            f"run dissensus laconic report {folder.root}"
        ) from None
