"""Instructions on vectors of 8 or 16 neighbouring numbers, written for LLVM directly.

Compilers vectorise long flat loops well, but not rows of 8 to 32 numbers: a test for overlapping arrays before each row
and a loop for what is left over cost more than the row. These functions load, compute and store whole vectors, and LLVM
maps them to what the processor has (AVX-512, AVX2, SSE, NEON). Arrays are flat and contiguous; offsets count elements,
and nothing is checked. A function takes its arguments as one tuple, and the length of vectors, a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from dissensus.kernels.functions import ARC, EXP

FLAGS = ("contract", "nsz")


class _Lanes:
    """Emits instructions on vectors of one length and type."""

    def __init__(self, context: Any, builder: Any, kinds: Any, values: Any, length: int) -> None:
        self.builder, self.length = builder, length
        self.is_double = kinds[0].dtype == types.float64
        self.type = ir.VectorType(ir.DoubleType() if self.is_double else ir.FloatType(), length)
        self.given = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, values, strict=True)
        ]

    def constant(self, value: float) -> Any:
        return ir.Constant(self.type, [value] * self.length)

    def spread(self, value: Any) -> Any:
        """One number in all lanes."""
        empty, index = ir.Constant(self.type, ir.Undefined), ir.VectorType(ir.IntType(32), self.length)
        first = self.builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, empty, ir.Constant(index, [0] * self.length))

    def load(self, data: Any, at: Any) -> Any:
        return self.builder.load(self._place(data, at), align=8 if self.is_double else 4)

    def store(self, value: Any, data: Any, at: Any) -> None:
        self.builder.store(value, self._place(data, at), align=8 if self.is_double else 4)

    def _place(self, data: Any, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [at]), self.type.as_pointer())

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b, flags=FLAGS)

    def multiply(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b, flags=FLAGS)

    def larger(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def call(self, name: str, value: Any) -> Any:
        kind = ir.FunctionType(self.type, [self.type])
        function = cgutils.get_or_insert_function(
            self.builder.module, kind, f"llvm.{name}.v{self.length}f{64 if self.is_double else 32}"
        )
        return self.builder.call(function, [value])

    def polynomial(self, coefficients: tuple[list[float], list[float]], t: Any) -> Any:
        """Horner's scheme; the highest power comes first."""
        first, *others = coefficients[self.is_double]
        value = self.constant(first)
        for c in others:
            value = self.add(self.multiply(value, t), self.constant(c))
        return value

    def squared(self, value: Any, times: Any) -> Any:
        """A value squared again and again."""
        result = cgutils.alloca_once_value(self.builder, value)
        with cgutils.for_range(self.builder, times):
            current = self.builder.load(result)
            self.builder.store(self.multiply(current, current), result)
        return self.builder.load(result)


def _instruction(emit: Callable[..., None]) -> Any:
    """A function for compiled code, of a tuple of arrays, offsets and numbers, and the length of vectors."""

    @intrinsic(prefer_literal=True)
    def instruction(_, given, length):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            values = cgutils.unpack_tuple(builder, arguments[0])
            lanes = _Lanes(context, builder, given.types, values, length.literal_value)
            emit(lanes, *lanes.given)
            return context.get_dummy_value()

        return types.void(given, length), generate

    return instruction


@_instruction
def relu_lanes(lanes, sums, at, size, norm, inverse, norms, inverses, place, out, to):  # type: ignore[no-untyped-def]
    """Embed by ReLU: `out[to:]` = norm · norms[place:] · g(c).

    c = (sums[at:] + sums[at + size:] + sums[at + 2·size:]) · inverse · inverses[place:].
    """
    zero, cosine = lanes.constant(0), _cosine(lanes, sums, at, size, inverse, inverses, place)
    distance = lanes.builder.fsub(lanes.constant(1), lanes.call("fabs", cosine), flags=FLAGS)
    s = lanes.larger(distance, zero)
    arc = lanes.multiply(lanes.multiply(s, lanes.call("sqrt", s)), lanes.polynomial(ARC, s))
    scale = lanes.multiply(lanes.spread(norm), lanes.load(norms, place))
    lanes.store(lanes.multiply(scale, lanes.add(lanes.larger(cosine, zero), arc)), out, to)


@_instruction
def gaussian_lanes(lanes, sums, at, size, norm, inverse, norms, inverses, place, out, to, gamma, squarings):  # type: ignore[no-untyped-def]
    """Embed by the Gaussian: `out[to:]` = norm · norms[place:] · exp(γ·(c − 1))^(2^squarings), for γ ≤ ½.

    `inverse` has been multiplied by γ. Rounding may push |c| above 1, far above it where norms are almost zero.
    """
    shift = lanes.spread(gamma)
    cosine = _cosine(lanes, sums, at, size, inverse, inverses, place)
    t = lanes.builder.fsub(lanes.smaller(cosine, shift), shift, flags=FLAGS)
    least = lanes.multiply(shift, lanes.constant(-2))
    value = lanes.squared(lanes.polynomial(EXP, lanes.larger(t, least)), squarings)
    scale = lanes.multiply(lanes.spread(norm), lanes.load(norms, place))
    lanes.store(lanes.multiply(scale, value), out, to)


def _cosine(lanes: _Lanes, sums: Any, at: Any, size: Any, inverse: Any, inverses: Any, place: Any) -> Any:
    total = lanes.load(sums, at)
    for _ in range(2):
        at = lanes.builder.add(at, size)
        total = lanes.add(total, lanes.load(sums, at))
    return lanes.multiply(total, lanes.multiply(lanes.spread(inverse), lanes.load(inverses, place)))


@_instruction
def inner_lanes(lanes, x, at, z, place, apart, channels, out, to):  # type: ignore[no-untyped-def]
    """Inner products of one pixel with several: `out[to:]` = Σ x[at + c·apart] · z[place + c·apart:] over channels c."""
    builder = lanes.builder
    total = cgutils.alloca_once_value(builder, lanes.constant(0))
    with cgutils.for_range(builder, channels) as loop:
        far = builder.mul(loop.index, apart)
        number, others = builder.load(builder.gep(x, [builder.add(at, far)])), lanes.load(z, builder.add(place, far))
        builder.store(lanes.add(builder.load(total), lanes.multiply(lanes.spread(number), others)), total)
    lanes.store(builder.load(total), out, to)


@_instruction
def halved_lanes(lanes, plane, at, stride, share, out, to):  # type: ignore[no-untyped-def]
    """Add sums over windows of 2 × 2: `out[to:]` += share · (neighbours in two rows); reads two vectors per row."""
    builder, length = lanes.builder, lanes.length
    rows = []
    for extra in (0, length):
        first = builder.add(at, ir.Constant(at.type, extra))
        rows.append(lanes.add(lanes.load(plane, first), lanes.load(plane, builder.add(first, stride))))
    index = ir.VectorType(ir.IntType(32), length)
    even = builder.shuffle_vector(*rows, ir.Constant(index, list(range(0, 2 * length, 2))))
    odd = builder.shuffle_vector(*rows, ir.Constant(index, list(range(1, 2 * length, 2))))
    sums = lanes.multiply(lanes.add(even, odd), lanes.spread(share))
    lanes.store(lanes.add(lanes.load(out, to), sums), out, to)
