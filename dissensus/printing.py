"""What the command prints: tables for people, JSON for programs."""

from __future__ import annotations

import json
import shlex
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from dissensus.demo import DemoResult, SlidersReady
from dissensus.engines.local import Progress as Told
from dissensus.engines.local import silent
from dissensus.records import Classes, Ranking, Rankings, Standing
from dissensus.report.data import Benchmark
from dissensus.report.scores.data import Screenings
from dissensus.steps.distorting import DistortResult
from dissensus.steps.scores.scaling import ScaleFit
from dissensus.steps.status import Status
from dissensus.study import Study

out = Console(highlight=False, soft_wrap=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Told]:
    """A progress bar per step on a terminal; nothing where nobody watches."""
    if quiet or not out.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        known: dict[str, TaskID] = {}

        def told(what: str, done: int, total: int) -> None:
            if what not in known:
                known[what] = bars.add_task(escape(what), total=total or None)
            bars.update(known[what], completed=done, total=total or None)

        yield told


def say(line: str) -> None:
    """Print a line as it is."""
    out.print(escape(line))


def show_json(value: Any) -> None:
    """Print JSON, and nothing else."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def show_pool(status: Status, as_json: bool) -> None:
    """The size of the pool."""
    if as_json:
        return show_json({"items": status.pool, "identical_files": status.identical_files})
    say(f"{status.pool:,} items in the pool")
    if status.identical_files:
        say(f"{status.identical_files:,} of them are byte for byte copies of others: a duel may show a picture twice")
    return say(f"Next: {status.next}")


def show_distort(result: DistortResult, as_json: bool) -> None:
    """What was made of the photos, and those that could not be used."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    for path, reason in result.skipped:
        say(f"left out: {path}: {reason}")
    photos = "one photo" if result.photos == 1 else f"{result.photos:,} photos"
    say(f"{result.images:,} images of {photos}, {result.written:,} of them new")
    if result.skipped:
        say(f"{len(result.skipped):,} left out")
    return say(f"Next: dissensus pool STUDY {shlex.quote(str(result.manifest))}")


def show_models(status: Status, as_json: bool) -> None:
    """What the models have predicted."""
    if as_json:
        return show_json([model.model_dump() for model in status.models])
    table = Table("model", "source", "predicted", "unreadable items")
    for model in status.models:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in model.reasons.items())
        unreadable = f"{model.unreadable:,}" + (f" ({reasons})" if reasons else "")
        table.add_row(*map(escape, (model.model, model.source, "yes" if model.predicted else "no", unreadable)))
    out.print(table)
    return say(f"Next: {status.next}")


def show_round(status: Status, number: int, as_json: bool) -> None:
    """What a round selected."""
    found = next(one for one in status.rounds if one.round == number)
    if as_json:
        return show_json(found.model_dump() | {"open_questions": status.open_questions})
    what = "items" if status.task == "labels" else "pairs"
    say(f"round {found.round}: {found.items:,} {what} for {found.duels:,} duels, {found.reserves:,} in reserve")
    if found.short and "k" in found.settings:
        say(f"{found.short:,} duels have fewer than {found.settings['k']} items on which their models may differ")
    elif found.short:
        say(f"{found.short:,} duels have no pair in some levels")
    for sentence in found.words:
        say(sentence)
    say(f"{status.open_questions:,} questions wait for answers (the pool has {status.pool:,} items)")
    return say(f"Next: {status.next}")


def show_questions(questions: Sequence[Any], sheet: Path | None, study: Path, as_json: bool) -> None:
    """Open questions."""
    if as_json:
        return show_json([question.model_dump() for question in questions])
    if sheet is not None:
        say(f"{sheet}: {len(questions):,} questions; when answered: dissensus judgements import {study} FILE")
        return None
    headings = {"item": "item", "name": "does it contain", "first": "first", "second": "second"}
    headings["answers"] = "answers so far"
    shown = [name for name in headings if questions and name in type(questions[0]).model_fields]
    table = Table(*(headings[name] for name in shown))
    for question in questions[:20]:
        table.add_row(*(escape(str(getattr(question, name))) for name in shown))
    if questions:
        out.print(table)
    say(f"{len(questions):,} questions wait for answers" + (" (20 shown)" if len(questions) > 20 else ""))
    return None


