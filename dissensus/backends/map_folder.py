"""Folders of maps: one PNG or NPY file per item, whose pixels are labels."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable
from io import BytesIO
from os import PathLike
from pathlib import Path

import numpy as np
from PIL import UnidentifiedImageError

from dissensus.arrays import Array, UInt8
from dissensus.backends.class_maps import class_map
from dissensus.backends.decode import Unreadable
from dissensus.backends.label_sets import Labels, label_numbers, relabelled
from dissensus.errors import PredictionError, one_line
from dissensus.images import excess, open_image
from dissensus.records import Classes

NO_MAP = "no map in the folder"
LABELS = ("1", "L", "P", "I", "I;16")
"""Pillow's modes with one number per pixel; for an indexed image it is the index, whatever its colour."""
BIT_DEPTH = 24
"""Offset of the bit depth in a PNG file, whose first chunk is always the header."""


class MapFolder:
    """Maps predicted elsewhere, read one at a time: the map of the item cats/a.jpg is cats/a.png or cats/a.npy.

    The item's own extension may stay: cats/a.jpg.png. Other files and hidden files are ignored.
    """

    def __init__(self, path: str | PathLike[str], classes: Classes, labels: Labels | None = None) -> None:
        """List the folder; `labels` says what the files' numbers mean, if they are not the study's classes.

        Raises:
            PredictionError: there is no such folder, or no map in it.
            BackendError: none of the labels is a class of the study.
        """
        self.path = Path(path)
        self.numbers = label_numbers(labels, classes)
        self._files = map_files(self.path)
        self._digests: dict[str, bytes] = {}

    def check_covers(self, ids: Iterable[str]) -> None:
        """Check that at least one item has a map and that no two share one; no file is opened.

        Raises:
            PredictionError: no item has a map, one has two, or two have the same.
        """
        owners: dict[str, str] = {}
        for item in ids:
            name = self._name(item)
            if name in owners:
                raise PredictionError(
                    f"{self.path}: {name} is the map of both {owners[name]} and {item}: use"
                    f" {owners[name]}.png and {item}.png"
                )
            if name is not None:
                owners[name] = item
        if not owners:
            raise PredictionError(
                f"{self.path} has no map of any item, only files such as {next(iter(self._files))}: name each file"
                " after its item, in the same subfolder, with .png or .npy"
            )

    def get(self, item: str) -> UInt8[Array, "h w"] | Unreadable:
        """The map of an item, at the size in the file; Unreadable if there is none.

        Raises:
            PredictionError: there are two, or the file is damaged, is not a map, or has a label that is not a class.
        """
        name = self._name(item)
        if name is None:
            return Unreadable(NO_MAP)
        path = self._files[name]
        try:
            data = path.read_bytes()
            self._note(name, data)
            labels = READERS[path.suffix.lower()](data)
            found = class_map(labels, len(self.numbers), "auto", "first")
        except PredictionError as error:
            raise PredictionError(f"{path}: {error}") from None
        except UnidentifiedImageError:  # its message contains an object's address
            raise PredictionError(f"{path}: the file is damaged or missing: write it again (not a PNG)") from None
        except Exception as error:  # damaged files make Pillow raise almost anything
            raise PredictionError(
                f"{path}: the file is damaged or missing: write it again ({one_line(error)})"
            ) from error
        return relabelled(found, self.numbers)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the folder's maps; reads only those not read yet."""
        return _fingerprint(self._files, self._digests)

    def _name(self, item: str) -> str | None:
        """The path of an item's map within the folder."""
        stems = dict.fromkeys((posixpath.splitext(item)[0], item))
        found = [name for stem in stems for name in (stem + ending for ending in READERS) if name in self._files]
        if len(found) > 1:
            raise PredictionError(f"{self.path}: {item} has two maps, {found[0]} and {found[1]}: keep one")
        return found[0] if found else None

    def _note(self, name: str, data: bytes) -> None:
        digest = hashlib.sha256(data).digest()
        if self._digests.setdefault(name, digest) != digest:
            raise PredictionError("the file changed while the folder was being read: run this again")


def folder_fingerprint(path: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of all maps in a folder: their paths and contents.

    Raises:
        PredictionError: there is no such folder, or no map in it.
    """
    return _fingerprint(map_files(path), {})


def map_files(folder: Path) -> dict[str, Path]:
    """The maps in a folder and its subfolders, by their path within it with a lower-case extension, sorted.

    Raises:
        PredictionError: there is no such folder, or no map in it.
    """
    if not folder.is_dir():
        raise PredictionError(f"{folder} is not a folder: give one with a .png or .npy file per item")
    places = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names if not name.startswith("."))
    found: dict[str, Path] = {}
    for path in places:
        if path.suffix.lower() in READERS:
            name = path.relative_to(folder).with_suffix(path.suffix.lower()).as_posix()
            if found.setdefault(name, path) is not path:
                raise PredictionError(
                    f"{folder}: {found[name].name} and {path.name} are two maps of the same item: keep one"
                )
    if not found:
        raise PredictionError(f"{folder} contains no maps: put a .png or .npy file per item there")
    return dict(sorted(found.items()))


def _fingerprint(files: dict[str, Path], known: dict[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name, path in files.items():
        try:
            digest = known.get(name) or hashlib.sha256(path.read_bytes()).digest()
        except OSError as error:
            raise PredictionError(f"cannot read {path}: {one_line(error)}") from None
        whole.update(os.fsencode(name) + b"\0" + digest)
    return whole.hexdigest()[:16]


def _read_png(data: bytes) -> Array:
    with open_image(BytesIO(data), ("PNG",)) as image:
        if reason := excess(*image.size):
            raise PredictionError(reason)
        if image.mode not in LABELS:
            raise PredictionError(
                f"the image is {image.mode}, not labels: save the class numbers as an 8-bit greyscale PNG"
            )
        labels = np.asarray(image)
    depth = data[BIT_DEPTH]
    # Pillow scales 2-bit and 4-bit greyscale to 0..255.
    return labels // (255 // (2**depth - 1)) if image.mode == "L" and depth < 8 else labels


def _read_npy(data: bytes) -> Array:
    labels = np.lib.format.read_array(BytesIO(data), allow_pickle=False)
    if labels.ndim != 2:
        raise PredictionError(f"an array of shape {labels.shape} is not a map: store labels H×W")
    return labels


READERS = {".png": _read_png, ".npy": _read_npy}
