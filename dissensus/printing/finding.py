"""Output about rankings, reports and the status of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import number_words, out, people_words, say, show_json
from dissensus.printing.making import round_words, show_funnel, show_outdated
from dissensus.records import HEADS, LEGEND
from dissensus.report.wording import counted, fragility_words

if TYPE_CHECKING:
    from dissensus.competition.checking import Check
    from dissensus.competition.status import Status
    from dissensus.records import Classes, Estimates, Pair, Plan, Ranking, Rankings, Replay, Standing
    from dissensus.report.data import Benchmark


MOST_PAIRS = 40
MAD_HEADS = ("rank", "model", "ranks")
"""What the rule `mad` says about a model."""


def show_ranking(
    ranking: Ranking,
    classes: Classes,
    consensus: Mapping[str, float] | None,
    benchmark: Benchmark | None,
    as_json: bool,
) -> None:
    """The ranking, best first; `consensus` is None for tasks without a plurality vote."""
    if as_json:
        beside = ranking.from_all_answers
        more = {} if beside is None else beside.strengths
        rows = [s.model_dump() | {"strength_from_all_answers": more.get(s.model)} for s in ranking.standings]
        return show_json(rows)
    out.print(_ranking_table(ranking, consensus, benchmark))
    if consensus is not None:
        say("* agreement with the models' own plurality vote: needs no annotators, but favours models that are alike")
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
    return None


def show_drawn(study: Path, drawn: int, as_json: bool) -> None:
    """How many questions were drawn."""
    if as_json:
        return show_json({"drawn": drawn})
    return say(f"{counted(drawn, 'question')} drawn. Next: dissensus serve {study}")


def show_plan(plan: Plan, as_json: bool) -> None:
    """What can be decided, and what it costs."""
    if as_json:
        return show_json(plan.model_dump(mode="json"))
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
    return out.print(table)


def show_estimates(found: Estimates, as_json: bool) -> None:
    """Who is most often right, the main answer first."""
    if as_json:
        return show_json(found.model_dump())
    for sentence in found.words:
        say(sentence)
    if not found.answers:
        return None
    columns = [Column(name, justify="right") for name in ("accuracy", f"{100 * found.level:g} % interval", "P(best)")]
    table = Table("model", *columns)
    for one in found.models:
        table.add_row(escape(one.model), f"{one.accuracy:.3f}", f"{one.low:.3f}–{one.high:.3f}", f"{one.p_best:.2f}")
    out.print(table)
    return _show_pairs(found.pairs) if found.draws or found.decided else None


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
    out.print(table)
    if len(pairs) > MOST_PAIRS:
        say(f"{len(pairs) - MOST_PAIRS:,} pairs are not shown: --json has all of them")
    return say("differences in points, by the draws alone; bounds hold at any number of looks")


def number_of(share: float) -> str:
    """A difference in points."""
    return f"{100 * share:z.1f}".replace("-", "−")


def show_rankings(rankings: Rankings, as_json: bool) -> None:
    """Both rankings, by aggressiveness and by resistance, each best first."""
    if as_json:
        found = {name: [s.model_dump() for s in ranking.standings] for name, ranking in rankings.measures.items()}
        return show_json(found | {"words": rankings.words})
    for name, ranking in rankings.measures.items():
        level = f"{100 * ranking.provenance.parameters['level']:g} % bar"
        table = Table("rank", "model", name, level)
        for standing in ranking.standings:
            interval = f"{number_words(standing.low)} … {number_words(standing.high)}"
            table.add_row(*map(escape, (place(standing), standing.model, number_words(standing.strength), interval)))
        out.print(table)
        for sentence in ranking.words:
            say(sentence)
    for sentence in rankings.words:
        say(sentence)
    return None


def _ranking_table(ranking: Ranking, consensus: Mapping[str, float] | None, benchmark: Benchmark | None) -> Table:
    level = f"{100 * ranking.provenance.parameters['level']:g} % bar"
    table = Table("rank", "model", ranking.provenance.method, level)
    if consensus is not None:
        table.add_column("plurality*")
    if benchmark is not None:
        table.add_column(escape(benchmark.name))
    for standing in ranking.standings:
        row = [place(standing), standing.model, number_words(standing.strength)]
        row.append(f"{number_words(standing.low)} … {number_words(standing.high)}")
        if consensus is not None:
            row.append(f"{100 * consensus.get(standing.model, 0):.1f} %")
        if benchmark is not None:
            score = benchmark.scores.get(standing.model)
            row.append("–" if score is None else f"{score:.4g}")
        table.add_row(*map(escape, row))
    return table


def place(standing: Standing) -> str:
    """'2' or '2–4': the ranks that the judgements do not rule out."""
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}–{high}"


def show_replay(replay: Replay, as_json: bool) -> None:
    """The main answer, and a table for every budget."""
    if as_json:
        return show_json(replay.model_dump(mode="json"))
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
        out.print(table)
        if found.correlation is not None:
            say(f"Spearman correlation with the order by all recorded answers: {found.correlation:.2f}")
    say("")
    say(f"{LEGEND}{'; all: accuracy by all recorded answers, in %' if replay.accuracies else ''}")
    return None


def show_report(path: Path, as_json: bool) -> None:
    if as_json:
        return show_json({"report": str(path)})
    return say(f"report: {path}")


def show_status(status: Status, as_json: bool) -> None:
    if as_json:
        return show_json(status.model_dump())
    classes = f"{status.classes:,} classes, " if status.classes else ""
    from dissensus.tasks import TASKS

    what = TASKS[status.task].noun
    say(f"{status.study}: task {status.task}, {classes}{status.pool:,} items")
    if status.models:
        show_models_short(status)
    for one in status.rounds:
        say(round_words(one, what))
    if status.rounds and not status.answers:  # the last round can still be selected with other settings
        show_funnel(status.rounds[-1])
    answered = status.questions - status.open_questions
    people = f"{status.judgements:,} judgements by {people_words(status.annotators)}"
    say(f"{answered:,} of {status.questions:,} questions answered, {people}")
    if status.drawn:
        say(f"{status.drawn_answered:,} of {counted(status.drawn, 'question')} drawn at random answered")
    for sentence in status.decided:
        say(sentence)
    if status.discarded_items:
        say(f"{status.discarded_items:,} {what} discarded: unfit, uncertain, or the picture is missing")
    for sentence in status.changes:
        say(sentence)
    return say(f"Next: {status.next}")


def show_models_short(status: Status) -> None:
    """One line per model."""
    for model in status.models:
        state = "predicted with different settings" if model.changed else "predicted"
        state = state if model.predicted else "not predicted yet"
        missing = f", without {counted(model.unreadable, 'item')}:" if model.unreadable else ""
        say(f"  {model.model}: {state}{missing}")
        for reason, count in model.reasons.items():
            say(f"    {count:,} × {reason}")
    show_outdated(status)


def show_check(check: Check, as_json: bool) -> None:
    """Whether the study is intact, or one line per problem."""
    if as_json:
        return show_json(check.model_dump() | {"whole": check.is_whole})
    for line in check.problems:
        say(line)
    if check.unlisted:
        some = ", ".join(check.unlisted[:3]) + (" …" if len(check.unlisted) > 3 else "")
        say(
            f"{len(check.unlisted):,} files have no checksum ({some}): from an older version, or after a power cut; if "
            f"you trust them, run dissensus check {check.study} --record"
        )
    if check.is_whole:
        say(f"{check.study} is intact: {check.files:,} files match their checksums, and the answers are undamaged")
    return None


def show_distance(classes: Classes, one: int, other: int, name: str, value: float, as_json: bool) -> None:
    if as_json:
        return show_json({"a": classes.names[one], "b": classes.names[other], "distance": name, "value": value})
    return say(f"{classes.names[one]} – {classes.names[other]}: {value:.6f} ({name})")
