"""The parts of the page about maps without a browser: bins, boxes, transfer, cases, words, matrices, galleries."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from masks_studies import mask_study, unjudged
from svg_marks import marks, matrix

from dissensus.records import VOID, Standing, class_colours
from dissensus.report.data import ClassBeside
from dissensus.report.galleries import Album
from dissensus.report.masks.beside import SELECTED, categories_section, ordinary_cards
from dissensus.report.masks.galleries import TRANSFERRED, attack_tally, mask_galleries, striking, transfer_cards
from dissensus.report.masks.names import case, choice, class_name, measure_words, score_text
from dissensus.report.masks.page import masks_page, matrices_section, tally_words
from dissensus.report.masks.scored import bin_counts, box, boxes, most_transferable, scored_sections, transfer
from dissensus.report.masks.sensitivity import measures_section
from dissensus.report.page import render
from dissensus.report.standings import correlation, rank_correlation, two_orders

ROOM = 10**9
SHARES = st.lists(st.integers(0, 40), min_size=5, max_size=5).filter(any)
SCORES = st.integers(1, 6).flatmap(lambda models: st.integers(1, 9).flatmap(lambda images: st.tuples(
    arrays(float, (images, models), elements=st.floats(0, 1)), arrays(bool, (images, models)),
)))  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return mask_study()


@pytest.fixture(scope="module")
def order(data):
    return [standing.model for standing in data.aggressiveness.standings]


def test_ends_of_bins_belong_to_the_higher_bin():
    assert bin_counts(np.array([[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]])) == (1, 1, 1, 1, 2)
    assert bin_counts(np.nextafter(np.array([[0.2, 0.4, 0.6, 0.8, 1.0]]), 0)) == (1, 1, 1, 1, 1)
    assert bin_counts(np.empty((0, 3))) == (0, 0, 0, 0, 0)


@given(SCORES)
def test_bins_count_every_score_once_and_fail_as_cases_do(made):
    scores, _ = made
    counts = bin_counts(scores)
    assert sum(counts) == scores.size
    assert sum(counts[:3]) == sum(case(v, v) == "neither" for v in scores.ravel().tolist())


@given(arrays(float, st.integers(1, 40), elements=st.floats(0, 1)))
def test_box_is_that_of_plain_python(values):
    made = box(values)
    assert made is not None
    assert (made.five[0], made.five[4], made.number) == (min(values), max(values), len(values))
    assert made.median == pytest.approx(statistics.median(values.tolist()))
    if len(values) > 1:
        first, _, third = statistics.quantiles(values.tolist(), n=4, method="inclusive")
        assert (made.five[1], made.five[3]) == pytest.approx((first, third))
    assert box(values[:0]) is None


@given(SCORES)
def test_transfer_is_that_of_loops(made):
    scores, associated = made
    images, models = scores.shape
    reach = transfer(scores, associated)
    for i in range(images):
        outside = [scores[i, m] for m in range(models) if not associated[i, m]]
        assert reach.outside[i] == len(outside)
        assert reach.falsified[i] == sum(score < 0.6 for score in outside)
    best = most_transferable(scores, associated, 3)
    assert len(set(best)) == len(best) <= 3
    assert [int(reach.falsified[row]) for row in best] == sorted(
        (int(n) for n in reach.falsified if n > 0), reverse=True
    )[:3]
    own, other = zip(*boxes(scores, associated), strict=True)
    for m in range(models):
        assert (own[m].number if own[m] else 0) == associated[:, m].sum()
        assert (other[m].number if other[m] else 0) == (~associated[:, m]).sum()


@pytest.mark.parametrize(
    ("scores", "name"),
    [((0.6, 0.6), "both"), ((0.6, 0.59), "first"), ((0.1, 0.9), "second"), ((0.59, 0.0), "neither"),
     ((None, 0.7), "waiting"), ((None, None), "waiting")],
)  # fmt: skip
def test_case(scores, name):
    assert case(*scores) == name


def test_choice():
    assert [choice(0.5, 0.5), choice(1, 0), choice(0.4, 0.6), choice(None, None)] == [
        "even", "first", "second", "waiting",
    ]  # fmt: skip


def test_no_failure_is_written_as_the_threshold():
    assert [score_text(v) for v in (0.6, 0.596, 0.5999, 0.5949, 0.604, None)] == [
        "0.60", "0.596", "0.599", "0.59", "0.60", "",
    ]  # fmt: skip


def test_scores_in_words(data, order):
    bins, own_and_other, reached = scored_sections(data, (), {"measure": "mIoU"})
    low = 100 * sum(v < 0.6 for v in data.scores.ravel()) / data.scores.size
    assert bins.finding.startswith(f"{low:.1f}\u202f% of all {data.scores.size} scores (mIoU of every model")
    drawn = own_and_other.view["boxes"]
    assert [model for model, _ in drawn] == order
    own = np.median(data.scores[data.associated[:, data.models.index(order[0])], data.models.index(order[0])])
    assert drawn[0][1][0].median == own
    assert sum(images for images, _ in reached.view["reach"]) == (~data.associated).any(1).sum()
    reach = transfer(data.scores, data.associated)
    assert f"({100 * reach.falsified.sum() / reach.outside.sum():.0f}\u202f%)" in reached.finding
    assert sum(bins.plots[0].table["scores"]) == data.scores.size
    assert own_and_other.plots[0].table["median"][0] == own
    assert "nan" not in repr((bins, own_and_other, reached)).lower()


def test_two_models_have_no_others():
    data = mask_study(2)
    _, own_and_other, reached = scored_sections(data, (), {"measure": "mIoU"})
    assert (reached.view["reach"], reached.finding) == ([], "")
    assert [other for _, (_, other) in own_and_other.view["boxes"]] == [None, None]
    assert "three models or more" in own_and_other.view["words"]
    assert transfer_cards(data, Album(ROOM)) == ()


def test_nothing_is_scored_before_anybody_drew(data):
    silent = unjudged(data, data.models)
    for study in (silent, mask_study(question="choice")):
        (section,) = scored_sections(study, (), {})
        assert (section.template, section.finding) == ("masks/unscored.html", "")
    assert tally_words(attack_tally(silent), is_choice=False) == ""
    assert "Ground truth is known for 0 of" in render(masks_page(silent))


def test_tally_in_words(data):
    tally = attack_tally(data)
    pairs = [(a.attacker_score, a.defender_score) for duel in data.duels for a in duel.shown]
    assert tally["first"] == sum(one >= 0.6 > other for one, other in pairs)
    assert sum(tally.values()) == len(pairs) == data.selected
    assert tally_words({"first": 1, "neither": 2, "waiting": 5}, is_choice=False).startswith(
        "Of 3 judged attacks, 1 exposes the defender alone"
    )
    assert tally_words({"first": 3, "second": 1, "even": 2}, is_choice=True).endswith(", with 2 ties.")


def test_leaders_come_first(data):
    view = masks_page(data).opening.view
    assert data.aggressiveness.standings[0].model in view["answer"]
    assert all(view["findings"])


def test_matrices_are_logarithmic_around_one(data, order):
    attacks, defences = matrices_section(data, frozenset((i, j) for i in range(4) for j in range(4))).plots
    places = [data.models.index(name) for name in order]
    attack = data.matrices.aggressiveness[np.ix_(places, places)]
    deepest = max(abs(math.log2(attack[i, j])) for i in range(4) for j in range(4) if i != j)
    drawn, back = (dict(marks(plot).values()) for plot in (attacks, defences))
    for i, j in permutations(range(4), 2):
        link = f"duel-{i}-{j}"
        assert matrix(attacks)[order[i], order[j]] == attack[i, j]
        assert shaded(drawn[link])[1] == pytest.approx(100 * abs(math.log2(attack[i, j])) / max(1, deepest), abs=0.6)
        assert shaded(back[link])[0] != shaded(drawn[link])[0], "a defender’s ratio is one over its attacker’s"
    unknown = matrices_section(unjudged(data, data.models[:1]), frozenset()).plots
    assert [sum("not judged" in words for words in marks(plot)) for plot in unknown] == [3, 3]
    assert all("Hatched: not judged." in plot.caption for plot in unknown)
    assert matrices_section(unjudged(data, data.models), frozenset()).view["words"] == "No duel has been judged."


def shaded(style: str) -> tuple[str, int]:
    """Towards which end of the colours a cell goes, and how far in percent."""
    side, share = re.search(r"var\(--heat-(plus|minus)\)(?: (\d+)%)?", style).groups()
    return side, int(share or 100)


def test_ratio_of_zero_has_the_last_colour(data, order):
    matrix, (one, other) = data.matrices.aggressiveness.copy(), (data.models.index(name) for name in order[:2])
    matrix[one, other] = 0
    made = replace(data, matrices=replace(data.matrices, aggressiveness=matrix))
    attacks, _ = matrices_section(made, frozenset({(0, 1)})).plots
    assert [shaded(style) for link, style in marks(attacks).values() if link] == [("minus", 100)]


def test_table_of_rank_changes(data):
    first_score, first, first_moved, second, second_moved, _ = two_orders(data)
    for measure, ranks, moved in (("aggressiveness", first, first_moved), ("resistance", second, second_moved)):
        known = data.benchmarks[measure]
        assert {name: cell.sub for name, cell in first_score.cells.items()} == {
            n: str(r) for n, r in known.rank.items()
        }
        for name, cell in moved.cells.items():
            change = known.rank[name] - int(ranks.cells[name].text)
            assert cell.text.split()[0].replace("−", "-") == (f"{change:+d}" if change else "0")


def test_ranks_under_every_measure_next_to_the_study_own(data):
    turned = {measure: found.standings[::-1] for measure, found in data.rankings.items()}
    alike = {measure: found.standings for measure, found in data.rankings.items()}
    (section,) = measures_section(replace(data, by_measure={"fwiou": turned, "mpa": alike}))
    for measure, plot in zip(data.rankings, section.plots, strict=True):
        own, fwiou, mpa = section.view["tables"][measure]
        assert ("mIoU" in own.head, fwiou.head, mpa.head) == (True, "FWIoU", "MPA")
        assert (own.foot, fwiou.foot, mpa.foot) == ("", "−1.00", "1.00")
        places = {name: int(cell.text) for name, cell in own.cells.items()}
        assert places == {one.model: n for n, one in enumerate(data.rankings[measure].standings, start=1)}
        assert plot.table["name"] == list(data.order)
        assert plot.table["mIoU"] == plot.table["MPA"] == [places[name] for name in data.order]
        assert plot.table["FWIoU"] == [5 - places[name] for name in data.order]
    assert measures_section(data) == ()


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_correlations_are_those_of_the_formula_without_ties(one, other):
    def standings(order):
        return [
            Standing(model=m, strength=-n, low=None, high=None, rank_low=1, rank_high=6, may_be_first=True)
            for n, m in enumerate(order)
        ]

    expected = 1 - 6 * sum((one.index(m) - other.index(m)) ** 2 for m in "abcdef") / (6 * (6**2 - 1))
    assert correlation(standings(one), standings(other)) == pytest.approx(expected)
    assert correlation(standings(one)[:2], standings(other)) is None


def test_a_benchmark_of_both_measures_is_named_once(data):
    ranking = next(section for section in masks_page(data).sections if section.id == "ranking")
    name = data.benchmarks["aggressiveness"].name
    assert name == data.benchmarks["resistance"].name
    assert ranking.view["caption"].count(name) == 1


def test_tied_models_share_their_rank_in_a_correlation():
    """By hand: ranks 1, 2, 3, 4 and 1, 2½, 2½, 4 have covariance 4½ and variances 5 and 4½."""
    scores = {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1}
    assert rank_correlation({"a": 4, "b": 3, "c": 2, "d": 1, "e": 0}, scores) == pytest.approx(4.5 / (5 * 4.5) ** 0.5)
    assert rank_correlation(scores, dict.fromkeys(scores, 1.0)) is None


def test_cards_show_photo_truth_and_both_maps(data):
    album = Album(ROOM)
    made = mask_galleries(data, album)
    assert [gallery.places for gallery in made] == sorted(gallery.places for gallery in made)
    assert sum(len(gallery.cards) for gallery in made) == data.selected
    gallery = made[0]
    duel = next(d for d in data.duels if (d.attacker, d.defender) == gallery.models)
    for card, attack in zip(gallery.cards, duel.shown, strict=True):
        image = data.images[attack.image]
        assert card.image is image
        assert {image.photo, image.truth, *(image.maps[name] for name in gallery.models)} <= set(album.numbers)
        assert card.case == case(attack.attacker_score, attack.defender_score)
        assert card.ratio == 1.5
    _, hit = striking(made)
    assert hit.case == "first"
    assert hit.gap == max(c.gap for g in made for c in g.cards if c.case == "first")


def test_pictures_stop_at_the_limit_round_by_round(data):
    whole = Album(ROOM)
    mask_galleries(data, whole)
    album = Album(whole.spent // 3)
    made = mask_galleries(data, album)
    shown = sum(len(gallery.cards) for gallery in made)
    assert sum(map(len, album.numbers)) == album.spent <= album.limit
    assert sum(len(gallery.listed) for gallery in made) == data.selected - shown > 0
    assert all(gallery.cards for gallery in made), "every duel has its first attack before others go on"
    none = mask_galleries(data, Album(0), listed=24)
    assert not any(gallery.cards for gallery in none)
    assert {len(gallery.listed) for gallery in none} == {2}
    assert sum(gallery.left_out for gallery in none) == data.selected - 24
    assert striking(none) is None
    few = mask_galleries(data, Album(ROOM), cards=12)
    assert [len(gallery.cards) for gallery in few] == [1] * 12


def test_transferable_images_show_all_maps(data):
    cards = transfer_cards(data, Album(ROOM))
    assert 0 < len(cards) <= TRANSFERRED
    items = [image.item for image in data.images]
    for card in cards:
        row = data.scored.index(items.index(card.image.item))
        own = [model for model, role, _ in card.maps if role == "own"]
        assert sorted(own) == [m for m, has in zip(data.models, data.associated[row], strict=True) if has]
        failed = [model for model, role, score in card.maps if role == "other" and score < 0.6]
        assert card.words == f"falsifies {len(failed)} of {4 - len(own)} others"
    assert transfer_cards(data, Album(10)) == ()


def test_images_without_any_picture_are_listed(data):
    row = most_transferable(data.scores, data.associated, 1)[0]
    bare = [replace(image, photo=None, truth=None, maps={}) if n == data.scored[row] else image
            for n, image in enumerate(data.images)]  # fmt: skip
    made = mask_galleries(replace(data, images=tuple(bare)), Album(ROOM))
    item = data.images[data.scored[row]].item
    assert item in {card.image.item for gallery in made for card in gallery.listed}
    assert item not in {card.image.item for gallery in made for card in gallery.cards}
    cards = transfer_cards(replace(data, images=tuple(bare)), Album(ROOM))
    assert len(cards) == TRANSFERRED
    assert item not in {card.image.item for card in cards}


def test_classes_have_names_and_colours(data):
    assert [class_name(n, ("background", "dog", "cat")) for n in (1, 2, 9, VOID)] == [
        "dog", "cat", "class 9", "not scored",
    ]  # fmt: skip
    assert ".c1{{background:#{:02x}{:02x}{:02x}}}".format(*class_colours()[1]) in masks_page(data).rules
    assert [measure_words(name)[0] for name in ("miou", "fwiou", "other")] == ["mIoU", "FWIoU", "other"]


def test_one_category_shows_attacks_beside_ordinary_images():
    data = mask_study()
    plain = replace(data.images[0], item="another", truth=None, maps={"net-01": data.images[0].maps["net-01"]})
    about = ClassBeside("disc", "at random from 9 images in which net-01 sees this category", (plain,))
    report, album = replace(data, beside=(about,)), Album()
    (ordinary,) = ordinary_cards(report, album)
    (section,) = categories_section((ordinary,), mask_galleries(report, album), {})
    (panel,) = section.view["panels"]
    shown = [card for _, card in panel.selected]
    assert {plain.photo, plain.maps["net-01"]} <= album.numbers.keys()
    assert {card.category for card in shown} == {"disc"}
    assert 1 < len({card.image.item for card in shown}) == len(shown) <= SELECTED
    page = render(masks_page(report))
    assert about.source in page
    assert "Prediction for another by net-01" in page
    assert ordinary_cards(report, Album(limit=10)) == ()
    assert 'id="classes"' not in render(masks_page(data))
