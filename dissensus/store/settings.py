"""study.toml: the only file of a study that a person edits, so its comments and order are kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import tomlkit
from pydantic import Field, ValidationError, field_validator, model_validator
from tomlkit.exceptions import TOMLKitError

from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, Record
from dissensus.store.files import write_text

HEAD = """\
# A dissensus study. This is the only file here that you edit; every setting can also be left out.
format = {format}
task = "{task}"
title = {title}    # of the report; the name of the folder unless said
notes = {notes}    # sentences that a reader of the report must see first
"""

LABELS = """\
classes = {classes}

[select]
k = 30              # items per duel
# reserves = 30     # next items, kept for those that people discard; as many as k unless said
cap = 3             # at most this many items with one predicted label, for either model
confidence = 0.8    # both models must be at least this sure (where they say how sure they are)
# distance = "weighted"     # weighted, weighted-exactly, hops, zero-one
# eligible = "eligible/….csv"    # only what this file lists can be judged

[judge]
method = "majority" # majority, dawid-skene
min_answers = 1     # answers that a question needs before it counts
unsure = 0.6        # an item is discarded when more than this share of the answers is 'unsure' …
unfit = 0.5         # … or 'unfit'
share = 0.5         # a duel counts once this share of its items is judged

[rank]
method = "perron"   # perron, hodgerank, bradley-terry
smoothing = 1.0     # Laplace smoothing of the pairwise accuracies
resamples = 1000    # bootstrap over items
level = 0.95        # of intervals and rank sets
seed = 0

"""

SCORES = """\

[scale]
# ratings = "ratings.csv"   # item, rating: what scores mean; `dissensus scale` writes it. Without it: ranks in the pool
# worst = 0.0               # of the ratings …
# best = 100.0              # … and the other end; it may be the smaller number

[select]
levels = 6          # of the defender's scale
# width = 20.0      # of a level, 0 to 100; the standard deviation of the ratings unless said
# low = 0.0         # levels lie between this …
# high = 100.0      # … and this: the middle 98 % of the ratings unless said
spacing = "even"    # even, quantile
case = "all"        # all: a pair in every level; most: only in the level where the attacker sees the largest difference
reserves = 1        # next pairs of a level, kept for those that people discard
# jnd = 1.0         # strict: the defender's scores of a pair differ by less than this

[judge]
question = "slider" # slider, choice
method = "bt500"    # bt500, p910, mean
min_answers = 1     # answers that a pair needs before it counts
unfit = 0.5         # a pair is discarded when more than this share of the answers is 'unfit'
share = 0.5         # a duel counts once this share of its pairs is judged

[rank]
method = "thurstone" # thurstone, bradley-terry
smoothing = 0.01    # added to both sides of every duel
resamples = 1000    # bootstrap over pairs and people
level = 0.95        # of intervals and rank sets
seed = 0

"""

SERVE = """\
# How `dissensus serve` asks people.
# [serve]
# database = ""             # postgresql://USER@HOST/NAME for a team; empty: a file here; DISSENSUS_DATABASE goes first
# host = "127.0.0.1"
# port = 8765
# lease_minutes = 30        # a question that was not answered for so long goes to somebody else
# control_rate = 0.05       # share of questions whose answer is known …
# repeat_rate = 0.05        # … and of those that a person gets a second time
# break_minutes = 30        # work after which a break is suggested: no session is longer
# sessions = 1              # a person's questions are divided into so many of about equal numbers …
# rest_minutes = 0          # … with breaks between that last at least so long
# instructions = []         # paragraphs that people read before they begin

