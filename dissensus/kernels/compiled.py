"""The inner loops of the CPU path: the kernel of one pair of images, level by level, plane by plane.

A level is what happens between two poolings. A convolution adds inner products of positions (i, j) and (k, l) to those
of (i + a, j + b) and (k + a, l + b): it never mixes displacements. So for each displacement k − i of rows, the *planes*
(i, k) of all pairs of columns (j, l) are one stack, and every layer up to the pooling works on this stack in place: it
sums along the diagonal of a plane, then over neighbouring planes, and embeds.

Planes are flat. Row j has `stride` numbers: the columns l, filled up with zeros to a multiple of 8 (`lanes`), and at
least as many zeros as the widest convolution reaches. So a step along the diagonal is a shift by stride + 1, and reads
zeros beyond every edge. These zeros stay zeros, because the norms of positions that do not exist are zero.

The pooled planes of a level are the input of the next one: (height/w)²·(width/w)² numbers, the only tensor kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from dissensus.kernels.vectors import gaussian_lanes, halved_lanes, inner_lanes, relu_lanes

PLAIN, RELU, GAUSSIAN = range(3)
_compiled = numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False, fastmath={"contract", "nsz"})


class Plan(NamedTuple):
    """A kernel for images of one size, as arrays. A step is a convolution and the embedding after it, or one of both.

    `sizes[v]` is height, width, lanes, stride, reach, and height and width of the window of level v. Its steps are
    `steps[first[v] : first[v + 1]]`: reach, embedding, where its norms begin among the `norms` of an image, and how
    often exp(γ·(c − 1)) is squared, with γ from `gammas`.
    """

    sizes: np.ndarray
    first: np.ndarray
    steps: np.ndarray
    gammas: np.ndarray
    norms: int


@_compiled
def pairs_of(x, z, x_norms, z_norms, x_inverse, z_inverse, plan, gammas, rows, columns, out):  # type: ignore[no-untyped-def]
    """Fill `out[p]` with the kernel of images `x[rows[p]]` and `z[columns[p]]`.

    Images are n × (channels · height · lanes), `inverse` the inverse norms, or 0 where a norm is 0.
    """
    buffers = _buffers(plan, x.dtype)
    tensors = buffers[0]
    for p in range(len(rows)):
        i, k = rows[p], columns[p]
        norms = x_norms[i], z_norms[k], x_inverse[i], z_inverse[k]
        for v in range(len(plan.sizes)):
            _level(plan, gammas, v, x[i], z[k], norms, tensors[v % 2], tensors[1 - v % 2], buffers)
        out[p] = tensors[len(plan.sizes) % 2][0]


@_compiled
def norms_of(x, plan, gammas, out):  # type: ignore[no-untyped-def]
    """Fill `out[n]` with the norms of image n at every embedding, as `Plan` orders them.

    The norms of a level follow from the image's kernel with itself at the end of the level before.
    """
    buffers = _buffers(plan, x.dtype)
    tensors = buffers[0]
    inverse = np.zeros(plan.norms, x.dtype)
    for n in range(len(x)):
        for v in range(len(plan.sizes)):
            _level_norms(plan, v, x[n], tensors[v % 2], out[n])
            for e in range(plan.norms):
                inverse[e] = 1 / out[n, e] if out[n, e] > 0 else 0
            norms = out[n], out[n], inverse, inverse
            _level(plan, gammas, v, x[n], x[n], norms, tensors[v % 2], tensors[1 - v % 2], buffers)


@_compiled
def _buffers(plan, dtype):  # type: ignore[no-untyped-def]
    """Two pooled tensors, used in turns; a stack of planes; sums along diagonals; a row: see `buffer_sizes`."""
    sizes = buffer_sizes(plan.sizes)
    tensors = np.zeros(sizes[0], dtype), np.zeros(sizes[1], dtype)
    return tensors, np.zeros(sizes[2], dtype), np.zeros(sizes[3], dtype), np.zeros(sizes[4], dtype)


@_compiled
def buffer_sizes(levels):  # type: ignore[no-untyped-def]
    """How many numbers the buffers of one thread hold; level v reads tensor v % 2 and fills the other."""
    needed = np.ones(5, np.int64)
    for v in range(len(levels)):
        height, width, lanes, stride, reach, tall, wide = levels[v]
        needed[1 - v % 2] = max(needed[1 - v % 2], (height // tall * (width // wide)) ** 2)
        needed[2] = max(needed[2], height * (width * stride + 2 * reach * (stride + 1)))
        needed[3] = max(needed[3], (2 * reach + 4) * width * stride)
        needed[4] = max(needed[4], lanes)
    return needed


@_compiled
def _level(plan, gammas, v, x, z, norms, source, target, buffers):  # type: ignore[no-untyped-def]
    """Run one level: fill `target` with the pooled inner products."""
    height, width, lanes, stride, reach, tall, wide = plan.sizes[v]
    _, stack, sums, row = buffers
    guard = reach * (stride + 1)
    plane = width * stride + 2 * guard
    down, across = height // tall, width // wide
    _clear(target, 0, (down * across) ** 2)
    _clear(stack, 0, height * plane)
    for shift in range(1 - height, height):
        start, count = max(0, -shift), height - abs(shift)
        for i in range(start, start + count):
            at = (i - start) * plane + guard
            if v == 0:
                _put_inner(x, i, z, i + shift, stack, at, height, width, lanes, stride)
            else:
                _put_pooled(source, (i * height + i + shift) * width * width, stack, at, width, stride)
        for s in range(plan.first[v], plan.first[v + 1]):
            shape = start, shift, count, guard, plane, width, lanes, stride
            _step(plan.steps[s], gammas[s], norms, stack, sums, shape)
        for i in range(start, start + count):
            to = (i // tall * down + (i + shift) // tall) * across * across
            _pool(stack, (i - start) * plane + guard, target, to, row, width, stride, wide, tall)


@_compiled
def _clear(array, start, stop):  # type: ignore[no-untyped-def]
    part = array[start:stop]  # an index that might be negative would be tested at every step
    for q in range(len(part)):
        part[q] = 0


@_compiled
def _put_inner(x, i, z, k, stack, at, height, width, lanes, stride):  # type: ignore[no-untyped-def]
    """Plane of inner products of row i of x and row k of z."""
    apart = height * lanes
    channels = len(x) // apart
    for j in range(width):
        mine, to = i * lanes + j, at + j * stride
        if lanes % 16 == 0:
            for q in range(0, lanes, 16):
                inner_lanes((x, mine, z, k * lanes + q, apart, channels, stack, to + q), 16)
        else:
            for q in range(0, lanes, 8):
                inner_lanes((x, mine, z, k * lanes + q, apart, channels, stack, to + q), 8)


@_compiled
def _put_pooled(source, place, stack, at, width, stride):  # type: ignore[no-untyped-def]
    for j in range(width):
        for q in range(width):
            stack[at + j * stride + q] = source[place + j * width + q]


@_compiled
def _step(step, gamma, norms, stack, sums, shape):  # type: ignore[no-untyped-def]
    """Convolve and embed a stack of planes in place; `sums` holds a ring of sums along the planes' diagonals."""
    start, shift, count, guard, plane, width, lanes, stride = shape
    reach, embedding, offset, squarings = step
    size, ring = width * stride, 2 * reach + 1
    _clear(sums, (reach + 1) * size, (ring if reach == 1 else ring + 3) * size)
    for n in range(count + reach):
        slot = sums[n % ring * size : (n % ring + 1) * size]
        if n < count:
            _add_diagonal(stack[n * plane : (n + 1) * plane], guard, slot, stride + 1, reach)
        else:
            _clear(slot, 0, size)
        o = n - reach
        if o < 0:
            continue
        of_all = 0
        if reach != 1:
            of_all = ring * size
            _add_ring(sums, ring, size)
        i, to = start + o, o * plane + guard
        if embedding == PLAIN:
            _put_sums(sums, of_all, size, stack, to, width, stride)
        else:
            places = offset + i * lanes, offset + (i + shift) * lanes
            _embed(embedding, gamma, squarings, norms, places, sums, of_all, size, stack, to, width, lanes, stride)


