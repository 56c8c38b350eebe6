"""The figure of two orders."""

from __future__ import annotations

from dissensus.plots import Slope, slopes


def test_both_orders_with_values_and_open_ranks() -> None:
    rows = [
        Slope("ann", (1, 2), ((1, 1), (1, 2)), (97.3, 97.5), is_marked=True),
        Slope("net & co", (2, 1), ((2, 3), (1, 2)), (80.0, 98.0), is_clear=True),
        Slope("same", (2, 3), ((2, 3), (3, 3)), (80.0, 90.0)),
    ]
    plot = slopes("orders", "Orders", rows, ("top-1, %", "multi-label, %"), "Caption.")
    assert plot.table["rank, multi-label, %"] == [2, 1, 3]
    assert plot.table["highest rank, top-1, %"] == [1, 3, 3]
    assert plot.table["more than chance"] == ["no", "yes", "no"]
    text = plot.svg(is_themed=True)
    assert "net &amp; co: top-1, % 80.0, rank 2, multi-label, % 98.0, rank 1; more than chance" in text
    assert "(2–3)" in text
    assert "var(--orange-fill)" in text
