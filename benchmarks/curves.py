"""Draw the curves of the documentation from what `fewest.py … --json` printed.

python benchmarks/fewest.py typical --json > rows.jsonl
python benchmarks/fewest.py collections --json >> rows.jsonl
python benchmarks/curves.py rows.jsonl docs/images/fewest-answers.svg
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row
from dissensus.plots.style import BLUE, MUTED, ORANGE, SETTINGS

LINES = {
    "planner": (BLUE, "o-", 2.0),
    "Model Selector, ε .45": (ORANGE, "s--", 1.2),
    "CODA": ("#7a4fa3", "D--", 1.0),
    "VMA": ("#2e8b57", "v:", 1.0),
    "random contested images": (ORANGE, "s--", 1.2),
    "random": (MUTED, "^:", 1.0),
    "random images": (MUTED, "^:", 1.0),
    "agreement, nobody asked": ("#2e8b57", ":", 1.0),
}


SETS = {"11 of the reported half": "ImageNet, sets of 11", "11 of the 30": "CIFAR-10, sets of 11"}


def panel(axes: Axes, title: str, rows: list[Row], label: str) -> None:
    """One set of pools: a line for every strategy, over the number of answers."""
    for row in sorted(rows, key=lambda row: list(LINES).index(row["strategy"])):
        points = {int(key): value for key, value in row.items() if key.isdigit()}
        colour, style, width = LINES[row["strategy"]]
        axes.plot([*points], [*points.values()], style, color=colour, lw=width, ms=3, label=row["strategy"])
    axes.set(title=title, xlabel="answers", xscale="log", ylim=(min(axes.get_ylim()[0], 0.6), 1.02))
    axes.set_ylabel(label)
    ticks = sorted({int(key) for row in rows for key in row if key.isdigit()})
    axes.set_xticks([tick for tick in ticks if tick in (10, 25, 50, 100, 200, 500, 250, 700, 2000)])
    axes.get_xaxis().set_major_formatter("{x:g}")
    axes.get_xaxis().set_minor_formatter("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("figure", type=Path)
    given = parser.parse_args()
    panels: dict[tuple[str, str], list[Row]] = {}
    for row in map(json.loads, given.rows.read_text().splitlines()):
        if row.get("strategy") in LINES and ("collection" in row or row.get("sets") in SETS):
            name = row["collection"].replace("_", " ") if "collection" in row else SETS[row["sets"]]
            label = "best model chosen" if "collection" in row else "Spearman correlation"
            panels.setdefault((name, label), []).append(row)
    with mpl.rc_context(SETTINGS):
        lines = -(-len(panels) // 3)
        figure = Figure(figsize=(9, 2.9 * lines), layout="constrained")
        every = figure.subplots(lines, 3, squeeze=False).ravel()
        for axes, ((name, label), rows) in zip(every, panels.items(), strict=False):
            panel(axes, name, rows, label)
            axes.legend(fontsize=6, loc="lower right")
        for axes in every[len(panels) :]:
            axes.set_visible(False)
        figure.savefig(given.figure, metadata={"Date": None} if given.figure.suffix == ".svg" else {})


if __name__ == "__main__":
    main()
