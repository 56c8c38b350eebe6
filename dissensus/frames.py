"""Tables from and to a notebook: any kind of frame comes in, and the kind that the user has installed goes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import BaseModel


def is_table(data: Any) -> bool:
    """Whether `data` holds named columns: a pandas or Polars frame, an Arrow table, a dict of columns, or dict rows."""
    rows = isinstance(data, Sequence) and not isinstance(data, str) and len(data) > 0 and isinstance(data[0], Mapping)
    return rows or isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__")


def table_of(data: Any) -> pa.Table:
    """The columns of a pandas or Polars frame, an Arrow table, a dict of columns, or a list of dicts.

    Raises:
        TypeError: it is none of these.
    """
    import pyarrow as pa

    if not is_table(data):
        raise TypeError(f"expected a frame, a dict of columns or a list of dicts, not {type(data).__name__}")
    if isinstance(data, Mapping):
        return pa.table({name: pa.array(column) for name, column in data.items()})
    if isinstance(data, Sequence):
        return pa.Table.from_pylist([dict(row) for row in data])
    table = pa.table(data)
    return table.select([name for name in table.column_names if not name.startswith("__index_level_")])


def columns_of(kind: type[BaseModel], records: Iterable[BaseModel]) -> dict[str, list[Any]]:
    """The fields of some records of one kind as columns; with no records, the columns are empty."""
    rows = list(records)
    return {name: [getattr(one, name) for one in rows] for name in kind.model_fields}


def frame_named(what: str, known: Mapping[str, tuple[type[BaseModel], Iterable[BaseModel]]], *others: str) -> Any:
    """One of several frames by its name, each with a kind of record and its rows; the caller knows `others`.

    Raises:
        ValueError: the frame is unknown.
    """
    if what not in known:
        raise ValueError(f"unknown frame '{what}': use {', '.join((*others, *known))}")
    return frame_of(columns_of(*known[what]))


def frame_of(columns: Mapping[str, Any] | pa.Table) -> Any:
    """The columns as a pandas frame if pandas is installed, else a Polars frame, else an Arrow table."""
    import pyarrow as pa

    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    if find_spec("pandas"):
        return table.to_pandas()
    if find_spec("polars"):
        import polars

        return polars.from_arrow(table)
    return table
