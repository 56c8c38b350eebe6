"""Masks as indexed PNG: one file an item, named like it, whose pixels are labels.

A PNG holds labels and nothing else: neither who drew it nor when. What is written is the last mask of every person for
every item; one who holds the image for unfit, or said so last, has no mask of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dissensus.errors import JudgementError, PredictionError
from dissensus.predictions.maps import checked_map
from dissensus.records import Response
from dissensus.store.exchange.archives import content, files_under, is_archive, members, safe_name, write_together
from dissensus.store.exchange.map_answers import KIND, UNFIT, answer_of, labels_of
from dissensus.store.exchange.map_names import FileNames, ItemNames, is_safe
from dissensus.store.exchange.pngs import label_png, png_labels
from dissensus.store.exchange.reading import Reading, refuse
from dissensus.store.files import fingerprint

ENDING = ".png"

Tell = Callable[[str], None]
Drawn = dict[tuple[str, str], bytes | None]
"""Annotator and item → the PNG of the last mask; None where the last word was 'unfit'."""


def read_maps(reading: Reading) -> Iterator[Response]:
    """The masks of a folder, a .zip or one file, each an answer of `annotator`.

    Raises:
        JudgementError: names the file and what is wrong with it.
    """
    path = reading.path
    if reading.task not in (None, "masks"):
        raise JudgementError(f"{path}: PNG files are masks, and this is a study of {reading.task}")
    if not reading.annotator:
        raise JudgementError(f"{path}: PNG files do not say who drew them: add --annotator NAME")
    if reading.items is None:
        raise JudgementError(f"{path}: PNG files are found by the names of all items: give `items`")
    names = ItemNames(reading.items())
    seen: dict[str, str] = {}
    for name, where, of_file, data in _files(reading):
        try:
            item = names.item(name[: -len(ENDING)])
            if item in seen:
                raise JudgementError(f"is a second mask of {item}, besides {seen[item]}")
            labels = checked_map(png_labels(data), len(reading.classes))
        except (JudgementError, PredictionError) as error:
            refuse(where, str(error))
        seen[item] = name
        answer = answer_of(labels)
        yield of_file.response({"kind": KIND, "question": {"item": item}, "answer": answer}, where)
    if not seen:
        raise JudgementError(f"{path} holds no {ENDING} file")


def write_maps(path: Path, responses: Iterable[Response], items: Iterable[str] | None, tell: Tell) -> int:
    """Write the last mask of every item into a new folder or a .zip, and return how many; `tell` what is left out.

    Where several people drew, each has a folder.

    Raises:
        JudgementError: there is no mask, or the folder holds what could be somebody's work.
    """
    drawn, left_out = _last(responses)
    masks = {key: data for key, data in drawn.items() if data is not None}
    if not masks:
        raise JudgementError(f"{path}: there is no mask among the answers, and PNG files hold nothing else")
    names = ItemNames({item for _, item in masks} if items is None else items)
    write_together(path, _named(masks, names))
    if left_out:
        tell(f"left out, since a PNG file holds one mask: {', '.join(f'{n:,} {what}' for what, n in left_out.items())}")
    return len(masks)


def _files(reading: Reading) -> Iterator[tuple[str, str, Reading, bytes]]:
    """Name within, name in complaints, what it is read as, and bytes of every file."""
    path = reading.path
    if is_archive(path):
        for name, data in members(path, ENDING):
            yield name.replace("\\", "/"), f"{path}, {name!r}", reading, data
        return
    for file in files_under(path, ENDING) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield name, str(file), reading.of(file), content(file)


def _last(responses: Iterable[Response]) -> tuple[Drawn, Counter[str]]:
    """What everybody said last of every item, and how many answers of which kind that leaves out."""
    drawn: Drawn = {}
    left_out: Counter[str] = Counter()
    for response in responses:
        if response.question.kind != KIND:
            left_out[f"of the kind '{response.question.kind}'"] += 1
        elif response.role == "training":
            left_out["of training"] += 1
        else:
            key = response.annotator, response.question.body["item"]
            if drawn.pop(key, None) is not None:
                left_out["earlier masks"] += 1
            if response.answer == UNFIT:
                left_out[UNFIT] += 1
                drawn[key] = None
            else:  # as bytes: run lengths of many masks would need a hundred times the memory
                drawn[key] = label_png(labels_of(response.answer))
    return drawn, left_out


def _named(masks: dict[tuple[str, str], bytes], known: ItemNames) -> Iterator[tuple[str, bytes]]:
    people = dict.fromkeys(annotator for annotator, _ in masks)
    folders = _folders(people) if len(people) > 1 else dict.fromkeys(people, "")
    names = {annotator: FileNames(known, ENDING) for annotator in people}
    for (annotator, item), data in masks.items():
        yield folders[annotator] + names[annotator].name(item), data


def _folders(people: Iterable[str]) -> dict[str, str]:
    """A folder for everybody, named like them unless that is unsafe or another one's."""
    taken: set[str] = set()
    folders = {}
    for person in people:
        is_usable = is_safe(person) and person.casefold() not in taken
        name = person if is_usable else f"{safe_name(person)}-{fingerprint(person)}"
        taken.add(name.casefold())
        folders[person] = f"{name}/"
    return folders
