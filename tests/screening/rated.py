"""Simulated panels that answer with a number, and the reference implementation of both recommendations."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np

Columns = tuple[np.ndarray, np.ndarray, np.ndarray, int, int]


def columns_of(table: np.ndarray) -> Columns:
    """A table of questions by people, NaN where there is no answer, as columns."""
    question, person = np.nonzero(~np.isnan(table))
    return question, person, table[question, person], *table.shape


def panel(
    seed: int, people: int, questions: int, scatter: tuple[float, float] = (12.0, 22.0), bias: float = 6.0
) -> np.ndarray:
    """Honest people on a slider from −100 to 100: own bias, own scatter."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(-80, 80, questions)
    deviation = rng.uniform(*scatter, people)
    answers = quality[:, None] + rng.normal(0, bias, people) + deviation * rng.normal(size=(questions, people))
    return answers.round().clip(-100, 100)


def with_careless(table: np.ndarray, seed: int, careless: int) -> tuple[np.ndarray, set[int]]:
    """The table with some people answering at random, and who they are."""
    rng = np.random.default_rng([seed, 1])
    who = rng.choice(table.shape[1], careless, replace=False)
    table = table.copy()
    table[:, who] = rng.uniform(-100, 100, (len(table), careless)).round()
    return table, set(who.tolist())


def sureal(name: str, table: np.ndarray, **options: bool) -> dict[str, Any]:
    """What a model of the package sureal says; it talks while it works."""
    from sureal import subjective_model

    class Reader:
        opinion_score_3darray = table[:, :, None].copy()

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(subjective_model, name)._run_modeling(Reader(), **options)
