"""Answers as the sum of what a question deserves and how high a person answers in general: value = quality + bias."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float, Int


class TwoWay:
    """Weighted least squares of value = quality_q + bias_p, where Σ bias = 0 over the people of each group.

    Solutions are linear in the values, so they are given as sums over questions and over people, in any number of
    columns. Questions and people without any weight get zero.
    """

    def __init__(
        self,
        question: Int[Array, " A"],
        person: Int[Array, " A"],
        weight: Float[Array, " A"],
        questions: int,
        people: int,
        group: Int[Array, " R"] | None = None,
    ) -> None:
        """`group` numbers people so that questions link everybody within a group; by default there is one group."""
        from scipy.sparse import csr_array  # takes a quarter of a second to import, and few commands need it

        self.totals = np.bincount(question, weight, questions)
        self.table = csr_array((weight, (question, person)), shape=(questions, people))
        self._divisor = np.where(self.totals > 0, self.totals, 1.0)
        own = np.bincount(person, weight, people)
        self._own = np.where(own > 0, own, 1.0)
        share = csr_array((weight / self._divisor[question], (question, person)), shape=(questions, people))
        group = np.zeros(people, np.int64) if group is None else group
        self._within = (group[:, None] == group) / np.bincount(group)[group]
        # each row is divided by the person's own weight, so that all rows have the same scale
        self._system = np.eye(people) - (self.table.T @ share).toarray() / self._own[:, None] + self._within

    def solve(
        self, by_question: Float[Array, I * k], by_person: Float[Array, R * k]
    ) -> tuple[Float[Array, I * k], Float[Array, R * k]]:
        """(quality, bias) from the sums of weight · value; eliminates the qualities and solves for the biases."""
        own, divisor = (one.reshape(-1, *[1] * (by_person.ndim - 1)) for one in (self._own, self._divisor))
        bias = np.linalg.solve(self._system, (by_person - self.table.T @ (by_question / divisor)) / own)
        bias = bias - self._within @ bias
        return (by_question - self.table @ bias) / divisor, bias


def linked_groups(
    question: Int[Array, " A"], person: Int[Array, " A"], questions: int, people: int
) -> tuple[Int[Array, " I"], Int[Array, " R"]]:
    """Groups of questions and people that answers link, by number; a question or person without answers is alone."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = people + questions
    links = csr_array((np.ones(len(question)), (person, people + question)), shape=(nodes, nodes))
    _, group = connected_components(links, directed=False)
    return group[people:], group[:people]
