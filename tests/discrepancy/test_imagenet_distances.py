from __future__ import annotations

import gzip
import heapq
import json
from pathlib import Path

import numpy as np
import pytest
from taxonomies import breadth_first_depths, up_and_down

from dissensus.discrepancy.labels import class_distances, class_paths
from dissensus.records import Classes
from dissensus.store.classes import classes_of, read_classes

STRAYS = [919, 920, 971]


@pytest.fixture(scope="module")
def classes() -> Classes:
    return classes_of(read_classes("imagenet"))


@pytest.fixture(scope="module")
def tables(classes: Classes) -> dict[str, np.ndarray]:
    return {name: class_distances(classes, name) for name in ("weighted", "weighted-exactly", "hops")}


@pytest.mark.parametrize("distance", ["weighted", "weighted-exactly"])
def test_the_two_numbers_of_the_paper(classes: Classes, tables: dict[str, np.ndarray], distance: str) -> None:
    def between(one: str, other: str) -> float:
        return tables[distance][classes.index_of(one), classes.index_of(other)]

    assert between("drake", "American coot") == 0.003662109375
    assert between("fountain", "church") == 0.0859375


def test_hops_count_the_edges_of_figure_2(classes: Classes, tables: dict[str, np.ndarray]) -> None:
    # fountain – structure – building – place of worship – church
    assert tables["hops"][classes.index_of("fountain"), classes.index_of("church")] == 4


@pytest.mark.parametrize("distance", ["weighted", "weighted-exactly", "hops"])
def test_a_metric_over_all_triples_of_classes(tables: dict[str, np.ndarray], distance: str) -> None:
    table = tables[distance]
    units = (table * 2**18).astype(np.int32)  # depths end at 17, so this is exact, and integers are quick
    np.testing.assert_array_equal(units / 2**18, table)
    np.testing.assert_array_equal(units, units.T)
    np.testing.assert_array_equal(units == 0, np.eye(1000, dtype=bool))
    for middle in range(1000):
        assert (units <= units[:, [middle]] + units[middle]).all()


def test_distances_are_those_of_a_plain_dijkstra(classes: Classes, tables: dict[str, np.ndarray]) -> None:
    tree = classes.taxonomy
    assert tree is not None
    depth = breadth_first_depths(tree)
    near: dict[int, list[tuple[int, float]]] = {}
    for child, parent in zip(tree.child.tolist(), tree.parent.tolist(), strict=True):
        near.setdefault(child, []).append((parent, 2.0 ** -depth[parent]))
        near.setdefault(parent, []).append((child, 2.0 ** -depth[parent]))
    for start in [0, 97, 562, *STRAYS]:
        length = {int(tree.class_nodes[start]): 0.0}
        heap = [(0.0, int(tree.class_nodes[start]))]
        while heap:
            so_far, node = heapq.heappop(heap)
            for other, weight in near[node] if so_far == length[node] else []:
                if so_far + weight < length.get(other, np.inf):
                    length[other] = so_far + weight
                    heapq.heappush(heap, (length[other], other))
        np.testing.assert_array_equal(
            tables["weighted-exactly"][start], [length[node] for node in tree.class_nodes.tolist()]
        )


def test_paths_over_common_ancestors_alone_are_longer_and_no_metric(
    classes: Classes, tables: dict[str, np.ndarray]
) -> None:
    tree = classes.taxonomy
    assert tree is not None
    weights = 2.0 ** -np.array(breadth_first_depths(tree))[tree.parent]
    some = np.arange(0, 1000, 3)
    over_ancestors = up_and_down(tree, weights, some)
    ours = tables["weighted-exactly"][np.ix_(some, some)]
    assert (ours <= over_ancestors).all()
    assert (ours < over_ancestors).any()
    assert any(
        (over_ancestors > over_ancestors[:, [middle]] + over_ancestors[middle]).any() for middle in range(len(some))
    )


def test_three_strays_are_far_from_everything_only_where_eq_3_is_taken_to_the_letter(
    classes: Classes, tables: dict[str, np.ndarray]
) -> None:
    assert [classes.names[stray] for stray in STRAYS] == ["street sign", "traffic light", "bubble"]
    exactly = np.median(tables["weighted-exactly"], axis=1)
    assert set(np.argsort(exactly)[-3:]) == set(STRAYS)
    assert exactly[STRAYS].min() > 2 > 2 * np.sort(exactly)[-4]
    by_default = np.median(tables["weighted"], axis=1)
    assert by_default[STRAYS].max() <= np.sort(by_default)[-4]


def test_strays_do_not_fill_the_farthest_pairs(tables: dict[str, np.ndarray]) -> None:
    with_stray = np.zeros((1000, 1000), bool)
    with_stray[STRAYS] = with_stray[:, STRAYS] = True
    share = {}
    for name in ("weighted", "weighted-exactly"):
        farthest = tables[name] >= np.quantile(tables[name], 0.999, method="higher")
        share[name] = with_stray[farthest].mean()
    assert share["weighted-exactly"] == 1
    assert share["weighted"] < 0.07


def test_the_shipped_taxonomy_is_the_one_of_the_kit(kit: Path) -> None:
    graph = json.loads(gzip.decompress((kit / "wordnet" / "imagenet1k_hypernyms.json.gz").read_bytes()))
    shipped = read_classes("imagenet")
    assert shipped["classes"] == graph["classes"]
    assert shipped["nodes"].keys() == graph["nodes"].keys()
    for wnid, node in shipped["nodes"].items():
        assert set(node["parents"]) == set(graph["nodes"][wnid]["parents"])
        assert node["lemmas"] == [lemma.replace("_", " ") for lemma in graph["nodes"][wnid]["lemmas"]]
        assert node["gloss"] == graph["nodes"][wnid]["gloss"].strip()


def test_every_class_has_a_name_and_the_cranes_are_told_apart(classes: Classes) -> None:
    assert len(set(classes.names)) == len(classes) == 1000
    assert {classes.index_of("crane (wading bird)"), classes.index_of("n03126707")} == {134, 517}
    for number, (name, wnid) in enumerate(zip(classes.names, classes.ids, strict=True)):
        assert classes.index_of(name) == classes.index_of(wnid) == classes.index_of(str(number)) == number


def test_the_paths_of_the_papers_figure(classes: Classes) -> None:
    pairs = [
        (classes.index_of(one), classes.index_of(other))
        for one, other in (("drake", "American coot"), ("fountain", "church"))
    ]
    birds, buildings = class_paths(classes, "weighted", pairs)
    assert birds.nodes[::4] == ("drake", "aquatic bird", "American coot")
    assert (birds.length, buildings.length) == (pytest.approx(0.003662, abs=1e-6), pytest.approx(0.085938, abs=1e-6))
    assert buildings.nodes == ("fountain", "structure", "building", "place of worship", "church")
    assert buildings.turned.nodes == buildings.nodes[::-1]
    assert [path.length for path in class_paths(classes, "hops", pairs)] == [8, 4]
    assert class_paths(classes, "zero-one", pairs) == []
