"""Absolute paths do not belong on a page: they say who made it, and mean nothing on another machine."""

from __future__ import annotations

import re

PART = r"[^\s/\\'\"’<>|,;()]"
QUOTED = r"[^/'\"’”\n]"
PATHS = re.compile(
    rf"(?<=['\"‘“])/(?:{QUOTED}+/)+({QUOTED}*)(?=['\"’”])"  # in quotes, folders may have spaces
    rf"|(?:\bfile://|(?<![\w/.~%)\]]))(?:\b[A-Za-z]:)?/(?:{PART}+/)+({PART}*)"  # /home/ada/net.onnx, C:/ada/net.onnx
    rf"|\b[A-Za-z]:\\(?:{PART}+\\)*({PART}*)"  # C:\\ada\\net.onnx
)


def without_folders(text: str) -> str:
    """The text with the last part of every absolute path in it; addresses of web pages and relative paths stay."""
    if ("/" not in text and "\\" not in text) or text.startswith("data:"):
        return text
    return PATHS.sub(lambda found: next(filter(None, found.groups()), "…"), text)
