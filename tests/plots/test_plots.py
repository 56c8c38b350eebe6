"""Figures: self-contained SVG with its text inside, colours that follow the page, and the numbers beside them."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dissensus.plots import (
    Box,
    Mark,
    Pair,
    Plot,
    Shade,
    bars,
    box,
    boxes,
    curve,
    density,
    dots,
    heatmap,
    paired,
    ranks,
    scatter,
    steps,
    strip,
)
from dissensus.plots.labels import label_frames
from dissensus.plots.paired import frame_ends, probit_ticks
from dissensus.plots.planes import _outward
from dissensus.plots.style import THEME

NAMES = ["first & <b>", "second", "a name that is much too long to be written beside a figure", "price $5 and $6"]
SHADE = Shade(str, lambda x: x / 8 - 1, ("low", "high"))
FIVE = [0.1, 0.2, 0.4, 0.6, 0.9]
MARKS = [Mark("A", 10, 90, 0, "A"), Mark("B", 10, 2, 0, "B"), Mark("C", 5, 5, 1, "<C>")]
PAIRS = [
    Pair(NAMES[0], 0.9, 0.8, (0.88, 0.92), (0.77, 0.83), "first", is_named=True),
    Pair(NAMES[1], 0.8, 0.7, is_named=True, is_other=True),
    Pair(NAMES[2], 0.7, 0.55, is_named=True),
    Pair(NAMES[3], 1.0, 0.0),
]
KNOWN = ~np.eye(4, dtype=bool)
PLOTS: dict[str, Callable[[], Plot]] = {
    "dots": lambda: dots(
        "p", "T", NAMES, [3, 2, 1, None], [2, 1, 0, None], [4, 3, 2, None], "strength", prefixes=list("1223")
    ),
    "logarithmic dots": lambda: dots("p", "T", NAMES, [1, 10, 100, 900], [None] * 4, [None] * 4, "strength"),
    "steps": lambda: steps(
        "p", "T", {name: ((0.0, 0.01 * place), (0.2, 1.0)) for place, name in enumerate(NAMES, 1)}, ("τ", "share")
    ),
    "heat": lambda: heatmap(
        "p", "T", NAMES, np.arange(16.0).reshape(4, 4), KNOWN & (np.arange(4) < 3), SHADE, "cells", marked=KNOWN
    ),
    "bars": lambda: bars("p", "T", NAMES, [[1, 2, 3, 0]] * 4, ["a", "b", "c", "d"], "items"),
    "one series": lambda: bars("p", "T", NAMES, [[1], [2], [3], [4]], ["images"], "images"),
    "curve": lambda: curve(
        "p", "T", [1, 2, 3], {"a": [0.1, 0.5, 1], "b": [0, 0.2, 1]}, ("k", "SRCC"), reference=(0.9, "stable")
    ),
    "ranks": lambda: ranks(
        "p", "T", ["mIoU", "MPA"], dict(zip(NAMES, [[1, 2], [2, 1], [3, None], [None, None]], strict=True))
    ),
    "scatter": lambda: scatter(
        "p", "T", [1, 2, 3, 4], [1, 3, 2, 4], ("x", "y"), NAMES, (1, 0), [(1, 0.5, 1.5), (4, 3, 5)]
    ),
    "density": lambda: density("p", "T", np.arange(16).reshape(4, 4), (0, 100), ("a", "b"), MARKS),
    "empty density": lambda: density("p", "T", np.zeros((4, 4), int), (0, 100), ("a", "b")),
    "strip": lambda: strip("p", "T", NAMES, [[1, 2], [3], [], [4]], "score"),
    "box": lambda: box("p", "T", NAMES, {"own": [FIVE] * 4, "other": [FIVE, None, FIVE, FIVE]}, "mIoU", reference=0.6),
    "boxes": lambda: boxes(
        "p", "T", NAMES, {"colour": [Box(FIVE, 0.5)] * 3 + [Box(FIVE, 0.5, True)], "crop": [None] * 4}, "ratio"
    ),
    "whole heat": lambda: heatmap("p", "T", NAMES, np.eye(4), KNOWN | True, SHADE, "cells", has_diagonal=True),
    "scatter with intervals": lambda: scatter(
        "p", "T", [1, 2], [1, 3], ("x", "y"), NAMES[:2], spans=[(0.5, 1.5), (None, None)]
    ),
    "paired": lambda: paired("p", "T", PAIRS, ("x", "y"), [(0.7, 0.5), (1, 0.9)], [(0.7, 0.4, 0.6), (1, 0.8, 1)]),
    "paired on probit axes": lambda: paired(
        "p", "T", PAIRS, ("x", "y"), [(0.7, 0.5), (0.9, 0.8)], [(0.7, 0.4, 0.6), (0.9, 0.7, 0.9)], "probit"
    ),
    "many pairs": lambda: paired("p", "T", PAIRS * 120, ("x", "y")),
    "no boxes": lambda: box("p", "T", NAMES, {"own": [None] * 4}, "mIoU"),
}


@pytest.fixture(params=PLOTS)
def plot(request: pytest.FixtureRequest) -> Plot:
    return PLOTS[request.param]()


def texts(svg: str) -> str:
    return " ".join(filter(None, ET.fromstring(svg).itertext()))


def test_svg_is_one_element_with_its_text_inside(plot: Plot) -> None:
    svg = plot.svg()
    root = ET.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"].startswith("T.")
    assert "<script" not in svg
    assert not [word for word in ("http://", "https://") if f'href="{word}' in svg]
    assert "nan" not in svg.lower().replace("nance", "")


def test_the_same_figure_is_the_same_bytes(plot: Plot) -> None:
    assert plot.svg() == plot.svg()


def test_a_themed_figure_has_no_colour_of_its_own(plot: Plot) -> None:
    themed = plot.svg(is_themed=True)
    assert "var(--" in themed
    assert not [colour for colour in THEME.values() if colour in themed]
    assert "var(--" not in plot.svg()


@pytest.mark.parametrize(("y", "corner"), [(0.9, "lower right"), (0.05, "upper left")])
def test_the_legend_hides_no_mark(y: float, corner: str) -> None:
    """Losers lie in the lower right corner, which is the usual place of the legend."""
    pairs = [Pair(name, x, y, (x - 0.05, x + 0.05)) for name, x in zip(NAMES, (0.1, 0.5, 0.8, 0.9), strict=True)]
    svg = paired("p", "T", pairs, ("x", "y"), keys=("the key", "", "")).svg()
    key = svg.index("the key")
    place = float(re.findall(r'(?:translate\(|x=")([\d.]+)', svg[:key])[-1])
    assert (place > 130) == (corner == "lower right")


def test_the_table_opens_as_it_is_drawn(plot: Plot, tmp_path: Path) -> None:
    svg, pdf, table = plot.write(tmp_path)
    assert (svg.suffix, pdf.suffix, table.suffix) == (".svg", ".pdf", ".csv")
    assert pdf.read_bytes().startswith(b"%PDF")
    frame = pd.read_csv(table)
    assert list(frame.columns) == list(plot.table)
    assert len(frame) == len(next(iter(plot.table.values())))
    rows = list(csv.reader(io.StringIO(plot.csv())))
    assert len({len(row) for row in rows}) == 1


def test_names_and_values_are_in_the_figure() -> None:
    svg = PLOTS["dots"]().svg()
    assert "first & <b>" in texts(svg)
    assert "not comparable" in texts(svg)
    assert "first & <b>: 3.00, 2.00 to 4.00" in texts(svg)  # a tooltip
    assert "price $5 and $6" in texts(svg)  # which is no formula
    assert "a name that is much too l…" in texts(svg)


def test_figures_on_one_page_do_not_share_ids() -> None:
    one = curve("one", "T", [1, 2], {"a": [0, 1]}, ("k", "y")).svg()
    other = curve("other", "T", [1, 2], {"a": [0, 1]}, ("k", "y")).svg()

    def ids(svg: str) -> set[str]:
        return {element.attrib["id"] for element in ET.fromstring(svg).iter() if "id" in element.attrib}

    assert ids(one)
    assert not ids(one) & ids(other)


def test_a_figure_can_be_saved_in_any_format(tmp_path: Path) -> None:
    figure = PLOTS["curve"]().figure()
    assert figure.get_size_inches()[0] == pytest.approx(85 / 25.4)
    (png,) = (path for path in PLOTS["curve"]().write(tmp_path, ["png"]) if path.suffix == ".png")
    assert png.read_bytes()[:4] == b"\x89PNG"


def test_only_a_figure_in_a_page_has_links() -> None:
    plot = bars("p", "T", ["a", "b"], [[1], [2]], ["n"], "n", links=["duel-0-1", ""])
    assert plot.svg(is_themed=True).count('<a tabindex="-1" aria-hidden="true" href="#duel-0-1">') == 1
    assert "duel-0-1" not in plot.svg()


def test_many_bars_are_cut_and_kept_in_the_table() -> None:
    plot = bars("p", "T", [f"name {i}" for i in range(100)], [[i] for i in range(100)], ["n"], "n", "All.")
    assert plot.caption == "All. Only the first 60 of 100 are drawn."
    assert len(plot.rows) == 100
    assert "name 59" in texts(plot.svg())
    assert "name 60" not in texts(plot.svg())


@pytest.mark.parametrize(
    ("point", "other", "expected"),
    [
        ((2, 100), (2, 0), (9, 0)),
        ((2, 0), (2, 100), (9, 0)),
        ((100, 99), (0, 99), (0, -9)),
        ((50, 50), (20, 50), (9, 0)),
    ],
)
def test_letters_stay_inside_the_figure(point, other, expected) -> None:
    assert _outward(point, [other], (0, 100)) == expected


def test_boxes_share_one_axis_and_say_their_numbers() -> None:
    plot = boxes("p", "T", ["net", "people"], {"crop": [Box(FIVE, 0.5), Box(FIVE, 0.7, True)], "all": [None] * 2}, "r")
    assert len(plot.figure().axes) == 1
    assert "people, crop: mean 0.700, median 0.400, classes from 0.100 to 0.900" in texts(plot.svg())
    assert texts(plot.svg()).count("nothing found") == 2
    assert plot.rows == [("crop", "net", *FIVE, 0.5), ("crop", "people", *FIVE, 0.7)]


def test_a_matrix_has_its_diagonal_only_if_that_means_something() -> None:
    values, known = np.eye(2), np.ones((2, 2), bool)
    assert len(heatmap("p", "T", ["a", "b"], values, known, SHADE, "").rows) == 2
    assert heatmap("p", "T", ["a", "b"], values, known, SHADE, "", has_diagonal=True).rows[0] == ("a", "a", 1.0)


@pytest.mark.parametrize(
    ("ends", "percents"),
    [
        ((-3.0, 3.0), [1, 10, 50, 90, 99]),
        ((0.95, 2.15), [85, 90, 95, 97, 98]),
        ((-1.0, 1.3), [20, 30, 40, 50, 60, 70, 80, 90]),
        ((2.06, 2.32), [98.1, 98.5, 98.9]),
        ((1.2815, 1.2816), [90]),
    ],
)
def test_ticks_of_probit_axes_are_round_and_keep_their_distance(ends, percents):
    found = probit_ticks(ends)
    assert set(percents) <= set(found)
    assert len(found) <= 9


def test_the_frame_shows_where_both_shares_are_equal():
    for scale in ("linear", "probit"):
        across, up = frame_ends(PAIRS[:3], scale)
        assert up[0] <= across[0] < across[1] <= up[1]
    (left, right), (bottom, top) = frame_ends(PAIRS, "linear")
    assert min(left, bottom) >= -0.02
    assert max(right, top) <= 1.02
    assert all(np.isfinite(frame_ends([Pair("all", 1.0, 0.0)], "probit")).ravel())


def test_labels_do_not_overlap():
    marks = [(100.0, 50.0), (102.0, 51.0), (101.0, 52.0), (5.0, 95.0)]
    found = label_frames(["one name"] * 4, marks, marks, [], [(120.0, 0.0, 200.0, 40.0)], (200.0, 100.0))
    assert None not in found
    for place, (left, bottom, right, top) in enumerate(found):
        assert 0 <= left < right <= 200
        assert 0 <= bottom < top <= 100
        for other in found[:place]:
            assert right <= other[0] or other[2] <= left or top <= other[1] or other[3] <= bottom
    crowded = label_frames(["a name that is longer than the figure"], [(5.0, 5.0)], [], [], [], (50.0, 50.0))
    assert crowded == [None]


def test_pairs_say_their_shares_and_lie_inside():
    plot = PLOTS["paired on probit axes"]()
    assert "first &amp; &lt;b&gt;: 90.0 % (88.0 to 92.0) → 80.0 % (77.0 to 83.0). first" in plot.svg()
    assert plot.rows[3] == (NAMES[3], 100, None, None, 0, None, None)
    assert "nan" not in plot.svg()
    assert "inf" not in plot.svg().replace("info", "")


def test_profiles_name_as_many_curves_as_can_be_told_apart():
    curves = {f"classifier {place}": ((0.0, 0.1), (0.5, 1.0)) for place in range(9)}
    few = steps("profiles", "Profiles", dict(list(curves.items())[:6]), ("τ", "share")).svg()
    assert "others" not in few
    assert all(f"classifier {place}" in few for place in range(6))
    assert "others" in steps("profiles", "Profiles", curves, ("τ", "share")).svg()
