"""Files that name anchors and labels: tables, and the public metadata of ImageNet-Vid-Robust and YTBB-Robust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dissensus.errors import StudyError, first_line, quoted, some
from dissensus.shift.video.clips import Clip, frame_number, full_names
from dissensus.steps.groups import Groups
from dissensus.store.documents import csv_rows, json_document

VERDICTS = ("good", "unsure", "bad", "none")
"""What the labels of YTBB-Robust say about an anchor instead of naming a class."""


@dataclass(frozen=True)
class NamedAnchors:
    """Anchors that a file names."""

    frames: tuple[tuple[str, str], ...] = ()
    """(clip, frame): a clip's name, and the number of a frame or the name of its file."""
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The frames that reviewers called similar to each anchor, where the file lists them; all of them by id."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that reviewers added, by clip/frame."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why anchors are not used."""

    @property
    def is_listing(self) -> bool:
        """Whether the file lists the neighbours too."""
        return bool(self.sets)


def read_anchors(path: Path) -> NamedAnchors:
    """Anchors of a .csv with the columns clip and frame, or of a .json (.json.gz).

    JSON is {anchor: [similar frame, …]} as of ImageNet-Vid-Robust, {"annotations": […], "labels": […]} as of
    YTBB-Robust, {clip: frame number or name, or a list of them}, or a list of frames as clip/name.

    Raises:
        StudyError: the file cannot be read, or is none of these.
    """
    if path.suffix.lower() == ".csv":
        rows = csv_rows(path, ("clip", "frame"), StudyError)
        found = NamedAnchors(tuple(dict.fromkeys((row["clip"], row["frame"]) for _, row in rows)))
    else:
        found = _anchors_in(path, json_document(path, StudyError))
    if not found.frames and not found.sets:
        raise StudyError(f"{path} names no anchors: give a clip and a frame of it in each row")
    return found


def _anchors_in(path: Path, document: Any) -> NamedAnchors:
    if isinstance(document, dict) and isinstance(document.get("annotations"), list):
        return _reviewed_anchors(path, document)
    if isinstance(document, list):
        return NamedAnchors(tuple(dict.fromkeys(_split(path, one) for one in document)))
    if not isinstance(document, dict):
        raise StudyError(f"{path} names no anchors: expected a list, or an object by clip or anchor")
    if document and all(_is_texts(value) and "/" in name for name, value in document.items()):
        return NamedAnchors(sets={anchor: tuple(similar) for anchor, similar in document.items()})
    found = []
    for clip, value in document.items():
        for frame in value if isinstance(value, list) else [value]:
            if not isinstance(frame, int | str) or isinstance(frame, bool):
                raise StudyError(f"{path}: the anchor {quoted(frame)} of '{clip}' is neither a number nor a file name")
            found.append((clip, str(frame)))
    return NamedAnchors(tuple(dict.fromkeys(found)))


def _reviewed_anchors(path: Path, document: Mapping[str, Any]) -> NamedAnchors:
    """YTBB-Robust: reviewers say of every anchor whether its own label is good, and which others it has."""
    try:
        words = [str(word) for word in document["labels"]]
        word_of = dict(enumerate(words))  # unlike a list, it has nothing at −1
        rows = [(str(one["key"]), [word_of[number] for number in one["labels"]]) for one in document["annotations"]]
    except (KeyError, IndexError, TypeError) as error:
        why = first_line(error)
        raise StudyError(f"{path} is not a list of reviewed anchors ({why}): see docs/tutorial-video.md") from None
    frames, labels, left_out = [], {}, {}
    for key, said in rows:
        clip, frame = _split(path, "/".join(key.split("/")[-2:]))
        objections = [word for word in ("bad", "unsure") if word in said]
        if objections:
            left_out[f"{clip}/{frame}"] = f"reviewers called it {objections[0]}"
            continue
        frames.append((clip, frame))
        labels[f"{clip}/{frame}"] = tuple(word for word in said if word not in VERDICTS)
    return NamedAnchors(tuple(dict.fromkeys(frames)), labels=labels, left_out=left_out)


def _split(path: Path, name: Any) -> tuple[str, str]:
    clip, slash, frame = name.rpartition("/") if isinstance(name, str) else ("", "", "")
    if not slash or not clip or not frame:
        raise StudyError(f"{path}: {quoted(name)} is not a frame of a clip: write it as clip/frame")
    return clip, frame


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


@dataclass(frozen=True)
class Labels:
    """Classes by clip, or by frame as clip/name or clip/number; numbers of groups."""

    known: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def of_frame(self, clip: str, item: str, number: int) -> tuple[int, ...]:
        """The frame's own labels; empty if it has none."""
        for name in (item, f"{clip}/{item.rpartition('/')[2]}", f"{clip}/{number}"):
            if name in self.known:
                return self.known[name]
        return ()

    def of_clip(self, clip: str) -> tuple[int, ...]:
        """The labels of all frames that have none of their own."""
        return self.known.get(clip, ())

    def is_any(self, clip: str) -> bool:
        """Whether the clip or any frame of it has a label."""
        return clip in self.known or any(name.startswith(f"{clip}/") for name in self.known)

    def of_clips(self, clips: Sequence[Clip]) -> Labels:
        """These labels by the whole names of the clips, and by number for frames of video files."""
        full, films = full_names(clips), {clip.name for clip in clips if clip.film}
        known: dict[str, tuple[int, ...]] = {}
        for name, labels in self.known.items():
            clip, _, frame = name.rpartition("/")
            if name in full:
                found = full[name]
            elif clip in full:
                number = frame_number(frame, is_film=True) if full[clip] in films else None
                found = f"{full[clip]}/{frame if number is None else number}"
            else:
                found = name
            known[found] = tuple(dict.fromkeys((*known.get(found, ()), *labels)))
        return Labels(known)

    def with_ending(self, clip: str) -> str | None:
        """A name that has a label and is the clip's with the ending of a file; None if there is none."""
        return next((name for name in self.known if name.rpartition(".")[0] == clip), None)

    def merged(self, more: Mapping[str, tuple[int, ...]]) -> Labels:
        """These labels, with more of them for some frames, beside those of the clip."""
        known = dict(self.known)
        for name, labels in more.items():
            before = known.get(name) or known.get(name.rpartition("/")[0], ())
            known[name] = tuple(dict.fromkeys((*before, *labels)))
        return Labels({name: labels for name, labels in known.items() if labels})


