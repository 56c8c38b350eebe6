"""report: everything the study knows, on one page; and the answer sheet for those who answer without the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.competitions.labels import Judged
from dissensus.competitions.standings import matrices, stability
from dissensus.engines.local import Progress
from dissensus.errors import RankingError
from dissensus.ranking import RANKERS
from dissensus.records import ANSWERS, Classes, Judgement, Ranking, Tally
from dissensus.report.data import Benchmark, DuelGallery, ReportData, Shown
from dissensus.screening import YES, Told, panel_agreement
from dissensus.steps.answers import study_database
from dissensus.steps.labels.judging import Hearing, answer_counts
from dissensus.steps.labels.ranking import make_ranking, method_of
from dissensus.steps.pictures import THUMBNAIL, Pictures
from dissensus.steps.pooling import pool_size
from dissensus.steps.pools import open_pool
from dissensus.steps.predicting import check_same_pool
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.rounds import Round
from dissensus.store.settings import LabelSettings

SHOWN = 30  # judged items of a duel that its gallery shows


def report_data(
    folder: Folder,
    settings: LabelSettings,
    classes: Classes,
    hearing: Hearing,
    ranking: Ranking,
    consensus: Mapping[str, float],
    benchmark: Benchmark | None,
    progress: Progress,
) -> ReportData:
    """What the page shows, from the study folder alone."""
    method = method_of(settings.rank, ranking.provenance.method)
    outcomes = hearing.outcomes
    compared = matrices(outcomes, len(hearing.models), method)
    judgements, annotators = Judgements(study_database(folder, settings)).counts()
    stamps = check_same_pool(folder, hearing.models)
    others, refused = _other_rankings(folder, settings, hearing, ranking)
    return ReportData(
        title=settings.title or folder.root.resolve().name,
        models=tuple(hearing.models),
        ranking=ranking,
        other_rankings=others,
        tally=compared.tally,
        accuracy=compared.accuracy,
        dominance=compared.dominance,
        consensus=consensus,
        stability=stability(outcomes, len(hearing.models), method),
        duels=_galleries(folder, classes, hearing, compared.tally, progress),
        pool_size=pool_size(folder),
        questions=len(hearing.asked),
        judgements=sum(len(hearing.answers.get(question, ())) for question in hearing.asked),
        annotators=len({j.annotator for q in hearing.asked for j in hearing.answers.get(q, ())}),
        discarded=hearing.discarded,
        unreadable=max(stamp["unreadable"] for stamp in stamps.values()),
        settings=_settings(settings, hearing, judgements, annotators) | refused,
        notes=(*settings.notes, *_left_out(hearing)),
        benchmark=benchmark,
        label_names=dict(enumerate(classes.names)),
    )


def _other_rankings(
    folder: Folder, settings: LabelSettings, hearing: Hearing, ranking: Ranking
) -> tuple[dict[str, Ranking], dict[str, str]]:
    """Rankings by the other methods, and why some have none for these judgements."""
    others, refused = {}, {}
    for name in RANKERS:
        if name != ranking.provenance.method:
            try:
                others[name] = make_ranking(folder, hearing, method_of(settings.rank, name))
            except RankingError as error:
                refused[f"rank by {name}"] = f"no estimate: {error}"
    return others, refused


def _galleries(
    folder: Folder, classes: Classes, hearing: Hearing, cases: Tally, progress: Progress
) -> tuple[DuelGallery, ...]:
    shown: dict[tuple[int, int], list[Shown]] = {}
    pictures = Pictures(open_pool(folder), list(hearing.item_ids), THUMBNAIL, progress)
    for found, judged in zip(hearing.rounds, hearing.judged, strict=True):
        for row in np.flatnonzero(judged.decided).tolist():
            of_duel = shown.setdefault((int(found.selection.first[row]), int(found.selection.second[row])), [])
            if len(of_duel) < SHOWN:
                of_duel.append(_shown(found, judged, row, classes, hearing, pictures))
    return tuple(
        DuelGallery(
            first=hearing.models[one],
            second=hearing.models[other],
            shown=tuple(of_duel),
            judged=int(cases.items[one, other]),
            both=int(cases.both[one, other]),
            first_only=int(cases.only[one, other]),
            second_only=int(cases.only[other, one]),
            neither=int(cases.neither[one, other]),
        )
        for (one, other), of_duel in shown.items()
    )


def _shown(
    found: Round,
    judged: Judged,
    row: int,
    classes: Classes,
    hearing: Hearing,
    pictures: Pictures,
) -> Shown:
    item = int(found.selection.item[row])
    labels = [int(label) for label in judged.questions[judged.row_questions[row], 1]]
    right = judged.verdicts[judged.row_questions[row]] == YES
    image, pixelated = pictures.of(item)
    return Shown(
        item=found.items[row],
        image=image,
        pixelated=pixelated,
        first_label=classes.names[labels[0]],
        second_label=classes.names[labels[1]],
        first_right=bool(right[0]),
        second_right=bool(right[1]),
        discrepancy=float(found.selection.discrepancy[row]),
        first_confidence=found.confidences[0][row],
        second_confidence=found.confidences[1][row],
        first_answers=answers_in_words(hearing.answers[item, labels[0]]),
        second_answers=answers_in_words(hearing.answers[item, labels[1]]),
    )


def answers_in_words(answers: Sequence[Judgement]) -> str:
    """'4 yes, 1 no'."""
    counts = answer_counts(list(answers))
    return ", ".join(f"{count} {answer}" for answer, count in zip(ANSWERS, counts, strict=True) if count)


def _settings(settings: LabelSettings, hearing: Hearing, judgements: int, annotators: int) -> dict[str, str]:
    """Every setting that the page's numbers depend on."""
    shown = {
        f"round {found.number}: {name}": _text(value)
        for found in hearing.rounds
        for name, value in found.settings.items()
    }
    shown |= {f"judge: {name}": _text(value) for name, value in settings.judge.model_dump().items()}
    for name, model in settings.models.items():
        shown[f"model {name}"] = f"{model.backend}:{model.target}"
        if model.backend != "file":
            preprocess = settings.preprocess | model.preprocess
            shown[f"model {name}: preprocess"] = ", ".join(f"{k} = {v}" for k, v in preprocess.items()) or "defaults"
    return shown | {
        "judgements stored": f"{judgements:,}",
        "people who gave them": f"{annotators:,}",
        "agreement of those who count": agreement_in_words(hearing),
    }


def agreement_in_words(hearing: Hearing) -> str:
    """Krippendorff's alpha of all answers that count, or why there is none."""
    people: dict[str, int] = {}
    rows = [
        (number, people.setdefault(judgement.annotator, len(people)), ANSWERS.index(judgement.answer))
        for number, given in enumerate(hearing.answers.values())
        for judgement in given
    ]
    question, person, code = np.array(rows, np.int64).reshape(-1, 3).T
    found = panel_agreement(Told(question, person, code))
    return found if isinstance(found, str) else found.words


def _left_out(hearing: Hearing) -> list[str]:
    """Whose answers do not count, each with the reason."""
    return [
        f"The answers of {name} do not count: {exclusion.reason} (decided by {exclusion.by}, {exclusion.time[:10]})."
        for name, exclusion in sorted(hearing.exclusions.items())
    ]


def _text(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
