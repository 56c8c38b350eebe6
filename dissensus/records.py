"""Frozen records that the rooms hand to each other; columns are arrays, single things are fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ClassesError

FORMAT_VERSION = 1
"""Version of everything written into a study folder."""

Answer = Literal["yes", "no", "unsure", "unfit"]
ANSWERS: tuple[Answer, ...] = ("yes", "no", "unsure", "unfit")

Role = Literal["asked", "control", "repeat", "training"]
"""Why a question was put: for the study, because its answer is known, for the second time, or to learn."""
ROLES: tuple[Role, ...] = ("asked", "control", "repeat", "training")


class Record(BaseModel):
    """A frozen record that can be written as JSON; an unknown field is an error, not a typo that passes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """How a result was made, so that it can be made again."""

    method: str
    parameters: dict[str, Any]
    inputs: dict[str, str]
    seed: int | None = None
    package: str
    format_version: int = FORMAT_VERSION


class Judgement(Record):
    """One answer of one annotator to 'is LABEL in ITEM?'; appended, never changed."""

    id: str
    item: str
    label: int
    annotator: str
    answer: Answer
    time: str


as_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""JSON with one spelling for one value."""


class Question(Record):
    """What a person is asked: its kind says what `body` holds, such as an item and a label, and how it is shown."""

    kind: str
    body: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """The same characters for the same question, whoever wrote it: by this it is found again."""
        return as_text(self.body)


class Assignment(Record):
    """One question as it was put to one person: `shown` is what chance decided, such as the sides of two pictures."""

    ticket: str
    annotator: str
    question: Question
    role: Role
    shown: dict[str, Any]
    time: str


class Response(Record):
    """One answer of one annotator to a question of any kind, with all that is known of how it was given.

    The same person's later response to the same question is a changed mind: both are kept, the later one counts.
    """

    id: str
    question: Question
    annotator: str
    answer: Any
    role: Role = "asked"
    shown: dict[str, Any] = {}
    seconds: float | None = None
    comment: str = ""
    ticket: str | None = None
    time: str


class SetQuestion(Record):
    """A question that somebody wrote down: to be asked, or with a known answer as a control or for training."""

    question: Question
    role: Literal["asked", "control", "training"]
    expected: Any = None
    note: str = ""
    """What a person in training is told after answering."""


class Annotator(Record):
    """One person with a personal link, of which only a hash is kept; `seed` decides the order of their questions."""

    name: str
    token_hash: str
    is_owner: bool
    is_trusted: bool
    """One of the control group, whose results on control questions are the measure for others."""
    seed: int
    time: str
    revoked: str | None = None


class Exclusion(Record):
    """From here on a person's answers do not count (or count again), with the reason in words; the last one holds."""

    annotator: str
    is_excluded: bool
    reason: str
    by: str
    time: str


class Standing(Record):
    """One model's place: strength with its interval, and the ranks that the judgements cannot exclude.

    A model that no judged item connects with others has no strength.
    """

    model: str
    strength: float | None
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int


class Fragility(Record):
    """Judgements whose removal was seen to change who is first; at most this many are needed."""

    leader: str
    next_leader: str | None
    judgements: tuple[Judgement, ...]
    is_smallest: bool
    """True where every smaller set was tried; otherwise the number is an upper bound found greedily."""


class Ranking(Record):
    """Standings, best first, with what they mean in words and how they were made."""

    standings: tuple[Standing, ...]
    words: tuple[str, ...]
    cyclic_share: float | None
    """Share of the pairwise results that no order of the models explains (HodgeRank's residual), 0 to 1."""
    degenerate_resamples: int
    fragility: Fragility | None
    provenance: Provenance


