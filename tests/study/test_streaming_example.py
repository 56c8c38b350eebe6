"""The example of streaming sessions: their numbering, what the three models say of them, and the selection."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus import Study
from dissensus.backends import named_object
from dissensus.errors import StudyError
from dissensus.records import PairSelection
from dissensus.store.folder import Folder
from dissensus.store.rounds import read_rounds
from dissensus.tasks.scores.scaling import scale_of, spaced

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "streaming"
NAMES = ("Liu12", "Yin15", "SQI")


def of(module: str, name: str):
    return named_object(f"{EXAMPLE / module}.py:{name}")


SESSIONS, SESSION_CLASS = of("sessions", "SESSIONS"), of("sessions", "Sessions")
LIU12, YIN15, SQI = (of("models", name.lower()) for name in NAMES)
PRESENTATION, COMPLEXITY = of("models", "presentation_quality"), of("models", "COMPLEXITY")
COMPETE = SimpleNamespace(**{name: of("compete", name) for name in ("compete", "pairs_of", "main")})
NUMBERS = st.integers(0, 37_968_749)


def played(item: str):
    number = SESSIONS.number_of(item)
    return SESSIONS.items(range(number, number + 1))


def test_there_are_as_many_sessions_as_in_the_paper() -> None:
    assert len(SESSIONS) == 50 * 5**5 * 3**5 == 37_968_750
    assert SESSIONS.id_of(0) == "content01-11111-00000"
    assert SESSIONS.id_of(len(SESSIONS) - 1) == "content50-55555-44444"


@given(NUMBERS)
def test_every_number_has_an_id_that_leads_back(number: int) -> None:
    item = SESSIONS.id_of(number)
    assert SESSIONS.number_of(item) == number
    one = played(item)
    representations, stalls = "".join(map(str, one.representation[0] + 1)), "".join(map(str, one.stall[0]))
    assert item == f"content{one.content[0] + 1:02}-{representations}-{stalls}"


@pytest.mark.parametrize(
    "item",
    ["", "content00-11111-00000", "content51-11111-00000", "content1-11111-00000", "content01-61111-00000",
     "content01-11111-00001", "content01-11111-0000", "content01-11111-00000 ", "content٠١-11111-00000"],
)  # fmt: skip
def test_what_is_no_session_has_no_number(item: str) -> None:
    with pytest.raises(ValueError, match="is not a session id"):
        SESSIONS.number_of(item)


@given(st.integers(0, 37_968_000), st.integers(1, 700))
def test_a_range_is_its_sessions_one_by_one(start: int, count: int) -> None:
    some = SESSIONS.items(range(start, start + count))
    assert len(some) == count
    assert some.representation.shape == some.stall.shape == (count, 5)
    one = SESSIONS.items(range(start + count - 1, start + count))
    for name in ("content", "representation", "stall"):
        assert getattr(some, name).dtype == np.uint8
        assert (getattr(some, name)[-1] == getattr(one, name)[0]).all()


def test_every_factor_comes_equally_often() -> None:
    whole = SESSION_CLASS(contents=1)
    some = whole.items(range(len(whole)))
    for segment in range(5):
        assert np.unique(some.representation[:, segment], return_counts=True)[1].tolist() == [len(whole) // 5] * 5
        seconds, counts = np.unique(some.stall[:, segment], return_counts=True)
        assert (seconds.tolist(), counts.tolist()) == ([0, 2, 4], [len(whole) // 3] * 3)
    together = np.concatenate([some.representation, some.stall], axis=1).astype(np.int64) @ 5 ** np.arange(10)
    assert len(np.unique(together)) == len(whole), "all combinations, each once"
    assert SESSIONS.items(range(0, len(SESSIONS), len(whole))).content.tolist() == list(range(50))


@pytest.mark.parametrize("most", [1 << 17, 1 << 20])
def test_evenly_spaced_sessions_are_like_all_of_them(most: int) -> None:
    some = SESSIONS.items(spaced(len(SESSIONS), most))
    assert most / 2 < len(some) <= most
    for factors, values in ((some.representation, 5), (some.stall, 3)):
        for column in factors.T:
            shares = np.unique(column, return_counts=True)[1] / len(some)
            assert len(shares) == values
            assert abs(shares - 1 / values).max() < 0.06


@pytest.mark.parametrize(
    ("item", "liu12", "yin15"),
    [
        ("content01-55555-00000", 5800 / 20, 5 * 5800),
        ("content31-55555-00000", 5800 / 20, 5 * 5800),  # they see bitrates, not contents
        ("content01-11111-00000", 235 / 20, 5 * 235),
        ("content01-11111-40000", 235 / 20, 5 * 235 - 4 * 3000),  # the first wait is no stall to Liu12
        ("content01-11111-00004", 235 / 20 - 3.7 * 100 * 4 / 14, 5 * 235 - 4 * 3000),
        ("content01-15111-20400", 6740 / 5 / 20 - 3.7 * 100 * 4 / 14, 6740 - 2 * 5565 - 6 * 3000),
        ("content01-12345-00000", 9995 / 5 / 20, 9995 - 5565),
    ],
)
def test_linear_models_by_hand(item: str, liu12: float, yin15: float) -> None:
    assert LIU12(played(item))[0] == pytest.approx(liu12, rel=1e-6)
    assert YIN15(played(item))[0] == yin15


def test_presentation_quality_by_hand_and_concave_in_the_bitrate() -> None:
    quality = PRESENTATION(played("content07-12345-00000"))[0]
    fair = 100 * 1.05 / (1.05 + COMPLEXITY[6]) * (640 * 480 / (1920 * 1080)) ** 0.1
    assert quality[2] == pytest.approx(fair, rel=1e-5)
    assert (np.diff(quality) > 0).all()
    assert (np.diff(np.diff(quality) / np.diff([235, 560, 1050, 2350, 5800])) < 0).all()
    assert 0.15 <= COMPLEXITY.min() < COMPLEXITY.max() <= 1.5


def test_sqi_without_stalls_is_the_mean_presentation_quality() -> None:
    for item in ("content03-15243-00000", "content50-33333-00000"):
        assert SQI(played(item))[0] == pytest.approx(PRESENTATION(played(item)).mean(), rel=1e-6)


def stepped(one) -> float:
    """SQI in small steps of time, as its authors define it frame by frame."""
    step, total, time, quality_before, stalls = 1e-3, 0.0, 0.0, 80.0, []
    for quality, stall in zip(PRESENTATION(one)[0].tolist(), one.stall[0].tolist(), strict=True):
        if stall:
            stalls.append((time, float(stall), quality_before))
        for shown, seconds in ((quality_before, stall), (quality, 2)):
            for _ in range(round(seconds / step)):
                time += step
                total += step * (shown + sum(_experience(time - step / 2, *event) for event in stalls))
        quality_before = quality
    return total / time


def _experience(now: float, begin: float, length: float, quality: float) -> float:
    if now < begin + length:
        return quality * (math.exp(-(now - begin)) - 1)
    return quality * (math.exp(-length) - 1) * math.exp(-(now - begin - length) / 1.2)


@pytest.mark.parametrize("item", ["content11-55555-40000", "content11-15243-02404", "content40-51515-44444"])
def test_sqi_is_what_small_steps_of_time_sum_up_to(item: str) -> None:
    assert SQI(played(item))[0] == pytest.approx(stepped(played(item)), abs=0.01)


def test_a_stall_after_a_better_picture_costs_more() -> None:
    def cost(representations: str) -> float:
        without, with_one = (SQI(played(f"content20-{representations}-{stalls}"))[0] for stalls in ("00000", "00400"))
        return float(without - with_one)

    assert cost("55555") > cost("33333") > cost("11111") > 0


@settings(max_examples=15, deadline=None)
@given(NUMBERS, NUMBERS)
def test_drawings_have_one_size_and_tell_sessions_apart(one: int, other: int) -> None:
    first, second = SESSIONS.draw(one), SESSIONS.draw(other)
    assert first.size == second.size == (620, 240)
    assert (first.tobytes() == second.tobytes()) == (one == other)


def test_bars_have_the_colour_and_the_place_of_their_segments() -> None:
    drawn = SESSIONS.draw(SESSIONS.number_of("content07-31425-02004"))
    colours, at = of("sessions", "COLOURS"), of("sessions", "_at")
    begins = {0: "3", 4: "1", 6: "4", 8: "2", 14: "5"}
    for begin, representation in begins.items():
        red, green, blue = drawn.getpixel((round(at(begin + 1)), 180))
        assert f"#{red:02x}{green:02x}{blue:02x}" == colours[int(representation) - 1]
    stall = {drawn.getpixel((x, 150)) for x in range(round(at(2)) + 4, round(at(4)) - 4)}
    assert len(stall) > 2, "stripes"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Two contents of the fifty: 1,518,750 sessions, more than scales are made from."""
    folder = tmp_path_factory.mktemp("few")
    target = f"{EXAMPLE / 'sessions.py'}:Sessions"
    (folder / "few.py").write_text(
        f"from dissensus.backends import named_object\n\nFEW = named_object({target!r})(contents=2)\n"
    )
    pool = f"python:{folder / 'few.py'}:FEW"
    COMPETE.compete(folder / "study", pool)
    return folder / "study", pool


