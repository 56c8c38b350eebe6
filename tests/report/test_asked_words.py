"""Who answered and at what price: one set of fields, from which every part of a page says it."""

from __future__ import annotations

import pytest

from dissensus.report.data import Report
from dissensus.report.wording import answered_by, asked_rows, price


def report(pool: int = 1000, questions: int = 69, judgements: int = 207, **more: object) -> Report:
    about = {"title": "t", "models": ("a", "b"), "annotators": 3, "settings": {}} | more
    return Report(pool_size=pool, questions=questions, judgements=judgements, **about)


@pytest.mark.parametrize(
    ("pool", "questions", "judgements", "ends"),
    [
        (50_000, 552, 2_760, "would take 50,000 answers, 18 times as many."),
        (300, 69, 207, "would take 300 answers, 1.4 times as many."),
        (207, 69, 207, "would take 207 answers, just as many."),
        (74, 69, 207, "would take 74 answers, fewer than were asked for here: a pool this small is cheaper to label."),
        (74, 80, 3, "would take 74 answers, fewer than were asked for here: a pool this small is cheaper to label."),
    ],
)
def test_price_is_compared_with_labelling_the_pool(pool, questions, judgements, ends):
    assert price(report(pool, questions, judgements)) == f"Labelling the whole pool once {ends}"


def test_people_whose_answers_are_not_needed_are_stored_but_not_counted():
    found = report(annotators=69, stored_answers=924_810, stored_annotators=85)
    assert answered_by(found) == "69 annotators"
    assert asked_rows(found) == {
        "answers": "207",
        "given by": "69 annotators",
        "stored in the study": "924,810 answers by 85 annotators; the others are not needed",
    }
    assert "stored in the study" not in asked_rows(report(stored_answers=207, stored_annotators=3))


def test_without_people_nothing_counts_any():
    found = report(annotators=None, answers_from="mean opinion scores", stored_answers=300)
    assert answered_by(found) == "mean opinion scores"
    assert asked_rows(found)["given by"] == "mean opinion scores"
    assert asked_rows(found)["stored in the study"] == "300 answers; the others are not needed"
