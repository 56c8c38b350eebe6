"""Output about rankings, reports and the status of a study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, number_words, people_words, say, say_next, show_table
from dissensus.printing.making import round_words, say_speeds, show_doubts, show_funnel, show_outdated, speeds
from dissensus.records import HEADS, LEGEND
from dissensus.report.wording import counted, fragility_words

if TYPE_CHECKING:
    from dissensus.competition.checking import Check
    from dissensus.competition.status import Status
    from dissensus.engines.speed import Pass
    from dissensus.records import Classes, Estimates, Pair, Plan, Ranking, Rankings, Replay, Standing
    from dissensus.report.data import Benchmark


MOST_PAIRS = 40
LEAST = 8
"""Letters of a model's name in a row; longer names go on in the next one."""
MAD_HEADS = ("rank", "model", "ranks")
"""What the rule `mad` says about a model."""
PLURALITY = "* agreement with the models' own plurality vote: needs no annotators, but favours models that are alike"


def show_ranking(
    ranking: Ranking,
    classes: Classes,
    consensus: Mapping[str, float] | None,
    benchmark: Benchmark | None,
    changes: Sequence[str],
    as_json: bool,
    then: str = "",
) -> None:
    """The ranking, best first; `consensus` is None for tasks without a plurality vote.

    `changes` says which settings have changed since the last ranking; `then` is a command to go on with.
    """
    beside = ranking.from_all_answers
    more = {} if beside is None else beside.strengths
    rows = [s.model_dump() | {"strength_from_all_answers": more.get(s.model)} for s in ranking.standings]
    with document(as_json, {"standings": rows}):
        for sentence in changes:
            say(sentence)
        show_table(_ranking_table(ranking, consensus, benchmark))
        if consensus is not None:
            say(PLURALITY)
        say(ranking.method_words)
        for sentence in ranking.words:
            say(sentence)
        if (fragile := ranking.fragility) is not None:
            say(fragility_words(fragile))
            for judgement in fragile.judgements[:5]:
                label = classes.names[judgement.label]
                say(f"  {judgement.annotator} answered {judgement.answer} to '{label}' on {judgement.item}")
            if len(fragile.judgements) > 5:
                say(f"  … and {len(fragile.judgements) - 5} more in results/ranking.json")
        if ranking.from_all_answers is not None:
            say(ranking.from_all_answers.words)
        if benchmark is not None and benchmark.srcc is not None:
            say(f"Spearman correlation with '{benchmark.name}': {benchmark.srcc:.2f}")
        if then:
            say_next(then)


def show_drawn(study: Path, drawn: int, as_json: bool, passes: Sequence[Pass] = ()) -> None:
    """How many questions were drawn."""
    with document(as_json, {"drawn": drawn}, speeds(passes)):
        say(f"{counted(drawn, 'question')} drawn")
        say_speeds(passes)
        say_next(f"dissensus serve {shlex.quote(str(study))}")


def show_plan(plan: Plan, as_json: bool, passes: Sequence[Pass] = ()) -> None:
    """What can be decided, and what it costs."""
    with document(as_json, plan, speeds(passes)):
        for one in plan.milestones:
            say(one.words)
        for sentence in plan.words:
            say(sentence)
        columns = [Column(name, justify="right") for name in ("questions", "likely range", "answers", "minutes")]
        table = Table("until", *columns)
        for one in plan.milestones:
            if one.is_reached:
                table.add_row(one.until, "known", "", "", "")
                continue
            span = f"{one.low:,}–{one.high:,}" if one.low < one.high else f"{one.low:,}"
            table.add_row(one.until, f"{one.questions:,}", span, f"{one.answers:,}", f"{max(one.minutes, 1):,.0f}")
        show_table(table)
        say_speeds(passes)


