"""The page's parts without a browser: pictures, axes, words, curve, galleries."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from report_studies import study

from dissensus.report.cases import cases
from dissensus.report.curve import curve
from dissensus.report.galleries import DATA_URI, galleries
from dissensus.report.heatmaps import heatmaps
from dissensus.report.pictures import data_uri
from dissensus.report.scales import axis, whole_axis
from dissensus.report.standings import fragility_words, order_rows, plot
from dissensus.report.wording import counted, cyclic, decimals, ratio, signed, span


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


@pytest.mark.parametrize(
    ("mode", "size", "kind", "pixelated", "shown"),
    [
        ("L", (8, 8), "png", True, (8, 8)),
        ("RGB", (64, 40), "png", True, (64, 40)),
        ("RGBA", (32, 32), "png", True, (32, 32)),
        ("RGB", (65, 65), "jpeg", False, (65, 65)),
        ("RGB", (1024, 512), "jpeg", False, (256, 128)),
        ("RGBA", (300, 600), "jpeg", False, (128, 256)),
        ("P", (400, 400), "jpeg", False, (256, 256)),
        ("CMYK", (100, 100), "jpeg", False, (100, 100)),
        ("1", (16, 16), "png", True, (16, 16)),
        ("I;16", (100, 100), "jpeg", False, (100, 100)),
        ("F", (8, 8), "png", True, (8, 8)),
    ],
)
def test_data_uri(mode, size, kind, pixelated, shown):
    image = Image.new(mode, size)
    uri, hard = data_uri(image)
    assert DATA_URI.fullmatch(uri)
    assert uri.startswith(f"data:image/{kind};base64,")
    assert hard is pixelated
    assert decoded(uri).size == shown
    assert image.size == size


def test_data_uri_keeps_what_is_seen():
    ramp = np.linspace(0, 255, 64).reshape(8, 8).astype(np.uint8)
    assert np.array_equal(np.asarray(decoded(data_uri(Image.fromarray(ramp))[0])), ramp)
    deep = Image.fromarray((np.arange(100 * 100).reshape(100, 100) * 6).astype(np.uint16))
    grey = np.asarray(decoded(data_uri(deep)[0]))
    assert grey.min() < 10
    assert grey.max() > 245
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    assert np.asarray(decoded(data_uri(clear)[0])).min() > 250


@pytest.mark.parametrize(
    ("values", "low", "high", "is_log"),
    [
        ([0.02, 0.29], 0, 0.3, False),
        ([-1.2, 2.1], -2, 3, False),
        ([0.0005, 0.2], 0.0001, 1, True),
        ([0.0], 0, 1, False),
        ([], 0, 1, False),
        ([0.25], 0, 0.25, False),
    ],
)
def test_axis_covers_its_values(values, low, high, is_log):
    made = axis(values)
    assert (made.low, made.high, made.is_log) == (pytest.approx(low), pytest.approx(high), is_log)
    assert [tick.at for tick in made.ticks] == sorted({tick.at for tick in made.ticks})
    assert all(0 <= made.at(value) <= 100 for value in values)
    assert (made.ticks[0].at, made.ticks[-1].at) == (0, 100)
    assert len({tick.label for tick in made.ticks}) == len(made.ticks)


@pytest.mark.parametrize(("low", "high"), [(1, 30), (1, 2), (1, 1), (3, 100), (1, 7)])
def test_whole_axis_marks_both_ends(low, high):
    labels = [int(tick.label) for tick in whole_axis(low, high).ticks]
    assert labels == sorted(set(labels))
    assert (labels[0], labels[-1]) == (low, high)


def test_words():
    assert (counted(1, "duel"), counted(1035, "duel")) == ("1 duel", "1,035 duels")
    assert [signed(d) for d in (2, 0, -1)] == ["+2", "0", "−1"]
    assert (span(1, 1), span(2, 4)) == ("1", "2–4")
    assert [ratio(r) for r in (0.5, 1.8, 12.34, 140)] == ["0.50", "1.80", "12.3", "140"]
    assert [decimals(v) for v in ([0.25], [0.04], [30], [])] == [3, 4, 1, 3]
    assert "no consistent order" in cyclic(0.8)
    assert len({cyclic(share) for share in (None, 0.01, 0.1, 0.3, 0.7)}) == 5


def test_curve_says_where_it_settles():
    settled = curve([(1, 0.5), (2, 0.95), (3, 0.8), (4, 0.97), (5, 1.0)])
    assert settled is not None
    assert settled.words.startswith("From k = 4 on")
    assert "still moves" in (curve([(1, 0.2), (2, 0.3), (3, 1.0)]) or settled).words
    assert "smallest k" in (curve([(1, 0.99), (2, 1.0)]) or settled).words
    assert curve([]) is None
    assert all(0 <= p.y <= 100 for p in (curve([(1, -0.4), (2, 1.0)]) or settled).points)


def test_shares_and_matrices_agree_with_the_tally():
    data = study()
    order = [s.model for s in data.ranking.standings]
    made = cases(data, order)
    assert made.shares is not None
    assert sum(made.shares) == pytest.approx(1)
    assert made.judged == sum(duel.judged for duel in data.duels)
    maps = heatmaps(data, order)
    i, j = data.models.index(order[0]), data.models.index(order[1])
    cell = maps.accuracy[0].cells[1]
    assert cell is not None
    assert cell.text == f"{100 * data.accuracy[i, j]:.0f}"
    assert maps.accuracy[0].cells[0] is None
    assert [row.model for row in maps.dominance] == order


def test_galleries_put_the_higher_model_first_and_spend_their_cards():
    data = study(k=10)
    order = [s.model for s in data.ranking.standings]
    made = galleries(data.duels, order)
    assert all(order.index(g.duel.first) < order.index(g.duel.second) for g in made.galleries)
    for gallery in made.galleries:
        assert gallery.number_of("first") == gallery.duel.first_only
        assert gallery.number_of("second") == gallery.duel.second_only
        assert gallery.left_out == 0
    few = galleries(data.duels, order, cards=45)
    assert {len(gallery.cards) for gallery in few.galleries} == {2}


def test_standings_and_orders():
    data = study()
    rows = order_rows(data)
    assert [row.model for row in rows] == [s.model for s in data.ranking.standings]
    assert all(len(row.methods) == 2 for row in rows), "the ranking's own method is not repeated"
    assert sorted(int(row.consensus.rank) for row in rows) == list(range(1, 8))
    assert all(p.low_at <= p.at <= p.high_at for p in plot(data.ranking).places if p.at is not None)
    assert all(row.difference is None and row.benchmark is None for row in order_rows(replace(data, benchmark=None)))
    fragility = data.ranking.fragility
    assert fragility is not None
    assert "3 judgements" in fragility_words(fragility)
    assert "fewer may do" in fragility_words(fragility.model_copy(update={"is_smallest": False}))
