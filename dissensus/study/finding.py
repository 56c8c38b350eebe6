"""What follows from the answers: rankings, reports, and the state of the study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dissensus.study.base import Base, file_of

if TYPE_CHECKING:
    from dissensus.competition.checking import Check
    from dissensus.competition.status import Status
    from dissensus.competition.task import Evaluation
    from dissensus.plots import Plot
    from dissensus.records import Estimates, Plan, Ranking, Rankings, Replay
    from dissensus.report.data import Benchmark


class Finding(Base):
    """Rankings, figures and reports, and whether the study is intact."""

    def rank(self, method: str | None = None) -> Ranking | Rankings:
        """Rank the models by the annotators' answers, and save the result in results/.

        Returns a `Ranking` for labels, and a `Rankings` (by aggressiveness and by resistance) for scores and masks.
        """
        return self._task.rank(self._answered(), method)

    def _answered(self) -> Evaluation[Any, Any]:
        """The evaluation, if anybody has answered anything.

        Raises:
            RankingError: nobody has.
        """
        from dissensus.errors import RankingError

        evaluation = self.evaluation()
        if self._task.work.answers.counts()[0] == 0:
            study = shlex.quote(str(self.folder.root))
            raise RankingError(
                f"nobody has answered yet: dissensus serve {study}, or dissensus judgements import {study} FILE"
            )
        return evaluation

    def draw(
        self,
        count: int | None = None,
        goal: Literal["order", "best"] | None = None,
        question: Literal["contains", "pick", "auto"] | None = None,
    ) -> int:
        """Draw questions at random to estimate how often each classifier is right; returns how many.

        Questions whose answers would decide more are drawn more often, and the probabilities are recorded. `serve` does
        this by itself while people answer, up to `estimate.questions` in study.toml.

        Args:
            count: How many; defaults to `estimate.batch` in study.toml.
            goal: Whether the order of all models matters, or only which is best; defaults to `estimate.goal`, or to
                what `estimate.until` needs.
            question: Whether to ask about one label of an item ('contains'), about all of them ('pick'), or whichever
                is cheaper ('auto'); defaults to `estimate.question`.
        """
        task = self._labels("draws")
        with self._changing():
            return task.draw(self._unweighed(), count, goal, question)

    def estimates(self) -> Estimates:
        """Which classifiers are most often right on the pool, with intervals, from all answers and draws so far."""
        return self._labels("estimates").estimates(self.evaluation())

    def plan(self, until: str | None = None, answers: int | None = None) -> Plan:
        """How many questions, answers and minutes it takes until something is decided about the classifiers.

        A pool and predictions are enough: before anybody is asked, the forecast rests on how the models agree. Later it
        rests on the answers and draws so far.

        Args:
            until: What is to be decided: best, order, 'ε=0.01', or both such as 'order,ε=0.01'; by default several.
            answers: How many people answer each question; defaults to what `serve` would ask for.
        """
        task = self._labels("plans")
        return task.plan(self._unweighed() if self.folder.rounds() else None, until, answers)

    def rule_changes(self) -> tuple[str, ...]:
        """What has changed in [judge] since the last ranking, in a sentence; empty if nothing has."""
        from dissensus.competition.changes import changed_rules

        return changed_rules(self.folder, self.settings.judge.model_dump())

    def evaluation(self) -> Evaluation[Any, Any]:
        """All rounds with their answers and what follows from them: the input of a ranking.

        Raises:
            StudyError: nothing has been selected yet.
            ScreeningError: the study's screening has no estimate for these answers.
        """
        from dissensus.competition.evaluation import Competition

        return Competition(self._task).weighed()

    def consensus(self) -> Mapping[str, float]:
        """Agreement of every classifier with the plurality vote over the pool: a ranking that needs no annotators."""
        from dissensus.competition.evaluation import Competition

        task = self._labels("a plurality vote")
        competition = Competition(task)
        competition.require_rounds()
        return task.consensus(competition.models)

    def replay(
        self,
        answers: Any,
        budgets: int | Sequence[int] | None = None,
        rule: str = "adaptive",
        goal: str | None = None,
        seed: int = 0,
        format: str | None = None,
        annotator: str | None = None,
        until: str | None = None,
    ) -> Replay:
        """Play recorded answers as if people were being asked now; the study stays as it is.

        Args:
            answers: A file that `judgements_import` could read, or what `answer` accepts. Only what was answered can
                be asked: items count if every label that a model predicts for them has a verdict, or if people picked
                their class.
            budgets: Numbers of answers at which to look; 250, 700 and 2,000 unless `until` says when to stop.
            rule: What is asked next: adaptive, random, disagree or mad.
            goal: What the rule `adaptive` is after: order (of all models) or best (model); defaults to what `until`
                needs, or to the order.
            seed: Of everything that is random.
            format: As in `judgements_import`.
            annotator: Who answered, if the answers do not say.
            until: Stop once this is decided: best, order, 'ε=0.01', or both such as 'order,ε=0.01'.

        Raises:
            StudyError: the study's task is not labels, the rule or the goal is unknown, or a budget is not positive.
            JudgementError: the answers cannot be read.
            PlanningError: the answers cover nothing.
        """
        from dissensus.tasks.labels.replaying import replay

        work = self._labels("replays").work
        wanted = [budgets] if isinstance(budgets, int) else budgets
        with file_of(answers) as path:
            return replay(work, path, wanted, rule, goal, seed, format, annotator, until)

    def benchmark(self, ranking: Ranking) -> Benchmark | None:
        """The ranking compared with the user's benchmark, if there is one."""
        from dissensus.steps.benchmark import known_benchmark

        return known_benchmark(self.folder, ranking)

    def report(
        self, method: str | None = None, benchmark: str | Path | None = None, figures: str | Path | None = None
    ) -> Path:
        """Rank the models, write the report, and return its path.

        Args:
            method: How judgements become a ranking; defaults to the method in study.toml.
            benchmark: A CSV with model and a score to compare with; copied into the study.
            figures: A folder for every figure of the report as SVG, PDF and CSV, and for every table as CSV.
        """
        from dissensus.competition.reporting import shown_predictions
        from dissensus.errors import StudyError
        from dissensus.steps.benchmark import read_benchmark
        from dissensus.steps.writing import write_page
        from dissensus.store.files import restored, write_text

        if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
            raise StudyError(f"{figures} is not a folder: give a new name, or the folder of the figures")
        results = (self.folder.results, self.folder.ranking, self.folder.matrices)
        with self._changing(), restored(self.folder.benchmark, *results):
            if benchmark is not None:
                read_benchmark(Path(benchmark))
                write_text(self.folder.benchmark, Path(benchmark).read_text(encoding="utf-8-sig"))
            page = shown_predictions(self._task, self._task.page(self._answered(), method))
        write_page(page, self.folder.report, figures, self.progress)
        return self.folder.report

    def plots(self, method: str | None = None) -> dict[str, Plot]:
        """The figures of the report by name: `study.plots()["ranking"].figure()` is a matplotlib figure."""
        return {plot.name: plot for plot in self._task.page(self.evaluation(), method).plots}

    def check(self, record: bool = False) -> Check:
        """Verify every file of the study: what is missing or damaged, and what to do about it.

        Args:
            record: First accept the files as they are now, for a study without checksums or after restoring files.
        """
        from dissensus.competition.checking import check
        from dissensus.store.checksums import record_all
        from dissensus.store.picture_checksums import record_pictures

        if record:
            with self._changing():
                record_all(self.folder.root)
                record_pictures(self.folder.root)
        return check(self.folder, lambda: self._task)

    def status(self) -> Status:
        """The progress of the study, and what to do next."""
        from dissensus.competition.status import status_of

        return status_of(self._task)

    def backup(self, path: str | Path) -> int:
        """Copy the study to a new folder, even while it is being served, and return the number of answers in the copy.

        The copy is a study like any other, with every answer that was acknowledged before the call.

        Raises:
            StudyError: the folder already exists, or the answers are on a PostgreSQL server.
        """
        from dissensus.steps.backing_up import back_up

        with self._lock:
            return back_up(self.folder, self._database, Path(path))
