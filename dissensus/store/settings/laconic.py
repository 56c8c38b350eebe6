"""How little of an image is enough: the settings of `dissensus laconic`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from dissensus.records import Record

LACONIC = """\
# How `dissensus laconic` reduces images; change it before the first search.
# [laconic]
# side = 224                # images are cut to their central square and scaled to this many pixels
# crop = 0.875              # side of the central square as a share of the image's shorter side
# reductions = ["colour", "resolution", "crop", "combined"]
# images = 15               # images per class; by default all whose class is known
# modes = ["free", "guided"]        # how people uncover images: a button per direction, or one control for all
# spacing = "geometric"     # geometric: every step adds the same share of what is there; even: the same amount

"""


class LaconicSettings(Record):
    """What is reduced, and how people uncover it."""

    side: int = Field(224, ge=1, le=4096)
    crop: float = Field(0.875, gt=0, le=1)
    reductions: tuple[str, ...] = Field(("colour", "resolution", "crop", "combined"), min_length=1)
    images: int | None = Field(None, ge=1)
    modes: tuple[Literal["free", "guided"], ...] = Field(("free", "guided"), min_length=1)
    spacing: Literal["even", "geometric"] = "geometric"

    @field_validator("reductions", "modes")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len({*names}) < len(names):
            raise ValueError("names something twice")
        return names
