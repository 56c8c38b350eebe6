"""How little of an image is enough: the methods of the laconic test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.errors import StudyError
from dissensus.study.base import Base

if TYPE_CHECKING:
    from dissensus.records import Laconic


class LaconicTest(Base):
    """The laconic test: minimal-entropy positive images (MEPIs) of the study's classifiers, and of people."""

    def laconic(
        self,
        truth: str | Path | None = None,
        classes: str | Path | None = None,
        *,
        models: Sequence[str] = (),
        naive: bool = False,
    ) -> Laconic:
        """Find how little of each image is enough for each model, and who can read whose reduced images.

        A search that was interrupted resumes, and models that have finished are not searched again.

        Args:
            truth: A CSV, Parquet or NPZ file with the columns item and label: the class of every image to use. It is
                kept in the study, and needed only the first time.
            classes: The classes to tell apart if they are coarser than the study's: a .txt with one name per line
                (classes, or groups of the taxonomy such as dog), or a .csv with the columns name and label. By default
                the study's own.
            models: Names of models; defaults to all that can be run.
            naive: Accept images to which no unbroken path of right answers leads.
        """
        from dissensus.laconic.finding import Search, find, runnable
        from dissensus.laconic.found import laconic, read_each_other
        from dissensus.laconic.originals import keep_truth
        from dissensus.steps.code import model_code
        from dissensus.store.consent import require_agreement

        with self._changing():
            work = self._labels("a laconic test").work
            able = runnable(work)
            if not able:
                raise StudyError("no model of the study can be run on reduced images: add one with dissensus predict")
            unable = [name for name in models if name not in able]
            if unable:
                raise StudyError(f"{unable[0]} cannot be run on reduced images: choose from {', '.join(able)}")
            chosen = tuple(models or able)
            require_agreement(self.folder, model_code(work.settings, chosen))
            known = keep_truth(work, *(None if path is None else Path(path) for path in (truth, classes)))
            used = known.first(work.settings.laconic.images)
            find(Search(work, used, chosen, naive))
            read_each_other(work)
        return laconic(work)
