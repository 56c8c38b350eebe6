"""Strings of an alphabet as numbers: one array of letters for all of them, whatever their lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int, UInt8
from dissensus.errors import KernelError, quoted

MOST_LETTERS = 255


@dataclass(frozen=True)
class Alphabet:
    """Letters, numbered in this order, and characters that stand for a letter nobody knows, such as N in DNA.

    With `folds_case`, small letters count as capitals; with `aliases`, the first character of a pair is read as the
    second. `complements` are what is opposite `letters` on the other strand, if there can be one, and `strands` is
    how many are read unless somebody asks for another number.
    """

    name: str
    letters: str
    unknown: str = ""
    folds_case: bool = False
    aliases: tuple[str, ...] = ()
    complements: str = ""
    strands: int = 1

    def __post_init__(self) -> None:
        if not 2 <= len(self.letters) <= MOST_LETTERS or len(set(self.letters)) < len(self.letters):
            raise KernelError(f"an alphabet of {quoted(self.letters)}: give 2 to {MOST_LETTERS} different letters")
        pairs = set(zip(self.letters, self.complements, strict=False))
        is_matched = {one for one, _ in pairs} == set(self.letters) and {pair[::-1] for pair in pairs} == pairs
        if self.complements and not (is_matched and len(self.complements) == len(self.letters)):
            raise KernelError(
                f"complements {quoted(self.complements)} of {quoted(self.letters)}: give each letter one, in the same"
                " order, and let every letter be the complement of its own complement"
            )
        if self.strands not in ((1, 2) if self.complements else (1,)):
            raise KernelError(
                f"{self.strands} strands of {quoted(self.letters)}: give 1, or 2 if there are complements"
            )

    def __len__(self) -> int:
        return len(self.letters)

    def numbers(self) -> dict[str, int]:
        """The number of every character that may occur; unknown ones have the number after the last letter's."""
        found = {letter: number for number, letter in enumerate(self.letters)}
        found |= dict.fromkeys(self.unknown, len(self.letters))
        found |= {alias[0]: found[alias[1]] for alias in self.aliases}
        return {case: n for one, n in found.items() for case in self._cases(one)}

    def _cases(self, character: str) -> set[str]:
        return {character, character.lower(), character.upper()} if self.folds_case else {character}


AMBIGUOUS = "NRYSWKMBDHV"
"""The codes of the IUPAC for more than one base; each counts as an unknown one."""
ALPHABETS = {
    "dna": Alphabet("dna", "ACGT", AMBIGUOUS, folds_case=True, aliases=("UT",), complements="TGCA", strands=2),
    "rna": Alphabet("rna", "ACGU", AMBIGUOUS, folds_case=True, aliases=("TU",), complements="UGCA"),
    "protein": Alphabet("protein", "ACDEFGHIKLMNPQRSTVWY", "XBZJUO*", folds_case=True),
}


def alphabet_named(name: str | Alphabet) -> Alphabet:
    """One of ALPHABETS by name, or an alphabet of the letters given.

    Raises:
        KernelError: there is no such alphabet, and it is not a list of letters either.
    """
    if isinstance(name, Alphabet):
        return name
    if name.lower() in ALPHABETS:
        return ALPHABETS[name.lower()]
    return Alphabet(name, name)


