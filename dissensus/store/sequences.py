"""Sequences from files: FASTA and DeepBind's tables, both plain or compressed with gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import KernelError, quoted, refuse_pipe

GZIP = b"\x1f\x8b"
COLUMNS = ("EventID", "seq", "Bound")
"""Of DeepBind's files; a first column FoldID and others are not needed."""
Line = tuple[int, str]


@dataclass(frozen=True, eq=False)
class SequenceFile:
    """Names and sequences in the order of the file, and which are bound, if it says so."""

    path: Path
    names: tuple[str, ...]
    sequences: tuple[str, ...]
    lines: tuple[int, ...]
    """Where each one starts."""
    is_bound: Bool[Array, " N"] | None

    def __len__(self) -> int:
        return len(self.names)


def read_sequences(path: str | Path) -> SequenceFile:
    """Sequences of a FASTA or DeepBind file; what is in it decides which it is, not its name.

    Raises:
        KernelError: it is missing, damaged, empty or neither of the two; the message names the line.
    """
    path = Path(path)
    lines = [(number, line) for number, line in enumerate(_text(path).splitlines(), start=1) if line.strip()]
    if not lines:
        raise KernelError(f"{path} is empty: give a file with sequences")
    number, first = lines[0]
    if first.startswith((">", ";")):
        return _fasta(path, lines)
    if "seq" in first.split("\t"):
        return _deepbind(path, lines)
    raise KernelError(
        f"{path}, line {number}: {quoted(first)} starts neither FASTA (>name) nor a DeepBind file (a header with the "
        f"columns {', '.join(COLUMNS)}, separated by tabs): convert it to one of them"
    )


def _text(path: Path) -> str:
    refuse_pipe(path, KernelError)
    if not path.is_file():
        raise KernelError(f"{path}: no such file: check the path")
    content = path.read_bytes()
    if content.startswith(GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise KernelError(f"{path} is cut off or damaged: copy or compress it again") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise KernelError(f"{path}, line {line}: not text: give FASTA or a DeepBind file") from None


def _fasta(path: Path, lines: list[Line]) -> SequenceFile:
    """Records of a line '>name description' and lines of letters; lines that start with ';' are comments."""
    names, sequences, starts = [], [], []
    for number, name, parts in _records(path, lines):
        sequence = "".join(parts)
        if not sequence:
            raise KernelError(f"{path}, line {number}: {quoted(name)} has no sequence: add it, or remove the line")
        names.append(name)
        sequences.append(sequence)
        starts.append(number)
    return SequenceFile(path, tuple(names), tuple(sequences), tuple(starts), None)


def _records(path: Path, lines: list[Line]) -> Iterator[tuple[int, str, list[str]]]:
    start, name, parts = 0, "", list[str]()
    for number, line in lines:
        if line.startswith(";"):
            continue
        if line.startswith(">"):
            if start:
                yield start, name, parts
            start, name, parts = number, (line[1:].split() or [f"line {number}"])[0], []
        elif not start:
            raise KernelError(f"{path}, line {number}: letters before the first name: start with a line '>name'")
        else:
            parts.append("".join(line.split()))
    if not start:
        raise KernelError(f"{path} has only comments: give a file with sequences")
    yield start, name, parts


def _deepbind(path: Path, lines: list[Line]) -> SequenceFile:
    heads = [head.strip() for head in lines[0][1].split("\t")]
    sequence_at = heads.index("seq")
    name_at, bound_at = (heads.index(head) if head in heads else None for head in ("EventID", "Bound"))
    names, sequences, bound = [], [], []
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(heads):
            raise KernelError(f"{path}, line {number}: {len(cells)} columns instead of {len(heads)}: correct the line")
        if not cells[sequence_at]:
            raise KernelError(f"{path}, line {number}: the column seq is empty: add the sequence, or remove the line")
        names.append(f"line {number}" if name_at is None else cells[name_at])
        sequences.append(cells[sequence_at])
        if bound_at is not None:
            bound.append(_is_bound(path, number, cells[bound_at]))
    if not names:
        raise KernelError(f"{path} has a header and no sequences: give a file with sequences")
    starts = tuple(number for number, _ in lines[1:])
    return SequenceFile(path, tuple(names), tuple(sequences), starts, np.array(bound) if bound else None)


def _is_bound(path: Path, number: int, cell: str) -> bool:
    try:
        return {0.0: False, 1.0: True}[float(cell)]
    except (ValueError, KeyError):
        raise KernelError(
            f"{path}, line {number}: Bound is {quoted(cell)}: give 1 for bound and 0 for unbound"
        ) from None
