"""The heading that annotators see. It says nothing about what is compared, so it is never the study's own title."""

from __future__ import annotations

import re

from dissensus.errors import StudyError, some
from dissensus.store.settings import Settings

USUAL = "Questions"


def public_title(settings: Settings) -> str:
    """The title that the owner gave annotators, or a neutral one.

    Raises:
        StudyError: it names a model.
    """
    title = settings.serve.public_title.strip()
    if telling := models_named(title, list(settings.models)):
        raise StudyError(
            f"annotators would read '{title}', which names {some(telling)}: give another --public-title, "
            "or change serve.public_title in study.toml"
        )
    return title or USUAL


def models_named(title: str, models: list[str]) -> list[str]:
    """The models that a title names; short names, such as 'vit', only count as whole words.

    A single letter may be a word of its own ('Is there a bird?'): it counts only beside another model ('a or b?').
    """
    words = title.casefold()
    found = [name for name in models if _names(words, name.casefold())]
    return found if len(found) > 1 or any(len(name) > 1 for name in found) else []


def _names(words: str, model: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(model)}(?!\w)", words) is not None or (len(model) > 3 and model in words)
