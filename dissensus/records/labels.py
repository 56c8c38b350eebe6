"""Models that predict classes: what is selected, the results, and what the classes mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ClassesError, counted, quoted
from dissensus.records.columns import Columns, Selected

LONGEST_NUMBER = 18
"""Digits of a class number; Python refuses to read thousands."""


@dataclass(frozen=True)
class Selection(Selected):
    """Items selected for duels, in order: `rank` counts from 1 within a duel, reserves after the selected items."""

    sides = ("first", "second")
    stored = (
        "first", "second", "item", "position", "rank", "discrepancy", "reserve", "inclusion_probability",
        "first_label", "second_label", "first_confidence", "second_confidence",
    )  # fmt: skip

    first: Int[Array, " Q"]
    second: Int[Array, " Q"]
    item: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    is_reserve: Bool[Array, " Q"]
    discrepancy: Float[Array, " Q"]
    first_label: Int[Array, " Q"]
    second_label: Int[Array, " Q"]


@dataclass(frozen=True)
class Outcomes(Columns):
    """Judged items of all duels: which models were right on each."""

    first: Int[Array, " Q"]
    second: Int[Array, " Q"]
    item: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    first_right: Bool[Array, " Q"]
    second_right: Bool[Array, " Q"]


@dataclass(frozen=True)
class Tally:
    """The results of every duel's judged items, as M×M matrices (floats, as a bootstrap weights items), or as stacks.

    `only[i, j]`: i right and j wrong (Case II); `both` (Case I) and `neither` (Case III) are symmetric.
    """

    only: Float[Array, "*B M M"]
    both: Float[Array, "*B M M"]
    neither: Float[Array, "*B M M"]

    @property
    def items(self) -> Float[Array, "*B M M"]:
        """Judged items per duel; symmetric, zero if two models never met."""
        return self.only + self.only.swapaxes(-1, -2) + self.both + self.neither

    @property
    def right(self) -> Float[Array, "*B M M"]:
        """Items of the duel {i, j} on which i was right."""
        return self.only + self.both


@dataclass(frozen=True)
class Comparisons:
    """Everything a ranker may use: the tally and the dominance b_ij = a_ij / a_ji computed from it."""

    tally: Tally
    accuracy: Float[Array, "*B M M"]
    dominance: Float[Array, "*B M M"]

    @property
    def compared(self) -> Bool[Array, "*B M M"]:
        """True if two models share at least one judged item."""
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
    ids: tuple[str, ...] = ()
    """Ids of the nodes, such as WordNet's, since several nodes may have the same name."""


@dataclass(frozen=True)
class ClassPath:
    """The shortest path between two classes in a taxonomy: its nodes, their depths, and the weights of its edges."""

    nodes: tuple[str, ...]
    depths: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def length(self) -> float:
        """The sum of the weights: the distance, unless it has a ceiling."""
        return sum(self.weights)

    @property
    def turned(self) -> ClassPath:
        """The same path from the second class to the first."""
        return ClassPath(self.nodes[::-1], self.depths[::-1], self.weights[::-1])


@dataclass(frozen=True)
class Classes:
    """What the labels mean: one name per class and, if known, an id (wnid), synonyms, a gloss and a taxonomy."""

    names: tuple[str, ...]
    ids: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    glosses: tuple[str, ...] = ()
    taxonomy: Taxonomy | None = None
    articles: tuple[str, ...] = ()
    """'a', 'an' or nothing for every class, where people read its name in a sentence."""

    def __len__(self) -> int:
        return len(self.names)

    def article(self, label: int) -> str:
        """What stands before the name in an English sentence; empty where that is not certain."""
        return self.articles[label] if self.articles else ""

    def gloss(self, label: int) -> str:
        """What a class means; empty if it is not known."""
        return self.glosses[label] if self.glosses else ""

    def index_of(self, label: object) -> int:
        """The number of a class given by number, name, id or synonym.

        Text is first looked up as a name, then parsed as a number, so that classes may be called '0' to '9'.

        Raises:
            ClassesError: no class, or more than one, has this name.
        """
        text = str(label).strip()
        if isinstance(label, str):
            found = self._exactly.get(label, self._exactly.get(text))
            candidates = self._roughly.get(text.casefold(), ()) if found is None else (found,)
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                raise ClassesError(
                    f"'{text}' could be {' or '.join(repr(self.names[i]) for i in candidates)}: "
                    "use the full name, id or number"
                )
        whole = text.removesuffix(".0")  # tables with gaps write whole numbers this way
        is_number = whole.isascii() and whole.isdecimal() and len(whole) <= LONGEST_NUMBER
        number = int(whole) if is_number else -1
        if not 0 <= number < len(self):
            raise ClassesError(f"no such class {quoted(text)}: this study has {counted(len(self), 'class', 'classes')}")
        return number

    def steps_below(self, name: str) -> Float[Array, " C"]:
        """How many edges every class is below the class or the node of the taxonomy with this name or id; inf if not.

        Raises:
            ClassesError: nothing, or more than one node, has this name.
        """
        taxonomy = self.taxonomy
        nodes = [] if taxonomy is None else [node for node, one in enumerate(taxonomy.names) if one == name]
        if taxonomy is not None and name in taxonomy.ids:
            nodes = [taxonomy.ids.index(name)]
        if taxonomy is None or not nodes:
            steps = np.full(len(self), np.inf)
            try:
                steps[self.index_of(name)] = 0
            except ClassesError:
                there = "" if taxonomy is None else ", nor anything above one"
                raise ClassesError(f"'{name}' is not a class of the study{there}: check the spelling") from None
            return steps
        if len(nodes) > 1:
            raise ClassesError(f"{len(nodes)} groups of the taxonomy are called '{name}': list their classes instead")
        children: dict[int, list[int]] = {}
        for child, parent in zip(taxonomy.child.tolist(), taxonomy.parent.tolist(), strict=True):
            children.setdefault(parent, []).append(child)
        below, depth, edge = {nodes[0]: 0}, 0, [nodes[0]]
        while edge:
            depth += 1
            edge = [child for node in edge for child in children.get(node, ()) if child not in below]
            below |= dict.fromkeys(edge, depth)
        return np.array([below.get(node, np.inf) for node in taxonomy.class_nodes.tolist()])

    @cached_property
    def _exactly(self) -> dict[str, int]:
        return {word: i for i, word in [*enumerate(self.ids), *enumerate(self.names)]}

    @cached_property
    def _roughly(self) -> dict[str, tuple[int, ...]]:
        """Classes by any of their names, ignoring case."""
        numbers: dict[str, tuple[int, ...]] = {}
        for i, name in enumerate(self.names):
            for word in {name.casefold(), *(word.casefold() for word in (self.synonyms[i] if self.synonyms else ()))}:
                numbers[word] = (*numbers.get(word, ()), i)
        return numbers


def empty_tally(models: int) -> Tally:
    """The tally before anything is judged."""
    return Tally(*(np.zeros((models, models)) for _ in range(3)))
