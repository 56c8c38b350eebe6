"""How little of an image is enough: the methods of the laconic test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.errors import StudyError
from dissensus.study.asking import Asking

if TYPE_CHECKING:
    from dissensus.laconic.pooling import ReducedPool
    from dissensus.records import LaconicResult
    from dissensus.steps.serving import StudyBacking
    from dissensus.store.settings import Settings


class LaconicTest(Asking):
    """The laconic test: minimal-entropy positive images (MEPIs) of the study's classifiers, and of people."""

    def laconic(
        self,
        truth: str | Path | None = None,
        classes: str | Path | None = None,
        *,
        models: Sequence[str] = (),
        naive: bool = False,
    ) -> LaconicResult:
        """Find how little of each image is enough for each model, and who can read whose reduced images.

        A search that was interrupted resumes, and models that have finished are not searched again. If people have
        played since, the models also read their images.

        Args:
            truth: A CSV, Parquet or NPZ file with the columns item and label: the class of every image to use. It is
                kept in the study, and needed only the first time.
            classes: The classes to tell apart if they are coarser than the study's: a .txt with one name per line
                (classes, or groups of the taxonomy such as dog), or a .csv with the columns name and label. By default
                the study's own.
            models: Names of models; defaults to all that can be run.
            naive: Accept images to which no unbroken path of right answers leads.

        Example:
            >>> study.laconic("truth.csv", "coarse.txt").plot()  # doctest: +SKIP
        """
        from dissensus.laconic.crossing import read_each_other
        from dissensus.laconic.finding import Search, find, runnable
        from dissensus.laconic.found import searched
        from dissensus.laconic.originals import keep_truth
        from dissensus.laconic.results import laconic, played
        from dissensus.reductions.findings import result_of
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
            # those that have been searched read the images of others
            require_agreement(self.folder, model_code(work.settings, (*chosen, *searched(work))))
            known = keep_truth(work, *(None if path is None else Path(path) for path in (truth, classes)))
            find(Search(work, known.first(work.settings.laconic.images), chosen, naive))
            people = played(work)
            read_each_other(work, people.found)
        return result_of(laconic(work, people))

    def laconic_result(self) -> LaconicResult:
        """What has been found so far, about models and people; nothing is searched."""
        from dissensus.laconic.results import laconic
        from dissensus.reductions.findings import result_of

        return result_of(laconic(self._labels("a laconic test").work))

    def laconic_reported(self) -> LaconicResult:
        """What the page says, as it was last written; without the ratios of single images.

        Raises:
            StudyError: no page has been written.
        """
        from dissensus.store.laconic_results import read_laconic

        found = read_laconic(self.folder)
        if found is None:
            raise StudyError(f"the laconic test has no report yet: dissensus laconic report {self.folder.root}")
        return found

    def laconic_report(self, path: str | Path | None = None, figures: str | Path | None = None) -> Path:
        """Write the page about the laconic test, and return its path.

        Args:
            path: Defaults to results/laconic.html in the study.
            figures: A folder for all figures as SVG, PDF and CSV, and all tables as CSV.
        """
        from dissensus.laconic.results import page
        from dissensus.steps.writing import page_path, write_page

        target = page_path(path or self.folder.laconic_report)
        with self._changing():
            write_page(page(self._labels("a laconic test").work), target, figures)
        return target

    def laconic_pool(self, folder: str | Path, reduction: str | None = None) -> ReducedPool:
        """Write the MEPIs of all models, or those of one reduction, as a pool for a competition of labels.

        The folder gets pool.csv, for `pool`, and truth.csv.
        """
        from dissensus.laconic.pooling import write_pool

        return write_pool(self._labels("a laconic test").work, Path(folder), reduction)

    def laconic_serve(
        self,
        ready: Callable[[str, str], None],
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        answers: int | None = None,
        database: str | None = None,
        truth: str | Path | None = None,
        classes: str | Path | None = None,
    ) -> None:
        """Let people play until the process is stopped: they uncover images, and name the MEPIs of machines.

        `truth` and `classes` are those of `laconic`, the other arguments those of `serve`, which cannot run at the same
        time.

        Raises:
            StudyError: the classes of the images are not known yet, or the study is not about labels.
        """
        from dissensus.laconic.originals import keep_truth

        with self._changing():
            work = self._labels("a laconic test").work
            keep_truth(work, *(None if path is None else Path(path) for path in (truth, classes)))
        values = self._service(answers=answers, database=database, host=host, port=port)
        self._serve(values, ready, port, tell, self._playing)

    def _playing(self, tell: Callable[[str], None] | None, settings: Settings) -> StudyBacking:
        """The game behind the service."""
        from dissensus.laconic.asking import Play
        from dissensus.laconic.found import found_mepis
        from dissensus.steps.serving import StudyBacking

        work = self._task_with(settings).work

        def play() -> Play:
            made = Play(work, found_mepis(work))
            if made.obstacle:
                raise StudyError(made.obstacle)
            return made

        return StudyBacking(work, play, tell)
