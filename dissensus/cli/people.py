"""Commands for annotators and whose answers count."""

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
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="One or more names.", show_default=False)],
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Their results on control questions set the standard for the others.")
    ] = False,
    owner: Annotated[bool, typer.Option("--owner", help="Make a permanent link to the dashboard.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Public URL of the service.", show_default="host and port in study.toml")
    ] = None,
    json: Json = False,
) -> None:
    """Create personal links; each is shown only once, since only its hash is stored.

    Example: `dissensus annotators add birds ada ben --url https://birds.example.org`
    """
    opened = Study(study)
    tokens: dict[str, str] = {}
    opened.people.refuse_taken(names)
    try:
        for name in names:
            tokens[name] = opened.people.add(name, is_owner=owner, is_trusted=trusted)
    finally:
        if tokens:  # show the links that were created, even after an error
            printing.show_links(tokens, url or opened.address, owner, json)


@annotators.command("list")
def annotators_list(study: StudyPath, json: Json = False) -> None:
    """List annotators with their number of answers, agreement and results on control questions.

    Example: `dissensus annotators list birds`
    """
    printing.show_overview(Study(study).overview(), json)


@annotators.command("revoke")
def annotators_revoke(study: StudyPath, name: PersonName, json: Json = False) -> None:
    """Revoke a link; the answers stay, and `annotators add` creates a new link for the same person.

    Example: `dissensus annotators revoke birds ben`
    """
    Study(study).people.revoke(name)
    with printing.document(json, {"annotator": name}):
        printing.say(f"{name}'s link is revoked; their answers stay")


@annotators.command("exclude")
def annotators_exclude(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="The reason, which the report shows.", show_default=False)],
    json: Json = False,
) -> None:
    """Stop counting an annotator's answers; they are kept, and `annotators include` undoes this.

    Example: `dissensus annotators exclude birds ben --reason "answered in 0.3 s"`
    """
    Study(study).exclude(name, reason)
    with printing.document(json, {"annotator": name, "reason": reason}):
        printing.say(f"{name}'s answers no longer count: {reason}")


@annotators.command("include")
def annotators_include(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="The reason.")] = "undone by the owner",
    json: Json = False,
) -> None:
    """Count an excluded annotator's answers again.

    Example: `dissensus annotators include birds ben`
    """
    Study(study).include(name, reason)
    with printing.document(json, {"annotator": name, "reason": reason}):
        printing.say(f"{name}'s answers count again: {reason}")


@app.command()
def screen(
    study: StudyPath,
    exclude: Annotated[bool, typer.Option("--exclude", help="Apply the suggestions; this can be undone.")] = False,
    json: Json = False,
) -> None:
    """Show how annotators perform and suggest whom to exclude: control questions, repeats, agreement, Dawid–Skene.

    For sliders and ratings, this shows BT.500, which rejects annotators, next to P.910, which rejects nobody.

    Example: `dissensus screen birds --exclude`
    """
    opened = Study(study)
    excluded = opened.screen() if exclude else []
    if opened.settings.task == "scores" and not exclude:
        return printing.show_screenings(opened.screenings(), json)
    return printing.show_screening(opened.overview(), excluded, json)
