"""The parts of the page about maps without a browser: bins, boxes, transfer, cases, words, matrices, galleries."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from masks_studies import mask_study, unjudged

from dissensus.records import VOID, class_colours
from dissensus.report.attacks.standings import rank_rows
from dissensus.report.masks.album import Album
from dissensus.report.masks.figures import bin_counts, box, boxes, case, choice, most_transferable, transfer
from dissensus.report.masks.galleries import attack_tally, mask_galleries, striking
from dissensus.report.masks.heatmaps import ratio_heatmaps
from dissensus.report.masks.leaders import opening_lead, opening_words, tally_words
from dissensus.report.masks.names import legend_classes, measure_name, score_text
from dissensus.report.masks.pie import APART, slices
from dissensus.report.masks.scored import scored_view
from dissensus.report.masks.transferred import IMAGES, transfer_cards
from dissensus.report.wording import ratio

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
    assert (made.low, made.high, made.number) == (min(values), max(values), len(values))
    assert made.median == pytest.approx(statistics.median(values.tolist()))
    if len(values) > 1:
        first, _, third = statistics.quantiles(values.tolist(), n=4, method="inclusive")
        assert (made.first, made.third) == pytest.approx((first, third))
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


@given(SHARES)
def test_slices_close_the_circle_and_labels_keep_apart(counts):
    shares = [count / sum(counts) for count in counts]
    made = slices(shares, [f"bin {i}" for i in range(5)])
    assert sorted(one.kind for one in made) == [i for i, share in enumerate(shares) if share]
    for side in ("start", "end"):
        heights = sorted(one.y for one in made if one.anchor == side)
        assert all(0 < y < 240 for y in heights)
        assert all(b - a >= APART - 0.2 for a, b in pairwise(heights))
    if len(made) > 1:
        arcs = [(one, re.fullmatch(r"M160\.0 120\.0L(\S+) (\S+)A84\.0 84\.0 0 [01] 1 (\S+) (\S+)Z", one.path))
                for one in made]  # fmt: skip
        turns = 0.0
        for one, found in arcs:
            x1, y1, x2, y2 = map(float, found.groups())
            turn = (math.atan2(x2 - 160, 120 - y2) - math.atan2(x1 - 160, 120 - y1)) % (2 * math.pi)
            assert turn / (2 * math.pi) == pytest.approx(shares[one.kind], abs=1e-3)
            turns += turn
        assert turns == pytest.approx(2 * math.pi, abs=1e-2)


def test_one_bin_alone_is_a_whole_circle():
    (whole,) = slices([0, 1.0, 0], ["a", "b", "c"])
    assert whole.path.count("A84.0") == 2
    assert whole.share.startswith("100.0")


def test_scores_in_words(data, order):
    view = scored_view(data, order)
    assert view is not None
    low = 100 * sum(v < 0.6 for v in data.scores.ravel()) / data.scores.size
    assert view.pie.words.startswith(f"{low:.1f}\u202f% of all {data.scores.size} scores (mIoU of every model")
    assert [row.model for row in view.boxes] == order
    own = np.median(data.scores[data.associated[:, data.models.index(order[0])], data.models.index(order[0])])
    assert view.boxes[0].lanes[0].words.startswith(f"median {own:.2f}")
    assert sum(row.images for row in view.transfer.rows) == (~data.associated).any(1).sum()
    reach = transfer(data.scores, data.associated)
    assert f"({100 * reach.falsified.sum() / reach.outside.sum():.0f}\u202f%)" in view.transfer.words
    assert "nan" not in repr(view).lower()


def test_two_models_have_no_others():
    data = mask_study(2)
    view = scored_view(data, data.models)
    assert view is not None
    assert view.transfer is None
    assert [row.lanes[1].box for row in view.boxes] == [None, None]
    assert "three models or more" in view.boxes_words
    assert transfer_cards(data, data.models, Album(ROOM)) == ()


def test_nothing_is_scored_before_anybody_drew(data, order):
    silent = unjudged(data, data.models)
    assert scored_view(silent, order) is None
    assert scored_view(mask_study(question="choice"), order) is None
    assert tally_words(attack_tally(silent), "mask") == ""
    assert "The truth of 0 of" in opening_lead(silent)


def test_tally_in_words(data):
    tally = attack_tally(data)
    pairs = [(a.attacker_score, a.defender_score) for duel in data.duels for a in duel.attacks]
    assert tally["first"] == sum(one >= 0.6 > other for one, other in pairs)
    assert sum(tally.values()) == len(pairs) == data.selected
    assert tally_words({"first": 1, "neither": 2, "waiting": 5}, "mask").startswith(
        "Of 3 judged attacks, 1 exposes the defender alone"
    )
    assert tally_words({"first": 3, "second": 1, "even": 2}, "choice").endswith("and both equally often in 2.")


def test_leaders_come_first(data):
    words = opening_words(data, attack_tally(data), None)
    assert data.aggressiveness.standings[0].model in words[0]
    assert all(words)


def test_matrices_are_logarithmic_around_one(data, order):
    maps = ratio_heatmaps(data, order)
    places = [data.models.index(name) for name in order]
    attack = data.matrices.aggressiveness[np.ix_(places, places)]
    deepest = max(abs(math.log2(attack[i, j])) for i in range(4) for j in range(4) if i != j)
    for i, row in enumerate(maps.attack.rows):
        for j, cell in enumerate(row.cells):
            if i == j:
                assert cell is None
                continue
            back = maps.defence.rows[j].cells[i]
            assert cell.text == ratio(attack[i, j])
            assert (cell.duel, back.duel) == (f"duel-{i}-{j}", f"duel-{i}-{j}")
            assert cell.depth == pytest.approx(abs(math.log2(attack[i, j])) / max(1, deepest), abs=1e-3)
            assert back.side != cell.side, "a defender’s ratio is one over its attacker’s"
    unknown = ratio_heatmaps(unjudged(data, data.models[:1]), order)
    assert (unknown.attack.unknown, unknown.defence.unknown) == (3, 3)
    assert ratio_heatmaps(unjudged(data, data.models), order).words == "No duel has been judged."


def test_ratio_of_zero_has_the_last_colour(data, order):
    matrix = data.matrices.aggressiveness.copy()
    matrix[0, 1] = 0
    maps = ratio_heatmaps(replace(data, matrices=replace(data.matrices, aggressiveness=matrix)), data.models)
    assert (maps.attack.rows[0].cells[1].depth, maps.attack.rows[0].cells[1].side) == (1.0, "minus")


def test_table_of_rank_changes(data):
    rows = rank_rows(data)
    for row in rows:
        for measure in ("aggressiveness", "resistance"):
            known = data.benchmarks[measure]
            assert row.known[measure].rank == str(known.rank[row.model])
            moved = known.rank[row.model] - int(row.ranks[measure == "resistance"])
            assert row.known[measure].difference.replace("−", "-") in (f"{moved:+d}", str(moved))


def test_cards_show_photo_truth_and_both_maps(data, order):
    album = Album(ROOM)
    made = mask_galleries(data, order, album)
    assert [gallery.places for gallery in made.galleries] == sorted(gallery.places for gallery in made.galleries)
    assert (made.with_pictures, made.attacks) == (data.selected, data.selected)
    assert len(set(made.pictures)) == len(made.pictures)
    gallery = made.galleries[0]
    duel = next(d for d in data.duels if (d.attacker, d.defender) == (gallery.attacker, gallery.defender))
    for card, attack in zip(gallery.cards, duel.attacks, strict=True):
        image = data.images[attack.image]
        pictures = [made.pictures[panel.over] for panel in card.panels[1:]]
        assert pictures == [image.truth, image.maps[duel.attacker], image.maps[duel.defender]]
        assert {made.pictures[panel.photo] for panel in card.panels} == {image.photo}
        assert card.case == case(attack.attacker_score, attack.defender_score)
        assert card.ratio == 1.5
    hit, failed = striking(made.galleries)
    assert (hit[1].case, failed[1].case) == ("first", "neither")
    assert hit[1].gap == max(c.gap for g in made.galleries for c in g.cards if c.case == "first")


def test_pictures_stop_at_the_limit_round_by_round(data, order):
    size = sum(map(len, mask_galleries(data, order, Album(ROOM)).pictures))
    album = Album(size // 3)
    made = mask_galleries(data, order, album)
    assert sum(map(len, made.pictures)) == album.spent <= size // 3
    assert made.with_pictures == sum(len(gallery.cards) for gallery in made.galleries) < data.selected
    assert sum(len(gallery.listed) for gallery in made.galleries) == data.selected - made.with_pictures
    assert all(gallery.cards for gallery in made.galleries), "every duel has its first attack before others go on"
    none = mask_galleries(data, order, Album(0), listed=24)
    assert (none.with_pictures, none.pictures) == (0, ())
    assert {len(gallery.listed) for gallery in none.galleries} == {2}
    assert sum(gallery.left_out for gallery in none.galleries) == data.selected - 24
    assert striking(none.galleries) == ()
    few = mask_galleries(data, order, Album(ROOM), cards=12)
    assert [len(gallery.cards) for gallery in few.galleries] == [1] * 12


def test_transferable_images_show_all_maps(data, order):
    album = Album(ROOM)
    cards = transfer_cards(data, order, album)
    assert 0 < len(cards) <= IMAGES
    items = [image.item for image in data.images]
    for card in cards:
        row = data.scored.index(items.index(card.item))
        own = [panel.name for panel in card.panels[2:] if panel.role.startswith("own")]
        assert sorted(own) == [m for m, has in zip(data.models, data.associated[row], strict=True) if has]
        failed = [panel.name for panel in card.panels if panel.role == "other failed"]
        assert card.words == f"falsifies {len(failed)} of {4 - len(own)} others"
    assert transfer_cards(data, order, Album(10)) == ()


def test_images_without_any_picture_are_listed(data, order):
    row = most_transferable(data.scores, data.associated, 1)[0]
    bare = [replace(image, photo=None, truth=None, maps={}) if n == data.scored[row] else image
            for n, image in enumerate(data.images)]  # fmt: skip
    made = mask_galleries(replace(data, images=tuple(bare)), order, Album(ROOM))
    item = data.images[data.scored[row]].item
    assert item in {card.item for gallery in made.galleries for card in gallery.listed}
    assert item not in {card.item for gallery in made.galleries for card in gallery.cards}
    cards = transfer_cards(replace(data, images=tuple(bare)), order, Album(ROOM))
    assert len(cards) == IMAGES
    assert item not in {card.item for card in cards}


def test_classes_have_names_and_colours():
    made = legend_classes([2, 1, 0, 2, 9, VOID], ("background", "dog", "cat"))
    assert [(one.label, one.name) for one in made] == [(1, "dog"), (2, "cat"), (9, "class 9"), (VOID, "left out")]
    assert made[0].colour == "#{:02x}{:02x}{:02x}".format(*class_colours()[1])
    assert [measure_name(name) for name in ("miou", "fwiou", "other")] == ["mIoU", "FWIoU", "other"]