@_compiled
def _add_diagonal(plane, guard, slot, step, reach):  # type: ignore[no-untyped-def]
    size = len(slot)
    if reach == 1:
        before, here, after = plane[guard - step :], plane[guard:], plane[guard + step :]
        for q in range(size):
            slot[q] = before[q] + here[q] + after[q]
        return
    _clear(slot, 0, size)
    for a in range(-reach, reach + 1):
        other = plane[guard + a * step :]
        for q in range(size):
            slot[q] += other[q]


@_compiled
def _add_ring(sums, ring, size):  # type: ignore[no-untyped-def]
    """The sum of all planes of the ring, put behind it; two planes of zeros follow."""
    total = sums[ring * size : (ring + 1) * size]
    _clear(total, 0, size)
    for a in range(ring):
        other = sums[a * size : (a + 1) * size]
        for q in range(size):
            total[q] += other[q]


@_compiled
def _put_sums(sums, at, size, stack, to, width, stride):  # type: ignore[no-untyped-def]
    for start in range(0, width * stride, stride):
        out = stack[to + start : to + start + width]
        first, second, third = sums[at + start :], sums[at + size + start :], sums[at + 2 * size + start :]
        for q in range(width):
            out[q] = first[q] + second[q] + third[q]


@_compiled
def _embed(embedding, gamma, squarings, norms, places, sums, at, size, stack, to, width, lanes, stride):  # type: ignore[no-untyped-def]
    """Embed a plane: sums of three planes become new inner products, row by row."""
    x_norms, z_norms, x_inverse, z_inverse = norms
    mine, theirs = places
    for j in range(width):
        norm, inverse = x_norms[mine + j], x_inverse[mine + j]
        row, out = at + j * stride, to + j * stride
        if embedding == RELU and lanes % 16 == 0:
            for q in range(0, lanes, 16):
                given = sums, row + q, size, norm, inverse, z_norms, z_inverse, theirs + q, stack, out + q
                relu_lanes(given, 16)
        elif embedding == RELU:
            for q in range(0, lanes, 8):
                given = sums, row + q, size, norm, inverse, z_norms, z_inverse, theirs + q, stack, out + q
                relu_lanes(given, 8)
        elif lanes % 16 == 0:
            for q in range(0, lanes, 16):
                given = sums, row + q, size, norm, inverse * gamma, z_norms, z_inverse, theirs + q, stack, out + q
                gaussian_lanes((*given, gamma, squarings), 16)
        else:
            for q in range(0, lanes, 8):
                given = sums, row + q, size, norm, inverse * gamma, z_norms, z_inverse, theirs + q, stack, out + q
                gaussian_lanes((*given, gamma, squarings), 8)


