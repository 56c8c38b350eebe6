from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.arrays import Array
from dissensus.duplicates import embedding, neighbours
from dissensus.duplicates.neighbours import nearest
from dissensus.errors import DuplicatesError


def plainly(queries: Array, among: Array, k: int, is_same: bool = False) -> tuple[Array, Array]:
    """Every distance in float64, one query at a time."""
    k = min(k, len(among) - is_same)
    rows = []
    for number, query in enumerate(queries.astype(float)):
        squared = ((among.astype(float) - query) ** 2).sum(axis=1)
        if is_same:
            squared[number] = np.inf
        best = np.argsort(squared, kind="stable")[:k]
        rows.append((best, np.sqrt(squared[best])))
    shape = len(queries), k
    return np.array([row[0] for row in rows]).reshape(shape), np.array([row[1] for row in rows]).reshape(shape)


def spectrum(count: int, dimensions: int, decay: float, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.standard_normal((dimensions, dimensions)))[0]
    points = random.standard_normal((count, dimensions)) * np.arange(1, dimensions + 1) ** -decay
    return (points @ turn).astype(np.float32)


def same(found: tuple[Array, Array], expected: tuple[Array, Array]) -> None:
    assert np.allclose(found[1], expected[1], rtol=1e-12, atol=0)
    assert np.array_equal(found[0], expected[0])


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets take the same way as large ones: a projection, and several tiles."""
    for name, value in {"FEW": 0, "TILE": 96, "STRIP": 40, "WIDTHS": (4, 16)}.items():
        monkeypatch.setattr(embedding if hasattr(embedding, name) else neighbours, name, value)


CLOUDS = {
    "decaying spectrum": spectrum(500, 70, 1.0),
    "isotropic noise": spectrum(500, 70, 0.0),
    "two far clusters": spectrum(500, 70, 0.5) + 1e5 * (np.arange(500) % 2)[:, None].astype(np.float32),
    "far from the origin": spectrum(500, 70, 0.5) + np.float32(1e6),
    "huge norms": spectrum(500, 70, 0.5) * np.float32(1e30),
    "one outlier": np.concatenate([spectrum(499, 70, 0.5), np.full((1, 70), 1e30, np.float32)]),
    "tiny": spectrum(500, 70, 0.5) * np.float32(1e-30),
    "large float64": spectrum(500, 70, 0.5).astype(float) * 1e200,
    "one dimension": spectrum(500, 1, 0.0),
    "near-duplicates": np.repeat(spectrum(50, 70, 1.0), 10, axis=0) + 1e-6 * spectrum(500, 70, 0.0, 1),
    "wide": spectrum(150, 700, 0.5),
}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("is_projected", [True, False])
def test_the_neighbours_are_those_of_brute_force(
    cloud: str, is_projected: bool, request: pytest.FixtureRequest
) -> None:
    if is_projected:
        request.getfixturevalue("many")
    points = CLOUDS[cloud]
    scaled = points / 1e200 if "float64" in cloud else points
    index, distance = nearest(points, points, 30, is_same=True)
    expected = plainly(scaled, scaled, 30, is_same=True)
    same((index, distance / 1e200 if "float64" in cloud else distance), expected)
    if cloud != "large float64":
        same(nearest(points[:90], points[90:], 7), plainly(points[:90], points[90:], 7))


@pytest.mark.parametrize("is_projected", [True, False])
def test_of_equal_points_the_first_ones_are_neighbours(is_projected: bool, request: pytest.FixtureRequest) -> None:
    if is_projected:
        request.getfixturevalue("many")
    index, distance = nearest(np.ones((300, 20), np.float32), np.ones((300, 20), np.float32), 3, is_same=True)
    assert not distance.any()
    assert index[:5].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]


@given(
    points=arrays.arrays(np.int8, st.tuples(st.integers(1, 60), st.integers(1, 5)), elements=st.integers(-3, 3)),
    k=st.integers(1, 70),
    cut=st.integers(0, 60),
)
def test_ties_go_by_position(points: Array, k: int, cut: int) -> None:
    given_points = points.astype(np.float32)
    same(nearest(given_points, given_points, k, is_same=True), plainly(points, points, k, is_same=True))
    same(nearest(given_points[:cut], given_points, k), plainly(points[:cut], points, k))


@pytest.mark.usefixtures("many")
@given(seed=st.integers(0, 1000), count=st.integers(1, 300), kind=st.sampled_from([np.float32, np.float64, np.uint8]))
def test_order_and_place_of_the_points_do_not_matter(seed: int, count: int, kind: type) -> None:
    random = np.random.default_rng(seed)
    points = random.integers(0, 100, (count, 24)).astype(kind)
    _, distance = nearest(points, points, 9, is_same=True)
    turned = random.permutation(count)
    assert np.array_equal(nearest(points[turned], points[turned], 9, is_same=True)[1], distance[turned])
    moved = points.astype(np.float32) + random.integers(-1000, 1000, 24).astype(np.float32)
    assert np.array_equal(nearest(moved, moved, 9, is_same=True)[1], distance)
    assert np.array_equal(nearest(points, points, 9 + 1)[1][:, 1:], distance[:, :9])


@pytest.mark.usefixtures("many")
def test_the_best_projections_alone_would_be_wrong() -> None:
    """What the bounds are for: the 30 points that look nearest in the projection are not the 30 nearest."""
    points = CLOUDS["isotropic noise"]
    index, _ = nearest(points, points, 30, is_same=True)
    projected, _ = nearest(points[:, :16], points[:, :16], 30, is_same=True)
    assert np.mean([len(set(a) & set(b)) / 30 for a, b in zip(index, projected, strict=True)]) < 0.5


@pytest.mark.usefixtures("many")
def test_without_the_margin_for_rounding_neighbours_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = CLOUDS["two far clusters"]
    expected = plainly(points, points, 30, is_same=True)
    same(nearest(points, points, 30, is_same=True), expected)
    monkeypatch.setattr(embedding, "_slack", lambda *_: 0.0)
    found = nearest(points, points, 30, is_same=True)
    assert not np.array_equal(found[0], expected[0])


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("cloud", ["two far clusters", "near-duplicates", "decaying spectrum", "isotropic noise"])
def test_every_bound_is_a_lower_bound(cloud: str) -> None:
    """The inequality that is proved, for all pairs and every width, as the computer rounds it."""
    points = CLOUDS[cloud]
    centre, scale = points.mean(axis=0, dtype=float), 2.0**20
    true = ((points[:, None].astype(float) - points[None].astype(float)) ** 2).sum(axis=2) / scale**2
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((points.shape[1],) * 2))[0]
    for width in (1, 16, 69, None):
        basis = None if width is None else turn[:, :width]
        placed = embedding._placed(points, centre, scale, basis)
        made = embedding._by_cell(points, *placed, placed[0][:1])
        bounds = made.left @ made.right.T
        known = true[np.ix_(made.order, made.order)]
        assert (bounds <= known * (1 + embedding.STRETCH) + embedding.TINY).all()


def test_few_points() -> None:
    nothing, two = np.zeros((0, 3), np.float32), np.array([[0, 0, 0], [3, 4, 0]], np.float32)
    assert nearest(nothing, nothing, 5, is_same=True)[0].shape == (0, 0)
    assert nearest(two, nothing, 5)[0].shape == (2, 0)
    assert nearest(nothing, two, 5)[0].shape == (0, 2)
    assert nearest(two[:1], two[:1], 5, is_same=True)[0].shape == (1, 0)
    assert nearest(two, two, 0)[0].shape == (2, 0)
    index, distance = nearest(two, two, 30, is_same=True)
    assert (index.tolist(), distance.tolist()) == ([[1], [0]], [[5.0], [5.0]])
    assert nearest(two[:, :0], two[:, :0], 1, is_same=True)[0].tolist() == [[1], [0]]


def test_what_cannot_be_compared_is_refused() -> None:
    points = np.zeros((3, 2), np.float32)
    with pytest.raises(DuplicatesError, match=r"points of shapes \(3, 2\) and \(3, 1\) cannot be compared"):
        nearest(points, points[:, :1], 1)
    with pytest.raises(DuplicatesError, match="3 queries are not the same as 2 points"):
        nearest(points, points[:2], 1, is_same=True)
    points[1, 1] = np.nan
    with pytest.raises(DuplicatesError, match="not a finite number"):
        nearest(points, points, 1)
