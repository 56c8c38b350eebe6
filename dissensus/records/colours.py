"""One colour for every class, the same in indexed files, overlays, pages and reports."""

from __future__ import annotations

import colorsys
from functools import lru_cache

GOLDEN = 0.618_033_988_75
"""Golden-ratio steps around the colour circle keep any number of hues apart."""
VOID_COLOUR = (224, 224, 192)


@lru_cache(1)
def class_colours() -> tuple[tuple[int, int, int], ...]:
    """Red, green and blue (0 to 255) of the labels 0 to 255: black for the background, pale for VOID."""
    colours = [(0, 0, 0)]
    for number in range(254):
        # neighbouring labels also differ in lightness
        lightness, saturation = ((0.55, 0.85), (0.42, 0.9), (0.68, 0.8))[number % 3]
        hue = (0.02 + number * GOLDEN) % 1.0
        colours.append(tuple(round(255 * part) for part in colorsys.hls_to_rgb(hue, lightness, saturation)))  # type: ignore[arg-type]
    return (*colours, VOID_COLOUR)


def shown_colours(classes: int) -> list[str]:
    """The colours of the first labels, as hexadecimal CSS colours."""
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in class_colours()[:classes]]
