"""Damage done to files of answers: to their bytes, and to what they are made of."""

from __future__ import annotations

import base64
import csv
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.answer_files import Form, Random, Rows, table_bytes, table_of, valid_response, write_valid

ODD_TIMES = (
    "2026-W10-3T05:06:07+00:00", "20260304T050607+00:00", "2026-03-04T05:06:07,5+00:00", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00", "2026-03-04", "2026-03-04 05:06Z", "Sat Nov 14 09:30:00 PST 2026", "2026-02-30T00:00",
    "24:00", "1e9", "-1", "2026-03-04T05:06:07+99:00",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.5, 10**20, 10**400, -(2**63), 1e308, 5e-324, float("nan"), float("inf"), "", " ",
    "yes", "No ", "maybe", "cannot tell", "first", "left", "unfit", "cat", "CAT", "a.png", "cats\\a.png", "\0",
    "\ud800", "\u202e", "9" * 5000, "x" * 100_000, "1_0", "١", [], {}, [[]], ["yes"], {"item": "a.png"},
    {"dissensus": {}}, *ODD_TIMES,
)  # fmt: skip
ODD_BYTES = (
    b"\0", b"\0\0\0\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\x1a", b"\r", b"\n", b"\r\n", b'"',
    b'""', b"'", b",", b";", b"\t", b"{", b"}", b"[", b"]", b"=", b"\\", b"\xe2\x80\xa8", b"\xc3", b"NaN", b"1e999",
)  # fmt: skip
DEEP, TWICE = "\1deep", "\1twice"
"""Placeholders for what `json.dumps` cannot write: deep nesting, and a key that occurs twice."""
TURK = {
    "item": "Input.item", "label": "Input.label", "annotator": "WorkerId", "answer": "Answer.answer",
    "time": "SubmitTime", "seconds": "WorkTimeInSeconds", "comment": "Answer.comment",
}  # fmt: skip


def mutated_file(form: Form, task: str, folder: Path, rng: Random) -> Path:
    """Write a valid file (or folder) of answers, damage it, and return its path."""
    path = folder / f"file{form.ending}"
    write_valid(form, path, [valid_response(number, form, task, rng) for number in range(rng.randint(3, 8))])
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in rng.sample(files, min(len(files), rng.choice((1, 1, 2)))):
            file.write_bytes(_damaged(file.suffix, file.read_bytes(), rng))
    else:
        path.write_bytes(_damaged(form.ending, path.read_bytes(), rng))
    return path


def _damaged(ending: str, data: bytes, rng: Random) -> bytes:
    """The content of a file with one to three changes: to its structure, to its bytes, or both."""
    structural, how = STRUCTURAL[ending], rng.random()
    if how < 0.6:
        for _ in range(rng.choice((1, 1, 2))):
            with suppress(Exception):  # the first change may have left nothing to change
                data = structural(data, rng)
    if how > 0.5:
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = rng.choice(BYTEWISE)(data, rng)
    return data


def _span(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 4, 16, 64, rng.randint(1, 1 + len(data)))))


