"""Reading and editing study.toml, preserving comments and order."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
import tomlkit.items
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, Record, first_problem
from dissensus.store.files import write_text
from dissensus.store.settings.common import HEAD, SERVE, ModelSettings, Settings


def write_new(path: Path, kind: type[Settings], task: str, template: str, frame: str, words: Mapping[str, Any]) -> None:
    """Write the settings of a new study: `template` is the task's own part, `frame` its image preprocessing.

    `words` are the title, the notes, and whatever else the task's template needs.
    """
    quoted = {name: tomlkit.item(value).as_string() for name, value in words.items()}
    serve = kind.model_fields["serve"].default
    usual = {"lease": f"{serve.lease_minutes:g}", "repeat": f"{serve.repeat_rate:g}", "frame": frame}
    write_text(path, (HEAD + template + SERVE).format(format=FORMAT_VERSION, task=task, **usual, **quoted))


def read_settings(path: Path, kinds: Mapping[str, type[Settings]]) -> Settings:
    """Read and check the settings; `kinds` maps each task to its class of settings.

    Raises:
        StudyError: there is no study, or a setting is invalid; the message says which.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig")).unwrap()
        task = document.get("task", "labels")
        if not isinstance(task, str) or task not in kinds:
            raise StudyError(f"{path}: unknown task '{task}': choose one of {', '.join(kinds)}")
        return kinds[task].model_validate(document)
    except FileNotFoundError:
        raise StudyError(
            f"{path.parent} is not a study: it has no {path.name}; create one with dissensus init"
        ) from None
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise StudyError(f"{path}: {first_problem(error.errors())}") from None


def check_section(settings: Settings, section: str, values: dict[str, Any]) -> Record:
    """The section with other values, if they are valid.

    Raises:
        StudyError: a value is invalid; the message names the setting.
    """
    known: Record = getattr(settings, section)
    unknown = [name for name in values if name not in type(known).model_fields]
    if unknown:
        raise StudyError(f"a study of {settings.task} has no setting '{unknown[0]}' in [{section}]: leave it out")
    try:
        return type(known).model_validate(known.model_dump() | values)
    except ValidationError as error:
        raise StudyError(f"{section}.{first_problem(error.errors())}") from None


def set_models(path: Path, models: dict[str, ModelSettings]) -> None:
    """Add models to study.toml, or replace those it has, leaving everything else as it was written.

    Raises:
        StudyError: the models are written in a form that cannot be edited.
    """
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    tables = tomlkit.table(is_super_table=True)
    for name, model in models.items():
        if name in document.get("models", {}):
            _update(document["models"][name], _model_table(model))
        else:
            tables.add(name, _model_table(model))
    text = tomlkit.dumps(document)
    if tables:
        text = f"{text.rstrip()}\n\n{tomlkit.dumps({'models': tables})}"
    try:
        tomlkit.parse(text)
    except TOMLKitError:
        raise StudyError(
            f"{path}: cannot add models to this form of 'models': write every model as its own table, [models.NAME]"
        ) from None
    write_text(path, text)


def _update(table: MutableMapping[str, Any], values: Mapping[str, Any]) -> None:
    """Give a table these values; what does not change keeps its comments."""
    for key in [key for key in table if key not in values]:
        del table[key]
    for key, value in values.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), MutableMapping):
            _update(table[key], value)
        elif table.get(key) != value:
            table[key] = value


def _model_table(model: ModelSettings) -> tomlkit.items.Table:
    entry = tomlkit.table()
    entry.add("backend", model.backend)
    entry.add("target", model.target)
    if model.better != "higher":
        entry.add("better", model.better)
    if model.preprocess:
        preprocess = tomlkit.table()
        preprocess.update(model.preprocess)
        entry.add("preprocess", preprocess)
    return entry


def remove_models(path: Path, names: Sequence[str]) -> None:
    """Remove models from study.toml, leaving everything else unchanged."""
    if names:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
        for name in names:
            del document["models"][name]
        if not document["models"]:
            del document["models"]
        write_text(path, tomlkit.dumps(document))


def change_settings(path: Path, kind: type[Settings], section: str, values: dict[str, Any]) -> None:
    """Write settings of a section into study.toml, leaving everything else unchanged; values of None are skipped.

    Raises:
        StudyError: a value is invalid; nothing was changed.
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
