"""Kernels of images, tables and strings, and the machines that learn with them."""

from dissensus.kernels.gram import Tile, engine, gram, tiles
from dissensus.kernels.layers import KERNELS, Kernel, chain, conv3, gaussian, kernel_named, mean, pool2, relu, text_of
from dissensus.kernels.norms import norms

__all__ = [
    "KERNELS",
    "Kernel",
    "Tile",
    "chain",
    "conv3",
    "engine",
    "gaussian",
    "gram",
    "kernel_named",
    "mean",
    "norms",
    "pool2",
    "relu",
    "text_of",
    "tiles",
]
