"""report: which models falsify which others, and on which pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.attacks import other_methods, other_orders
from dissensus.competition.reporting import about_attacks, attack_duels, model_settings, round_settings
from dissensus.competition.standings import Method
from dissensus.records import JUDGED, AttackMatrices, PairSelection, Rankings
from dissensus.report.data import AttackDuel
from dissensus.report.pictures import picture_side
from dissensus.report.scores.data import DuelFigure, ScoresReport, ShownPair, Side
from dissensus.steps.pictures import Pictures
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.scores.comparing import PairEvaluation, signs_of
from dissensus.tasks.scores.failing import score_failures
from dissensus.tasks.scores.scaling import ScoreColumn, scale_of, spaced
from dissensus.tasks.scores.screening import screenings_of
from dissensus.tasks.scores.settings import ScoreSettings
from dissensus.tasks.scores.standings import PairEvidence, level_stability

SQUARES = 40
"""Bins of a duel's figure along each axis."""
DRAWN = 1 << 17
"""Maximum number of items that a figure counts; larger pools are sampled evenly."""
MOST_SKIPPED = 3
"""Maximum number of sentences about skipped levels before they are summarized."""
FIGURES = 120
"""Maximum number of figures on the page, enough for sixteen models."""


def scores_report(
    work: Workspace[ScoreSettings],
    evaluation: PairEvaluation,
    rankings: Rankings,
    evidence: PairEvidence,
    method: Method,
) -> ScoresReport:
    """The contents of the report, from the study alone."""
    settings, compared, models = work.settings, evaluation.states.compared, evaluation.models
    matrices, scaled = evidence.matrices(len(models), method), _scaled_pool(work, evaluation)
    by_method, refused = other_orders(other_methods(evidence, method), models, "pairs")
    has_same_levels = len({str(found.about["levels"]) for found in evaluation.rounds}) == 1
    return ScoresReport(
        **about_attacks(work, evaluation, rankings, matrices, *_skipped(evaluation)),
        duels=_duels(work, evaluation, matrices, scaled),
        figures=_figures(evaluation, scaled),
        question=settings.judge.question,
        screenings=screenings_of(compared, len(evaluation.question_set), settings.judge),
        levels=_level_words(evaluation.rounds[0]) if has_same_levels else (),
        stability=level_stability(evidence.attacks, len(models), method) if has_same_levels else (),
        scale=scale_words(settings),
        settings=_settings(work, evaluation) | refused,
        by_method=by_method,
        failures=score_failures(evaluation),
    )


def _level_words(found: Round[PairSelection]) -> tuple[str, ...]:
    """The ends of each level of a round on the common scale."""
    return tuple(f"{low:.0f} to {high:.0f}" for low, high in found.about["levels"])


def _level_ends(found: Round[PairSelection], scaled: Float[Array, "M S"]) -> Float[Array, "M K 2"]:
    """The ends of each level of a round on every defender's scale: levels of equal numbers of items differ."""
    ends = np.array(found.about["levels"], float)
    if found.settings["spacing"] == "even":
        return np.broadcast_to(ends, (len(scaled), *ends.shape))
    return np.quantile(scaled, ends / 100, axis=1).transpose(2, 0, 1)


def scale_words(settings: ScoreSettings) -> str:
    """A sentence about how scores were mapped to the common scale."""
    if settings.scale.ratings is None:
        return "Scores are ranks within the pool: the percentage of items that a model scores lower."
    return (
        "Each model's scores were mapped to the ratings by a monotone logistic curve, "
        f"with {settings.scale.worst:g} (worst) as 0 and {settings.scale.best:g} (best) as 100."
    )


