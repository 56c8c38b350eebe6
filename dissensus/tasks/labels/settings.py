"""study.toml for classifiers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from dissensus.errors import PlanningError
from dissensus.planning.decisions import Until
from dissensus.planning.draws import Goal
from dissensus.records import Record
from dissensus.store.settings.common import BootstrapSettings, CountingSettings, Settings
from dissensus.store.settings.human import HUMAN, HumanSettings
from dissensus.store.settings.laconic import LACONIC, LaconicSettings
from dissensus.store.settings.replica import REPLICA, ReplicaSettings
from dissensus.store.settings.video import VIDEO, VideoSettings

LABELS = """\
classes = {classes}
# compact = true    # files of predictions take less than half the space: confidences in half precision, less than
                    # 0.0005 off, and labels as codes; selecting from them takes about twice as long

[select]
k = 10              # items per duel
# reserves = 10     # next items per duel, which replace discarded ones; defaults to k
# cap = 3           # at most this many items per duel with the same predicted label, for either model; raised for
                    # duels that would otherwise have fewer than k items; defaults to 3, or to no cap with zero-one
# confidence = 0.8  # minimum confidence of both models (ignored for models without confidences); by default the first
                    # of 0.8, 0.6, 0.4, 0.2 and 0 at which most duels have k items to choose from
# distance = "weighted"     # weighted, weighted-exactly, hops, zero-one
# eligible = "eligible/….csv"    # select only the items, the classes, or the labels on items that this file lists

[estimate]
questions = 200     # how many questions `serve` may draw to estimate how often each model is right; 0 draws none; if
                    # `until` is set, as many as that takes
# until = "best"    # stop once this is decided: best, order, ε=0.01 (all differences known to ±0.01), order,ε=0.01
# goal = "order"    # what to look for: order (of all models) or best; defaults to what until needs
# question = "contains"     # contains: does it show this label?; pick: which of these labels does it show?; auto: the
                    # cheaper of the two for these models
# batch = 20        # questions drawn at a time: each batch learns from the answers to the ones before
# seed = 0

[judge]
method = "majority" # majority, dawid-skene
# min_answers = 3   # people who must answer a question before it counts; 1 until `serve` sets 3
unsure = 0.6        # an item is discarded if more than this share of its answers is 'unsure' …
unfit = 0.5         # … or this share is 'unfit'
share = 0.5         # a duel counts once this share of its items is judged

[rank]
method = "perron"   # perron, hodgerank, bradley-terry
smoothing = 1.0     # Laplace smoothing of the pairwise accuracies
resamples = 1000    # bootstrap resamples of the items
level = 0.95        # confidence level of bars and rank sets
seed = 0

"""
LABELS += LACONIC + REPLICA + HUMAN + VIDEO


LADDER = (0.8, 0.6, 0.4, 0.2, 0.0)
"""Confidences that `select` tries, in this order, if none is set."""


NO_LIMIT = 1 << 62


class SelectSettings(Record):
    """How many items each duel gets, and which."""

    k: int = Field(10, ge=1)
    reserves: int | None = Field(None, ge=0)
    cap: int | None = Field(None, ge=1)
    """If None, 3, or no cap if all classes are equally far apart."""
    confidence: float | None = Field(None, ge=0, le=1)
    """If None, the first of `LADDER` that leaves enough items."""
    distance: str | None = None
    eligible: str | None = None


class EstimateSettings(Record):
    """What is drawn at random to estimate how often each model is right."""

    questions: int = Field(200, ge=0)
    until: str | None = None
    goal: Goal | None = None
    question: Literal["contains", "pick", "auto"] = "contains"
    batch: int = Field(20, ge=1)
    seed: int = Field(0, ge=0)

    @field_validator("until")
    @classmethod
    def _is_understood(cls, text: str | None) -> str | None:
        try:
            return text if text is None else str(Until.parsed(text))
        except PlanningError as error:
            raise ValueError(str(error)) from None

    @property
    def target(self) -> Until:
        """When to stop: `until`, or once the goal is reached."""
        return Until.parsed(self.until or self.goal or "order")

    @property
    def aim(self) -> Goal:
        """What to look for: `goal`, or what `until` needs."""
        return self.goal or self.target.goal

    @property
    def most(self) -> int:
        """How many questions `serve` may draw."""
        return NO_LIMIT if self.until else self.questions


class JudgeSettings(CountingSettings):
    """When answers make a verdict, and when they discard an item."""

    method: str = "majority"
    unsure: float = Field(0.6, ge=0, lt=1)


class RankSettings(BootstrapSettings):
    """How judgements become a ranking."""

    method: str = "perron"
    smoothing: float = Field(1.0, gt=0, allow_inf_nan=False)


class LabelSettings(Settings):
    """study.toml for classifiers."""

    task: Literal["labels"] = "labels"
    classes: str
    compact: bool = False
    select: SelectSettings = SelectSettings()
    estimate: EstimateSettings = EstimateSettings()
    judge: JudgeSettings = JudgeSettings()
    rank: RankSettings = RankSettings()
    laconic: LaconicSettings = LaconicSettings()
    replica: ReplicaSettings = ReplicaSettings()
    human: HumanSettings = HumanSettings()
    video: VideoSettings = VideoSettings()
