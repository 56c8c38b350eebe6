"""Response bodies of the owner's page of predictions, as documented in the API description."""

from __future__ import annotations

from pydantic import Field

from dissensus.web.messages import Message


class BrowserOut(Message):
    """What there is to browse: the models and classes by number, and what filters mean."""

    title: str
    task: str
    size: int
    models: list[str]
    better: list[str] = Field(description="For scores: whether higher or lower is better, by model.")
    classes: list[str]
    colours: list[str] = Field(description="For maps: the colour of every class.")
    level: str = Field(description="What `level` is: confidence, rank (0 worst, 1 best) or share (of the picture).")
    measure: str | None = Field(description="For maps: how their agreement is measured.")
    has_dashboard: bool


class ShareOut(Message):
    """A class in a map, and its share of the pixels."""

    label: int
    share: float


class PredictionOut(Message):
    """What one model predicts of an item; only what its task has is given."""

    label: int | None = None
    level: float | None = None
    further: list[int] = Field([], description="The classes ranked second to fifth.")
    score: float | None = None
    shares: list[ShareOut] | None = Field(None, description="The classes in a map, largest first.")
    problem: str | None = Field(None, description="Why there is no prediction.")


class ItemOut(Message):
    """One item with the predictions of all models, in their order."""

    number: int
    item: str
    picture: str | None = Field(description="image, clip, or nothing.")
    distance: float = Field(description="How much the models disagree, 0 to 1.")
    predictions: list[PredictionOut]


class FoundOut(Message):
    """Some of the items that match."""

    total: int
    differing: int = Field(description="On how many of them models differ at all.")
    reachable: int = Field(description="How many of them can be listed.")
    start: int
    items: list[ItemOut]
    labels: list[tuple[int, int]] = Field(description="Classes, and how many items would match with each of them.")
    progress: str | None = Field(description="How far the search is; ask again.")
