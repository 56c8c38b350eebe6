"""Settings in study.toml that every task shares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from dissensus.records import FORMAT_VERSION, Record

HEAD = """\
# A dissensus study. This is the only file here that you edit; every setting is optional.
format = {format}
task = "{task}"
title = {title}    # of the report; defaults to the folder's name
notes = {notes}    # sentences shown at the top of the report
answers_from = {answers_from}    # what the answers are if no person is asked: "mean opinion scores of TID2013"
"""


SERVE = """\
# How `dissensus serve` asks people.
# [serve]
# database = ""             # postgresql://USER@HOST/NAME for a team; default: local file; DISSENSUS_DATABASE overrides
# host = "127.0.0.1"
# port = 8765
# lease_minutes = {lease:<9} # a question not answered within this time goes to somebody else
# control_rate = 0.05       # share of pictures followed by a control, whose answers are known …
# repeat_rate = {repeat:<11} # … and by a repeat of an earlier picture
# break_minutes = 30        # longest session, after which a break is suggested
# sessions = 1              # number of sessions of about equal size per person …
# rest_minutes = 0          # … with breaks of at least this long between them
# instructions = []         # paragraphs that people read before they start
# public_title = ""         # heading that annotators see; it must not tell what is compared
# examples = ""             # folder of example pictures: a subfolder, or a file, with the name of each class

# How images are prepared for a model; [models.NAME.preprocess] overrides it for one model.
# [preprocess]
# size = 224
{frame}
# mean = [0.485, 0.456, 0.406]
# std = [0.229, 0.224, 0.225]
# channels = "rgb"
"""


LONGEST_TITLE = 200

CROP = "# crop = 0.875"
"""The part of an image that models see by default, as a line in study.toml: its centre."""


class ServeSettings(Record):
    """How people are asked: where the service listens, where answers are stored, how questions are assigned."""

    database: str = ""
    """URL of a PostgreSQL database; if empty, the file in the study folder."""
    host: str = "127.0.0.1"
    port: int = Field(8765, ge=0, le=65_535)
    lease_minutes: float = Field(30, gt=0, allow_inf_nan=False)
    control_rate: float = Field(0.05, ge=0, le=0.5)
    repeat_rate: float = Field(0.05, ge=0, le=0.5)
    break_minutes: float = Field(30, gt=0, allow_inf_nan=False)
    sessions: int = Field(1, ge=1, le=100)
    rest_minutes: float = Field(0, ge=0, le=1440, allow_inf_nan=False)
    instructions: tuple[str, ...] = ()
    public_title: str = Field("", max_length=LONGEST_TITLE)
    """What annotators see as the heading; if empty, a neutral one."""
    examples: str = ""
    """A folder of example pictures of the classes: a subfolder, or a file, with the name of each."""


class ModelSettings(Record):
    """Where a model's predictions come from."""

    backend: str
    target: str
    preprocess: dict[str, Any] = Field(default_factory=dict)
    better: Literal["higher", "lower"] = "higher"
    """Whether higher or lower scores are better."""

    def is_person(self, name: str) -> bool:
        """Whether the model of this name is a person who joined, also if the study has been moved since."""
        return self.backend == "file" and Path(self.target).parts[-3:] == ("human", "people", f"{name}.parquet")


PEOPLE = 3
"""How many people answer each question of a study that is served, so that no single one decides everything."""


class CountingSettings(Record):
    """When answers add up to a verdict."""

    min_answers: int = Field(1, ge=1)
    unfit: float = Field(0.5, ge=0, lt=1)
    share: float = Field(0.5, ge=0, le=1)

    @property
    def served_answers(self) -> int:
        """`min_answers` of a study that is served: if it is not set, more people are asked than for sheets."""
        return self.min_answers if "min_answers" in self.model_fields_set else PEOPLE


class MethodSettings(Record):
    """How judgements become a ranking with rank sets."""

    level: float = Field(0.95, gt=0.5, lt=1)
    method: str = ""
    smoothing: float = Field(0.0, ge=0, allow_inf_nan=False)


class BootstrapSettings(MethodSettings):
    """How judgements become a ranking with rank sets from resampled items."""

    resamples: int = Field(1000, ge=100)
    seed: int = Field(0, ge=0)


class AttackRankSettings(MethodSettings):
    """How attacks become two rankings."""

    method: str = "thurstone"
    smoothing: float = Field(0.01, ge=0, allow_inf_nan=False)


class Settings(Record):
    """Settings in study.toml that every task shares."""

    format: int = FORMAT_VERSION
    task: str
    title: str = ""
    notes: tuple[str, ...] = ()
    answers_from: str = ""
    """What the answers are if no person was asked; empty if people answer."""
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
                raise ValueError(f"'{name}' is not a valid model name: use letters, digits, '.', '_' and '-'")
        return models

    @field_validator("format")
    @classmethod
    def _is_ours(cls, value: int) -> int:
        if value != FORMAT_VERSION:
            raise ValueError(
                f"this version of dissensus reads format {FORMAT_VERSION}, not {value}: use the version that wrote it"
            )
        return value
