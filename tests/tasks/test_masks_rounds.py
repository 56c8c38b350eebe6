from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mask_rows import by_item, by_pair, full_round, images_of, judge
from plans import attacks_of, plan_of

from dissensus.errors import SelectionError
from dissensus.predictions.scales import ScaleRanges
from dissensus.records import JUDGED, OPEN, UNFIT, Classes, MaskSelection
from dissensus.selection import CategoryTops, Quota, merge_categories, most_taken, scan_categories
from dissensus.tasks.masks.groups import require_groups
from dissensus.tasks.masks.judging import contests_in
from dissensus.tasks.masks.selecting import CategoryReduction, MaskSelector

NAMES, CLASSES = ["a", "b", "c"], ["background", "bus", "cow", "dog"]
ANY_SCALE = np.tile([0.0, 1.0], (4, 1))

# two categories of one duel with k = 2 and one reserve each, and one image of the duel the other way round
DUEL = images_of(
    [(0, 1, 1, 1, 10), (0, 1, 1, 2, 11), (0, 1, 1, 3, 12), (0, 1, 2, 1, 13), (0, 1, 2, 2, 14), (1, 0, 1, 1, 10)], k=2
)


def judged(*state: int, share: float = 0.0):
    """The duel with its five images 10 to 14 in these states."""
    return judge(DUEL, by_item(DUEL), np.array(state), k=2, share=share)


class Selector(MaskSelector):
    """The selection of a round whose maps have been compared already."""

    def __init__(self, scales, wanted, k=1, reserves=1, taken=None) -> None:
        self.plan, self.classes = plan_of(wanted, NAMES[: len(wanted)]), Classes(tuple(CLASSES))
        self.ranges, self.taken = ScaleRanges(scales, np.ones(len(scales), bool)), taken
        self.quota = Quota(k, reserves, most_taken(taken))
        self.reduction = CategoryReduction([], len(scales), "", scales, self.quota)

    def scan(self, *compared) -> CategoryTops:
        return scan_categories(*compared, self.reduction.scales, self.reduction.quota)

    def selected(self, *compared) -> MaskSelection:
        """Of one chunk, which is the whole pool."""
        return self.finish(self.scan(*compared, 0)).selection


def random_pool(seed: int, items: int = 60, models: int = 3):
    rng = np.random.default_rng(seed)
    value = rng.random((items, models, models))
    yes = np.ones(value.shape, bool)
    return value, yes, yes, rng.dirichlet(np.ones(4), (items, models)) * (rng.random((items, models, 4)) < 0.6)


def test_without_answers_the_first_k_of_every_category_wait() -> None:
    found = judged(*[OPEN] * 5)
    assert found.active.tolist() == [True, True, False, True, True, True]
    assert found.asked.tolist() == found.open.tolist() == [True, True, False, True, True]
    assert not found.decided.any()
    assert len(contests_in(found, np.zeros((5, 2)))) == 0


def test_a_reserve_takes_the_place_of_an_unfit_image() -> None:
    found = judged(JUDGED, UNFIT, OPEN, OPEN, OPEN)
    assert found.active.tolist() == [True, False, True, True, True, True]
    assert found.given_up.tolist() == [False, True, False, False, False, False]
    assert found.open.tolist() == [False, False, True, True, True]
    assert found.asked.all()


def test_an_image_unfit_in_one_duel_is_unfit_in_all() -> None:
    found = judged(UNFIT, JUDGED, OPEN, JUDGED, JUDGED)
    assert found.active.tolist() == [False, True, True, True, True, False]
    assert found.given_up.tolist() == [True, False, False, False, False, True]


def test_an_unfit_reserve_whose_turn_never_came_was_not_asked() -> None:
    found = judged(JUDGED, JUDGED, UNFIT, JUDGED, JUDGED)
    assert not found.given_up.any()
    assert found.asked.tolist() == [True, True, False, True, True]


