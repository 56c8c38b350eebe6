"""Figures of the papers on the page about classifiers: paths in the taxonomy, one class, causes of failures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_studies import study

from dissensus.records import ClassPath, Failure, Failures, tagged_as
from dissensus.report.causes import SHOWN, causes_section
from dissensus.report.data import ClassBeside
from dissensus.report.galleries import Album
from dissensus.report.labels.data import LabelsReport, Ordinary
from dissensus.report.labels.page import classes_section, galleries
from dissensus.report.labels.paths import path_cards, paths_section


@pytest.fixture(scope="module")
def data() -> LabelsReport:
    return study()


def with_paths(data: LabelsReport) -> LabelsReport:
    """Distances by how far two digits are apart, along a line whose top is the smaller one's parent."""
    duels = []
    for duel in data.duels:
        cards = (replace(card, discrepancy=len(card.said[0].label) / 10) for card in duel.shown)
        duels.append(replace(duel, shown=tuple(cards)))
    pairs = {tuple(sorted(said.label for said in card.said)) for duel in duels for card in duel.shown}
    paths = {frozenset(pair): ClassPath((pair[0], "digit", pair[1]), (1, 0, 1), (0.5, 0.5)) for pair in pairs}
    return replace(data, duels=tuple(duels), paths=paths)


def test_paths_of_the_farthest_labels_and_the_nearest(data):
    report = with_paths(data)
    made = path_cards(report, galleries(report, Album()))
    distances = [one.card.discrepancy for one in made]
    shown = [card.discrepancy for duel in report.duels for card in duel.shown]
    assert len(made) == 4
    assert distances[0] == max(shown)
    assert distances[-1] == min(shown)
    assert len({one.plot.title for one in made}) == 4
    for one in made:
        assert one.plot.table["node"][0] == one.card.said[0].label
        assert one.plot.table["node"][-1] == one.card.said[1].label
        assert "The two meet at ‘digit’. The weights add up to 1, which counts as" in one.plot.caption
        assert "edge weight" in one.plot.svg()


def test_without_a_taxonomy_there_are_no_paths(data):
    assert paths_section(data, galleries(data, Album()), {}) == ()


def test_one_class_shows_selected_items_beside_ordinary_ones(data):
    album = Album()
    made = galleries(data, album)
    card = next(card for gallery in made for card in gallery.cards)
    ordinary = Ordinary("another", "data:image/png;base64,AAAA", True)
    about = ClassBeside(card.said[0].label, "at random from 9 items that knn puts in this class", (ordinary,))
    (section,) = classes_section(replace(data, beside=(about,)), made, album)
    (panel,) = section.view["panels"]
    assert ordinary.image in album.numbers
    assert all(about.label in (said.label for said in one.said) for _, one in panel.selected)
    assert len({one.item for _, one in panel.selected}) == len(panel.selected) > 0
    nowhere = replace(about, label="a class that nobody predicts")
    assert classes_section(replace(data, beside=(nowhere,)), made, album) == ()


def test_causes_are_counted_by_model_most_frequent_first(data):
    best, worst = data.order[0], data.order[-1]
    blurred = [Failure(item=f"item-{n}", model=worst, severity=1, predicted="one") for n in range(SHOWN + 3)]
    failures = (*blurred, Failure(item="x", model=best, severity=1), Failure(item="y", model=best, severity=1))
    rest = {"models": (), "confusions": (), "contrasts": (), "words": (), "level": 0.95, "permutations": 0, "seed": 0}
    found = Failures(task="labels", failures=failures, **rest)
    causes = {tagged_as(one): "blur" for one in blurred} | {("x", best): "rare", ("nowhere", best): "unknown"}
    picture = {"item-14": "data:image/png;base64,AAAA"}
    (section,) = causes_section(found, causes, data.order, picture, album := Album())
    first, second = section.view["groups"]
    assert (first.cause, first.total, first.counts[worst], first.counts[best]) == ("blur", SHOWN + 3, SHOWN + 3, 0)
    assert first.shown[0] == (blurred[14], 0)
    assert len(first.shown) == SHOWN
    assert (second.cause, second.counts[best]) == ("rare", 1)
    assert section.view["words"] == f"{SHOWN + 4} of {SHOWN + 5} failures have a cause."
    assert section.plots[0].table[worst] == [SHOWN + 3, 0]
    assert len(album.numbers) == 1
    assert causes_section(found, {}, data.order, {}, Album()) == ()
    assert causes_section(None, causes, data.order, {}, Album()) == ()
