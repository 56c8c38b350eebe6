"""From stored answers to judged pairs: what people prefer, what is open, what was discarded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from json.encoder import encode_basestring

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competitions.duels import JUDGED, SCREENED_OUT, states_of
from dissensus.competitions.scores import JudgedPairs, judge
from dissensus.errors import ScreeningError, StudyError
from dissensus.labeling import pair_questions
from dissensus.records import Exclusion, moment_of
from dissensus.screening import PREFERENCES, Weighed, by_bt500, by_mean, preferences
from dissensus.steps.answers import study_database
from dissensus.store.answers import Answers
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import PairRound, read_pair_rounds
from dissensus.store.people import People
from dissensus.store.settings import PairSettings, ScoreSettings

CHOICES = {"first": -100.0, "second": 100.0, "same": 0.0}
"""Answers to `choice` on the scale of the slider."""


@dataclass(frozen=True)
class Compared:
    """Everybody's last word on each pair, as columns; `value` is how much better the second item is, −100 to 100."""

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    value: Float[Array, " A"]
    people: tuple[str, ...]
    unfit: Int[Array, " q"]
    """How many people found each pair unfit."""
    ids: tuple[str, ...]
    """Of the answers that were used."""

    @property
    def columns(self) -> tuple[Array, Array, Array, int, int]:
        """Question, person and value of every answer, and how many questions and people there are."""
        return self.question, self.person, self.value, len(self.unfit), len(self.people)

    @property
    def answered(self) -> Int[Array, " q"]:
        """How many people said something about each pair."""
        return np.bincount(self.question, minlength=len(self.unfit)) + self.unfit


@dataclass(frozen=True)
class PairHearing:
    """All rounds of a study with what people said; pairs of all rounds are numbered in one list."""

    models: list[str]
    rounds: tuple[PairRound, ...]
    judged: tuple[JudgedPairs, ...]
    pairs: Int[Array, "q 2"]
    numbers: tuple[Int[Array, " n"], ...]
    """For each round the numbers of its pairs."""
    compared: Compared
    weighed: Weighed
    item_ids: dict[int, str]
    exclusions: dict[str, Exclusion]

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """Of the answers that were used."""
        return self.compared.ids

    @property
    def asked(self) -> list[int]:
        """Numbers of the pairs that the study needed so far."""
        return self._distinct("asked")

    @property
    def open(self) -> list[int]:
        """Numbers of the pairs that wait for answers."""
        return self._distinct("open")

    @property
    def discarded(self) -> int:
        """Number of pairs that people could not judge."""
        return len({int(n) for one, at in zip(self.judged, self.numbers, strict=True) for n in _given_up(one, at)})

    @property
    def screened_out(self) -> int:
        """Number of pairs of which no answer counts, although people compared them."""
        chosen = [at[one.state == SCREENED_OUT] for one, at in zip(self.judged, self.numbers, strict=True)]
        return len(np.unique(np.concatenate(chosen))) if chosen else 0

    def _distinct(self, which: str) -> list[int]:
        chosen = [at[getattr(one, which)] for one, at in zip(self.judged, self.numbers, strict=True)]
        return sorted({int(number) for part in chosen for number in part})


def hear_pairs(folder: Folder, settings: ScoreSettings, is_final: bool = True) -> PairHearing:
    """What the answers stored so far come to; where it is not final, all count while a screening has no estimate.

    Raises:
        StudyError: there is no round yet.
        ScreeningError: the screening has no estimate for these answers; names the person.
    """
    models, rounds = read_pair_rounds(folder)
    if not rounds:
        raise StudyError(f"nothing is selected yet: dissensus select {folder.root}")
    pairs, numbers = numbered_pairs(rounds)
    item_ids = {item: name for found in rounds for item, name in found.item_ids.items()}
    database = study_database(folder, settings)
    exclusions = People(database).excluded()
    ways = ways_to_ask(settings.judge.question, pairs, item_ids)
    compared = read_compared(Answers(database), settings.judge.question, ways, len(pairs), exclusions)
    weighed = weigh(compared, settings.judge) if is_final else weigh_so_far(compared, settings.judge)
    state, preference = outcome(compared, weighed, settings.judge)
    judged = tuple(
        judge(found.selection, state[at], preference[at], settings.judge.share)
        for found, at in zip(rounds, numbers, strict=True)
    )
    return PairHearing(models, tuple(rounds), judged, pairs, numbers, compared, weighed, item_ids, exclusions)


def numbered_pairs(rounds: list[PairRound]) -> tuple[Int[Array, "q 2"], tuple[Int[Array, " n"], ...]]:
    """The distinct pairs of all rounds, and where each round's own pairs stand among them."""
    own = [pair_questions(found.selection)[0] for found in rounds]
    every, place = np.unique(np.concatenate([*own, np.zeros((0, 2), np.int64)]), axis=0, return_inverse=True)
    cuts = np.cumsum([len(part) for part in own])[:-1]
    return every, tuple(np.split(place.reshape(-1), cuts)) if own else ()


