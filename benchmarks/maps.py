"""How large class maps are in storage and how fast they are read back, by run lengths and by other common forms.

Example: python benchmarks/maps.py --kit FOLDER

512×512 maps of 21 classes, made by a generator, and with --kit by real networks (`class_maps.py` says how). Everything
is in memory: what is measured is the form, not the disk. Each map is let go before the next is read. Contenders take
turns, and the best of some rounds counts.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.class_maps import SIZE, generated, of_networks
from dissensus.arrays import Array, UInt8
from dissensus.predictions.maps import map_at, packed, unpacked
from dissensus.records import Maps

OURS, OURS_SMALLER = "run lengths in Parquet", "run lengths in Parquet, zstd (ours)"
SMALLER = 10  # times than raw, at least

Dense = UInt8[Array, "n H W"]


class Form(NamedTuple):
    """How maps are written, and how each of them is read back as an array."""

    write: Callable[[Dense], list[bytes]]
    read: Callable[[list[bytes]], Iterator[UInt8[Array, "H W"]]]


def _each(write: Callable[[Array], bytes], read: Callable[[bytes], Array]) -> Form:
    return Form(lambda maps: [write(one) for one in maps], lambda files: map(read, files))


def _npy(labels: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, labels)
    return file.getvalue()


def _png(labels: Array) -> bytes:
    picture, file = Image.fromarray(labels), io.BytesIO()
    picture.putpalette([value for label in range(256) for value in (label, label, label)])
    picture.save(file, "PNG")
    return file.getvalue()


def _raw(pixels: bytes) -> UInt8[Array, "H W"]:
    return np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE)


def _of_zstd(data: bytes) -> UInt8[Array, "H W"]:
    return _raw(pa.decompress(data, SIZE * SIZE, codec="zstd", asbytes=True))


def _parquet(compression: str) -> Form:
    """One file for all maps: run lengths in a column of bytes."""

    def write(maps: Dense) -> list[bytes]:
        file = io.BytesIO()
        table = pa.table({"runs": pa.array([packed(one) for one in maps], pa.large_binary())})
        pq.write_table(table, file, compression=compression, use_dictionary=False)
        return [file.getvalue()]

    def read(files: list[bytes]) -> Iterator[UInt8[Array, "H W"]]:
        maps = _maps_of(files[0])
        return (map_at(maps, number) for number in range(len(maps)))

    return Form(write, read)


def _maps_of(file: bytes) -> Maps:
    runs = pq.read_table(io.BytesIO(file))["runs"].combine_chunks()
    _, offsets, data = runs.buffers()
    sizes = np.full(len(runs), SIZE)
    return Maps(np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64)[: len(runs) + 1], sizes, sizes)


FORMS = {
    "NPY": _each(_npy, lambda file: np.load(io.BytesIO(file))),
    OURS: _parquet("none"),
    OURS_SMALLER: _parquet("zstd"),
    "run lengths by themselves": _each(packed, lambda file: unpacked(file, SIZE, SIZE)),
    "PNG with a palette": _each(_png, lambda file: np.asarray(Image.open(io.BytesIO(file)))),
    "zlib": _each(lambda labels: zlib.compress(labels.tobytes()), lambda file: _raw(zlib.decompress(file))),
    "zstd": _each(lambda labels: pa.compress(labels.tobytes(), codec="zstd", asbytes=True), _of_zstd),
}


def main() -> int:
    """Measure, print, and say with the exit code whether the bar holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=30, help="with ten maps each")
    parser.add_argument("--kit", type=Path, help="folder of the data kit, for maps by real networks as well")
    parser.add_argument("--repeat", type=int, default=20, help="rounds, of which the best counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pools = {"generated": generated(options.images)}
    if options.kit:
        pools["of networks"] = of_networks(options.kit, options.images)
    documents = [_document(name, maps.reshape(-1, SIZE, SIZE), options.repeat) for name, maps in pools.items()]
    if options.json:
        print(json.dumps(documents, indent=1))
    else:
        for document in documents:
            _print(document)
    return int(not all(document["bar"]["holds"] for document in documents))


def _document(name: str, maps: Dense, repeat: int) -> dict[str, Any]:
    files = {form: written.write(maps) for form, written in FORMS.items()}
    for form, given in files.items():
        if not all(np.array_equal(one, other) for one, other in zip(FORMS[form].read(given), maps, strict=True)):
            raise SystemExit(f"{form} does not give the maps back")
    work: dict[str, Callable[[], object]] = {
        form: partial(_read_all, one.read, files[form]) for form, one in FORMS.items()
    }
    work["run lengths from Parquet, not unpacked"] = lambda: _maps_of(files[OURS][0])
    work["the same with zstd"] = lambda: _maps_of(files[OURS_SMALLER][0])
    rounds = [{form: _seconds(read) / len(maps) for form, read in work.items()} for _ in range(repeat)]
    size = {form: sum(map(len, given)) / len(maps) for form, given in files.items()}
    smaller = SIZE * SIZE / size[OURS]
    return {
        "maps": name,
        "count": len(maps),
        "bytes_a_map": {form: round(taken) for form, taken in size.items()},
        "share_of_raw": {form: round(taken / SIZE**2, 4) for form, taken in size.items()},
        "microseconds_to_read": {form: round(1e6 * min(one[form] for one in rounds), 1) for form in work},
        "bar": {"limit": SMALLER, "value": round(smaller, 1), "holds": smaller >= SMALLER},
    }


def _read_all(read: Callable[[list[bytes]], Iterator[Array]], files: list[bytes]) -> None:
    deque(read(files), maxlen=0)


def _seconds(read: Callable[[], object]) -> float:
    start = time.perf_counter()
    read()
    return time.perf_counter() - start


def _print(document: dict[str, Any]) -> None:
    print(f"maps {document['maps']}: {document['count']} of {SIZE}×{SIZE}")
    print(f"{'':40}{'bytes':>9}{'of raw':>9}{'reading, ratio':>16}{'µs':>8}")
    times, unit = document["microseconds_to_read"], document["microseconds_to_read"][OURS]
    for form, taken in times.items():
        size = document["bytes_a_map"].get(form)
        share = f"{size:>9,}{document['share_of_raw'][form]:>9.2%}" if size else " " * 18
        print(f"{form:40}{share}{taken / unit:>16.2f}{taken:>8.0f}")
    bar = document["bar"]
    word = "PASS" if bar["holds"] else "FAIL"
    print(f"{word}  {bar['value']:>8.1f} times smaller than raw, at least {bar['limit']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
