"""Every sentence about certainty, with data that make it true and data under which it must not be said.

`CLAIMS` has one row for each: words of the sentence, and two functions that return what is said. A new sentence in one
of the `SOURCES` needs a row: the last test finds it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dissensus
from dissensus.competition import ranking, standings
from dissensus.ranking import Margins, sentences
from dissensus.records import AttackMatrices, Attacks, Contests, Fragility, Standing
from dissensus.report import opening, wording
from dissensus.report.labels.page import stability, two_rankings
from dissensus.report.scores.page import level_curves
from dissensus.report.scores.screening import _agreement
from dissensus.screening.agreement import Agreement
from dissensus.screening.controls import Threshold, suggested_exclusions
from dissensus.screening.shares import Shares
from dissensus.store.settings import CountingSettings
from dissensus.tasks.masks import standings as masks
from dissensus.tasks.scores import standings as scores

SOURCES = (
    "ranking/words.py",
    "competition/attacks.py",
    "competition/ranking.py",
    "competition/standings.py",
    "tasks/scores/standings.py",
    "tasks/masks/standings.py",
    "tasks/masks/judging.py",
    "report/opening.py",
    "report/wording.py",
    "report/labels/orders.py",
    "report/labels/page.py",
    "report/scores/page.py",
    "report/scores/screening.py",
    "screening/agreement.py",
    "screening/controls.py",
    "printing/people.py",
)
CERTAINTY = re.compile(
    r"\b(first|tied|separat\w*|certain|orders?|rank sets?|ranks may|clearly|chance|enough|told apart|tells them|"
    r"comparable|strongest|leads by|still open|ahead|matters|suffice|smaller set|bad luck|attacks better|"
    r"defends better|falsified|cannot be compared|agree on most|agree less|preferred the item|no reason)\b"
)
"""Words by which a sentence about certainty is recognized."""
PLAIN = ("lowest first", "most suspicious first", "no reason to exclude anyone", "less is better")
"""Sentences with these words claim nothing about certainty, or have a test of their own."""

Said = Callable[[], Iterable[str]]
NAMES = ["alexnet", "vgg", "resnet", "senet"]
STRENGTHS = np.array([0.0, 1.0, 2.0, 3.0])
ALL = ((0, 1, 2, 3),)


def separating(*pairs: tuple[int, int], by: float = 0.5, others: float = 100.0) -> Margins:
    matrix = np.full((4, 4), others)
    for one, other in pairs:
        matrix[one, other] = by
    return Margins(matrix, matrix)


BEST = separating((3, 0), (3, 1), (3, 2))
NEARLY = separating((3, 0), (3, 1), (3, 2), by=1.2)


def found(margins: Margins = BEST, groups: Sequence[Sequence[int]] = ALL, **more: Any) -> Said:
    """Sentences about four models, the last of which is the strongest."""
    among = list(groups[0])
    cut = Margins(margins.pairs[np.ix_(among, among)], margins.first[np.ix_(among, among)])
    return lambda: sentences(NAMES, groups, STRENGTHS[among], cut, **more)


def two_leaders(decided: Sequence[tuple[str, str]]) -> Said:
    """'a' is hardest to falsify, though 'b' may be; 'b' is right most often. `decided`: who is right more often."""
    hardest = [SimpleNamespace(model=name, may_be_first=True) for name in "ab"]
    most_often = SimpleNamespace(models=[SimpleNamespace(model=name) for name in "ba"], decided=decided)
    return lambda: (two_rankings(SimpleNamespace(standings=hardest), most_often),)


def preliminary(waiting: int) -> Said:
    evaluation = SimpleNamespace(open=list(range(waiting)), asked=[1, 2, 3], rounds=(), answers=SimpleNamespace(ids=()))
    made = standings.Standings((), (), None, 0)
    work = SimpleNamespace(folder=None, settings=SimpleNamespace(judge=CountingSettings()))
    task = SimpleNamespace(work=work)
    return lambda: ranking.ranking_of(task, evaluation, made, standings.Method("perron", 1.0)).words


def pair_limits(preference: float) -> Said:
    one = np.zeros(1, np.int64)
    judged = Attacks(one, one + 1, one, one, np.ones(1), np.array([preference]))
    return lambda: scores.PairEvidence(judged, one, np.zeros((0, 1)), np.zeros((1, 2), int)).limits


def image_limits(theirs: float) -> Said:
    one = np.zeros(1, np.int64)
    judged = Contests(one, one + 1, one, one, np.array([0.5]), np.array([theirs]), np.ones(1))
    return lambda: masks.MaskEvidence(judged, one).limits("")


def matrices(entry: float) -> AttackMatrices:
    square, where = np.full((2, 2), entry), ~np.eye(2, dtype=bool)
    return AttackMatrices(square, square, where, where)


def placed(order: str, reach: int, may_be_first: int = 1, alone: str = "") -> list[Standing]:
    """Standings in this order, with sets that reach as far to both sides; `alone` are models without an estimate."""
    known = [
        Standing(
            model=model, strength=1.0 / place, low=0.0, high=1.0,
            rank_low=max(place - reach, 1), rank_high=place + reach, may_be_first=place <= may_be_first,
        )
        for place, model in enumerate(order, start=1)
    ]  # fmt: skip
    unknown = {"strength": None, "low": None, "high": None, "rank_low": 1, "rank_high": 9, "may_be_first": True}
    return known + [Standing(model=model, **unknown) for model in alone]


def disagreeing(attack: str, defence: str, reach: int = 0) -> Said:
    both = {"aggressiveness": placed(attack, reach), "resistance": placed(defence, reach)}
    return lambda: scores.disagreements(both)


def leaders(attack: list[Standing], defence: list[Standing]) -> Said:
    both = {"aggressiveness": SimpleNamespace(standings=attack), "resistance": SimpleNamespace(standings=defence)}
    return lambda: opening.leader_words(SimpleNamespace(rankings=both), "it does both")


def notes(waiting: int) -> Said:
    return lambda: opening.opening_notes(SimpleNamespace(waiting=waiting, questions=3, notes=()))


def fragile(**more: Any) -> Said:
    usual = Fragility(leader="a", next_leader="b", judgements=(), is_smallest=True)
    return lambda: [wording.fragility_words(usual.model_copy(update=more))]


def captions(*plots: Any) -> Said:
    return lambda: [plot.caption for plot in plots if plot is not None]


def cyclic(share: float | None) -> Said:
    return lambda: [wording.cyclic(share)]


def screened(correlation: float | None) -> Said:
    return lambda: [_agreement(SimpleNamespace(correlation=correlation, noun="pairs"))]


def agreed(value: float, low: float, high: float) -> Said:
    return lambda: [Agreement(value, low, high, 0.95, 9, 18, 200).words]


def suggested(right: int, of: int) -> Said:
    threshold = Threshold(0.7, 0, "the default threshold")
    results = Shares(np.array([float(right)]), np.array([of]))
    return lambda: [one.reason for one in suggested_exclusions(results, np.zeros(1, bool), threshold)]


def answers(question: Sequence[int], person: Sequence[int], *drawn: Any) -> Said:
    """What the rank sets do not cover if these people answered these questions, or drew the masks of these images."""
    given = np.array(question, np.int64), np.array(person, np.int64)
    return lambda: standings.people_in_words(*given, "pair", *drawn)


DREW = ("drew the masks", True)
TABLE = ("answered", False, "known labels")
SURE, UNSURE, OPEN = placed("abc", 0), placed("abc", 1, may_be_first=2), placed("abc", 2, may_be_first=3)
OTHERS, UNSURE_OTHERS = placed("bac", 0), placed("bac", 1, may_be_first=2)

CLAIMS: dict[str, tuple[Said, Said]] = {
    # who is first
    " is first.": (found(BEST), found(NEARLY)),
    "Tied for first": (found(separating((3, 0), (3, 1))), found(BEST)),
    "Not enough judgements to separate any two": (found(separating()), found(separating((3, 0)))),
    "Rank sets hold for all pairs at once": (found(Margins(np.full((4, 4), 100.0), BEST.first)), found(BEST)),
    "stays as far ahead of": (found(NEARLY), found(BEST)),
    "are too close to say": (found(separating()), found(NEARLY)),
    "There are too few judgements to say": (found(separating(others=np.inf)), found(separating())),
    "No consistent order": (found(cyclic_share=0.51), found(cyclic_share=0.5)),
    "cannot be told apart": (found(identical=[(0, 1)]), found()),
    "are left out of the rank sets": (found(degenerate=1, resamples=9), found(degenerate=0, resamples=9)),
    "connects any two models": (found(groups=((0,), (1,), (2,), (3,))), found(groups=((0, 1), (2,), (3,)))),
    "Not comparable": (found(groups=((0, 1), (2, 3))), found()),
    "but the answers separate the two in neither": (two_leaders([]), two_leaders([("b", "a")])),
    # what answers there are
    "Preliminary: ": (preliminary(1), preliminary(0)),
    "still open, so ranks may change": (notes(1), notes(0)),
    "rank sets cover variation between": (answers([0, 1], [0, 0]), answers([0, 0], [0, 1])),
    "No person was asked": (answers([0, 1], [0, 0], *TABLE), answers([0, 1], [0, 0])),
    "do not cover systematic differences": (answers([0, 1], [0, 1]), answers([0, 1, 1], [0, 0, 1])),
    "differences between the people who": (answers([0, 0], [0, 1], *DREW), answers([0, 0], [0, 1])),
    # attacks
    "so no model is falsified": (pair_limits(0.0), pair_limits(0.1)),
    "nothing tells them apart": (image_limits(0.5), image_limits(0.4)),
    "Negative aggressiveness": (
        lambda: scores.contradictions(matrices(-0.1), "ab"),
        lambda: scores.contradictions(matrices(0.0), "ab"),
    ),
    "agree less with": (
        lambda: masks.contradictions(matrices(0.9), "ab"),
        lambda: masks.contradictions(matrices(1.0), "ab"),
    ),
    "attacks better (place": (disagreeing("abc", "bca"), disagreeing("abc", "acb")),
    "defends better (place": (disagreeing("abc", "cab"), disagreeing("abc", "acb")),
    "so this may be chance": (disagreeing("abc", "bca", reach=1), disagreeing("abc", "bca")),
    "leads by both measures": (leaders(SURE, SURE), leaders(SURE, placed("abc", 0, alone="d"))),
    "is the strongest": (leaders(SURE, OTHERS), leaders(UNSURE, UNSURE)),
    "is clearly ahead": (leaders(OPEN, OPEN), leaders(UNSURE, UNSURE)),
    "comes first by both measures": (leaders(UNSURE, UNSURE), leaders(SURE, SURE)),
    "comes first as": (leaders(UNSURE, OTHERS), leaders(SURE, OTHERS)),
    ", but the lead is not certain": (leaders(UNSURE, OTHERS), leaders(SURE, OTHERS)),
    ", but neither lead is certain": (leaders(UNSURE, UNSURE_OTHERS), leaders(UNSURE, OTHERS)),
    "The judgements cannot tell which": (leaders(UNSURE, UNSURE), leaders(OPEN, OPEN)),
    # circles, fragility and stability
    "contradict each other could not be measured": (cyclic(None), cyclic(0.0)),
    "fit one order almost without contradiction": (cyclic(0.0), cyclic(0.05)),
    "the duels mostly fit one order": (cyclic(0.05), cyclic(0.2)),
    "do not rely on close ranks": (cyclic(0.2), cyclic(0.51)),
    "so there is no consistent order": (cyclic(0.51), cyclic(0.5)),
    "no smaller set would": (fragile(), fragile(is_smallest=False)),
    "found greedily, so fewer may suffice": (fragile(is_smallest=False), fragile()),
    " first place (": (fragile(next_leader=None), fragile()),
    " first instead of ": (fragile(), fragile(next_leader=None)),
    "shares first place: removing": (fragile(is_shared=True), fragile()),
    "from the smallest k on": (captions(stability([(1, 0.95), (2, 1.0)])), captions(stability([(2, 1.0)]))),
    "The order still changes at k": (
        captions(stability([(1, 0.99), (2, 0.8), (3, 1.0)])),
        captions(stability([(1, 0.8), (2, 0.95), (3, 1.0)])),
    ),
    " on, the order stays close to the final one": (
        captions(stability([(1, 0.8), (2, 0.95), (3, 1.0)])),
        captions(stability([(1, 0.99), (2, 0.8), (3, 1.0)])),
    ),
    "The orders still change when": (
        captions(level_curves([(1, 0.95, 0.8), (2, 1.0, 1.0)])),
        captions(level_curves([(1, 0.95, 0.95), (2, 1.0, 1.0)])),
    ),
    "nearly the same orders": (
        captions(level_curves([(1, 0.95, 0.95), (2, 1.0, 1.0)])),
        captions(level_curves([(1, 0.95, 0.8), (2, 1.0, 1.0)])),
    ),
    # people
    "The two screenings cannot be compared": (screened(None), screened(0.5)),
    "it hardly matters which": (screened(0.98), screened(0.97)),
    "they agree on most ": (screened(0.9), screened(0.98)),
    "the choice matters": (screened(0.89), screened(0.9)),
    "People disagree more than expected by chance": (agreed(-0.2, -0.3, -0.1), agreed(-0.2, -0.3, 0.1)),
    "There is not enough evidence yet": (agreed(0.5, 0.0, 0.9), agreed(0.5, 0.1, 0.9)),
    "agree only a little more than expected by chance": (agreed(0.3, 0.1, 0.5), agreed(0.4, 0.1, 0.5)),
    "People agree more than expected by chance, but often": (agreed(0.4, 0.1, 0.5), agreed(0.7, 0.1, 0.8)),
    "enough for tentative conclusions": (agreed(0.7, 0.1, 0.8), agreed(0.8, 0.1, 0.9)),
    "People agree far more than expected by chance": (agreed(0.8, 0.1, 0.9), agreed(0.7, 0.1, 0.8)),
    "this could be bad luck": (suggested(3, 6), suggested(30, 60)),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_sentence_is_said_where_it_is_true_and_only_there(claim: str) -> None:
    is_true, is_false = CLAIMS[claim]
    assert claim in " ".join(filter(None, is_true()))
    assert claim not in " ".join(filter(None, is_false()))


def test_models_that_cannot_be_compared_widen_the_rank_set_in_words_as_in_the_table() -> None:
    margins = Margins(np.full((2, 2), 9.0), np.full((2, 2), 0.5))
    said = sentences(NAMES, ((1, 3), (0,), (2,)), np.array([1.0, 0.0]), margins)
    assert "Rank sets hold for all pairs at once, which takes more evidence: that of vgg is 1–4." in said


def test_as_many_judgements_as_now_are_never_said_to_be_enough() -> None:
    margins = Margins(np.full((2, 2), 1.001), np.full((2, 2), 1.001))
    assert "about 1.1 times as many" in sentences(NAMES[:2], ((0, 1),), np.array([1.0, 0.0]), margins)[1]


def test_resamples_of_all_groups_are_counted() -> None:
    compared = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), bool))
    estimate = standings.Estimate(np.array([1.0, 0.0]), Margins(*np.full((2, 2, 2), 0.5)), degenerate=80)
    method = standings.Method("perron", 1.0, resamples=100)
    made = standings.ranked(NAMES, compared, lambda _: estimate, lambda _: 0.0, method)
    assert any(words.startswith("160 of 200 bootstrap resamples") for words in made.words)


def test_controls_that_nobody_answered_are_no_reason_to_trust_anyone(capsys: pytest.CaptureFixture[str]) -> None:
    from dissensus.printing.people import show_screening

    def said(of: int) -> str:
        one = dict.fromkeys(("seconds", "agreement", "skill", "exclusion", "suggestion"), None)
        one |= {"name": "ann", "answers": 9, "compared": 0, "is_trusted": False, "is_revoked": False, "has_link": True}
        one |= {"controls": {"right": of, "of": of}, "repeats": {"same": 0, "of": 0}}
        show_screening({"annotators": [one], "words": [], "alpha": None}, [], as_json=False)
        return capsys.readouterr().out

    assert "The control questions give no reason to exclude anyone." in said(of=5)
    assert "Nobody has answered 5 control questions" in said(of=4)
    assert "give no reason" not in said(of=4)


def templates(source: str) -> list[str]:
    """The texts in a file that are neither docstrings nor errors, with {} for what is filled in."""
    tree = ast.parse((Path(dissensus.__file__).parent / source).read_text(encoding="utf-8"))
    whole = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    left_out = {id(part) for node in whole for part in node.values}
    left_out |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    left_out |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    filled = {id(node): [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values] for node in whole}
    texts = {id(node): "".join(filled[id(node)]) for node in whole} | {id(node): node.value for node in plain}
    return [text for node, text in texts.items() if node not in left_out]


def test_every_sentence_about_certainty_has_a_row() -> None:
    said = [text for source in SOURCES for text in templates(source)]
    sentences_of = [text for text in said if len(text.split()) > 3 and CERTAINTY.search(text)]
    assert [text for text in sentences_of if not any(words in text for words in (*CLAIMS, *PLAIN))] == []
    assert [words for words in (*CLAIMS, *PLAIN) if not any(words in text for text in said)] == []
