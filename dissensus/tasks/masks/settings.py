"""study.toml for segmentation models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dissensus.records import Record
from dissensus.store.settings.common import AttackRankSettings, CountingSettings, ServeSettings, Settings

MASKS = """\
classes = {classes}    # class 0 is the background

[select]
k = 1               # images per category, for every attacker and defender
reserves = 1        # next images per category, which replace discarded ones
measure = "miou"    # agreement between two maps: miou, miou-all, fwiou, mpa
# scales = "pool"   # share of the pixels that a category may cover: voc, voc-reordered, pool, none or a file

[judge]
question = "mask"   # mask: annotators draw the ground truth; choice: they choose the better of two predictions
# prefill = ""      # model whose map annotators start from: faster, but biases them towards that model
check = true        # a second person checks every mask, and marked errors are corrected
# min_answers = 1   # masks or choices that an image needs before it counts; `serve` sets 3 for choices
unfit = 0.5         # an image is discarded if more than this share of its answers is 'unfit'
share = 0.5         # a duel counts once this share of its images is judged

[rank]
method = "thurstone" # thurstone, bradley-terry, hodgerank, perron
smoothing = 0.01    # added to the numerator and the denominator of every ratio
level = 0.95        # confidence level of bars and rank sets

"""


class CategorySettings(Record):
    """Which images are selected."""

    k: int = Field(1, ge=1, le=1000)
    reserves: int = Field(1, ge=0, le=1000)
    measure: str = "miou"
    scales: str | None = None


class TruthSettings(CountingSettings):
    """How annotators give the ground truth, and when it counts."""

    question: Literal["mask", "choice"] = "mask"
    check: bool = True
    prefill: str = ""
    """The model whose map annotators start from; empty by default, so that no model biases them."""

    @property
    def served_answers(self) -> int:
        """A mask takes minutes and somebody else checks it, so one drawing is enough by default."""
        return super().served_answers if self.question == "choice" else self.min_answers


class MaskServeSettings(ServeSettings):
    """How annotators are asked for masks: drawing takes a long time, and nobody draws the same image twice."""

    lease_minutes: float = Field(120, gt=0, allow_inf_nan=False)
    repeat_rate: float = Field(0.0, ge=0, le=0.5)


class MaskSettings(Settings):
    """study.toml for segmentation models."""

    task: Literal["masks"] = "masks"
    classes: str
    select: CategorySettings = CategorySettings()
    judge: TruthSettings = TruthSettings()
    rank: AttackRankSettings = AttackRankSettings()
    serve: MaskServeSettings = MaskServeSettings()
