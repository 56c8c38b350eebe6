"""replay: recorded answers, played as if people were being asked now, by one of several rules.

* `adaptive`: the questions whose answers would decide most, drawn with known probabilities (`planning`)
* `random`: any question of the pool, each as likely as any other, and plain means
* `disagree`: the same among items on which models disagree
* `mad`: the study's own selection, in order of rank, and its own ranking
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from dissensus.arrays import Array, Float
from dissensus.competition.select import competing
from dissensus.errors import PlanningError, StudyError
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.decisions import Bands, Until, decisions
from dissensus.planning.draws import GOALS, Goal
from dissensus.planning.guard import guarded
from dissensus.planning.plain import plain_replay
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay as planned_replay
from dissensus.planning.replay import sizes_of_batches
from dissensus.records import Pair, Replay, ReplayedBudget, ReplayedModel, Selection
from dissensus.report.wording import counted, percent
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import read_rounds
from dissensus.tasks.labels.deciding import compared_pairs, named, reached_in_words, target_in_words
from dissensus.tasks.labels.recording import Recording, recording, states_in_words
from dissensus.tasks.labels.replaying_rounds import play_rounds
from dissensus.tasks.labels.settings import LabelSettings

BUDGETS = (250, 700, 2000)


@dataclass(frozen=True)
class Played:
    """What a rule found after some answers: models best first, what is decided, and the study's own ranking."""

    answers: int
    models: tuple[ReplayedModel, ...]
    best: str | None
    decided: tuple[tuple[str, str], ...]
    undecided: int
    tied: tuple[tuple[str, str], ...] = ()
    pairs: tuple[Pair, ...] = ()
    reached: str | None = None
    """What is decided, in words, once it is what was wanted."""
    ranking: tuple[str, ...] | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setup:
    """What every rule gets."""

    work: Workspace[LabelSettings]
    found: Recording
    budgets: Sequence[int]
    seed: int
    goal: Goal
    until: Until | None = None

    def ends(self, questions: int) -> list[int]:
        """When to look: at each budget, and to find out when to stop, whenever one may plan again."""
        budgets = sorted({min(budget, questions) for budget in self.budgets or [questions]})
        return budgets if self.until is None else sizes_of_batches(budgets)


Rule = Callable[[Setup], tuple[int, Iterable[Played]]]
"""Returns how many questions there are, and what is known at each budget; the last entry may have fewer answers."""


def replay(
    work: Workspace[LabelSettings],
    path: Path,
    budgets: Sequence[int] | None,
    rule: str,
    goal: str | None,
    seed: int,
    format: str | None = None,
    annotator: str | None = None,
    until: str | None = None,
) -> Replay:
    """Play the answers of a file; nothing is written.

    Raises:
        StudyError: the rule or the goal is unknown, or a budget is not a positive whole number.
        JudgementError: the file cannot be read, or has no answers that count.
        PlanningError: the answers cover nothing, or the models agree on all of it.
        SelectionError: there are fewer than two models.
    """
    target = None if until is None else Until.parsed(until)
    goal = goal or ("order" if target is None else target.goal)
    if budgets is None:
        budgets = BUDGETS if target is None else ()
    budgets = sorted(set(budgets))
    _check(budgets, rule, goal, seed, target)
    met, _ = read_rounds(work.folder, Selection)
    models = competing(work, met)
    check_same_pool(work.folder, models)
    found = recording(work, models, path, format, annotator)
    setup = Setup(work, found, sorted(set(budgets)), seed, "best" if goal == "best" else "order", target)
    if rule != "mad" and not len(found):
        needed = "a class" if found.verdicts.kind == "pick" else "a verdict on every label that a model predicts for it"
        raise PlanningError(
            f"{path} covers no item of the pool: none has {needed}; "
            f"{states_in_words(found.verdicts, work.settings.judge)}"
        )
    questions, looks = RULES[rule](setup)
    played = list(_until_reached(looks))
    last = played[-1]
    if last.reached is not None or not budgets:
        budgets = [*(budget for budget in budgets if budget < last.answers), last.answers]
    budget_of = [(budget, next((one for one in played if one.answers >= budget), last)) for budget in budgets]
    shown = tuple(_budget(budget, one, found.accuracies) for budget, one in sorted(budget_of, key=lambda pair: pair[0]))
    return Replay(
        pool=len(found),
        left_out=work.size - len(found),
        questions=questions,
        kind=found.verdicts.kind,
        rule=rule,
        goal=goal,
        until=None if target is None else str(target),
        reached=None if last.reached is None else last.answers,
        seed=seed,
        level=work.settings.rank.level,
        accuracies=found.accuracies,
        budgets=shown,
        words=tuple(_words(setup, rule, questions, shown, last)),
    )


def _until_reached(looks: Iterable[Played]) -> Iterator[Played]:
    for one in looks:
        yield one
        if one.reached is not None:
            return


