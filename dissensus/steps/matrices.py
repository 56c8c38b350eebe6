"""Matrices of attacks on disk."""

from __future__ import annotations

import json

from dissensus.arrays import Array
from dissensus.records import AttackMatrices
from dissensus.store.files import write_text
from dissensus.store.folder import Folder


def write_matrices(folder: Folder, models: list[str], matrices: AttackMatrices) -> None:
    """Write results/matrices.json."""
    tables = {
        name: _known(getattr(matrices, name), where)
        for name, where in (("aggressiveness", matrices.attacked), ("resistance", matrices.defended))
    }
    write_text(folder.matrices, json.dumps({"models": models} | tables, indent=1) + "\n")


def _known(matrix: Array, where: Array) -> list[list[float | None]]:
    """The matrix as lists, with nothing where nothing was judged."""
    return [
        [float(v) if w else None for v, w in zip(row, known, strict=True)]
        for row, known in zip(matrix.tolist(), where.tolist(), strict=True)
    ]
