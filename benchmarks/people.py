"""People as a baseline: ImageNet models graded with raters' answers, and whether intervals and tests keep their level.

python benchmarks/people.py real      # 46 models: top-1 against multi-label, who is really above whom; a figure
python benchmarks/people.py coverage  # simulated: intervals, paired tests, subsets, who is fast and careless
python benchmarks/people.py speed     # seconds for 100 participants on 50,000 images
python benchmarks/people.py all

`real` writes its figure to artifacts/people (--out).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row, parser_of, show_rows
from dissensus.arrays import Array, Int
from dissensus.participants.findings import result_of
from dissensus.participants.grading import Grades
from dissensus.participants.pairs import compared, mcnemar, mcnemar_mid
from dissensus.participants.sample import Images, LabelSets, Participants
from dissensus.participants.subsets import class_changes
from dissensus.participants.tables import BETWEEN, MODELS, PEOPLE, Field, gap_rows
from dissensus.participants.times import carelessness
from dissensus.proportions import LEVEL, bonett_price, clopper_pearson, newcombe
from dissensus.records import ANSWERS, YES, HumanResult
from dissensus.records.human import Kind
from dissensus.report.human.figures import order_plot
from dissensus.screening import VERDICTS, Rule

IMAGES, RATERS = 50_000, 85


def rated(kit: Path, method: str) -> tuple[LabelSets, LabelSets]:
    """Labels that the raters found right by a method, and all labels they were asked about.

    Raters were not asked about half of the images, where the authors' own models agreed with the original label; these
    keep it as their only right label, as in the published label sets.
    """
    with np.load(kit / "imagenet" / "raters_sparse.npz") as file:
        item, rater, answer = (file[name].astype(np.int64) for name in ("item", "rater", "answer"))
        image, label, names = file["item_image"], file["item_label"], file["answer_names"].tolist()
    code = np.array([ANSWERS.index({"maybe": "unsure"}.get(name, name)) for name in names])
    verdict = VERDICTS[method](item, rater, code[answer], len(image), RATERS, Rule())
    others = np.setdiff1d(np.arange(IMAGES), image)
    truth = _stored(kit)[2][others]
    is_right = verdict == YES
    return (
        _sets(np.append(image[is_right], others), np.append(label[is_right], truth)),
        _sets(np.append(image, others), np.append(label, truth)),
    )


def _stored(kit: Path) -> tuple[tuple[str, ...], Int[Array, "M n"], Int[Array, " n"]]:
    """Names of the models, their labels and the original ones, in the order of the images' numbers."""
    with np.load(kit / "imagenet" / "validation_top1.npz") as file:
        order = np.argsort(file["image_index"])
        return tuple(file["models"].tolist()), file["top1"][:, order].astype(int), file["label"][order].astype(int)


def _sets(image: Int[Array, " k"], label: Int[Array, " k"]) -> LabelSets:
    order = np.lexsort((label, image))
    start = np.concatenate([[0], np.cumsum(np.bincount(image, minlength=IMAGES))])
    return LabelSets(start.astype(np.int64), label[order].astype(np.int64))


def graded_models(kit: Path, right: LabelSets, reviewed: LabelSets) -> HumanResult:
    """The models of the kit; images whose original label is wrong are kept, as the authors of the answers do."""
    names, labels, truth = _stored(kit)
    participants = Participants(names, np.zeros(len(names), bool), labels)
    numbers = tuple(map(str, range(IMAGES)))
    images = Images(numbers, truth, np.zeros(IMAGES, np.int64), ("validation",), right, reviewed)
    return result_of(participants, images, keeps_problematic=True)


