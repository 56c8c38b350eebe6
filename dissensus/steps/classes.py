"""The classes of a new study, checked before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dissensus.discrepancy.taxonomy import depths
from dissensus.errors import StudyError
from dissensus.labeling.articles import articles_of
from dissensus.records import Classes
from dissensus.store.classes import SHIPPED, Document, classes_of, english_nouns, read_classes


def with_articles(classes: Classes) -> Classes:
    """The classes as people read them in sentences: with 'a' or 'an' where that is right."""
    return replace(classes, articles=articles_of(classes.names, english_nouns()))


def chosen_classes(
    source: str | Path | Sequence[str], taxonomy: str | Path | None, most: int | None
) -> tuple[str, Document]:
    """The name of the classes for study.toml, and the classes themselves.

    Raises:
        ClassesError, DiscrepancyError: the classes or their taxonomy are invalid.
        StudyError: there are more than `most` classes.
    """
    named = str(source) if isinstance(source, str | Path) else source
    document = read_classes(named, None if taxonomy is None else Path(taxonomy))
    found = classes_of(document)
    if most is not None and len(found) > most:
        raise StudyError(
            f"there are {len(found):,} classes, but maps can have at most {most}, including the background: leave some "
            "out"
        )
    if found.taxonomy is not None:
        depths(found.taxonomy)  # raises an error now if the taxonomy has a cycle or two roots
    if not isinstance(named, str):
        return "classes.txt", document
    return (named if named in SHIPPED else Path(named).name), document
