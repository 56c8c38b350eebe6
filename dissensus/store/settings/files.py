"""Reading and changing study.toml, whose comments and order are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, Record
from dissensus.store.files import write_text
from dissensus.store.settings.common import CROP, FRAMES, HEAD, SERVE, ModelSettings, Settings
from dissensus.store.settings.labels import LABELS, LabelSettings
from dissensus.store.settings.masks import MASKS, MaskSettings
from dissensus.store.settings.scores import SCORES, ScoreSettings

TASKS: dict[str, tuple[type[Settings], str]] = {
    "labels": (LabelSettings, LABELS),
    "scores": (ScoreSettings, SCORES),
    "masks": (MaskSettings, MASKS),
}
"""What models can predict: the settings that belong to it, and how they begin."""


def write_new(path: Path, task: str, title: str, notes: Sequence[str], **settings: str) -> None:
    """Write the settings of a new study; `settings` are those that the task needs from the beginning."""
    words = {"title": title, "notes": list(notes)} | settings
    quoted = {name: tomlkit.item(value).as_string() for name, value in words.items()}
    known, template = TASKS[task]
    serve = known.model_fields["serve"].default
    usual = {
        "lease": f"{serve.lease_minutes:g}",
        "repeat": f"{serve.repeat_rate:g}",
        "frame": FRAMES.get(task, CROP),
    }
    write_text(path, (HEAD + template + SERVE).format(format=FORMAT_VERSION, task=task, **usual, **quoted))


def read_settings(path: Path) -> Settings:
    """The settings, checked.

    Raises:
        StudyError: there is no study, or a setting is wrong; says which.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig")).unwrap()
        task = document.get("task", "labels")
        if task not in TASKS:
            raise StudyError(f"{path}: there is no task '{task}': it is one of {', '.join(TASKS)}")
        return TASKS[task][0].model_validate(document)
    except FileNotFoundError:
        raise StudyError(f"{path.parent} is no study: there is no {path.name}; begin one with dissensus init") from None
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StudyError(f"{path}: {where}: {first['msg']}") from None


def check_section(settings: Settings, section: str, values: dict[str, Any]) -> None:
    """Refuse values of a section that make no sense.

    Raises:
        StudyError: names the setting.
    """
    known: Record = getattr(settings, section)
    unknown = [name for name in values if name not in type(known).model_fields]
    if unknown:
        raise StudyError(f"a study of {settings.task} has no setting '{unknown[0]}' of {section}")
    try:
        type(known).model_validate(known.model_dump() | values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([section, *map(str, first["loc"])])
        raise StudyError(f"{where}: {first['msg']}") from None


def add_models(path: Path, models: dict[str, ModelSettings]) -> None:
    """Append models to study.toml, leaving all else as the person wrote it.

    Raises:
        StudyError: the person wrote the models in a way that tables cannot be appended to.
    """
    tables = tomlkit.table(is_super_table=True)
    for name, model in models.items():
        entry = tomlkit.table()
        entry.add("backend", model.backend)
        entry.add("target", model.target)
        if model.better != "higher":
            entry.add("better", model.better)
        if model.preprocess:
            preprocess = tomlkit.table()
            preprocess.update(model.preprocess)
            entry.add("preprocess", preprocess)
        tables.add(name, entry)
    written = path.read_text(encoding="utf-8-sig")
    text = f"{written.rstrip()}\n\n{tomlkit.dumps({'models': tables})}"
    try:
        tomlkit.parse(text)
    except TOMLKitError:
        raise StudyError(f"{path}: write every model as a table of its own, [models.NAME], to add others") from None
    write_text(path, text)


def remove_models(path: Path, names: Sequence[str]) -> None:
    """Take models out of study.toml again, leaving all else as it is."""
    if names:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
        for name in names:
            del document["models"][name]
        if not document["models"]:
            del document["models"]
        write_text(path, tomlkit.dumps(document))


def change_settings(path: Path, section: str, values: dict[str, Any]) -> None:
    """Write settings of a section into study.toml, leaving all else as it is; a value of None is not given.

    Raises:
        StudyError: a value makes no sense; nothing was changed.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if given:
        before = path.read_text(encoding="utf-8-sig")
        document = tomlkit.parse(before)
        document.setdefault(section, tomlkit.table()).update(given)
        write_text(path, tomlkit.dumps(document))
        try:
            read_settings(path)
        except StudyError:
            write_text(path, before)
            raise