def _flip(data: bytes, rng: Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        # the last part of a file often holds its index: damage it as often as all the rest
        first = rng.choice((0, len(data) * 3 // 4))
        flipped[rng.randrange(first, len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _cut(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] + data[end:]


def _insert(data: bytes, rng: Random) -> bytes:
    at = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    return data[:at] + rng.choice((*ODD_BYTES, rng.randbytes(4))) + data[at:]


def _truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _swap_line_ends(data: bytes, rng: Random) -> bytes:
    before, after = rng.sample((b"\n", b"\r\n", b"\r", b"\n\n", b"\x0b", b"\xe2\x80\xa8"), 2)
    return data.replace(before, after)


def _reencode(data: bytes, rng: Random) -> bytes:
    return data.decode("utf-8", "replace").encode(
        rng.choice(("utf-8-sig", "utf-16", "utf-16-be", "latin-1")), "replace"
    )


BYTEWISE: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip, _flip, _cut, _duplicate, _insert, _insert, _truncate, _swap_line_ends, _reencode,
)  # fmt: skip


def _change_json(data: bytes, rng: Random) -> bytes:
    """Change one to three values of a document."""
    document = json.loads(data)
    twice: list[str] = []
    if rng.random() < 0.2:
        _strip(document)
    for _ in range(rng.choice((1, 1, 2, 3))):
        document = _change_value(document, twice, rng)
    text = json.dumps(document, ensure_ascii=rng.random() < 0.3, indent=rng.choice((None, 2)))
    depth = rng.choice((5, 20, 900, 100_000))
    text = text.replace(json.dumps(DEEP), rng.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth)))
    for number, key in enumerate(twice):
        text = text.replace(json.dumps(f"{TWICE}{number}"), json.dumps(key))
    return text.encode("utf-8", "surrogatepass")


def _strip(document: Any) -> None:
    """Remove our own fields, so that what is left is what the other tool would write."""
    inner = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    if isinstance(document, dict):
        document.pop("dissensus", None)
    for one in inner:
        _strip(one)


def _change_value(document: Any, twice: list[str], rng: Random) -> Any:
    holders = _holders(document)
    if not holders:
        return rng.choice(ODD_VALUES)
    holder = rng.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    key = rng.choice(keys)
    what = rng.randrange(8)
    if what == 0:
        del holder[key]
    elif what == 1:
        other = rng.choice(holders)
        holder[key] = other[rng.choice(list(other) if isinstance(other, dict) else range(len(other)))]
        return json.loads(json.dumps(document))  # a copy, so that later changes do not happen in both places
    elif what == 2:
        holder[key] = DEEP
    elif what == 3 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), json.loads(json.dumps(holder[key])))
    elif what == 3:
        holder[f"{TWICE}{len(twice)}"] = rng.choice((holder[key], *ODD_VALUES))
        twice.append(key)
    elif what == 4 and isinstance(holder, dict):
        holder[rng.choice((*holder, "data", "images", "flags", key.upper(), ""))] = holder.pop(key)
    else:
        holder[key] = rng.choice(ODD_VALUES)
    return document


def _holders(document: Any) -> list[Any]:
    """All lists and objects of a document that hold something."""
    if not isinstance(document, (dict, list)) or not document:
        return []
    inner = document.values() if isinstance(document, dict) else document
    return [document, *(holder for one in inner for holder in _holders(one))]