def show_import(new: int, status: Status, as_json: bool) -> None:
    """What an import stored."""
    if as_json:
        return show_json(
            {"new": new, "judgements": status.judgements, "annotators": status.annotators}
            | {"open_questions": status.open_questions}
        )
    say(f"{new:,} new judgements; {status.judgements:,} in all, by {_people(status.annotators)}")
    return say(f"Next: {status.next}")


def show_ranking(
    ranking: Ranking, classes: Classes, consensus: Mapping[str, float], benchmark: Benchmark | None, as_json: bool
) -> None:
    """The ranking, best first."""
    if as_json:
        return show_json([standing.model_dump() for standing in ranking.standings])
    out.print(_ranking_table(ranking, consensus, benchmark))
    say("* agreement with the models' own plurality vote: needs no people, and misleads where many models are alike")
    for sentence in ranking.words:
        say(sentence)
    if (fragile := ranking.fragility) is not None:
        most = "" if fragile.is_smallest else "at most "
        count = len(fragile.judgements)
        answers = "judgement" if count == 1 else "judgements"
        say(f"Without {most}{count:,} {answers}, {fragile.next_leader} would be first instead of {fragile.leader}:")
        for judgement in fragile.judgements[:5]:
            label = classes.names[judgement.label]
            say(f"  {judgement.annotator} said {judgement.answer} to '{label}' on {judgement.item}")
        if len(fragile.judgements) > 5:
            say(f"  … and {len(fragile.judgements) - 5} more in results/ranking.json")
    if benchmark is not None and benchmark.srcc is not None:
        say(f"Spearman correlation with '{benchmark.name}': {benchmark.srcc:.2f}")
    return None


def show_rankings(rankings: Rankings, as_json: bool) -> None:
    """Both rankings of models that score, each best first."""
    if as_json:
        found = {name: [s.model_dump() for s in ranking.standings] for name, ranking in rankings.measures.items()}
        return show_json(found | {"words": rankings.words})
    for name, ranking in rankings.measures.items():
        level = f"{100 * ranking.provenance.parameters['level']:g} % interval"
        table = Table("rank", "model", name, level)
        for standing in ranking.standings:
            interval = f"{_number(standing.low)} … {_number(standing.high)}"
            table.add_row(*map(escape, (place(standing), standing.model, _number(standing.strength), interval)))
        out.print(table)
        for sentence in ranking.words:
            say(sentence)
    for sentence in rankings.words:
        say(sentence)
    return None


def show_scale(fits: Sequence[ScaleFit], as_json: bool) -> None:
    """How the scores of every model came on the common scale."""
    if as_json:
        return show_json([fit.model_dump() for fit in fits])
    table = Table("model", "better is", "scale", "R²", "Spearman", "items")
    for fit in fits:
        shares = ["–" if value is None else f"{value:.3f}" for value in (fit.r2, fit.srcc)]
        table.add_row(escape(fit.model), fit.better, fit.method, *shares, f"{fit.items:,}")
    out.print(table)
    return say("Scores are on one scale from 0 to 100 now, higher is better.")


def show_screenings(found: Screenings | None, as_json: bool) -> None:
    """Both screenings of the same answers, side by side."""
    if as_json:
        return show_json(None if found is None else asdict(found))
    if found is None:
        return say("Nobody has moved a slider yet: there is nothing to screen.")
    table = Table("person", "answers", "outliers", "BT.500", "bias", "scatter", "P.910")
    for one in found.subjects:
        bias = "–" if one.bias is None else f"{one.bias:+.1f}"
        scatter = "–" if one.inconsistency is None else f"{one.inconsistency:.1f}"
        kept = "keeps" if one.rejected is None else f"rejects: {one.rejected}"
        table.add_row(escape(one.name), f"{one.answers:,}", f"{one.outliers:,}", escape(kept), bias, scatter, one.words)
    out.print(table)
    for sentence in found.words:
        say(sentence)
    if found.correlation is not None:
        say(f"The two agree on the pairs with a correlation of {found.correlation:.3f}; the ranking uses {found.used}.")
    return None


