"""study.toml of models that give a number."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from dissensus.records import Record
from dissensus.store.settings.common import AttackRankSettings, CountingSettings, Settings

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
# balance = 0.3     # bt500 rejects only people whose outliers lie on both sides so evenly, as the Recommendation says
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


class PairSettings(CountingSettings):
    """How people compare two items, and when their answers count."""

    question: Literal["slider", "choice"] = "slider"
    method: str = "bt500"
    balance: float | None = Field(None, gt=0, le=1)


class ScoreSettings(Settings):
    """study.toml of models that give a number."""

    task: Literal["scores"] = "scores"
    scale: ScaleSettings = ScaleSettings()
    select: LevelSettings = LevelSettings()
    judge: PairSettings = PairSettings()
    rank: AttackRankSettings = AttackRankSettings()
