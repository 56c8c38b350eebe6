"""Reading and changing study.toml, whose comments and order are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, Record
from dissensus.store.files import write_text
from dissensus.store.settings.common import HEAD, SERVE, ModelSettings, Settings


def write_new(path: Path, kind: type[Settings], task: str, template: str, frame: str, words: Mapping[str, Any]) -> None:
    """Write the settings of a new study: `template` is the task's own part, `frame` how its models see an image.

    `words` are the title, the notes, and what else the task needs from the beginning.
    """
    quoted = {name: tomlkit.item(value).as_string() for name, value in words.items()}
    serve = kind.model_fields["serve"].default
    usual = {"lease": f"{serve.lease_minutes:g}", "repeat": f"{serve.repeat_rate:g}", "frame": frame}
    write_text(path, (HEAD + template + SERVE).format(format=FORMAT_VERSION, task=task, **usual, **quoted))


def read_settings(path: Path, kinds: Mapping[str, type[Settings]]) -> Settings:
    """The settings, checked; `kinds` are those of every task.

    Raises:
        StudyError: there is no study, or a setting is wrong; says which.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig")).unwrap()
        task = document.get("task", "labels")
        if task not in kinds:
            raise StudyError(f"{path}: there is no task '{task}': it is one of {', '.join(kinds)}")
        return kinds[task].model_validate(document)
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


def change_settings(path: Path, kind: type[Settings], section: str, values: dict[str, Any]) -> None:
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
            read_settings(path, {str(document["task"]): kind} if "task" in document else {"labels": kind})
        except StudyError:
            write_text(path, before)
            raise