def parsed_budgets(text: str) -> list[int]:
    """Numbers of answers, separated by commas.

    Raises:
        StudyError: one of them is not a whole number.
    """
    words = [word.strip().replace("_", "") for word in text.split(",")]
    wrong = [word for word in words if not (word.isascii() and word.isdecimal() and len(word) < 19)]
    if wrong:
        raise StudyError(f"the budget '{wrong[0]}' is not a whole number: write numbers of answers like 250,700,2000")
    return list(map(int, words))


def _check(budgets: Sequence[int], rule: str, goal: str, seed: int, until: Until | None) -> None:
    if rule not in RULES:
        raise StudyError(f"'{rule}' is not a rule: choose one of {', '.join(RULES)}")
    if goal not in GOALS:
        raise StudyError(f"'{goal}' is not a goal: choose one of {', '.join(GOALS)}")
    if seed < 0:
        raise StudyError(f"the seed is {seed}: give a whole number from 0 on")
    if until is not None and rule == "mad":
        raise StudyError(
            "the rule mad cannot stop by itself: its rank sets do not hold if you stop when you like the result; "
            "leave out --until"
        )
    if (not budgets and until is None) or any(budget < 1 for budget in budgets):
        wrong = next((budget for budget in budgets if budget < 1), "missing")
        raise StudyError(f"the budget is {wrong}: give positive numbers of answers, such as 250,700,2000")


def adaptive(setup: Setup) -> tuple[int, Iterator[Played]]:
    """What the planner would ask."""
    cases, truth = setup.found.cases()
    is_pick = setup.found.verdicts.kind == "pick"
    planner = Planner(cases, is_whole=is_pick, is_exclusive=is_pick, goal=setup.goal)
    every, level = int(planner.items.sum()), setup.work.settings.rank.level
    ends = setup.ends(every)

    def looks() -> Iterator[Played]:
        for look in planned_replay(planner, truth, ends, setup.seed):
            setup.work.progress("replaying", look.answers, ends[-1])
            found = guarded(look.known, look.ledger, look.answers == every)
            decided = decisions(cases, look.ledger, look.known.mean, look.left, level)
            yield _played(setup, look.answers, found.known, *found.interval(level), decided)

    return every, looks()


def at_random(setup: Setup, is_contested: bool = False) -> tuple[int, Iterator[Played]]:
    """Any question, and plain means."""
    cases, truth = setup.found.cases()
    planner = Planner(cases, is_whole=setup.found.verdicts.kind == "pick")
    is_open = ~cases.is_agreed[planner.start] if is_contested else np.ones(len(planner.start), bool)
    every, level = int(planner.items[is_open].sum()), setup.work.settings.rank.level

    def looks() -> Iterator[Played]:
        for look in plain_replay(planner, truth, setup.ends(every), setup.seed, is_contested, level):
            known = Accuracies(look.mean, look.covariance, ())
            left = cases.items[cases.pattern] * (look.answers < every)
            found = decisions(cases, look.ledger, look.mean, left, level)
            yield _played(setup, look.answers, known, look.low, look.high, found)

    return every, looks()


def mad(setup: Setup) -> tuple[int, Iterator[Played]]:
    """The study's own selection and ranking."""
    every, looks = play_rounds(setup.work, setup.found, setup.budgets)
    pairs = len(setup.found.models) * (len(setup.found.models) - 1) // 2

    def played() -> Iterator[Played]:
        for look in looks:
            models = tuple(
                ReplayedModel(model=name, accuracy=None, low=None, high=None, p_best=None, rank=place)
                for name, place in look.ranks.items()
            )
            undecided = pairs - len(look.decided)
            ranking = tuple(look.ranks) if look.problem is None else None
            yield Played(look.answers, models, look.best, look.decided, undecided, ranking=ranking, words=look.words)

    return every, played()


RULES: dict[str, Rule] = {
    "adaptive": adaptive,
    "random": at_random,
    "disagree": lambda setup: at_random(setup, is_contested=True),
    "mad": mad,
}


def _played(
    setup: Setup,
    answers: int,
    known: Accuracies,
    low: Float[Array, " M"],
    high: Float[Array, " M"],
    found: Bands,
) -> Played:
    names, until, chance = setup.found.models, setup.until, known.best()
    order = sorted(range(len(names)), key=lambda model: (-known.mean[model], model))
    models = tuple(
        ReplayedModel(
            model=names[model],
            accuracy=float(known.mean[model]),
            low=float(low[model]),
            high=float(high[model]),
            p_best=float(chance[model]),
            rank=rank,
        )
        for rank, model in enumerate(order, start=1)
    )
    pairs, best = compared_pairs(names, order, found, 0.0 if until is None else until.margin), found.best()
    mean = dict(zip(names, known.mean.tolist(), strict=True))
    against = [pair for pair in named(pairs, "decided") if mean[pair[0]] < mean[pair[1]]]
    is_reached = until is not None and found.settle(until)
    return Played(
        answers,
        models,
        None if best is None else names[best],
        named(pairs, "decided"),
        len(named(pairs, "undecided")),
        named(pairs, "tied"),
        pairs,
        reached_in_words(names, found, until) if until is not None and is_reached else None,
        words=() if not against else (_contradiction(against),),
    )


