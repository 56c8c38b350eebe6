"""What the two screenings of sliders can do, in simulated studies: whom BT.500 rejects, and how near P.910 comes.

    python benchmarks/subjects.py [--studies 60]

People scatter around the truth, each by an amount and a bias of their own; careless ones answer at random. Printed are
the tables of docs/methods/scores.md.
"""

from __future__ import annotations

import argparse

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import ScreeningError
from dissensus.screening import bt500, p910

REJECTING = ((31, 1440, 1), (31, 1440, 3), (20, 200, 2), (24, 100, 2), (30, 36, 1))
"""People, questions and careless people of a study."""
ESTIMATING = ((5, 5), (8, 8), (12, 12), (20, 20), (12, 3))
"""People of a study, and how many of them answer a question."""
QUESTIONS = 100


def simulated(
    rng: np.random.Generator, people: int, questions: int, careless: int, scatter: tuple[float, float], bias: float
) -> tuple[Float[Array, "R I"], Float[Array, " I"]]:
    """Everybody's answers to every question, and the truth; the first people are the careless ones."""
    truth = rng.uniform(-80, 80, questions)
    own = rng.uniform(*scatter, people)[:, None]
    answers = truth + rng.normal(0, bias, people)[:, None] + own * rng.standard_normal((people, questions))
    answers[:careless] = rng.uniform(-100, 100, (careless, questions))
    return answers.clip(-100, 100).round(), truth


def columns(answers: Float[Array, "R I"]) -> tuple[Array, Array, Array, int, int]:
    """Question, person and value of every answer."""
    people, questions = answers.shape
    person, question = np.divmod(np.arange(answers.size), questions)
    return question, person, answers.ravel(), questions, people


def rejections(studies: int) -> None:
    """In how many studies exactly the careless people are rejected, and how many others are on average."""
    print("people questions careless | plain rule: exact, honest rejected | balance 0.3: exact, honest rejected")
    for people, questions, careless in REJECTING:
        rng = np.random.default_rng(0)
        exact, honest = np.zeros(2), np.zeros(2)
        for _ in range(studies):
            answers, _ = simulated(rng, people, questions, careless, (12, 22), 6)
            for rule, balance in enumerate((None, 0.3)):
                found = set(bt500(*columns(answers), balance=balance).rejected)
                exact[rule] += found == set(range(careless))
                honest[rule] += len(found - set(range(careless)))
        cells = [f"{exact[rule]:.0f} of {studies}, {honest[rule] / studies:.2f}" for rule in (0, 1)]
        print(f"{people:6} {questions:9} {careless:8} | {cells[0]:34} | {cells[1]}")


def errors(studies: int) -> None:
    """Root mean square error of the quality, and the share of studies in which somebody became the truth."""
    print("\npeople answers | mean | P.910 as printed, at the floor | corrected, at the floor, inside 95 % intervals")
    for people, each in ESTIMATING:
        rng = np.random.default_rng(0)
        squares, floors, inside, estimates = np.zeros(3), np.zeros(2), 0.0, 0
        for _ in range(studies):
            answers, truth = simulated(rng, people, QUESTIONS, 0, (8, 25), 6)
            question, person, value, *_ = columns(answers)
            asked = rng.random((people, QUESTIONS)).argsort(axis=0) < each
            rows = asked[person, question]
            given = (question[rows], person[rows], value[rows], QUESTIONS, people)
            mean = np.bincount(given[0], given[2]) / np.bincount(given[0])
            try:
                found = [p910(*given, corrected=False), p910(*given)]
            except ScreeningError:
                continue
            estimates += 1
            squares += [((one - truth) ** 2).mean() for one in (mean, found[0].quality, found[1].quality)]
            floors += [one.at_floor.any() for one in found]
            inside += ((found[1].low <= truth) & (truth <= found[1].high)).mean()
        root, share = np.sqrt(squares / estimates), 100 * floors / estimates
        print(
            f"{people:6} {each:7} | {root[0]:4.1f} | {root[1]:4.1f}, {share[0]:3.0f} %{'':19} | "
            f"{root[2]:4.1f}, {share[1]:3.0f} %, {100 * inside / estimates:.0f} %"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=60, help="simulated studies for each row")
    given = parser.parse_args()
    rejections(given.studies)
    errors(given.studies)


if __name__ == "__main__":
    main()
