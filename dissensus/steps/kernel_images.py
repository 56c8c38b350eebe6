"""Images for kernels, with or without labels: arrays, .npy and .npz files, folders of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.backends import Preprocess, Unreadable, read_image
from dissensus.backends.file import ZIP_ERRORS
from dissensus.backends.kernel import why_unreadable
from dissensus.backends.preprocess import pixels
from dissensus.errors import DissensusError, KernelError, first_line, refuse_pipe, sides, some
from dissensus.steps.labelled import rows_of_items
from dissensus.store.sources import images_by_folder, items_of

SIDE = 32
"""Side that images in a folder get, unless another is given."""
WHAT = "an .npy file (N×H×W×C), an .npz with the array images, or a folder of images"


@dataclass(frozen=True)
class Pictures:
    """Images in an array; `names` are those of the files, `labels` are given if the source says what they show."""

    pixels: Array
    names: tuple[str, ...] = ()
    labels: tuple[Any, ...] | None = None

    def name(self, place: int) -> str:
        """What a message calls an image."""
        return self.names[place] if self.names else f"image {place}"


def read_pictures(source: Any, size: int | None = None, gray: bool = False, labelled: bool = False) -> Pictures:
    """Images from an array, a file or a folder; with `labelled`, the subfolders of a folder are classes.

    Images in a folder become squares of `size` pixels: the middle of each, in RGB or gray. Arrays stay as they are.

    Raises:
        KernelError: there are no images, one cannot be read, or arrays are not of this size.
    """
    if size is not None and not 1 <= size <= 4096:
        raise KernelError(f"--size {size}: give a number of pixels from 1 to 4096")
    if not isinstance(source, str | Path):
        return _sized(Pictures(as_images(source, "images")), size, gray)
    path = Path(source)
    refuse_pipe(path, KernelError)
    if path.is_dir():
        return _in_folder(path, size or SIDE, gray, labelled)
    if path.suffix.lower() not in (".npy", ".npz") or not path.is_file():
        why = "is not a known kind of file" if path.is_file() else "does not exist"
        raise KernelError(f"{path} {why}: give {WHAT}")
    arrays = read_arrays(path, "images")
    labels = listed(arrays["labels"]) if labelled and "labels" in arrays else None
    return _sized(Pictures(as_images(arrays["images"], str(path)), labels=labels), size, gray)


def read_arrays(path: Path, name: str) -> dict[str, Array]:
    """The arrays of an .npz file, or that of an .npy file under `name`; nothing in them is run.

    Raises:
        KernelError: it cannot be read, or has no such array.
    """
    try:
        found = np.load(path, allow_pickle=False, mmap_mode="r" if path.suffix.lower() == ".npy" else None)
        if isinstance(found, np.ndarray):
            return {name: found}
        with found:
            arrays = {one: found[one] for one in found.files if one in (name, "images", "labels")}
            listed = some(found.files) or "none"
    except (OSError, EOFError, ValueError, TypeError, MemoryError, *ZIP_ERRORS) as error:
        raise KernelError(f"cannot read {path}: {why_unreadable(error)}; write it again with numpy") from None
    if name not in arrays:
        raise KernelError(f"{path} has no array '{name}', only {listed}: rename it")
    return arrays


def as_images(given: Any, where: str) -> Array:
    """An array of images, N×H×W×C; gray ones may come as N×H×W.

    Raises:
        KernelError: the array has another shape or holds no numbers.
    """
    array = given if isinstance(given, np.ndarray) else _as_array(given, where)
    if array.dtype.kind not in "uif":
        raise KernelError(f"{where}: an array of {array.dtype} holds no images: give uint8 or floats")
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4 or 0 in array.shape:
        raise KernelError(f"{where}: an array of {sides(np.shape(given))} holds no images: expected N×H×W×C")
    return array


def _as_array(given: Any, where: str) -> Array:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise KernelError(f"{where}: {first_line(error)}; give images of one size") from None


def _sized(pictures: Pictures, size: int | None, gray: bool) -> Pictures:
    """The same arrays, which are neither resized nor converted."""
    _, height, width, channels = pictures.pixels.shape
    if size is not None and (height, width) != (size, size):
        raise KernelError(
            f"the images are {height}×{width}, not {size}×{size}: leave out --size, arrays are not resized"
        )
    if gray and channels != 1:
        raise KernelError(f"the images have {channels} channels: arrays are not converted, leave out --gray")
    return pictures


def _in_folder(folder: Path, size: int, gray: bool, labelled: bool) -> Pictures:
    labels: list[str] | None = None
    if labelled:
        found = images_by_folder(folder, KernelError)
        paths = [str(path) for files in found.values() for path in files]
        labels = [inside.name for inside, files in found.items() for _ in files]
        names = [Path(path).relative_to(folder).as_posix() for path in paths]
    else:
        try:
            names, given = items_of([str(folder)])
        except DissensusError as error:
            raise KernelError(str(error)) from None
        paths = [str(path) for path in given]
    if not paths:
        raise KernelError(f"{folder} has no subfolders with images: make one per class, or give a table of labels")
    settings = Preprocess(size=size, crop=1.0, channels="gray" if gray else "rgb")
    images: list[Array] = []
    for name, path in zip(names, paths, strict=True):
        image = read_image(path)
        if isinstance(image, Unreadable):
            raise KernelError(f"{folder / name}: {image.reason}: replace it, or move it elsewhere")
        images.append(pixels(image, settings, size, raw=True))
    return Pictures(np.stack(images), tuple(names), None if labels is None else tuple(labels))


def labels_for(pictures: Pictures, source: Any) -> tuple[Any, ...]:
    """One label per image: from the source of the images itself, a table, an array or a list.

    Raises:
        KernelError: there are none, or not one for each image.
    """
    if source is None:
        if pictures.labels is None:
            raise KernelError("the images have no labels: give LABELS, an .npz with labels, or a folder per class")
        found = pictures.labels
    elif isinstance(source, str | Path):
        found = _labels_in(Path(source), pictures.names)
    else:
        found = listed(source)
    if len(found) != len(pictures.pixels):
        raise KernelError(
            f"{len(found):,} labels for {len(pictures.pixels):,} images: give one per image, in their order"
        )
    return found


def listed(given: Any) -> tuple[Any, ...]:
    """The labels in an array or a list.

    Raises:
        KernelError: there is not one per image, or they are neither names nor numbers.
    """
    try:
        labels = np.asarray(given)
    except ValueError:
        raise KernelError("some images have several labels, others one: give one per image") from None
    if labels.ndim != 1:
        raise KernelError(f"labels of shape {sides(labels.shape)}: give one per image, in a single row")
    if labels.dtype.kind not in "biufSUO":
        raise KernelError(f"labels of {labels.dtype}: give names or whole numbers")
    return tuple(labels.tolist())


def _labels_in(path: Path, names: Sequence[str]) -> tuple[Any, ...]:
    refuse_pipe(path, KernelError)
    if path.suffix.lower() == ".npy" or (path.suffix.lower() == ".npz" and not names):
        if not path.is_file():
            raise KernelError(f"{path} does not exist: check the path")
        return listed(read_arrays(path, "labels")["labels"])
    if not names:
        raise KernelError(f"{path}: images of an array have no names: give their labels as .npy, in their order")
    rows = rows_of_items(path, frozenset(names), "the folder of images", KernelError)
    known = {row["item"]: row["label"] for row in rows}
    absent = [name for name in names if name not in known]
    if absent:
        raise KernelError(f"{path} has no label for {some(absent)}: add rows, or move the images elsewhere")
    return tuple(known[name] for name in names)


def numbered(labels: Sequence[Any]) -> tuple[tuple[str, ...], Int[Array, " n"]]:
    """The names of the classes, sorted (whole numbers as numbers), and the number of each label's class.

    Raises:
        KernelError: a label is missing or is not a name or a whole number, or all are the same.
    """
    names = [_name(label, place) for place, label in enumerate(labels, start=1)]
    by_number = all(name.isascii() and name.isdecimal() and len(name) < 19 for name in names)
    classes = sorted({*names}, key=int) if by_number else sorted({*names})
    if len(classes) < 2:
        raise KernelError(f"all images are of one class ('{classes[0]}'): a classifier needs at least two")
    place_of = {name: number for number, name in enumerate(classes)}
    return tuple(classes), np.array([place_of[name] for name in names])


def _name(label: Any, place: int) -> str:
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    name = "" if label is None or isinstance(label, float) else str(label).strip()
    if not name:
        raise KernelError(f"image {place:,} has no label (found {label!r}): give a name or a whole number")
    return name
