"""Sentences and verdicts: who needs least, and what holds of what the paper saw."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from made_laconic import ACCURACY, PAPER, REDUCTIONS, made, unrecognised, without

from dissensus.records import Difference, LaconicResult
from dissensus.reductions.findings import result_of
from dissensus.reductions.observations import every_positive, some_positive

FEW = 500
MODELS = {name: shares for name, shares in PAPER.items() if name != "people"}


def verdicts(found: LaconicResult) -> dict[str, str]:
    return {one.name: one.verdict for one in found.observations}


def apart(low: float, high: float, wider: float = 0.0) -> Difference:
    return Difference(
        classifier="a", reduction="crop", other_classifier="b", other_reduction="crop", value=(low + high) / 2,
        low=low, high=high, low_at_once=low - wider, high_at_once=high + wider, images=9,
    )  # fmt: skip


def test_the_papers_own_numbers():
    """All its observations hold, but four models in perfect order are too few for a correlation."""
    found = result_of(made(), resamples=FEW)
    assert set(verdicts(found).values()) == {"holds", "undecided"}
    assert [name for name, verdict in verdicts(found).items() if verdict == "undecided"] == [
        "laconic models are accurate"
    ]
    assert found.words[0].startswith("SE-ResNet50 needs least with all reductions combined: 4.")
    assert "(95 % interval " in found.words[0]
    assert "next comes ResNet50" in found.words[0]
    assert found.words[1].startswith("People need least if only the colours are reduced")
    assert "8 hold here, 1 is undecided (laconic models are accurate)" in found.words[-1]


def test_eight_models_in_order_are_enough():
    means = {f"net{n}": tuple(share * 0.75**n for share in (0.3, 0.6, 0.25, 0.1)) for n in range(8)}
    found = result_of(made(means, {f"net{n}": 0.6 + 0.05 * n for n in range(8)}), resamples=FEW)
    assert verdicts(found)["laconic models are accurate"] == "holds"
    turned = result_of(made(means, {f"net{n}": 0.95 - 0.05 * n for n in range(8)}), resamples=FEW)
    assert verdicts(turned)["laconic models are accurate"] == "does not hold"


def test_people_read_as_one_and_play_in_two_modes():
    """As in a study: MEPIs belong to 'people (free)' and 'people (guided)', and 'people' read those of models."""
    laconic = made(people=("people",))
    free, reader = laconic.classifiers.index("people"), len(laconic.classifiers)
    found = laconic.readings
    apart = replace(
        laconic,
        classifiers=(*laconic.classifiers[:-1], "people (free)", "people"),
        is_person=np.array([*laconic.is_person, True]),
        accuracy=np.array([*laconic.accuracy, 0.0]),
        readings=replace(found, reader=np.where(found.reader == free, reader, found.reader)),
    )
    result = result_of(apart, resamples=FEW)
    name = "people read models, not the other way round"
    assert verdicts(result)[name] == verdicts(result_of(laconic, resamples=FEW))[name] == "holds"
    assert not any("none of the images" in words for words in result.words)


def test_what_does_not_hold_is_named():
    means = dict(MODELS) | {"GoogLeNet": (0.15, 0.1, 0.4, 0.2), "people": (0.3, 0.09, 0.01, 0.05)}
    found = result_of(made(means), resamples=FEW)
    wanted = {
        "combining needs least": "does not hold",
        "resolution matters most": "does not hold",
        "people need less colour": "does not hold",
        "people need less resolution": "undecided",  # about as much as GoogLeNet
        "people need more of a crop": "does not hold",
        "people gain nothing by combining": "does not hold",
    }
    assert {name: verdicts(found)[name] for name in wanted} == wanted
    said = {one.name: one.words for one in found.observations}
    assert said["combining needs least"].startswith("2 of 12 differences are negative, most clearly GoogLeNet, ")


def test_people_who_only_read_have_no_ratio_but_count_as_readers():
    """As in a real study: people who play, by mode, and people who name the MEPIs of machines."""
    one = made()
    people, number = one.classifiers.index("people"), len(one.classifiers)
    reader = np.where(one.readings.reader == people, number, one.readings.reader)
    names = tuple("people (free)" if name == "people" else name for name in one.classifiers)
    split = replace(
        one,
        classifiers=(*names, "people"),
        is_person=np.append(one.is_person, True),
        accuracy=np.append(one.accuracy, 0.0),
        readings=replace(one.readings, reader=reader),
    )
    found, whole = result_of(split, resamples=FEW), result_of(one, resamples=FEW)
    assert verdicts(found) == verdicts(whole)
    assert found.observations[-1].words == whole.observations[-1].words
    assert found.measured == names
    assert not any("recognise none" in sentence or "recognises none" in sentence for sentence in found.words)


def test_without_people_their_observations_are_not_tested():
    found = result_of(made(MODELS), resamples=FEW)
    people = [one for one in found.observations if one.name.startswith("people")]
    assert len(people) == 5
    assert all(one.verdict == "not tested" and one.words == "No people have taken part." for one in people)
    assert "Of the 4 observations of the paper that can be tested here" in found.words[-1]


def test_equals_cannot_be_told_apart():
    alike = dict.fromkeys(("a", "b"), (0.2, 0.5, 0.2, 0.05))
    words = result_of(made(alike, {"a": 0.9, "b": 0.9}), resamples=FEW).words
    assert words[0].startswith(("a and b need least", "b and a need least"))
    assert words[0].endswith("too close to tell apart.")
    many = dict.fromkeys("abcdef", (0.2, 0.5, 0.2, 0.05))
    words = result_of(made(many, dict.fromkeys("abcdef", 0.9)), resamples=FEW).words
    assert words[0].startswith("With all reductions combined, ")
    assert words[0].endswith("5 others may need as little.")


def test_few_results():
    one = result_of(made({"only": (0.2, 0.5, 0.1, 0.05)}, {"only": 0.9}), resamples=FEW)
    assert one.words[0].startswith("only needs ")
    assert verdicts(one)["laconic models are accurate"] == "not tested"
    assert next(o for o in one.observations if o.verdict == "not tested").words.startswith("A correlation needs")
    laconic = made(per_class=2)
    none = result_of(unrecognised(laconic, range(40)), resamples=FEW)
    assert none.words == ("No classifier recognises any of the 40 images: there is nothing to reduce.",)
    assert set(verdicts(none).values()) == {"not tested", "holds"}  # what models read does not depend on images
    assert (none.unused_by_all, none.unused["ResNet50"]) == (40, 40)
    some = result_of(without(laconic, "GoogLeNet"), resamples=FEW)
    assert "GoogLeNet recognises none of the images and has no result." in some.words
    assert some.mean("GoogLeNet", "crop").value is None
    single = result_of(made(classes=("cat",), per_class=1, accuracy=dict.fromkeys(ACCURACY, 1.0)), resamples=FEW)
    assert all(one.low is None for one in single.means)
    assert {verdict for name, verdict in verdicts(single).items() if "correl" not in name} >= {"undecided"}
    other = replace(laconic, reductions=("blur", "noise", "jpeg", "smear"))
    assert verdicts(result_of(other, resamples=FEW))["combining needs least"] == "not tested"


def test_unused_images_are_counted():
    laconic = unrecognised(made(per_class=5), [3, 50])
    found = result_of(laconic, resamples=FEW)
    seen = set(laconic.mepis.image[laconic.mepis.classifier == 1].tolist())
    assert found.unused["GoogLeNet"] == 100 - len(seen)
    assert "people" not in found.unused
    assert found.unused_by_all >= 2


def test_verdicts_by_intervals():
    assert every_positive([]) == some_positive([]) == "not tested"
    assert every_positive([apart(1, 2), apart(0.1, 3)]) == "holds"
    assert every_positive([apart(1, 2), apart(-0.1, 3)]) == "undecided"
    assert every_positive([apart(1, 2), apart(-2, -1)]) == "does not hold"
    assert every_positive([apart(1, 2), apart(-2, -1, wider=1.5)]) == "undecided"  # one of many, by chance
    assert some_positive([apart(1, 2), apart(-2, -1)]) == "holds"
    assert some_positive([apart(1, 2, wider=1.5), apart(-2, -1)]) == "undecided"
    assert some_positive([apart(-3, -2), apart(-2, -1, wider=9)]) == "does not hold"


def test_json_frames_and_notebook():
    found = result_of(made(per_class=3), resamples=FEW)
    written = found.model_dump_json()
    assert "found" not in json.loads(written)
    again = LaconicResult.model_validate_json(written)
    assert again.model_dump() == found.model_dump()
    assert again.found is None
    means = found.to_frame()
    assert list(means.columns)[:3] == ["classifier", "reduction", "is_person"]
    assert len(means) == 5 * 4
    images = found.to_frame("images")
    assert len(images) == len(found.found.mepis)
    assert np.allclose(images["ratio"], images["bytes"] / images["original"])
    assert set(images["reduction"]) == set(REDUCTIONS)
    by_class = found.to_frame("classes").groupby(["classifier", "reduction"])["value"].mean()
    assert by_class["ResNet50", "crop"] == pytest.approx(found.mean("ResNet50", "crop").value)
    assert len(found.to_frame("precision")) == len(found.precision)
    assert {"low", "low_at_once"} <= set(found.to_frame("differences").columns)
    assert len(found.to_frame("correlations")) == 4
    with pytest.raises(ValueError, match="compute it again"):
        again.to_frame("images")
    with pytest.raises(ValueError, match="unknown frame 'ratio'"):
        found.to_frame("ratio")
    html = found._repr_html_()
    assert "<svg" in html
    assert "does not hold" in html or "holds" in html
    assert "SE-ResNet50" in repr(found)
    assert found.plot().rows[0][:2] == ("colour", "SqueezeNet")
    assert found.plot().rows[0][-1] == pytest.approx(100 * found.mean("SqueezeNet", "colour").value)
    assert found.least("crop")[0].value == min(one.value for one in found.means if one.reduction == "crop")
    nothing = result_of(without(made(per_class=1), *PAPER), resamples=FEW)
    assert "nothing found" in nothing.plot().svg()
