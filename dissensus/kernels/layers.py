"""An algebra of kernels on images: layers compose into chains, and a chain that ends with one value is a kernel.

A layer maps the inner products between all positions of two images to new ones (the thesis, 5.3.2). The input kernel is
the plain inner product of two pixels' channels. With K the inner products before a layer, and A and A′ the norms of the
two vectors that are compared (the roots of their inner products with themselves):

* `Conv`: concatenates the patch around a position: the sum of K over the offsets, with zeros beyond the edges.
* `Pool`, `Mean`: average over windows, or over all that is left, in both images.
* `Relu`: A·A′·(sin θ + (π − θ)·cos θ)/π with cos θ = K/(A·A′), the kernel of a wide layer of rectifiers.
* `Gaussian`: A·A′·exp(γ·(K/(A·A′) − 1)).

`Relu` and `Gaussian`, the embeddings, keep norms; where a norm is zero, so is the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

from dissensus.errors import KernelError, quoted

MOST_LAYERS = 1_000
WIDEST = 10_000
LARGEST_GAMMA = 1_000


@dataclass(frozen=True)
class Conv:
    """Concatenation of the patch of width × width positions around each one; the width is odd."""

    width: int = 3

    def __post_init__(self) -> None:
        if not _is_count(self.width) or self.width % 2 == 0:
            raise KernelError(
                f"a convolution is as wide as an odd number of pixels, up to {WIDEST - 1:,}, not {quoted(self.width)}"
            )

    def __str__(self) -> str:
        return f"conv{self.width}"


@dataclass(frozen=True)
class Relu:
    """Embedding of a wide random layer of rectifiers: the arc-cosine kernel of order one, scaled to keep norms."""

    def __str__(self) -> str:
        return "relu"


@dataclass(frozen=True)
class Gaussian:
    """Embedding whose kernel is Gaussian in the angle, scaled to keep norms."""

    gamma: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.gamma, bool) or not isinstance(self.gamma, int | float):
            raise KernelError(f"the γ of a Gaussian embedding is a positive number, not {quoted(self.gamma)}")
        if not (isfinite(self.gamma) and 0 < self.gamma <= LARGEST_GAMMA):
            raise KernelError(f"the γ of a Gaussian embedding lies above 0 and up to {LARGEST_GAMMA}, not {self.gamma}")
        object.__setattr__(self, "gamma", float(self.gamma))

    def __str__(self) -> str:
        return "gaussian" if self.gamma == 1 else f"gaussian({self.gamma!r})"


@dataclass(frozen=True)
class Pool:
    """Average over windows of width × width positions that do not overlap."""

    width: int = 2

    def __post_init__(self) -> None:
        if not _is_count(self.width) or self.width == 1:
            raise KernelError(f"pooling averages over windows of 2 to {WIDEST:,} pixels, not {quoted(self.width)}")

    def __str__(self) -> str:
        return f"pool{self.width}"


@dataclass(frozen=True)
class Mean:
    """Average over all positions that are left, which leaves one."""

    def __str__(self) -> str:
        return "mean"


Layer = Conv | Relu | Gaussian | Pool | Mean


@dataclass(frozen=True)
class Kernel:
    """Layers from the pixels on; `name` is for people, and does not distinguish kernels."""

    layers: tuple[Layer, ...]
    name: str = ""

    def __post_init__(self) -> None:
        if not all(isinstance(layer, Layer) for layer in self.layers):
            wrong = next(layer for layer in self.layers if not isinstance(layer, Layer))
            raise KernelError(f"{quoted(wrong)} is not a layer: use conv3(), relu(), gaussian(), pool2() or mean()")
        if len(self.layers) > MOST_LAYERS:
            raise KernelError(f"a kernel has at most {MOST_LAYERS:,} layers, not {len(self.layers):,}")
        if not self.name:
            object.__setattr__(self, "name", text_of(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.layers == other.layers

    def __hash__(self) -> int:
        return hash(self.layers)

    def __str__(self) -> str:
        return self.name

    def __len__(self) -> int:
        return len(self.layers)


def conv3() -> Conv:
    """A 3 × 3 convolution with zero padding."""
    return Conv()


def relu() -> Relu:
    """The ReLU embedding."""
    return Relu()


def gaussian(gamma: float = 1.0) -> Gaussian:
    """The normalised Gaussian embedding."""
    return Gaussian(gamma)


def pool2() -> Pool:
    """Average pooling over windows of 2 × 2."""
    return Pool()


def mean() -> Mean:
    """Average pooling over all positions that are left."""
    return Mean()


def chain(*parts: Layer | Kernel) -> Kernel:
    """Layers and chains of layers, one after the other, as one chain."""
    layers: list[Layer] = []
    for part in parts:
        layers += part.layers if isinstance(part, Kernel) else [part]
    return Kernel(tuple(layers))


def text_of(kernel: Kernel) -> str:
    """A chain as text, such as "conv3 relu mean"; `kernel_named` reads it."""
    return " ".join(map(str, kernel.layers))


def kernel_named(kernel: str | Kernel | Layer | Iterable[Layer | Kernel]) -> Kernel:
    """The kernel of a name in `KERNELS`, of a text such as "conv3 relu pool2 mean", or of layers.

    Raises:
        KernelError: there is no such kernel or layer.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, Layer):
        return chain(kernel)
    if not isinstance(kernel, str):
        if not isinstance(kernel, Iterable):
            raise KernelError(f"{quoted(kernel)} is not a kernel: expected a name, a text or layers")
        return chain(*kernel)
    name = kernel.strip().lower()
    if name in KERNELS:
        return KERNELS[name]
    words = name.replace(",", " ").split()
    if not words:
        raise KernelError(f"an empty text is not a kernel: use one of {', '.join(KERNELS)}, or layers")
    return Kernel(tuple(_layer(word, kernel) for word in words))


