"""Where the models fail, and why: causes that people tag failures with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.study.finding import Finding

if TYPE_CHECKING:
    from dissensus.records import Cause, Failures


class Failing(Finding):
    """The models' failures and their causes."""

    def failures(self, model: str | None = None) -> Failures:
        """Where each model fails, from what people have judged: its worst errors, confusions, and what sets it apart.

        Args:
            model: Only this model; comparisons stay adjusted for all.

        Raises:
            StudyError: nothing has been selected yet, or there is no such model.
        """
        from dissensus.errors import StudyError

        evaluation = self.evaluation()
        if model is not None and model not in evaluation.models:
            raise StudyError(f"no model '{model}' competes in this study: choose one of {', '.join(evaluation.models)}")
        found = self._task.failures(evaluation)
        return found if model is None else found.only(model)

    def causes(self) -> dict[tuple[str, str], Cause]:
        """Why models failed, by item and model, as people tagged it last."""
        from dissensus.records import latest_causes
        from dissensus.store.causes import read_causes

        return latest_causes(read_causes(self.folder))

    def causes_export(self, path: str | Path) -> int:
        """Write all failures with their causes so far to a CSV file for people to fill in; returns how many."""
        from dissensus.store.causes import write_sheet

        return write_sheet(Path(path), self.failures().failures, self.causes())

    def causes_import(self, path: str | Path, by: str = "owner") -> int:
        """Add the causes of a CSV file (item, model, cause), all or nothing; returns how many are new or changed.

        Earlier tags are kept in causes.csv; the last one counts, and an empty cause takes it back. `by` is who tagged
        them, unless the file has a column of this name.
        """
        from dissensus.store.causes import add_causes, read_sheet

        with self._changing():
            now = datetime.now(UTC).isoformat(timespec="seconds")
            return add_causes(self.folder, read_sheet(Path(path), self.failures().failures, by, now))
