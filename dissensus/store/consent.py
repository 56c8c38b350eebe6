"""Which code the user of this machine has agreed to run: kept outside study folders, which may come from others."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dissensus.errors import StudyError
from dissensus.store.durable import make_folder, taking_turns
from dissensus.store.files import write_text
from dissensus.store.folder import Folder


class Code(NamedTuple):
    """What a study wants to run, such as python:tiles.py:TILES, and the fingerprint of its file."""

    target: str
    fingerprint: str


def agreements_file() -> Path:
    """Where agreements are kept: in XDG_CONFIG_HOME, or where this system keeps settings."""
    by_system = {"darwin": "~/Library/Application Support", "win32": os.environ.get("APPDATA", "~")}
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser(by_system.get(sys.platform, "~/.config"))
    return Path(settings) / "dissensus" / "trusted.json"


def unagreed(folder: Folder, codes: Iterable[Code]) -> list[Code]:
    """The code of a study, in this folder, that nobody has agreed to on this machine."""
    known = {Code(*one) for one in _agreements().get(_key(folder), ())}
    return [code for code in dict.fromkeys(codes) if code not in known]


def require_agreement(folder: Folder, codes: Iterable[Code]) -> None:
    """Reject code that nobody has agreed to.

    Raises:
        StudyError: names the code.
    """
    found = unagreed(folder, codes)
    if found:
        raise StudyError(
            f"{folder.root} would run code that you have not agreed to ({', '.join(code.target for code in found)}): "
            "review it, and add --trust if you trust it"
        )


def agree(folder: Folder, codes: Collection[Code]) -> None:
    """Remember that this code may run for the study in this folder, as long as neither of them changes.

    Raises:
        StudyError: the agreement cannot be stored.
    """
    if not unagreed(folder, codes):
        return
    path = agreements_file()
    try:
        make_folder(path.parent)
        with taking_turns(path.parent):
            known = _agreements()
            told = dict(known.get(_key(folder), ())) | dict(codes)
            write_text(path, json.dumps(known | {_key(folder): sorted(told.items())}, indent=1) + "\n")
    except OSError as error:
        raise StudyError(
            f"{path} cannot be written ({error.strerror}), so your agreement cannot be remembered: set XDG_CONFIG_HOME "
            "to a folder that you can write to"
        ) from None


def agree_if_possible(folder: Folder, codes: Collection[Code]) -> None:
    """Remember an agreement if it can be stored: what a user names in a command runs in any case."""
    with suppress(StudyError):
        agree(folder, codes)


def _key(folder: Folder) -> str:
    return str(folder.root.resolve())


def _agreements() -> dict[str, list[list[str]]]:
    """Targets and fingerprints by study folder; a damaged file holds no agreements."""
    try:
        found = json.loads(agreements_file().read_text(encoding="utf-8"))
        return {str(key): [[str(target), str(mark)] for target, mark in value] for key, value in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
