"""Fourteen image quality models compete on TID2013; differences of mean opinion scores stand for people.

Section 3.5 of the gMAD paper: on images that people have rated already, the competition can be held against the usual
way to compare models, their rank correlation with the ratings over all images. Give the folder with
`mos_with_names.txt` and `metrics_values/` of TID2013's tables:

    python examples/tid2013/compete.py TID2013_FOLDER STUDY_FOLDER [--spacing quantile] [--low 0 --high 100]
"""

from __future__ import annotations

import argparse
import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from dissensus import Study
from dissensus.competition.ranking import method_of
from dissensus.records import Rankings
from dissensus.tasks.scores import evidence_of
from dissensus.tasks.scores.standings import level_stability

BEST = 9.0
"""The end of TID2013's scale of mean opinion scores; the worst is 0."""
ANSWERS = "differences between the mean opinion scores of TID2013"


def compete(tables: Path, folder: Path, **levels: Any) -> tuple[Study, Rankings, dict[str, float]]:
    """The study, both rankings, and |SROCC| of every model over all rated images; `levels` are settings of select."""
    opinion = _opinions(tables)
    study = Study.init(folder / "study", task="scores", title="TID2013", answers_from=ANSWERS)
    _write(folder / "pool.csv", ("item",), [(item,) for item in opinion])
    _write(folder / "ratings.csv", ("item", "rating"), list(opinion.items()))
    study.pool([folder / "pool.csv"])
    study.predict(_models(tables, folder, list(opinion)))
    fits = study.scale(folder / "ratings.csv", worst=0, best=BEST)
    study.select(**levels)
    answer(study, opinion, folder / "answers.csv")
    accuracy = {fit.model: abs(fit.srcc or 0) for fit in fits}
    _write(folder / "srocc.csv", ("model", "|SROCC| over all images"), list(accuracy.items()))
    study.report(benchmark=folder / "srocc.csv")
    rankings = study.rank()
    assert isinstance(rankings, Rankings), "models that score have two orders"
    return study, rankings, accuracy


def answer(study: Study, opinion: dict[str, float], path: Path) -> None:
    """Answer every open pair by the difference of the two opinions, in per cent of the scale."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    apart = {pair: 100 * (opinion[pair.second] - opinion[pair.first]) / BEST for pair in study.questions()}
    rows = [("slider", pair.first, pair.second, "mean opinion", said, now) for pair, said in apart.items()]
    _write(path, ("kind", "first", "second", "annotator", "answer", "time"), rows)
    study.judgements_import(path)


def by_levels(study: Study) -> tuple[tuple[int, float, float], ...]:
    """Spearman correlation of the rankings by the k fullest levels with those by all: Table 1 of the paper."""
    evaluation = study.evaluation()
    return level_stability(evidence_of(evaluation).attacks, len(evaluation.models), method_of(study.settings.rank))


def _opinions(tables: Path) -> dict[str, float]:
    """Mean opinion score by image, in the order of the tables."""
    lines = (tables / "mos_with_names.txt").read_text().split("\n")
    return {name.upper(): float(score) for score, name in (line.split() for line in lines if line.strip())}


def _models(tables: Path, folder: Path, items: list[str]) -> list[str]:
    specs = []
    for path in sorted((tables / "metrics_values").glob("*.txt")):
        scores = [float(line) for line in path.read_text().split()]
        _write(folder / f"{path.stem}.csv", ("item", "score"), list(zip(items, scores, strict=True)))
        specs.append(f"{path.stem}=file:{folder / path.stem}.csv")
    return specs


def _write(path: Path, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def main() -> None:
    """Compete, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--low", type=float, help="where the lowest level begins; by default estimated from the ratings"
    )
    parser.add_argument("--high", type=float, help="where the highest level ends")
    parser.add_argument("--spacing", choices=("even", "quantile"))
    given = vars(parser.parse_args())
    study, rankings, accuracy = compete(given.pop("tables"), given.pop("folder"), **given)
    pairs = study.asked()
    print(f"{len(pairs)} pairs of {len(study.items())} images for {len(accuracy)} models")
    print(f"{len({item for pair in pairs for item in pair})} different images, as many as ratings would ask about\n")
    order = [s.model for s in rankings.resistance.standings]
    print(f"{'model':10}{'aggressiveness':>16}{'resistance':>12}{'|SROCC|':>10}")
    for place, standing in enumerate(rankings.aggressiveness.standings, start=1):
        print(f"{standing.model:10}{place:16}{order.index(standing.model) + 1:12}{accuracy[standing.model]:10.3f}")
    for name, ranking in rankings.measures.items():
        strengths = [s.strength for s in ranking.standings]
        found = spearmanr(strengths, [accuracy[s.model] for s in ranking.standings]).statistic
        print(f"Spearman correlation of {name} with |SROCC|: {found:.3f}")
    print("\nlevels  aggressiveness  resistance   (correlation with all levels)")
    for levels, attack, defence in by_levels(study):
        print(f"{levels:6}{attack:16.3f}{defence:12.3f}")
    print("\n" + "\n".join((*rankings.aggressiveness.words, *rankings.words)))
    print(f"\n{study.folder.report}")


if __name__ == "__main__":
    main()
