"""What an item is, by the ending of its file: a picture, or a clip."""

from __future__ import annotations

from pathlib import PurePath

VIDEOS = {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime"}
"""Media types of clips that browsers play."""


def is_video(path: PurePath) -> bool:
    """True where the file is a clip."""
    return path.suffix.lower() in VIDEOS