def show_estimates(found: Estimates, as_json: bool, passes: Sequence[Pass] = ()) -> None:
    """Who is most often right, the main answer first."""
    with document(as_json, found, speeds(passes)):
        for sentence in found.words:
            say(sentence)
        if not found.answers:
            return say_speeds(passes)
        columns = [
            Column(name, justify="right") for name in ("accuracy", f"{100 * found.level:g} % interval", "P(best)")
        ]
        table = Table("model", *columns)
        for one in found.models:
            table.add_row(
                escape(one.model), f"{one.accuracy:.3f}", f"{one.low:.3f}–{one.high:.3f}", f"{one.p_best:.2f}"
            )
        show_table(table)
        if found.draws or found.decided:
            _show_pairs(found.pairs)
        return say_speeds(passes)


def _show_pairs(pairs: Sequence[Pair]) -> None:
    """What is decided about each pair, the closest ones last."""
    table = Table("pair", Column("difference", justify="right"), "bounds", "pair by pair", "bounds", "all at once")
    for one in sorted(pairs, key=lambda pair: -abs(pair.difference))[:MOST_PAIRS]:
        sides = [
            (f"{number_of(low)}…{number_of(high)}", state)
            for low, high, state in (
                (one.low, one.high, one.state),
                (one.low_at_once, one.high_at_once, one.state_at_once),
            )
        ]
        cells = [cell for side in sides for cell in side]
        table.add_row(escape(f"{one.first} – {one.second}"), number_of(one.difference), *cells)
    show_table(table)
    if len(pairs) > MOST_PAIRS:
        say(f"not shown: {counted(len(pairs) - MOST_PAIRS, 'pair')}; --json has all of them")
    say("differences in points, by the draws alone; bounds hold at any number of looks")


def number_of(share: float) -> str:
    """A difference in points."""
    return f"{100 * share:z.1f}".replace("-", "−")


def show_rankings(rankings: Rankings, changes: Sequence[str], as_json: bool) -> None:
    """Both rankings, by aggressiveness and by resistance, each best first."""
    found = {name: [s.model_dump() for s in ranking.standings] for name, ranking in rankings.measures.items()}
    with document(as_json, found):
        for sentence in changes:
            say(sentence)
        for name, ranking in rankings.measures.items():
            level = f"{100 * ranking.provenance.parameters['level']:g} % bar"
            table = _standings_table(level, name.capitalize())
            for standing in ranking.standings:
                interval = f"{number_words(standing.low)}…{number_words(standing.high)}"
                table.add_row(
                    *map(escape, (place(standing), standing.model, number_words(standing.strength), interval))
                )
            show_table(table)
            for sentence in ranking.words:
                say(sentence)
        say(rankings.aggressiveness.method_words)
        for sentence in rankings.words:
            say(sentence)


def _ranking_table(ranking: Ranking, consensus: Mapping[str, float] | None, benchmark: Benchmark | None) -> Table:
    level = f"{100 * ranking.provenance.parameters['level']:g} % bar"
    table = _standings_table(level)
    if consensus is not None:
        table.add_column("plurality*", justify="right", no_wrap=True)
    if benchmark is not None:
        table.add_column(escape(benchmark.name), justify="right", overflow="fold")
    for standing in ranking.standings:
        row = [place(standing), standing.model, number_words(standing.strength)]
        row.append(f"{number_words(standing.low)}…{number_words(standing.high)}")
        if consensus is not None:
            row.append(f"{100 * consensus.get(standing.model, 0):.1f} %")
        if benchmark is not None:
            score = benchmark.scores.get(standing.model)
            row.append("–" if score is None else f"{score:.4g}")
        table.add_row(*map(escape, row))
    return table


def _standings_table(level: str, title: str | None = None) -> Table:
    """Only names wrap, so that numbers can be read on a narrow terminal."""
    numbers = (Column(head, justify="right", no_wrap=True) for head in ("strength", level))
    columns = (Column("rank", no_wrap=True), Column("model", overflow="fold", min_width=LEAST), *numbers)
    return Table(*columns, title=title, title_justify="left")


def place(standing: Standing) -> str:
    """'2' or '2–4': the ranks that the judgements do not rule out."""
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}–{high}"


