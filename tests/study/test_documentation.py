"""Every command, option and registry key is documented, and every help text has an example that parses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from benchmarks.__main__ import quoted
from dissensus.backends import BACKENDS
from dissensus.backends.map_preprocess import MapPreprocess
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.quality import QUALITY
from dissensus.backends.recipes import RECIPES
from dissensus.cli import app
from dissensus.discrepancy.labels import DISCREPANCIES
from dissensus.discrepancy.masks import MEASURES
from dissensus.kernels.strings import ALPHABETS
from dissensus.labeling import QUESTIONS
from dissensus.pool.distortions import DISTORTIONS
from dissensus.predictions.scale import SCALES
from dissensus.ranking import ATTACK_RANKERS, RANKERS
from dissensus.records import ANSWERS
from dissensus.screening import METRICS, PREFERENCES, VERDICTS
from dissensus.store.exchange import FORMATS
from dissensus.store.scales import SCALE_TABLES
from dissensus.store.settings import AttackRankSettings
from dissensus.tasks.labels.replaying import GOALS, RULES
from dissensus.tasks.masks.settings import CategorySettings, TruthSettings
from dissensus.tasks.scores.settings import LevelSettings, PairSettings, ScaleSettings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def commands(group=None, words=("dissensus",)):
    """Every command with the words that call it."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


COMMANDS = {" ".join(words): command for words, command in commands()}


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_and_option_is_in_the_command_page(line):
    page = (DOCS / "commands.md").read_text()
    row = next((row for row in page.splitlines() if row.startswith(f"| `{line} ")), None)
    assert row is not None, f"docs/commands.md does not mention {line}"
    for option in COMMANDS[line].params:
        names = [name for name in option.opts if name.startswith("-")]
        if names and "--help" not in names and "--json" not in names:
            assert any(name in row for name in names), f"docs/commands.md: {line} does not mention {names}"


@pytest.mark.parametrize("line", COMMANDS)
def test_every_help_text_has_an_example_of_its_command(line):
    text = COMMANDS[line].help
    example = re.search(r"Example: `([^`]*)`", text)
    assert example, f"{line} --help has no example"
    words = shlex.split(example[1])
    assert words[: len(line.split())] == line.split()
    # parsing alone: click complains about options and arguments that do not exist
    COMMANDS[line].make_context(line, words[len(line.split()) :], resilient_parsing=False)


def test_an_example_with_a_wrong_option_would_be_noticed():
    with pytest.raises(Exception, match="No such option"):
        COMMANDS["dissensus rank"].make_context("rank", ["birds", "--methud", "perron"])


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        ("methods/distances.md", DISCREPANCIES),
        ("methods/ranking.md", RANKERS),
        ("methods/judgements.md", ANSWERS),
        ("methods/screening.md", VERDICTS),
        ("methods/screening.md", METRICS),
        ("methods/scores.md", SCALES),
        ("methods/scores.md", ATTACK_RANKERS),
        ("methods/scores.md", PREFERENCES),
        ("methods/scores.md", ScaleSettings.model_fields),
        ("methods/scores.md", LevelSettings.model_fields),
        ("methods/scores.md", PairSettings.model_fields),
        ("methods/replay.md", RULES),
        ("methods/concordance.md", MEASURES),
        ("methods/masks.md", SCALE_TABLES),
        ("methods/masks.md", ATTACK_RANKERS),
        ("study-folder.md", CategorySettings.model_fields),
        ("study-folder.md", TruthSettings.model_fields),
        ("study-folder.md", AttackRankSettings.model_fields),
        ("annotating.md", QUESTIONS),
        ("exchange.md", FORMATS),
        ("methods/kitchen-sinks.md", ALPHABETS),
        ("backends.md", BACKENDS),
        ("backends.md", QUALITY),
        ("backends.md", RECIPES),
        ("backends.md", DISTORTIONS),
        ("backends.md", Preprocess.model_fields),
        ("backends.md", MapPreprocess.known_keys()),
    ],
)
def test_every_key_of_a_registry_is_documented(page, keys):
    text = (DOCS / page).read_text()
    assert [key for key in keys if f"`{key}`" not in text] == []


PAGES = [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "examples" / "README.md", ROOT / "benchmarks" / "README.md"]


def test_no_page_has_a_placeholder_left():
    assert [page.name for page in PAGES if "@@" in page.read_text()] == []


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_help_names_what_the_registries_hold() -> None:
    from dissensus import ranking
    from dissensus.cli import options
    from dissensus.discrepancy.labels import DISCREPANCIES
    from dissensus.discrepancy.masks import MEASURES
    from dissensus.pool.distortions import DISTORTIONS
    from dissensus.store.exchange import FORMATS

    assert ", ".join(ranking.RANKERS) == options.RANKERS
    assert ", ".join(ranking.ATTACK_RANKERS) == options.ATTACK_RANKERS
    assert ", ".join(FORMATS) == options.FORMATS
    assert ", ".join(DISCREPANCIES) == options.DISTANCES
    assert ", ".join(MEASURES) == options.MEASURES
    assert ",".join(DISTORTIONS) == options.DISTORTIONS
    assert ", ".join(RULES) == options.RULES
    assert ", ".join(GOALS) == options.GOALS


def test_every_benchmark_that_a_page_quotes_exists():
    commands = quoted(sorted(DOCS.rglob("*.md")))
    assert "benchmarks/scale.py largest" in commands
    assert len(commands) == len({*commands}) > 40
    for command in commands:
        assert (ROOT / shlex.split(command)[0]).is_file(), command
