"""The images that falsify most models besides those they were selected for (Fig. 8), with the maps of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.report.masks.album import Album
from dissensus.report.masks.data import MasksReportData
from dissensus.report.masks.figures import FAILS_BELOW, most_transferable, transfer
from dissensus.report.masks.galleries import Panel
from dissensus.report.masks.names import class_name, score_text

IMAGES = 6
"""Images that are shown."""
MODELS = 16
"""Maps beside each of them; those of the best models come first."""


@dataclass(frozen=True)
class TransferCard:
    """An image with the maps of all models: those it was selected for have the role 'own', the others 'other'."""

    item: str
    ratio: float
    words: str
    panels: tuple[Panel, ...]
    left_out: int
    chips: tuple[tuple[int, str], ...]


def transfer_cards(data: MasksReportData, order: Sequence[str], album: Album) -> tuple[TransferCard, ...]:
    """The most transferable images that have pictures and room for them; empty without scores or other models.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    if data.question == "choice" or data.scores is None or data.associated is None or not data.scores.size:
        return ()
    made: list[TransferCard] = []
    for row in most_transferable(data.scores, data.associated, len(data.scores)):
        if len(made) < IMAGES and (card := _card(data, row, order, album)) is not None:
            made.append(card)
    return tuple(made)


def _card(data: MasksReportData, row: int, order: Sequence[str], album: Album) -> TransferCard | None:
    assert data.scores is not None
    assert data.associated is not None
    image, shown = data.images[data.scored[row]], list(order[:MODELS])
    pictures = image.photo, image.truth, *(image.maps.get(model) for model in shown)
    if not any(pictures) or not album.has_room_for(pictures):
        return None
    photo = album.number(image.item, image.photo)
    truth = album.number(image.item, image.truth)
    panels = [
        Panel("photo", "photo", photo, None, "", False, f"Photo of {image.item}"),
        Panel("truth", "truth", photo, truth, "", False, f"Truth of {image.item}"),
    ]
    own = {model for m, model in enumerate(data.models) if data.associated[row, m]}
    for model in sorted(shown, key=lambda name: name not in own):
        score = float(data.scores[row, data.models.index(model)])
        role = ("own " if model in own else "other ") + ("failed" if score < FAILS_BELOW else "fine")
        over = album.number(image.item, image.maps.get(model))
        words = f"Map of {image.item} by {model}" if over is not None else f"no map by {model}"
        words += ", which the image was selected for" if model in own else ""
        panels.append(Panel(role, model, photo, over, score_text(score), False, words))
    found = transfer(data.scores[row : row + 1], data.associated[row : row + 1])
    words = f"falsifies {int(found.falsified[0])} of {int(found.outside[0])} others"
    chips = tuple((label, class_name(label, data.classes)) for label in image.labels)
    return TransferCard(image.item, album.shape(image), words, tuple(panels), len(order) - len(shown), chips)