def _change_line(data: bytes, rng: Random) -> bytes:
    """Change one line of JSON Lines: its values, its place, or whether it is there."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    what = rng.randrange(6)
    if what == 0:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif what == 1:
        rng.shuffle(lines)
    else:
        lines[at] = _change_json(lines[at], rng).replace(b"\n", b" ")
    return b"\n".join(lines)


def _change_table(data: bytes, rng: Random, mark: str = ",") -> bytes:
    """Change cells, columns or the dialect of a table."""
    rows = [row for row in table_of(data, mark) if row] or [[""]]
    if rng.random() < 0.3:
        rows = _shortened(rows, rng)
    at, cell = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    what = rng.randrange(8)
    if what == 0:
        other = rng.randrange(len(rows[0]))
        for row in rng.choice((rows, rows[:1], rows[1:])):
            if max(cell, other) < len(row):
                row[cell], row[other] = row[other], row[cell]
    elif what == 1:
        rows[at].insert(cell, rng.choice(("", "", "x", "yes", "ann")))
    elif what == 2:
        del rows[at][cell : cell + rng.choice((1, 1, len(rows[0])))]
    elif what == 3:
        rows.insert(rng.randint(1, len(rows)), [*rows[at]])
    else:
        wanted = rng.choice(("time", "answer", "annotator", "item", "label", "kind", "question", "shown", "seconds"))
        cell = rows[0].index(wanted) if wanted in rows[0] else cell
        odd = rng.choice(ODD_TIMES if wanted == "time" else ODD_VALUES)
        rows[at][cell : cell + 1] = [odd if isinstance(odd, (str, float)) else json.dumps(odd)]
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    mark = rng.choice((mark, mark, mark, ",", ";", "\t"))
    return table_bytes(rows, mark, quoting=quoting, lineterminator=rng.choice(("\r\n", "\n", "\r")))


def _shortened(rows: Rows, rng: Random) -> Rows:
    """A table as people write it by hand, or as Mechanical Turk delivers it: without ids."""
    names = [name for name in rows[0] if name in TURK or name in ("kind", "question")]
    kept = [rows[0].index(name) for name in names]
    if not kept:
        return rows
    renamed = [TURK.get(name, f"Input.{name}") for name in names] if rng.random() < 0.5 else names
    return [renamed, *([row[cell] for cell in kept] for row in rows[1:] if len(row) > max(kept))]


def _change_parquet(data: bytes, rng: Random) -> bytes:
    """Change the columns of a Parquet file: their names, types, values and number."""
    table = pq.read_table(io.BytesIO(data))
    names, columns = list(table.column_names), [column.to_pylist() for column in table.columns]
    at, row = rng.randrange(len(names)), rng.randrange(table.num_rows)
    what = rng.randrange(7)
    kinds: list[Any] = [None] * len(names)
    if what == 0:
        names[at] = rng.choice(names)
    elif what == 1:
        del names[at], columns[at], kinds[at]
    elif what == 2:
        names.append(names[at])
        columns.append(columns[rng.randrange(len(columns))])
        kinds.append(None)
    elif what == 3:
        kinds[at] = rng.choice((pa.binary(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())))
    elif what == 4:
        columns[at] = [rng.choice((["x"], {"a": "x"}, 7, 2.5, True, float("nan"), None))] * table.num_rows
    else:
        columns[at][row] = rng.choice([odd for odd in (*ODD_VALUES, *ODD_TIMES) if isinstance(odd, str)])
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=names), file, compression=rng.choice(("none", "snappy", "zstd")))
    return file.getvalue()


def _change_png(data: bytes, rng: Random) -> bytes:
    """Change one chunk of a PNG file and correct its checksum, or leave it out, or repeat it."""
    chunks = _chunks(data)
    at = rng.randrange(len(chunks))
    name, body = chunks[at]
    what = rng.randrange(6)
    if what == 0:
        del chunks[at]
    elif what == 1:
        chunks.insert(rng.randrange(len(chunks) + 1), chunks[at])
    elif what == 2 and name == b"IDAT":
        rows = bytearray(b"\0\1\2\0" * 2)  # two rows of three pixels, each after the number of its filter
        rows[rng.randrange(len(rows))] = rng.choice((0, 1, 2, 5, 6, 255, rng.randrange(256)))
        chunks[at] = name, zlib.compress(bytes(rows))
    else:
        chunks[at] = name, _flip(body, rng)
    return data[:8] + b"".join(_chunk(name, body) for name, body in chunks)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4])
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _change_zip(data: bytes, rng: Random) -> bytes:
    """Change a member of an archive, its name, or how often it is there."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = rng.randrange(len(members))
    name, body = members[at]
    what = rng.randrange(6)
    ending = f".{name.rsplit('.', 1)[-1]}"
    if what == 0:
        members.insert(rng.randrange(len(members) + 1), (rng.choice((name, f"x/{name}", f"../{name}")), body))
    elif what == 1:
        changed = (
            name.upper(),
            name + "x",
            f"__MACOSX/{name}",
            f"._{name}",
            name.replace("/", "\\"),
            f"é{name}",
            ending,
        )
        members[at] = rng.choice(changed), body
    elif ending in STRUCTURAL and ending != ".zip":
        members[at] = name, _damaged(ending, body, rng)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, body in members:
            archive.writestr(zipfile.ZipInfo(name), body)
    return file.getvalue()


def _change_document(data: bytes, rng: Random) -> bytes:
    """Change values, or, in a LabelMe file with shapes, the PNG file within one of them."""
    if b'"mask": "' not in data or rng.random() < 0.7:
        return _change_json(data, rng)
    document = json.loads(data)
    shape = rng.choice([one for one in document["shapes"] if one.get("mask")])
    shape["mask"] = base64.b64encode(_change_png(base64.b64decode(shape["mask"]), rng)).decode()
    return json.dumps(document).encode()


STRUCTURAL: dict[str, Callable[[bytes, Random], bytes]] = {
    ".csv": _change_table,
    ".tsv": lambda data, rng: _change_table(data, rng, "\t"),
    ".jsonl": _change_line,
    ".parquet": _change_parquet,
    ".json": _change_document,
    ".png": _change_png,
    ".zip": _change_zip,
}
