"""`dissensus shift video serve`: people review pairs of frames over HTTP, disputed ones jointly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clips_made import CLASSES, picture, write_film
from framed import judge_frames
from served import Client, Served, eventually

from dissensus import Study


class ServedVideo(Served):
    """`dissensus shift video serve --answers 2` in a thread of this process."""

    def _serve(self) -> None:
        try:
            study = self.open_study(self.folder)
            study.video_serve(self._opened, "127.0.0.1", self.port, answers=2)
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()


def filmed(root: Path) -> Study:
    for name, label in (("a", 1), ("b", 2)):
        frames = [picture(label, label, label, number=number) for number in range(12)]
        write_film(root / "clips" / f"{name}.mp4", frames)
    (root / "anchors.json").write_text('{"a": 5, "b": 6}')
    (root / "coarse.csv").write_text("name,label\ninsect,ant\ninsect,bee\npet,cat\npet,dog\n")
    (root / "labels.csv").write_text("clip,label\na,insect\nb,pet\n")
    study = Study.init(root / "study", classes=list(CLASSES))
    study.video_collect(
        [root / "clips"], root / "labels.csv", k=2, anchors=root / "anchors.json", classes=root / "coarse.csv"
    )
    return study


def test_people_review_pairs_and_disputed_ones_jointly(tmp_path: Path) -> None:
    study = filmed(tmp_path)
    tokens = {name: study.people.add(name) for name in ("ann", "bob", "group")}

    def blurred(body: dict[str, Any]) -> tuple[str, str | None]:
        return ("right", "blur") if body["frame"] == "b/000008.png" else ("right", "yes")

    with ServedVideo(study.folder.root) as served:
        ann, bob, group = (Client(served.address, token) for token in tokens.values())
        told = judge_frames(study, ann, blurred)
        assert len(told) == 8
        assert {one["payload"]["labels"][0]["name"] for one in told} == {
            "insect",
            "pet",
        }  # the labels' classes, not the models'
        assert len(judge_frames(study, bob, lambda _: ("right", "yes"), most=8)) == 8
        eventually(lambda: len(group.next(5)) == 1)
        (joint,) = judge_frames(study, group, lambda _: ("right", "motion"))
        assert joint["payload"]["review"]
        eventually(lambda: not group.next())
    status = Study(study.folder.root).video_status()
    assert (status.answers, status.wanted, status.accepted, status.reasons) == (16, 16, 7, {"motion": 1})
    assert study.settings.video.reviewers == 2  # saved in study.toml
