"""Kernel machines in .npz files: arrays and text only, so that opening one runs no code.

A machine brings everything it needs: the size, channels and scaling of images, and the names of its classes. Its scores
are not probabilities, so its predictions have no confidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array, Float, Int
from dissensus.backends.file import ZIP_ERRORS
from dissensus.backends.names import class_numbers, in_classes
from dissensus.backends.preprocess import Preprocess, pixels
from dissensus.errors import BackendError, DissensusError, KernelError, first_line, refuse_pipe, some
from dissensus.predictions.protocol import Top5
from dissensus.predictions.top5 import ranked
from dissensus.records import Classes

if TYPE_CHECKING:
    from dissensus.kernels.machines import KernelRidgeClassifier

KIND, VERSION = "dissensus kernel machine", 1
HEAD, STATE = "about", "state."
"""The member that holds the text of a file, as JSON, and what the names of the machine's arrays start with."""
AGAIN = "write it again with dissensus kernel fit"


@dataclass(frozen=True)
class Trained:
    """A machine whose classes are 0 to K − 1, with their names and what images it takes."""

    machine: KernelRidgeClassifier
    classes: tuple[str, ...]
    preprocess: Preprocess

    def scores(self, images: Float[Array, "n h w c"]) -> Float[Array, "n K"]:
        """One score per class for images that are normalised; the highest is the machine's answer."""
        return np.asarray(self.machine.scores(images), np.float64)


def save_machine(trained: Trained, path: Path) -> None:
    """Write a machine; the same machine always gives the same bytes."""
    state: Mapping[str, Any] = trained.machine.state()
    arrays = {f"{STATE}{name}": value for name, value in state.items() if not isinstance(value, str)}
    about = {
        "kind": KIND,
        "version": VERSION,
        "classes": trained.classes,
        "preprocess": trained.preprocess.model_dump(mode="json", exclude_unset=True),
        "state": {name: value for name, value in state.items() if isinstance(value, str)},
    }
    text = np.array(json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False))
    with path.open("wb") as file:  # numpy would add .npz to a path
        np.savez(file, allow_pickle=False, **{HEAD: text}, **arrays)


def read_machine(path: Path) -> Trained:
    """Read a machine; nothing in the file is run.

    Raises:
        KernelError: the file is damaged, or is not a machine.
    """
    from dissensus.kernels.gram import engine
    from dissensus.kernels.machines import KernelRidgeClassifier

    refuse_pipe(path, KernelError)
    about, arrays = _contents(path)
    if about.get("version") != VERSION:
        raise KernelError(f"{path} was written by another version of dissensus: {AGAIN}")
    try:
        machine = KernelRidgeClassifier.from_state({**about["state"], **arrays})
        classes = tuple(str(name) for name in about["classes"])
        preprocess = Preprocess.read(about["preprocess"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, DissensusError) as error:
        raise KernelError(f"{path} is damaged ({first_line(error)}): {AGAIN}") from None
    expected = (preprocess.size, preprocess.size, preprocess.depth)
    shapes = machine.items_.shape[1:], machine.coefficients_.shape, len({*classes})
    if shapes != (expected, (len(machine.items_), len(classes)), len(classes)) or len(classes) < 2:
        raise KernelError(f"{path} is damaged (its arrays do not fit its images and classes): {AGAIN}")
    machine.device = "auto"
    try:
        engine(machine.items_[:1], None, machine.kernel, "cpu", machine.precision)
    except KernelError as error:
        raise KernelError(f"{path} is damaged ({first_line(error)}): {AGAIN}") from None
    return Trained(machine, classes, preprocess)


def is_machine(path: Path) -> bool:
    """Whether a file is a machine, maybe of another version."""
    try:
        return bool(_contents(path))
    except KernelError:
        return False


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The text and the arrays of a file."""
    why = "it lacks dissensus' mark"
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file[HEAD])) if HEAD in file.files else None
            if isinstance(about, dict) and about.get("kind") == KIND:
                names = [name for name in file.files if name.startswith(STATE)]
                return about, {name.removeprefix(STATE): file[name] for name in names}
    except FileNotFoundError:
        raise KernelError(f"no such file: {path}; check the path") from None
    except (OSError, EOFError, ValueError, TypeError, AttributeError, MemoryError, *ZIP_ERRORS) as error:
        why = why_unreadable(error)
    raise KernelError(f"{path} is not a kernel machine, or is damaged ({why}): {AGAIN}")


def why_unreadable(error: Exception) -> str:
    """Why numpy cannot read a file; it offers to run what is in it, which is out of the question."""
    has_objects = any(word in str(error) for word in ("pickle", "Python objects"))
    return "it holds Python objects instead of arrays" if has_objects else first_line(error)


@dataclass(frozen=True)
class KernelModel:
    """A machine in a study: its class j is the study's class `numbers[j]`."""

    trained: Trained
    numbers: Int[Array, " K"]

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class and the classes that come next, for each image; without a confidence."""
        settings = self.trained.preprocess
        assert settings.size is not None, "checked when the file was read"
        scores = self.trained.scores(np.stack([pixels(one, settings, settings.size) for one in images]))
        order = self.numbers.argsort()  # ties go to the study's lowest class
        ranks = ranked(scores[:, order])
        unknown = np.full(len(images), np.nan, np.float32)
        return in_classes(Top5(ranks[:, 0], unknown, ranks[:, 1:]), self.numbers[order])


def open_kernel(target: str, _: Preprocess, classes: Classes) -> KernelModel:
    """Open the machine in an .npz file; it knows its own preprocessing, and its classes are matched by name."""
    trained = read_machine(Path(target))
    numbers = np.asarray(class_numbers(trained.classes, classes))
    if len({*numbers.tolist()}) < len(numbers):
        twice = [name for name, number in zip(trained.classes, numbers, strict=True) if (numbers == number).sum() > 1]
        raise BackendError(f"its classes {some(twice)} are one class of the study: rename them and fit it again")
    return KernelModel(trained, numbers)