# How images are made ready for a model; [models.NAME.preprocess] overrides it for one model.
# [preprocess]
# size = 224
# crop = 0.875
# mean = [0.485, 0.456, 0.406]
# std = [0.229, 0.224, 0.225]
# channels = "rgb"
"""


class SelectSettings(Record):
    """How many items each duel gets, and which."""

    k: int = Field(30, ge=1)
    reserves: int | None = Field(None, ge=0)
    cap: int = Field(3, ge=1)
    confidence: float = Field(0.8, ge=0, le=1)
    distance: str | None = None
    eligible: str | None = None


class JudgeSettings(Record):
    """When answers make a verdict, and when they discard an item."""

    method: str = "majority"
    min_answers: int = Field(1, ge=1)
    unsure: float = Field(0.6, ge=0, lt=1)
    unfit: float = Field(0.5, ge=0, lt=1)
    share: float = Field(0.5, ge=0, le=1)


class RankSettings(Record):
    """How judgements become an order."""

    method: str = "perron"
    smoothing: float = Field(1.0, gt=0, allow_inf_nan=False)
    resamples: int = Field(1000, ge=100)
    level: float = Field(0.95, gt=0.5, lt=1)
    seed: int = Field(0, ge=0)


class ScaleSettings(Record):
    """How the scores of all models come on one scale, 0 to 100."""

    ratings: str | None = None
    worst: float = Field(0.0, allow_inf_nan=False)
    best: float = Field(100.0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _has_ends(self) -> ScaleSettings:
        if self.worst == self.best:
            raise ValueError("the worst and the best rating are the same")
        return self


class LevelSettings(Record):
    """Which pairs of items the attackers get."""

    levels: int = Field(6, ge=1, le=100)
    width: float | None = Field(None, gt=0, le=100)
    low: float | None = Field(None, ge=0, lt=100)
    high: float | None = Field(None, gt=0, le=100)
    spacing: Literal["even", "quantile"] = "even"
    case: Literal["all", "most"] = "all"
    reserves: int = Field(1, ge=0, le=100)
    jnd: float | None = Field(None, ge=0.125, le=100)

    @model_validator(mode="after")
    def _has_room(self) -> LevelSettings:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low is not below high")
        return self


class PairSettings(Record):
    """How people compare two items, and when their answers count."""

    question: Literal["slider", "choice"] = "slider"
    method: str = "bt500"
    min_answers: int = Field(1, ge=1)
    unfit: float = Field(0.5, ge=0, lt=1)
    share: float = Field(0.5, ge=0, le=1)


class AttackRankSettings(Record):
    """How attacks become two orders."""

    method: str = "thurstone"
    smoothing: float = Field(0.01, ge=0, allow_inf_nan=False)
    resamples: int = Field(1000, ge=100)
    level: float = Field(0.95, gt=0.5, lt=1)
    seed: int = Field(0, ge=0)


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


class Settings(Record):
    """What study.toml says whatever the models predict."""

    format: int = FORMAT_VERSION
    task: str
    title: str = ""
    notes: tuple[str, ...] = ()
    serve: ServeSettings = ServeSettings()
    preprocess: dict[str, Any] = Field(default_factory=dict)
    models: dict[str, ModelSettings] = Field(default_factory=dict)

    @property
    def people(self) -> int:
        """How many people answer each question."""
        raise NotImplementedError

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


class LabelSettings(Settings):
    """study.toml of models that give a class."""

    task: Literal["labels"] = "labels"
    classes: str
    select: SelectSettings = SelectSettings()
    judge: JudgeSettings = JudgeSettings()
    rank: RankSettings = RankSettings()

    @property
    def people(self) -> int:
        """How many people answer each question."""
        return self.judge.min_answers


class ScoreSettings(Settings):
    """study.toml of models that give a number."""

    task: Literal["scores"] = "scores"
    scale: ScaleSettings = ScaleSettings()
    select: LevelSettings = LevelSettings()
    judge: PairSettings = PairSettings()
    rank: AttackRankSettings = AttackRankSettings()

    @property
    def people(self) -> int:
        """How many people answer each question."""
        return self.judge.min_answers


TASKS: dict[str, tuple[type[Settings], str]] = {"labels": (LabelSettings, LABELS), "scores": (ScoreSettings, SCORES)}
"""What models can predict: the settings that belong to it, and how they begin."""


def write_new(path: Path, task: str, title: str, notes: Sequence[str], **settings: str) -> None:
    """Write the settings of a new study; `settings` are those that the task needs from the beginning."""
    words = {"title": title, "notes": list(notes)} | settings
    quoted = {name: tomlkit.item(value).as_string() for name, value in words.items()}
    write_text(path, (HEAD + TASKS[task][1] + SERVE).format(format=FORMAT_VERSION, task=task, **quoted))


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
