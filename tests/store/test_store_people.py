from __future__ import annotations

import pytest

from dissensus.errors import StudyError
from dissensus.records import token_hash
from dissensus.store.database import Database
from dissensus.store.people import People


@pytest.fixture
def people(database: Database) -> People:
    return People(database)


def test_a_study_without_people(people: People) -> None:
    assert (people.all(), people.exclusions(), people.excluded(), people.with_token("x")) == ([], [], {}, None)


def test_a_token_opens_for_the_one_who_got_it_and_only_its_hash_is_stored(people: People) -> None:
    tokens = {name: people.add(name, is_trusted=name == "Zoë") for name in ("ann", "Zoë", "bob b. o'x")}
    assert len(set(tokens.values())) == 3
    assert all(len(token) >= 22 and token.replace("-", "").replace("_", "").isalnum() for token in tokens.values())
    for name, token in tokens.items():
        found = people.with_token(token)
        assert found is not None
        assert (found.name, found.token_hash, found.is_trusted) == (name, token_hash(token), name == "Zoë")
        assert found in people.all()
        assert token not in repr(people.all())
    assert [found.name for found in people.all()] == list(tokens)


@pytest.mark.parametrize("token", ["", "x", "ann", "\ud800", "ä" * 10_000, "'; DROP TABLE annotators; --", "\0"])
def test_a_wrong_token_opens_nothing(people: People, token: str) -> None:
    people.add("ann")
    assert people.with_token(token) is None
    assert people.with_token(people.all()[0].token_hash) is None


def test_the_owner_and_a_chosen_seed(people: People) -> None:
    people.add("boss", is_owner=True, seed=2**62)
    people.add("ann")
    boss, ann = sorted(people.all(), key=lambda found: not found.is_owner)
    assert (boss.is_owner, boss.seed, ann.is_owner, ann.is_trusted) == (True, 2**62, False, False)
    assert 0 <= ann.seed < 2**32


def test_two_people_are_not_called_the_same(people: People) -> None:
    token = people.add("ann")
    with pytest.raises(StudyError, match="an annotator called 'ann' already exists"):
        people.add("ann")
    assert people.with_token(token) is not None


def test_a_revoked_link_is_worth_nothing_and_a_new_one_goes_on_in_the_same_order(people: People) -> None:
    first = people.add("ann", is_trusted=True)
    before = people.all()[0]
    people.revoke("ann")
    people.revoke("ann")
    assert people.with_token(first) is None
    assert people.all()[0].revoked is not None
    second = people.add("ann")
    found = people.with_token(second)
    assert found is not None
    assert (found.seed, found.is_trusted, found.revoked, people.with_token(first)) == (before.seed, False, None, None)
    people.revoke("ann")
    people.add("ann", seed=5)
    assert [found.seed for found in people.all()] == [5]


def test_nobody_of_that_name_is_revoked(people: People) -> None:
    with pytest.raises(StudyError, match="no annotator is called 'ann'"):
        people.revoke("ann")


@pytest.mark.parametrize("name", ["", " ", " ann", "a/b", ".", "..", "a\nb", "a\0", "x" * 101, "\ud800"])
def test_names_that_cannot_be_part_of_an_address_are_refused_in_one_line(people: People, name: str) -> None:
    with pytest.raises(StudyError, match="is not a valid name") as refused:
        people.add(name)
    assert len(str(refused.value).splitlines()) == 1
    assert people.all() == []


def test_an_exclusion_can_be_taken_back_and_both_are_kept(people: People) -> None:
    people.exclude("ann", "answered all in 0.2 s", "boss")
    people.exclude("imported", "a bot", "boss")
    assert set(people.excluded()) == {"ann", "imported"}
    people.include("ann", "a key was stuck", "boss")
    assert set(people.excluded()) == {"imported"}
    decisions = [(found.annotator, found.is_excluded, found.reason, found.by) for found in people.exclusions()]
    assert decisions == [
        ("ann", True, "answered all in 0.2 s", "boss"),
        ("imported", True, "a bot", "boss"),
        ("ann", False, "a key was stuck", "boss"),
    ]


@pytest.mark.parametrize("reason", ["", "  "])
def test_nobody_is_excluded_without_a_reason(people: People, reason: str) -> None:
    with pytest.raises(StudyError, match="say why"):
        people.exclude("ann", reason, "boss")
    assert people.exclusions() == []