def test_the_selection_is_that_of_brute_force(few: tuple[Path, str]) -> None:
    sessions = SESSION_CLASS(contents=2)
    scores = [model(sessions.items(range(len(sessions)))) for model in (LIU12, YIN15, SQI)]
    models, (found,) = read_rounds(Folder(few[0]), PairSelection)
    assert models == list(NAMES)
    first = found.selection.take(found.selection.rank == 1)
    assert len(first) == 18
    grid = np.arange(801) / 8  # of the common scale, on which a defender's two scores lie within one unit
    levels = [(0, 267), (267, 533), (533, 800)]
    for defender, name in enumerate(models):
        edges = scale_of(found.about["scales"][name]).inverse(grid)
        cell = np.searchsorted(edges[1:-1], scores[defender], side="right")
        for attacker in {0, 1, 2} - {defender}:
            low, high = np.full(800, np.inf), np.full(800, -np.inf)
            np.minimum.at(low, cell, scores[attacker])
            np.maximum.at(high, cell, scores[attacker])
            for level, (begin, end) in enumerate(levels):
                best = max(high[at : at + 8].max() - low[at : at + 8].min() for at in range(begin, end - 7))
                (row,) = np.flatnonzero(
                    (first.attacker == attacker) & (first.defender == defender) & (first.level == level)
                )
                pair = first.low[row], first.high[row]
                assert np.diff(scores[attacker][list(pair)].astype(np.float64)) == best
                places = sorted(cell[list(pair)].tolist())
                assert begin <= places[0] <= places[1] < end
                assert places[1] - places[0] < 8


