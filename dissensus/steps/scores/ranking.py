"""rank: aggressiveness and resistance, with intervals, rank sets and their words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.competitions.attack_standings import (
    AttackMethod,
    Evidence,
    contradictions,
    disagreements,
    rank_attacks,
)
from dissensus.pairwise import attack_matrices
from dissensus.records import Attacks, Rankings
from dissensus.steps.attacks import attack_ranking, write_rankings
from dissensus.steps.scores.judging import PairHearing, screening_of
from dissensus.steps.scores.predictions import require_unchanged
from dissensus.store.folder import Folder
from dissensus.store.settings import ScoreSettings


def evidence_of(hearing: PairHearing) -> Evidence:
    """The judged attacks of all rounds, with the answers behind them."""
    parts, signs = [], []
    for judged, numbers in zip(hearing.judged, hearing.numbers, strict=True):
        rows = judged.attacks()
        parts.append(replace(rows, pair=numbers[rows.pair]))
        signs.append(judged.row_sign[judged.decided])
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in Attacks.__dataclass_fields__)
    compared = hearing.compared
    return Evidence(Attacks(*columns), np.concatenate(signs), compared.question, compared.person, hearing.weighed)


def make_rankings(folder: Folder, settings: ScoreSettings, hearing: PairHearing, method: AttackMethod) -> Rankings:
    """Both rankings of all models that compete, kept under results/.

    Raises:
        RankingError: nothing is judged yet, or the method has no estimate.
        StudyError: a model's predictions are not those that its pairs were selected by.
    """
    require_unchanged(folder, settings, hearing.rounds)
    evidence = evidence_of(hearing)
    found = rank_attacks(evidence, hearing.models, method)
    matrices = attack_matrices(evidence.attacks, len(hearing.models))
    beside = (*_limits(evidence), *_screened_out(hearing, settings))
    parameters = {"screening": screening_of(settings.judge), "judge": settings.judge.model_dump()}
    made = {
        measure: attack_ranking(folder, hearing, "pairs", one, beside, method, parameters)
        for measure, one in found.items()
    }
    standings = {name: one.standings for name, one in found.items()}
    apart = disagreements(standings, matrices, hearing.models) if len(hearing.models) > 2 else ()
    rankings = Rankings(**made, words=(*contradictions(matrices, hearing.models), *apart))
    write_rankings(folder, hearing.models, rankings, matrices)
    return rankings


def _limits(evidence: Evidence) -> tuple[str, ...]:
    """What the intervals cannot speak of: random weights of a single pair, or person, cancel in a mean."""
    attacks, words = evidence.attacks, []
    if len(attacks) and not attacks.preference.any():
        words.append("People saw no difference in any pair: no model is falsified.")
    duels = np.stack([attacks.attacker, attacks.defender], axis=1)
    if len(np.unique(duels, axis=0)) == len(duels):
        words.append(
            "No duel has more than one judged pair: intervals say how people differ, not how other pairs would end."
        )
    if len(np.unique(evidence.person)) == 1:
        words.append("One person answered: intervals say how other pairs would end, not how other people see them.")
    return tuple(words)


def _screened_out(hearing: PairHearing, settings: ScoreSettings) -> tuple[str, ...]:
    """That some pairs count for nothing, and what to do about it."""
    if not hearing.screened_out:
        return ()
    pairs = "1 pair has" if hearing.screened_out == 1 else f"{hearing.screened_out:,} pairs have"
    return (
        f"{pairs} only answers that {screening_of(settings.judge)} left out, and count for nothing: exclude these "
        "people (dissensus annotators exclude), so that others are asked.",
    )
