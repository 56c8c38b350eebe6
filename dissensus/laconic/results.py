"""Everything that a laconic test has found, about models and people, and the page that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import StudyError
from dissensus.laconic.asking import Play
from dissensus.laconic.crossing import kept_readings
from dissensus.laconic.found import FoundMepi, agreed_inputs, found_mepis, kept_mepis, searched
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import kept_truth
from dissensus.laconic.people import PEOPLE, PlayerMepis, PlayerReadings, manners, player_mepis, player_readings
from dissensus.records import Laconic, Mepis, Readings
from dissensus.reductions.entropy import encoder, png
from dissensus.reductions.findings import result_of
from dissensus.reductions.pictures import REDUCTIONS
from dissensus.reductions.search import states_on
from dissensus.report.laconic.data import LaconicReport, Shown
from dissensus.report.laconic.page import laconic_page
from dissensus.report.page import Page
from dissensus.steps.workspace import Workspace
from dissensus.store.laconic_results import write_laconic
from dissensus.store.tables import read_table

MOST_SHOWN = 12
"""Images in the gallery, spread over the classes."""


@dataclass(frozen=True)
class Played:
    """What people have done in the game so far."""

    play: Play
    mepis: PlayerMepis
    readings: PlayerReadings

    @property
    def found(self) -> list[FoundMepi]:
        """Their MEPIs, under the names of the ways to play."""
        own, play = self.mepis.mepis, self.play
        each = zip(own.classifier.tolist(), own.reduction.tolist(), own.image.tolist(), self.mepis.levels, strict=True)
        return [
            FoundMepi(self.mepis.classifiers[who], play.settings.reductions[how], play.truth.ids[image], levels)
            for who, how, image, levels in each
        ]


def played(work: Workspace[Any]) -> Played:
    """Everybody's rounds: what they needed to see, and how well they name the MEPIs of machines."""
    play = Play(work, found_mepis(work))
    answers = play.answers()
    trusted = {one.name for one in work.people.all() if one.is_trusted}
    return Played(play, player_mepis(play, answers), player_readings(play, answers, trusted))


def laconic(work: Workspace[Any], people: Played | None = None) -> Laconic:
    """What has been found about the models, and about people if they have played; `people` if that is known already.

    Raises:
        StudyError: nothing has been found yet.
    """
    models, truth = searched(work), kept_truth(work).first(work.settings.laconic.images)
    if not models:
        raise StudyError(f"no model has been searched yet: dissensus laconic find {work.folder.root}")
    tables = [read_table(work.folder.mepis(name)) for name in models]
    settings = agreed_inputs(work)
    reductions: tuple[str, ...] = tuple(settings["reductions"])
    original = _originals(work, dict(zip(models, tables, strict=True)))
    is_read = np.array([item in original for item in truth.ids], bool)
    images = tuple(item for item in truth.ids if item in original)
    place = {name: number for number, name in enumerate(images)}
    parts = [_mepis(number, table, reductions, place) for number, table in enumerate(tables)]
    accuracy = [len(np.unique(one.image)) / max(1, len(images)) for one in parts]

    people = people or played(work)
    own, named = people.mepis, people.readings
    if len(own.mepis) and encoder() != settings["encoder"]:
        raise StudyError(
            f"the images of models were measured by another encoder ({settings['encoder']}) than those of people "
            f"would be here ({encoder()}): use the same version of Pillow, or "
            f"remove {work.folder.mepis(models[0]).parent} to search again"
        )
    players = [name for number, name in enumerate(own.classifiers) if (own.mepis.classifier == number).any()]
    readers = [PEOPLE] if len(named.readings) else []
    classifiers = (*models, *players, *readers)
    parts.append(_players(own, classifiers, np.cumsum(is_read) - 1, is_read))
    theirs = named.readings
    source = np.array([classifiers.index(named.models[number]) for number in theirs.source.tolist()], np.int64)
    theirs = Readings(
        np.full(len(theirs), len(classifiers) - 1), source, theirs.reduction, theirs.label, theirs.right, theirs.count
    )
    return Laconic(
        classes=truth.groups.names,
        reductions=reductions,
        classifiers=classifiers,
        is_person=np.arange(len(classifiers)) >= len(models),
        accuracy=np.array([*accuracy, *(0.0 for _ in range(len(classifiers) - len(models)))]),
        images=images,
        label=truth.group[is_read],
        original=np.array([original[item] for item in images], np.int64),
        mepis=Mepis.together(parts),
        readings=Readings.together([kept_readings(work, classifiers, reductions), theirs]),
        encoder=settings["encoder"],
        side=settings["side"],
        is_naive=settings["naive"],
        unreadable=int((~is_read).sum()),
        manners=tuple(manners(people.play, own)),
        control=named.control if readers else None,
    )