def test_contests_have_the_scores_of_their_rows() -> None:
    scores = np.array([[0.0, 1.0], [0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])  # by image and model
    contests = contests_in(judged(JUDGED, UNFIT, JUDGED, OPEN, JUDGED), scores)
    assert contests.attacker.tolist() == [0, 0, 0, 1]
    assert contests.defender.tolist() == [1, 1, 1, 0]
    assert contests.category.tolist() == [1, 1, 2, 1]
    assert contests.question.tolist() == [0, 2, 4, 0]
    np.testing.assert_allclose(contests.attacker_score, [0, 0.2, 0.4, 1])
    np.testing.assert_allclose(contests.defender_score, [1, 0.8, 0.6, 0])
    assert contests.weight.tolist() == [1] * 4


def test_a_duel_counts_once_enough_of_its_images_are_judged() -> None:
    half = JUDGED, JUDGED, OPEN, OPEN, OPEN
    assert judged(*half, share=0.5).decided.tolist() == [True, True, False, False, False, True]
    assert judged(*half, share=0.51).decided.tolist() == [False] * 5 + [True]
    # what people could not judge is no longer an image of the duel
    assert judged(UNFIT, JUDGED, UNFIT, UNFIT, UNFIT, share=1.0).decided.tolist() == [False, True] + [False] * 4


@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0, 1), st.booleans())
def test_as_one_would_do_it_by_hand(seed: int, k: int, share: float, is_choice: bool) -> None:
    rng = np.random.default_rng(seed)
    selection = full_round(3, 3, seed, k, reserves=2, items=16)  # few items, so that duels share images
    selection = selection.take(rng.permutation(len(selection)))
    number = (by_pair if is_choice else by_item)(selection)
    state = rng.choice([JUDGED, OPEN, UNFIT], int(number.max()) + 1)
    found = judge(selection, number, state, k, share)
    rows = list(
        zip(*(getattr(selection, name).tolist() for name in ("attacker", "defender", "category", "rank")), strict=True)
    )
    active, asked = set(), set()
    for place in {row[:3] for row in rows}:
        left = k
        for row in sorted((r for r in range(len(rows)) if rows[r][:3] == place), key=lambda r: rows[r][3]):
            if left:
                asked.add(int(number[row]))
                if state[number[row]] != UNFIT:
                    active.add(row)
                    left -= 1
    assert set(np.flatnonzero(found.active).tolist()) == active
    assert set(np.flatnonzero(found.asked).tolist()) == asked
    assert set(np.flatnonzero(found.open).tolist()) == {int(number[r]) for r in active if state[number[r]] == OPEN}
    decided = set()
    for row in active:
        duel = [r for r in active if rows[r][:2] == rows[row][:2]]
        if state[number[row]] == JUDGED and sum(state[number[r]] == JUDGED for r in duel) / len(duel) >= share:
            decided.add(row)
    assert set(np.flatnonzero(found.decided).tolist()) == decided


def test_nothing_selected_has_no_turn() -> None:
    found = judge(images_of([]), np.zeros(0, int), np.zeros(0, int), k=1)
    assert found.given_up.tolist() == found.active.tolist() == found.decided.tolist() == []


def test_newcomers_ask_only_for_their_own_duels_and_both_rounds_are_the_whole() -> None:
    pool = random_pool(3)
    every = Selector(ANY_SCALE, attacks_of(3), k=2)
    joined = Selector(ANY_SCALE, attacks_of(3, newcomers=1), k=2)
    whole = every.selected(*pool)
    # the third model was not there in the first round
    pair = tuple(part[:, :2, :2] for part in pool[:3])
    before = Selector(ANY_SCALE, attacks_of(2), k=2)
    first = before.selected(*pair, pool[3][:, :2])
    later = joined.selected(*pool)
    assert ((later.attacker == 2) | (later.defender == 2)).all()

    def rows(*parts):
        return sorted(
            row
            for part in parts
            for row in zip(*(getattr(part, name).tolist() for name in part.__dataclass_fields__), strict=True)
        )

    assert rows(first, later) == rows(whole)


def test_chunks_are_scanned_and_merged_as_the_whole() -> None:
    pool = random_pool(4)
    selecting = Selector(ANY_SCALE, attacks_of(3), k=1, reserves=1)
    whole = selecting.scan(*pool, 0)
    parts = [selecting.scan(*(part[at : at + 20] for part in pool), at) for at in (40, 0, 20)]
    merge = selecting.reduction.merge
    together = merge(merge(*parts[:2]), parts[2])
    np.testing.assert_array_equal(together.item, whole.item)
    assert merge_categories(parts[0], parts[1]).quota == selecting.quota


