"""Two real segmentation networks compete on photos of cats and dogs; a third, home-made one joins.

    python examples/pets/compete.py NETWORKS_FOLDER PETS_FOLDER STUDY_FOLDER [--k 10]

Needs `pip install 'dissensus[litert]'`, DeepLab v3 with MobileNet v2 (whole, and half as wide) as .tflite files, and
the Oxford-IIIT Pet data set: photos in images/, trimaps in trimaps/. No people are asked: the trimaps (1 animal,
2 background, 3 border) answer what was selected, and nothing else. So that they can, the study has three classes:
background, cat and dog; whatever else the networks know counts as background, and borders are left out. All trimaps
together then say what a full labelling would have said.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from dissensus.backends import map_preprocess, open_segmenter, read_image
from dissensus.backends.decode import Unreadable
from dissensus.discrepancy.masks import agreements
from dissensus.predictions.maps import maps_of, resized
from dissensus.records import BACKGROUND, VOID, Ranking, Rankings
from dissensus.steps.pooling import given_order
from dissensus.study import Study
from dissensus.tasks.masks.columns import MapColumn

NETWORKS = {"whole": "deeplabv3_mnv2_pascal_quant.tflite", "half-wide": "deeplabv3_mnv2_dm05_pascal_quant.tflite"}
"""Competitors by name; the second has half as many channels."""
NEWCOMER = "quarter-size"
"""The second once more, on small photos."""
CLASSES = ("background", "cat", "dog")
CAT, DOG = 1, 2
VOC = {"labels": "voc"}
"""What the networks' 21 outputs mean; the study has three of them."""


def compete(networks: Path, pets: Path, folder: Path, k: int) -> Study:
    """The study of the two networks, answered by trimaps."""
    folder.mkdir(parents=True, exist_ok=True)
    names = folder / "classes.txt"
    names.write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
    study = Study.init(
        folder / "study",
        task="masks",
        classes=str(names),
        title="Cats and dogs",
        answers_from="trimaps of the Oxford-IIIT Pet data set",
    )
    study.change("judge", {"check": False})  # what is known needs no second look
    study.pool([pets / "images"])
    study.predict([f"{name}=litert:{networks / file}" for name, file in NETWORKS.items()], VOC)
    study.select(k=k, reserves=0, scales="voc")
    answer(study, pets, folder / "truths-1")
    return study


def answer(study: Study, pets: Path, folder: Path) -> int:
    """Answer every open question by its trimap, by way of a folder of indexed PNG; how many there were."""
    open_items = [question.item for question in study.questions()]
    folder.mkdir()
    for item in open_items:
        Image.fromarray(truth_of(pets, item)).save(folder / f"{Path(item).stem}.png")
    if open_items:
        study.judgements_import(folder, format="png", annotator="trimaps")
    return len(open_items)


def truth_of(pets: Path, item: str) -> np.ndarray:
    """The true map of a photo: the data set gives cats' breeds a capital letter."""
    trimap = np.asarray(Image.open(pets / "trimaps" / f"{Path(item).stem}.png"))
    animal = CAT if Path(item).stem[0].isupper() else DOG
    return np.select([trimap == 1, trimap == 2], [animal, BACKGROUND], VOID).astype(np.uint8)


def join(study: Study, networks: Path, pets: Path, folder: Path) -> int:
    """Let the weaker network join once more, on photos a quarter as wide and high; the number of new questions.

    Its maps come as a folder of PNG, as somebody else's would.
    """
    network = open_segmenter("litert", str(networks / NETWORKS["half-wide"]), map_preprocess(VOC), study.classes)
    maps = folder / NEWCOMER
    maps.mkdir()
    for item in study.items():
        image = read_image(str(pets / "images" / item))
        assert not isinstance(image, Unreadable), item
        (labels,) = network([image.resize((max(1, image.width // 4), max(1, image.height // 4)))])
        Image.fromarray(resized(labels, image.height, image.width)).save(maps / f"{Path(item).stem}.png")
    study.join([f"{NEWCOMER}=file:{maps}"])
    return answer(study, pets, folder / "truths-2")


def mean_scores(study: Study, pets: Path, models: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Mean IoU of every model over all photos, which is what a full labelling would have said, and over the selected.

    Those are all that were selected, for whichever duel.
    """
    items = study.items()
    truths = maps_of([truth_of(pets, item) for item in items])
    columns = [MapColumn(study.folder, name).at(given_order(study.folder)) for name in models]
    scores, is_known = agreements(columns, truths, len(CLASSES), "miou")
    is_selected = np.isin(items, [row["item"] for row in study.selection()])
    means = {}
    for place, name in enumerate(models):
        known = is_known[:, place]
        means[name] = float(scores[known, place].mean()), float(scores[known & is_selected, place].mean())
    return means


def show(study: Study, rankings: Ranking | Rankings, means: dict[str, tuple[float, float]]) -> None:
    """Both orders beside the full labelling."""
    assert isinstance(rankings, Rankings), "models that give maps have two orders"
    places = {
        measure: {one.model: place for place, one in enumerate(ranking.standings, start=1)}
        for measure, ranking in rankings.measures.items()
    }
    print(f"{'model':<14}{'aggressiveness':>16}{'resistance':>12}{'mIoU, all photos':>18}{'selected photos':>17}")
    for name, (full, selected) in sorted(means.items(), key=lambda pair: -pair[1][0]):
        orders = f"{places['aggressiveness'][name]:>16}{places['resistance'][name]:>12}"
        print(f"{name:<14}{orders}{full:>18.3f}{selected:>17.3f}")
    status = study.status()
    print(f"{status.judgements} photos judged of {status.pool}")
    for measure, ranking in rankings.measures.items():
        print(f"{measure}: {' '.join(ranking.words)}")


def failures(study: Study) -> None:
    """What was selected, and how well both models did on it."""
    rows = [row for row in study.selection() if not row["reserve"]]
    items = list(dict.fromkeys(row["item"] for row in rows))
    print(f"{len(rows)} selected rows, {len(items)} photos; the first of each attack and category:")
    for row in rows:
        if row["rank"] == 1:
            duel = f"{row['attacker']} against {row['defender']}, {row['category']}"
            print(f"  {duel}: {row['item']}, mIoU of the two maps {row['concordance']:.3f}")


def main() -> None:
    """Read the arguments, compete, let the third one join."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path)
    parser.add_argument("pets", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--k", type=int, default=10, help="photos per category and attack")
    given = parser.parse_args()
    study = compete(given.networks, given.pets, given.folder, given.k)
    failures(study)
    show(study, study.rank(), mean_scores(study, given.pets, list(NETWORKS)))
    new = join(study, given.networks, given.pets, given.folder)
    print(f"{NEWCOMER} joins: {new} new photos, no other question")
    show(study, study.rank(), mean_scores(study, given.pets, [*NETWORKS, NEWCOMER]))
    print(f"report: {study.report()}")


if __name__ == "__main__":
    main()