@_compiled
def _pool(stack, at, target, to, row, width, stride, wide, tall):  # type: ignore[no-untyped-def]
    """Add a plane's share of the means over windows."""
    across = width // wide
    share = target.dtype.type(1 / (wide * tall) ** 2)
    if wide == 2 and across % 8 == 0:
        for top in range(across):
            first = at + top * 2 * stride
            for left in range(0, across, 8):
                halved_lanes((stack, first + 2 * left, stride, share, target, to + top * across + left), 8)
        return
    for top in range(across):
        for q in range(width):
            row[q] = stack[at + top * wide * stride + q]
        for j in range(top * wide + 1, top * wide + wide):
            for q in range(width):
                row[q] += stack[at + j * stride + q]
        for left in range(across):
            total = row[left * wide]
            for q in range(left * wide + 1, left * wide + wide):
                total += row[q]
            target[to + top * across + left] += total * share


@_compiled
def _level_norms(plan, v, x, source, out):  # type: ignore[no-untyped-def]
    """Fill in the norms at the embeddings of one level; embeddings keep norms, so that only convolutions matter."""
    height, width, lanes, _, _, _, _ = plan.sizes[v]
    squares, summed = np.zeros((height, width), x.dtype), np.zeros((height, width), x.dtype)
    for i in range(height):
        for j in range(width):
            if v == 0:
                for at in range(i * lanes + j, len(x), height * lanes):
                    squares[i, j] += x[at] * x[at]
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