def _ranking_table(ranking: Ranking, consensus: Mapping[str, float], benchmark: Benchmark | None) -> Table:
    level = f"{100 * ranking.provenance.parameters['level']:g} % interval"
    table = Table("rank", "model", ranking.provenance.method, level, "plurality*")
    if benchmark is not None:
        table.add_column(escape(benchmark.name))
    for standing in ranking.standings:
        row = [place(standing), standing.model, _number(standing.strength)]
        row += [
            f"{_number(standing.low)} … {_number(standing.high)}",
            f"{100 * consensus.get(standing.model, 0):.1f} %",
        ]
        if benchmark is not None:
            score = benchmark.scores.get(standing.model)
            row.append("–" if score is None else f"{score:.4g}")
        table.add_row(*map(escape, row))
    return table


def place(standing: Standing) -> str:
    """'2' or '2–4': the ranks that the judgements cannot exclude."""
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}–{high}"


def show_report(path: Path, as_json: bool) -> None:
    """Where the report is."""
    if as_json:
        return show_json({"report": str(path)})
    return say(f"report: {path}")


def show_demo(result: DemoResult, as_json: bool) -> None:
    """What the demo found, and what it cost."""
    if as_json:
        return show_json(result.model_dump(mode="json"))
    if result.ranking is None:
        say(f"{result.questions:,} questions about {result.pool:,} digits wait for you. Open the sheet in a browser:")
        say(f"  {result.sheet}")
        say(f"then: dissensus judgements import {result.study} FILE and dissensus report {result.study}")
        say(f"or let several people answer in their browsers: dissensus serve {result.study}")
        return None
    labelled = Benchmark("accuracy, all labelled", result.accuracy, {}, {}, result.srcc)
    show_ranking(result.ranking, Study(result.study).classes, result.consensus, labelled, as_json=False)
    say(f"The competition asked {result.questions:,} yes/no questions; full labelling took {result.pool:,} labels.")
    say("The answers came from the data set's own labels, not from people (use --by-hand to give them yourself).")
    say(f"report: {result.report}")
    return None


def show_sliders(ready: SlidersReady, is_served: bool, as_json: bool) -> None:
    """A study whose pairs wait to be compared."""
    if as_json:
        return show_json(ready.model_dump(mode="json"))
    say(f"{ready.study}: four quality models compete on {ready.pool:,} photos; {ready.pairs:,} pairs wait for you.")
    return None if is_served else say(f"Next: dissensus serve {shlex.quote(str(ready.study))}")


def show_sliders_open(ready: SlidersReady) -> Callable[[str, str], None]:
    """What to say once the slider pages are there; where there is a browser, it opens them."""

    def show(address: str, owner_token: str) -> None:
        link = f"{address}/#{ready.token}"
        say(f"  compare     {link}")
        say(f"  dashboard   {address}/owner#{owner_token}")
        say("Ctrl-C stops it; nothing is lost, and the same command goes on.")
        webbrowser.open(link)

    return show


def show_status(status: Status, as_json: bool) -> None:
    """How far a study has come."""
    if as_json:
        return show_json(status.model_dump())
    classes = f"{status.classes:,} classes, " if status.task == "labels" else ""
    what = "items" if status.task == "labels" else "pairs"
    say(f"{status.study}: task {status.task}, {classes}{status.pool:,} items")
    if status.models:
        show_models_short(status)
    for one in status.rounds:
        say(f"round {one.round}: {one.items:,} {what} for {one.duels:,} duels, {one.reserves:,} in reserve")
    answered = status.questions - status.open_questions
    people = f"{status.judgements:,} judgements by {_people(status.annotators)}"
    say(f"{answered:,} of {status.questions:,} questions answered, {people}")
    if status.discarded_items:
        say(f"{status.discarded_items:,} {what} discarded: people could not judge them, or found them unfit")
    return say(f"Next: {status.next}")


