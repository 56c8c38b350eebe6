"""The inner loops of the CPU path: the kernel of one pair of images, level by level, plane by plane.

A level is what happens between two poolings. A convolution adds inner products of positions (i, j) and (k, l) with those
of (i + a, j + b) and (k + a, l + b): it never mixes displacements. So for each displacement k − i of rows, the *planes*
(i, k) of all column pairs (j, l) are one stack, and every layer up to the pooling works on this stack in place: sums
along the diagonal of a plane, then over neighbouring planes, then the embedding.

Planes are flat, with `stride` values per row j: the `width` columns l, filled up with zeros to a multiple of LANES, and
at least as many zeros as the widest convolution reaches, so that a step along the diagonal is one shift by stride + 1
and reads zeros beyond every edge. Zeros stay zeros, because the norms of positions that do not exist are zero.

The pooled planes of a level are the input of the next one: (height/w)²·(width/w)² numbers, the only tensor kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from dissensus.kernels.functions import exponential, rectified

LANES = 8
PLAIN, RELU, GAUSSIAN = range(3)
_compiled = numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False, fastmath={"contract", "nsz"})


class Plan(NamedTuple):
    """A kernel for images of one size, as arrays; a step is a convolution, if any, and the embedding after it, if any.

    `sizes[v]` is height, width, lanes, stride, reach, height and width of the window of level v; its steps are
    `steps[first[v] : first[v + 1]]`, each with its reach, its embedding, the number of the embedding's norms' first value
    (see `Plan.norms`) and how often an exponential is squared. `norms` is how many norms an image has in all.
    """

    sizes: np.ndarray
    first: np.ndarray
    steps: np.ndarray
    gammas: np.ndarray
    norms: int


@_compiled
def pairs_of(x, z, x_norms, z_norms, x_inverse, z_inverse, plan, gammas, rows, columns, out):  # type: ignore[no-untyped-def]
    """Fill `out[p]` with the kernel of images `x[rows[p]]` and `z[columns[p]]`; x is n×h×w×c, z n×c×h×lanes."""
    work = _buffers(plan, x.dtype)
    for p in range(len(rows)):
        i, k = rows[p], columns[p]
        for v in range(len(plan.sizes)):
            source, target = work[0][v % 2], work[0][1 - v % 2]
            norms = x_norms[i], z_norms[k], x_inverse[i], z_inverse[k]
            _level(plan, gammas, v, x[i], z[k], source, target, norms, work[1], work[2], work[3])
        out[p] = work[0][len(plan.sizes) % 2][0]


@_compiled
def norms_of(x, z, plan, gammas, out):  # type: ignore[no-untyped-def]
    """Fill `out[n]` with the norms of image n at every embedding, as `Plan` orders them; arguments as in `pairs_of`.

    The norms of a level follow from the image's kernel with itself at the end of the level before.
    """
    work = _buffers(plan, x.dtype)
    inverse = np.zeros(plan.norms, x.dtype)
    for n in range(len(x)):
        for v in range(len(plan.sizes)):
            source, target = work[0][v % 2], work[0][1 - v % 2]
            _level_norms(plan, v, x[n], source, out[n])
            for e in range(plan.norms):
                inverse[e] = 1 / out[n, e] if out[n, e] > 0 else 0
            norms = out[n], out[n], inverse, inverse
            _level(plan, gammas, v, x[n], z[n], source, target, norms, work[1], work[2], work[3])


@_compiled
def _buffers(plan, dtype):  # type: ignore[no-untyped-def]
    """Two pooled tensors, used in turns; the stack of planes; sums along diagonals; a row."""
    tensor, stack, sums, row = 1, 1, 1, 1
    for v in range(len(plan.sizes)):
        height, width, lanes, stride, reach, tall, wide = plan.sizes[v]
        tensor = max(tensor, (height // tall * (width // wide)) ** 2)
        stack = max(stack, height * (width * stride + 2 * reach * (stride + 1)))
        sums = max(sums, (2 * reach + 3) * width * stride)
        row = max(row, lanes)
    tensors = np.zeros(tensor, dtype), np.zeros(tensor, dtype)
    return tensors, np.zeros(stack, dtype), np.zeros(sums, dtype), np.zeros(row, dtype)


@_compiled
def _level(plan, gammas, v, x, z, source, target, norms, stack, sums, row):  # type: ignore[no-untyped-def]
    """Run one level: fill `target` with the pooled inner products."""
    height, width, lanes, stride, reach, tall, wide = plan.sizes[v]
    guard = reach * (stride + 1)
    plane = width * stride + 2 * guard
    down, across = height // tall, width // wide
    target[: (down * across) ** 2] = 0
    stack[: height * plane] = 0
    for shift in range(1 - height, height):
        start, count = max(0, -shift), height - abs(shift)
        for n in range(count):
            i = start + n
            into = stack[n * plane + guard :]
            into = into[: width * stride]
            if v == 0:
                _input_plane(x[i], z, i + shift, into, width, lanes, stride)
            else:
                _copied_plane(source[(i * height + i + shift) * width * width :], into, width, stride)
        for s in range(plan.first[v], plan.first[v + 1]):
            _step(
                plan.steps[s], gammas[s], norms, stack, sums, (start, shift, count, guard, plane, width, lanes, stride)
            )
        for n in range(count):
            i = start + n
            into = target[(i // tall * down + (i + shift) // tall) * across * across :]
            _pool(stack[n * plane + guard :], into, row, (width, stride, wide, tall), height)


@_compiled
def _input_plane(x, z, k, into, width, lanes, stride):  # type: ignore[no-untyped-def]
    for j in range(width):
        out = into[j * stride : j * stride + lanes]
        first = x[j, 0]
        values = z[0, k]
        for q in range(lanes):
            out[q] = first * values[q]
        for c in range(1, x.shape[1]):
            other = x[j, c]
            values = z[c, k]
            for q in range(lanes):
                out[q] += other * values[q]


@_compiled
def _copied_plane(source, into, width, stride):  # type: ignore[no-untyped-def]
    for j in range(width):
        for q in range(width):
            into[j * stride + q] = source[j * width + q]


@_compiled
def _step(step, gamma, norms, stack, sums, at):  # type: ignore[no-untyped-def]
    """Convolve and embed a stack of planes in place."""
    start, shift, count, guard, plane, width, lanes, stride = at
    reach, embedding, offset, squarings = step
    size = width * stride
    ring = 2 * reach + 1
    sums[: (ring + 2) * size] = 0
    for n in range(count + reach):
        slot = sums[(n % ring) * size :][:size]
        if n < count:
            _along_diagonal(stack[n * plane :], guard, slot, stride + 1, reach)
        else:
            slot[:] = 0
        o = n - reach
        if o < 0:
            continue
        if reach == 1:
            first, second, third = sums[:size], sums[size : 2 * size], sums[2 * size : 3 * size]
        else:
            first, second, third = sums[ring * size :][:size], sums[(ring + 1) * size :][:size], slot
            first[:] = 0
            for a in range(ring):
                other = sums[a * size :][:size]
                for q in range(size):
                    first[q] += other[q]
            third = second
        out = stack[o * plane + guard :][:size]
        i, k = start + o, start + o + shift
        if embedding == PLAIN:
            for j in range(width):
                for q in range(j * stride, j * stride + width):
                    out[q] = first[q] + second[q] + third[q]
        else:
            mine, theirs = offset + i * lanes, offset + k * lanes
            for j in range(width):
                part = slice(j * stride, j * stride + lanes)
                scale = norms[0][mine + j], norms[2][mine + j]
                a, b = norms[1][theirs : theirs + lanes], norms[3][theirs : theirs + lanes]
                if embedding == RELU:
                    _relu_row(first[part], second[part], third[part], scale, a, b, out[part])
                else:
                    _gaussian_row(first[part], second[part], third[part], scale, a, b, gamma, squarings, out[part])


@_compiled
def _along_diagonal(plane, guard, slot, step, reach):  # type: ignore[no-untyped-def]
    size = len(slot)
    if reach == 1:
        before, here, after = plane[guard - step :], plane[guard:], plane[guard + step :]
        for q in range(size):
            slot[q] = before[q] + here[q] + after[q]
        return
    slot[:] = 0
    for a in range(-reach, reach + 1):
        other = plane[guard + a * step :]
        for q in range(size):
            slot[q] += other[q]


@_compiled
def _relu_row(first, second, third, scale, norms, inverse, out):  # type: ignore[no-untyped-def]
    for q in range(len(out)):
        cosine = (first[q] + second[q] + third[q]) * scale[1] * inverse[q]
        out[q] = scale[0] * norms[q] * rectified(cosine)


@_compiled
def _gaussian_row(first, second, third, scale, norms, inverse, gamma, squarings, out):  # type: ignore[no-untyped-def]
    for q in range(len(out)):
        cosine = (first[q] + second[q] + third[q]) * scale[1] * inverse[q]
        value = exponential(gamma * cosine - gamma)
        for _ in range(squarings):
            value *= value
        out[q] = scale[0] * norms[q] * value


@_compiled
def _pool(plane, into, row, sizes, height):  # type: ignore[no-untyped-def]
    """Add the means over windows of a plane, divided by the number of planes that they will be summed over."""
    width, stride, wide, tall = sizes
    across = width // wide
    share = into.dtype.type(1 / (wide * tall) ** 2)
    for top in range(across):
        for q in range(width):
            row[q] = plane[top * wide * stride + q]
        for j in range(top * wide + 1, top * wide + wide):
            for q in range(width):
                row[q] += plane[j * stride + q]
        for left in range(across):
            total = row[left * wide]
            for q in range(left * wide + 1, left * wide + wide):
                total += row[q]
            into[top * across + left] += total * share


@_compiled
def _level_norms(plan, v, x, source, out):  # type: ignore[no-untyped-def]
    """Fill in the norms at the embeddings of one level; embeddings keep norms, so that only convolutions matter."""
    height, width, lanes, _, _, _, _ = plan.sizes[v]
    squares, summed = np.zeros((height, width), x.dtype), np.zeros((height, width), x.dtype)
    for i in range(height):
        for j in range(width):
            if v == 0:
                for c in range(x.shape[2]):
                    squares[i, j] += x[i, j, c] * x[i, j, c]
            else:
                squares[i, j] = max(0, source[((i * height + i) * width + j) * width + j])
    for s in range(plan.first[v], plan.first[v + 1]):
        reach, embedding, offset, _ = plan.steps[s]
        for i in range(height):
            for j in range(width):
                window = squares[max(0, i - reach) : i + reach + 1, max(0, j - reach) : j + reach + 1]
                summed[i, j] = window.sum()
        squares, summed = summed, squares
        if embedding != PLAIN:
            for i in range(height):
                for j in range(width):
                    out[offset + i * lanes + j] = math.sqrt(squares[i, j])