def real(kit: Path, out: Path) -> Iterator[Row]:
    """The models by the majority of the raters, by Dawid–Skene, and by the published label sets."""
    published = LabelSets.of(json.loads((kit / "imagenet" / "real.json").read_text()))
    results = {}
    for method in ("majority", "dawid-skene", "published"):
        right, reviewed = rated(kit, "majority" if method == "published" else method)
        chosen = published if method == "published" else right
        result = results[method] = graded_models(kit, chosen, reviewed)
        same = _same(chosen, published)
        near = [one for one in result.pairs if one.is_neighbour]
        decided = {
            metric: (
                sum(one.is_decided for one in result.pairs if one.metric == metric),
                sum(one.p_neighbours is not None and one.p_neighbours < 0.05 for one in near if one.metric == metric),
            )
            for metric in ("top-1", "multi-label")
        }
        yield {
            "right labels by": method, "images": result.images, "without a right label": IMAGES - result.images,
            "several right labels, %": round(100 * float((chosen.sizes > 1).sum() / (chosen.sizes > 0).sum()), 1),
            "the published set, % of images": round(100 * same, 1),
            "Kendall τ": round(result.kendall_tau or 0, 3),
            "ranks that change": sum(one.rank_change != 0 for one in result.order),
            "pairs that change order": len(result.reversals),
            "… by more than chance": sum(one.is_clear for one in result.reversals),
            "… decided both ways": sum(one.is_decided for one in result.reversals),
            "pairs decided of 1,035, top-1": decided["top-1"][0], "multi-label": decided["multi-label"][0],
            "neighbours decided of 45, top-1": decided["top-1"][1],
            "neighbours, multi-label": decided["multi-label"][1],
            "gain really more or less": sum(one.is_favoured for one in result.order),
        }  # fmt: skip
    result = results["dawid-skene"]
    for sentence in result.words + result.notes:
        print(f"* {sentence}")
    yield from _models(result)
    plot = order_plot(result)
    assert plot is not None
    print("\n" + "\n".join(str(path) for path in plot.write(out, ("svg", "png"))))


def _same(sets: LabelSets, published: LabelSets) -> float:
    """Share of the images with the same right labels as the published ones."""
    same = sets.sizes == published.sizes
    for image in np.flatnonzero(same).tolist():
        one, other = (x.label[x.start[image] : x.start[image + 1]] for x in (sets, published))
        same[image] = set(one.tolist()) == set(other.tolist())
    return float(same.mean())


def _models(result: HumanResult) -> Iterator[Row]:
    ranks = {(one.participant, one.metric): one for one in result.ranks}
    moved = {one.participant: one for one in result.order}
    follows = {one.first: one for one in result.pairs if one.is_neighbour and one.metric == "multi-label"}
    for one in result.standings():
        top1, rank, other = (
            result.accuracy(one.participant, "top-1"),
            ranks[one.participant, "multi-label"],
            moved[one.participant],
        )
        next_one = follows.get(one.participant)
        yield {
            "model": one.participant,
            "multi-label, %": _percent(one.accuracy, one.low, one.high),
            "top-1, %": _percent(top1.accuracy, top1.low, top1.high),
            "rank": f"{other.rank_top1} → {other.rank_multi}",
            "open ranks": f"{rank.rank_low}–{rank.rank_high}",
            "gain against others": f"{100 * other.gain:+.2f}{'*' if other.is_favoured else ''}",
            "next model": "" if next_one is None else next_one.second,
            "p": "" if next_one is None else f"{next_one.p:.2g}",
            "p, neighbours": "" if next_one is None else f"{next_one.p_neighbours:.2g}",
            "p, all pairs": "" if next_one is None else f"{next_one.p_holm:.2g}",
        }


def _percent(value: float | None, low: float | None, high: float | None) -> str:
    return f"{100 * (value or 0):.2f} [{100 * (low or 0):.2f}, {100 * (high or 0):.2f}]"


