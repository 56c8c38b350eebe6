"""The methods that turn pairwise results into strengths: their names, what they do, and where to read more."""

from __future__ import annotations

DOCS = "https://github.com/dissensus/dissensus/tree/main/docs"
CENTRED = "zero is the mean of all models"

NAMES = {
    "perron": "Perron rank",
    "hodgerank": "HodgeRank",
    "bradley-terry": "Bradley–Terry",
    "thurstone": "Thurstone",
}
"""Methods as people write them, by the names that commands and settings use."""

MEANINGS = {
    "perron": "a model is strong if it does well against strong models (the principal eigenvector of the matrix of "
    "pairwise results); strengths sum to one",
    "hodgerank": f"the least-squares fit to the logarithms of all pairwise results; {CENTRED}",
    "bradley-terry": f"the most likely strengths if the odds of every duel depend on their differences; {CENTRED}",
    "thurstone": "the most likely strengths if every performance is normally distributed around the model’s strength; "
    f"{CENTRED}",
}

PAGES = {
    "perron": "methods/ranking.md#perron-rank",
    "hodgerank": "methods/ranking.md#hodgerank",
    "bradley-terry": "methods/ranking.md#bradleyterry-with-ties",
    "thurstone": "methods/scores.md#global-ranking",
}


def method_name(method: str) -> str:
    """A method as people write it: 'bradley-terry' → 'Bradley–Terry'."""
    return NAMES.get(method, method)


def method_words(method: str) -> str:
    """What the strengths are, in one sentence."""
    meaning = f": {MEANINGS[method]}" if method in MEANINGS else ""
    return f"Strengths by {method_name(method)}{meaning}."


def method_page(method: str) -> str:
    """The address of the page that explains the method."""
    return f"{DOCS}/{PAGES.get(method, 'methods/ranking.md')}"
