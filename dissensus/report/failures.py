"""Where each model fails, right after the ranking: the worst errors with their pictures, counts by class, and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dissensus.records import Confusion, Failure, Failures, ModelFailures
from dissensus.report.galleries import most_each
from dissensus.report.page import Section

CARDS = 480
"""Failures shown with pictures, shared by the models; `dissensus failures` lists all."""
OPEN = 12
"""With more models than this, only the first few are opened."""
CONFUSIONS = 12
"""Rows of a model's table of confusions."""


@dataclass(frozen=True)
class FailureCard:
    """One error and what its card shows, which depends on the task."""

    failure: Failure
    shown: Any


@dataclass(frozen=True)
class FailingModel:
    """One model with its worst errors, and how many more there are."""

    found: ModelFailures
    cards: tuple[FailureCard, ...]
    left_out: int
    confusions: tuple[Confusion, ...]
    is_open: bool


def shown_failures(found: Failures, order: Sequence[str], cards: int = CARDS) -> dict[str, list[Failure]]:
    """The errors that the page shows, by model in the page's order: all if there is room, else the worst of each."""
    by_model: dict[str, list[Failure]] = {name: [] for name in order}
    for one in found.failures:
        by_model.get(one.model, []).append(one)
    most = most_each(cards, sum(map(len, by_model.values())), len(by_model))
    return {name: cases[:most] for name, cases in by_model.items()}


def failures_section(
    found: Failures | None,
    order: Sequence[str],
    template: str,
    shown: Callable[[Failure], Any],
    view: Mapping[str, Any],
    by: str = "Confidence",
) -> tuple[Section, ...]:
    """The section; empty without anything judged.

    `shown` gives what a card needs, None if there is nothing to show; `by` is what severity means.
    """
    if found is None or not any(one.judged for one in found.models):
        return ()
    found = found.model_copy(update={"models": tuple(found.of(name) for name in order)})
    made = []
    for place, (name, cases) in enumerate(shown_failures(found, order).items()):
        made_of = [(case, shown(case)) for case in cases]
        cards = tuple(FailureCard(case, what) for case, what in made_of if what is not None)
        total = sum(one.model == name for one in found.failures)
        confusions = tuple(one for one in found.confusions if one.model == name)[:CONFUSIONS]
        is_open = len(order) <= OPEN or place < OPEN // 2
        made.append(FailingModel(found.of(name), cards, total - len(cards), confusions, is_open))
    classes = sorted({one for model in made for card in model.cards for one in named(card.failure)})
    own = {"failing": made, "found": found, "classes": classes, "by": by, "named": named}
    title = "Where does each fail?"
    return (Section("failures", "Failures", title, template, {**view, **own}, plots=(found.plot(),)),)


def named(failure: Failure) -> tuple[str, ...]:
    """The classes that an error is about, to filter by."""
    return tuple(dict.fromkeys(one for one in (failure.predicted, *failure.true.split(" or ")) if one))