def test_the_pairs_are_those_that_are_printed(
    few: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(few[0])
    pairs = COMPETE.pairs_of(study)
    assert [row["level"] for row in pairs] == [0] * 6 + [1] * 6 + [2] * 6
    assert {(row["attacker"], row["defender"]) for row in pairs} == {(a, d) for a in NAMES for d in NAMES if a != d}
    assert all(row["attacker_high"] > row["attacker_low"] for row in pairs)
    assert "without answers" in study.settings.notes[0]
    assert any("stand-in" in note for note in study.settings.notes)
    of("compete", "show")(study, 1.0, 2.0)
    assert pairs[0]["high"] in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["compete.py", str(few[0]), "--json"])
    with pytest.raises(SystemExit) as ended:
        COMPETE.main()
    assert ended.value.code == 2
    assert "is finished: dissensus serve" in capsys.readouterr().err


def test_an_interrupted_run_goes_on(few: tuple[Path, str], tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []

    def interrupt(what: str, done: int, total: int) -> None:
        told.append((what, done))
        if what == "predict Yin15" and done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        COMPETE.compete(tmp_path / "study", few[1], interrupt)
    assert any(what == "predict Yin15" for what, _ in told)
    told.clear()
    study = COMPETE.compete(tmp_path / "study", few[1], lambda what, done, _: told.append((what, done)))
    assert "predict Liu12" not in {what for what, _ in told}
    assert min(done for what, done in told if what == "predict Yin15") > 0
    whole = (few[0] / "rounds" / "001" / "selection.parquet").read_bytes()
    assert (study.folder.root / "rounds" / "001" / "selection.parquet").read_bytes() == whole
    with pytest.raises(StudyError, match="is finished"):
        COMPETE.compete(tmp_path / "study", few[1])