@dataclass(frozen=True, eq=False)
class Strings:
    """The letters of all strings one after the other; string i is letters[starts[i]:starts[i + 1]].

    An unknown letter has the number len(alphabet).
    """

    alphabet: Alphabet
    letters: UInt8[Array, " t"]
    starts: Int[Array, " N+1"]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[UInt8[Array, " d"]]:
        for first, last in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield self.letters[first:last]

    def lengths(self) -> Int[Array, " N"]:
        return np.diff(self.starts)

    def part(self, rows: slice | Int[Array, " n"] | Bool[Array, " N"]) -> Strings:
        """Some of the strings, in the order of `rows`."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            first, last, _ = rows.indices(len(self))
            ends = self.starts[first : max(first, last) + 1]
            return Strings(self.alphabet, self.letters[ends[0] : ends[-1]], ends - ends[0])
        chosen = np.arange(len(self))[rows]
        lengths = self.lengths()[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Strings(self.alphabet, self.letters[places], starts)

    def texts(self) -> list[str]:
        """The strings as text: capitals, and one character for everything unknown."""
        characters = np.array([*self.alphabet.letters, self.alphabet.unknown[:1] or "?"])
        return ["".join(characters[one]) for one in self]


def joined(parts: Sequence[Strings], alphabet: Alphabet) -> Strings:
    """All strings of all parts, in order."""
    lengths = np.concatenate([np.zeros(1, np.int64), *(part.lengths() for part in parts)])
    letters = np.concatenate([np.zeros(0, np.uint8), *(part.letters for part in parts)])
    return Strings(alphabet, letters, np.cumsum(lengths))


def reverse_complements(strings: Strings) -> Strings:
    """What the other strand of each string says, read in its own direction.

    Raises:
        KernelError: the letters of the alphabet have no complements.
    """
    alphabet = strings.alphabet
    if not alphabet.complements:
        raise KernelError(f"{quoted(alphabet.name)} is an alphabet without complements: read one strand only")
    opposite = np.array([*map(alphabet.letters.index, alphabet.complements), len(alphabet)], np.uint8)
    all_reversed = Strings(alphabet, opposite[strings.letters[::-1]], strings.starts[-1] - strings.starts[::-1])
    return all_reversed.part(np.arange(len(strings))[::-1])


def both_strands(strings: Strings) -> Strings:
    """Each string, then an unknown letter, then its reverse complement.

    An n-gram with an unknown letter does not count, so the n-grams of the result are those of both strands. Features,
    counts and kernels of it are sums over both, and are the same for a string and for its reverse complement.

    Raises:
        KernelError: the letters of the alphabet have no complements.
    """
    count, alphabet = len(strings), strings.alphabet
    gaps = Strings(alphabet, np.full(count, len(alphabet), np.uint8), np.arange(count + 1))
    apart = joined([strings, gaps, reverse_complements(strings)], alphabet)
    in_turn = apart.part(np.arange(3 * count).reshape(3, count).T.ravel())
    return Strings(alphabet, in_turn.letters, in_turn.starts[::3])


def encode(
    sequences: Sequence[str] | Strings, alphabet: str | Alphabet = "dna", places: Sequence[str] | None = None
) -> Strings:
    """The strings as numbers; what is encoded already stays as it is.

    `places` says where each one is from, for messages: 'sequence 5' by default.

    Raises:
        KernelError: something is not a string, or has a character that the alphabet lacks.
    """
    if isinstance(sequences, Strings):
        return sequences
    alphabet = alphabet_named(alphabet)
    if isinstance(sequences, str):
        raise KernelError("one string instead of a list of strings: put it in a list")
    sequences = list(sequences)
    wrong = next((i for i, one in enumerate(sequences) if not isinstance(one, str)), None)
    if wrong is not None:
        raise KernelError(f"{place_words(places, wrong)} is {quoted(sequences[wrong])}: give every sequence as text")
    starts = np.cumsum([0, *map(len, sequences)])
    points = np.frombuffer("".join(sequences).encode("utf-32-le", "surrogatepass"), np.uint32)
    numbers = alphabet.numbers()
    table = np.full(max(map(ord, numbers)) + 2, MOST_LETTERS + 1, np.uint16)  # the last place: all other characters
    table[[ord(character) for character in numbers]] = list(numbers.values())
    found = table[np.minimum(points, len(table) - 1)]
    if (found > MOST_LETTERS).any():
        first = int(np.argmax(found > MOST_LETTERS))
        row = int(np.searchsorted(starts, first, side="right")) - 1
        raise KernelError(_stranger(alphabet, sequences[row], first - int(starts[row]), place_words(places, row)))
    return Strings(alphabet, found.astype(np.uint8), starts)


def place_words(places: Sequence[str] | None, row: int) -> str:
    """Where a sequence is from."""
    return f"sequence {row + 1}" if places is None else places[row]


def _stranger(alphabet: Alphabet, sequence: str, at: int, place: str) -> str:
    known = "".join(dict.fromkeys(alphabet.letters + alphabet.unknown))
    return (
        f"{place} has {quoted(sequence[at])} at position {at + 1}, which is not a letter of {alphabet.name} ({known}): "
        "remove it, or choose another alphabet"
    )