def _contradiction(against: Sequence[tuple[str, str]]) -> str:
    one, other = against[0]
    more = f" (and {counted(len(against) - 1, 'other pair')})" if len(against) > 1 else ""
    return f"The draws alone decide for {one} against {other}{more}, unlike the accuracies: trust the draws."


def _budget(budget: int, one: Played, accuracies: dict[str, float]) -> ReplayedBudget:
    return ReplayedBudget(
        budget=budget,
        answers=one.answers,
        models=one.models,
        best=one.best,
        decided=one.decided,
        tied=one.tied,
        undecided=one.undecided,
        pairs=one.pairs,
        hardest_to_falsify=one.ranking,
        correlation=_correlation(one.models, accuracies),
        words=(_state(one), *_together(one), *one.words),
    )


def _correlation(models: Sequence[ReplayedModel], accuracies: dict[str, float]) -> float | None:
    """Spearman correlation with the accuracies by all answers; None if either order is missing or all models tie."""
    placed = [(one.rank, accuracies[one.model]) for one in models if one.rank is not None and one.model in accuracies]
    ranks, values = zip(*placed, strict=True) if placed else ((), ())
    if len(set(ranks)) < 2 or len(set(values)) < 2:
        return None
    return float(spearmanr([-rank for rank in ranks], values).statistic)


def _state(one: Played) -> str:
    """What is known at one budget, in a sentence or two."""
    pairs = len(one.models) * (len(one.models) - 1) // 2
    after = f"After {counted(one.answers, 'answer')}"
    settled = f"{len(one.decided):,} of {counted(pairs, 'pair')} of models {'is' if pairs == 1 else 'are'} decided."
    leader = one.models[0]
    if leader.rank is None:
        return f"{after}, the models cannot be ranked yet."
    if one.best is not None:
        return f"{after}, {one.best} is the best model. {settled}"
    if leader.p_best is None:
        return f"{after}, {leader.model} is first, but others may be. {settled}"
    likely = sorted(one.models, key=lambda model: -(model.p_best or 0.0))
    second = f", {likely[1].model} {percent(likely[1].p_best or 0.0)}" if len(likely) > 1 else ""
    return (
        f"{after}, which model is best is not decided; the most likely is {likely[0].model} "
        f"({percent(likely[0].p_best or 0.0)}{second}). {settled}"
    )


def _together(one: Played) -> tuple[str, ...]:
    """How much of what is decided about each pair by itself holds for all pairs at once."""
    decided = sum(pair.state_at_once == "decided" for pair in one.pairs)
    if len(one.pairs) < 2 or decided == len(one.decided):
        return ()
    return (f"For all pairs at once, {decided:,} of these decisions hold.",)


def _words(setup: Setup, rule: str, questions: int, shown: Sequence[ReplayedBudget], end: Played) -> Iterator[str]:
    """The main answer first, then what was played."""
    last, left_out = shown[-1], setup.work.size - len(setup.found)
    first = next((one for one in shown if one.best is not None and one.best == last.best), None)
    where = f" (on the {len(setup.found):,} of {setup.work.size:,} items that the answers cover)" if left_out else ""
    if setup.until is not None and end.reached is not None:
        yield f"{counted(end.answers, 'answer')} {'is' if end.answers == 1 else 'are'} enough: {end.reached}{where}."
    elif setup.until is not None:
        verb = "are" if setup.until.what == "differences" else "is"
        what = target_in_words(setup.until)
        yield f"{what[0].upper()}{what[1:]} {verb} not known after {counted(end.answers, 'answer')}{where}."
    elif first is None:
        yield f"Which model is best is not decided after {counted(last.answers, 'answer')}{where}."
    else:
        yield f"{last.best} is the best model: {counted(first.answers, 'answer')} decide it{where}."
    about = "answer to 'which class is it?'" if setup.found.verdicts.kind == "pick" else "verdict on every label"
    asked = f"{counted(questions, 'question')} {'selected from' if rule == 'mad' else 'about'}"
    rest = f"; {counted(left_out, 'other item')} without a recorded {about} left out" if left_out else ""
    pool = counted(len(setup.found), "item")
    yield f"Replayed by the rule {rule} with seed {setup.seed}: {asked} {pool}{rest}."
    if last.answers < last.budget:
        yield f"There are no more than {counted(last.answers, 'answer')} to play: larger budgets end there."
    if rule == "disagree":
        yield (
            "Nobody is asked about items on which all models agree: they count as right in accuracies, and intervals "
            "span both cases. Differences between models do not depend on them."
        )
