"""'a' or 'an' before the name of a class, where that is certainly right; no article rather than a wrong one.

Plurals, mass nouns, proper names, words that are not known, and names in other languages stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ENOUGH = 0.75
"""From this share of names that end in a known noun on, a list of classes is taken to be in English: other languages
share many words with it."""
WORDS = re.compile(r"[A-Za-z][A-Za-z'’-]*")
OPENING = {"a", "an", "the", "no", "not", "other", "some", "any", "all", "several", "two", "three", "my"}
"""Names that begin with one of these need no article."""
JOINING = {"and", "or", "&", "mashed"}
AFTER = re.compile(r"[,(\[/]|\b(?:of|with|in|on|for|from)\b")
"""The noun stands before these: a bird of paradise, a crane (wading bird)."""
SINGULAR = re.compile(r"(ss|us|is|lens|canvas|gas|atlas|rhinoceros|thermos|triceratops|pancreas|cosmos)$")
"""Words in -s that are not plurals."""
PLURALS = {"men", "women", "children", "mice", "geese", "feet", "teeth", "oxen", "lice", "dice", "bacteria", "fungi"}
SILENT = ("hour", "honest", "honor", "honour", "heir")
"""An h that is not spoken."""
LIKE_YOU = re.compile(r"(uni(?!n|m)|use|uke|ute|eu|ew|ur[aie]|one\b|once|ubi)")
"""Vowels that begin like 'you' or 'one': a unicycle, a ukulele, but an umbrella, an uncle."""
LETTERS = "AEFHILMNORSX"
"""Letters whose own names begin with a vowel: an MRI scanner, a CD."""
LONGEST_SPELT = 4
"""Capitals up to this many are read letter by letter."""


def articles_of(names: Sequence[str], nouns: Mapping[str, bool]) -> tuple[str, ...]:
    """The article of every class: 'a', 'an', or nothing; `nouns` says which English words can be counted."""
    heads = [_head(name) for name in names]
    worded = [_is_known(head, nouns) for head in heads if head]
    if sum(worded) < ENOUGH * len(worded):
        return ("",) * len(names)
    # where all names are capitalised, a capital does not say that a name is a proper one
    is_titled = all(head[0].isupper() for head in heads if head)
    return tuple(_article(name, head, nouns, is_titled) for name, head in zip(names, heads, strict=True))


def _head(name: str) -> str:
    """The noun of a name: its last word, before 'of …', a comma or a bracket; '' if it is not plain English text."""
    plain = AFTER.split(name)[0].strip()
    found = WORDS.findall(plain) if name.isascii() else []
    return found[-1] if found and plain.endswith(found[-1]) else ""


def _is_known(head: str, nouns: Mapping[str, bool]) -> bool:
    lowered = head.lower()
    return any(word in nouns for word in (head, lowered, lowered.removesuffix("s"))) or lowered in PLURALS


def _article(name: str, head: str, nouns: Mapping[str, bool], is_titled: bool) -> str:
    if re.fullmatch(r"\d", name):
        return "an" if name == "8" else "a"
    lowered = head.lower()
    is_counted = nouns.get(head, False) or ((is_titled or head == lowered) and nouns.get(lowered, False))
    if not is_counted or _is_plural(lowered):
        return ""
    words = name.split()
    if "/" in name or words[0].lower() in OPENING or JOINING & {*words}:
        return ""
    return "an" if _begins_with_vowel(words[0].split("-")[0]) else "a"


def _is_plural(word: str) -> bool:
    return word in PLURALS or (word.endswith("s") and SINGULAR.search(word) is None)


def _begins_with_vowel(word: str) -> bool:
    if word.isupper() and len(word) <= LONGEST_SPELT:
        return word[0] in LETTERS
    lowered = word.lower()
    if lowered.startswith(SILENT):
        return True
    return lowered[0] in "aeiou" and LIKE_YOU.match(lowered) is None
