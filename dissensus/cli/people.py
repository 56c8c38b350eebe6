"""Annotators, and whose answers count."""

from __future__ import annotations

from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import annotators, app
from dissensus.cli.options import Json, PersonName, StudyPath
from dissensus.study import Study


@annotators.command("add")
def annotators_add(
    study: StudyPath,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="One or several names.", show_default=False)],
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Of the control group that others are measured by.")
    ] = False,
    owner: Annotated[bool, typer.Option("--owner", help="A lasting link to the dashboard.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Where people reach the service.", show_default="study.toml's host and port")
    ] = None,
    json: Json = False,
) -> None:
    """Make personal links; each is shown this once, only its hash is stored.

    Example: `dissensus annotators add birds ada ben --url https://birds.example.org`
    """
    opened = Study(study)
    tokens: dict[str, str] = {}
    try:
        for name in names:
            tokens[name] = opened.people.add(name, is_owner=owner, is_trusted=trusted)
    finally:
        if tokens:  # a name that is taken does not cost the others their links
            printing.show_links(tokens, url or opened.address, owner, json)


@annotators.command("list")
def annotators_list(study: StudyPath, json: Json = False) -> None:
    """List annotators: how much they answered, how they agree, and how they do on control questions.

    Example: `dissensus annotators list birds`
    """
    printing.show_overview(Study(study).overview(), json)


@annotators.command("revoke")
def annotators_revoke(study: StudyPath, name: PersonName) -> None:
    """Make a link invalid; answers stay, and `annotators add` makes a new link for the same person.

    Example: `dissensus annotators revoke birds ben`
    """
    Study(study).people.revoke(name)
    printing.say(f"the link of {name} is no longer valid; what {name} answered stays")


@annotators.command("exclude")
def annotators_exclude(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="Why, in words; the report shows it.", show_default=False)],
) -> None:
    """Let somebody's answers count no longer; they are kept, and `annotators include` takes it back.

    Example: `dissensus annotators exclude birds ben --reason "answered in 0.3 s"`
    """
    Study(study).exclude(name, reason)
    printing.say(f"answers of {name} do not count from now on: {reason}")


@annotators.command("include")
def annotators_include(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="Why, in words.")] = "taken back by the owner",
) -> None:
    """Let somebody's answers count again.

    Example: `dissensus annotators include birds ben`
    """
    Study(study).include(name, reason)
    printing.say(f"answers of {name} count again: {reason}")


@app.command()
def screen(
    study: StudyPath,
    exclude: Annotated[bool, typer.Option("--exclude", help="Do what is suggested; it can be taken back.")] = False,
    json: Json = False,
) -> None:
    """Say how annotators do and who should not count, and why: control questions, repeats, agreement, Dawid–Skene.

    Of sliders: BT.500, which rejects people, and P.910, which rejects nobody, side by side.

    Example: `dissensus screen birds --exclude`
    """
    opened = Study(study)
    excluded = opened.screen() if exclude else []
    if opened.settings.task == "scores" and not exclude:
        return printing.show_screenings(opened.screenings(), json)
    return printing.show_screening(opened.overview(), excluded, json)
