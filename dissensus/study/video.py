"""Robustness along video: the methods of `dissensus shift video`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.study.paging import Paging

if TYPE_CHECKING:
    from dissensus.records import VideoResult
    from dissensus.records.video_steps import VideoCollected, VideoStatus
    from dissensus.steps.workspace import Workspace

WHAT = "robustness along video"


class VideoTest(Paging):
    """Robustness along video: anchors, their neighbours, a review by people, and models on the worst frames."""

    def video_collect(
        self,
        sources: Sequence[str | Path] = (),
        labels: str | Path | None = None,
        *,
        k: int = 10,
        anchors: str | Path | None = None,
        classes: str | Path | None = None,
        per_clip: int = 1,
        seed: int = 0,
    ) -> VideoCollected:
        """Collect anchors and the k frames before and after each; they become the pool of this study.

        The frames of video files are kept in the study as PNG; frames in folders stay where they are. A call that was
        interrupted resumes; the same call again changes nothing.

        Args:
            sources: Video files, folders of frames (one for each clip), or folders of such files and folders.
            labels: The classes of clips or frames: a CSV with the columns label, and clip or frame or both; or JSON
                by clip or frame. Frames without a label of their own have their anchor's.
            k: Neighbours before and after an anchor.
            anchors: A file that names the anchors: a CSV with the columns clip and frame, or JSON, such as the public
                metadata of ImageNet-Vid-Robust and YTBB-Robust. By default, anchors are drawn at random.
            classes: The classes of the labels if they are coarser than the study's: imagenet-vid, or a file as for
                `laconic`.
            per_clip: How many anchors are drawn from each clip.
            seed: Of the draws.

        Example:
            >>> study.video_collect(["clips"], "labels.csv", classes="imagenet-vid")  # doctest: +SKIP
        """
        from dissensus.shift.video.collecting import Request, collect

        with self._changing():
            self.__dict__.pop("_uris", None)
            named = [str(source) for source in sources]
            given, chosen = (None if path is None else Path(path) for path in (labels, anchors))
            request = Request(named, given, chosen, classes, k, per_clip, seed)
            return collect(self._filmed, request)

    def video_predict(
        self,
        models: Sequence[str] = (),
        preprocess: Mapping[str, Any] | None = None,
        again: Sequence[str] = (),
        **given: Any,
    ) -> dict[str, bool]:
        """What `predict` does, in one pass: every frame is decoded once for all models, and several run at a time."""
        from dissensus.shift.video.frames import kept_frames
        from dissensus.steps.models import Request, predict_models

        with self._changing():
            kept_frames(self._filmed)
            return predict_models(self._task, Request(models, preprocess or {}, (), again, given, is_together=True))

    def video_serve(
        self,
        ready: Callable[[str, str], None],
        host: str | None = None,
        port: int | None = None,
        tell: Callable[[str], None] | None = None,
        *,
        answers: int | None = None,
        database: str | None = None,
    ) -> None:
        """Ask people about pairs of frames until the process is stopped; disputed pairs are then reviewed jointly.

        `answers` people judge each pair on their own; saved in study.toml. The other arguments are those of `serve`,
        which cannot run at the same time.

        Raises:
            StudyError: no frames have been collected, or they are not on disk.
        """
        from dissensus.shift.video.reviewing import FrameReview

        self._labels(WHAT)
        people = ("video", "reviewers")
        self._serve_page(FrameReview, people, ready, host, port, tell, answers, database, at_least=_joint)

    def video_status(self) -> VideoStatus:
        """What was collected, and how far the review is."""
        from dissensus.shift.video.reviewing import status

        return status(self._filmed)

    def video_result(
        self, k: int | None = None, *, anchor_included: bool = True, distances: bool = False, resamples: int = 2000,
        seed: int = 0,
    ) -> VideoResult:  # fmt: skip
        """How accurate models are on anchors, and on the worst frames within k of them.

        Args:
            k: Frames before and after the anchor; by default all that were collected.
            anchor_included: Whether the anchor is among the frames of which the worst counts; the thesis leaves it out.
            distances: Also compute how far the pixels of frames are from those of their anchors.
            resamples: Bootstrap samples of the anchors.
            seed: Of the bootstrap.
        """
        from dissensus.shift.video.results import video_result
        from dissensus.temporal.findings import Settings as Measure

        measure = Measure(k, anchor_included, resamples=resamples, seed=seed)
        if not distances:
            return video_result(self._filmed, measure)
        with self._changing():
            return video_result(self._filmed, measure, with_distances=True)

    def video_report(
        self, path: str | Path | None = None, figures: str | Path | None = None, result: VideoResult | None = None
    ) -> Path:
        """Write the page about models along video, with strips of frames, and return its path.

        Args:
            path: Defaults to results/video.html in the study.
            figures: A folder for all figures as SVG, PDF and CSV, and all tables as CSV.
            result: What the page shows; by default `video_result` with distances.
        """
        from dissensus.shift.video.results import page
        from dissensus.steps.writing import page_path, write_page

        target = page_path(path or self.folder.video_report)
        found = result or self.video_result(distances=True)
        with self._changing():
            write_page(page(self._filmed, found), target, figures)
        return target

    @property
    def _filmed(self) -> Workspace[Any]:
        return self._labels(WHAT).work


def _joint(settings: Any) -> int:
    """How many people review a disputed pair."""
    return int(settings.video.joint)
