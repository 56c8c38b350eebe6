"""study.toml of models that give a map."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dissensus.records import Record
from dissensus.store.settings.common import AttackRankSettings, CountingSettings, ServeSettings, Settings

MASKS = """\
classes = {classes}    # class 0 is the background

[select]
k = 1               # images per category of every attacker and defender
reserves = 1        # next images of a category, kept for those that people discard
measure = "miou"    # miou, miou-all, fwiou, mpa: how well two maps agree
# scales = "pool"   # share of the pixels that a category may have: voc, voc-reordered, pool, none or a file

[judge]
question = "mask"   # mask: people draw the truth; choice: they choose the better of two predictions
# prefill = ""      # a model whose map drawing begins with: quicker, and leads people to agree with it
check = true        # another person looks at every mask, and what they mark is corrected
min_answers = 1     # masks, or choices, that an image needs before it counts
unfit = 0.5         # an image is discarded when more than this share of the answers is 'unfit'
share = 0.5         # a duel counts once this share of its images is judged

[rank]
method = "thurstone" # thurstone, bradley-terry
smoothing = 0.01    # added to the numerator and the denominator of every ratio
resamples = 1000    # bootstrap over images
level = 0.95        # of intervals and rank sets
seed = 0

"""


class CategorySettings(Record):
    """Which images the attackers get."""

    k: int = Field(1, ge=1, le=1000)
    reserves: int = Field(1, ge=0, le=1000)
    measure: str = "miou"
    scales: str | None = None


class TruthSettings(CountingSettings):
    """How people say what is right, and when it counts."""

    question: Literal["mask", "choice"] = "mask"
    check: bool = True
    prefill: str = ""
    """The model whose map drawing begins with; empty: nobody's, so that people are led by no model."""


class MaskServeSettings(ServeSettings):
    """How people are asked for masks: drawing takes long, and nobody draws the same image twice."""

    lease_minutes: float = Field(120, gt=0, allow_inf_nan=False)
    repeat_rate: float = Field(0.0, ge=0, le=0.5)


class MaskSettings(Settings):
    """study.toml of models that give a map."""

    task: Literal["masks"] = "masks"
    classes: str
    select: CategorySettings = CategorySettings()
    judge: TruthSettings = TruthSettings()
    rank: AttackRankSettings = AttackRankSettings()
    serve: MaskServeSettings = MaskServeSettings()
