"""study.toml for models that predict a score."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from dissensus.records import Record
from dissensus.store.settings.common import AttackRankSettings, CountingSettings, Settings

SCORES = """\

[scale]
# ratings = "ratings.csv"   # item, rating: written by `dissensus scale`; without it, scores are ranks in the pool
# worst = 0.0               # the worst possible rating …
# best = 100.0              # … and the best, which may be the smaller number

[select]
levels = 6          # number of levels on the defender's scale
# width = 20.0      # width of a level, 0 to 100; defaults to the standard deviation of the ratings
# low = 0.0         # start of the first level …
# high = 100.0      # … and end of the last; default to the middle 98 % of the ratings
spacing = "even"    # even, quantile
case = "all"        # all: a pair in every level; most: only in the level where the attacker sees the largest difference
reserves = 1        # next pairs per level, which replace discarded ones
# jnd = 1.0         # strict: the defender's two scores must differ by less than this

[judge]
question = "slider" # slider, choice: about two items; rating: every item once, on its own
method = "bt500"    # bt500, p910, mean
# balance = 0.3     # bt500 then rejects only people whose |high − low| / all outliers is below this, as in BT.500
# min_answers = 3   # people who must judge a pair (for ratings, an item) before it counts; 1 until `serve` sets 3
unfit = 0.5         # it is discarded if more than this share of its answers is 'unfit'
share = 0.5         # a duel counts once this share of its pairs is judged

[rank]
method = "thurstone" # thurstone, bradley-terry, hodgerank, perron
smoothing = 0.01    # added to both sides of every duel
level = 0.95        # confidence level of bars and rank sets

"""


class ScaleSettings(Record):
    """How the scores of all models are mapped to one scale, 0 to 100."""

    ratings: str | None = None
    worst: float = Field(0.0, allow_inf_nan=False)
    best: float = Field(100.0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _has_ends(self) -> ScaleSettings:
        if self.worst == self.best:
            raise ValueError("the worst and the best rating must differ")
        return self


class LevelSettings(Record):
    """Which pairs of items are selected."""

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
            raise ValueError("low must be below high")
        return self


class PairSettings(CountingSettings):
    """How annotators compare two items, or rate one, and when their answers count."""

    question: Literal["slider", "choice", "rating"] = "slider"
    method: str = "bt500"
    balance: float | None = Field(None, gt=0, le=1)


class ScoreSettings(Settings):
    """study.toml for models that predict a score."""

    task: Literal["scores"] = "scores"
    scale: ScaleSettings = ScaleSettings()
    select: LevelSettings = LevelSettings()
    judge: PairSettings = PairSettings()
    rank: AttackRankSettings = AttackRankSettings()
