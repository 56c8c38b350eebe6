"""A test set collected again: the methods of a replication."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import StudyError
from dissensus.study.asking import Asking

if TYPE_CHECKING:
    from dissensus.records.replica import Collected, Exported, FoundPairs, ReplicaStatus, Sampled
    from dissensus.steps.serving import StudyBacking
    from dissensus.steps.workspace import Workspace
    from dissensus.store.settings import Settings

WHAT = "a replica of a test set"


class Replication(Asking):
    """A replica of a test set: candidates that people select, matched to the originals."""

    def shift_collect(self, originals: str | Path | None = None, candidates: str | Path | None = None) -> Collected:
        """Collect originals and candidates, and compose the tasks for people.

        Candidates can be added by a later call; originals are given once. Images that cannot be read, and copies of
        others, are listed and left out.

        Args:
            originals: A folder with a subfolder per class, or a CSV file with the columns item or path, and label;
                optionally keyword, date and anything else, which is kept.
            candidates: The same for the new images.

        Example:
            >>> study.shift_collect("test-set", "candidates")  # doctest: +SKIP
        """
        from dissensus.shift.replicate.collection import collect

        with self._changing():
            return collect(self._replica, *(None if path is None else Path(path) for path in (originals, candidates)))

    def shift_duplicates(self, features: str | Path | None = None) -> FoundPairs:
        """Look for near-duplicates among the candidates, and between them and the originals, for people to review.

        Args:
            features: An .npz file with the arrays item and features, such as those of a network; by default,
                gradients and colours are compared.
        """
        from dissensus.shift.replicate.pairs import find_pairs

        with self._changing():
            return find_pairs(self._replica, None if features is None else Path(features))

    def shift_sample(
        self,
        strategy: str = "matched",
        per_class: int | None = None,
        seed: int | None = None,
        *,
        votes: int | None = None,
        keywords: bool | None = None,
        anew: bool = False,
    ) -> Sampled:
        """Make the next revision of the new test set, from the answers so far.

        Images that reviewers have not removed stay; the others are replaced from the pool. If nothing changes, no
        revision is written, and the result says so.

        Args:
            strategy: matched (MatchedFrequency), threshold (Threshold) or top (TopImages).
            per_class: Images per class; defaults to study.toml, or 10.
            seed: Of the draws; defaults to study.toml, or 0.
            votes: The fewest workers who must have seen an image; defaults to `workers` in study.toml, or 10.
            keywords: Match the originals' distribution of keywords as well.
            anew: Draw all images again, by the answers of now and possibly with other settings. Earlier revisions
                are kept, and what reviewers removed stays removed.
        """
        from dissensus.shift.replicate.sampling import sample

        with self._changing():
            return sample(self._replica, strategy, per_class, seed, votes, keywords, is_anew=anew)

    def shift_export(self, folder: str | Path, strategy: str = "matched", revision: int | None = None) -> Exported:
        """Write a revision, the latest by default, to a folder: images/, items.csv, originals.csv and DATA_CARD.md."""
        from dissensus.shift.replicate.exporting import export

        return export(self._replica, Path(folder), strategy, revision)

    def shift_status(self) -> ReplicaStatus:
        """How far the replication is: classes, workers, near-duplicates and revisions."""
        from dissensus.shift.replicate.progress import status

        return status(self._replica)

    def shift_serve(
        self,
        ready: Callable[[str, str], None],
        page: str = "grid",
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        answers: int | None = None,
        database: str | None = None,
    ) -> None:
        """Ask people until the process is stopped: about grids of images, pairs that look alike, or a revision.

        Args:
            page: grid, pairs or review.
            answers: People who answer each question of this page; saved in study.toml.

        The other arguments are those of `serve`, which cannot run at the same time.

        Raises:
            StudyError: there is no such page, or nothing to ask yet.
        """
        from dissensus.shift.replicate.pages import PAGES

        if page not in PAGES:
            raise StudyError(f"'{page}' is not a page: choose from {', '.join(PAGES)}")
        PAGES[page](self._replica)  # says in words if there is nothing to ask, before anything is changed
        values = self._service(None, database, host, port, None, None)
        if answers is not None:
            values["replica"] = {_people(page): answers}
        self._serve(values, ready, port, tell, partial(self._replicating, page))

    def _replicating(self, page: str, tell: Callable[[str], None] | None, settings: Settings) -> StudyBacking:
        """A page of the replication behind the service; as many people answer as the replica's settings say."""
        from dissensus.shift.replicate.pages import PAGES

        people: int = getattr(settings.replica, _people(page))  # type: ignore[attr-defined]
        return self._inquiring(settings, people, PAGES[page], tell)

    @property
    def _replica(self) -> Workspace[Any]:
        return self._labels(WHAT).work


def _people(page: str) -> str:
    """The setting that says how many people answer a question of a page."""
    return "workers" if page == "grid" else "reviewers"
