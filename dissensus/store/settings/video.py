"""Robustness along video: the settings of `dissensus shift video`."""

from __future__ import annotations

from pydantic import Field

from dissensus.records import Record

VIDEO = """\
# How people review the frames of `dissensus shift video`.
# [video]
# reviewers = 4             # people who judge each pair of frames on their own
# joint = 1                 # answers to each disputed pair in the joint review: 1 for a group at one screen; 0: none

"""


class VideoSettings(Record):
    """How many people review each pair of frames."""

    reviewers: int = Field(4, ge=1)
    joint: int = Field(1, ge=0)
