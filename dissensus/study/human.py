"""People as a baseline for models: the methods of a study in which people label images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import StudyError
from dissensus.study.making import Making
from dissensus.study.paging import Paging

if TYPE_CHECKING:
    from dissensus.records import HumanResult
    from dissensus.records.human_steps import HumanExport, HumanSample, HumanStatus, JoinedPeople
    from dissensus.shift.human.results import Protocol
    from dissensus.steps.workspace import Workspace

WHAT = "people as a baseline"


class HumanStudy(Making, Paging):
    """People label a sample of the images, everybody's labels are reviewed, and people are compared with models."""

    def human_sample(
        self,
        truth: str | Path | None = None,
        images: int | None = None,
        training: int | None = None,
        examples: str | Path | None = None,
        guide: str | Path | None = None,
        seed: int | None = None,
    ) -> HumanSample:
        """Draw the images that people label, as many of each class as possible, and those for training.

        What was drawn before stays, and more can be drawn by a later call.

        Args:
            truth: A table with the columns item and label, the original labels; optionally set, the name of the test
                set that an image is from. Needed the first time.
            images: How many images of each test set people label; defaults to study.toml, or 1,000.
            training: How many other images of the first test set are for training; defaults to study.toml, or 0.
            examples: A folder with a subfolder per class: pictures that people can look at beside each class.
            guide: How to recognise classes: CSV with the columns class and text, or Markdown with a heading per class.
            seed: Of the draws; defaults to study.toml, or 0.

        Example:
            >>> study.human_sample("truth.csv", images=100, training=50, guide="guide.md")  # doctest: +SKIP
        """
        from dissensus.shift.human.sampling import sample
        from dissensus.store.files import restored
        from dissensus.store.settings import check_section
        from dissensus.store.settings.human import HumanSettings

        given = {"images": images, "training": training, "seed": seed}
        given = {name: value for name, value in given.items() if value is not None}
        with self._changing(), restored(self.folder.human):
            work = self._human
            settings = HumanSettings.model_validate(check_section(work.settings, "human", given).model_dump())
            table, folder, text = (None if path is None else Path(path) for path in (truth, examples, guide))
            found = sample(work, table, folder, text, settings)
            if given:
                self.change("human", given)
            return found

    def human_serve(
        self,
        ready: Callable[[str, str], None],
        page: str = "label",
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        family: str | None = None,
        answers: int | None = None,
        database: str | None = None,
    ) -> None:
        """Ask people until the process is stopped: to train, to label images, or to review everybody's labels.

        Args:
            page: train, label or review. Reviews are composed from all labels that people and models give so far.
            family: Train on the classes below this node of the taxonomy only.
            answers: People who answer each question of this page; saved in study.toml.

        The other arguments are those of `serve`, which cannot run at the same time.

        Raises:
            StudyError: there is no such page, or nothing to ask yet.
        """
        from dissensus.shift.human.pages import page_of
        from dissensus.shift.human.results import Protocol
        from dissensus.shift.human.reviews import compose_reviews

        work, read = self._human, page_of(page, family)
        if page == "review":
            with self._changing():
                compose_reviews(work, Protocol(work).predicted)
        people = ("human", "reviewers" if page == "review" else "people")
        self._serve_page(read, people, ready, host, port, tell, answers, database)

    def human_status(self) -> HumanStatus:
        """How far people are with training, labelling and the review."""
        from dissensus.shift.human.progress import status

        return status(self._human)

    def human_result(
        self,
        subsets: str | None = None,
        right: str | Path | None = None,
        people: Mapping[str, str | Path] | None = None,
    ) -> HumanResult:
        """People and models on the same images, from the answers so far.

        Args:
            subsets: Subsets of the classes: nodes of the taxonomy or classes, such as 'dog, not dog, artifact'; or a
                CSV file with the columns subset and label.
            right: Label sets from a file instead of the review: a table with the columns item and label, and
                optionally right (yes or no); or JSON such as ReaL's.
            people: Labels of people from files, by name: the columns item and label, and optionally label2 to label5,
                alternative and seconds.
        """
        from dissensus.shift.human.results import result

        return result(self._protocol(right, people), subsets)

    def human_report(
        self,
        path: str | Path | None = None,
        figures: str | Path | None = None,
        subsets: str | None = None,
        right: str | Path | None = None,
        people: Mapping[str, str | Path] | None = None,
    ) -> tuple[HumanResult, Path]:
        """Write the page about people and models, and return the result and the path of the page.

        Args:
            path: Defaults to results/people.html in the study.
            figures: A folder for all figures as SVG, PDF and CSV, and all tables as CSV.

        The other arguments are those of `human_result`.
        """
        from dissensus.shift.human.results import page, result
        from dissensus.steps.writing import page_path, write_page

        target = page_path(path or self.folder.human_report)
        protocol = self._protocol(right, people)
        found = result(protocol, subsets)
        made = page(protocol, found)
        with self._changing():
            write_page(made, target, figures)
        return found, target

    def human_export(
        self, folder: str | Path, right: str | Path | None = None, people: Mapping[str, str | Path] | None = None
    ) -> HumanExport:
        """Write people's labels, the right labels and the times to a new folder, as CSV and JSON."""
        from dissensus.shift.human.exporting import export

        return export(self._protocol(right, people), Path(folder))

    def human_join(self, names: Sequence[str] = ()) -> JoinedPeople:
        """Let people, everybody by default, join the competition as models.

        They have no prediction for images that they did not label. If rounds have been selected, their duels are added.

        Raises:
            StudyError: somebody has not labelled an image, or has joined before with other labels.
        """
        from dissensus.records.human_steps import JoinedPeople
        from dissensus.shift.human.exporting import joining, write_person
        from dissensus.store.files import restored

        protocol = self._protocol(None, None)
        models = joining(protocol, names)
        with self._changing():
            known = self.settings.models
            with restored(*(self.folder.human_person(model) for model in models.values())):
                specs = [
                    f"{model}=file:{write_person(protocol.work, name, model, protocol.labels[name])}"
                    for name, model in models.items()
                ]
                has_rounds = bool(self.folder.rounds())
                again = [model for model in models.values() if model in known]
                if again and has_rounds:
                    raise StudyError(
                        f"{again[0]} has joined, and rounds were selected since: dissensus remove {self.folder.root} "
                        f"{again[0]} first"
                    )
                number = self.join(specs) if has_rounds else None
                if not has_rounds:
                    self.predict(specs, again=again)
        counts = tuple(sum(not one.is_skipped for one in protocol.labels[name].values()) for name in models)
        return JoinedPeople(people=tuple(models.values()), labelled=counts, round=number)

    def _protocol(self, right: str | Path | None, people: Mapping[str, str | Path] | None) -> Protocol:
        from dissensus.shift.human.results import Given, Protocol

        files = {name: Path(path) for name, path in (people or {}).items()}
        return Protocol(self._human, Given(None if right is None else Path(right), files))

    @property
    def _human(self) -> Workspace[Any]:
        return self._labels(WHAT).work