def _originals(work: Workspace[Any], tables: dict[str, pa.Table]) -> dict[str, int]:
    """The sizes of the images that can be read, before any reduction.

    Raises:
        StudyError: an image has changed since a model was searched.
    """
    sizes: dict[str, int] = {}
    for model, table in tables.items():
        columns = table.filter(table["original"].is_valid()).to_pydict()
        for item, size in zip(columns["item"], columns["original"], strict=True):
            if sizes.setdefault(item, size) != size:
                raise StudyError(
                    f"{item} has changed between the searches of {next(iter(tables))} and {model}: "
                    f"remove {work.folder.mepis(model).parent} to search again"
                )
    return sizes


def _mepis(number: int, table: pa.Table, reductions: tuple[str, ...], place: dict[str, int]) -> Mepis:
    columns = table.filter(table["levels"].is_valid()).to_pydict()
    image = np.array([place[item] for item in columns["item"]], np.int64)
    reduction = np.array([reductions.index(one) for one in columns["reduction"]], np.int64)
    return Mepis(np.full(len(image), number), reduction, image, np.array(columns["bytes"], np.int64))


def _players(played: PlayerMepis, classifiers: tuple[str, ...], number: Any, is_read: Any) -> Mepis:
    """People's MEPIs, with classifiers and images numbered as in the result."""
    mepis = played.mepis.take(is_read[played.mepis.image])
    classifier = np.array([classifiers.index(played.classifiers[one]) for one in mepis.classifier.tolist()], np.int64)
    return Mepis(classifier, mepis.reduction, number[mepis.image], mepis.bytes)


def page(work: Workspace[Any]) -> Page:
    """The page about everything that has been found; what it says is also kept for other reports."""
    found = laconic(work)
    result = result_of(found)
    gallery, names = Gallery(work, work.settings.laconic), dict(zip(found.images, found.label.tolist(), strict=True))
    chosen = {item for item in _spread(found) if gallery.can_show(item)}
    shown = tuple(
        Shown(
            image=one.item,
            label=found.classes[names[one.item]],
            classifier=one.model,
            reduction=one.reduction,
            path=tuple(states_on(one.mepi.path, REDUCTIONS[one.reduction])),
            bytes=one.mepi.bytes,
            original=int(found.original[found.images.index(one.item)]),
        )
        for one in kept_mepis(work)
        if one.item in chosen
    )
    write_laconic(work.folder, result)
    settings = {
        name: ", ".join(value) if isinstance(value, (tuple, list)) else str(value)
        for name, value in work.settings.laconic.model_dump().items()
        if value is not None
    }
    return laconic_page(
        LaconicReport(
            title=work.title,
            result=result,
            shown=shown,
            picture=lambda image, levels, reduction: png(gallery.reduced(image, reduction, levels)),
            settings=settings,
            notes=work.settings.notes,
            study=str(work.folder.root),
        )
    )


def _spread(found: Laconic) -> set[str]:
    """Images for the gallery: those that most classifiers recognise, class by class in turn."""
    count = np.bincount(found.mepis.image, minlength=len(found.images))
    turn = np.zeros(len(found.images), np.int64)
    for label in range(len(found.classes)):
        rows = np.flatnonzero(found.label == label)
        turn[rows[np.argsort(-count[rows], kind="stable")]] = np.arange(len(rows))
    order = np.lexsort((np.arange(len(turn)), -count, turn))
    return {found.images[place] for place in order[:MOST_SHOWN].tolist() if count[place]}