def show_models_short(status: Status) -> None:
    """One line per model."""
    for model in status.models:
        state = "predicted" if model.predicted else "not predicted yet"
        say(f"  {model.model}: {state}" + (f", {model.unreadable:,} unreadable items" if model.unreadable else ""))
        for reason, count in model.reasons.items():
            say(f"    {count:,} × {reason}")


def show_serving(study: Path) -> Callable[[str, str], None]:
    """What to say once people can come."""

    def ready(address: str, owner_token: str) -> None:
        say(f"{study} is open at {address}")
        say(f"  dashboard   {address}/owner#{owner_token}    (this link is yours, and holds until you stop)")
        say(f"  annotators  dissensus annotators add {shlex.quote(str(study))} NAME --url {address}")
        say("Ctrl-C stops it; nothing is lost.")

    return ready


def show_links(tokens: Mapping[str, str], address: str, is_owner: bool, as_json: bool) -> None:
    """Personal links, this once."""
    page = f"{address.rstrip('/')}/{'owner' if is_owner else ''}#"
    links = {name: page + token for name, token in tokens.items()}
    if as_json:
        return show_json(links)
    for name, link in links.items():
        say(f"{name}  {link}")
    return say("Send each person their own link; it is not stored and cannot be shown again.")


def show_overview(overview: dict[str, Any], as_json: bool) -> None:
    """Annotators, side by side."""
    people = overview["annotators"]
    if as_json:
        return show_json(people)
    table = Table("annotator", "answers", "seconds", "agrees", "controls", "repeats", "skill", "state")
    for one in people:
        row = (
            one["name"] + (" (trusted)" if one["is_trusted"] else ""),
            f"{one['answers']:,}",
            "–" if one["seconds"] is None else f"{one['seconds']:g}",
            _share(one["agreement"]) + (f" of {one['compared']:,}" if one["compared"] else ""),
            _of(one["controls"], "right"),
            _of(one["repeats"], "same"),
            _share(one["skill"]),
            _state(one),
        )
        table.add_row(*map(escape, row))
    if not people:
        return say("Nobody has a link yet: dissensus annotators add")
    return out.print(table)


def show_screening(overview: dict[str, Any], excluded: list[str], as_json: bool) -> None:
    """How people do, and who should not count, with the reasons."""
    suggested = {one["name"]: one["suggestion"] for one in overview["annotators"] if one["suggestion"]}
    if as_json:
        known = {name: overview[name] for name in ("annotators", "alpha")}
        return show_json(known | {"suggested": suggested, "excluded": excluded})
    show_overview(overview, as_json=False)
    for sentence in overview["words"]:
        say(sentence)
    for one in overview["annotators"]:
        if one["exclusion"]:
            say(f"{one['name']} does not count: {one['exclusion']['reason']} (by {one['exclusion']['by']})")
    for name, reason in suggested.items():
        say(f"Suggested: leave out {name}: {reason}")
    return say("Nobody should be left out by their control questions." if not suggested and not excluded else "")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _of(result: Mapping[str, int], hits: str) -> str:
    return f"{result[hits]:,} of {result['of']:,}" if result["of"] else "–"


def _state(one: Mapping[str, Any]) -> str:
    states = {"excluded": one["exclusion"], "link revoked": one["is_revoked"], "no link": not one["has_link"]}
    return ", ".join(name for name, holds in states.items() if holds)


def show_distance(classes: Classes, one: int, other: int, name: str, value: float, as_json: bool) -> None:
    """The distance of two classes."""
    if as_json:
        return show_json({"a": classes.names[one], "b": classes.names[other], "distance": name, "value": value})
    return say(f"{classes.names[one]} – {classes.names[other]}: {value:.6f} ({name})")


def _people(count: int) -> str:
    return "one person" if count == 1 else f"{count:,} people"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
