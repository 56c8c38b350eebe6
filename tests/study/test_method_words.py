"""The words about ranking methods: every method has them, their links lead somewhere, and every ranking shows them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dissensus.printing.finding import show_ranking, show_rankings
from dissensus.ranking import ATTACK_RANKERS, RANKERS
from dissensus.records import Classes, Provenance, Ranking, Rankings, Standing, method_name, method_page, method_words
from dissensus.records.methods import DOCS, MEANINGS, NAMES, PAGES

ROOT = Path(__file__).resolve().parents[2]
METHODS = sorted({*RANKERS, *ATTACK_RANKERS})


def anchor(heading: str) -> str:
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def ranking(method: str) -> Ranking:
    made = Provenance(method=method, parameters={"level": 0.95}, seed=0, inputs={}, package="dissensus")
    standings = tuple(
        Standing(model=name, strength=s, low=s - 0.1, high=s + 0.1, rank_low=n, rank_high=n, may_be_first=n == 1)
        for n, (name, s) in enumerate((("one", 0.7), ("two", 0.3)), start=1)
    )
    return Ranking(
        standings=standings, words=("one is first.",), cyclic_share=0.0, degenerate_resamples=0, fragility=None,
        provenance=made,
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_name_a_sentence_and_a_page(method: str) -> None:
    assert {method} <= {*NAMES} & {*MEANINGS} & {*PAGES}
    assert method_words(method).startswith(f"Strengths by {method_name(method)}: ")
    page, _, part = PAGES[method].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.M)
    assert part in map(anchor, headings)
    assert method_page(method) == f"{DOCS}/{PAGES[method]}"


def test_the_documentation_is_where_the_package_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == DOCS


@pytest.mark.parametrize("method", METHODS)
def test_a_ranking_calls_its_column_strength_and_explains_it(method: str, capsys) -> None:
    found = ranking(method)
    page = found._repr_html_()
    for shown in (page, repr(found)):
        assert method_words(method) in shown
        assert method_page(method) in shown
    assert "<th>strength</th>" in page
    assert "Strength" in found.plot().svg()
    assert f"Strength ({method})" not in found.plot().svg()
    assert found.plot().csv().splitlines()[0] == "rank,model,strength,low,high"
    show_ranking(found, Classes(names=("a", "b")), None, None, (), as_json=False)
    printed = capsys.readouterr().out
    assert "strength" in printed
    assert method not in printed.split("Strengths by")[0]  # the head of the table
    assert method_words(method)[:40] in " ".join(printed.split())
    show_rankings(Rankings(aggressiveness=found, resistance=found, words=()), (), as_json=False)
    printed = capsys.readouterr().out
    assert printed.count("strength") >= 2
    assert "Aggressiveness" in printed