def coverage(runs: int) -> Iterator[Row]:
    """Share of simulations in which an interval contains the truth, or a test rejects."""
    yield from _interval_rows(runs)
    yield from _mean_rows(max(runs // 2, 50))
    yield from _paired_rows(runs)
    yield from _subset_size(max(runs // 4, 20))
    yield from _careless_rows(max(runs // 10, 50))


def _interval_rows(runs: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    for share, count in ((0.95, 1000), (0.95, 100), (0.7, 1000)):
        hits, others = rng.binomial(count, share, runs), rng.binomial(count, share - 0.05, runs)
        low, high = clopper_pearson(hits, np.full(runs, count))
        gap = newcombe(hits, np.full(runs, count), others, np.full(runs, count))
        only, other = _discordant(rng, count, 0.04, 0.02, runs)
        ends = bonett_price(only, other, np.full(runs, count))
        yield {
            "accuracy": share, "images": count,
            "Clopper–Pearson covers": _rate((low <= share) & (share <= high)),
            "gap between sets covers": _rate((gap[0] <= 0.05) & (gap[1] >= 0.05)),
            "paired difference covers": _rate((ends[0] <= 0.02) & (ends[1] >= 0.02)),
        }  # fmt: skip


def _mean_rows(runs: int) -> Iterator[Row]:
    """The mean gaps of five people and ten models, whose errors are alike because images are easy or hard."""
    rng = np.random.default_rng(5)
    everybody, half = [[1.0] * 5] * 2, [[0.5] * 5] * 2
    apart = [[0.9, 0.7, 0.5, 0.3, 0.1], [0.1, 0.3, 0.5, 0.7, 0.9]]
    cases = {
        "everybody answers everything": (1000, 1000, 0.95, everybody), "few images": (20, 20, 0.95, everybody),
        "few in one set": (10, 200, 0.95, everybody), "few, all close to 1": (100, 100, 0.995, everybody),
        "people answer half": (200, 200, 0.95, half), "the better ones answer the first set": (200, 200, 0.95, apart),
    }  # fmt: skip
    for what, (first, second, best, asked) in cases.items():
        covers: dict[str, list[bool]] = {PEOPLE: [], MODELS: [], BETWEEN: []}
        spread = min(0.3, 5 * (1 - best))
        skill = best - spread * np.concatenate([np.linspace(0, 1, 5), np.linspace(0, 1, 10)])
        is_first = np.arange(first + second) < first
        loss = np.where(np.arange(15) < 5, 0.0, 0.4 * (1 - best))
        chance = skill[:, None] - loss[:, None] * ~is_first
        truth = {PEOPLE: 0.0, MODELS: loss[-1], BETWEEN: -loss[-1]}
        kinds: tuple[Kind, ...] = (*(("person",) * 5), *(("model",) * 10))
        field = Field(tuple(map(str, range(15))), kinds, {"first": is_first, "second": ~is_first}, LEVEL)
        for _ in range(runs):
            latent = np.sqrt(0.4) * rng.normal(size=first + second) + np.sqrt(0.6) * rng.normal(size=chance.shape)
            counts = np.ones(chance.shape, bool)
            counts[:5] = rng.random((5, first + second)) < np.array(asked)[np.where(is_first, 0, 1)].T
            grades = Grades("top-1", (latent < ndtri(chance)) & counts, counts)
            for one in gap_rows(field, {"top-1": grades}, ["first", "second"]):
                if one.participant in covers:
                    covers[one.participant].append(one.low <= truth[one.participant] <= one.high)
        yield {
            "people and models": what, "images": f"{first} and {second}", "studies": runs,
            **{f"gap of {name} covers": _rate(np.array(one)) for name, one in covers.items()},
        }  # fmt: skip


def _discordant(rng: np.random.Generator, count: int, only: float, other: float, runs: int) -> tuple[Array, Array]:
    drawn = rng.multinomial(count, [only, other, 1 - only - other], runs)
    return drawn[:, 0], drawn[:, 1]


def _paired_rows(runs: int) -> Iterator[Row]:
    """Equal participants, and one that is better; one test, and all pairs of eight with Holm."""
    rng = np.random.default_rng(2)
    for count in (200, 1000):
        equal, better = _discordant(rng, count, 0.04, 0.04, runs), _discordant(rng, count, 0.06, 0.03, runs)
        wrong = []
        for _ in range(max(runs // 10, 50)):
            easy = rng.random(count)
            right = rng.random((8, count)) < np.clip(0.6 + 0.6 * easy, 0, 1)
            wrong.append(compared(Grades("top-1", right, np.ones_like(right))).is_above.any())
        yield {
            "images": count,
            "McNemar rejects equals": _rate(mcnemar(*equal) < 0.05),
            "mid-p rejects equals": _rate(mcnemar_mid(*equal) < 0.05),
            "McNemar finds 3 points": _rate(mcnemar(*better) < 0.05),
            "mid-p finds 3 points": _rate(mcnemar_mid(*better) < 0.05),
            "any pair of 8 equals, Holm": _rate(np.array(wrong)),
        }  # fmt: skip


def _subset_size(runs: int) -> Iterator[Row]:
    """Classes differ in difficulty; the subset is random (size), or harder by some points (power)."""
    rng = np.random.default_rng(3)
    for harder in (0.0, 0.03, 0.08):
        rejected, together = [], []
        for run in range(runs):
            classes, each = 200, 5
            truth = np.repeat(np.arange(classes), each)
            inside = np.arange(classes) < 40
            chance = np.clip(rng.beta(18, 2, classes) - harder * inside, 0, 1)[truth]
            right = rng.random((10, len(truth))) < chance
            found = class_changes(
                Grades("top-1", right, np.ones_like(right)), truth, inside, [np.full(10, 0.1)], 999, run
            )
            assert found is not None
            rejected.append(found.p[-1] < 0.05)
            together.append((found.together[:10] < 0.05).any())
        yield {
            "subset harder by, points": 100 * harder, "studies": runs, "mean of ten rejects": _rate(np.array(rejected)),
            "any of ten, together": _rate(np.array(together)),
        }  # fmt: skip


def _careless_rows(runs: int) -> Iterator[Row]:
    """Five people; the fifth is fast, or worse, or both."""
    rng = np.random.default_rng(4)
    cases = {
        "everybody alike": (1.0, 0.0), "one is fast and as accurate": (0.1, 0.0), "one is slow and worse": (1.0, 0.15),
        "one is fast and worse": (0.1, 0.15), "one is fast and a little worse": (0.1, 0.05),
        "one is twice as fast and worse": (0.5, 0.15),
    }  # fmt: skip
    for what, (pace, loss) in cases.items():
        fifth, other = [], []
        for _ in range(runs):
            count = 300
            easy, slow = rng.beta(12, 1.5, count), rng.normal(3.2, 0.7, count)
            skill = np.array([[0.0], [0.01], [-0.01], [0.0], [-loss]])
            right = rng.random((5, count)) < np.clip(easy + skill, 0, 1)
            seconds = np.exp(slow + rng.normal(0, 0.6, (5, count)))
            seconds[4] *= pace
            people = Participants(tuple("ABCDE"), np.ones(5, bool), np.where(right, 0, 1), seconds=seconds)
            named = carelessness(people, Grades("top-1", right, np.ones_like(right))).is_careless
            fifth.append(named[4])
            other.append(named[:4].any())
        yield {
            "people": what,
            "studies": runs,
            "the fifth is named": _rate(np.array(fifth)),
            "another is named": _rate(np.array(other)),
        }


def _rate(is_so: Array) -> float:
    return round(float(np.mean(is_so)), 3)


def speed(runs: int) -> Iterator[Row]:
    """Everything about 100 participants, five of them people."""
    rng = np.random.default_rng(0)
    for count in (2_000, 50_000):
        truth = rng.integers(1000, size=count)
        labels = np.where(rng.random((100, count)) < 0.85, truth, rng.integers(1000, size=(100, count)))
        images = Images(
            tuple(map(str, range(count))),
            truth,
            np.arange(count) % 2,
            ("original", "new"),
            LabelSets.of([{one} for one in truth.tolist()]),
        )
        people = Participants(tuple(f"p{one}" for one in range(100)), np.arange(100) < 5, labels)
        best = min(_seconds(people, images) for _ in range(min(runs, 3)))
        yield {"images": count, "participants": 100, "seconds": round(best, 2)}


def _seconds(people: Participants, images: Images) -> float:
    from dissensus.participants.subsets import class_subset

    start = time.perf_counter()
    result_of(people, images, [class_subset("dogs", np.arange(1000) < 118, images.truth)], tuple(map(str, range(1000))))
    return time.perf_counter() - start


def main() -> None:
    parser = parser_of(__doc__, ("real", "coverage", "speed"))
    parser.add_argument("--out", type=Path, default=Path("artifacts/people"))
    given = parser.parse_args()
    runs = given.runs or 2_000
    tables = {
        "real": lambda: real(given.kit, given.out), "coverage": lambda: coverage(runs), "speed": lambda: speed(runs)
    }  # fmt: skip
    for name in tables if given.table == "all" else [given.table]:
        show_rows(tables[name](), given.json)


if __name__ == "__main__":
    main()
