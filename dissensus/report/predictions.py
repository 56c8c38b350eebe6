"""The section about what models predict: at a glance, what looks wrong, and some items with all predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dissensus.records import Sanity
from dissensus.report.galleries import Album
from dissensus.report.page import Page, Section
from dissensus.report.wording import counted


@dataclass(frozen=True)
class WordedPrediction:
    """A prediction in words, and the models that make it, each with its confidence where it gives one."""

    words: str
    models: tuple[str, ...]
    overlay: str | None = None
    """A picture to lay over the item's own, if the prediction is a map."""


@dataclass(frozen=True)
class Sample:
    """An item with all predictions."""

    item: str
    image: str | None
    pixelated: bool
    predictions: tuple[WordedPrediction, ...]


def with_predictions(page: Page, sanity: Sanity, samples: Sequence[Sample]) -> Page:
    """The page with this section before its last one, the settings."""
    album = Album(prefix="s")
    for one in samples:
        for picture in (one.image, *(prediction.overlay for prediction in one.predictions)):
            album.add(one.item, picture)
    section = predictions_section(sanity, samples, album)
    sections = (*page.sections[:-1], section, page.sections[-1])
    return replace(page, sections=sections, rules=(*page.rules, *album.rules))


def predictions_section(sanity: Sanity, samples: Sequence[Sample], album: Album) -> Section:
    """A table of the models, warnings, and the samples with the pictures of an album."""
    heads, rows = sanity.rows
    doubted = [one for one in sanity.models if one.warnings]
    verdict = (
        f"Something looks wrong with the predictions of {counted(len(doubted), 'model')}."
        if doubted
        else "Nothing looks wrong with these predictions."
    )
    view = {
        "sanity": sanity,
        "heads": heads,
        "names": int(any(one.has_names for one in sanity.models)),
        "rows": rows,
        "doubted": doubted,
        "verdict": verdict,
        "meaning": sanity.models[0].meaning if sanity.models else "",
        "samples": samples,
        "numbers": album.numbers,
    }
    return Section("predictions", "Predictions", "Are the predictions sane?", "predictions.html", view)
