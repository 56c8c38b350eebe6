"""Names on maps: where they are written, and that colours differ for people with any colour vision."""

from __future__ import annotations

import numpy as np
import pytest
from masks_studies import overlay

from dissensus.records import VOID, class_colours
from dissensus.records.colours import DEUTERANOPIA, NORMAL, PROTANOPIA, lab
from dissensus.report.masks.regions import Region, in_box, regions, regions_of
from dissensus.report.pictures import picture_side


def test_a_name_lies_within_the_largest_region_of_its_class() -> None:
    labels = np.zeros((60, 120), np.uint8)
    labels[5:15, 5:15] = 3
    labels[30:58, 20:100] = 3
    labels[36:52, 28:92] = 0  # a ring: its centre is not part of it
    labels[2:20, 60:118] = 7
    labels[0, 0] = 9  # too small for a name
    found = {one.label: one for one in regions_of(labels)}
    assert sorted(found) == [3, 7]
    for label, one in found.items():
        assert labels[int(one.y / 100 * 60), int(one.x / 100 * 120)] == label
    assert found[3].y > 50
    assert [one.label for one in regions(overlay(labels))] == [one.label for one in regions_of(labels)]


def test_a_map_without_regions_or_that_is_no_map_has_no_names() -> None:
    assert regions_of(np.zeros((4, 4), np.uint8)) == ()
    assert regions("data:image/png;base64,AAAA") == ()


def test_a_picture_in_a_box_of_another_shape() -> None:
    assert in_box(Region(1, 100, 100), 2.0, 1.0) == Region(1, 100, 75)
    assert in_box(Region(1, 0, 0), 1.0, 2.0) == Region(1, 25, 0)


@pytest.mark.parametrize("vision", [NORMAL, DEUTERANOPIA, PROTANOPIA])
@pytest.mark.parametrize(("classes", "least"), [(10, 20.0), (20, 14.0)])
def test_colours_are_apart_for_every_vision(vision, classes: int, least: float) -> None:
    colours = np.array([*class_colours()[: classes + 1], class_colours()[VOID]], float)
    seen = lab(colours, vision)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)[~np.eye(len(seen), dtype=bool)]
    assert apart.min() >= least


def test_cielab_of_known_colours_and_what_deuteranopes_see() -> None:
    red, white, grey = lab(np.array([(255, 0, 0), (255, 255, 255), (119, 119, 119)], float))
    assert red == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    assert white == pytest.approx([100, 0, 0], abs=0.05)
    assert grey == pytest.approx([50.03, 0, 0], abs=0.05)
    confused = lab(np.array([(200, 80, 0), (115, 113, 0)], float), DEUTERANOPIA)
    normal = lab(np.array([(200, 80, 0), (115, 113, 0)], float))
    assert np.linalg.norm(confused[0] - confused[1]) < 0.5 * np.linalg.norm(normal[0] - normal[1])


def test_all_labels_have_colours_of_their_own() -> None:
    assert len({*class_colours()}) == 256


@pytest.mark.parametrize(("count", "side"), [(0, 512), (100, 512), (300, 385), (5000, 256)])
def test_few_pictures_are_large_and_many_small(count: int, side: int) -> None:
    assert picture_side(count) == side
