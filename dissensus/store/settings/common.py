"""What study.toml says whatever the models predict."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, field_validator

from dissensus.records import FORMAT_VERSION, Record

HEAD = """\
# A dissensus study. This is the only file here that you edit; every setting can also be left out.
format = {format}
task = "{task}"
title = {title}    # of the report; the name of the folder unless said
notes = {notes}    # sentences that a reader of the report must see first
"""


SERVE = """\
# How `dissensus serve` asks people.
# [serve]
# database = ""             # postgresql://USER@HOST/NAME for a team; empty: a file here; DISSENSUS_DATABASE goes first
# host = "127.0.0.1"
# port = 8765
# lease_minutes = {lease:<9} # a question that was not answered for so long goes to somebody else
# control_rate = 0.05       # share of questions whose answer is known …
# repeat_rate = {repeat:<11} # … and of those that a person gets a second time
# break_minutes = 30        # work after which a break is suggested: no session is longer
# sessions = 1              # a person's questions are divided into so many of about equal numbers …
# rest_minutes = 0          # … with breaks between that last at least so long
# instructions = []         # paragraphs that people read before they begin

# How images are made ready for a model; [models.NAME.preprocess] overrides it for one model.
# [preprocess]
# size = 224
{frame}
# mean = [0.485, 0.456, 0.406]
# std = [0.229, 0.224, 0.225]
# channels = "rgb"
"""


CROP = "# crop = 0.875"
"""How models see an image where a task says nothing else: its middle."""


class ServeSettings(Record):
    """How people are asked: where the service is reached, where answers are kept, how questions are dealt out."""

    database: str = ""
    """Address of a PostgreSQL database; empty: the file in the study's folder."""
    host: str = "127.0.0.1"
    port: int = Field(8765, ge=0, le=65_535)
    lease_minutes: float = Field(30, gt=0, allow_inf_nan=False)
    control_rate: float = Field(0.05, ge=0, le=0.5)
    repeat_rate: float = Field(0.05, ge=0, le=0.5)
    break_minutes: float = Field(30, gt=0, allow_inf_nan=False)
    sessions: int = Field(1, ge=1, le=100)
    rest_minutes: float = Field(0, ge=0, le=1440, allow_inf_nan=False)
    instructions: tuple[str, ...] = ()


class ModelSettings(Record):
    """Where a model's predictions come from."""

    backend: str
    target: str
    preprocess: dict[str, Any] = Field(default_factory=dict)
    better: Literal["higher", "lower"] = "higher"
    """Which scores are better."""


class CountingSettings(Record):
    """When answers count."""

    min_answers: int = Field(1, ge=1)
    unfit: float = Field(0.5, ge=0, lt=1)
    share: float = Field(0.5, ge=0, le=1)


class MethodSettings(Record):
    """How judgements become an order, and how sure it is."""

    resamples: int = Field(1000, ge=100)
    level: float = Field(0.95, gt=0.5, lt=1)
    seed: int = Field(0, ge=0)
    method: str = ""
    smoothing: float = Field(0.0, ge=0, allow_inf_nan=False)


class AttackRankSettings(MethodSettings):
    """How attacks become two orders."""

    method: str = "thurstone"
    smoothing: float = Field(0.01, ge=0, allow_inf_nan=False)


class Settings(Record):
    """What study.toml says whatever the models predict."""

    format: int = FORMAT_VERSION
    task: str
    title: str = ""
    notes: tuple[str, ...] = ()
    judge: CountingSettings = CountingSettings()
    rank: MethodSettings = MethodSettings()
    serve: ServeSettings = ServeSettings()
    preprocess: dict[str, Any] = Field(default_factory=dict)
    models: dict[str, ModelSettings] = Field(default_factory=dict)

    @field_validator("models")
    @classmethod
    def _name_files(cls, models: dict[str, ModelSettings]) -> dict[str, ModelSettings]:
        for name in models:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
                raise ValueError(f"'{name}' cannot name a model: use letters, digits, '.', '_' and '-'")
        return models

    @field_validator("format")
    @classmethod
    def _is_ours(cls, value: int) -> int:
        if value != FORMAT_VERSION:
            raise ValueError(f"this dissensus reads format {FORMAT_VERSION}, not {value}")
        return value
