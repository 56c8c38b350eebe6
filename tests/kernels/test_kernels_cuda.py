"""The CUDA path without a GPU: its source, compiled for the CPU and run thread by thread, and what goes around it."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.kernels_definition import by_definition
from dissensus.errors import KernelError
from dissensus.kernels import chain, conv3, engine, gaussian, gram, kernel_named, mean, norms, pool2, relu
from dissensus.kernels.cuda.cards import cards
from dissensus.kernels.cuda.engine import (
    ALL,
    DIAGONAL,
    SOURCE,
    TRIANGLE,
    CudaEngine,
    Shape,
    Variant,
    _compiled,
    available,
    shape_of,
)

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
Emulated = Callable[[Shape, Variant], ctypes.CDLL]


@pytest.fixture(scope="session")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    """The CUDA source as a library for the CPU, compiled for a shape."""
    folder, here = tmp_path_factory.mktemp("emulated"), Path(__file__).parent

    def compiled(shape: Shape, variant: Variant) -> ctypes.CDLL:
        options = (*shape.options(variant), f"-DARENA={shape.sizes(variant)[1]}")
        library = folder / ("-".join(option.split("=")[1] for option in options) + ".so")
        if not library.exists():
            flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w", f"-I{here}", f"-I{SOURCE.parent}", *options]
            subprocess.run([str(COMPILER), *flags, str(here / "emulated.cpp"), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return compiled


def blocks_of(counts: tuple[int, int, int], is_relu: bool, gamma: float = 1.0) -> tuple:
    """Layers of a kernel of three blocks, up to the mean."""
    layers = []
    for number, count in enumerate(counts):
        layers += [conv3(), relu() if is_relu else gaussian(gamma)] * count
        layers.append(pool2() if number < 2 else mean())
    return tuple(layers)


def pictures(kind: str, count: int, side: int, channels: int, seed: int = 0) -> np.ndarray:
    images = np.random.default_rng(seed).normal(size=(count, side, side, channels)) * 3 + 1
    if kind == "part zero":
        images[0, : side // 2] = 0
        images[-1, :, side // 2 :] = 0
    if kind == "constant":
        images[:] = images[:, :1, :1]
    return images


def launched(library: ctypes.CDLL, x: np.ndarray, z: np.ndarray, which: int = ALL, blocks: int = 1) -> np.ndarray:
    result = np.full((len(x),) if which == DIAGONAL else (len(x), len(z)), np.nan, np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, z, result)]
    library.run(*pointers, len(x), len(z), which, blocks)
    return result


@needs_compiler
@pytest.mark.parametrize("kind", ["noise", "part zero", "constant"])
@pytest.mark.parametrize(
    ("side", "channels", "counts", "is_relu", "variant"),
    [
        (8, 1, (1, 1, 1), False, Variant()),
        (8, 4, (3, 3, 3), True, Variant()),
        (12, 1, (1, 2, 1), True, Variant(2, 4)),
        (16, 3, (2, 1, 1), False, Variant()),
    ],
)
def test_source_agrees_with_the_definition(
    emulated: Emulated, kind: str, side: int, channels: int, counts: tuple, is_relu: bool, variant: Variant
) -> None:
    check_source(emulated, kind, side, channels, counts, is_relu, variant)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "channels", "counts", "is_relu"), [(28, 1, (2, 1, 1), True), (32, 3, (3, 3, 3), False)]
)
def test_source_agrees_on_whole_images(
    emulated: Emulated, side: int, channels: int, counts: tuple, is_relu: bool
) -> None:
    check_source(emulated, "part zero", side, channels, counts, is_relu, Variant())


def check_source(
    emulated: Emulated, kind: str, side: int, channels: int, counts: tuple, is_relu: bool, variant: Variant
) -> None:
    kernel = chain(*blocks_of(counts, is_relu, 0.7))
    shape = shape_of(kernel, side, side, channels)
    library = emulated(shape, variant)
    count = 1 if side > 16 else 2
    x, z = pictures(kind, count, side, channels), pictures(kind, count, side, channels, seed=1)
    (first, factors), (second, others) = (cards(images, counts, shape.embedding) for images in (x, z))
    found = launched(library, first, second) * factors[:, None] * others
    right = [[by_definition(a, b, kernel) for b in z] for a in x]
    np.testing.assert_allclose(found, right, rtol=1e-6)
    sizes = library.card_floats(), library.shared_floats(), library.scratch_floats()
    assert shape.sizes(variant) == sizes
    assert first.shape[1] == sizes[0]


@needs_compiler
def test_triangle_diagonal_and_blocks_of_threads(emulated: Emulated) -> None:
    shape = shape_of(chain(*blocks_of((1, 1, 1), False)), 8, 8, 2)
    library = emulated(shape, Variant())
    x, _ = cards(pictures("noise", 5, 8, 2), shape.blocks, shape.embedding)
    everything = launched(library, x, x)
    np.testing.assert_array_equal(launched(library, x, x, ALL, blocks=3), everything)
    triangle = launched(library, x, x, TRIANGLE, blocks=2)
    above = np.triu(np.ones((5, 5), bool))
    np.testing.assert_array_equal(triangle[above], everything[above])
    assert np.isnan(triangle[~above]).all()
    np.testing.assert_array_equal(launched(library, x, x, DIAGONAL), np.diag(everything))


class EmulatedCupy:
    """As much of CuPy as the engine uses, on arrays of numpy; what it compiles is compiled for the CPU."""

    float32, float64 = np.float32, np.float64

    def __init__(self, emulated: Emulated, shape: Shape) -> None:
        self._library = emulated(shape, Variant())
        properties = {"name": b"Emulated", "multiProcessorCount": 2, "sharedMemPerBlockOptin": 232_448}
        runtime = SimpleNamespace(getDeviceCount=lambda: 1, getDeviceProperties=lambda _: properties)
        self.cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asnumpy(self, array: np.ndarray) -> np.ndarray:
        return array

    def RawModule(self, code: str, options: tuple[str, ...]) -> Any:  # noqa: N802
        def function(blocks: tuple, _: tuple, arguments: tuple, shared_mem: int) -> None:
            assert shared_mem == 4 * self._library.shared_floats()
            x, z, result, _, rows, columns, which = arguments
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, z, result)]
            self._library.run(*pointers, int(rows), int(columns), int(which), blocks[0])

        assert code == SOURCE.read_text(encoding="utf-8")
        return SimpleNamespace(get_function=lambda _: function)


@needs_compiler
@pytest.mark.parametrize("last", [(), (relu(),), (gaussian(0.5), relu())])
def test_engine_agrees_with_the_cpu(emulated: Emulated, last: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = chain(*blocks_of((1, 1, 1), False, 0.7), *last)
    monkeypatch.setitem(sys.modules, "cupy", EmulatedCupy(emulated, shape_of(kernel, 8, 8, 2)))
    monkeypatch.setattr("dissensus.kernels.cuda.engine._compiled", _compiled.__wrapped__)
    x, z = pictures("part zero", 5, 8, 2), pictures("constant", 3, 8, 2)
    x[1] = 0
    for other in (None, z):
        found, right = (gram(x, other, kernel, device=device) for device in ("cuda", "cpu"))
        np.testing.assert_allclose(found, right, rtol=2e-6)
        assert found.dtype == np.float32
    assert engine(x, None, kernel).name == "Emulated"
    assert "CPU" in engine(x, None, kernel, precision="float64").name


@pytest.mark.parametrize("is_relu", [False, True])
def test_norms_on_cards_are_those_of_the_cpu_path(is_relu: bool) -> None:
    counts, side = (2, 2, 1), 16
    images = pictures("part zero", 3, side, 2)
    kernel = chain(*blocks_of(counts, is_relu))
    rows, factors = cards(images, counts, relu() if is_relu else gaussian())
    scale = factors / 3.0 ** sum(counts)
    at, layer = 2 * side**2, 0
    for number, layers in enumerate(counts):
        size = side // 2**number
        for _ in range(layers):
            planes = rows[:, at : at + 2 * size**2].astype(float)
            a = planes.reshape(3, 2, size, size)[:, 1] if number == 0 else planes.reshape(3, size, size, 2)[..., 1]
            layer += 1
            found = (a if is_relu else np.exp2(a + 0.5 / np.log(2))) * (scale * 3.0**layer)[:, None, None]
            np.testing.assert_allclose(found, norms(images, kernel)[layer - 1], rtol=1e-6, atol=1e-12)
            at += 2 * size**2
    assert at == rows.shape[1]


def test_cards_of_black_images_are_finite() -> None:
    rows, factors = cards(np.zeros((2, 8, 8, 3)), (1, 1, 1), gaussian())
    assert np.isfinite(rows).all()
    assert (factors == 0).all()


@pytest.mark.parametrize(
    ("layers", "size", "message"),
    [
        ("conv3 relu mean", (32, 32), "three blocks of conv3"),
        ("conv3 relu pool2 conv3 gaussian pool2 conv3 relu mean", (32, 32), "one kind of embedding"),
        ("conv5 relu pool2 conv3 relu pool2 conv3 relu mean", (32, 32), "three blocks of conv3"),
        ("conv3 relu pool2 pool2 conv3 relu mean", (32, 32), "three blocks of conv3"),
        ("conv3 conv3 pool2 conv3 relu pool2 conv3 relu mean", (32, 32), "three blocks of conv3"),
        ("myrtle5", (64, 64), "square images of 8, 12"),
        ("myrtle5", (32, 28), "not 32 × 28"),
    ],
)
def test_kernels_that_only_the_cpu_computes(layers: str, size: tuple[int, int], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        shape_of(kernel_named(layers), *size, 3)


def test_named_kernels_fit_the_shared_memory_of_a_data_centre_gpu() -> None:
    for name in ("myrtle5", "myrtle7", "myrtle10", "myrtle10-gaussian"):
        _, shared, _ = shape_of(kernel_named(name), 32, 32, 3).sizes(Variant())
        assert 4 * shared <= 232_448


@pytest.mark.skipif(available() is None, reason="has a GPU")
def test_without_a_gpu_there_is_one_clear_line() -> None:
    images = np.ones((2, 32, 32, 3))
    with pytest.raises(KernelError, match=r"GPU cannot be used: .*the device cpu"):
        gram(images, device="cuda")
    with pytest.raises(KernelError, match=r"CuPy|GPU"):
        CudaEngine(images, None, kernel_named("myrtle5"))


@pytest.mark.skipif(available() is not None, reason="needs an NVIDIA GPU and CuPy")
@pytest.mark.parametrize("name", ["myrtle5", "myrtle10-gaussian"])
def test_gpu_agrees_with_the_cpu(name: str) -> None:
    images = pictures("part zero", 6, 32, 3)
    np.testing.assert_allclose(
        gram(images, kernel=name, device="cuda"),
        gram(images, kernel=name, device="cpu", precision="float64"),
        rtol=1e-5,
    )


def test_values_too_large_for_float32_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "asnumpy", np.asarray, raising=False)
    engine, both = object.__new__(CudaEngine), slice(0, 2)
    engine._xp, engine._shape, engine._is_symmetric = np, shape_of(kernel_named("myrtle5"), 32, 32, 3), False
    engine._x = engine._z = SimpleNamespace(norms=np.full(2, 1e30), factors=np.full(2, 1e30))
    monkeypatch.setattr(engine, "_launched", lambda *_: np.ones(4, np.float32))
    with np.errstate(over="ignore"), pytest.raises(KernelError, match="too large for float32"):
        engine.block(both, both)