def _duels(
    work: Workspace[ScoreSettings], evaluation: PairEvaluation, matrices: AttackMatrices, scaled: Float[Array, "M S"]
) -> tuple[AttackDuel[ShownPair], ...]:
    shown: dict[tuple[int, int], list[ShownPair]] = {}
    pictures = Pictures(work.pool, list(evaluation.item_ids), picture_side(len(evaluation.item_ids)), work.progress)
    counts, pairs = (evaluation.answered, _counted(evaluation)), evaluation.states.pairs
    for found, judged in zip(evaluation.rounds, evaluation.judged, strict=True):
        chosen, levels, signs = judged.selection, _level_words(found), signs_of(judged.selection)
        ends = _level_ends(found, scaled)
        for row in np.flatnonzero(judged.active).tolist():
            numbers, pair = judged.round_questions.questions[row], int(judged.round_questions.subject[row])
            is_judged = bool(np.all(judged.state[numbers] == JUDGED)) and bool(pairs.is_known[pair])
            source = work.settings.answers_from
            answers = [source or _answers(*(int(one[number]) for one in counts)) for number in numbers.tolist()]
            shown.setdefault((int(chosen.attacker[row]), int(chosen.defender[row])), []).append(
                ShownPair(
                    level=int(chosen.level[row]),
                    low=_side(evaluation, pictures, chosen.low, chosen.attacker_low, chosen.defender_low, row),
                    high=_side(evaluation, pictures, chosen.high, chosen.attacker_high, chosen.defender_high, row),
                    weight=int(chosen.weight[row]),
                    preference=float(signs[row] * pairs.value[pair]) if is_judged else None,
                    answers=answers[0]
                    if len(set(answers)) == 1
                    else "low: {}, high: {}".format(*answers[:: signs[row]]),
                    level_words=levels[int(chosen.level[row])],
                    band=tuple(ends[chosen.defender[row], chosen.level[row]].tolist()),
                )
            )
    return attack_duels(shown, evaluation.models, matrices, lambda pair: pair.level)


def _side(
    evaluation: PairEvaluation,
    pictures: Pictures,
    item: Int[Array, " Q"],
    attacker: Float[Array, " Q"],
    defender: Float[Array, " Q"],
    row: int,
) -> Side:
    image, pixelated = pictures.of(int(item[row]))
    return Side(evaluation.item_ids[int(item[row])], image, pixelated, float(attacker[row]), float(defender[row]))


def _counted(evaluation: PairEvaluation) -> Int[Array, " q"]:
    """The number of answers that count, for each question."""
    compared, weighed = evaluation.states.compared, evaluation.states.weighed
    return np.bincount(compared.question[weighed.weight > 0], minlength=len(evaluation.question_set))


def _answers(answered: int, counted: int) -> str:
    if answered == 0:
        return "nobody yet"
    people = "1 person" if answered == 1 else f"{answered} people"
    return people if counted == answered else f"{people}, of whom {counted} count"


def _figures(evaluation: PairEvaluation, scaled: Float[Array, "M S"]) -> tuple[DuelFigure, ...]:
    """A figure for every two models of which one attacks the other."""
    sides = [(judged.selection.attacker, judged.selection.defender) for judged in evaluation.judged]
    met = {tuple(sorted(both)) for one, other in sides for both in zip(one.tolist(), other.tolist(), strict=True)}
    made = []
    for one, other in sorted(met)[:FIGURES]:
        counts = np.histogram2d(scaled[other], scaled[one], bins=SQUARES, range=[[0, 100], [0, 100]])[0]
        made.append(DuelFigure(evaluation.models[one], evaluation.models[other], counts.astype(np.int64)))
    return tuple(made)


def _scaled_pool(work: Workspace[ScoreSettings], evaluation: PairEvaluation) -> Float[Array, "M S"]:
    """Every model's scores of evenly spaced items on the common scale, without items that some model cannot score."""
    scales = {name: scale for found in evaluation.rounds for name, scale in found.about["scales"].items()}
    positions = np.array(spaced(work.size, DRAWN))
    raw = np.stack([ScoreColumn(work.folder, work.settings, name).at(positions) for name in evaluation.models])
    raw = raw[:, ~np.isnan(raw).any(axis=0)]
    return np.stack([scale_of(scales[name])(row) for name, row in zip(evaluation.models, raw, strict=True)])


def _settings(work: Workspace[ScoreSettings], evaluation: PairEvaluation) -> dict[str, str]:
    """All settings that the numbers in the report depend on."""
    shown = round_settings(
        evaluation.rounds,
        work.settings.judge.model_dump(),
        more=lambda found: {"skipped levels": " ".join(found.words)} if found.words else {},
    )
    return shown | model_settings(work, lambda source, model: f"{source}, {model.better} is better")


def _skipped(evaluation: PairEvaluation) -> Sequence[str]:
    """Sentences about skipped levels; one summary if there are many, since the settings list them anyway."""
    words = [words for found in evaluation.rounds for words in found.words]
    if len(words) <= MOST_SKIPPED:
        return words
    return [f"{len(words):,} models had levels with fewer than two items, which were skipped; see the settings below."]
