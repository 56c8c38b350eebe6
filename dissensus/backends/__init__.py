"""Model frameworks behind one interface; NAME=BACKEND:TARGET specifies a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

from dissensus.backends.callable import open_callable
from dissensus.backends.decode import MISSING_FILE, Unreadable, as_rgb, read_content, read_image
from dissensus.backends.file import FURTHER, FilePredictions, read_predictions
from dissensus.backends.frameworks import at_a_time, unopened
from dissensus.backends.guard import Guarded
from dissensus.backends.kernel import open_kernel
from dissensus.backends.litert import open_litert
from dissensus.backends.map_folder import MapFolder, folder_fingerprint
from dissensus.backends.map_preprocess import MapPreprocess, map_preprocess
from dissensus.backends.modules import module_file, named_function, named_object, source_of, split
from dissensus.backends.onnx import open_onnx
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.score_file import read_scores
from dissensus.backends.scoring import open_scorer
from dissensus.backends.segmenting import Segmenter, open_segmenter
from dissensus.backends.sklearn import open_sklearn
from dissensus.backends.timm import open_timm, split_target
from dissensus.backends.torch import is_file, open_torch
from dissensus.errors import BackendError, DissensusError, refuse_pipe
from dissensus.predictions.protocol import Model
from dissensus.records import Classes

__all__ = [
    "BACKENDS",
    "FURTHER",
    "MISSING_FILE",
    "Backend",
    "FilePredictions",
    "MapFolder",
    "MapPreprocess",
    "Preprocess",
    "Segmenter",
    "Unreadable",
    "as_rgb",
    "at_a_time",
    "map_preprocess",
    "named_function",
    "named_object",
    "open_model",
    "open_scorer",
    "open_segmenter",
    "parse_spec",
    "read_content",
    "read_image",
    "read_predictions",
    "read_scores",
    "target_fingerprint",
]


@dataclass(frozen=True)
class Backend:
    """A source of predictions; `open` is None if they are read instead of computed."""

    open: Callable[[str, Preprocess, Classes], Model] | None
    summary: str
    extra: str | None = None
    runs_code: bool = False
    """True if the target is a program, or a file that may contain one."""


BACKENDS: dict[str, Backend] = {
    "file": Backend(None, "a prediction file: Parquet, CSV or NPZ with item and label or score; or a folder of masks"),
    "python": Backend(
        open_callable,
        "a Python function MODULE:FUNCTION from a list of images to outputs, labels or masks",
        runs_code=True,
    ),
    "sklearn": Backend(open_sklearn, "a scikit-learn classifier in a joblib file", runs_code=True),
    "onnx": Backend(open_onnx, "an ONNX file", "onnx"),
    "litert": Backend(open_litert, "a LiteRT (.tflite) file", "litert"),
    "torch": Backend(open_torch, "a TorchScript .pt file, an exported .pt2 file or MODULE:FACTORY", "torch", True),
    "kernel": Backend(open_kernel, "a kernel machine in an .npz file, written by dissensus kernel fit"),
    "quality": Backend(None, "an image quality model by its name, such as ssim: for studies of scores"),
    "timm": Backend(open_timm, "a timm model: NAME with published weights, or NAME@CHECKPOINT", "timm", True),
}

SUFFIXES = {".onnx": "onnx", ".tflite": "litert", ".pt": "torch", ".pt2": "torch", ".csv": "file", ".parquet": "file"}
"""The backends of files whose name ends like this, where a spec names none."""
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def parse_spec(spec: str) -> tuple[str, str, str]:
    """Name, backend and target of NAME=BACKEND:TARGET; for some files, their name says which backend it is.

    Raises:
        BackendError: a part is missing, the name is not a valid file name, or the backend is unknown.
    """
    name, equals, rest = spec.partition("=")
    backend, colon, target = rest.partition(":")
    if not colon and (usual := SUFFIXES.get(PurePath(rest).suffix.lower())):
        backend, colon, target = usual, ":", rest
    if not (equals and colon and target):
        raise BackendError(f"'{spec}' is not a model: write NAME=BACKEND:TARGET, for example resnet=onnx:resnet.onnx")
    if not MODEL_NAME.fullmatch(name):
        raise BackendError(
            f"'{name}' is not a valid model name: use letters, digits, '.', '_' and '-', with a letter or digit first"
        )
    _backend(backend)
    return name, backend, target


def open_model(backend: str, target: str, preprocess: Preprocess, classes: Classes) -> Model:
    """Open a model, ready to predict; its predictions are checked.

    Raises:
        BackendError: the framework or file is missing, the file has no such model, or the settings do not fit it.
    """
    chosen = _backend(backend)
    name = f"{backend}:{target}"
    if chosen.open is None:
        raise BackendError(f"{name} does not predict classes: use it in a study of scores")
    if _is_path(backend, target):
        _existing(target)
    try:
        return Guarded(chosen.open(target, preprocess, classes), name, len(classes))
    except DissensusError as error:
        raise BackendError(str(error) if target in str(error) else f"{name}: {error}") from error
    except Exception as error:
        raise unopened(backend, target, error, chosen.summary) from error


def target_fingerprint(backend: str, target: str) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the target, so that a changed model is noticed.

    That is the file itself, or all maps in a folder; for MODULE:FUNCTION, the module's own file, but neither the
    packages it is in nor anything that it imports or loads; for a timm model, its checkpoint or, with published
    weights, its name and the version of timm.

    Raises:
        BackendError: there is no such file or module.
    """
    if backend == "quality":
        from dissensus.backends.quality import open_quality  # takes half a second to import; only this backend needs it

        return hashlib.sha256(open_quality(target).version.encode()).hexdigest()[:16]
    path = _fingerprinted(backend, target)
    if path is None:
        return hashlib.sha256(f"{target} {_version('timm') if backend == 'timm' else ''}".encode()).hexdigest()[:16]
    if path.is_dir():
        return folder_fingerprint(path)
    if path.suffix == ".py":
        return hashlib.sha256(source_of(path)).hexdigest()[:16]
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _fingerprinted(backend: str, target: str) -> Path | None:
    _backend(backend)
    if _is_path(backend, target):
        return Path(target) if backend == "file" and Path(target).is_dir() else _existing(target)
    if backend == "timm":
        checkpoint = split_target(target)[1]
        return _existing(checkpoint) if checkpoint else None
    return module_file(split(target)[0])


def _backend(name: str) -> Backend:
    if name == "tflite":
        raise BackendError("unknown backend 'tflite': .tflite files are for litert")
    if name not in BACKENDS:
        raise BackendError(f"unknown backend '{name}': use one of {', '.join(BACKENDS)}")
    return BACKENDS[name]


def _is_path(backend: str, target: str) -> bool:
    return backend in ("file", "sklearn", "onnx", "litert", "kernel") or (backend == "torch" and is_file(target))


def _existing(target: str) -> Path:
    path = Path(target)
    refuse_pipe(path, BackendError)
    if not path.is_file():
        raise BackendError(f"no such file: {target}; check the path")
    return path


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
