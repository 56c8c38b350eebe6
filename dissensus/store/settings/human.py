"""People as a baseline: the settings of `dissensus shift human`."""

from __future__ import annotations

from pydantic import Field

from dissensus.records import Record

HUMAN = """\
# How `dissensus shift human` asks people what they see, to compare them with the models.
# [human]
# images = 1000             # images that people label, of each test set
# training = 0              # images for training, with feedback
# people = 5                # people who label each image
# reviewers = 3             # people who judge the labels of each image
# seed = 0

"""


class HumanSettings(Record):
    """Which images people label, and how many people do."""

    images: int = Field(1000, ge=1)
    training: int = Field(0, ge=0)
    people: int = Field(5, ge=1)
    reviewers: int = Field(3, ge=1)
    seed: int = Field(0, ge=0)
