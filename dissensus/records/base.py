"""What every record is, and how a result was made."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

FORMAT_VERSION = 1
"""Version of everything written into a study folder."""


class Record(BaseModel):
    """A frozen record that can be written as JSON; an unknown field is an error, not a typo that passes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """How a result was made, so that it can be made again."""

    method: str
    parameters: dict[str, Any]
    inputs: dict[str, str]
    seed: int | None = None
    package: str
    format_version: int = FORMAT_VERSION