def pair_texts(kind: str, pairs: Int[Array, "q 2"], item_ids: dict[int, str]) -> list[str]:
    """The texts of the questions about pairs, as `Question.text` writes them; a choice offers 'no difference'."""
    written = {item: encode_basestring(name) for item, name in item_ids.items()}
    same = '"same":true,' if kind == "choice" else ""
    return [f'{{"first":{written[first]},{same}"second":{written[second]}}}' for first, second in pairs.tolist()]


def ways_to_ask(kind: str, pairs: Int[Array, "q 2"], item_ids: dict[int, str]) -> dict[str, tuple[int, int]]:
    """The number of the pair by every text that asks about it, with the sign of the answers.

    People who write their own files may name the two items the other way round, and need not offer 'no difference'.
    """
    ways: dict[str, tuple[int, int]] = {}
    for sign, ordered in ((1, pairs), (-1, pairs[:, ::-1])):
        for worded in {kind, "slider"}:  # a choice without a third answer is worded like a slider
            texts = pair_texts(worded, ordered, item_ids)
            ways |= {text: (number, sign) for number, text in enumerate(texts)}
    return ways


def read_compared(
    answers: Answers, kind: str, ways: dict[str, tuple[int, int]], pairs: int, exclusions: dict[str, Exclusion]
) -> Compared:
    """Everybody's last word on each pair; those who are excluded say nothing."""
    last: dict[tuple[int, str], tuple[datetime, str, float | str]] = {}
    for identity, text, annotator, answer, time in answers.essentials(kind, "asked", ways):
        number, sign = ways[text]
        key, moment = (number, annotator), moment_of(time)
        if annotator not in exclusions and (key not in last or moment >= last[key][0]):
            last[key] = moment, identity, _towards_second(json.loads(answer), sign)
    people = {name: number for number, name in enumerate(sorted({name for _, name in last}))}
    told = [(question, people[name], value) for (question, name), (_, _, value) in last.items()]
    rated = [row for row in told if not isinstance(row[2], str)]
    unfit = np.bincount([row[0] for row in told if isinstance(row[2], str)], minlength=pairs).astype(np.int64)
    used, spoken = np.unique([row[1] for row in rated], return_inverse=True)
    names = list(people)
    return Compared(
        question=np.array([row[0] for row in rated], np.int64),
        person=spoken.astype(np.int64),
        value=np.array([row[2] for row in rated], np.float64),
        people=tuple(names[int(number)] for number in used),
        unfit=unfit,
        ids=tuple(sorted(identity for _, identity, _ in last.values())),
    )


def weigh(compared: Compared, settings: PairSettings) -> Weighed:
    """What each answer counts, by the study's screening; choices are no numbers to screen, and count alike.

    Raises:
        StudyError: there is no such screening.
        ScreeningError: it has no estimate; names the person.
    """
    if settings.method not in PREFERENCES:
        raise StudyError(f"judge.method is '{settings.method}': it is one of {', '.join(PREFERENCES)}")
    weighing = PREFERENCES[screening_of(settings)]
    if weighing is by_bt500:
        weighing = partial(by_bt500, balance=settings.balance)
    try:
        return weighing(*compared.columns)
    except ScreeningError as error:
        raise ScreeningError(person_named(str(error), compared.people)) from None


def weigh_so_far(compared: Compared, settings: PairSettings) -> Weighed:
    """As `weigh`, and all alike while the screening has no estimate: work goes on until it has one."""
    try:
        return weigh(compared, settings)
    except ScreeningError:
        return by_mean(*compared.columns)


def outcome(
    compared: Compared, weighed: Weighed, settings: PairSettings
) -> tuple[Int[Array, " q"], Float[Array, " q"]]:
    """What became of each pair, and the preference for its second item, −1 to 1."""
    preference, weight = preferences(compared.question, weighed, len(compared.unfit))
    state = states_of(compared.answered, compared.unfit, settings.min_answers, settings.unfit)
    state[(state == JUDGED) & (weight == 0)] = SCREENED_OUT
    return state, preference / 100


def screening_of(settings: PairSettings) -> str:
    """The screening that counts; choices are no numbers to screen, and count alike."""
    return "mean" if settings.question == "choice" else settings.method


def person_named(message: str, people: tuple[str, ...]) -> str:
    """The message of a screening with 'person 3' replaced by that person's name."""
    return re.sub(r"\bperson (\d+)\b", lambda match: people[int(match[1])], message)


def _towards_second(answer: float | str, sign: int) -> float | str:
    """How much better the second item is; a word where it cannot be said."""
    value = CHOICES.get(answer, answer) if isinstance(answer, str) else answer
    return value if isinstance(value, str) else sign * value


def _given_up(judged: JudgedPairs, numbers: Int[Array, " n"]) -> Array:
    return numbers[judged.row_pair[judged.given_up]]