def test_a_further_round_takes_what_is_left_until_nothing_is() -> None:
    pool = random_pool(5, items=12)
    taken, rounds = np.zeros((0, 3), np.int64), 0
    in_all = 2 * (pool[3][:, :, 1:] > 0).any(axis=2).sum()  # two attackers of every image with a category
    while len(taken) < in_all:
        selecting = Selector(ANY_SCALE, attacks_of(3), k=1, reserves=0, taken=taken)
        found = selecting.selected(*pool)
        taken = np.concatenate([taken, np.stack([found.attacker, found.defender, found.item], axis=1)])
        assert len(np.unique(taken, axis=0)) == len(taken)
        rounds += 1
    assert rounds > 1
    last = Selector(ANY_SCALE, attacks_of(3), k=1, reserves=0, taken=taken)
    with pytest.raises(SelectionError, match="there is nothing left to select"):
        last.selected(*pool)


def tops_of(share, differs=None, scales=ANY_SCALE, wanted=None):
    share = np.array(share, float)
    items, models, _ = share.shape
    value = np.zeros((items, models, models))
    differs = np.ones(value.shape, bool) if differs is None else differs
    wanted = attacks_of(models) if wanted is None else wanted
    return Selector(scales, wanted).scan(value, np.ones(value.shape, bool), differs, share, 0), wanted


def test_groups_without_images_are_said_once_for_each_cause() -> None:
    share = [[[0.5, 0.3, 0.2, 0], [0.5, 0.3, 0.0, 0], [0.9, 0.01, 0.09, 0]]]
    scales = np.array([[0, 1], [0.1, 0.5], [0, 1], [0, 1]])
    tops, wanted = tops_of(share, scales=scales)
    assert require_groups(tops, wanted, NAMES, CLASSES) == [
        "No model predicts dog.",
        "No images in 1 of 9 groups (category of a defender), because the defender never predicts it: cow of b.",
        "No images in 1 of 9 groups (category of a defender), because its share of the pixels is never within the "
        "allowed range: bus of c.",
    ]


def test_duels_without_images_are_said() -> None:
    share = np.full((2, 3, 4), 0.25)
    share[:, :, 3] = [[0, 0.25, 0.25], [0, 0.25, 0.25]]
    differs = np.ones((2, 3, 3), bool)
    differs[:, 0, 1] = differs[:, 1, 0] = False  # a and b say the same
    tops, wanted = tops_of(share, differs)
    words = require_groups(tops, wanted, NAMES, CLASSES)
    assert words[-1] == (
        "Nothing is selected for these duels, because no image tells the two models apart: a against b and b against a."
    )
    newcomer = attacks_of(3, newcomers=1)
    assert not any("tells the two models apart" in said for said in require_groups(tops, newcomer, NAMES, CLASSES))


def test_a_category_in_which_all_say_the_same_is_said() -> None:
    share = np.zeros((2, 2, 4))
    share[0, :, 1], share[1, :, 2] = 0.2, 0.2
    differs = np.ones((2, 2, 2), bool)
    differs[1] = False
    tops, wanted = tops_of(share, differs)
    assert any("no attacker's map differs" in said and "cow of a and cow of b" in said for said in require_groups(
        tops, wanted, NAMES[:2], CLASSES
    ))  # fmt: skip


def test_many_groups_are_summed_up() -> None:
    classes = [f"c{label}" for label in range(20)]
    share = np.zeros((1, 2, 20))
    share[0, 0, 1:], share[0, 1, 1] = 0.05, 0.05
    tops, wanted = tops_of(share, scales=np.tile([0.0, 1.0], (20, 1)))
    (words,) = require_groups(tops, wanted, NAMES[:2], classes)
    assert "18 of 38 groups" in words
    assert words.endswith("c2 of b, c3 of b, c4 of b, c5 of b, c6 of b and 13 others.")


def test_what_leaves_nothing_to_select_is_refused() -> None:
    shown = [0.5, 0.5, 0, 0]
    for share, scales, differs, said in (
        ([[shown, [1, 0, 0, 0]]], ANY_SCALE, None, "b predicts nothing but background"),
        ([[shown, [0.99, 0.01, 0, 0]]], np.tile([0.1, 0.9], (4, 1)), None, "no category of b ever covers an allowed"),
        ([[shown, shown]], ANY_SCALE, np.zeros((1, 2, 2), bool), "no two models can be told apart"),
    ):
        tops, wanted = tops_of(share, differs, scales)
        with pytest.raises(SelectionError, match=said):
            require_groups(tops, wanted, NAMES[:2], CLASSES)
    # who does not defend may predict nothing
    tops, _ = tops_of([[shown, [1, 0, 0, 0]]])
    only = np.array([[False, False], [True, False]])
    assert require_groups(tops, only, NAMES[:2], CLASSES) == ["No model predicts cow and dog."]
