"""'a' or 'an' before names of classes: right where it stands, and left out where that is not certain."""

from __future__ import annotations

import pytest

from dissensus.labeling.articles import articles_of
from dissensus.records import Classes
from dissensus.steps.classes import with_articles
from dissensus.store.classes import classes_of, english_nouns, read_classes


def phrases(names: list[str]) -> list[str]:
    return [
        f"{article} {name}".strip() for article, name in zip(articles_of(names, english_nouns()), names, strict=True)
    ]


ANIMALS = ["cat", "dog", "horse", "frog", "deer"]
"""Enough English names for a list to be taken as English."""


@pytest.mark.parametrize(
    "phrase",
    [
        *("a tabby", "an Irish setter", "an Egyptian cat", "a Samoyed", "a Great Dane", "an otter", "a leopard"),
        *("an hourglass", "a unicycle", "an umbrella", "a European robin", "a house finch", "an X-ray", "a US flag"),
        *(
            "an MRI scanner",
            "a CD player",
            "a beer glass",
            "a school bus",
            "a bird of paradise",
            "a crane (wading bird)",
        ),
        *("a three-toed sloth", "an 8", "a 3", "a sheep"),
        *("scissors", "sunglasses", "people", "mice", "parallel bars"),
        *("sky", "grass", "bread", "broccoli", "vegetation", "red wine", "toilet tissue"),
        *(
            "Paris",
            "Eiffel Tower",
            "Granny Smith",
            "the moon",
            "no animal",
            "cats and dogs",
            "cat/dog",
            "red",
            "Grünspecht",
        ),
    ],
)
def test_an_article_is_right_or_left_out(phrase: str) -> None:
    name = phrase.removeprefix("an ").removeprefix("a ")
    assert phrases([*ANIMALS, name])[-1] == phrase


@pytest.mark.parametrize(
    "names",
    [
        ["Hund", "Katze", "Auto", "Ball", "Baum", "Vogel", "Pferd"],
        ["chat", "chien", "table", "train", "maison"],
        ["perro", "gato", "coche", "pan", "mesa"],
        ["kot", "pies", "samochód", "dom"],
        ["猫", "犬"],
    ],
)
def test_names_in_other_languages_stay_as_they_are(names: list[str]) -> None:
    assert phrases(names) == names


def test_names_that_are_all_capitalised_are_not_taken_for_proper_names() -> None:
    names = ["Laysan Albatross", "Crested Auklet", "Brewer Blackbird", "Indigo Bunting"]
    assert phrases(names) == ["a Laysan Albatross", "a Crested Auklet", "a Brewer Blackbird", "an Indigo Bunting"]


def test_most_of_imagenet_has_an_article_and_none_before_a_plural() -> None:
    classes = with_articles(classes_of(read_classes("imagenet")))
    assert sum(map(bool, classes.articles)) > 950
    plural = [name for name in classes.names if name.endswith(("bars", "trunks", "glasses", "binoculars"))]
    assert len(plural) == 4
    assert not any(classes.article(classes.index_of(name)) for name in plural)


def test_classes_have_no_articles_unless_they_are_asked_for() -> None:
    assert Classes(("cat", "dog")).article(1) == ""
