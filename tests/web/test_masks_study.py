"""A study of maps on the real service, from its images to its ranking: drawn, checked, corrected, or chosen."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from served import Client, Served, eventually

from dissensus.competition.evaluation import Competition, read_answers
from dissensus.errors import StudyError
from dissensus.inquiry import Answers
from dissensus.labeling import prediction_key
from dissensus.records import Question
from dissensus.study import Study
from dissensus.tasks.masks.drawings import mask_question
from dissensus.tasks.masks.overlays import Overlays, over_photo

NAMES = ("background", "disc", "box")
MODELS = {"sharp": 0.1, "blurred": 0.6}
"""How likely each model is to get an object wrong."""
SCENES = 24
SIZE = (40, 60)


def scene(number: int) -> np.ndarray:
    """The true map of a scene."""
    rng = np.random.default_rng(number)
    rows, columns = np.indices(SIZE)
    labels = np.zeros(SIZE, np.uint8)
    for label in (1, 2):
        y, x, radius = (int(rng.integers(*span)) for span in ((8, 32), (8, 52), (5, 9)))
        near = (rows - y) ** 2 + (columns - x) ** 2 <= radius**2
        labels[near if label == 1 else (abs(rows - y) <= radius) & (abs(columns - x) <= radius)] = label
    return labels


def seen(model: str, number: int) -> np.ndarray:
    """What a model makes of it."""
    rng = np.random.default_rng(100 * len(model) + number)
    labels = scene(number)
    for label in (1, 2):
        if rng.random() < MODELS[model]:
            labels[labels == label] = 3 - label if rng.random() < 0.5 else 0
    labels[:2, :2] = 1 + number % 2 if model == "blurred" else 0
    return labels


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masks")
    for name in ("pool", *MODELS):
        (folder / name).mkdir()
    (folder / "classes.txt").write_text("\n".join(NAMES))
    for number in range(SCENES):
        # every photo its own colour, so that whoever sees it knows which it is
        ground = np.full((*SIZE, 3), (60 + 5 * number, 120, 90), np.uint8)
        Image.fromarray(ground).save(folder / "pool" / f"p{number:02}.png")
        for model in MODELS:
            Image.fromarray(seen(model, number)).save(folder / model / f"p{number:02}.png")
    study = Study.init(folder / "study", task="masks", classes=str(folder / "classes.txt"), title="Scenes")
    study.pool([folder / "pool"])
    study.predict([f"{name}=file:{folder / name}" for name in MODELS])
    study.select(k=2, scales="none")
    return study.folder.root


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "study")
    return tmp_path / "study"


def number_of(client: Client, address: str) -> int:
    """Which scene a picture shows."""
    return int(pixels_of(client.get(address).body)[-1, -1, 0] - 60) // 5


def pixels_of(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def kept(labels: np.ndarray) -> dict[str, Any]:
    flat = labels.reshape(-1)
    starts = np.flatnonzero(np.diff(flat.astype(int), prepend=-1))
    runs = np.stack([flat[starts], np.diff(starts, append=len(flat))], axis=1)
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs.reshape(-1).tolist()}


def draw(client: Client, wrong: int | None = None) -> list[int]:
    """Draw the truth of everything that waits, or nothing of one scene; which scenes they were."""
    drawn = []
    while asked := [one for one in client.next(4) if one["kind"] == "mask"]:
        for one in asked:
            number = number_of(client, one["images"][0])
            client.answer(one["ticket"], kept(np.zeros(SIZE, np.uint8) if number == wrong else scene(number)))
            drawn.append(number)
    return drawn


def first_in_line(study: Study) -> list[str]:
    """The questions that go first, in order."""
    competition = Competition(study._task)
    answers = read_answers(study._task.work.answers, competition.questions(), ())
    texts = [text for group in competition.questions() for text in group.texts]
    return [texts[number] for number in competition.needed(answers).urgent]


def test_the_image_that_most_duels_wait_for_goes_first(folder: Path) -> None:
    study = Study(folder)
    duels = Counter(row["item"] for row in study.selection() if not row["reserve"])
    first = [json.loads(text)["item"] for text in first_in_line(study)]
    assert sorted(first) == sorted(duels)
    assert [duels[item] for item in first] == sorted(duels.values(), reverse=True)
    study.change("judge", {"question": "choice"})
    assert len(first_in_line(study)) == len(study.questions())


def test_drawn_checked_and_corrected(folder: Path, serve: Callable[..., Served]) -> None:
    study = Study(folder)
    wanted = {int(item[1:3]) for (item,) in study.asked()}
    wrong = min(wanted)
    served = serve(folder)
    ada, ben = served.add("ada"), served.add("ben")
    assert set(draw(ada, wrong)) == wanted
    assert ada.next(4) == [], "whoever drew it does not check it"
    served.owner.post("/api/owner/pause", {"paused": False})  # by now the service knows what was drawn
    checked = set()
    while asked := [one for one in ben.next(4) if one["kind"] == "check"]:
        for one in asked:
            number = number_of(ben, one["images"][0])
            mask = one["payload"]["mask"]
            is_right = mask == kept(scene(number))
            assert is_right == (number != wrong)
            ben.answer(one["ticket"], [] if is_right else [{"x": 20, "y": 20, "kind": "missing"}])
            checked.add(number)
    assert checked == wanted
    assert len(study.questions()) == 1
    assert first_in_line(study) == [mask_question(f"p{wrong:02}.png", again=True).text]
    holder = eventually(lambda: next((one for one in (ada, ben) if one.next(1)), None))
    (correction,) = holder.next(4)
    assert correction["payload"]["mask"] == kept(np.zeros(SIZE, np.uint8))
    assert correction["payload"]["marks"] == [{"x": 20, "y": 20, "kind": "missing"}]
    holder.answer(correction["ticket"], kept(scene(wrong)))
    served.stop()
    assert study.questions() == []
    rankings = study.rank()
    assert [one.model for one in rankings.aggressiveness.standings] == ["sharp", "blurred"]
    assert [one.model for one in rankings.resistance.standings] == ["sharp", "blurred"]
    seen_by_owner = study.overview()
    assert seen_by_owner["words"] == ["Masks are not compared with each other: annotators check them and mark errors."]
    assert all(one["agreement"] is None for one in seen_by_owner["annotators"])
    assert not any("nobody but their author" in words for words in rankings.aggressiveness.words)


def test_one_person_alone_is_not_kept_waiting_by_checks(folder: Path, serve: Callable[..., Served]) -> None:
    served = serve(folder)
    draw(served.add("ada"))
    served.stop()
    study = Study(folder)
    assert study.questions() == []
    assert any("checked by nobody but their author" in words for words in study.rank().resistance.words)


def test_an_unfit_image_makes_room_for_its_reserve(folder: Path, serve: Callable[..., Served]) -> None:
    before = set(Study(folder).asked())
    served = serve(folder)
    ada = served.add("ada")
    ada.answer(ada.next()[0]["ticket"], "unfit")

    def is_all_drawn() -> bool:
        draw(ada)
        return Study(folder).questions() == []

    eventually(is_all_drawn)
    served.stop()
    study = Study(folder)
    assert before <= {(item,) for (item, *_) in study.asked()}
    assert study.status().discarded_items == 1
    assert study.questions() == []


def test_a_choice_shows_both_predictions_over_the_photo(folder: Path, serve: Callable[..., Served]) -> None:
    Study(folder).change("judge", {"question": "choice"})
    served = serve(folder)
    ada = served.add("ada")
    chosen = 0
    while asked := ada.next(1):
        (one,) = asked
        assert one["kind"] == "choice"
        *shown, photo = (pixels_of(ada.get(address).body) for address in one["images"])
        number = number_of(ada, one["images"][2])
        over = {name: np.asarray(over_photo(Image.fromarray(photo), seen(name, number))) for name in MODELS}
        sides = [name for pixels in shown for name in MODELS if (pixels == over[name]).all()]
        assert sorted(sides) == sorted(MODELS), "each side shows one model's map, in its own pixels"
        empty = [side for side, name in zip(("left", "right"), sides, strict=True) if not seen(name, number).any()]
        assert one["payload"].get("empty", []) == empty
        agreed = [(seen(name, number) == scene(number)).mean() for name in sides]
        ada.answer(one["ticket"], "left" if agreed[0] >= agreed[1] else "right")
        chosen += 1
    reply = ada.get("/api/next?ahead=4").body.decode()
    assert not any(word in reply for word in (*MODELS, ".png"))
    served.stop()
    study = Study(folder)
    assert chosen == len(study.asked())
    assert [one.model for one in study.rank().aggressiveness.standings] == ["sharp", "blurred"]


def test_a_model_that_marks_nothing_is_named_by_its_side(made: Path, tmp_path: Path) -> None:
    (tmp_path / "blank").mkdir()
    for number in range(SCENES):  # a model that never marks anything is refused
        Image.fromarray(scene(number) * np.uint8(number == 0)).save(tmp_path / "blank" / f"p{number:02}.png")
    study = Study.init(tmp_path / "study", task="masks", classes=str(made.parent / "classes.txt"), title="Scenes")
    study.pool([made.parent / "pool"])
    study.predict([f"sharp=file:{made.parent / 'sharp'}", f"blank=file:{tmp_path / 'blank'}"])
    study.select(k=2, scales="none")
    study.change("judge", {"question": "choice"})
    inquiry = study._backing().inquiry
    texts = [text for group in inquiry.questions() if group.kind == "choice" for text in group.texts]
    asked = next(Question(kind="choice", body=json.loads(text)) for text in texts if "p00.png" not in text)
    for left, side in (("first", "left"), ("second", "right")):
        is_first = asked.body["first"] == "blank"
        told = inquiry.material(asked, {"left": left})
        assert told["empty"] == [side if is_first else {"left": "right", "right": "left"}[side]]
        assert told["labels"]


def test_drawing_begins_with_a_models_map_only_where_that_is_wanted(folder: Path, serve: Callable[..., Served]) -> None:
    Study(folder).change("judge", {"prefill": "blurred"})
    served = serve(folder)
    ada = served.add("ada")
    (one,) = ada.next(1)
    number = number_of(ada, one["images"][0])
    assert one["payload"]["mask"] == kept(seen("blurred", number))
    assert "blurred" not in ada.get("/api/next?ahead=4").body.decode()
    draw(ada)
    served.stop()
    study = Study(folder)
    assert study.questions() == []
    assert any("started from the map of blurred" in words for words in study.rank().aggressiveness.words)
    Study(folder).change("judge", {"prefill": "nobody"})
    with pytest.raises(StudyError, match="sharp, blurred"):
        study.overview()


def test_a_correction_may_find_that_the_image_cannot_be_judged(folder: Path, serve: Callable[..., Served]) -> None:
    study = Study(folder)
    replaceable = with_new_reserves(study)
    served = serve(folder)
    ada, ben = served.add("ada"), served.add("ben")
    draw(ada)
    is_marked = False
    while not is_marked:
        check = eventually(lambda: ben.next(1))[0]
        is_marked = number_of(ben, check["images"][0]) in replaceable
        ben.answer(check["ticket"], [{"x": 1, "y": 1, "kind": "class"}] if is_marked else [])
    (correction,) = eventually(lambda: [one for one in ada.next(4) if one["kind"] == "mask"])
    ada.answer(correction["ticket"], "unfit")
    reserve = eventually(lambda: [one for one in ada.next(4) if one["kind"] == "mask"])
    assert reserve, "its reserve takes its place"
    draw(ada)
    served.stop()
    assert study.questions() == []
    assert study.status().discarded_items == 1


def with_new_reserves(study: Study) -> set[int]:
    """Scenes whose reserves are asked for by no other duel."""
    rows = study.selection()
    asked = {row["item"] for row in rows if not row["reserve"]}
    place = ("attacker", "defender", "category")
    open_places = {tuple(row[name] for name in place) for row in rows if row["reserve"] and row["item"] not in asked}
    taken = [row for row in rows if not row["reserve"] and tuple(row[name] for name in place) in open_places]
    return {int(row["item"][1:3]) for row in taken}


def test_a_correction_that_gives_up_says_nothing_once_its_mask_is_gone(folder: Path) -> None:
    """As when whoever drew is excluded: the image is to be drawn anew, as `questions` says too."""
    rounds = Study(folder)._backing().inquiry
    texts = [text for group in rounds.questions() for text in group.texts]
    nobody = np.zeros(0, np.int64)
    begun = rounds.needed(Answers(nobody, nobody, nobody, nobody, [])).is_needed
    drawn = int(np.flatnonzero(begun)[0])
    correction = texts.index(texts[drawn].replace("{", '{"again":true,'))
    gone = rounds.needed(
        Answers(np.array([correction]), np.zeros(1, np.int64), np.ones(1, np.int64), np.ones(1, np.int64), ["ada"])
    ).is_needed
    assert (gone == begun).all()
    given_up = rounds.needed(
        Answers(np.array([drawn, correction]), np.zeros(2, np.int64), np.array([0, 1]), np.array([1, 2]), ["ada"])
    ).is_needed
    assert not given_up[drawn]


def test_a_mask_drawn_elsewhere_lies_on_the_photo_whatever_its_size(folder: Path, tmp_path: Path) -> None:
    study = Study(folder)
    item = study.questions()[0].item
    truth = scene(int(item[1:3]))
    Image.fromarray(np.kron(truth, np.ones((3, 3), np.uint8))).save(tmp_path / item)
    study.judgements_import(tmp_path / item, annotator="ada")
    inquiry = study._backing().inquiry
    for question in (Question(kind="check", body={"item": item}), mask_question(item, again=True)):
        assert inquiry.material(question, inquiry.context(question))["mask"] == kept(truth)


def test_what_was_judged_elsewhere_is_not_asked_again_however_it_was_asked(
    folder: Path, serve: Callable[..., Served], tmp_path: Path
) -> None:
    """Masks begun from nothing where drawing begins with a model's map; choices with the models turned round."""
    study = Study(folder)
    items = [question.item for question in study.questions()]
    masks = [("mask", {"item": item}, kept(scene(int(item[1:3])))) for item in items]
    Study(folder).change("judge", {"question": "choice"})
    pairs = [{"item": one.item, "first": one.second, "second": one.first} for one in study.questions()]
    rows = [*masks, *(("choice", body, "first") for body in pairs)]
    names = ("kind", "question", "answer")
    told = [dict(zip(names, row, strict=True)) | {"annotator": "ada", "time": "2026-01-01T10:00:00Z"} for row in rows]
    (tmp_path / "told.jsonl").write_text("\n".join(json.dumps(row) for row in told))
    study.judgements_import(tmp_path / "told.jsonl")
    for settings, kinds in (({"question": "choice"}, set()), ({"question": "mask", "prefill": "blurred"}, {"check"})):
        Study(folder).change("judge", settings)
        assert study.questions() == []
        served = serve(folder)
        ben = served.add(f"ben {len(kinds)}")
        assert {one["kind"] for one in ben.next(2)} == kinds
        served.stop()


def test_an_overlay_is_that_of_the_predictions_as_they_are(folder: Path) -> None:
    """Overlays are kept; those of a model that predicted anew are not shown for its new maps."""
    study = Study(folder)
    key = prediction_key("p00.png", "sharp")
    photos, places = {"p00.png": study._uri("p00.png")}, {"p00.png": 0}

    def overlay() -> tuple[str | None, np.ndarray]:
        path = Overlays(study.folder, list(MODELS), photos, places)[key]
        return path, pixels_of(Path(str(path)).read_bytes())

    before, pixels = overlay()
    assert overlay()[0] == before
    shutil.copy(study.folder.predictions("blurred"), study.folder.predictions("sharp"))
    study.check(record=True)
    after, others = overlay()
    assert after != before
    assert (pixels != others).any()
