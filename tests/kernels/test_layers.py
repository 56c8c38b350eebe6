"""The algebra: layers compose, texts come back as the same kernel, and what cannot be a kernel is said in words."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from six_axes import fits

from dissensus.errors import KernelError
from dissensus.kernels import KERNELS, chain, conv3, gaussian, kernel_named, mean, pool2, relu, text_of
from dissensus.kernels.layers import Conv, Gaussian, Kernel, Mean, Pool, Relu, levels

GAMMAS = st.floats(min_value=0, max_value=1000, exclude_min=True, allow_nan=False)
LAYERS = st.one_of(
    st.builds(Conv, st.integers(0, 20).map(lambda half: 2 * half + 1)),
    st.just(Relu()),
    st.builds(Gaussian, GAMMAS),
    st.builds(Pool, st.integers(2, 50)),
    st.just(Mean()),
)
CHAINS = st.lists(LAYERS, min_size=1, max_size=20).map(lambda layers: chain(*layers))


@given(CHAINS)
def test_a_text_comes_back_as_the_same_kernel(kernel):
    assert kernel_named(text_of(kernel)) == kernel
    assert kernel_named(text_of(kernel).upper().replace(" ", ", ")) == kernel


@given(CHAINS, CHAINS, CHAINS)
def test_chains_compose(a, b, c):
    assert chain(chain(a, b), c) == chain(a, chain(b, c)) == chain(*a.layers, *b.layers, *c.layers)
    assert kernel_named([a, *b.layers, c]) == chain(a, b, c)


@given(CHAINS, st.integers(1, 24), st.integers(1, 24))
def test_levels_hold_every_layer_or_say_why_not(kernel, height, width):
    if not fits(kernel, height, width):
        with pytest.raises(KernelError, match=r"^[^\n]+$"):
            levels(kernel, height, width)
        return
    found = levels(kernel, height, width)
    pools = sum(isinstance(layer, Pool | Mean) for layer in kernel.layers)
    assert len(found) == pools + 1
    assert sum(len(level.layers) for level in found) == len(kernel) - pools
    assert (found[-1].height, found[-1].width) == (1, 1)
    for level, following in pairwise(found):
        assert level.height == following.height * level.window[0]
        assert level.width == following.width * level.window[1]


def test_the_named_kernels_are_those_of_the_thesis():
    block = chain(conv3(), relu())
    expected = chain(block, block, pool2(), block, pool2(), block, mean(), relu())
    assert kernel_named("myrtle5") == kernel_named(" MYRTLE5 ") == expected
    assert list(KERNELS) == [
        name + ending for ending in ("", "-gaussian") for name in ("myrtle5", "myrtle7", "myrtle10")
    ]
    for name, kernel in KERNELS.items():
        assert kernel.name == str(kernel) == name
        depth = sum(isinstance(layer, Conv) for layer in kernel.layers) + 1  # the last embedding's layer is dense
        assert f"myrtle{depth}" == name.removesuffix("-gaussian")
        assert [(level.height, level.window) for level in levels(kernel, 32, 32)] == [
            (32, (2, 2)),
            (16, (2, 2)),
            (8, (8, 8)),
            (1, (1, 1)),
        ]
        assert any(isinstance(layer, Gaussian) for layer in kernel.layers) == name.endswith("gaussian")


def test_a_name_is_for_people_only():
    assert chain(conv3(), mean()).name == "conv3 mean"
    assert Kernel((Conv(), Mean()), "mine") == chain(conv3(), mean())
    assert len({Kernel((Conv(), Mean()), "mine"), chain(conv3(), mean())}) == 1
    assert kernel_named(relu()) == chain(relu())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("myrtle6", "'myrtle6' is neither a kernel nor a layer"),
        ("conv3 rel mean", "'rel' in 'conv3 rel mean'"),
        ("conv", "neither"),
        ("relu2", "neither"),
        ("conv3(2)", "neither"),
        ("gaussian(x)", "'x' is not a number"),
        ("gaussian(nan)", "above 0"),
        ("gaussian(-1)", "above 0"),
        ("conv4 mean", "odd"),
        ("conv0", "odd"),
        ("conv99999 mean", "up to 9,999"),
        ("pool1 mean", "2 to 10,000"),
        ("", "empty"),
        (5, "5 is not a kernel"),
        (["conv3"], "'conv3' is not a layer"),
        (["mean", None], "is not a layer"),
        ("relu " * 1001, "at most 1,000 layers"),
    ],
)
def test_what_is_no_kernel(wrong, said):
    with pytest.raises(KernelError) as error:
        kernel_named(wrong)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("gamma", ["1", None, True, float("inf"), float("nan"), 0, -1.0, 1e9])
def test_gamma_is_a_positive_number(gamma):
    with pytest.raises(KernelError, match="γ"):
        gaussian(gamma)


@pytest.mark.parametrize("width", [True, 2.0, "3", None, -1, 10**6])
def test_widths_are_counts(width):
    with pytest.raises(KernelError):
        Conv(width)
    with pytest.raises(KernelError):
        Pool(width)


@pytest.mark.parametrize(
    ("text", "size", "said"),
    [
        ("conv3 relu", (4, 4), "leaves 4 × 4 positions of an image: add the layer mean"),
        ("pool2 mean", (5, 4), "the 5 × 4 positions that are left at 'pool2'"),
        ("pool2 pool2 mean", (6, 8), "the 3 × 4 positions that are left at 'pool2'"),
        ("mean pool2", (4, 4), "the 1 × 1 positions"),
    ],
)
def test_sizes_that_do_not_fit(text, size, said):
    with pytest.raises(KernelError, match="positions") as error:
        levels(kernel_named(text), *size)
    assert said in str(error.value)


def test_pooling_down_to_one_position_needs_no_mean():
    assert levels(kernel_named("pool2 relu pool2 gaussian"), 4, 4)[-1].layers == (Gaussian(),)


def test_the_import_is_light():
    program = (
        "import sys, dissensus.kernels; print([m for m in ('numba', 'scipy', 'sklearn', 'pandas', 'cupy', 'PIL')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