def show_replay(replay: Replay, as_json: bool) -> None:
    """The main answer, and a table for every budget."""
    with document(as_json, replay):
        for sentence in replay.words:
            say(sentence)
        shown: set[int] = set()
        for found in replay.budgets:
            if found.answers in shown:  # no more answers than at the last budget
                continue
            shown.add(found.answers)
            say("")
            for sentence in found.words:
                say(sentence)
            kept = [place for place, head in enumerate(HEADS) if replay.rule != "mad" or head in MAD_HEADS]
            table = Table(*(HEADS[place] for place in kept), *(["all"] if replay.accuracies else []))
            for row, one in zip(found.rows, found.models, strict=True):
                known = replay.accuracies.get(one.model)
                truth = [] if known is None else [f"{100 * known:.1f}"]
                table.add_row(*map(escape, (*(row[place] for place in kept), *truth)))
            show_table(table)
            if found.correlation is not None:
                say(f"Spearman correlation with the order by all recorded answers: {found.correlation:.2f}")
        say("")
        say(f"{LEGEND}{'; all: accuracy by all recorded answers, in %' if replay.accuracies else ''}")


def show_report(path: Path, changes: Sequence[str], as_json: bool) -> None:
    with document(as_json, {"report": str(path)}):
        for sentence in changes:
            say(sentence)
        say(f"report: {path}")


def show_status(status: Status, as_json: bool) -> None:
    with document(as_json, status):
        classes = f"{counted(status.classes, 'class', 'classes')}, " if status.classes else ""
        from dissensus.tasks import TASKS

        what = TASKS[status.task].noun
        say(f"{status.study}: task {status.task}, {classes}{counted(status.pool, 'item')}")
        if status.models:
            show_models_short(status)
        for one in status.rounds:
            say(round_words(one, what))
        if status.rounds and not status.answers:  # the last round can still be selected with other settings
            show_funnel(status.rounds[-1])
        answered = status.questions - status.open_questions
        people = f"{counted(status.judgements, 'judgement')} by {people_words(status.annotators)}"
        say(f"{answered:,} of {counted(status.questions, 'question')} answered, {people}")
        if status.drawn:
            say(f"{status.drawn_answered:,} of {counted(status.drawn, 'question')} drawn at random answered")
        for sentence in status.decided:
            say(sentence)
        if status.discarded_items:
            discarded = counted(status.discarded_items, what.removesuffix("s"))
            say(f"{discarded} discarded: unfit, uncertain, or the picture is missing")
        for sentence in status.changes:
            say(sentence)
        say_next(status.next)


def show_models_short(status: Status) -> None:
    """One line per model."""
    for model in status.models:
        state = "predicted with different settings" if model.changed else "predicted"
        if not model.predicted:
            some = f"has predicted {model.items:,} of {counted(status.pool, 'item')}"
            state = some if model.items else "not predicted yet"
        missing = f", without {counted(model.unreadable, 'item')}:" if model.unreadable else ""
        say(f"  {model.model}: {state}{missing}")
        for reason, count in model.reasons.items():
            say(f"    {count:,} × {reason}")
    show_outdated(status)
    show_doubts(status)


def show_backup(study: Path, dest: Path, answers: int, as_json: bool) -> None:
    with document(as_json, {"study": str(study), "copy": str(dest), "answers": answers}):
        say(f"{dest}: a complete copy of {study} with {counted(answers, 'answer')}")


def show_check(check: Check, as_json: bool) -> None:
    """Whether the study is intact, or one line per problem."""
    with document(as_json, check, {"whole": check.is_whole}):
        for line in check.problems:
            say(line)
        if check.unlisted:
            some = ", ".join(check.unlisted[:3]) + (" …" if len(check.unlisted) > 3 else "")
            say(
                f"no checksum for {counted(len(check.unlisted), 'file')} ({some}): from an older version, or after a "
                f"power cut; to trust the files as they are, run dissensus check {check.study} --record"
            )
        if check.is_whole:
            files = counted(check.files, "file matches its checksum", "files match their checksums")
            say(f"{check.study} is intact: {files}, and the answers are undamaged")


def show_distance(classes: Classes, one: int, other: int, name: str, value: float, as_json: bool) -> None:
    with document(as_json, {"a": classes.names[one], "b": classes.names[other], "distance": name, "value": value}):
        say(f"{classes.names[one]} – {classes.names[other]}: {value:.6f} ({name})")
