"""Output about the page of predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dissensus.printing.console import document, say


def show_browsing(study: Path, as_json: bool) -> Callable[[str, str], None]:
    """Callback for when the browser of predictions is up: print its link."""

    def ready(address: str, owner_token: str) -> None:
        page = f"{address}/browse#{owner_token}"
        with document(as_json, {"study": str(study), "address": address, "page": page}):
            say(f"The predictions of {study} are open, for you only, at:")
            say(f"  {page}")
            say("Press Ctrl-C to stop.")

    return ready
