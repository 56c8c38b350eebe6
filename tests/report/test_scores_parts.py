"""The parts of the page about scores without a browser: outcomes, words, matrices, figures, galleries, screening."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scores_studies import crowd, photo_study
from svg_marks import marks, matrix

from dissensus.records import Ranking
from dissensus.report.data import AttackDuel
from dissensus.report.galleries import Album
from dissensus.report.opening import opening_notes
from dissensus.report.scores.data import DuelFigure, Screenings, ShownPair, Side, Subject
from dissensus.report.scores.figures import figures
from dissensus.report.scores.page import level_curves, levels_section, matrices_section, opening_words
from dissensus.report.scores.pairs import outcome, outcomes, pair_galleries, pair_shape, span_of, striking, tally_words
from dissensus.report.scores.screening import screening_section
from dissensus.report.standings import agreement, two_orders_section
from dissensus.report.wording import number


@pytest.fixture(scope="module")
def data():
    return photo_study()


@pytest.fixture(scope="module")
def order(data):
    return [standing.model for standing in data.aggressiveness.standings]


@pytest.mark.parametrize(
    ("preference", "name"),
    [(1.0, "falsified"), (0.2, "falsified"), (0.19, "holds"), (0.0, "holds"), (-0.19, "holds"), (-0.2, "opposite"),
     (-1.0, "opposite"), (None, "waiting")],
)  # fmt: skip
def test_outcome(preference, name):
    assert outcome(shown(preference, attacker=(10, 60), defender=(40, 30))) == name


@pytest.mark.parametrize("preference", [1.0, 0.0, -1.0, None])
def test_what_the_attacker_separates_no_better_than_the_defender_is_no_attack(preference):
    assert outcome(shown(preference, attacker=(10, 20), defender=(40, 30))) == "none"
    assert outcome(shown(preference, attacker=(10, 20), defender=(30, 41))) == "none"


def shown(preference: float | None, attacker: tuple[float, float], defender: tuple[float, float]) -> ShownPair:
    low, high = (Side(f"item {n}", None, False, attacker[n], defender[n]) for n in (0, 1))
    return ShownPair(0, low, high, 9, preference, "3 people", band=(25.0, 42.0))


def test_tally_in_words():
    assert tally_words([("waiting", 3)]) == ""
    assert (
        tally_words([("falsified", 1), ("holds", 2)])
        == "Of 3 judged attacks, 1 falsifies its defender and 2 show no difference."
    )
    assert tally_words({"falsified": 2, "holds": 1, "opposite": 1, "waiting": 9}.items()).endswith(
        "and 1 contradicts its attacker."
    )
    assert tally_words({"holds": 1, "falsified": 0, "none": 2}.items()).endswith(
        " 2 more pairs are no attacks: the defender tells the two items at least as far apart as the attacker."
    )


def test_zero_has_no_sign():
    assert [number(value, 2) for value in (-0.001, -0.01, 0.0)] == ["0.00", "−0.01", "0.00"]


def placed(ranking: Ranking, first: str, reach: int) -> Ranking:
    """The ranking with a model first, and every rank set reaching so far to either side."""
    ordered = sorted(ranking.standings, key=lambda standing: standing.model != first)
    last = len(ordered)
    sets = [(max(1, at - reach), min(last, at + reach)) for at in range(1, last + 1)]
    standings = tuple(
        one.model_copy(update={"rank_low": low, "rank_high": high, "may_be_first": low == 1})
        for one, (low, high) in zip(ordered, sets, strict=True)
    )
    return ranking.model_copy(update={"standings": standings})


def opened(data, attacker: str, defender: str, reach: int) -> tuple[str, ...]:
    attack, defence = placed(data.aggressiveness, attacker, reach), placed(data.resistance, defender, reach)
    return tuple(filter(None, opening_words(replace(data, aggressiveness=attack, resistance=defence))))


def test_leaders_are_named_as_surely_as_the_rank_sets_say(data, order):
    assert opened(data, order[0], order[0], 0)[0].startswith(f"{order[0]} leads by both measures")
    sure = opened(data, order[0], order[1], 0)[0]
    assert f"{order[0]} is the strongest attacker" in sure
    assert f"{order[1]} is the strongest defender" in sure
    unsure = opened(data, order[0], order[1], 1)
    assert unsure[0] == (
        f"{order[0]} comes first as an attacker and {order[1]} as a defender, but neither lead is certain."
    )
    assert "cannot tell which attacker is first" in unsure[1]
    assert opened(data, order[0], order[1], 99)[0].startswith("No model is clearly ahead, neither")


def test_missing_answers_come_first(data):
    assert opening_notes(replace(data, waiting=1))[0].startswith("Preliminary: 1 of 336 questions is still open")
    assert opening_notes(data) == data.notes


def test_both_measures_follow_one_order(data, order):
    section = two_orders_section(data, "scores/ranking.html")
    view, (attack_plot, defence_plot) = section.view, section.plots
    assert attack_plot.table["model"] == order
    assert set(defence_plot.table["model"]) == set(order)
    _, attack, _, defence, _, higher = view["columns"]
    assert [attack.cells[name].text for name in order] == [str(i + 1) for i in range(8)]
    moved = {name: int(defence.cells[name].text) - int(attack.cells[name].text) for name in order}
    ways = {1: "up", 0: "quiet", -1: "down"}
    assert all(higher.cells[name].way == ways[np.sign(moved[name])] for name in order)
    assert agreement(data) == pytest.approx(1 - 6 * sum(d * d for d in moved.values()) / (8 * 63))
    assert agreement(crowd(2, pool=50)) is None


def test_matrices_show_differences_and_mark_contradictions(data, order):
    linked = frozenset((i, j) for i in range(8) for j in range(8))
    section = matrices_section(data, linked)
    attack_margin, defence_margin, attacks, defences = section.plots
    places = [data.models.index(name) for name in order]
    attack = data.matrices.aggressiveness[np.ix_(places, places)]
    links = {words: link for words, (link, _) in marks(attack_margin).items() if link}
    assert len(links) == 56
    for words, link in links.items():
        i, j = (int(place) for place in link.split("-")[1:])
        assert words.startswith(f"{order[i]} attacks {order[j]} with {number(attack[i, j], 2)}")
        assert ("contradicted" in words.partition(";")[0]) == (attack[i, j] < 0)
        assert matrix(attack_margin)[order[i], order[j]] == attack[i, j] - attack[j, i]
    back = {words: link for words, (link, _) in marks(defence_margin).items()}
    assert all(words.startswith(f"{order[int(link.split('-')[2])]} resists") for words, link in back.items())
    off = ~np.eye(len(order), dtype=bool)
    negative = int((attack < 0)[off].sum())
    assert section.view["marked"] == negative > 0
    assert attacks.svg(is_themed=True).count("var(--wrong)") == negative
    assert defences.svg(is_themed=True).count("var(--wrong)") == 0


def test_figures_name_who_attacks(data, order):
    made = figures(data.figures, data.duels, order, frozenset(), Album())
    assert len(made) == 28
    assert all(attack.duel == "" for figure in made for attack in figure.attacks)
    first = next(figure for figure in data.figures if {figure.first, figure.second} == set(order[:2]))
    assert made[0].plot.title == f"{first.first} and {first.second}"
    assert (made[0].attacks[0].attacker, made[0].attacks[0].defender) == (first.second, first.first)
    (bare,) = figures([first], (), order, frozenset(), Album())
    assert bare.attacks == ()


def test_figures_mark_the_widest_attack_with_its_pictures_and_its_level():
    wide, wider = shown(0.5, (10, 60), (30, 40)), replace(shown(0.1, (5, 90), (26, 41)), band=(25.0, 42.0))
    none = shown(0.9, (10, 15), (30, 40))
    one, other = AttackDuel("a", "b", (wide, wider), 0.3, 0.7), AttackDuel("b", "a", (none,), 0.9, 0.1)
    pool = DuelFigure("a", "b", np.eye(40, dtype=np.int64))
    (made,) = figures([pool], [one, other], ["a", "b"], frozenset({(0, 1)}), Album())
    back, forth = made.attacks
    assert (back.pair, back.points, back.letters) == (None, (), "")
    assert (forth.pair, forth.letters, forth.duel) == (wider, "C and D", "duel-0-1")
    assert [(point.letter, point.x, point.y) for point in forth.points] == [("C", 90, 41), ("D", 5, 26)]
    drawn = made.plot.svg()
    assert "one level of b: 25 to 42" in drawn
    assert "one level of a" not in drawn


def test_galleries_are_sorted_capped_and_shaped(data, order):
    drawn = tuple(figure for figure in data.figures if {figure.first, figure.second} == set(order[:2]))
    album = Album()
    made = pair_galleries(replace(data, figures=drawn), album)
    assert [gallery.places for gallery in made] == sorted(gallery.places for gallery in made)
    assert [gallery.figure for gallery in made if gallery.figure] == ["figure-0-1", "figure-0-1"]
    assert len(album.rules) == len({side.image for d in data.duels for p in d.shown for side in (p.low, p.high)})
    assert pair_shape(made[0].cards[0], album) == (1.5, False)
    assert (span_of(-5, 30), span_of(90, 40)) == ((0.0, 30.0), (40.0, 50.0))
    few = pair_galleries(data, Album(), pairs=112)
    assert {len(gallery.cards) for gallery in few} == {2}
    assert {gallery.left_out for gallery in few} == {4}
    _, best = striking(made)
    assert outcome(best) == "falsified"


def test_broken_picture_counts_as_a_square(data):
    duel = data.duels[0]
    pair = replace(duel.shown[0], low=replace(duel.shown[0].low, image="data:image/png;base64,AAAA"))
    pair = replace(pair, high=replace(pair.high, image=None))
    assert pair_shape(pair, Album()) == (1.0, False)
    assert pair_shape(replace(pair, low=pair.high), Album()) == (2.0, False)


def test_levels_and_their_curves(data):
    by_level = levels_section(data).view["by_level"]
    assert [name.partition("\u2002")[2] for name in by_level.table["name"]] == list(data.levels)
    assert sum(sum(row[1:]) for row in by_level.rows) == 336
    assert sum(dict(outcomes(p for d in data.duels for p in d.shown)).values()) == 336
    settled = level_curves([(1, 0.93, 0.885), (2, 0.929, 0.906), (3, 0.965, 0.968), (6, 1.0, 1.0)])
    assert settled is not None
    assert settled.caption.startswith("2 levels give nearly the same orders as all 6")
    assert {name: len(column) for name, column in settled.table.items()} == {
        "number of levels": 4,
        "aggressiveness": 4,
        "resistance": 4,
    }
    moving = level_curves([(1, 0.2, -0.4), (2, 0.3, 0.3), (3, 1.0, 1.0)])
    assert moving is not None
    assert "still change" in moving.caption
    assert moving.figure().axes[0].get_ylim()[0] <= -0.4
    assert level_curves([(1, 1.0, 1.0)]) is None


def test_screening_puts_the_rejected_first(data):
    view = screening_section(data.screenings).view
    assert view["people"][0].rejected is not None
    assert view["is_used"] == {"BT.500": True, "P.910": False}
    assert view["summary"].startswith("BT.500 rejects 1 of 24 annotators")
    assert view["has_remarks"]
    assert not screening_section(None).view["people"]
    lone = Subject("only", 0, 0, None, None, None, "")
    one = screening_section(Screenings("p910", (lone,), (), None)).view
    assert one["is_used"]["P.910"]
    assert "cannot be compared" in one["agreement"]
    assert not one["has_remarks"]
