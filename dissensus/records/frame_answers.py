"""Answers about a pair of frames: is the label right for both, and are they similar? (Thesis, section 4.2.4.)"""

from __future__ import annotations

FRAME_LABEL = ("right", "wrong", "unsure")
"""Whether the label is right for both frames."""
FRAME_REASONS = ("motion", "background", "blur", "other")
"""Why two frames are dissimilar."""
FRAME_SIMILAR = ("yes", *FRAME_REASONS, "unsure")
"""Whether the frames are similar; the question does not arise if the label is wrong."""

FRAME_ANSWERS: tuple[tuple[str, str | None], ...] = (
    *(("right", similar) for similar in FRAME_SIMILAR),
    ("wrong", None),
    *(("unsure", similar) for similar in FRAME_SIMILAR),
)
"""Every answer as (label, similar), in the order of the codes; the first is the usual one."""
FRAME_ACCEPTS = 0
"""The code of 'right and similar', the only answer that speaks for a pair."""


def frame_words(label: str, similar: str | None) -> str:
    """An answer in words."""
    if label == "wrong":
        return "wrong label"
    alike = {"yes": "similar", "unsure": "unsure if similar"}.get(str(similar), f"not similar: {similar}")
    if label == "unsure":
        return "unsure" if similar == "unsure" else f"unsure of the label, {alike}"
    return alike
