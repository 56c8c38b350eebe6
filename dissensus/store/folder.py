"""Where the files of a study folder are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.store.checksums import NAME, listed


class Folder:
    """The paths of a study, all defined here."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = root / "study.toml"
        self.checksums = root / NAME
        self.lock = root / ".lock"
        self.serving = root / ".serving"
        self.classes = root / "classes.json"
        self.pool = root / "pool.parquet"
        self.enumeration = root / "pool.json"
        self.descriptors = root / "descriptors.parquet"
        self.given = root / "given"
        self.drawings = root / "drawings"
        self.drawn = self.drawings / "items.parquet"
        self.judgements = root / "judgements.sqlite"
        self.results = root / "results"
        self.ranking = self.results / "ranking.json"
        self.matrices = self.results / "matrices.json"
        self.report = self.results / "report.html"
        self.sanity = self.results / "predictions.json"
        self.benchmark = root / "benchmark.csv"
        self.causes = root / "causes.csv"
        self.laconic = root / "laconic"
        self.laconic_truth = self.laconic / "truth.parquet"
        self.laconic_readings = self.laconic / "readings.parquet"
        self.laconic_report = self.results / "laconic.html"
        self.laconic_results = self.results / "laconic.json"
        self.replica = root / "replica"
        self.replica_images = self.replica / "images.parquet"
        self.replica_grids = self.replica / "grids.parquet"
        self.replica_pairs = self.replica / "pairs.parquet"
        self.human = root / "human"
        self.human_truth = self.human / "truth.parquet"
        self.human_images = self.human / "images.parquet"
        self.human_examples = self.human / "examples.parquet"
        self.human_guide = self.human / "guide.parquet"
        self.human_reviews = self.human / "reviews.parquet"
        self.human_report = self.results / "people.html"
        self.video = root / "video"
        self.video_frames = self.video / "frames.parquet"
        self.video_distances = self.video / "distances.parquet"
        self.video_report = self.results / "video.html"

    def __reduce__(self) -> tuple[type[Folder], tuple[Path]]:
        """In another process, which may work in another folder, the path is absolute."""
        return Folder, (self.root.absolute(),)

    def predictions(self, model: str) -> Path:
        """The predictions of one model, in pool order."""
        return self.root / "predictions" / f"{model}.parquet"

    def selection(self, number: int) -> Path:
        """The selection of one round."""
        return self.root / "rounds" / f"{number:03}" / "selection.parquet"

    def candidates(self, number: int) -> Path:
        """What the passes over the pool found for a round, kept for a pool that grows."""
        return self.selection(number).with_name("candidates.parquet")

    def mepis(self, model: str) -> Path:
        """The minimal-entropy positive images of one model."""
        return self.laconic / "mepis" / f"{model}.parquet"

    def batch(self, number: int) -> Path:
        """Questions that were drawn together."""
        return self.root / "draws" / f"{number:03}.parquet"

    def revision(self, strategy: str, number: int) -> Path:
        """One revision of a replica of a test set."""
        return self.replica / strategy / f"{number:03}.parquet"

    def human_person(self, name: str) -> Path:
        """The labels of a person who joined the competition."""
        return self.human / "people" / f"{name}.parquet"

    def parts(self, step: str) -> Path:
        """Finished parts of a step that is still running or was interrupted."""
        return self.root / ".unfinished" / step

    def rounds(self) -> list[int]:
        """Numbers of the finished rounds.

        Raises:
            StudyError: a round is missing.
        """
        return self._numbers("rounds/*/selection.parquet", lambda path: path.parent.name, self.selection)

    def batches(self) -> list[int]:
        """Numbers of the batches of draws.

        Raises:
            StudyError: a batch is missing.
        """
        return self._numbers("draws/*.parquet", lambda path: path.stem, self.batch)

    def revisions(self, strategy: str) -> list[int]:
        """Numbers of the revisions that a strategy has made.

        Raises:
            StudyError: a revision is missing.
        """
        path_of = partial(self.revision, strategy)
        return self._numbers(f"replica/{strategy}/*.parquet", lambda path: path.stem, path_of)

    def _numbers(self, pattern: str, name: Callable[[Path], str], path_of: Callable[[int], Path]) -> list[int]:
        """The numbers in the names of files that are numbered from 1, none of which may be missing."""
        known = [name(path) for path in map(Path, listed(self.root, pattern))]
        found = [name(path) for path in self.root.glob(pattern)]
        numbers, expected = (sorted(int(one) for one in names if one.isdecimal()) for names in (found, known))
        missing = {*range(1, max([*numbers, *expected], default=0) + 1)} - {*numbers}
        if missing:
            raise StudyError(f"{path_of(min(missing))} is missing: restore it from a backup")
        return numbers

    def lasting_files(self) -> list[Path]:
        """Every file of the study except its database, locks and the files of unfinished steps."""
        found = (path for path in self.root.rglob("*") if path.is_file() and path not in (self.lock, self.serving))
        return sorted(
            path
            for path in found
            if not path.name.startswith(self.judgements.name)
            and not any(part.endswith(".unfinished") for part in path.relative_to(self.root).parts)
        )