def read_labels(path: Path, groups: Groups) -> Labels:
    """Labels of a .csv with the columns label, and clip or frame or both, or of a .json (.json.gz).

    JSON is {clip or frame: class or [class, …]}. A class is a number, counted from 0, or a name. A frame of a table is
    clip/name, or a number or a name beside a clip; several rows give several labels.

    Raises:
        StudyError: the file cannot be read, or a class is not among the groups; says where.
    """
    rows: list[tuple[str, str, Sequence[Any]]] = []
    if path.suffix.lower() == ".csv":
        for line, row in csv_rows(path, ("label",), StudyError):
            clip, frame = row.get("clip", ""), row.get("frame", "")
            name = f"{clip}/{frame}" if clip and frame else clip or frame
            if not name:
                raise StudyError(f"{path}, line {line}: it names neither a clip nor a frame: fill in one of them")
            rows.append((f"{path}, line {line}", name, [row["label"]]))
    else:
        document = json_document(path, StudyError)
        if not isinstance(document, dict):
            raise StudyError(f"{path} has no labels: expected an object that gives classes by clip or frame")
        for name, given in document.items():
            rows.append((f"{path}, {quoted(name)}", name, given if isinstance(given, list) else [given]))
    known: dict[str, tuple[int, ...]] = {}
    for where, name, given in rows:
        numbers = [_number(one, groups, where) for one in given]
        known[name] = tuple(dict.fromkeys((*known.get(name, ()), *numbers)))
    return Labels({name: labels for name, labels in known.items() if labels})


def labels_named(words: Mapping[str, tuple[str, ...]], groups: Groups, path: Path) -> dict[str, tuple[int, ...]]:
    """Labels given by name, as numbers."""
    return {
        name: tuple(_number(word, groups, f"{path}, {quoted(name)}") for word in said) for name, said in words.items()
    }


def _number(value: Any, groups: Groups, where: str) -> int:
    names = groups.names
    if isinstance(value, str) and value.strip() in names:
        return names.index(value.strip())
    text = str(value).strip()
    is_number = not isinstance(value, bool | float) and text.isdecimal() and len(text) < 10
    if is_number and int(text) < len(names):
        return int(text)
    alike = [place for place, name in enumerate(names) if name.casefold() == text.casefold()]
    if isinstance(value, str) and len(alike) == 1:
        return alike[0]
    raise StudyError(
        f"{where}: {quoted(value)} is not one of the {len(names):,} classes (numbers 0 to {len(names) - 1:,}, or names "
        f"such as {some(names[:2])}): correct it, or name the classes of the labels with --classes"
    )
