"""The base of every record, and how a result was computed."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

FORMAT_VERSION = 1
"""Version of everything written to a study folder."""


class Record(BaseModel):
    """A frozen record that can be written as JSON; unknown fields are errors, so that typos are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """How a result was computed, so that it can be reproduced."""

    method: str
    parameters: dict[str, Any]
    inputs: dict[str, str]
    seed: int | None = None
    package: str
    format_version: int = FORMAT_VERSION