class Level(NamedTuple):
    """The layers between two poolings: positions of an image, convolutions and embeddings, the window at the end."""

    height: int
    width: int
    layers: tuple[Conv | Relu | Gaussian, ...]
    window: tuple[int, int]


def levels(kernel: Kernel, height: int, width: int) -> tuple[Level, ...]:
    """A kernel for images of height × width pixels, divided at its poolings; the last level has one position.

    Raises:
        KernelError: a window does not divide the image, or more than one position is left at the end.
    """
    found: list[Level] = []
    layers: list[Conv | Relu | Gaussian] = []
    for layer in kernel.layers:
        if isinstance(layer, Pool | Mean):
            window = (height, width) if isinstance(layer, Mean) else (layer.width, layer.width)
            if height % window[0] or width % window[1]:
                left = f"the {height} × {width} positions that are left at '{layer}' in '{kernel.name}'"
                raise KernelError(
                    f"{left} cannot be divided by {window[0]}: crop or pad the images, or use other layers"
                )
            found.append(Level(height, width, tuple(layers), window))
            layers, height, width = [], height // window[0], width // window[1]
        else:
            layers.append(layer)
    if (height, width) != (1, 1):
        raise KernelError(f"'{kernel.name}' leaves {height} × {width} positions of an image: add the layer mean")
    return (*found, Level(1, 1, tuple(layers), (1, 1)))


def _is_count(width: object) -> bool:
    return isinstance(width, int) and not isinstance(width, bool) and 1 <= width <= WIDEST


_WORD = re.compile(r"(conv|pool|gaussian|relu|mean)(?:(\d{1,5})|\(([^()]*)\))?")


def _layer(word: str, text: str) -> Layer:
    """The layer that a word such as 'conv3' or 'gaussian(0.5)' stands for."""
    match = _WORD.fullmatch(word)
    kind, width, gamma = match.groups() if match else ("", None, None)
    if kind in _PLAIN and width is None and gamma is None:
        return _PLAIN[kind]()
    if kind in _WIDE and width is not None:
        return _WIDE[kind](int(width))
    if kind == "gaussian" and gamma is not None:
        try:
            number = float(gamma)
        except ValueError:
            raise KernelError(f"{quoted(gamma)} is not a number, in {quoted(word)}") from None
        return Gaussian(number)
    known = "conv3, relu, gaussian, gaussian(0.5), pool2 and mean"
    named = f"kernels with a name are {', '.join(KERNELS)}"
    where = quoted(word) if word == text.strip().lower() else f"{quoted(word)} in {quoted(text)}"
    raise KernelError(f"{where} is neither a kernel nor a layer: layers are {known}; {named}")


_PLAIN: Mapping[str, Callable[[], Layer]] = {"relu": Relu, "gaussian": Gaussian, "mean": Mean}
_WIDE: Mapping[str, Callable[[int], Layer]] = {"conv": Conv, "pool": Pool}


def _myrtle(blocks: tuple[int, ...], embedding: Relu | Gaussian, name: str) -> Kernel:
    """Blocks of convolution and embedding, pooling between them, the mean at the end, and one last embedding."""
    layers: list[Layer] = []
    for number, count in enumerate(blocks):
        layers += [Conv(), embedding] * count
        layers.append(Pool() if number < len(blocks) - 1 else Mean())
    return Kernel((*layers, embedding), name)


_BLOCKS = {"myrtle5": (2, 1, 1), "myrtle7": (2, 2, 2), "myrtle10": (3, 3, 3)}

KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        name + ending: _myrtle(blocks, embedding, name + ending)
        for ending, embedding in (("", Relu()), ("-gaussian", Gaussian()))
        for name, blocks in _BLOCKS.items()
    }
)
"""The kernels of the thesis' networks, by name; images of 32 × 32 pixels have 8 × 8 positions left at the mean."""
