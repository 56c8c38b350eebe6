"""What an item is, by its file extension: an image or a video clip."""

from __future__ import annotations

from pathlib import PurePath

from dissensus.contents import ending

VIDEOS = {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime"}
"""Media types of video clips that browsers can play."""


def is_video(uri: str | PurePath) -> bool:
    return ending(str(uri)) in VIDEOS