@dataclass(frozen=True)
class Selection:
    """Items selected for duels, in order: `rank` counts from 1 within a duel, reserves after the selected."""

    first: Int[Array, " Q"]
    second: Int[Array, " Q"]
    item: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    is_reserve: Bool[Array, " Q"]
    discrepancy: Float[Array, " Q"]
    first_label: Int[Array, " Q"]
    second_label: Int[Array, " Q"]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Array) -> Selection:
        """The rows given by a mask or by positions."""
        return Selection(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Outcomes:
    """Judged items of all duels: who was right on each."""

    first: Int[Array, " Q"]
    second: Int[Array, " Q"]
    item: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    first_right: Bool[Array, " Q"]
    second_right: Bool[Array, " Q"]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Array) -> Outcomes:
        """The rows given by a mask or by positions."""
        return Outcomes(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Tally:
    """What the judged items of every duel came to, as M×M matrices (real numbers: a bootstrap weighs items).

    `only[i, j]`: i right and j wrong (Case II); `both` (Case I) and `neither` (Case III) are symmetric.
    """

    only: Float[Array, "M M"]
    both: Float[Array, "M M"]
    neither: Float[Array, "M M"]

    @property
    def items(self) -> Float[Array, "M M"]:
        """Judged items per duel; symmetric, zero where two models never met."""
        return self.only + self.only.T + self.both + self.neither

    @property
    def right(self) -> Float[Array, "M M"]:
        """Items of the duel {i, j} on which i was right."""
        return self.only + self.both


@dataclass(frozen=True)
class Comparisons:
    """Everything a ranker may look at: the tally and the dominance b_ij = a_ij / a_ji made from it."""

    tally: Tally
    accuracy: Float[Array, "M M"]
    dominance: Float[Array, "M M"]

    @property
    def compared(self) -> Bool[Array, "M M"]:
        """True where two models share at least one judged item."""
        return self.tally.items > 0


@dataclass(frozen=True)
class Taxonomy:
    """Classes as leaves (or inner nodes) of a directed acyclic graph with one root.

    Edges go from `child` to `parent`, both node numbers; `class_nodes[c]` is the node of class c.
    """

    names: tuple[str, ...]
    child: Int[Array, " E"]
    parent: Int[Array, " E"]
    class_nodes: Int[Array, " C"]


@dataclass(frozen=True)
class Classes:
    """What the labels mean: one name per class and, where known, an id (wnid), synonyms, a gloss and a taxonomy."""

    names: tuple[str, ...]
    ids: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    glosses: tuple[str, ...] = ()
    taxonomy: Taxonomy | None = None

    def __len__(self) -> int:
        return len(self.names)

    def index_of(self, label: object) -> int:
        """The number of a class given as number, name, id or synonym.

        Text is first looked up as a name, then read as a number, so that classes may be called '0' to '9'.

        Raises:
            ClassesError: no class, or more than one, is called so.
        """
        text = str(label).strip()
        if isinstance(label, str):
            found = self._exactly.get(label, self._exactly.get(text))
            candidates = self._roughly.get(text.casefold(), ()) if found is None else (found,)
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                raise ClassesError(f"'{text}' can be {' or '.join(repr(self.names[i]) for i in candidates)}: say which")
        whole = text.removesuffix(".0")  # as a table with gaps writes whole numbers
        number = int(whole) if whole.isascii() and whole.isdecimal() else -1
        if not 0 <= number < len(self):
            raise ClassesError(f"there is no class '{text}' among the {len(self):,} classes of this study")
        return number

    @cached_property
    def _exactly(self) -> dict[str, int]:
        return {word: i for i, word in [*enumerate(self.ids), *enumerate(self.names)]}

    @cached_property
    def _roughly(self) -> dict[str, tuple[int, ...]]:
        """Classes by any of their words, whatever its case."""
        numbers: dict[str, tuple[int, ...]] = {}
        for i, name in enumerate(self.names):
            for word in {name.casefold(), *(word.casefold() for word in (self.synonyms[i] if self.synonyms else ()))}:
                numbers[word] = (*numbers.get(word, ()), i)
        return numbers


def empty_tally(models: int) -> Tally:
    """A tally before anything was judged."""
    return Tally(*(np.zeros((models, models)) for _ in range(3)))
