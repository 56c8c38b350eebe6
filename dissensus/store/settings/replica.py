"""A test set collected again: the settings of `dissensus shift collect` and the steps after it."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from dissensus.records import Record

REPLICA = """\
# How `dissensus shift` collects a test set again; what is about grids counts for images collected from then on.
# [replica]
# grid = 48                 # images of a task
# workers = 10              # people who answer each task
# same_class = 3            # originals of the class hidden in each task, at least …
# nearby = 3                # … and of the classes nearest to it
# reviewers = 1             # people who look at each pair of near-duplicates, and at each class of a revision
# per_class = 10            # images per class of the new test set
# bins = 5                  # bins of selection frequencies that MatchedFrequency matches
# threshold = 0.7           # lowest selection frequency for Threshold
# seed = 0

"""
MOST_TILES = 60
MOST_PER_CLASS = 200
"""What one page can show."""


class ReplicaSettings(Record):
    """How people are asked about candidates, and which of them get in."""

    grid: int = Field(48, ge=2, le=MOST_TILES)
    workers: int = Field(10, ge=1)
    same_class: int = Field(3, ge=1)
    nearby: int = Field(3, ge=0)
    reviewers: int = Field(1, ge=1)
    per_class: int = Field(10, ge=1, le=MOST_PER_CLASS)
    bins: int = Field(5, ge=1, le=100)
    threshold: float = Field(0.7, ge=0, le=1)
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.grid <= self.same_class + self.nearby:
            raise ValueError(f"a grid of {self.grid} has no room for candidates beside same_class and nearby originals")
        return self
