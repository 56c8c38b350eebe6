"""What an early end costs for models that attack each other: questions by priority, and in random order.

    python benchmarks/priorities.py scores       # TID2013: 14 quality models, mean opinions
    python benchmarks/priorities.py scenes       # the six models and the scenes of `dissensus demo masks`, exact truth
    python benchmarks/priorities.py pets         # two networks, each shown a photo in five ways; trimaps as truth
    python benchmarks/priorities.py size         # time to put questions in order
    python benchmarks/priorities.py all

Each set is a study of its own, of some models and a part of the pool. All its questions are answered one by one, and
after every tenth of them the models are ranked as `dissensus rank` would rank them. Printed is the mean Spearman
correlation of both rankings with those from all answers; models that cannot be ranked yet are tied. `gain` is the mean
difference to random order over all looks, with its standard error over the sets. The idea was tried on sets of all 14
quality models; its details were then chosen on seven of them and on other scenes. Reported are the other seven, new
scenes for the same six models, and the pets, on which nothing was tried.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.class_maps import of_networks, pets
from benchmarks.tables import Row, Table, main
from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.competition.attacks import MEASURES, Evidence, both_ways
from dissensus.competition.evaluation import Competition
from dissensus.competition.judged import Judged, judge
from dissensus.competition.standings import Method
from dissensus.demo.masks import _scenes
from dissensus.demo.scenes import NAMES, Material, drawn_scene
from dissensus.demo.segmenters import segmenters
from dissensus.discrepancy.masks import agreements
from dissensus.labeling.queue import URGENT
from dissensus.planning.priority import foremost, priority
from dissensus.predictions.maps import maps_of, resized
from dissensus.ranking import ATTACK_RANKERS, connected_groups
from dissensus.records import BACKGROUND, JUDGED, OPEN, VOID
from dissensus.study import Study
from dissensus.tasks.masks.judging import contests_in
from dissensus.tasks.masks.standings import MaskEvidence
from dissensus.tasks.scores.comparing import signs_of
from dissensus.tasks.scores.standings import PairEvidence, attacks_in

SEED = 15
LOOKS = tuple(tenth / 10 for tenth in range(1, 10))
METHOD = Method("thurstone", 0.01)
RULES = {"random": 0.0, "as served": URGENT, "priority": 1.0, "priority, close models": 1.0}
"""The share of questions that are asked by priority."""
BEST = 9
"""The best opinion in TID2013."""
CAT, DOG = 8, 12


@dataclass(frozen=True)
class Answered:
    """A round of a study, and what people would say: all rows that count, and the evidence from some of them."""

    models: int
    judged: Judged[Any]
    weight: Float[Array, " r"]
    value: Float[Array, " r"]
    """By how much the attacker does better, on any scale."""
    evidence: Callable[[Judged[Any]], Evidence]

    @cached_property
    def rows(self) -> tuple[Int[Array, " r"], Int[Array, " r"], Int[Array, " r"]]:
        """Attacker, defender and question of the rows that count."""
        rows = np.flatnonzero(self.judged.active)
        chosen = self.judged.selection.take(rows)
        return chosen.attacker, chosen.defender, self.judged.round_questions.questions[rows, 0]

    def strengths(self, asked: Int[Array, " n"], share: float) -> Float[Array, "2 M"]:
        """By both measures, centred within every group of connected models."""
        state = np.full(len(self.judged.state), OPEN)
        state[asked] = JUDGED
        evidence, found = self.evidence(judge(self.judged.round_questions, state, share)), np.zeros((2, self.models))
        for group in connected_groups(both_ways(evidence.matrices(self.models, METHOD))):
            if len(group) > 1:
                own = evidence.among(np.array(group))
                credits = own.credits(own.matrices(len(group), METHOD), METHOD)
                for measure, name in enumerate(MEASURES):
                    found[measure, list(group)] = METHOD.among(ATTACK_RANKERS).strengths(credits[name])
        return found


def order(study: Answered, rule: str, share: float, rng: np.random.Generator) -> Int[Array, " n"]:
    """All questions in the order in which they are asked."""
    attacker, defender, question = study.rows
    left = np.zeros(len(study.judged.state), bool)
    left[question] = True
    found = []
    while left.any():
        if rng.random() >= RULES[rule]:
            following = int(rng.choice(np.flatnonzero(left)))
        else:
            of_row = priority(
                attacker, defender, study.weight, np.arange(len(question))[:, None], left[question].astype(int), share
            )
            if rule.endswith("close models"):
                of_row = of_row * _matters(study, ~left[question])
            following = int(foremost(np.bincount(question, of_row, len(left)), 1)[0])
        left[following] = False
        found.append(following)
    return np.array(found)


def _matters(study: Answered, known: Bool[Array, " r"]) -> Float[Array, " r"]:
    """How much the differences that a row is part of matter, by how close the models are given what is known.

    Each model's strength is the mean result of its attacks and of those on it; a difference z standard deviations from
    zero counts exp(−z²/2) divided by its variance, as in `draws.py`. The difference between a row's two models depends
    on the row twice as much as those between one of them and another model.
    """
    attacker, defender, _ = study.rows
    models = study.models
    attack = attacker * models + defender
    count, rows = (np.bincount(attack, some, models**2) for some in (known, np.ones(len(known))))
    mean = np.bincount(attack, known * study.value, models**2) / (count + 1)
    spread = np.mean((study.value - mean[attack])[known] ** 2) if known.sum() > 1 else 0.0
    if spread == 0:
        return np.ones(len(attack))
    error = (spread * (1 - count / np.maximum(rows, 1)) / (count + 1)).reshape(models, models)
    result = mean.reshape(models, models)
    strength = (result.sum(axis=1) - result.sum(axis=0)) / (2 * models - 2)
    variance = (error.sum(axis=1) + error.sum(axis=0)) / (2 * models - 2) ** 2
    variance = variance[:, None] + variance + 1e-12
    weight = np.exp(-0.5 * (strength[:, None] - strength) ** 2 / variance) / variance + 1e-12
    np.fill_diagonal(weight, 0.0)
    total = weight.sum(axis=1)
    found = total[attacker] + total[defender] + 2 * weight[attacker, defender]
    return np.asarray(found / found.mean())


def curve(study: Answered, asked: Int[Array, " n"], share: float) -> list[float]:
    """The mean correlation of both rankings with those from all answers, at every look."""
    full = study.strengths(asked, share)
    found = []
    for look in LOOKS:
        some = study.strengths(asked[: round(look * len(asked))], share)
        found.append(float(np.mean([_correlation(*pair) for pair in zip(some, full, strict=True)])))
    return found


def _correlation(some: Float[Array, " M"], full: Float[Array, " M"]) -> float:
    return 0.0 if min(np.ptp(some), np.ptp(full)) < 1e-9 else float(spearmanr(some, full).statistic)


def table(name: str, studies: Sequence[Answered]) -> Iterator[Row]:
    """Every rule on all sets, with the usual share of a duel that has to be judged, and without any."""
    questions = np.mean([len(np.unique(one.rows[2])) for one in studies])
    about = {"data": name, "sets": len(studies), "questions": round(float(questions)), "models": studies[0].models}
    about["rows per question"] = round(float(np.mean([len(one.weight) for one in studies]) / questions), 1)
    for share in (0.5, 0.0):
        usual = None
        for rule in RULES:
            rngs = [np.random.default_rng((SEED, number)) for number in range(len(studies))]
            orders = [order(one, rule, share, rng) for one, rng in zip(studies, rngs, strict=True)]
            curves = np.array([curve(one, asked, share) for one, asked in zip(studies, orders, strict=True)])
            usual = curves if usual is None else usual
            gain = (curves - usual).mean(axis=1)
            yield about | {
                "share": share,
                "rule": rule,
                "correlation": np.round(curves.mean(axis=0), 2).tolist(),
                "error": np.round(curves.std(axis=0, ddof=1) / np.sqrt(len(curves)), 2).tolist(),
                "gain": round(float(gain.mean()), 3),
                "gain error": round(float(gain.std(ddof=1) / np.sqrt(len(gain))), 3),
            }


def scores(kit: Path, runs: int = 24) -> Iterator[Row]:
    lines = [line.split() for line in (kit / "iqa" / "mos_with_names.txt").read_text().splitlines() if line.strip()]
    opinion, names = np.array([float(line[0]) for line in lines]), [line[1].upper() for line in lines]
    reference = np.array([int(name[1:3]) for name in names])
    files = sorted((kit / "iqa" / "metrics_values").glob("*.txt"))[1::2]
    values = {path.stem: np.array(path.read_text().split(), float) for path in files}
    studies = []
    for run in range(runs):
        rng = np.random.default_rng((SEED, run))
        some = np.flatnonzero(np.isin(reference, rng.choice(25, 12, replace=False) + 1))
        models = sorted(rng.choice(list(values), 6, replace=False).tolist())
        studies.append(_of_scores({name: values[name][some] for name in models}, opinion[some]))
    yield from table("TID2013", studies)


def _of_scores(values: dict[str, Float[Array, " N"]], opinion: Float[Array, " N"]) -> Answered:
    with TemporaryDirectory() as folder:
        study = Study.init(Path(folder) / "study", task="scores")
        study.pool(items=[f"{number:04}" for number in range(len(opinion))])
        study.predict(**{name: one.tolist() for name, one in values.items()})
        study.select()
        found = Competition(study._task).question_set
    pairs, (round_questions,) = found.keys, found.by_round
    preference = (opinion[pairs[:, 1]] - opinion[pairs[:, 0]]) / BEST
    judged = judge(round_questions, np.full(len(pairs), OPEN))
    rows = judged.selection.take(judged.active)

    def evidence(some: Judged[Any]) -> PairEvidence:
        attacks = attacks_in(some, preference, np.ones(len(pairs), bool))
        return PairEvidence(attacks, np.ones(len(attacks), int), np.zeros((0, len(pairs))), pairs)

    value = signs_of(rows) * preference[round_questions.questions[judged.active, 0]]
    return Answered(len(values), judged, rows.weight.astype(float), value, evidence)


def scenes(_: Path, runs: int = 24) -> Iterator[Row]:
    from sklearn.datasets import load_digits, load_sample_images
    from sklearn.model_selection import train_test_split

    lessons = _scenes(lambda *_: None)[0]
    digits, photos = load_digits(), load_sample_images().images
    unseen = train_test_split(np.arange(len(digits.target)), test_size=0.5, random_state=0, stratify=digits.target)[1]
    material = Material(photos, digits.images[unseen], digits.target[unseen])
    drawn = [drawn_scene(material, np.random.default_rng((SEED, number))) for number in range(600)]
    maps = []
    for model in segmenters().values():
        model.fit(lessons)
        maps.append(model.maps(drawn))
    truths = [resized(scene.truth, *maps[0][0].shape) for scene in drawn]
    sets = [np.random.default_rng((SEED, run)).choice(600, 300, replace=False) for run in range(runs)]
    studies = [
        _of_maps([[one[at] for at in some] for one in maps], [truths[at] for at in some], NAMES) for some in sets
    ]
    yield from table("scenes of the demo", studies)


def trimaps(kit: Path, runs: int = 24, images: int = 74) -> Iterator[Row]:
    photos = pets(kit, images)
    maps = of_networks(kit, images)[:, :, ::2, ::2]
    maps = np.select([maps == CAT, maps == DOG], [1, 2], BACKGROUND).astype(np.uint8)
    truths = [_truth(path, maps.shape[2]) for path in photos]
    studies = []
    for run in range(runs):
        rng = np.random.default_rng((SEED, run))
        models, some = rng.choice(maps.shape[1], 5, replace=False), rng.choice(len(photos), 50, replace=False)
        shown = [[maps[at, model] for at in some] for model in models]
        studies.append(_of_maps(shown, [truths[at] for at in some], ("background", "cat", "dog"), k=5, scales="none"))
    yield from table("pets", studies)


def _truth(photo: Path, side: int) -> UInt8[Array, "H W"]:
    trimap = np.asarray(Image.open(photo.parents[1] / "trimaps" / f"{photo.stem}.png"))
    animal = 1 if photo.stem[0].isupper() else 2  # the data set gives cats' breeds a capital letter
    return resized(np.select([trimap == 1, trimap == 2], [animal, BACKGROUND], VOID).astype(np.uint8), side, side)


def _of_maps(
    maps: Sequence[Sequence[UInt8[Array, "H W"]]],
    truths: Sequence[UInt8[Array, "H W"]],
    classes: Sequence[str],
    **settings: Any,
) -> Answered:
    with TemporaryDirectory() as folder:
        names = Path(folder) / "classes.txt"
        names.write_text("\n".join(classes))
        study = Study.init(Path(folder) / "study", task="masks", classes=str(names))
        study.pool(items=[f"{number:04}" for number in range(len(truths))])
        given: dict[str, Any] = {f"model-{number}": list(one) for number, one in enumerate(maps)}
        study.predict(**given)
        study.select(**settings)
        task = study._task
        found = Competition(task).question_set
    items, (round_questions,) = found.keys[:, 0], found.by_round
    every = agreements([maps_of(list(one)) for one in maps], maps_of(list(truths)), len(classes), "miou")[0]
    agreement = every[items]
    judged = judge(round_questions, np.full(len(items), OPEN))
    rows, question = judged.selection.take(judged.active), round_questions.questions[judged.active, 0]
    ratio = (agreement[question, rows.attacker] + 0.01) / (agreement[question, rows.defender] + 0.01)
    weight = task.weights(rows)
    return Answered(
        len(maps), judged, weight, np.log(ratio), lambda some: MaskEvidence(contests_in(some, agreement), items)
    )


def size(_: Path, runs: int = 24) -> Iterator[Row]:
    """16 models, so many levels or categories; every question is in three rows."""
    for strata in (5, 20, 200):
        rng = np.random.default_rng(SEED)
        sides = np.argwhere(~np.eye(16, dtype=bool)).repeat(strata, axis=0)
        questions = rng.integers(0, len(sides) // 3, (len(sides), 1))
        missing = rng.integers(0, 2, len(sides) // 3)
        work = partial(priority, sides[:, 0], sides[:, 1], np.ones(len(sides)), questions, missing, 0.5)
        taken = []
        for _run in range(runs):
            start = time.perf_counter()
            foremost(work(), 1000)
            taken.append(time.perf_counter() - start)
        yield {"questions": len(missing), "rows": len(sides), "ms": round(1000 * float(np.median(taken)), 2)}


TABLES: dict[str, Table] = {"scores": scores, "scenes": scenes, "pets": trimaps, "size": size}


if __name__ == "__main__":
    main(__doc__, TABLES)
