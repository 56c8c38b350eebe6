"""The whole result from arrays: grades, gaps, words, frames, the page, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from people_sample import planted

import dissensus
from dissensus import human_baseline
from dissensus.errors import ParticipantError, StudyError
from dissensus.participants.findings import result_of
from dissensus.participants.grading import graded
from dissensus.participants.sample import NO_LABEL, Images, LabelSets, Participants
from dissensus.plots.plot import Hints
from dissensus.proportions import clopper_pearson, newcombe
from dissensus.records import HumanResult
from dissensus.report.human.page import human_page
from dissensus.report.page import render
from dissensus.study.baselining import write_human_page


@pytest.fixture(scope="module")
def result() -> HumanResult:
    participants, images, subsets, classes = planted(1200)
    return result_of(participants, images, subsets, classes, resamples=2000)


def test_planted_skills_are_recovered(result: HumanResult) -> None:
    assert "people are more robust" in " ".join(result.words)
    assert "On the new set" in result.words[0]
    tests = {(one.subset, one.participant): one for one in result.subset_tests if one.test_set == result.main_set}
    assert tests["dogs", "mean of people"].change < -0.1
    assert tests["dogs", "mean of people"].p_adjusted < 0.05
    assert tests["dogs", "mean of models"].p_adjusted > 0.05
    assert tests["without dogs", "people − models"].change > 0
    gap = next(one for one in result.gaps if one.participant == "people − models" and one.metric == "multi-label")
    assert gap.high < 0


def test_the_careless_person_is_named_and_nobody_else(result: HumanResult) -> None:
    assert [one.person for one in result.people if one.is_careless] == ["E"]
    assert any(one.startswith("E looks fast and careless") for one in result.words)
    assert result.accuracy("E").count == 1200  # named, not excluded


def test_accuracies_and_gaps_are_counts(result: HumanResult) -> None:
    participants, images, _, _ = planted(1200)
    assert images.right is not None
    for row, name in enumerate(participants.names):
        right = np.array([
            label in set(images.right.label[images.right.start[i] : images.right.start[i + 1]].tolist())
            for i, label in enumerate(participants.label[row].tolist())
        ])  # fmt: skip
        one = result.accuracy(name)
        assert one.right == right.sum()
        assert (one.low, one.high) == pytest.approx(tuple(map(float, clopper_pearson(int(right.sum()), 1200))))
        assert result.accuracy(name, "top-1").right == (participants.label[row] == images.truth).sum()
        gap = next(gap for gap in result.gaps if (gap.participant, gap.metric) == (name, "multi-label"))
        hits = [int(right[images.test_set == number].sum()) for number in (0, 1)]
        assert (gap.low, gap.high) == pytest.approx(tuple(map(float, newcombe(hits[0], 600, hits[1], 600))))


def test_images_and_participants_in_any_order(result: HumanResult) -> None:
    participants, images, subsets, classes = planted(1200)
    rng = np.random.default_rng(1)
    order, who = rng.permutation(1200), rng.permutation(len(participants.names))
    assert participants.seconds is not None
    assert images.right is not None
    assert images.reviewed is not None

    def sets(given: LabelSets) -> LabelSets:
        return LabelSets.of(given.label[given.start[one] : given.start[one + 1]].tolist() for one in order)

    shuffled = result_of(
        Participants(
            tuple(participants.names[one] for one in who), participants.is_person[who],
            participants.label[who][:, order], seconds=participants.seconds[who][:, order],
        ),
        Images(
            tuple(images.items[one] for one in order), images.truth[order], images.test_set[order], images.sets,
            sets(images.right), sets(images.reviewed),
        ),
        [type(one)(one.name, one.is_in[order], one.classes_in) for one in subsets],
        classes,
        resamples=2000,
    )  # fmt: skip
    assert shuffled.words == result.words
    assert sorted(map(repr, shuffled.ranks)) == sorted(map(repr, result.ranks))


def test_frames_json_and_display(result: HumanResult) -> None:
    for name in ("accuracies", "gaps", "pairs", "ranks", "order", "reversals", "subsets", "people", "times", "missed"):
        assert len(result.to_frame(name).columns) > 3  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown frame"):
        result.to_frame("nothing")  # type: ignore[arg-type]
    assert HumanResult.model_validate_json(result.model_dump_json()) == result
    assert "NaN" not in json.dumps(result.model_dump(mode="json"))
    assert result._repr_html_().count("<table") == 1
    assert repr(result).startswith(result.words[0])


def test_the_page_says_it_first_and_exports_every_figure(result: HumanResult, tmp_path: Path) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    page = human_page(result, pictures={one.item: picture for one in result.missed})
    text = render(page)
    assert text.index(result.words[0][:20]) < text.index("</header>")
    names = [plot.name for plot in page.plots]
    assert len(set(names)) == len(names)
    assert {"test-sets", "orders", "metrics", "times", "subset-dogs"} <= set(names)
    for plot in page.plots:
        assert {path.suffix for path in plot.write(tmp_path, ("svg",))} == {".svg", ".csv"}


def small(**more: object) -> HumanResult:
    said = {"ann": ["cat", "dog", None], "net": ["cat", "cat", "dog"], "web": ["cat", "dog", "dog"]}
    return human_baseline(said, ["cat", "dog", "dog"], people=["ann"], resamples=99, **more)  # type: ignore[arg-type]


def test_a_result_is_written_as_a_page_with_its_figures(tmp_path: Path) -> None:
    page = write_human_page(small(), tmp_path / "page.html", tmp_path / "figures")
    assert page is not None
    assert "ann" in page.read_text()
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".pdf", ".csv"}
    with pytest.raises(StudyError, match="is a folder"):
        write_human_page(small(), tmp_path)


def test_skipped_images_count_as_wrong() -> None:
    found = small()
    assert (found.metric, found.accuracy("ann").right, found.accuracy("ann").count) == ("top-1", 2, 3)
    assert any("without any label" in note for note in found.notes)


def test_images_that_were_not_asked_do_not_count() -> None:
    assert small(asked={"ann": [True, True, False]}).accuracy("ann").count == 2


def test_none_of_these_with_an_alternative_counts_as_it() -> None:
    found = small(alternatives={"ann": [None, "cat", "dog"]}, right=[["cat"], ["dog"], ["dog"]])
    assert found.accuracy("ann").right == 3
    assert found.accuracy("ann", "imputed").right == 2


def test_top5_is_defined_only_where_labels_are_known() -> None:
    said = {"ann": [["cat", "dog"], ["cat", "cow"]], "net": ["dog", "dog"]}
    found = human_baseline(said, ["cat", "dog"], people=["ann"], classes=["cat", "cow", "dog"])
    assert found.accuracy("ann", "top-5").right == 1
    assert found.accuracy("net", "top-5").accuracy is None
    assert found.accuracy("net", "top-5").count == 0


def test_unreviewed_labels_are_counted_as_wrong_and_reported() -> None:
    found = small(right=[["cat"], ["dog"], ["dog"]], reviewed=[["cat"], ["dog"], ["dog"]])
    assert found.accuracy("net").unjudged == 1
    assert any("nobody reviewed" in note for note in found.notes)


def test_images_without_a_right_label_are_left_out() -> None:
    found = small(right=[["cat"], [], ["dog", "cat"]])
    assert found.images == 2
    assert any("1 of 3 images without a right label" in note for note in found.notes)
    assert {"one right label", "several right labels"} <= set(found.subsets)


def test_problematic_images_are_left_out_unless_kept() -> None:
    labels = [["cat"], ["cat"], ["dog"]]
    reviewed = [["cat"], ["cat", "dog"], ["dog"]]
    for keeps, images in ((False, 1), (True, 3)):
        found = small(right=labels, reviewed=reviewed, problematic=[True, False, False], keeps_problematic=keeps)
        assert found.images == images
        assert found.accuracy("net", subset="with problematic images").count == 3
        assert found.accuracy("net", subset="only problematic images").count == 2


@pytest.mark.parametrize(
    ("said", "people", "expected"),
    [
        ({"net": [0, 1]}, [], "net gets 100.0 %"),
        ({"ann": [0, 1]}, ["ann"], "ann gets 100.0 %"),
        ({"a": [0, 1], "b": [0, 1]}, [], "may be as good or better"),
        ({"ann": [0, 1], "net": [0, 1]}, ["ann"], "Nobody is really better"),
        ({"ann": [None, None], "net": [0, 1]}, ["ann"], "Nobody is really better"),
    ],
)
def test_few_participants(said: dict[str, list[int]], people: list[str], expected: str) -> None:
    found = human_baseline(said, [0, 1], people=people)
    assert expected in found.words[0]
    assert render(human_page(found))


def test_nobody_has_been_asked_yet() -> None:
    found = human_baseline({"ann": [None, None]}, [0, 1], people=["ann"], asked={"ann": [False, False]})
    assert found.words[0] == "Nobody has answered an image that counts yet."
    assert found.standings() == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predictions": {}}, "no participants"),
        ({"truth": []}, "for 0 images"),
        ({"people": ["bob"]}, "who has no labels"),
        ({"right": [[], []]}, "no image has a right label"),
        ({"problematic": [True, True]}, "all images are problematic"),
        ({"classes": ["cat"]}, "not one of the 1 classes"),
        ({"predictions": {"net": ["cat", "dog"]}, "classes": ["cat"]}, "is not a class"),
        ({"subsets": {"fast images": [0]}, "right": [[0], [1]]}, "cannot be called"),
        ({"seconds": {"net": [1.0]}}, "give one per image"),
        ({"truth": [0, None]}, "in place of a class"),
        ({"right": [[0], [1, None]]}, "in place of a class"),
        ({"reviewed": [[0], [-1]], "right": [[0], [1]]}, "in place of a class"),
        ({"subsets": {"none": [None]}}, "in place of a class"),
        ({"test_set": ["all images", "new"]}, "cannot be called"),
        ({"predictions": {"mean of people": [0, 1]}}, "cannot be called"),
        ({"level": 95}, "between 0 and 1"),
        ({"level": float("nan")}, "between 0 and 1"),
        ({"resamples": 0}, "too few"),
    ],
)
def test_what_a_user_can_fix_is_one_line(given: dict[str, object], message: str) -> None:
    arguments = {"predictions": {"net": [0, 1]}, "truth": [0, 1]} | given
    with pytest.raises(ParticipantError, match=message) as caught:
        human_baseline(**arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_label_sets() -> None:
    sets = LabelSets.of([[3, 1], [], [0]])
    assert sets.sizes.tolist() == [2, 0, 1]
    assert sets.has(np.array([[1, 1, 0], [NO_LABEL, NO_LABEL, 3], [9, 0, NO_LABEL]])).tolist() == [
        [True, False, True], [False, False, False], [False, False, False],
    ]  # fmt: skip
    assert not LabelSets.of([[], []]).has(np.array([0, 0])).any()


def test_grades_never_count_an_image_that_was_not_asked() -> None:
    participants = Participants(("A",), np.ones(1, bool), np.array([[0, 0]]), is_asked=np.array([[True, False]]))
    images = Images(("a", "b"), np.zeros(2, int), np.zeros(2, int), right=LabelSets.of([[0], [0]]))
    for one in graded(participants, images).values():
        assert one.totals.tolist() == [1]
        assert one.hits.tolist() == [1]


def test_it_is_a_function_of_the_package() -> None:
    assert dissensus.human_baseline is human_baseline


@pytest.mark.parametrize("people", [1, 3])
def test_a_person_who_has_answered_nothing_yet_changes_nothing(people: int) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(6, size=80)
    names = [f"person{one}" for one in range(people)]
    said = {name: np.where(rng.random(80) < 0.8, truth, 0) for name in (*names, "net", "web")}
    more = {
        "right": [{int(one)} if one % 2 else {int(one), 0} for one in truth], "subsets": {"two": [0, 1]},
        "test_set": ["old"] * 50 + ["new"] * 30, "resamples": 99,
    }  # fmt: skip
    without = human_baseline(said, truth, names, **more)  # type: ignore[arg-type]
    grown = {"idle": np.full(80, NO_LABEL), **said}
    with_one = human_baseline(grown, truth, ["idle", *names], asked={"idle": [False] * 80}, **more)  # type: ignore[arg-type]
    for part in ("words", "gaps", "pairs", "ranks", "order", "reversals", "kendall_tau", "missed"):
        assert getattr(with_one, part) == getattr(without, part), part
    changes = ([(one.change, one.low, one.high, one.p) for one in found.subset_tests] for found in (with_one, without))
    assert np.array(next(changes)) == pytest.approx(np.array(next(changes)))
    assert render(human_page(with_one))


def test_the_mean_gap_does_not_depend_on_who_was_asked_where() -> None:
    """A good person answers mostly the old set and a bad one the new set; neither loses anything."""
    rng = np.random.default_rng(5)
    truth, is_old = np.zeros(4000, int), np.arange(4000) < 2000
    said = {name: np.where(rng.random(4000) < skill, 0, 1) for name, skill in (("a", 0.95), ("b", 0.6), ("net", 0.8))}
    mostly = rng.random(4000) < np.where(is_old, 0.9, 0.1)
    found = human_baseline(
        said, truth, ["a", "b"], asked={"a": mostly, "b": ~mostly}, test_set=np.where(is_old, "old", "new").tolist()
    )
    gap = next(one for one in found.gaps if one.participant == "mean of people")
    own = [one for one in found.gaps if one.kind == "person"]
    assert gap.gap == pytest.approx(np.mean([one.gap for one in own]))
    assert gap.low < 0 < gap.high
    assert "not decided" in " ".join(found.words)
    assert any("same images" in note for note in found.notes)


def test_a_person_asked_about_easy_images_only_is_compared_on_these() -> None:
    rng = np.random.default_rng(6)
    truth, is_easy = np.zeros(2000, int), np.arange(2000) < 500
    said = {
        "ann": np.where(rng.random(2000) < 0.93, 0, 1),
        "net": np.where(rng.random(2000) < np.where(is_easy, 0.999, 0.5), 0, 1),
    }
    found = human_baseline(said, truth, ["ann"], asked={"ann": is_easy})
    assert found.standings()[0].participant == "ann"
    assert "on the 500 images that both were asked about, net gets" in found.words[1]
    assert "500 of which people were asked about" in found.words[-1]


def test_intervals_of_differences_stay_possible() -> None:
    found = human_baseline({"a": [0, 0], "net": [1, 1]}, [0, 1], ["a"], test_set=["old", "new"])
    for one in found.pairs:
        assert -1 <= one.low <= one.high <= 1
    for gap in found.gaps:
        reach = 2 if gap.kind == "difference" else 1
        assert -reach <= gap.low <= gap.high <= reach


def test_pairs_without_a_shared_image_have_no_test() -> None:
    said = {"ann": [0, 1, 1], "ben": [0, 1, 0], "net": [0, 1, 1]}
    found = human_baseline(
        said, [0, 1, 1], ["ann", "ben"], asked={"ann": [True, False, False], "ben": [False, True, True]}
    )
    assert {"ann", "ben"} not in [{one.first, one.second} for one in found.pairs]
    assert all(one.count for one in found.pairs)


def test_times_without_an_end_are_unknown() -> None:
    found = human_baseline({"a": [0, 1]}, [0, 1], ["a"], seconds={"a": [float("inf"), 2.0]})
    assert found.people[0].timed == 1
    assert found.people[0].median_seconds == 2


def test_figures_where_nobody_or_only_some_were_asked() -> None:
    none = human_baseline({"ann": [None]}, [0], ["ann"], asked={"ann": [False]})
    assert human_page(none).opening.plots == ()
    asked = {"ann": [True, False], "ben": [False, True]}
    found = human_baseline({"ann": [0, 0], "ben": [0, 0]}, [0, 0], ["ann", "ben"], asked=asked, test_set=["old", "new"])
    page = human_page(found)
    assert render(page)
    apart = human_baseline(
        {"ann": [0, 0], "ben": [0, 1]}, [0, 0], ["ann", "ben"], asked={"ann": [True, False]}, test_set=["old", "new"],
        right=[[0], [0]],
    )  # fmt: skip
    (subset,) = [plot for plot in human_page(apart).plots if plot.name == "subset-one-right-label"]
    figure = Figure()
    subset.draw(figure.subplots(), Hints())
    key = [text.get_text() for text in figure.legends[0].get_texts()]
    assert key == ["old set", "new set"]  # although the first row has no value on the new set
