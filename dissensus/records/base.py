"""The base of every record, and how a result was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

FORMAT_VERSION = 1
"""Version of everything written to a study folder."""
LONGEST_WORD = 60
"""Maximum length of a field's name in a message, in characters: the name may come from a file."""


class Record(BaseModel):
    """A frozen record that can be written as JSON; unknown fields are errors, so that typos are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def first_problem(errors: Sequence[Any], around: str = "") -> str:
    """What is wrong first, in one line; starts with the name of the field, if it concerns one.

    `errors` is what a ValidationError lists; `around` is left out of the field's name, such as the body of a request.
    """
    first = errors[0]
    where = ".".join(" ".join(str(part).split())[:LONGEST_WORD] for part in first["loc"] if part != around)
    message = "unknown; remove it" if first.get("type") == "extra_forbidden" else str(first["msg"])
    return f"{where}: {message}" if where else message


class Provenance(Record):
    """How a result was computed, so that it can be reproduced."""

    method: str
    parameters: dict[str, Any]
    inputs: dict[str, str]
    seed: int | None = None
    package: str
    format_version: int = FORMAT_VERSION
