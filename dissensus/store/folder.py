"""Where the files of a study folder are."""

from __future__ import annotations

from pathlib import Path


class Folder:
    """The paths of a study, all defined here."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = root / "study.toml"
        self.lock = root / ".lock"
        self.serving = root / ".serving"
        self.classes = root / "classes.json"
        self.pool = root / "pool.parquet"
        self.enumeration = root / "pool.json"
        self.given = root / "given"
        self.drawings = root / "drawings"
        self.drawn = self.drawings / "items.parquet"
        self.judgements = root / "judgements.sqlite"
        self.results = root / "results"
        self.ranking = self.results / "ranking.json"
        self.matrices = self.results / "matrices.json"
        self.report = self.results / "report.html"
        self.benchmark = root / "benchmark.csv"

    def predictions(self, model: str) -> Path:
        """The predictions of one model, in pool order."""
        return self.root / "predictions" / f"{model}.parquet"

    def selection(self, number: int) -> Path:
        """The selection of one round."""
        return self.root / "rounds" / f"{number:03}" / "selection.parquet"

    def parts(self, step: str) -> Path:
        """Finished parts of a step that is still running or was interrupted."""
        return self.root / ".unfinished" / step

    def rounds(self) -> list[int]:
        """Numbers of the finished rounds."""
        found = (path.parent.name for path in (self.root / "rounds").glob("*/selection.parquet"))
        return sorted(int(name) for name in found if name.isdecimal())

    def lasting_files(self) -> list[Path]:
        """Every file of the study except its database, locks and what steps have not finished."""
        found = (path for path in self.root.rglob("*") if path.is_file() and path not in (self.lock, self.serving))
        return sorted(
            path
            for path in found
            if not path.name.startswith(self.judgements.name)
            and not any(part.endswith(".unfinished") for part in path.relative_to(self.root).parts)
        )
