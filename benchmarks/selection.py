"""How fast the selection is beside well-written NumPy, pandas, Polars and DuckDB, and beside merely reading the files.

Example: python benchmarks/selection.py --items 10000000 --models 11 --folder benchmarks/data

The pool is synthetic (benchmarks/synthetic.py) and made once. Every measurement runs in a fresh process, after a
warm-up of the same work on a pool of 2,000 items: modules are imported, thread pools started, numba's kernels compiled
and loaded, and the files lie in the page cache. The contenders take turns, and the best of some rounds counts. All
must give the same selection.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import contenders, ours
from benchmarks.contenders import Case, Row
from benchmarks.measuring import Measured, in_fresh_process, measured, show
from benchmarks.synthetic import make_study
from dissensus.discrepancy.labels import DISCREPANCIES

WARM_UP_ITEMS = 200_000
ENFORCED_FROM = 10_000_000

Prepare = Callable[[Case], Callable[[], list[Row]]]


def _at_once(work: Callable[[Case], list[Row]]) -> Prepare:
    """A contender that has nothing to prepare before the clock starts."""
    return lambda case: partial(work, case)


CONTENDERS: dict[str, tuple[str, Prepare]] = {
    "step": ("ours: Study.select, the whole step", _at_once(ours.step)),
    "files": ("ours: from the files, nothing written", ours.from_files),
    "memory": ("ours: scan of labels in memory", ours.from_memory),
    "reading": ("merely reading with pyarrow", _at_once(contenders.reading)),
    "numpy": ("NumPy", _at_once(contenders.with_numpy)),
    "pandas": ("pandas", _at_once(contenders.with_pandas)),
    "pandas-series": ("pandas, masks as Series", _at_once(contenders.with_pandas_series)),
    "polars": ("Polars, one frame, a query per duel", _at_once(contenders.with_polars)),
    "duckdb": ("DuckDB, one table, max_by per duel", _at_once(contenders.with_duckdb)),
    "polars-lazy": ("Polars, one lazy plan for all", _at_once(contenders.with_polars_lazy)),
}


@dataclass(frozen=True)
class Bar:
    """A claim about us, doing what the contenders do: `what` compared with `limit` by `holds`."""

    what: str
    value: Callable[[dict[str, Measured]], float]
    holds: Callable[[float, float], bool]
    limit: float


def _times(name: str) -> Callable[[dict[str, Measured]], float]:
    return lambda best: best[name].seconds / best["files"].seconds


BARS = (
    Bar("times faster than pandas, at least", _times("pandas"), operator.ge, 6),
    Bar("times faster than Polars, at least", _times("polars"), operator.ge, 5),
    Bar("times the mere reading, at most", lambda best: 1 / _times("reading")(best), operator.le, 2),
    Bar("MB of memory growth at its peak, under", lambda best: best["step"].growth, operator.lt, 200),
)


def main() -> int:
    """Measure, print, and say with the exit code whether the bars hold."""
    options = _options()
    if options.child:
        _child(options.child, options.distance, Path(options.study), Path(options.warm_up))
        return 0
    options.repeat = options.repeat or (5 if options.items >= ENFORCED_FROM else 1)
    names = options.only.split(",") if options.only else list(CONTENDERS)
    warm_up = make_study(options.folder, WARM_UP_ITEMS, options.models).root
    study = make_study(options.folder, options.items, options.models).root
    best = _best(names, options.distance, study, warm_up, options.repeat)
    _refuse_differences(best)
    is_enforced = (options.enforce or options.items >= ENFORCED_FROM) and set(names) >= {*CONTENDERS}
    verdicts = _verdicts(best) if set(names) >= {"step", "files", "reading", "pandas", "polars"} else []
    if options.json:
        print(json.dumps(_document(options, best, verdicts), indent=1))
    else:
        _print(options, best, verdicts, is_enforced)
    return int(is_enforced and not all(verdict["holds"] for verdict in verdicts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000_000)
    parser.add_argument("--models", type=int, default=11)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "data", help="where the pools are kept")
    parser.add_argument("--distance", choices=list(DISCREPANCIES), default="weighted")
    parser.add_argument("--repeat", type=int, help="rounds, of which the best counts (5; 1 for a small pool)")
    parser.add_argument("--only", help=f"some of {','.join(CONTENDERS)}")
    parser.add_argument("--enforce", action="store_true", help="exit code 1 on a failed bar for small pools too")
    parser.add_argument("--json", action="store_true")
    for internal in ("--child", "--study", "--warm-up"):
        parser.add_argument(internal, help=argparse.SUPPRESS)
    return parser.parse_args()


def _child(name: str, distance: str, study: Path, warm_up: Path) -> None:
    _, prepare = CONTENDERS[name]
    for root in (warm_up, study):
        case = Case.of(root, distance)
        ours.forget(case)
        measurement = measured(prepare(case))
    show(measurement)


def _best(names: list[str], distance: str, study: Path, warm_up: Path, repeat: int) -> dict[str, Measured]:
    """The least time on the wall and of the cores of each contender, and the largest growth of its memory."""
    runs: dict[str, list[Measured]] = {name: [] for name in names}
    for turn in range(1, repeat + 1):
        for name in names:
            _note(f"round {turn} of {repeat}: {name}")
            arguments = ["--child", name, "--distance", distance, "--study", str(study), "--warm-up", str(warm_up)]
            runs[name].append(in_fresh_process(__file__, arguments))
    _note("")
    return {
        name: Measured(
            min(run.seconds for run in found),
            min(run.cpu for run in found),
            max(run.growth for run in found),
            found[0].result,
        )
        for name, found in runs.items()
    }


def _note(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _refuse_differences(best: dict[str, Measured]) -> None:
    """All selections are one selection, row by row."""
    selections = {name: run.result for name, run in best.items() if name != "reading"}
    expected = next(iter(selections.values()), [])
    for name, rows in selections.items():
        if rows != expected:
            pairs = zip(rows, expected, strict=False)
            place = next((i for i, (row, wanted) in enumerate(pairs) if row != wanted), min(len(rows), len(expected)))
            raise SystemExit(f"{name} selects otherwise than {next(iter(selections))}, from row {place} on")


def _verdicts(best: dict[str, Measured]) -> list[dict[str, Any]]:
    values = [(bar, bar.value(best)) for bar in BARS]
    return [
        {"bar": bar.what, "limit": bar.limit, "value": round(value, 2), "holds": bar.holds(value, bar.limit)}
        for bar, value in values
    ]


def _document(options: argparse.Namespace, best: dict[str, Measured], verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    runs = {
        name: {"seconds": round(run.seconds, 3), "cpu_seconds": round(run.cpu, 3), "growth_mb": round(run.growth)}
        for name, run in best.items()
    }
    selected = max(len(run.result) for run in best.values())
    return {
        "items": options.items,
        "models": options.models,
        "distance": options.distance,
        "repeat": options.repeat,
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "selected": selected,
        "runs": runs,
        "bars": verdicts,
    }


def _print(
    options: argparse.Namespace, best: dict[str, Measured], verdicts: list[dict[str, Any]], is_enforced: bool
) -> None:
    duels = options.models * (options.models - 1) // 2
    print(
        f"{options.items:,} items × {options.models} models, {duels} duels, distance {options.distance}; "
        f"{os.cpu_count()} cores, best of {options.repeat}; files in the page cache; the same selection from all"
    )
    unit = best.get("step", next(iter(best.values()))).seconds
    print(f"{'':40}{'ratio':>8}{'seconds':>10}{'of cores':>10}{'peak growth':>14}")
    for name, run in best.items():
        times = f"{run.seconds / unit:>8.2f}{run.seconds:>10.2f}{run.cpu:>10.2f}"
        print(f"{CONTENDERS[name][0]:40}{times}{run.growth:>11.0f} MB")
    for verdict in verdicts:
        word = "PASS" if verdict["holds"] else "FAIL"
        print(f"{word}  {verdict['value']:>7.2f} {verdict['bar']} {verdict['limit']:g}")
    if verdicts and not is_enforced:
        print("bars are not enforced here: they are meant for the whole benchmark at 10,000,000 items (--enforce)")


if __name__ == "__main__":
    sys.exit(main())
